"""Averaged one-dependence estimators (AODE): in each, one feature is a parent of all others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..classifiers import BNC, Average, Family, Prior, PseudoCounts
from ..counts import Recoding, check_cells_of_all_pairs, contingency_table, count_pairs
from ..dataset import Countable, Dataset, Levels
from ..frames import AnyTable, schema_and_features
from ..model import PROPORTIONS, Recipe, Step, Tally
from ..networks.em import EM
from ..scores import Computed, Formula, Rows
from ..structure import features_for_recipe, network
from ..tools.arrays import (
    BLOCK_CELLS,
    Array,
    Codes,
    Mask,
    Positions,
    Slice,
    log,
    log_sum_exp,
    one_thread,
    slices,
)
from ..tools.immutable import PROBABILITY, cached_property, field_bounds, record

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
