"""The rule for incomplete rows of weighted models: how much terms and trees count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Array, Codes
from ..base.immutable import POWER, Immutable, field_bounds, record

MOST_EXPONENT = 16.0


@record
@dataclass(frozen=True, eq=False)
class Fading(Immutable):
    """The score of a row in which a share h of the features is missing.

    Terms count λ, and trees 1 − λ:

        λ Σ terms + (1 − λ) (ln P(y) + (power + (1 − power) h) M)

    λ = (1 − h) (1 − g)^(exponent − 1), where g is the share of features that no
    training row lacks. M is the mean log evidence of the observed features
    given the class in trees that marginalize over the missing ones, and
    ``usual`` the share of the training rows in which each feature is known,
    which weighs it in h and g. ``power`` is the best one for complete rows,
    where dependent features are counted repeatedly; of a single feature it
    is 1. When weights are estimated, M is that of naive Bayes.
    """

    bounds = field_bounds(usual=(0.0, 1.0), power=POWER, exponent=(1.0, MOST_EXPONENT))

    usual: Array
    power: float
    exponent: float = 1.0

    def kept_share_and_added_scores(
        self, codes: Codes, log_prior: Array, evidence: Array
    ) -> tuple[Array, Array]:
        """Return λ, (rows,), and the scores added to the terms, (…, rows, classes).

        Arrays of log odds, (classes − 1, rows), are passed and returned as
        their transposes.
        """
        missing, total = np.less(codes, 0), float(self.usual.sum()) or 1.0
        h = self.usual @ missing / total
        g: Array = np.count_nonzero(missing[self.usual >= 1], axis=0) / total
        kept = (1 - h) * (1 - g) ** (self.exponent - 1)
        power = (self.power + (1 - self.power) * h)[:, None]
        return kept, (1 - kept)[:, None] * (log_prior + power * evidence)
