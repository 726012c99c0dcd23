"""Student terms of a formula, of which those with equally many parents are evaluated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array, Mask, Positions

_ARRAYS = ("means", "roots", "shapes", "rates", "constants")


def residual_and_leverage(
    scores: Array, parents: Array, means: Array, roots: Array
) -> tuple[Array, Array]:
    """Return z − u·β and |u R|², (terms, rows, classes), with u = (1, scores of the parents).

    ``scores`` are (terms, rows), ``parents`` (terms, k − 1, rows), ``means`` β
    (terms, classes, k) and ``roots`` R (terms, classes, k, k). Example: with
    one parent, of score 2, and β = (1, 0.5), a score of 3 has the residual 3 −
    (1 + 0.5 · 2) = 1.
    """
    ones = np.ones((len(parents), 1, scores.shape[1]))
    u = np.concatenate([ones, parents], axis=1).transpose(0, 2, 1)  # (terms, rows, k)
    residual = scores[:, :, None] - u @ means.transpose(0, 2, 1)
    m, k = roots.shape[0], roots.shape[-1]
    # one product for all classes: (terms, rows, classes · k)
    spread = (u @ roots.transpose(0, 2, 1, 3).reshape(m, k, -1)).reshape(*residual.shape, k)
    return residual, np.einsum("mrck,mrck->mrc", spread, spread)


@dataclass(frozen=True, eq=False)
class AlikeStudents:
    """Student terms of equally many parents, stacked: see `Student` of formulas for arrays."""

    owners: tuple[int, ...]
    scales: Positions
    parents: Positions
    powers: Array
    means: Array
    roots: Array
    shapes: Array
    rates: Array
    constants: Array

    @classmethod
    def from_terms(cls, terms: Sequence[Any]) -> AlikeStudents:
        """Stack terms."""
        parents = np.array([t.parents for t in terms], dtype=np.intp).reshape(len(terms), -1)
        arrays = [np.stack([getattr(t, name) for t in terms]) for name in _ARRAYS]
        scales, powers = np.array([t.scale for t in terms]), np.array([t.power for t in terms])
        return cls(tuple([t.owner for t in terms]), scales, parents, powers, *arrays)

    def term_values_at_scores(self, z: Array, missing: Mask) -> Array:
        """Return the values of the terms, (terms, rows, classes), from scores (scales, rows).

        ``missing`` is (terms, rows).
        """
        residual, leverage = residual_and_leverage(
            z[self.scales], z[self.parents], self.means, self.roots
        )
        leverage += 1
        inside = np.log1p(residual**2 / (2 * self.rates[:, None] * leverage))
        logs = (
            self.constants[:, None] - np.log(leverage) / 2 - (self.shapes + 0.5)[:, None] * inside
        )
        logs[missing] = 0.0
        return np.asarray(logs * self.powers[:, None, None])
