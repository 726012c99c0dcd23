"""Rows with missing features, which are summed out exactly, and after an edit only where it tells.

A row that shows all members of the changed families is scored like any other. In one that lacks a
member, the log joint gains the log of what the edit multiplies it by, averaged over the values that
the missing members may have:

    P(row, class after) / P(row, class before) = Σ P(values | row, class) θ(after) / θ(before)

where θ is the table of the changed family, at the values that the row shows and those summed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array, log, normalize
from ...base.caches import Cache
from ...counts.contingency import contingency_tables
from ...network.factors import Factor
from ...network.priors import PseudoCounts
from .beliefs import Family, Inference, Part, connected_families
from .contrasts import Contrasts
from .folded import FoldedData, Index
from .neighbours import Edit, Parents, Structure, apply
from .occurrences import renumber

_KEPT_BYTES = 2**27
_BLOCK_CELLS = 2**20
_MOST_VALUES = 2**12  # joint values of missing members that are averaged over


class IncompleteRows:
    """Add what missing features say to the log joints of tested rows.

    Parameters
    ----------
    data : FoldedData
    prior : PseudoCounts
        Makes tables of counts.
    contrasts : Contrasts
        How log joints are held.
    """

    def __init__(self, data: FoldedData, prior: PseudoCounts, contrasts: Contrasts) -> None:
        self._data, self._prior, self._contrasts = data, prior, contrasts
        self._hidden = {u: data.tested[u] < 0 for u in data.partial}
        self._tables: Cache[Array] = Cache(_KEPT_BYTES, share=4)
        self._factors: Cache[Factor] = Cache(_KEPT_BYTES, share=4)
        self._changes: Cache[tuple[Index, Array, Index]] = Cache(_KEPT_BYTES, share=8)
        self._inferences: list[Inference] = []

    def infer(self, structure: Structure, total: Array) -> None:
        """Add what missing features say to the log joint of a structure, from which edits start.

        Parameters
        ----------
        structure : Structure
        total : (planes, tested rows) array
            The sum of the families that rows show.
        """
        for cache in (self._tables, self._factors, self._changes):
            cache.turn()
        known = {inference.key: inference for inference in self._inferences}
        self._structure = structure
        self._inferences = [
            known.get(frozenset(families.items())) or Inference(families, self._factor, self._data)
            for families in connected_families(structure, self._data.partial)
        ]
        self._about = {u: i for i in self._inferences for u in i.families}
        self._added = np.zeros((self._data.n_tested, self._data.n_classes))
        for inference in self._inferences:
            self._added[inference.rows] += inference.added
        total += self._contrasts.planes(self._added, axis=1)

    def amend(self, edit: Edit, logs: Array, total: Array) -> None:
        """Correct the log joint after an edit in the rows that lack a member of a changed family.

        Parameters
        ----------
        edit : Edit
        logs : (planes, tested rows) array
            The log joint before, and what the families say that rows show after less before.
        total : (planes, tested rows) array
            The log joint before.
        """
        rows = np.nonzero(self._concerned(edit))[0]
        [(v, parents)] = edit.items() if len(edit) == 1 else [(-1, None)]
        if len(rows) and parents is not None and self._prior.is_positive:
            averaged, change, rows = self._average(v, parents, rows)
            for plane, before, gained in zip(logs, total, change, strict=True):
                plane[averaged] = before.take(averaged) + gained
        if len(rows):
            families = {
                v: ps
                for v, ps in apply(self._structure, edit).items()
                if any(u in self._hidden for u in (v, *ps))
            }
            after = Part(families, self._factor, self._data).sum_out(rows)
            logs[:, rows] += self._contrasts.planes(after, axis=1)
            logs[:, rows] -= self._contrasts.planes(self._added[rows], axis=1)

    def _concerned(self, edit: Edit) -> NDArray[np.bool_]:
        """Tell which rows lack a member of a changed family, and not just its variable, to no effect.

        A family sums to 1 over a variable that is missing and has no descendant that is observed.
        """
        concerned = np.zeros(self._data.n_tested, dtype=bool)
        for v, parents in edit.items():
            partial = self._partial(v, parents or ())
            if not partial:
                continue
            lacks = np.logical_or.reduce([self._hidden[u] for u in partial])
            if v in self._hidden:
                idle = self._about[v].idle(v) if v in self._structure else np.nonzero(self._hidden[v])[0]
                lacks[idle] = False
            concerned |= lacks
        return concerned

    def _partial(self, v: int, parents: Parents) -> list[int]:
        """Return the incomplete members of a family, and of the one that it replaces."""
        members = dict.fromkeys((v, *parents, *self._structure.get(v, ())))
        return [u for u in members if u in self._hidden]

    def _average(self, v: int, parents: Parents, rows: Index) -> tuple[Index, Array, Index]:
        """Average what a single new family changes over what rows lack.

        Returns
        -------
        (rows,) array
            The rows for which that was done.
        (planes, rows) array
            What their log joint gains.
        (rows,) array
            The other rows: what they lack is not independent, and not together in a family.
        """
        partial = self._partial(v, parents)
        involved = frozenset(self._about[u].key for u in partial if u in self._about)
        key = v, self._structure.get(v), parents, involved
        kept = self._changes.get(key)
        if kept is not None:
            return kept
        done, changes, left = [rows[:0]], [np.zeros((0, self._data.n_classes))], [rows[:0]]
        for missing, block in self._by_missing(partial, rows):
            change = self._change(v, parents, missing, block)
            if change is None:
                left.append(block)
            else:
                done.append(block)
                changes.append(change)
        planes = self._contrasts.planes(np.concatenate(changes), axis=1)
        result = np.concatenate(done), planes, np.concatenate(left)
        return self._changes.put(key, result, planes.nbytes + 8 * len(rows))

    def _by_missing(self, partial: Sequence[int], rows: Index) -> Iterator[tuple[Family, Index]]:
        """Part rows by which of some features they lack, a block of rows at a time."""
        pattern = np.zeros(len(rows), dtype=np.intp)
        for u in partial:
            pattern = 2 * pattern + self._hidden[u].take(rows)
        pattern, n_patterns = renumber(pattern, 2 ** len(partial), most=0)
        for i in range(n_patterns):
            alike = rows[pattern == i]
            missing = tuple(u for u in partial if self._hidden[u][alike[0]])
            cells = prod(self._data.cards[u] for u in missing) * self._data.n_classes
            rows_per_block = max(1, _BLOCK_CELLS // cells)
            for start in range(0, len(alike), rows_per_block):
                yield missing, alike[start : start + rows_per_block]

    def _change(self, v: int, parents: Parents, missing: Family, rows: Index) -> Array | None:
        """Return what a new family adds to the log joint of rows that lack these features, (rows, classes).

        None if it takes less to sum them out anew, or it cannot be told how likely their values are.
        """
        shape = tuple(self._data.cards[u] for u in missing)
        shares = self._posterior(missing, rows) if prod(shape) <= _MOST_VALUES else None
        if shares is None:
            return None
        ratio = self._at((v, *parents), missing, rows)
        old = (v, *self._structure[v]) if v in self._structure else ()
        before = self._at(old, missing, rows) if old else np.ones((len(rows), self._data.n_classes))
        if not set(old).isdisjoint(missing):
            ratio, before = ratio / before, np.ones(shares.shape[:2])
        every = np.broadcast_to(ratio, (*shares.shape[:2], *shape))
        after = np.einsum("rcx,rcx->rc", shares, every.reshape(shares.shape))
        return np.log(after / before.reshape(after.shape))

    def _posterior(self, missing: Family, rows: Index) -> Array | None:
        """Return how likely values are that rows lack, (rows, classes, joint values), None if not known."""
        axes: list[int] = []
        shares = None
        for inference in dict.fromkeys(self._about[u] for u in missing):  # independent of one another
            features = tuple(u for u in missing if self._about[u] is inference)
            known = inference.posterior(features, rows)
            if known is None:
                return None
            known = known.reshape(*known.shape[:2], -1)
            if shares is None:
                shares = known
            else:
                shares = (shares[..., None] * known[:, :, None]).reshape(*known.shape[:2], -1)
            axes.extend(features)
        if shares is None or tuple(axes) == missing:
            return shares
        by_axis = shares.reshape(*shares.shape[:2], *(self._data.cards[u] for u in axes))
        return by_axis.transpose(0, 1, *(2 + axes.index(u) for u in missing)).reshape(shares.shape)

    def _at(self, family: Family, missing: Family, rows: Index) -> Array:
        """Look up the table of a family at what tested rows show, with an axis for each feature missing.

        Returns
        -------
        (rows, classes, levels of each missing feature, or 1 if it is not in the family…) array
        """
        shown = [i for i, u in enumerate(family) if u not in missing]
        summed = [family.index(u) for u in missing if u in family]
        n = len(family)
        table = self._table(family).transpose(*shown, n, n + 1, *summed)
        index = np.zeros(len(rows), dtype=np.intp)
        for i in shown:
            index = index * self._data.cards[family[i]] + self._data.tested[family[i]].take(rows)
        index = index * self._data.n_folds + self._data.fold.take(rows)
        taken = table.reshape(-1, *table.shape[len(shown) + 1 :]).take(index, axis=0)
        lengths = [self._data.cards[u] if u in family else 1 for u in missing]
        return taken.reshape(len(rows), self._data.n_classes, *lengths)

    def _table(self, family: Family) -> Array:
        """Return the table of a family in every fold, (levels of its members…, folds, classes)."""
        kept = self._tables.get(family)
        if kept is None:
            counts = contingency_tables(self._data.grouped, [(self._data.group, *family)])[0]
            by_fold = self._data.trained(counts)
            card, *parent_cards = by_fold.shape[2:]
            extra = self._prior.per_cell(card, prod(parent_cards) * self._data.n_classes)
            shares = normalize(by_fold + extra, axis=2)
            table = np.ascontiguousarray(np.moveaxis(shares, (0, 1), (-2, -1)))
            kept = self._tables.put(family, table, table.nbytes)
        return kept

    def _factor(self, family: Family) -> Factor:
        kept = self._factors.get(family)
        if kept is None:
            table = log(self._table(family))
            kept = self._factors.put(family, Factor(family, table), 2 * table.nbytes)  # padded too
        return kept
