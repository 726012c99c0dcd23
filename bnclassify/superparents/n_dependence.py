"""Averaged one- and n-dependence estimators (AODE, ANDE), with stacked tables.

In each network, one or n features are parents of all others. ANDE keeps counts of levels that occur
together in each class: alone, in pairs, in triples. The levels of all features are numbered
consecutively, in the order of the features.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import accumulate, combinations, pairwise, product
from typing import Any, Literal

import numpy as np

from ..classifiers import BNC, Average, Dirichlet, Family, MEstimate, Prior, PseudoCounts
from ..counts import (
    MAX_CELLS,
    Counts,
    Recoding,
    check_cells_of_all_pairs,
    contingency_table,
    count_families,
    count_pairs,
    recode_counts,
    to_narrowest_type,
)
from ..dataset import Countable, Dataset, Levels, Schema
from ..frames import AnyTable, frame_of, schema_and_features
from ..model import MISSING_RULE, PROPORTIONS, Model, PictureNotes, Recipe, Step, Tally
from ..networks.backoff_prior import LeftOutRows
from ..networks.em import EM
from ..networks.weighting import codes_without_implied, implications_between_values
from ..scores import Choice, Computed, Formula, Mixture, Rows, Sum, Table, pad_for_missing
from ..structure import features_for_recipe, network
from ..tools.arrays import (
    BLOCK_CELLS,
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    Slice,
    code_type,
    log,
    log_sum_exp,
    normalize,
    one_thread,
    slices,
    sum_nested,
)
from ..tools.checks import OneOf, Optional, Whole
from ..tools.immutable import COUNT, PROBABILITY, Immutable, cached_property, field_bounds, record
from ..tools.messages import how_to_merge, listed, shown

_BLOCK_ROWS = 96  # number of rows that are multiplied at once, or a multiple
_PRODUCTS_PER_LOOK_UP = 60  # number of multiplications in the time of a look-up


def spans_of_levels(cards: Iterable[int]) -> tuple[Slice, ...]:
    """Return the slice of the levels of each feature among the levels of all features."""
    return tuple([slice(start, end) for start, end in pairwise(accumulate((0, *cards)))])


def level_positions(codes: Codes, spans: Sequence[Slice]) -> Codes:
    """Number the levels of rows among the levels of all features; -1 stays."""
    starts = np.array([[span.start] for span in spans], dtype=np.int32).reshape(-1, 1)
    return np.where(codes < 0, -1, codes + starts)


def log_joint_by_blocks(joint: Callable[[Codes], Array], codes: Codes, n_classes: int) -> Array:
    """Compute a log joint, (rows, classes), a block of rows at a time, which bounds memory."""
    result = np.empty((codes.shape[1], n_classes))
    for rows in slices(len(result), most=2**14):
        result[rows] = joint(codes[:, rows])
    return result


@dataclass(frozen=True, eq=False)
class LookUp:
    """Log tables by superparent, (superparents, levels + 1, classes), missing values last.

    `spans` are the levels of each feature. The entries at the levels of a row
    are looked up for its superparents and added up or, if levels are few, added
    up for all superparents by a product of matrices.
    """

    logs: Array
    spans: tuple[Slice, ...]

    def log_joint_of_rows(
        self, levels: Codes, superparents: Codes, log_weights: Array, *, marginalizes: bool = False
    ) -> Array:
        """Return the log of the weighted sum over members of the joints of rows, (rows, classes).

        `levels` are (features, rows), -1 if missing, `superparents` is
        (members, rows), -1 if a member is not used, and `log_weights` is
        (members,). If it ``marginalizes``, each superparent is the level of a
        feature, and if it is missing, the member is the sum over the levels of
        the feature.
        """
        if self._is_product_faster(len(superparents)):
            return self._log_joint_by_product(levels, superparents, log_weights, marginalizes)
        places = self._places_in_tables(levels)
        total = self._log_joint_by_look_up(places, superparents, log_weights)
        for i, span in enumerate(self.spans if marginalizes else ()):
            if len(rows := np.flatnonzero(levels[i] < 0)):
                over_levels = self._log_joint_over_levels(places[:, rows], span) + log_weights[i]
                total[rows] = np.logaddexp(total[rows], over_levels)
        return total

    def _is_product_faster(self, members: int) -> bool:
        """Whether a product is faster than look-ups of members, and all entries are finite."""
        look_ups = members * len(self._group_starts_and_strides[0])
        # 2**22: number of cells of tables up to which a product for a single row is fast
        fast = self.logs.size <= min(_PRODUCTS_PER_LOOK_UP * look_ups, 2**22)
        return fast and self._all_logs_are_finite  # -inf times 0 is not a number

    @cached_property
    def _all_logs_are_finite(self) -> bool:
        return bool(np.isfinite(self.logs).all())

    @cached_property
    def _group_starts_and_strides(self) -> tuple[list[int], list[int]]:
        """The first feature of each group looked up in one table, and strides of features."""
        # Two features with 3 levels have 4 · 4 joint levels, counting the missing ones: one table
        # with 16 entries per superparent is looked up, at first + 4 · second, in place of two
        # tables with 4.
        # 16: maximum number of joint levels of features that are looked up together,
        # 2**16: or more, if their table has no more cells than these
        most = max(16, 2**16 // max(1, self.logs.shape[0] * self.logs.shape[2]))
        firsts, strides, joint = list[int](), list[int](), most + 1
        for feature, span in enumerate(self.spans):
            size = span.stop - span.start + 1
            if joint * size > most:
                firsts.append(feature)
                joint = 1
            strides.append(joint)
            joint *= size
        return firsts, strides

    @cached_property
    def _joint_log_tables(self) -> list[Array]:
        """The joint table of each group of features, (joint levels, superparents, classes)."""
        tables = list[Array]()
        firsts = set(self._group_starts_and_strides[0])
        for feature, span in enumerate(self.spans):
            table = self.logs.transpose(1, 0, 2)[[*range(span.start, span.stop), -1]]
            if feature in firsts:
                tables.append(table.copy())
            else:
                joint: Array = table[:, None] + tables[-1]
                tables[-1] = joint.reshape(-1, *table.shape[1:])
        return tables

    def _places_in_tables(self, levels: Codes) -> Positions:
        """Return the position of each row in each joint table, (tables, rows)."""
        starts = np.array([[span.start] for span in self.spans])
        ends = np.array([[span.stop] for span in self.spans])
        codes: Positions = np.where(levels < 0, ends, levels) - starts
        firsts, strides = self._group_starts_and_strides
        return np.asarray(np.add.reduceat(codes * np.array(strides)[:, None], firsts, axis=0))

    def _log_joint_by_look_up(
        self, places: Positions, superparents: Codes, log_weights: Array
    ) -> Array:
        _, n_superparents, n_classes = self._joint_log_tables[0].shape
        result = np.empty((places.shape[1], n_classes))
        for rows in slices(len(result), len(superparents) * n_classes):
            index = superparents[:, rows].astype(np.intp)
            logs = np.zeros((*index.shape, n_classes)) + log_weights[:, None, None]
            buffer = np.empty_like(logs)
            for table, of_rows in zip(self._joint_log_tables, places[:, rows], strict=True):
                entries, at = table.reshape(-1, n_classes), index + of_rows * n_superparents
                logs += entries.take(at, axis=0, mode="clip", out=buffer)
            np.copyto(logs, -np.inf, where=(index < 0)[..., None])
            result[rows] = _log_sum_exp_in_place(logs)
        return result

    def _log_joint_over_levels(self, places: Positions, span: Slice) -> Array:
        """Return the log of the sum over superparents with some levels, of which rows lack some."""
        own = np.arange(span.start, span.stop)
        joint: Array = self.logs[own, own]
        result = np.empty((places.shape[1], joint.shape[1]))
        for rows in slices(len(result), joint.size):
            logs = np.tile(joint.ravel(), (rows.stop - rows.start, 1))
            for table, of_rows in zip(self._joint_log_tables, places[:, rows], strict=True):
                logs += table[:, span].reshape(len(table), -1).take(of_rows, axis=0)
            result[rows] = log_sum_exp(logs.reshape(-1, *joint.shape), axis=1)
        return result

    def _log_joint_by_product(
        self, levels: Codes, superparents: Codes, log_weights: Array, marginalizes: bool
    ) -> Array:
        """Return the log joint by products of full registers, so that rows affect no other row."""
        cells = self.logs.shape[0] * self.logs.shape[2]
        size = _BLOCK_ROWS * max(1, BLOCK_CELLS // (_BLOCK_ROWS * cells))
        result = np.empty((levels.shape[1], self.logs.shape[2]))
        complete: Mask = np.asarray((levels >= 0).all(axis=0))
        with one_thread:
            for has_all in (True, False):
                some = np.flatnonzero(complete == has_all)
                for part in slices(len(some), most=size):
                    own = some[part]
                    # 16: BLAS adds up each row of a multiple in the same order
                    rows = np.resize(own, -(-len(own) // 16) * 16)
                    if marginalizes and not has_all:
                        total = self._log_joint_of_incomplete_rows(levels[:, rows], log_weights)
                    else:
                        sums = self._sums_of_superparents(levels[:, rows], has_all)
                        used = superparents[:, rows]
                        at: Positions = np.arange(len(rows)) * sums.shape[1] + used
                        logs = sums.reshape(-1, sums.shape[2]).take(at, axis=0, mode="clip")
                        logs += log_weights[:, None, None]
                        np.copyto(logs, -np.inf, where=(used < 0)[..., None])
                        total = _log_sum_exp_in_place(logs)
                    result[own] = total[: len(own)]
        return result

    def _sums_of_superparents(self, levels: Codes, complete: bool) -> Array:
        """Return all superparents' sums, (rows, superparents, classes), by a product of matrices.

        The levels of rows, as zeros and ones, are multiplied with the tables.
        """
        if complete:
            numbers, matrix = self._differences_to_first_levels
            ones: Array = np.ones((1 + len(numbers), levels.shape[1]))
            np.equal(levels[self._feature_of_level[numbers]], numbers[:, None], out=ones[1:])
        else:
            ones, matrix = self._indicators_of_levels(levels), self._logs_by_level
        return np.asarray(ones.T @ matrix).reshape(levels.shape[1], *self.logs.shape[::2])

    def _indicators_of_levels(self, levels: Codes) -> Array:
        """Return 1 for the levels that rows have, and 0 for others, (levels, rows)."""
        ones = np.empty((len(self._feature_of_level), levels.shape[1]))
        np.equal(levels[self._feature_of_level], np.arange(len(ones))[:, None], out=ones)
        return ones

    def _log_joint_of_incomplete_rows(self, levels: Codes, log_weights: Array) -> Array:
        """Return the log of the sum over the superparents that are levels of rows, or may be."""
        n, _, n_classes = self.logs.shape
        own, matrix = self._entries_of_own_levels_and_matrix
        sums = (self._indicators_of_levels(levels).T @ matrix).reshape(-1, n_classes, n)
        missing: Array = (levels[self._feature_of_level] < 0).T.astype(np.float64)
        sums += missing[:, None] * own
        sums += log_weights[self._feature_of_level]
        top: Array = sums.max(axis=2)
        sums -= top[..., None]
        np.exp(sums, out=sums)
        return np.asarray(np.log(sums.sum(axis=2)) + top)

    @cached_property
    def _entries_of_own_levels_and_matrix(self) -> tuple[Array, Array]:
        """The entries of superparents at their own level, and tables without other levels.

        The first is (classes, superparents), the second (levels, classes ·
        superparents). If a row has another level of the feature of a
        superparent, its sum is so small that its exponential is 0.
        """
        every = np.arange(len(self._feature_of_level))
        matrix = self.logs[:, :-1].transpose(1, 2, 0).copy()
        own = matrix[every, :, every]
        # -1e200: log of 0 in a product, where -inf · 0 is not a number
        is_same_feature: Mask = self._feature_of_level[:, None] == self._feature_of_level
        np.copyto(matrix, -1e200, where=is_same_feature[:, None])
        matrix[every, :, every] = own
        return own.T.copy(), matrix.reshape(len(every), -1)

    @cached_property
    def _feature_of_level(self) -> Positions:
        cards = [span.stop - span.start for span in self.spans]
        return np.repeat(np.arange(len(cards)), cards)

    @cached_property
    def _logs_by_level(self) -> Array:
        return self.logs[:, :-1].transpose(1, 0, 2).reshape(self.logs.shape[1] - 1, -1)

    @cached_property
    def _differences_to_first_levels(self) -> tuple[Positions, Array]:
        """The levels but the first of each feature, and a matrix for rows without missing values.

        Its first row is the sum of the entries at all first levels; each other
        row is the difference between the entries at a level and at the first
        level of its feature.
        """
        firsts = np.unique(self._feature_of_level, return_index=True)[1]
        others = np.delete(np.arange(len(self._feature_of_level)), firsts)
        table, first = self._logs_by_level, firsts[self._feature_of_level[others]]
        return others, np.vstack([table[firsts].sum(axis=0), table[others] - table[first]])


def _log_sum_exp_in_place(logs: Array) -> Array:
    """Return the log of the sum of exponentials over the first axis; it overwrites logs."""
    top: Array = logs.max(axis=0)
    logs -= np.where(top == -np.inf, 0.0, top)
    np.exp(logs, out=logs)
    return log(logs.sum(axis=0)) + top


_SMALL = 2**20  # cells


@record
@dataclass(frozen=True, eq=False, repr=False)
class AODE(Average):
    """An ensemble of one-dependence estimators, one for each feature as the superparent.

    The tables of all estimators are stacked in three arrays; the levels of all
    features are numbered consecutively. `members` returns the estimators as
    networks.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features. Each is the superparent of one estimator, a
        parent of all others.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end; None without
        data.
    priors : (features, classes) read-only array, or None
        P(class) in each estimator; None before `lp`, like the next two.
    superparents : (levels of all features, classes) read-only array, or None
        P(level | class), in the estimator of the superparent with the level.
    children : tuple of read-only arrays, or None
        P(level | level of the superparent, class) in each estimator, (levels of
        all other features, levels of the superparent, classes).
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of a method of `lp`, by name: tuples with one value per
        estimator.

    Examples
    --------
    >>> from bnclassify import aode, load_car, lp, members, modelstring
    >>> car = load_car()
    >>> model = lp(aode("class", car, features=["doors", "safety"]), car, smooth=1)
    >>> [modelstring(member) for member in members(model)]
    ['[class] [doors|class] [safety|doors:class]', '[class] [safety|class] [doors|safety:class]']
    """

    bounds = field_bounds(priors=PROBABILITY, superparents=PROBABILITY, children=PROBABILITY)

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
        return self.children is not None

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and members, without making the members."""
        return {"num. features": len(self.features), "num. members": len(self.features)}

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators, in the order of their superparents."""
        of_members = [name for name in self.learned if name not in ("counts", PROPORTIONS)]
        members = []
        for i, superparent in enumerate(self.features):
            families: list[Family] = [(f, superparent, self.class_var) for f in self.features]
            families[i] = superparent, self.class_var
            families.append((self.class_var,))
            cpts, learned = None, {name: self.learned[name][i] for name in of_members}
            if self.priors is not None and self.superparents is not None and self.children:
                spans = self.spans_of_features
                cards = [span.stop - span.start for j, span in enumerate(spans) if j != i]
                *tables, _ = np.split(self.children[i], np.cumsum(cards))
                tables.insert(i, self.superparents[spans[i]])
                cpts = (*tables, self.priors[i])
            own = self.class_var, tuple(families), self.levels, cpts, self.recipe
            members.append(BNC(*own, learned=learned))
        return tuple(members)

    @cached_property
    def spans_of_features(self) -> tuple[Slice, ...]:
        return spans_of_levels([len(labels) for labels in (self.levels or ())[:-1]])

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        """Count the classes and all pairs of levels, or the tables of each estimator."""
        n = len(self.features)
        check_cells_of_all_pairs(data, range(n), n)
        if self._uses_one_array_of_pairs and isinstance(prior, PseudoCounts):
            return contingency_table(data, (n,)), count_pairs(data)
        return tuple([member.count(data, prior) for member in self.members])

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member.distributions()]

    @property
    def _uses_one_array_of_pairs(self) -> bool:
        """Whether most pairs of levels belong to two features, so that one array is efficient."""
        *cards, n_classes = map(len, self.levels or ())
        square = sum(cards) ** 2
        return square * n_classes <= _SMALL or 2 * sum(card**2 for card in cards) <= square

    def tabulate(self, tally: Tally) -> AODE:
        learned = {"counts": tally}
        if not (self._uses_one_array_of_pairs and isinstance(tally.prior, PseudoCounts)):
            members = zip(self.members, tally.counts, strict=True)
            tables = [member.tabulate(Tally(counts, tally.prior)) for member, counts in members]
            stacked = self._ensemble_of_members(tables)
            return replace(stacked, learned={**stacked.learned, **learned})
        # square[u, c, x] is the number of rows of class c with the levels u of the superparent and
        # x, (levels, classes, levels)
        (classes, square), prior, spans = tally.counts, tally.prior, self.spans_of_features
        cards = np.array([span.stop - span.start for span in spans])
        feature = np.repeat(np.arange(len(cards)), cards)
        configurations = (cards[feature] * len(classes))[:, None, None]
        children = list[Array]()
        for block in slices(len(cards), int(cards.max(initial=1)) * len(classes) * len(feature)):
            start = spans[block.start].start
            rows = slice(start, spans[block.stop - 1].stop)
            cpts = prior.tables_on_last_axis(square[rows], feature, cards, configurations[rows])
            for own in spans[block]:
                of_own = cpts[own.start - start : own.stop - start].transpose(2, 0, 1)
                children.append(np.delete(of_own, own, axis=0))
        every = np.arange(len(feature))
        singles = square[every, :, every].T
        return replace(
            self,
            priors=prior(np.tile(classes, (len(cards), 1)), axis=1),
            superparents=prior.tables_on_last_axis(singles, feature, cards, len(classes)).T.copy(),
            children=tuple(children),
            learned=learned,
        )

    def recoded_counts(
        self, counts: tuple[Any, ...], recodings: Mapping[Hashable, Recoding], before: Any
    ) -> Any:
        every = range(len(self.features))
        if isinstance(counts[0], np.ndarray):  # of all pairs of levels, made tables of estimators
            classes, square = counts
            cells = [[before._cells_of_pair(i, j, len(classes)) for j in every] for i in every]
            counts = tuple([(*[square[places] for places in row], classes) for row in cells])
        members = zip(self.members, counts, strict=True)
        by_member = [member.recoded_counts(tables, recodings, before) for member, tables in members]
        *_, classes = by_member[0]
        if not self._uses_one_array_of_pairs or not isinstance(classes, np.ndarray):
            return tuple(by_member)
        n_levels = self.spans_of_features[-1].stop
        dtype = np.result_type(*[table for tables in by_member for table in tables])
        square = np.zeros((n_levels, len(classes), n_levels), dtype)
        for i, (*tables, _) in enumerate(by_member):
            for j, table in enumerate(tables):
                square[self._cells_of_pair(i, j, len(classes))] = table
        return classes, square

    def _cells_of_pair(self, i: int, j: int, n_classes: int) -> tuple[Positions, ...]:
        """Return where feature j's counts in estimator i are among those of all level pairs."""
        own, other = self.spans_of_features[i], self.spans_of_features[j]
        superparent = np.arange(own.start, own.stop)[:, None]
        levels = np.arange(other.start, other.stop)[:, None, None]
        return superparent if i == j else levels, np.arange(n_classes), superparent

    def _ensemble_of_members(self, members: Sequence[BNC]) -> AODE:
        tables = [member.cpts or () for member in members]
        return replace(
            self,
            levels=members[0].levels,
            priors=np.stack([cpts[-1] for cpts in tables]),
            superparents=np.concatenate([cpts[i] for i, cpts in enumerate(tables)]),
            children=tuple(
                [np.concatenate([*cpts[:i], *cpts[i + 1 : -1]]) for i, cpts in enumerate(tables)]
            ),
            learned={
                name: tuple([m.learned[name] for m in members]) for name in members[0].learned
            },
        )

    def maximize(self, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
        check_cells_of_all_pairs(data, range(len(self.features)), len(self.features))
        return self._ensemble_of_members(
            [member.maximize(data, prior, em) for member in self.members]
        )

    @cached_property
    def _log_look_up(self) -> LookUp:
        """Ln P(level | superparent's level, class); at its own level, ln P(level, class)."""
        if self.priors is None or self.superparents is None or self.children is None:
            raise TypeError("the ensemble has no tables")
        every = np.arange(len(self.superparents))
        tables = np.ones((len(every), len(every) + 1, self.priors.shape[1]))
        for own, children, prior in zip(
            self.spans_of_features, self.children, self.priors, strict=True
        ):
            tables[own, np.delete(every, own)] = children.transpose(1, 0, 2)
            tables[every[own], every[own]] = self.superparents[own] * prior
        return LookUp(log(tables), self.spans_of_features)

    @cached_property
    def formula(self) -> Formula:
        """The mean of estimators, by look-up unless the array of all level pairs is large."""
        if not self._uses_one_array_of_pairs:
            return self.mixture_of_members()
        return Computed(
            self._scores_by_look_up, self.type_in_words, self.mixture_of_members, averages=True
        )

    def _scores_by_look_up(self, rows: Rows) -> Array:
        equal_weights = np.full(len(self.features), -float(np.log(len(self.features))))

        def log_joint(codes: Codes) -> Array:
            levels = level_positions(codes, self.spans_of_features)
            return self._log_look_up.log_joint_of_rows(
                levels, levels, equal_weights, marginalizes=True
            )

        return log_joint_by_blocks(log_joint, rows.codes, len(self.known_levels[-1]))


def aode(
    class_var: Hashable,
    dataset: AnyTable | Countable | None = None,
    *,
    features: Iterable[Hashable] | None = None,
) -> AODE | BNC:
    """Build averaged one-dependence estimators (AODE), one per feature.

    In each network, its feature is a parent of all others.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        Data with the levels of each variable. By default, all columns except
        the class are features.
    features : list of str, optional
        Names of the features; with `dataset`, a selection of its columns.

    Returns
    -------
    AODE
        A structure without parameters; `lp` estimates them. With fewer than two
        features, it is a naive Bayes, a BNC.

    Notes
    -----
    This is the ensemble of the R package, the mean of the joint distributions
    of networks, which marginalizes over missing features exactly. `ande`
    follows its authors [1]_: the first table of an estimator is P(class,
    superparent), only superparents with values that occurred in training are
    used, and missing features are skipped.

    References
    ----------
    .. [1] Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes:
       aggregating one-dependence estimators. Machine Learning 58.

    Examples
    --------
    >>> from bnclassify import aode, load_car, members, modelstring
    >>> model = aode("class", load_car(), features=["doors", "safety"])
    >>> [modelstring(member) for member in members(model)]
    ['[class] [doors|class] [safety|doors:class]', '[class] [safety|class] [doors|safety:class]']
    """
    schema, chosen = schema_and_features(dataset, class_var, features)
    step = Step("aode", aode, {"features": features_for_recipe(dataset, features, chosen)})
    if len(chosen) < 2:
        return network(class_var, dict.fromkeys(chosen, ()), schema, step)
    levels = None if schema is None else schema.select((*chosen, class_var)).levels
    return AODE(class_var, chosen, levels, recipe=Recipe.from_step(class_var, step, schema))


MAX_BYTES = 8 * MAX_CELLS
"""Maximum memory of tables of counts, 1 GiB."""


@record
@dataclass(frozen=True, eq=False)
class Cooccurrence(Immutable):
    """Counts of levels by class, each over the rows in which all counted features are observed.

    `cards` has the number of levels of each feature, `classes` is a (classes,)
    array, and `single` a (levels, classes) array. `pairs`, (levels, classes,
    levels), has the count of a level on its diagonal and 0 at other levels of
    the same feature; it has no rows if pairs are not counted. `triples` has one
    array per level, (owners, classes, columns), over the rows with that level:
    see `LevelsTogether`.
    """

    bounds = field_bounds(cards=COUNT, classes=COUNT, single=COUNT, pairs=COUNT, triples=COUNT)

    cards: tuple[int, ...]
    classes: Array
    single: Array
    pairs: Counts
    triples: tuple[Counts, ...] = ()

    @cached_property
    def feature_of_level(self) -> Positions:
        return np.repeat(np.arange(len(self.cards)), self.cards)

    @cached_property
    def spans_of_features(self) -> tuple[Slice, ...]:
        return spans_of_levels(self.cards)

    @cached_property
    def n_rows_of_pairs(self) -> Array:
        """The number of rows in which both of two features are observed, (features, features)."""
        starts = [span.start for span in self.spans_of_features]
        by_level = np.add.reduceat(self.pairs.sum(axis=1, dtype=np.float64), starts, axis=0)
        return np.asarray(np.add.reduceat(by_level, starts, axis=1))

    def __add__(self, other: Cooccurrence) -> Cooccurrence:
        pairs = to_narrowest_type(sum_nested([self.pairs, other.pairs]))
        classes, single = self.classes + other.classes, self.single + other.single
        both = Cooccurrence(self.cards, classes, single, pairs)
        every = np.arange(len(self.feature_of_level)), np.arange(len(self.classes))
        return _add_triples(both, [(self, *every), (other, *every)])

    def recoded(self, recodings: Sequence[Recoding]) -> Cooccurrence:
        """Return the counts for other levels of the features and then of the class."""
        *features, of_class = recodings
        cards = tuple([card for _, card in features])
        spans = spans_of_levels(cards)
        levels = [span.start + codes for span, (codes, _) in zip(spans, features, strict=True)]
        of_level = Recoding(np.concatenate([np.empty(0, dtype=np.intp), *levels]), sum(cards))
        classes = recode_counts(self.classes, [of_class])
        single = recode_counts(self.single, [of_level, of_class])
        pairs: Counts = np.empty((0, of_class.card, 0))
        if len(self.pairs):
            pairs = recode_counts(self.pairs, [of_level, of_class, of_level])
        both = Cooccurrence(cards, classes, single, pairs)
        return _add_triples(both, [(self, of_level.codes, of_class.codes)])

    def levels_counted_with(self, level: int) -> LevelsTogether:
        """Return which levels are counted together in the rows with a level."""
        # Of features a (levels 0, 1), b (2, 3) and c (4, 5, 6, 7), let level 0 occur with 2, 4 and
        # 5. Of each feature, one column stands for all absent levels: kept = [2, 3, 4, 5, 6], and 7
        # has the column of 6.
        own: Mask = self.feature_of_level == self.feature_of_level[level]
        occurs: Mask = self.levels_occurring_with(level) & ~own
        absent = np.flatnonzero(~occurs & ~own)
        features, first = np.unique(self.feature_of_level[absent], return_index=True)
        kept = occurs.copy()
        kept[absent[first]] = True
        columns = np.where(kept, np.cumsum(kept) - 1, -1)
        stand_in = np.full(len(self.cards), -1)
        stand_in[features] = columns[absent[first]]
        columns[absent] = stand_in[self.feature_of_level[absent]]
        later: Mask = self.feature_of_level > self.feature_of_level[level]
        return LevelsTogether(level, np.flatnonzero(kept), columns, np.flatnonzero(occurs & later))

    def levels_counted_with_each_level(self) -> list[LevelsTogether]:
        return [self.levels_counted_with(level) for level in range(len(self.feature_of_level))]

    def levels_occurring_with(self, level: int) -> Mask:
        """Return which levels occur together with a level, itself included."""
        return np.asarray(self.pairs[level, :].any(axis=0))

    @property
    def has_triples(self) -> bool:
        plan, n_classes = self.levels_counted_with_each_level(), len(self.classes)
        shapes = [(len(together.owners), n_classes, len(together.kept)) for together in plan]
        return [cells.shape for cells in self.triples] == shapes

    def counts_of_features(self, *features: int) -> Array:
        """Return counts of joint levels of features counted together, (levels…, classes)."""
        if not features:
            return self.classes
        spans = [self.spans_of_features[f] for f in features]
        if len(features) == 1:
            return self.single[spans[0]]
        if len(features) == 2:
            return np.asarray(
                self.pairs[spans[0], :, spans[1]].transpose(0, 2, 1), dtype=np.float64
            )
        table = np.zeros((*[self.cards[f] for f in features], len(self.classes)))
        order = sorted(range(3), key=features.__getitem__)
        first, second, third = [spans[i] for i in order]
        for level, cells in enumerate(self.triples[first], first.start):
            together = self.levels_counted_with(level)
            here: Mask = (together.owners >= second.start) & (together.owners < second.stop)
            owners: Positions = together.owners[here] - second.start
            counts: Counts = cells[here][..., together.columns[third]]
            table.transpose(*order, 3)[level - first.start, owners] = counts.transpose(0, 2, 1)
        return table


@dataclass(frozen=True, eq=False)
class LevelsTogether:
    """The levels that are counted together in the rows with one level.

    `kept` has the observed levels of other features, and one level per feature
    for all unobserved ones. `columns` maps levels to positions among them, -1
    in the same feature. `owners` are the observed levels of later features.
    """

    level: int
    kept: Positions
    columns: Positions
    owners: Positions


def count_cooccurrence(data: Countable, most: int) -> Cooccurrence:
    """Count levels, pairs if `most` is 2 or more, triples if it is 3; too large tables raise."""
    *cards, n_classes = data.cards
    classes: Array = contingency_table(data, (len(cards),))
    if most < 2 or not cards:
        tables = count_families(data, [(f, len(cards)) for f in range(len(cards))])
        single = np.concatenate([np.empty((0, n_classes)), *tables])
        return Cooccurrence(tuple(cards), classes, single, np.empty((0, n_classes, 0)))
    # Log tables, with as many cells, are floats.
    _check_memory_of_tables(data, "pairs", sum(cards) ** 2 * n_classes, 8)
    pairs = count_pairs(data)
    single = pairs[np.arange(len(pairs)), :, np.arange(len(pairs))].astype(np.float64)
    both = Cooccurrence(tuple(cards), classes, single, pairs)
    if most < 3:
        return both
    plan = both.levels_counted_with_each_level()
    cells = n_classes * sum(len(together.owners) * len(together.kept) for together in plan)
    _check_memory_of_tables(data, "triples", cells, to_narrowest_type(both.single).itemsize)
    triples = data.sum_over_parts(partial(_count_triples, both, plan))
    return replace(both, triples=tuple(map(to_narrowest_type, triples)))


def _check_memory_of_tables(data: Countable, what: str, cells: int, bytes_per_cell: int) -> None:
    """Raise a ValueError if tables would need more than `MAX_BYTES`."""
    *cards, _ = data.cards
    if cells * bytes_per_cell > MAX_BYTES:
        wide = how_to_merge(zip(data.columns, cards, strict=False))
        raise ValueError(
            f"dataset: tables of all {what} of the {sum(cards):,} levels of {len(cards):,} "
            f"features would have {cells:,} cells and need {cells * bytes_per_cell / 2**30:,.1f} "
            f"GiB, more than {MAX_BYTES / 2**30:g}. Use a smaller n, fewer features, or {wide}."
        )


def _count_triples(
    both: Cooccurrence, plan: Sequence[LevelsTogether], data: Dataset
) -> list[Counts]:
    """Count pairs of a level and an owner within the rows of each level."""
    triples: list[Counts] = []
    for together in plan:
        if len(together.owners):
            feature, spans = int(both.feature_of_level[together.level]), both.spans_of_features
            rows = data.take_rows(data.codes[feature] == together.level - spans[feature].start)
            others = [f for f in range(len(both.cards)) if f != feature]
            # in the example of `levels_counted_with`, level 0 is counted with 2 and 3 of b, coded 0
            # and 1, and with 4, 5, 6 of c, coded 0, 1, 2
            n_levels = np.bincount(both.feature_of_level[together.kept], minlength=len(both.cards))
            cards = n_levels[others]
            firsts: Positions = np.cumsum(cards) - cards  # the first column of each feature
            levels = level_positions(rows.codes[others], [spans[f] for f in others])
            codes = np.where(levels < 0, -1, together.columns[levels] - firsts[:, None])
            n_classes = data.cards[-1]
            dtype = code_type(max(*cards, n_classes))
            coded = np.concatenate([codes, rows.codes[-1:]]).astype(dtype)
            labels = tuple([tuple(range(card)) for card in (*cards.tolist(), n_classes)])
            names = tuple([data.columns[f] for f in (*others, -1)])
            rows = replace(rows, schema=Schema(names, labels), codes=coded)
            triples.append(count_pairs(rows, together.columns[together.owners]))
        else:
            triples.append(np.empty((0, len(both.classes), len(together.kept))))
    return triples


def _add_triples(
    both: Cooccurrence, sources: Sequence[tuple[Cooccurrence, Positions, Positions]]
) -> Cooccurrence:
    """Add the triples of other counts, laid out again, as further levels may occur together.

    With each of the counts are the numbers that their levels and classes have in ``both``.
    """
    if not any(counts.triples for counts, *_ in sources):
        return both
    triples = []
    for together in both.levels_counted_with_each_level():
        total = np.zeros((len(together.owners), len(both.classes), len(together.kept)))
        for counts, levels, classes in sources:
            for level in np.flatnonzero(levels == together.level).tolist():
                own = counts.levels_counted_with(level)
                rows = np.searchsorted(together.owners, levels[own.owners])
                occurs = counts.levels_occurring_with(level)[own.kept]
                columns: Positions = together.columns[levels[own.kept[occurs]]]
                total[np.ix_(rows, classes, columns)] += counts.triples[level][..., occurs]
        triples.append(to_narrowest_type(total))
    return replace(both, triples=tuple(triples))


@dataclass(frozen=True, eq=False)
class Estimators:
    """Averaged n-dependence estimators: counts, a prior, and the settings of `ANDE`."""

    counts: Cooccurrence
    prior: PseudoCounts
    n: int
    min_count: float
    subsumption: float | None
    is_weighted: bool

    @cached_property
    def information_of_features(self) -> Array:
        """The mutual information of each feature and the class, in nats."""
        found = []
        for span in self.counts.spans_of_features:
            counts = self.counts.single[span]
            joint: Array = counts / max(counts.sum(), 1.0)
            independent: Array = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
            # 1e-6: smaller probabilities are excluded from weights, as in WAODE
            is_common: Mask = (joint >= 1e-6) & (independent >= 1e-6)
            joint, independent = joint[is_common], independent[is_common]
            found.append(float(np.sum(joint * np.log(joint / independent))))
        # 1e-14: information below this is a rounding error
        return np.array([each if each > 1e-14 else 0.0 for each in found])

    @cached_property
    def tables_of_naive_bayes(self) -> MemberTables:
        """The tables of naive Bayes, with a constant superparent, the last level."""
        counts, n = self.counts, len(self.counts.feature_of_level)
        cells = np.concatenate([counts.single, counts.classes[None]]).T[None]
        feature = np.append(counts.feature_of_level, len(counts.cards))
        return MemberTables(self, cells, feature, np.array([n]), np.empty((1, 0), dtype=np.intp))

    @cached_property
    def tables_by_superparent(self) -> MemberTables:
        feature = self.counts.feature_of_level
        every = np.arange(len(feature))
        return MemberTables(self, self.counts.pairs, feature, every, feature[:, None])

    @cached_property
    def implied_level_pairs(self) -> Positions:
        """Pairs of levels, (pairs, 2), the second of which implies the first."""
        if self.subsumption is None:
            return np.empty((0, 2), dtype=np.intp)
        both: Array = self.counts.pairs.sum(axis=1, dtype=np.float64)
        is_frequent: Mask = np.diagonal(both) > self.subsumption + TOLERANCE
        return implications_between_values(both, self.counts.feature_of_level, is_frequent)


@dataclass(frozen=True, eq=False)
class MemberTables:
    """The counts behind members' tables, by combinations of superparents' levels.

    ``counts`` are (combinations, classes, levels), and ``feature``, (levels,),
    has the feature of each level. Of each combination, ``own_level`` has the
    position of the last superparent's level, and ``superparents`` the features,
    (combinations, n).
    """

    x: Estimators
    counts: Counts
    feature: Positions
    own_level: Positions
    superparents: Positions

    def pseudo_counts_and_totals(self, owners: Positions) -> tuple[Array, Array]:
        """Return pseudo-count and denominator of P(superparents, class) per row of superparents.

        Example: with 3 levels, 2 classes, 10 rows and a pseudo-count of 1, 1
        and 10 + 6 = 16.
        """
        counts = self.x.counts
        rows = np.array([counts.classes.sum()])
        if owners.shape[1]:  # the pair of a feature and itself has the rows of the feature
            rows = counts.n_rows_of_pairs[owners[:, 0], owners[:, -1]]
        cards = np.array(counts.cards, dtype=float)
        cells: Array = len(counts.classes) * cards[owners].prod(axis=1)
        pseudo: Array = np.zeros(cells.shape) + self.x.prior.pseudo_count_per_cell(cells, 1)
        return pseudo, rows + cells * pseudo

    @cached_property
    def log_tables(self) -> Array:
        """Ln P(level | superparents, class), (combinations, levels + 1, classes), 0 if missing.

        At the superparents' own level, this is ln P(superparents, class).
        """
        every = np.arange(len(self.counts))
        pseudo, total = self.pseudo_counts_and_totals(self.superparents)
        cards = np.array([*self.x.counts.cards, 1])  # of a constant superparent
        tables = self.x.prior.tables_on_last_axis(self.counts, self.feature, cards)
        own_counts = self.counts[every, :, self.own_level]
        joint = (own_counts + pseudo[:, None]) / np.where(total > 0, total, 1.0)[:, None]
        tables[every, :, self.own_level] = joint
        of_missing = np.zeros((*joint.shape, 1))
        logs = np.concatenate([log(tables), of_missing], axis=2)
        return logs.transpose(0, 2, 1).copy()

    @cached_property
    def log_look_up(self) -> LookUp:
        cards = np.bincount(self.feature, minlength=len(self.x.counts.cards))
        return LookUp(self.log_tables, spans_of_levels(cards))


@dataclass(frozen=True, eq=False)
class MemberBlock:
    """Members that can be used in some rows, by position.

    `levels`, (features, rows), has the positions of the rows' levels in the
    tables, -1 where a feature is not a child. `superparents` is (members, n),
    and `superparent_index`, (members, rows), has the combination of the
    superparents' levels in the tables, -1 if the member is not used.
    """

    rows: Positions
    levels: Codes
    superparents: Positions
    superparent_index: Codes
    tables: MemberTables

    @property
    def is_member_used(self) -> Mask:
        return self.superparent_index >= 0

    def weights_of_members(self, weights: Array) -> Array:
        """Return the weight of each member, given those of features as superparents."""
        if not self.superparents.shape[1]:
            return np.ones(1)
        return np.asarray(weights[self.superparents].sum(axis=1))

    def log_joint(self, log_weights: Array) -> Array:
        """Return the log of the weighted sum of the joints of the members, (rows, classes)."""
        return self.tables.log_look_up.log_joint_of_rows(
            self.levels, self.superparent_index, log_weights
        )


def log_mean_joint(
    x: Estimators,
    codes: Codes,
    joint_of: Callable[[Positions, MemberBlock, Array], Array] | None = None,
) -> Array:
    """Return the log of the mean joint of the members that are used in each row, (rows, classes).

    Members have n superparents or, if none of them can be used in a row, fewer,
    down to naive Bayes. ``joint_of`` returns the log of the sum over a block of
    members with given log weights, in rows by their numbers.
    """
    levels = level_positions(codes, x.counts.spans_of_features)
    without_implied = codes_without_implied(codes, x.counts.cards, x.implied_level_pairs)
    remaining = level_positions(without_implied, x.counts.spans_of_features)
    # equal weights also if all weights of the members that can be used are 0
    equal_weights = np.ones(len(levels))
    options = [x.information_of_features, equal_weights] if x.is_weighted else [equal_weights]
    rows, result = np.arange(codes.shape[1]), np.empty((codes.shape[1], len(x.counts.classes)))
    for n, weights in [*product(range(x.n, 0, -1), options), (0, equal_weights)]:
        if not len(rows):
            break
        own = (levels if x.n and not n else remaining)[:, rows]
        total = np.zeros(len(rows))  # the weights of the members that are used
        for block in member_blocks(x, n, own):
            used = block.weights_of_members(weights)[:, None] * block.is_member_used
            # one by one, so that the sum of a row does not depend on the other rows
            total[block.rows] += reduce(np.add, used)
        found: Mask = total > 0
        numbers, logs = rows[found], np.full((np.count_nonzero(found), result.shape[1]), -np.inf)
        for block in member_blocks(x, n, own[:, found]) if len(numbers) else ():
            of_members = log(block.weights_of_members(weights))
            if joint_of is None:
                of_block = block.log_joint(of_members)
            else:
                of_block = joint_of(numbers[block.rows], block, of_members)
            logs[block.rows] = np.logaddexp(logs[block.rows], of_block)
        result[numbers] = logs - np.log(total[found])[:, None]
        rows = rows[~found]
    return result


def member_blocks(x: Estimators, n: int, levels: Codes) -> Iterator[MemberBlock]:
    """Yield the members with n superparents for rows, given their levels, (features, rows).

    Levels are numbered among all levels, -1 if missing or implied.
    """
    counts, every = x.counts, np.arange(levels.shape[1])
    if n == 0:
        always = np.full((1, len(every)), len(counts.feature_of_level), dtype=levels.dtype)
        children: Codes = np.concatenate([levels, always])
        index: Codes = np.zeros((1, len(every)), dtype=np.intp)
        tables = x.tables_of_naive_bayes
        yield MemberBlock(every, children, tables.superparents, index, tables)
    elif n == 1 and len(levels):
        is_rare = np.append(counts.single.sum(axis=1) < x.min_count - TOLERANCE, False)
        index = np.where(is_rare[levels], -1, levels) if is_rare.any() else levels
        superparents = np.arange(len(levels))[:, None]
        yield MemberBlock(every, levels, superparents, index, x.tables_by_superparent)
    elif n == 2:
        for level, triples in enumerate(counts.triples):  # of the first of two superparents
            own = int(counts.feature_of_level[level])
            rows = np.flatnonzero(levels[own] == level)
            if not len(rows) or not len(triples):
                continue
            together = counts.levels_counted_with(level)
            owners, partner = together.owners, counts.feature_of_level[together.owners]
            pairs = np.stack([np.full(len(partner), own), partner], axis=1)
            feature = counts.feature_of_level[together.kept]
            tables = MemberTables(x, triples, feature, together.columns[owners], pairs)
            n_rows = counts.pairs[level, :, owners].sum(axis=1)
            frequent = np.flatnonzero(n_rows >= x.min_count - TOLERANCE)
            position = np.full(len(counts.feature_of_level) + 1, -1)
            position[owners[frequent]] = frequent
            partners, of_rows = np.unique(partner), levels[:, rows]
            index = position[of_rows[partners]]
            children = np.append(together.columns, -1)[of_rows]
            superparents = np.stack([np.full(len(partners), own), partners], axis=1)
            yield MemberBlock(rows, children, superparents, index, tables)


def _log_joint_without_own_row(
    classes: Positions, share: float, rows: Positions, block: MemberBlock, weights: Array
) -> Array:
    """Return the log joint of a block's members, (rows, classes), each row out of its counts."""
    labels: Positions = classes[rows]
    pseudo, before = block.tables.pseudo_counts_and_totals(block.superparents)
    # The denominator of an unused member is arbitrary.
    after = np.where(before > share, before - share, 1.0)
    logs = block.log_joint(weights + np.log(np.maximum(before, after) / after))
    tables, is_used = block.tables, block.is_member_used
    owner: Positions = np.maximum(block.superparent_index, 0).astype(np.intp)
    cell: Array = tables.counts[owner, labels, tables.own_level[owner]] - share + pseudo[:, None]
    result = np.log(np.where(is_used, cell, 1.0) / after[:, None])
    features, starts = np.unique(tables.feature, return_index=True)
    totals: Array = np.add.reduceat(tables.counts, starts, axis=-1, dtype=np.float64)
    for column, f in enumerate(map(int, features)):
        if f < len(tables.x.counts.cards):  # not the constant superparent of naive Bayes
            card, levels = tables.x.counts.cards[f], block.levels[f, :].astype(np.intp)
            added = tables.x.prior.pseudo_count_per_cell(card, 1)
            is_superparent: Mask = np.any(block.superparents == f, axis=1, keepdims=True)
            is_child: Mask = is_used & (levels >= 0) & ~is_superparent
            cell = tables.counts[owner, labels, np.maximum(levels, 0)] - share + added
            total: Array = totals[owner, labels, column] - share + card * added
            result += np.log(np.where(is_child, cell, 1.0) / np.where(is_child, total, 1.0))
    own_logs = result + weights[:, None]
    own_logs[~block.is_member_used] = -np.inf
    logs[np.arange(len(labels)), labels] = log_sum_exp(own_logs, axis=0)
    return logs


@record
@dataclass(frozen=True, eq=False, repr=False)
class ANDE(Average):
    """Averaged n-dependence estimators: in each, n features are the superparents of all others.

    The model keeps counts, and computes probabilities for each prediction. The
    members that are used depend on the row.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end.
    n : int
        The number of superparents of each member: 0, 1 or 2.
    min_count : int
        Minimum number of training rows with the superparents' values of a row
        for the member to be used.
    subsumption : int or None
        If another value of a row implies a value, and occurs in more training
        rows than this, the implied value is dropped. If None, no values are
        dropped.
    weighting : str or None
        "mi" if members are weighted by the mutual information of their
        superparents and the class; None if all have equal weights.
    counts : Cooccurrence or None
        Counts of levels alone, in pairs and in triples; None before `lp`.
    prior : pseudo-counts, or None
        The prior that `lp` was called with.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of a method of `lp`, by name.

    Examples
    --------
    >>> from bnclassify import ande, load_car, lp, predict
    >>> car = load_car()
    >>> model = lp(ande("class", car, n=2), car, m=1)
    >>> predict(model, car.tail(1), prob=True).round(2)
    class  unacc   acc  good  vgood
    1727    0.09  0.11  0.11    0.7
    """

    bounds = field_bounds(min_count=COUNT, subsumption=COUNT)

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    n: int = 1
    min_count: float = 1
    subsumption: float | None = None
    weighting: str | None = None
    counts: Cooccurrence | None = None
    prior: Dirichlet | MEstimate | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "averaged n-dependence estimators do not define a joint distribution, because missing "
        "features are skipped; use aode, whose estimators are networks, or a single network"
    )

    def __post_init__(self) -> None:
        Whole(0, 2).check("n", self.n)
        if self.counts is not None:
            *cards, n_classes = [len(labels) for labels in self.levels or ((),)]
            total = sum(cards)
            shapes = self.counts.cards, self.counts.classes.shape, self.counts.single.shape
            if shapes != (tuple(cards), (n_classes,), (total, n_classes)):
                raise ValueError(
                    f"counts must be of {listed(cards)} levels and {n_classes} classes."
                )
            if (self.n and self.counts.pairs.shape != (total, n_classes, total)) or (
                self.n > 1 and not self.counts.has_triples
            ):
                raise ValueError(
                    f"counts must contain all levels that occur together, {self.n + 1} at a time."
                )
        super().__post_init__()

    @property
    def fitted(self) -> bool:
        return self.counts is not None

    def facts(self) -> dict[str, object]:
        return {
            "num. features": len(self.features),
            "num. members": len(self.superparents),
            "superparents": self.n,
            "min_count": self.min_count,
            "subsumption": self.subsumption,
            "weights": self.weighting,
            MISSING_RULE: "ignored",
        }

    @cached_property
    def _fitted_estimators(self) -> Estimators:
        assert self.counts is not None
        assert self.prior is not None
        options = self.n, self.min_count, self.subsumption, self.weighting is not None
        return Estimators(self.counts, self.prior, *options)

    @property
    def superparents(self) -> tuple[tuple[int, ...], ...]:
        return tuple(combinations(range(len(self.features)), min(self.n, len(self.features))))

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators as networks, in the order of `superparents`."""
        return tuple([self.network_of_member(s) for s in self.superparents])

    def network_of_member(self, superparents: tuple[int, ...]) -> BNC:
        """Return an estimator of up to two superparents, the first a parent of the second."""
        earlier = {s: superparents[:i] for i, s in enumerate(superparents)}
        scopes = [(f, *earlier.get(f, superparents)) for f in range(len(self.features))]
        families: list[Family] = []
        for scope in scopes:
            families.append((*[self.features[v] for v in scope], self.class_var))
        families.append((self.class_var,))
        if not self.fitted:
            return BNC(self.class_var, tuple(families), self.levels, recipe=self.recipe)
        counts, prior = self._fitted_estimators.counts, self._fitted_estimators.prior
        cells = counts.counts_of_features(*superparents)
        joint = prior(cells.reshape(-1)).reshape(cells.shape)
        cpts: list[Array] = []
        for scope in scopes:
            if scope[0] in earlier:
                cpts.append(_conditional_of_joint(joint, superparents.index(scope[0])))
            else:
                cpts.append(prior(counts.counts_of_features(*scope)))
        cpts.append(_conditional_of_joint(joint, None))
        return BNC(self.class_var, tuple(families), self.levels, tuple(cpts), self.recipe)

    @property
    def weights(self) -> Array:
        """The weight of each member if all are used; they sum to 1."""
        if self.weighting is None or self.n == 0 or not self.fitted:
            return normalize(np.ones(len(self.superparents)))
        information = self._fitted_estimators.information_of_features
        return normalize(np.array([information[list(s)].sum() for s in self.superparents]))

    @property
    def superparent_shares(self) -> Array:
        """Each feature's share, as a superparent, in the weights of all members; they sum to 1."""
        shares = np.zeros(len(self.features))
        for superparents, weight in zip(self.superparents, self.weights, strict=True):
            shares[list(superparents)] += weight / max(1, len(superparents))
        return shares

    def estimate(self, data: Countable, prior: Prior) -> ANDE:
        if not isinstance(prior, Dirichlet | MEstimate):
            raise TypeError(
                "averaged n-dependence estimators need smooth or m, which also define the joint "
                f"probability of superparents and class; got {shown(prior)}."
            )
        return super().estimate(data, prior)

    def count_all(self, data: Countable, prior: Prior) -> tuple[Cooccurrence]:
        return (count_cooccurrence(data, max(self.n + 1, 1 if self.subsumption is None else 2)),)

    def tally(self) -> Tally:
        adjusted = self.learned.keys() - {PROPORTIONS}
        return super().tally() if adjusted else Tally((self.counts,), self.prior)

    def tabulate(self, tally: Tally) -> ANDE:
        return replace(self, counts=tally.counts[0], prior=tally.prior, learned={})

    def recoded_counts(
        self, counts: tuple[Cooccurrence], recodings: Mapping[Hashable, Recoding], before: Model
    ) -> tuple[Cooccurrence]:
        return (counts[0].recoded([recodings[name] for name in self.variables]),)

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        names = ("n", "min_count", "subsumption", "weighting", "prior")
        return {**super().properties_to_agree, **{name: getattr(self, name) for name in names}}

    @cached_property
    def formula(self) -> Formula:
        """The log of the mean joint of the estimators that each row uses, from their counts."""
        return Computed(self._scores_by_counts, self.type_in_words, self._formula_of_members)

    def _scores_by_counts(self, rows: Rows) -> Array:
        return log_joint_by_blocks(
            partial(log_mean_joint, self._fitted_estimators), rows.codes, len(self.known_levels[-1])
        )

    def _formula_of_members(self) -> Formula:
        """Return the formula of up to one superparent, by weight, then equally, or raise."""
        if self.n > 1 or self.subsumption is not None:
            raise TypeError(
                "x must be averaged estimators with up to one superparent and without subsumption; "
                f"got n={self.n}, subsumption={self.subsumption}. Use ande(..., n=1) or aode."
            )
        x = self._fitted_estimators
        spans, logs = x.counts.spans_of_features, x.tables_of_naive_bayes.log_tables[0, :, :]
        naive = [Table(j, (j,), pad_for_missing(logs[span])) for j, span in enumerate(spans)]
        of_class = Table(-1, (), logs[len(x.counts.feature_of_level), :])
        options: list[Sum | Mixture] = []
        if x.n and spans:
            tables, members = x.tables_by_superparent.log_tables, list[Sum]()
            for i, span in enumerate(spans):
                own = np.arange(span.start, span.stop)  # levels, unused if they are rare
                is_rare: Mask = x.counts.single[own].sum(axis=1) < x.min_count - TOLERANCE
                joint = np.where(is_rare[:, None], np.nan, tables[own, own])
                children = []
                for j, other in enumerate(spans):
                    if j != i:
                        table = tables[own, other].swapaxes(0, 1)  # (levels of j, of i, classes)
                        children.append(Table(j, (j, i), pad_for_missing(table)))
                of_superparent = Table(i, (i,), pad_for_missing(joint, np.nan))
                members.append(Sum((*children, of_superparent), marginalizes=False))
            weights = x.information_of_features
            some = np.flatnonzero(weights)
            if x.is_weighted and len(some):
                options.append(Mixture(tuple([members[i] for i in some]), np.log(weights[some])))
            options.append(Mixture(tuple(members), np.zeros(len(members))))
        options.append(Sum((*naive, of_class), marginalizes=False))
        return Choice(tuple(options))

    def log_joint_left_out(
        self, data: Dataset, prior: Any, rows: Positions, left_out: LeftOutRows
    ) -> Array:
        x = self.estimate(data, prior)._fitted_estimators
        codes, result = data.codes[:-1, rows], np.empty((len(rows), len(x.counts.classes)))
        for share in map(float, np.unique(left_out.shares)):
            # N − share ≥ limit is N ≥ limit + share, and all counts of a row's values include it
            limit = None if x.subsumption is None else x.subsumption + share
            stricter = replace(x, min_count=x.min_count + share, subsumption=limit)
            own = np.flatnonzero(left_out.shares == share)
            for part in slices(len(own), most=BLOCK_ROWS):
                block = own[part]
                classes = left_out.classes[block].astype(np.intp)
                without = partial(_log_joint_without_own_row, classes, share)
                result[block] = log_mean_joint(stricter, codes[:, block], without)
        return result

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        return {(self.class_var, feature): 1.0 for feature in self.features}

    @property
    def picture_notes(self) -> PictureNotes:
        if not self.n:
            return PictureNotes()
        phrase = "a feature is the parent" if self.n == 1 else "two features are the parents"
        note = (
            f"average of {len(self.superparents):,} networks, in each of which "
            f"{phrase} of all others"
        )
        if self.weighting is not None and not self.fitted:
            return PictureNotes(note, note="lp will weigh the networks")
        shares = dict(zip(self.features, self.superparent_shares.tolist(), strict=True))
        return PictureNotes(note, shares, "numbers are the shares of features in the weights")

    def feature_weights(self) -> dict[Hashable, float] | None:
        if self.weighting is None or not self.n or not self.fitted:
            return None
        return dict(zip(self.features, self.superparent_shares.tolist(), strict=True))


def _conditional_of_joint(joint: Array, i: int | None) -> Array:
    """Return P(superparent i | previous ones, class) from their joint; P(class) for None."""
    n_kept = 0 if i is None else i + 1
    margin: Array = joint.sum(axis=tuple(range(n_kept, joint.ndim - 1)))
    return margin if i is None else normalize(np.moveaxis(margin, i, 0))


def ande(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    n: int = 1,
    features: Iterable[Hashable] | None = None,
    min_count: int = 1,
    subsumption: int | None = None,
    weights: Literal["mi"] | None = None,
) -> ANDE:
    """Build averaged n-dependence estimators (AnDE).

    In each network, n features are parents of all others.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with the levels of each variable. By default, all columns except
        the class are features.
    n : int, default 1
        Number of superparents of each estimator: 0 is naive Bayes, 1 AODE, 2
        A2DE.
    features : list of str, optional
        Names of the features, a selection of the columns.
    min_count : int, default 1
        Minimum number of training rows with the superparents' values of a row
        for the estimator to be used in that row. Without such an estimator,
        estimators with one superparent fewer are used, down to naive Bayes.
    subsumption : int, optional
        If another value of a row occurs in more training rows than this number,
        usually 50, and all these rows have both values, it implies the value,
        and the implied value is dropped. By default, no values are dropped.
    weights : {"mi"}, optional
        If "mi", estimators are weighted by the mutual information of their
        superparents and the class, summed over two superparents. By default,
        all weights are equal.

    Returns
    -------
    ANDE
        A structure without parameters; `lp` estimates them, with ``smooth`` or
        ``m``.

    Notes
    -----
    The posterior is Σ_i w_i P(c, x_i) Π_{j ≠ i} P(x_j | c, x_i), normalized,
    over the features i and j that are observed in the row, with N(x_i) ≥
    min_count [1]_. For n = 2, pairs of features take the place of i [2]_.
    Missing features are skipped, so the model has no joint distribution, and no
    `loglik`, `AIC`, `BIC` or EM, in contrast to `aode`. WAODE [4]_ is
    ``weights="mi"`` and ``lp(..., m=1)``. The page :doc:`Formulas </methods>`
    defines the estimates.

    Subsumption resolution [3]_ drops x_i if there is an x_j in the row with
    N(x_j) > ``subsumption`` and N(x_i, x_j) = N(x_j).

    References
    ----------
    .. [1] Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes:
       aggregating one-dependence estimators. Machine Learning 58.
    .. [2] Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H.
       (2012). Learning by extrapolation from marginal to full-multivariate
       probability distributions: decreasingly naive Bayesian classification.
       Machine Learning 86.
    .. [3] Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption
       resolution: an efficient and effective technique for semi-naive Bayesian
       learning. Machine Learning 87.
    .. [4] Jiang, L., Zhang, H. (2006). Weightily averaged one-dependence
       estimators. PRICAI 2006.

    Examples
    --------
    >>> from bnclassify import ande, cv, load_car, lp
    >>> car = load_car()
    >>> models = {n: lp(ande("class", car, n=n), car, m=1) for n in (0, 1, 2)}
    >>> cv(models, car, k=5, rng=0).round(2).to_dict()
    {0: 0.85, 1: 0.91, 2: 0.94}
    """
    n = Whole(0, 2).check("n", n)
    min_count = Whole(1).check("min_count", min_count)
    subsumption = Optional(Whole()).check("subsumption", subsumption)
    Optional(OneOf(("mi",))).check("weights", weights)
    if dataset is None:
        frame_of(dataset, "dataset")
    schema, chosen = schema_and_features(dataset, class_var, features)
    levels = None if schema is None else schema.select((*chosen, class_var)).levels
    settings = {"n": n, "features": features, "min_count": min_count}
    step = Step("ande", ande, settings | {"subsumption": subsumption, "weights": weights})
    recipe = Recipe.from_step(class_var, step, schema)
    return ANDE(class_var, chosen, levels, n, min_count, subsumption, weights, recipe=recipe)
