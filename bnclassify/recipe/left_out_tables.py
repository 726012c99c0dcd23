"""Tables for the rows they were counted from, each of which is left out in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base.arrays import Array, ArrayOf, log
from .counts import Places, owners
from .tables import LeftOut, Stack, estimated

_MOST_CELLS = 2**24  # of all prefixes, 128 MiB


class LeftOutTables:
    """The tables of a feature in codings, for counted rows that are left out with an equal share.

    Without a row, the counts of its own class and those of the feature alone change. So the entries
    of other classes are the same for all rows with equal values, and are computed once per cell;
    only the entry of the own class is computed for each row. Example: x occurs in 3 of 4 rows of
    class a, and in 1 of 4 of class b. Without a row of class a with x, P(x | a) is 2/3, and
    P(x | b) is 1/4, before pseudo-counts are added.
    """

    def __init__(self, stack: Stack, share: float) -> None:
        self.stack, self.share = stack, share
        self.values: list[Array] = []  # by prefix, (cells, classes or 1)
        all_owners = owners(stack.prefixes, stack.cards)
        for i, (prefix, owner) in enumerate(zip(stack.prefixes, all_owners, strict=True)):
            given = prefix.cells.keys // prefix.levels
            counts, totals = prefix.counts, prefix.totals[given]
            if counts.shape[1] == 1:  # the only column is that of each row's own class
                counts, totals = np.maximum(counts - share, 0.0), np.maximum(totals - share, 0.0)
            base = (1 / stack.cards[owner[given], 0])[:, None]
            if i and stack.nested:
                base = self.values[-1][prefix.cells_before(stack.prefixes[i - 1])]
            mass = stack.masses[i][owner[given]][:, None]
            self.values.append(estimated(counts, totals, base, mass))
        self.logs = list(map(log, self.values))

    @classmethod
    def of(cls, stack: Stack, left_out: LeftOut) -> LeftOutTables | None:
        """Return the tables for rows, or None if shares differ, or tables are empty or large."""
        shares, sizes = left_out.shares, [prefix.counts.size for prefix in stack.prefixes]
        if not (len(shares) and min(sizes)) or sum(sizes) > _MOST_CELLS or np.ptp(shares):
            return None
        return cls(stack, float(shares[0]))

    def logs_at(
        self, places: Sequence[tuple[Places, Places]], classes: ArrayOf[Any]
    ) -> Iterator[Array]:
        """Yield ln P(feature | class, first parents), 0 if it is missing, for 0, 1, … parents.

        ``places`` are the configurations and cells of rows in each prefix, and ``classes`` those
        of the rows, both with codings concatenated; the result is (rows, classes or 1). If a parent
        is missing, the distribution given the previous parents is used.
        """
        stack, rows = self.stack, np.arange(len(classes))
        codings = np.repeat(np.arange(len(stack.cards)), len(rows) // len(stack.cards))
        uniform = 1 / stack.cards[codings, 0]
        own, logs = uniform, np.zeros((len(rows), 1))
        for i, (prefix, (parents, cells)) in enumerate(zip(stack.prefixes, places, strict=True)):
            found = self.logs[i].take(cells, axis=0, mode="wrap")
            if found.shape[1] == 1:
                value = self.values[i].take(cells, mode="wrap")
            else:
                counts = np.maximum(prefix.counts[cells, classes] - self.share, 0.0)
                totals = np.maximum(prefix.totals[parents, classes] - self.share, 0.0)
                base = own if stack.nested else uniform
                value = estimated(counts, totals, base, stack.masses[i][codings])
                found[rows, classes] = log(value)
            absent = cells < 0
            if absent.any():
                found[absent], value = logs[absent], np.where(absent, own, value)
            own, logs = value, found
            if i >= stack.root:
                yield logs
