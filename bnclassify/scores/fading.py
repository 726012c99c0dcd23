"""The rule for incomplete rows of weighted models: how much terms, trees and shifts count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Array, Codes, Positions
from ..base.immutable import POWER, Immutable, field_bounds, record

MOST_EXPONENT = 16.0


@record
@dataclass(frozen=True, eq=False)
class Fading(Immutable):
    """The score of a row in which a share h of the features is missing.

    Terms count λ, and trees 1 − λ:

        λ Σ terms + (1 − λ) (ln P(y) + (power + (1 − power) h) M) + μ Σ shifts
        of the missing values

    λ = (1 − h) (1 − g)^(exponent − 1), where g is the share of features that no
    training row lacks. M is the mean log evidence of the observed features
    given the class in trees that marginalize over the missing ones, and
    ``usual`` the share of the training rows in which each feature is known,
    which weighs it in h and g. ``power`` is the best one for complete rows,
    where dependent features are counted repeatedly; of a single feature it
    is 1. When weights are estimated, M is that of naive Bayes. If a row lacks
    more than ``gaps`` of the features that training rows lack, n, μ is ``gaps``
    / n, because shifts of rows with few gaps do not add up in rows with many;
    if not, μ is 1.
    """

    bounds = field_bounds(
        usual=(0.0, 1.0), power=POWER, exponent=(1.0, MOST_EXPONENT), gaps=(1.0, POWER[1])
    )

    usual: Array
    power: float
    exponent: float = 1.0
    gaps: float = 1.0

    def kept_share_and_added_scores(
        self, codes: Codes, log_prior: Array, evidence: Array
    ) -> tuple[Array, Array]:
        """Return λ, (rows,), and the scores added to the terms, (…, rows, classes), but for shifts.

        Arrays of log odds, (classes − 1, rows), are passed and returned as
        their transposes.
        """
        missing, total = np.less(codes, 0), float(self.usual.sum()) or 1.0
        h = self.usual @ missing / total
        g: Array = np.count_nonzero(missing[self.usual >= 1], axis=0) / total
        kept = (1 - h) * (1 - g) ** (self.exponent - 1)
        power = (self.power + (1 - self.power) * h)[:, None]
        return kept, (1 - kept)[:, None] * (log_prior + power * evidence)

    def weight_of_shifts(self, codes: Codes) -> Array:
        """Return μ of each row, (rows, 1)."""
        lacking: Positions = np.count_nonzero(codes[self.usual < 1] < 0, axis=0)
        return np.asarray(self.gaps / np.maximum(lacking, self.gaps)[:, None])
