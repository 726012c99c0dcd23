"""Averaged one-dependence estimators (AODE), and log joints of estimators with different superparents.

The log joint of a row is a sum over its features of ln P(level | superparent's level, class). For features
with few levels, a product of matrices gives it for every level that a superparent might have: the levels of
the rows as zeros and ones, times the logs of all tables. For features with many levels, looking up the
levels of each row is less work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, Positions, blocks, log_sum_exp, one_thread
from ..base.immutable import PROBABILITY, bounded, cached_property, record
from ..counts.contingency import Recoding, check_all_pairs, contingency_tables, count_pairs
from ..frames.schema import Dataset, Levels
from ..model.recipes import Recipe, Tally
from ..network.classifiers import BNC
from ..network.elimination import joint_in_blocks
from ..network.em import EM
from ..network.ensemble import Average
from ..network.estimates import Family, Prior, PseudoCounts

IMPOSSIBLE = -1e300
"""Represents log 0 in sums, where 0 · -inf is not a number."""

KEPT_CELLS = 2**24
"""Cells of log tables up to which a model keeps them for the next prediction."""

_ROWS = 2**14
_FEW_LEVELS = 4  # average number of levels up to which products are faster
_BLOCK_CELLS = 2**16
_BLOCK_ROWS = 96  # or a multiple, which fills the registers of matrix products without a remainder


@dataclass(frozen=True, eq=False)
class Block:
    """Rows padded to one shape, for equal results to the last bit; `sums_at` is (…, classes)."""

    rows: slice
    levels: Codes
    picks: Codes
    sums_at: Callable[[Codes, Codes], Array]

    def sums(self) -> Array:
        """Return the sums of each estimator, (estimators, rows, classes); arbitrary if a pick is -1."""
        return self.sums_at(np.arange(self.picks.shape[1]), self.picks)


@dataclass(frozen=True, eq=False)
class EstimatorTables:
    """Log tables of estimators, one for each level that a superparent may have.

    `logs`, (superparents, classes, levels), has ln P(level | superparent, class), and at the superparent's
    own level ln P(superparent, class); `IMPOSSIBLE` instead of -inf. `feature` has the feature of each
    level, and `own_level` the level of each superparent.
    """

    logs: Array
    feature: Positions
    own_level: Positions

    @cached_property
    def joint(self) -> Array:
        """Ln P(superparent, class), (superparents, classes)."""
        return np.asarray(self.logs[np.arange(len(self.own_level)), :, self.own_level])

    def blocks(self, levels: Codes, picks: Codes) -> Iterator[Block]:
        """Yield blocks of rows, whose sums are valid until the next; levels are -1 where missing."""
        n_superparents, n_classes, n_levels = self.logs.shape
        products = n_levels <= _FEW_LEVELS * len(levels)
        width = (n_superparents if products else len(levels)) * n_classes
        n = _BLOCK_ROWS * max(1, _BLOCK_CELLS // (width * _BLOCK_ROWS))
        sums_of = self._multiply(n) if products else self._look_up
        with one_thread:
            for rows in blocks(levels.shape[1], n):
                padded, some = _padded(levels[:, rows], n), _padded(picks[:, rows], n)
                yield Block(rows, padded, some, sums_of(padded))

    def _multiply(self, n: int) -> Callable[[Codes], Callable[[Codes, Codes], Array]]:
        """Return a function that multiplies n rows of levels with all tables, in separate memory."""
        n_superparents, n_classes, n_levels = self.logs.shape
        matrix = self.logs.reshape(-1, n_levels).T
        hot, sums = np.empty((n_levels, n)), np.empty((n, n_superparents * n_classes))
        number = np.arange(n_levels)[:, None]

        def sums_of(levels: Codes) -> Callable[[Codes, Codes], Array]:
            np.equal(levels[self.feature], number.astype(levels.dtype), out=hot)
            np.matmul(hot.T, matrix, out=sums)
            by_superparent = sums.reshape(-1, n_classes)
            return lambda rows, picks: by_superparent.take(rows * n_superparents + picks, axis=0, mode="clip")

        return sums_of

    def _look_up(self, levels: Codes) -> Callable[[Codes, Codes], Array]:
        """Return a function that adds up the entries of a table at the levels of rows."""
        _, width, n_classes = self._by_superparent.shape
        table = self._by_superparent.reshape(-1, n_classes)
        places = np.where(levels < 0, width - 1, levels)

        def sums_at(rows: Codes, picks: Codes) -> Array:
            base_index, sums = picks.astype(np.intp) * width, np.zeros((*picks.shape, n_classes))
            buffer = np.empty_like(sums)
            for places_of_feature in places[:, rows]:
                sums += table.take(base_index + places_of_feature, axis=0, mode="clip", out=buffer)
            return sums

        return sums_at

    @cached_property
    def _by_superparent(self) -> Array:
        """The logs as (superparents, levels + 1, classes), with zeros for missing levels."""
        n_superparents, n_classes, n_levels = self.logs.shape
        table = np.zeros((n_superparents, n_levels + 1, n_classes))
        table[:, :-1] = self.logs.transpose(0, 2, 1)
        return table


def _padded(values: Codes, n: int) -> Codes:
    """Append columns of zeros up to n."""
    if values.shape[1] == n:
        return values
    padded = np.zeros((len(values), n), dtype=values.dtype)
    padded[:, : values.shape[1]] = values
    return padded


def joint_by_rows(joint: Callable[[Codes], Array], codes: Codes, n_classes: int) -> Array:
    """Compute a log joint, (rows, classes), in blocks of rows that bound memory."""
    result = np.empty((codes.shape[1], n_classes))
    for rows in blocks(codes.shape[1], _ROWS):
        result[rows] = joint(codes[:, rows])
    return result


def number_levels(codes: Codes, cards: Sequence[int]) -> Codes:
    """Number the levels of rows among the levels of all features; -1 stays."""
    starts = np.cumsum([0, *cards], dtype=np.int32)[:-1]
    levels = codes + starts[:, None]
    np.copyto(levels, -1, where=codes < 0)
    return levels


def log_total(logs: Array) -> Array:
    """Return the log of the sum of exponentials over the first axis, overwritten, in an order by shape."""
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total: Array = np.log(logs.sum(axis=0)) + top
    np.copyto(total, -np.inf, where=top < IMPOSSIBLE / 2)
    return total


def finite_log(probabilities: Array) -> Array:
    """Compute logs in place, `IMPOSSIBLE` for a probability of 0."""
    with np.errstate(divide="ignore"):
        np.log(probabilities, out=probabilities)
    return np.maximum(probabilities, IMPOSSIBLE, out=probabilities)


_SMALL = 2**20  # cells


@record
@dataclass(frozen=True, eq=False, repr=False)
class AODE(Average):
    """An ensemble of one-dependence estimators, one for each feature as the superparent.

    The tables of all estimators are stacked in three arrays, in which the levels of all features are
    numbered consecutively. `members` returns the estimators as networks.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features. Each is the superparent of one estimator, a parent of all others.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end; None without data.
    priors : (features, classes) read-only array, or None
        P(class) in each estimator; None before `lp`, like the next two.
    superparents : (levels of all features, classes) read-only array, or None
        P(level | class), in the estimator whose superparent has the level.
    children : tuple of read-only arrays, or None
        P(level | level of the superparent, class) in each estimator, (levels of all other
        features, levels of the superparent, classes).
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of a method of `lp`, by name: tuples with one value per estimator.
    """

    default_steps = "power"

    is_aode = True
    bounds = bounded(priors=PROBABILITY, superparents=PROBABILITY, children=PROBABILITY)

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    priors: Array | None = None
    superparents: Array | None = None
    children: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.children is not None

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and members, without making the members."""
        return {"num. features": len(self.features), "num. members": len(self.features)}

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators, in the order of their superparents."""
        return tuple([self._member(i) for i in range(len(self.features))])

    @property
    def spans(self) -> list[slice]:
        """The slice of the levels of each feature among all levels."""
        ends = list(accumulate(len(labels) for labels in (self.levels or ())[:-1]))
        return [slice(start, end) for start, end in pairwise([0, *ends])]

    def _member(self, i: int) -> BNC:
        superparent = self.features[i]
        families: list[Family] = [(f, superparent, self.class_var) for f in self.features]
        families[i] = superparent, self.class_var
        cpts = None
        if self.priors is not None and self.superparents is not None and self.children is not None:
            ends = accumulate(span.stop - span.start for j, span in enumerate(self.spans) if j != i)
            *tables, _ = np.split(self.children[i], list(ends))
            tables.insert(i, self.superparents[self.spans[i]])
            cpts = (*tables, self.priors[i])
        learned = {name: by_member[i] for name, by_member in self.learned.items() if name != "counts"}
        all_families = (*families, (self.class_var,))
        return BNC(self.class_var, all_families, self.levels, cpts, self.recipe, learned=learned)

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        """Count the classes and all pairs of levels, or the tables of each estimator."""
        n = len(self.features)
        check_all_pairs(data, range(n), n)
        if self._has_square and isinstance(prior, PseudoCounts):
            return contingency_tables(data, [(n,)])[0], count_pairs(data)
        return tuple([member.count(data, prior) for member in self.members])

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member.distributions()]

    @property
    def _has_square(self) -> bool:
        """Whether most pairs of levels belong to two features, so that an array of all pairs is efficient."""
        *cards, n_classes = map(len, self.levels or ())
        square = sum(cards) ** 2
        return square * n_classes <= _SMALL or 2 * sum(card**2 for card in cards) <= square

    def tabulate(self, tally: Tally) -> AODE:
        learned = {"counts": tally}
        if not (self._has_square and isinstance(tally.prior, PseudoCounts)):
            members = zip(self.members, tally.counts, strict=True)
            tables = [member.tabulate(Tally(counts, tally.prior)) for member, counts in members]
            stacked = self._stacked(tables)
            return replace(stacked, learned={**stacked.learned, **learned})
        (classes, square), prior, every = tally.counts, tally.prior, np.arange(self.spans[-1].stop)
        cards = np.array([span.stop - span.start for span in self.spans])
        feature = np.repeat(np.arange(len(cards)), cards)
        children = []
        for span, card in zip(self.spans, cards.tolist(), strict=True):
            cpts = prior.side_by_side(square[span], feature, cards, card * len(classes))
            children.append(np.delete(cpts, span, axis=-1).transpose(2, 0, 1).copy())
        singles = square[every, :, every].T
        return replace(
            self,
            priors=prior(np.tile(classes, (len(cards), 1)), axis=1),
            superparents=prior.side_by_side(singles, feature, cards, len(classes)).T.copy(),
            children=tuple(children),
            learned=learned,
        )

    def recoded(self, counts: tuple[Any, ...], recodings: Mapping[Hashable, Recoding], before: Any) -> Any:
        n, by_member = len(self.features), counts
        if isinstance(counts[0], np.ndarray):
            classes, square = counts
            tables = [[square[before._cells(i, j, len(classes))] for j in range(n)] for i in range(n)]
            by_member = tuple([(*own, classes) for own in tables])
        members = zip(self.members, by_member, strict=True)
        by_member = tuple([member.recoded(tables, recodings, before) for member, tables in members])
        if not (self._has_square and isinstance(by_member[0][-1], np.ndarray)):
            return by_member
        (*_, classes), total = by_member[0], self.spans[-1].stop
        square = np.zeros((total, len(classes), total), dtype=np.result_type(*by_member[0]))
        for i, own in enumerate(by_member):
            for j in range(n):
                square[self._cells(i, j, len(classes))] = own[j]
        return classes, square

    def _cells(self, i: int, j: int, n_classes: int) -> tuple[Positions, ...]:
        """Return where the counts of feature j in estimator i are among those of all pairs of levels."""
        superparent, levels = (np.arange(self.spans[k].start, self.spans[k].stop)[:, None] for k in (i, j))
        return superparent if i == j else levels[:, None], np.arange(n_classes), superparent

    def _stacked(self, members: Sequence[BNC]) -> AODE:
        """Return the ensemble of estimators that were learned one by one."""
        tables = [member.cpts or () for member in members]
        return replace(
            self,
            levels=members[0].levels,
            priors=np.stack([cpts[-1] for cpts in tables]),
            superparents=np.concatenate([cpts[i] for i, cpts in enumerate(tables)]),
            children=tuple([np.concatenate([*cpts[:i], *cpts[i + 1 : -1]]) for i, cpts in enumerate(tables)]),
            learned={name: tuple([m.learned[name] for m in members]) for name in members[0].learned},
        )

    def maximize(self, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
        check_all_pairs(data, range(len(self.features)), len(self.features))
        return self._stacked([member.maximize(data, prior, em) for member in self.members])

    @cached_property
    def _stack(self) -> EstimatorTables:
        return _make_stack(self)

    def log_joint(self, codes: Codes) -> Array:
        *cards, n_classes = map(len, self.levels or ())
        if not self._has_square:
            return joint_in_blocks([member.terms for member in self.members], codes)
        is_kept = sum(table.size for table in self.children or ()) <= KEPT_CELLS
        stack = self._stack if is_kept else _make_stack(self)
        return joint_by_rows(lambda block: _joint_of_rows(stack, cards, block), codes, n_classes)


def _make_stack(x: AODE) -> EstimatorTables:
    """Make log tables, (levels of the superparent, classes, levels of the children)."""
    priors, superparents = np.asarray(x.priors), np.asarray(x.superparents)
    n_levels, n_classes = superparents.shape
    feature = np.repeat(np.arange(len(x.features)), [span.stop - span.start for span in x.spans])
    tables = np.ones((n_levels, n_classes, n_levels))
    for span, table in zip(x.spans, x.children or (), strict=True):
        by_child = table.transpose(1, 2, 0)
        tables[span, :, : span.start] = by_child[..., : span.start]
        tables[span, :, span.stop :] = by_child[..., span.start :]
    every = np.arange(n_levels)
    tables[every, :, every] = superparents * priors[feature]
    return EstimatorTables(finite_log(tables), feature, every)


def _joint_of_rows(stack: EstimatorTables, cards: Sequence[int], codes: Codes) -> Array:
    """Return the log of the mean joint of the estimators, (rows, classes)."""
    levels = number_levels(codes, cards)
    result = np.empty((codes.shape[1], stack.logs.shape[1]))
    for block in stack.blocks(levels, levels):
        logs = block.sums()
        if block.levels.min() < 0:
            _sum_out(logs, stack, block)
        n = block.rows.stop - block.rows.start
        result[block.rows] = log_total(logs)[:n] - np.log(len(logs))
    return result


def _sum_out(logs: Array, stack: EstimatorTables, block: Block) -> None:
    """Sum over the levels of missing superparents, in logs."""
    missing = block.levels < 0
    cards = np.bincount(stack.feature)
    starts = np.cumsum(cards) - cards
    for card in np.unique(cards[missing.any(axis=1)]).tolist():
        feature, row = np.nonzero(missing & (cards == card)[:, None])
        levels = starts[feature] + np.arange(card)[:, None]
        logs[feature, row] = log_sum_exp(block.sums_at(row, levels) + stack.joint[levels], axis=0)
