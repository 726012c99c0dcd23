"""Unknown values in sums of effects: effects given the known ones, as joint normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ..tools.arrays import BLOCK_CELLS, Array, Codes, Mask, Positions, one_thread, slices
from ..tools.immutable import ANY_NUMBER, COUNT, PROBABILITY, Immutable, field_bounds, record

UNKNOWN = -2
"""The state of an unknown value, which is not evidence; that of a missing one is -1."""

_LEAST_VARIANCE = 1e-5
# The mean of a logistic function of a normal number z is about that of z / √(1 + πv/8).
_PROBIT = np.pi / 8


@record
@dataclass(frozen=True, eq=False)
class UnknownEffects(Immutable):
    """Means and covariances of the effects of features, then of pairs, in training rows.

    An effect is the log odds of a class against the first one, so that a
    feature has one per other class; they are in the order of the features and
    pairs. A pair is known if both features are. If some effects are unknown,
    their sum has a normal distribution given the known ones, with mean E and,
    as the mean over pairs of classes, variance v. With the log odds L of the
    class ``shares``, and the variance v₀ and the log odds z₀ of a row of which
    nothing is known, the log odds are

        (constant + Σ known effects + E) / √(1 + π v / 8) + (L − z₀ / √(1 + π v₀
        / 8)) v / v₀

    so that they are those of the shares if nothing is known. ``covariances``
    has variances only if there are more than 2,000 effects. A missing value of
    a feature that is ``always`` known in training is unknown, and so are those
    of features with ``gaps`` if a row has more than ``most``, as no training
    row does.
    """

    bounds = field_bounds(means=ANY_NUMBER, covariances=ANY_NUMBER, shares=PROBABILITY, most=COUNT)

    means: Array
    covariances: Array
    shares: Array
    always: Mask
    gaps: Mask
    most: float

    def __post_init__(self) -> None:
        super().__post_init__()
        n = self.means.size
        fits = self.covariances.shape in ((n, n), (n,)) and self.means.shape[0] >= len(self.always)
        if (
            not fits
            or self.means.ndim != 2
            or self.shares.shape not in ((self.means.shape[1] + 1,), (0,))
        ):
            raise ValueError("means and covariances must be those of the effects of each feature.")

    @classmethod
    def from_rows(
        cls, effects: Array, missing: Mask, weights: Array, shares: Array
    ) -> UnknownEffects:
        """Return the moments of effects in rows, (effects, rows, classes), that have weights.

        ``missing`` are the missing values, (features, rows).
        """
        odds = effects[..., 1:] - effects[..., :1]
        total = max(float(weights.sum()), 1e-300)
        means: Array = np.einsum("frc,r->fc", odds, weights) / total
        centered = np.moveaxis(odds - means[:, None], 1, 0).reshape(odds.shape[1], means.size)
        if means.size > 2_000:  # of which all covariances are kept
            covariances = weights @ centered**2 / total + _LEAST_VARIANCE
        else:
            covariances = (centered.T * weights) @ centered / total
            of_classes = (np.eye(odds.shape[2]) + 1) / 2  # the same whichever class is the first
            covariances += _LEAST_VARIANCE * np.kron(np.eye(len(odds)), of_classes)
        lacking: Positions = np.count_nonzero(missing, axis=0)
        most = float(lacking.max(initial=0))
        always = np.all(~missing, axis=1)
        # 7: digits of covariances, which are written to files and pages, much below the variance
        return cls(means, covariances.round(7), shares, always, ~always, most)

    def mask_of_unknown_values(self, codes: Codes, told: Mask | None) -> Mask:
        """Return which values are unknown, by codes (features, rows), and those said to be."""
        unknown = np.zeros(codes.shape, dtype=bool) if told is None else told
        missing = np.less(codes, 0) & ~unknown
        gaps = missing & self.gaps[:, None]
        too_many: Mask = np.count_nonzero(gaps, axis=0) > self.most
        return np.asarray(unknown | (missing & self.always[:, None]) | (gaps & too_many))

    def with_changed_effects(
        self, before: Sequence[Array], after: Sequence[Array], masses: Sequence[Array]
    ) -> Self:
        """Return moments for tables whose effects change a little, by the shares of values."""
        changes = [new - old for new, old in zip(after, before, strict=True)]
        pairs = zip(changes, masses, strict=True)
        added = [mass @ (change[:, 1:] - change[:, :1]) for change, mass in pairs]
        return replace(self, means=self.means + np.array(added).reshape(self.means.shape))

    def select_features(self, features: Sequence[int]) -> Self:
        """Return the moments of some of the features."""
        at = [i * self.n_other_classes + c for i in features for c in range(self.n_other_classes)]
        of_features = {
            name: getattr(self, name)[list(features)] for name in ("means", "always", "gaps")
        }
        covariances = self.covariances[np.ix_(*[at] * self.covariances.ndim)]
        return replace(self, covariances=covariances, **of_features)

    @property
    def n_other_classes(self) -> int:
        """The number of classes less 1."""
        return self.means.shape[1]

    def scores_of_class_and_effects(
        self, constant: Array, effects: Array, states: Codes
    ) -> tuple[Array, Array]:
        """Return what class and effects add to the scores, (rows, classes), and each effect.

        ``effects`` are (effects, rows, classes), and ``states`` (effects,
        rows): 0 known, `UNKNOWN`, or -1 missing. Unknown effects are not read,
        and missing ones are not evidence of these. What the known effects say
        of the unknown ones is in the parts of the known ones.
        """
        odds = effects[..., 1:] - effects[..., :1]
        start, parts = np.zeros(effects.shape[1:]), np.zeros(effects.shape)
        per_variance = self._log_odds_correction_per_variance(constant)
        patterns, of_row = np.unique(states, axis=1, return_inverse=True)
        of_row = of_row.ravel()
        order = np.argsort(of_row, kind="stable")
        for block in slices(len(order), self.means.size * self.n_other_classes, 16 * BLOCK_CELLS):
            rows = order[block]
            numbers, own = np.unique(of_row[rows], return_inverse=True)
            with one_thread:  # small equations
                weights, variances = self._regressions_on_known(patterns.T[numbers])
            variance, means = variances[own, None], self.means[:, None]
            unknown: Mask = states[:, rows, None] == UNKNOWN
            effect = np.where(unknown, 0.0, odds[:, rows])
            from_mean = np.where(states[:, rows, None] >= 0, effect - means, 0.0)
            effect += np.einsum("rkcd,krc->krd", weights[own], from_mean)
            expected: Array = constant[1:] - constant[0] + (unknown * means).sum(axis=0)
            scale = np.sqrt(1 + _PROBIT * variance)
            start[rows, 1:] = expected / scale + per_variance * variance
            parts[:, rows, 1:] = effect / scale
        return start, parts

    def _regressions_on_known(self, states: Codes) -> tuple[Array, Array]:
        """Return known effects' weights in the sum of the unknown, and its variance given them.

        For ``states``, (patterns, effects), the weights are (patterns, effects,
        classes, classes), without the first class, and 0 for effects that are
        not known. Example: with the covariances [[a, b], [b, c]] and the second
        effect unknown, w solves a w = b, and the variance is c − b w.
        """
        q, n = self.n_other_classes, self.means.size
        weights, variances = np.zeros((len(states), n, q)), np.empty(len(states))
        known = states >= 0
        n_known: Positions = np.count_nonzero(known, axis=1)
        for number in map(int, np.unique(n_known)):  # they have equations of one shape
            alike = np.flatnonzero(n_known == number)
            for block in slices(len(alike), n * max(n, number * q), BLOCK_CELLS // 8):
                some = alike[block]
                hidden = np.repeat(states[some] == UNKNOWN, q, axis=1)[..., None]
                to_sum = hidden * np.tile(np.eye(q), (len(self.means), 1))  # (patterns, n, q)
                if self.covariances.ndim == 1:
                    between: Array = self.covariances[:, None] * to_sum
                else:
                    between = self.covariances @ to_sum  # of each effect and the sum
                    at = np.nonzero(np.repeat(known[some], q, axis=1))[1].reshape(len(some), -1)
                    given = self.covariances[at[:, :, None], at[:, None, :]]
                    of_known = np.take_along_axis(between, at[..., None], axis=1)
                    weights[some[:, None], at] = np.linalg.solve(given, of_known)
                within = to_sum.swapaxes(1, 2) @ between - between.swapaxes(1, 2) @ weights[some]
                variances[some] = mean_pairwise_variance(within)
        return weights.reshape(len(states), len(self.means), q, q), variances

    def _log_odds_correction_per_variance(self, constant: Array) -> Array:
        """Return what the log odds lack of the class shares if nothing is known, per variance."""
        if not len(self.shares) or not len(self.means):
            return np.zeros(self.n_other_classes)
        _, variance = self._regressions_on_known(np.full((1, len(self.means)), UNKNOWN))
        start: Array = constant[1:] - constant[0] + self.means.sum(axis=0)
        known: Array = np.log(self.shares[1:]) - np.log(self.shares[0])
        return np.asarray((known - start / np.sqrt(1 + _PROBIT * variance)) / variance)


def mean_pairwise_variance(covariances: Array) -> Array:
    """Return the mean over pairs of classes of the variance of their log odds.

    ``covariances``, (…, classes, classes), are those of the log odds against
    the first class.

    >>> mean_pairwise_variance(np.array([[[2.0]]]))
    array([2.])
    """
    q = covariances.shape[-1]
    trace: Array = covariances.trace(axis1=-2, axis2=-1)
    return np.asarray(np.maximum(2 / q * (trace - covariances.sum(axis=(-2, -1)) / (q + 1)), 0.0))
