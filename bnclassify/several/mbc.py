"""Networks with several class variables: MBC, and averages of MBCs (MAODE).

Class variables are missing variables of such a network, and are marginalized
over like missing features.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..classifiers import (
    ArcShares,
    Family,
    Graph,
    Prior,
    check_families,
    mean_arc_shares,
    tables_from_counts,
)
from ..counts import count_families
from ..dataset import Dataset, Levels
from ..elimination import (
    Component,
    Factor,
    LogTable,
    check_elimination_size,
    components_of_missing,
    eliminate_log_tables,
    log_joint_of_network,
    log_mean_joint_of_networks,
    multiply_tables,
    plan_elimination,
    posteriors_of_families,
    score_combinations,
)
from ..model import Recipe, Tally
from ..scores import Rows
from ..tools.arrays import BLOCK_ROWS, Array, Codes, Mask, Positions, first_best, log, slices
from ..tools.immutable import PROBABILITY, cached_property, field_bounds, record
from ..tools.messages import listed, shown
from .multidimensional import MOST_COMBINATIONS, MultiModel, log_mean_exp


def _with_unknown_labels(codes: Codes, cards: Sequence[int]) -> Codes:
    return np.pad(codes, ((0, len(cards)), (0, 0)), constant_values=-1)


def _best_labels_of_component(component: Component, first_class: int) -> dict[int, Positions]:
    """Return connected class variables' best labels: a sum over features, a maximum of classes."""
    card: dict[int, int] = {}
    for scope, logs in component.tables:
        card |= dict(zip(scope, logs.shape[1:], strict=False))
    features = _checked_elimination_order(
        [u for u in component.order if u < first_class], component.tables, card
    )
    _, tables = eliminate_log_tables(features, component.tables)
    order = _checked_elimination_order(
        [u for u in component.order if u >= first_class], tables, card
    )
    chosen: dict[int, Positions] = {}
    for u in sorted(order):  # one by one, each the first label that leads to the maximum
        order.remove(u)
        best = multiply_tables(eliminate_log_tables(order, tables, np.max)[1]).logs[..., 0]
        chosen[u] = first_best(np.broadcast_to(best, (len(component.rows), best.shape[1])))
        for number, (scope, logs) in enumerate(tables):
            if u in scope:  # keep the part of each row's table at the label
                axis = 1 + scope.index(u)
                index = chosen[u].reshape(-1, *[1] * (logs.ndim - 1))
                kept = np.take_along_axis(logs, index, axis=axis).squeeze(axis)
                tables[number] = LogTable(tuple([w for w in scope if w != u]), kept)
    return chosen


def _checked_elimination_order(
    component: Sequence[int], tables: Sequence[LogTable], card: Mapping[int, int]
) -> list[int]:
    order, cells = plan_elimination(component, [table.scope for table in tables], card)
    check_elimination_size(component, cells)
    return order


class Bridged(MultiModel):
    """Base of models with tables over features and classes, whose `members` are networks."""

    if TYPE_CHECKING:

        @property
        def members(self) -> tuple[MBC, ...]: ...

    @cached_property
    def _log_tables_by_member(self) -> list[Sequence[Factor]]:
        """The log tables of each network, and the empty table of a class with a single label."""
        found = list[Sequence[Factor]]()
        for member in self.members:
            pairs = zip(member.scopes, member.cpts or (), strict=True)
            tables = [Factor(scope, log(table)[..., None, None]) for scope, table in pairs]
            found.append([*tables, Factor((), np.zeros((1, 1)))])
        return found

    def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
        tables, cards = self._log_tables_by_member, self.class_cardinalities
        variables, first = _with_unknown_labels(rows.codes, cards), len(rows.codes)
        found = []
        for terms in tables:
            results: list[Array] = [np.empty((variables.shape[1], card)) for card in cards]
            for block in slices(variables.shape[1], most=BLOCK_ROWS):
                evidence = log_joint_of_network(terms, variables[:, block])
                beliefs = posteriors_of_families(terms, variables[:, block])
                for i, some, free, shares in beliefs:
                    if i >= first:
                        others = tuple([1 + axis for axis, v in enumerate(free) if v != i])
                        logs = log(shares.sum(axis=others)[..., 0])
                        results[i - first][block][some] = logs + evidence[some]
            found.append(results)
        return [log_mean_exp(logs) for logs in zip(*found, strict=True)]

    def log_joint_at(self, rows: Rows, labels: Codes) -> Array:
        codes = np.concatenate([rows.codes, labels])  # -1 is unknown
        return log_mean_joint_of_networks(self._log_tables_by_member, codes)[:, 0]

    def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
        evidence = self.log_joint_at(rows, np.full_like(labels, -1))
        possible: Mask = evidence > -np.inf
        logs = self.log_joint_at(rows, labels) - np.where(possible, evidence, 0.0)
        return np.where(possible, logs, -float(np.log(prod(self.class_cardinalities))))

    def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
        tables, cards = self._log_tables_by_member, self.class_cardinalities
        if len(tables) > 1:
            n = prod(cards)
            if n > MOST_COMBINATIONS:
                raise ValueError(
                    f"joint must be False for more than {MOST_COMBINATIONS:,} combinations of "
                    f"labels; got {n:,}. Use joint=False, or mbc, which does not enumerate them."
                )
            variables = _with_unknown_labels(rows.codes, cards)
            hidden = range(len(rows.codes), len(variables))
            best = np.empty(rows.codes.shape[1], dtype=np.intp)
            log_joint = partial(log_mean_joint_of_networks, tables)
            for block in slices(len(best), n, MOST_COMBINATIONS):
                logs = score_combinations(log_joint, variables[:, block], hidden, cards)
                best[block] = first_best(logs[..., 0])
            return np.array(np.unravel_index(best, cards))
        [terms] = tables
        labels = np.zeros((len(cards), rows.codes.shape[1]), dtype=np.intp)
        variables = _with_unknown_labels(rows.codes, cards)
        for block in slices(rows.codes.shape[1], most=BLOCK_ROWS):
            for component in components_of_missing(terms, variables[:, block], everywhere=True):
                for u, chosen in _best_labels_of_component(component, len(rows.codes)).items():
                    labels[u - len(rows.codes), block][component.rows] = chosen
            labels[:, block][
                :, log_joint_of_network(terms, variables[:, block])[:, 0] == -np.inf
            ] = 0
        return labels


@record
@dataclass(frozen=True, eq=False, repr=False)
class MBC(Bridged, Graph):
    """A multidimensional Bayesian network classifier: an acyclic graph of features and classes.

    It has class variables as parents of features (the bridge), a graph among
    the class variables, and a graph among the features, but any acyclic graph
    is accepted. `mbc` learns the structure, `lp` the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables.
    families : tuple of tuple
        ``(variable, feature parents…, class parents…)`` of each feature and
        then of each class variable, with class parents in the order of
        ``class_vars``.
    levels : tuple of tuple, or None
        Labels of each variable in the order of ``families``; None without data.
    cpts : tuple of read-only arrays, or None
        Conditional probability tables in the order of ``families``; axis i of a
        table is member i of its family. None without parameters.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify.models import MBC
    >>> MBC(("rain", "wind"), (("sky", "rain", "wind"), ("rain",), ("wind", "rain")))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variables: rain, wind
      num. features:   1
      num. arcs:       3
    """

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def _check_graph(self) -> None:
        m = len(self.class_vars)
        if (
            not m
            or tuple([family[0] for family in self.families[-m:] if family]) != self.class_vars
        ):
            raise ValueError(
                "families must have one family per variable, with families of "
                f"{listed(self.class_vars)} at the end."
            )
        check_families(self.class_vars[-1], tuple(self.families))
        position = {name: i for i, name in enumerate(self.class_vars)}
        for variable, *parents in self.families:
            order = [position.get(name, -1) for name in parents]
            if order != sorted(order):
                raise ValueError(
                    "families must list feature parents, then class parents in the order of the "
                    f"class variables; got {listed(parents)} as the parents of {shown(variable)}."
                )

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features in the order of ``families``."""
        return tuple(
            [family[0] for family in self.families[: len(self.families) - len(self.class_vars)]]
        )


@record
@dataclass(frozen=True, eq=False, repr=False)
class MAODE(Bridged):
    """An average of networks; in each, another class variable is the parent of the others.

    The features have the same parents and the same tables in all networks,
    which are stored once. `members` returns the networks. `maode` builds the
    structure, `lp` estimates the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables. Each is the parent of the others in one
        member.
    families : tuple of tuple
        ``(feature, feature parents…, class parents…)`` of each feature.
    levels : tuple of tuple, or None
        Labels of each feature, then of each class variable; None without data.
    cpts : tuple of read-only arrays, or None
        Tables of the features in the order of ``families``; None without
        parameters.
    class_cpts : tuple of read-only arrays, or None
        Tables of all class variables in the first member, then in the second,
        and so on.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify import load_voting, lp, maode, predict
    >>> voting = load_voting()
    >>> model = lp(maode(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> predict(model, voting.head(2))
      mx_missile crime
    0          n     y
    1          n     y
    """

    bounds = field_bounds(cpts=PROBABILITY, class_cpts=PROBABILITY)
    is_average = True

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    class_cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.cpts is None) != (self.class_cpts is None):
            raise ValueError("cpts and class_cpts must be given together.")
        m = len(self.class_vars)
        if self.class_cpts is not None and len(self.class_cpts) != m * m:
            raise ValueError(f"class_cpts must be {m * m} tables; got {len(self.class_cpts)}.")
        _ = self.members  # each member checks its families and tables

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features."""
        return tuple([family[0] for family in self.families])

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.cpts is not None

    @cached_property
    def members(self) -> tuple[MBC, ...]:
        """The networks, in the order of the class variables."""
        m, members = len(self.class_vars), []
        for own in (slice(start, start + m) for start in range(0, m * m, m)):
            families = (*self.families, *self.class_families[own])
            cpts = None if self.cpts is None else (*self.cpts, *(self.class_cpts or ())[own])
            members.append(MBC(self.class_vars, families, self.levels, cpts, self.recipe))
        return tuple(members)

    @property
    def class_families(self) -> tuple[Family, ...]:
        """The families of all class variables in the first member, then in the second, etc."""
        names = self.class_vars
        return tuple([(c,) if c == parent else (c, parent) for parent in names for c in names])

    def arc_shares(self) -> ArcShares:
        return mean_arc_shares(self.members, [1 / len(self.members)] * len(self.members))

    @property
    def _families_to_count(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys((*self.families, *self.class_families)))

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member.distributions()]

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        families = [[data.positions[v] for v in family] for family in self._families_to_count]
        return count_families(data, families)

    def tabulate(self, tally: Tally) -> MAODE:
        tables = tables_from_counts(tally.counts, tally.prior)
        by_family = dict(zip(self._families_to_count, tables, strict=True))
        return replace(
            self,
            cpts=tuple([by_family[family] for family in self.families]),
            class_cpts=tuple([by_family[family] for family in self.class_families]),
            learned={"counts": tally},
        )
