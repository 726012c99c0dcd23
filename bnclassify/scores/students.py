"""Student terms of a formula, of which those with equally many parents are evaluated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array, Mask, Positions

_ARRAYS = ("means", "roots", "shapes", "rates", "constants")


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
    def stack(cls, terms: Sequence[Any]) -> AlikeStudents:
        """Stack terms."""
        parents = np.array([t.parents for t in terms], dtype=np.intp).reshape(len(terms), -1)
        arrays = [np.stack([getattr(t, name) for t in terms]) for name in _ARRAYS]
        scales, powers = np.array([t.scale for t in terms]), np.array([t.power for t in terms])
        return cls(tuple([t.owner for t in terms]), scales, parents, powers, *arrays)

    def at(self, z: Array, missing: Mask) -> Array:
        """Return the values of the terms, (terms, rows, classes), from scores (scales, rows).

        ``missing`` is (terms, rows).
        """
        # u = (1, z of the parents), (terms, rows, k), residuals and leverages are (terms, rows,
        # classes)
        u = np.concatenate([np.ones((len(self.owners), 1, z.shape[1])), z[self.parents]], axis=1)
        u = u.transpose(0, 2, 1)
        residual = z[self.scales][:, :, None] - u @ self.means.transpose(0, 2, 1)
        m, k = self.roots.shape[0], self.roots.shape[-1]
        spread = (u @ self.roots.transpose(0, 2, 1, 3).reshape(m, k, -1)).reshape(
            *residual.shape, k
        )
        leverage: Array = 1 + np.einsum("mrck,mrck->mrc", spread, spread)
        inside = np.log1p(residual**2 / (2 * self.rates[:, None] * leverage))
        logs = (
            self.constants[:, None] - np.log(leverage) / 2 - (self.shapes + 0.5)[:, None] * inside
        )
        logs[missing] = 0.0
        return np.asarray(logs * self.powers[:, None, None])
