"""The rule for incomplete rows of weighted models: how much terms and trees count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tools.arrays import Array, Codes
from ..tools.immutable import POWER, Immutable, field_bounds, record


@record
@dataclass(frozen=True, eq=False)
class Fading(Immutable):
    """The score of a row in which a share h of the features is missing.

        (1 − h) Σ terms + h (ln P(y) + (power + (1 − power) h) M)

    M is the mean log evidence of the observed features given the class in trees
    that marginalize over the missing ones, and ``usual`` the share of the
    training rows in which each feature is known, which weighs it in h.
    ``power`` is the best one for complete rows, where dependent features are
    counted repeatedly; of a single feature it is 1.
    """

    bounds = field_bounds(usual=(0.0, 1.0), power=POWER)

    usual: Array
    power: float

    def kept_share_and_added_scores(
        self, codes: Codes, log_prior: Array, evidence: Array
    ) -> tuple[Array, Array]:
        """Return 1 − h, (rows,), and the scores added to the terms, (…, rows, classes)."""
        h = self.usual @ np.less(codes, 0) / (float(self.usual.sum()) or 1.0)
        power = (self.power + (1 - self.power) * h)[:, None]
        return 1 - h, h[:, None] * (log_prior + power * evidence)
