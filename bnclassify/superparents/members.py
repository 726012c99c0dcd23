"""Members of averaged n-dependence estimators that each row uses, and their log joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product

import numpy as np

from ..classifiers import PseudoCounts
from ..counts import Counts
from ..networks.prefix_tables import LeftOutRows
from ..networks.weighting import codes_without_implied, implications_between_values
from ..scores import Choice, Mixture, Sum, Table, pad_for_missing
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    log,
    log_sum_exp,
    slices,
)
from ..tools.immutable import cached_property
from .cooccurrence import Cooccurrence
from .look_up import LookUp, level_positions, spans_of_levels


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
        """The tables of members with one superparent."""
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
        """The logs, to be added up over the features of rows."""
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
        """Whether each member is used in each row, (members, rows)."""
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


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Rows in which members with n superparents are used.

    `levels`, (features, rows), has the position of each row's level among all
    levels, -1 if missing or subsumed. `weights` has one weight per feature as a
    superparent; two superparents have the sum of their weights. `total_weight`,
    (rows,), is the sum of the weights of the members that are used.
    """

    rows: Positions
    n: int
    levels: Codes
    weights: Array
    total_weight: Array


def log_mean_joint(
    x: Estimators,
    codes: Codes,
    joint_of: Callable[[RowGroup, MemberBlock, Array], Array] | None = None,
) -> Array:
    """Return the log of the mean joint of the members that are used in each row, (rows, classes).

    ``joint_of`` returns the log of the sum over a block of members with given
    log weights.
    """
    result = np.empty((codes.shape[1], len(x.counts.classes)))
    for group in group_rows_by_number_of_superparents(x, codes):
        total = np.full((len(group.rows), result.shape[1]), -np.inf)
        for block in member_blocks(x, group.n, group.levels):
            weights = log(block.weights_of_members(group.weights))
            logs = joint_of(group, block, weights) if joint_of else block.log_joint(weights)
            total[block.rows] = np.logaddexp(total[block.rows], logs)
        result[group.rows] = total - np.log(group.total_weight)[:, None]
    return result


def group_rows_by_number_of_superparents(x: Estimators, codes: Codes) -> Iterator[RowGroup]:
    """Group rows by the number of superparents: n, or fewer if no member can be used, down to 0."""
    levels = level_positions(codes, x.counts.spans_of_features)
    without_implied = codes_without_implied(codes, x.counts.cards, x.implied_level_pairs)
    remaining = level_positions(without_implied, x.counts.spans_of_features)
    # equal weights also if all weights of the members that can be used are 0
    equal_weights = np.ones(len(levels))
    options = [x.information_of_features, equal_weights] if x.is_weighted else [equal_weights]
    rows = np.arange(levels.shape[1])
    for n, weights in product(range(x.n, 0, -1), options):
        if len(rows):
            total = np.zeros(len(rows))  # the weights of the members that are used
            for block in member_blocks(x, n, remaining[:, rows]):
                used = block.weights_of_members(weights)[:, None] * block.is_member_used
                # one by one, so that the sum of a row does not depend on the other rows
                total[block.rows] += reduce(np.add, used)
            found = rows[total > 0]
            if len(found):
                yield RowGroup(found, n, remaining[:, found], weights, total[total > 0])
            rows = rows[total == 0]
    if len(rows):
        of_naive = levels if x.n else remaining
        yield RowGroup(rows, 0, of_naive[:, rows], equal_weights, np.ones(len(rows)))


def member_blocks(x: Estimators, n: int, levels: Codes) -> Iterator[MemberBlock]:
    """Yield the members with n superparents for rows, given their levels as in `RowGroup`."""
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
        for level in range(len(counts.triples)):
            rows = np.flatnonzero(levels[counts.feature_of_level[level]] == level)
            if len(rows) and len(counts.triples[level]):
                yield _pair_members_with_level(x, level, rows, levels[:, rows])


def _pair_members_with_level(
    x: Estimators, level: int, rows: Positions, levels: Codes
) -> MemberBlock:
    """Return the members with a superparent of this level and a later one."""
    counts = x.counts
    together = counts.levels_counted_with(level)
    own, partner = int(counts.feature_of_level[level]), counts.feature_of_level[together.owners]
    partners = np.unique(partner)
    pairs = np.stack([np.full(len(partner), own), partner], axis=1)
    own_level = together.columns[together.owners]
    feature = counts.feature_of_level[together.kept]
    tables = MemberTables(x, counts.triples[level], feature, own_level, pairs)
    frequent: Mask = counts.pairs[level, :, together.owners].sum(axis=1) >= x.min_count - TOLERANCE
    position = np.full(len(counts.feature_of_level) + 1, -1)
    position[together.owners[frequent]] = np.flatnonzero(frequent)
    columns = np.append(together.columns, -1)[levels]
    superparents = np.stack([np.full(len(partners), own), partners], axis=1)
    return MemberBlock(rows, columns, superparents, position[levels[partners]], tables)


def formula_of_members(x: Estimators) -> Choice:
    """Return the formula of estimators with up to one superparent, by weight, then equally."""
    spans, logs = x.counts.spans_of_features, x.tables_of_naive_bayes.log_tables[0, :, :]
    naive = [Table(j, (j,), pad_for_missing(logs[span])) for j, span in enumerate(spans)]
    of_class = Table(-1, (), logs[len(x.counts.feature_of_level), :])
    options: list[Sum | Mixture] = []
    if x.n and spans:
        tables, members = x.tables_by_superparent.log_tables, list[Sum]()
        for i, (start, stop) in enumerate([(span.start, span.stop) for span in spans]):
            own = np.arange(start, stop)  # levels of the superparent, unused if they are rare
            is_rare: Mask = x.counts.single[own].sum(axis=1) < x.min_count - TOLERANCE
            joint = np.where(is_rare[:, None], np.nan, tables[own, own])
            children = []
            for j, span in enumerate(spans):
                if j != i:
                    table = tables[own, span].swapaxes(0, 1)  # (levels of j, levels of i, classes)
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


def log_joint_left_out(x: Estimators, codes: Codes, left_out: LeftOutRows) -> Array:
    """Return training rows' log joint, (rows, classes), each by all other rows."""
    result = np.empty((codes.shape[1], len(x.counts.classes)))
    for share in map(float, np.unique(left_out.shares)):
        # N − share ≥ limit is N ≥ limit + share, and all counts of a row's values include the row
        limit = None if x.subsumption is None else x.subsumption + share
        stricter = replace(x, min_count=x.min_count + share, subsumption=limit)
        rows = np.flatnonzero(left_out.shares == share)
        for part in slices(len(rows), most=BLOCK_ROWS):
            block = rows[part]
            classes = left_out.classes[block].astype(np.intp)
            without = partial(_log_joint_without_own_row, classes, share)
            result[block] = log_mean_joint(stricter, codes[:, block], without)
    return result


def _log_joint_without_own_row(
    classes: Positions, share: float, group: RowGroup, block: MemberBlock, weights: Array
) -> Array:
    """Return the log joint of a block's members, (rows, classes), each row out of its counts."""
    labels: Positions = classes[group.rows[block.rows]]
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
