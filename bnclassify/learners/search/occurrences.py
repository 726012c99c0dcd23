"""Joint values of columns by number: of those that could be many, the ones that occur."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...base.caches import Cache
from ...frames.schema import Dataset

_KEPT_BYTES = 2**27
_FLAGGED = 16  # times as many numbers as rows can be told apart by a flag for each

Numbers = NDArray[np.intp]


class JointValues:
    """Number the joint values of columns in every row.

    The numbering of columns goes on from that of all but one of them, which is kept, so what grows
    by a column at a time is cheap to number.

    Parameters
    ----------
    data : Dataset
    """

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._kept: Cache[tuple[Numbers, int]] = Cache(_KEPT_BYTES)

    def turn(self) -> None:
        """Begin a round: what the one before the last asked for need not be kept."""
        self._kept.turn()

    def number(self, columns: frozenset[int]) -> tuple[Numbers, int]:
        """Return the number of each row's joint value, and a bound on the numbers, the rows at most.

        A missing value is taken for the first level.
        """
        known = self._kept.get(columns)
        if known is not None:
            return known
        if not columns:
            return np.zeros(len(self._data), dtype=np.intp), 1
        last, numbers, bound = self._prefix(columns)
        card = self._data.cards[last]
        codes = self._data.codes[last]
        numbers = numbers * card
        numbers += np.maximum(codes, 0) if self._data.incomplete[last] else codes
        numbers, bound = renumber(numbers, bound * card, most=len(numbers))
        return self._kept.put(columns, (numbers, bound), numbers.nbytes)

    def _prefix(self, columns: frozenset[int]) -> tuple[int, Numbers, int]:
        """Return one of the columns, and the numbers of the others' joint values."""
        for last in columns:
            known = self._kept.get(columns - {last})
            if known is not None:
                return last, *known
        last = max(columns)
        return last, *self.number(columns - {last})


def renumber(numbers: Numbers, bound: int, most: int) -> tuple[Numbers, int]:
    """Number anew, without gaps, if there could be more numbers than ``most``.

    >>> renumber(np.array([7, 3, 7]), 8, most=4)
    (array([1, 0, 1]), 2)
    >>> renumber(np.array([7, 3, 7]), 8, most=8)
    (array([7, 3, 7]), 8)
    """
    if bound <= most:
        return numbers, bound
    if bound > _FLAGGED * len(numbers):
        occurring, numbers = np.unique(numbers, return_inverse=True)
        return numbers, len(occurring)
    flags = np.zeros(bound, dtype=bool)
    flags[numbers] = True
    ranks = flags.cumsum(dtype=np.intp)
    return ranks.take(numbers) - 1, int(ranks[-1])
