"""Networks whose log tables are multiplied by powers, or averaged over several discretizations.

They provide posteriors, but do not define a joint distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..base.arrays import Array, Codes, log
from ..base.messages import listed
from ..base.records import record
from ..counts.contingency import MAX_CELLS, flat_index
from ..frames.schema import Dataset
from ..model.formulas import Blend, Formula, Scale, Sum, Table
from ..model.model import BuiltOn, Model, in_sequence, renewed
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..network.estimates import Scope
from ..network.factors import Factor
from ..network.log_joints import BLOCK_ROWS, network_joint
from ..numbers.coarsening import Coarsening
from ..numbers.discretization import MovedCuts
from .counts import count_prefixes, without_class
from .incomplete import Fading, evidence_in_trees, make_tree, missing_shares, some
from .prior import concentrations_of, make_stacks
from .tables import LeftOut, PrefixTable, Stack, class_probabilities, feature_probabilities

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_MOST_FINE_CELLS = 2**12  # of a table of the sums over all discretizations

Power: TypeAlias = float | tuple[float, ...]
"""The power of the table of a family, or those of its tables with 0, 1, … feature parents."""


class LogLinear(BuiltOn):
    """A network whose log tables are multiplied by powers, and averaged over one or more networks.

    P(c | x) ∝ P(c)^w₀ Π_i exp(w_i mean_s ln P_s(x_i | parents of i, c))
    """

    if TYPE_CHECKING:
        structure: BNC

        @property
        def networks(self) -> tuple[Weighted, ...]:
            """The networks whose terms are averaged."""

        @property
        def powers(self) -> tuple[Power, ...]:
            """The powers of the terms, in the order of the families: of each feature, then of the class."""

        fading: Fading | None
        """How incomplete rows are predicted; None if missing features are ignored."""

        def _logs(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
            """Yield the number of a family and what a term of it adds at rows, (rows, classes)."""

    @property
    def basis(self) -> BNC:
        """The network without tables."""
        return self.structure

    @property
    def depth(self) -> int:
        """The largest number of feature parents in a family."""
        return self.structure.depth

    def _log_joint(self, codes: Codes) -> Array:
        """Return scores that have the log odds of the posteriors, (rows, classes)."""
        return self._with_trees(self._unadjusted(codes), codes, lambda score, known: score(known))

    def _with_trees(self, logs: Array, codes: Codes, apply: Callable[[Any, Codes], Array]) -> Array:
        """Blend logs of incomplete rows, (…, rows, classes), with those that ``apply`` gets from trees."""
        known = codes[: len(self.features)]
        rows = np.nonzero(known.min(axis=0, initial=0) < 0)[0]
        if self.fading is not None and len(rows):
            known = known[:, rows]
            trees = apply(partial(evidence_in_trees, self.trees), known)
            prior = log(self._class_prior())
            logs[..., rows, :] = self.fading.blend(logs[..., rows, :], prior, trees, missing_shares(known))
        return logs

    @cached_property
    def trees(self) -> list[tuple[tuple[Factor, ...], Any]]:
        """The trees of some of the networks, each with the function that codes rows for it, or None."""
        return [(make_tree(x.structure, x.tables), self._coding(i)) for i, x in some(self.networks)]

    def _coding(self, network: int) -> Any:
        """Return the function that codes rows for a network, or None."""

    def _log_joint_once(self, codes: Codes) -> Array:
        nothing = LeftOut(np.zeros(codes.shape[1], dtype=np.intp), np.zeros(codes.shape[1]))
        logs = self._contributions(codes, nothing).sum(axis=0)  # of counts, so no table is written out
        return self._with_trees(logs, codes, lambda score, known: score(known))

    def _unadjusted(self, codes: Codes) -> Array:
        """Return Σ w ln P, (rows, classes), which is not a joint distribution, but has its log odds."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for _, logs in self._logs(codes[:, block]):
                total[block] += logs
        return total

    def _further(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the number of a family and what a term of it adds beside its tables."""
        return iter(())

    def _formula(self) -> Formula:
        formula: Formula = Sum(*self._described())
        if self.fading is None:
            return formula
        trees, prior = [], log(self._class_prior())
        nothing = np.full((len(self.features), 1), -1)
        for factors, coding in self.trees:
            codings = () if coding is None else coding.maps
            *tables, of_class = [f.described(i, codings) for i, f in enumerate(factors)]
            # Given the class: the log joint without that of a row of which nothing is known.
            of_class = replace(of_class, owner=-1, logs=of_class.logs - network_joint(factors, nothing)[0])
            trees.append(Sum((*tables, of_class), marginalizes=True))
        fading = self.fading
        return Blend(formula, prior, tuple(trees), fading.exponent, fading.base, fading.slope)

    def _described(self) -> tuple[tuple[Any, ...], bool, tuple[Scale, ...]]:
        """Return the terms, of which none marginalizes, and the scales that these use."""
        families: dict[int, list[Table]] = {}
        for family, position, term in _make_terms(self):
            families.setdefault(family, []).append(self._describe_term(family, position, term))
        return tuple([table for tables in families.values() for table in self._joined(tables)]), False, ()

    def _describe_term(self, family: int, position: int, term: Term) -> Table:
        """Return a term as a table of all values of its features, in the coding of a network."""
        owner = family if family < len(self.features) else -1
        cards = tuple([card + 1 for card in (term.table.cards[1:] if owner < 0 else term.table.cards)])
        if prod(cards) * len(self.known_levels[-1]) > MAX_CELLS // 2**5:
            raise ValueError(
                f"x must have tables that can be written out; got {prod(cards):,} configurations of "
                f"{listed([self.features[i] for i in term.features])}. Use fewer parents or levels."
            )
        grid = np.indices(cards).reshape(len(cards), prod(cards))
        grid[grid == np.array(cards, dtype=int)[:, None] - 1] = -1
        logs = term.logs(dict(zip(term.features, grid, strict=True)))
        coding = self._coding(position)
        codings = () if coding is None else tuple([coding.maps[i] for i in term.features])
        return Table(owner, term.features, logs.reshape(*cards, logs.shape[-1]), codings)

    def _joined(self, tables: list[Table]) -> list[Table]:
        """Return the tables of a family as one if that has fewer cells."""
        return tables

    def _contributions(self, codes: Codes, left_out: LeftOut | None = None) -> Array:
        """Return what each feature, then the class, adds to the log joint, (features + 1, rows, classes).

        ``left_out`` are training rows: their contributions are those of the model of all other rows.
        """
        total = np.zeros((len(self.features) + 1, codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for family, logs in self._logs(codes[:, block], left_out and left_out.take(block)):
                total[family, block] += logs
        return total

    def _log_joints_in_sequence(self, codes: Codes, order: Sequence[int]) -> Array:
        """Add up contributions, unless that of the class depends on features."""
        if self.parents[self.class_var] and len(codes) == len(self.features):
            logs = in_sequence(self._unadjusted, codes, order)
        else:
            logs = np.cumsum(self._contributions(codes)[[-1, *order]], axis=0)
        return self._with_trees(logs, codes, partial(in_sequence, order=order))

    def _raised(self, power: float) -> Any:
        """Return the model with the power multiplied into its weights."""
        return renewed(self, networks=tuple([network._raised(power) for network in self.networks]))

    def _weights(self) -> Any:
        *of_features, of_class = map(np.sum, self.powers)
        return dict(zip([self.class_var, *self.features], [of_class, *of_features], strict=True))

    def _class_prior(self) -> Array:
        """Return the smoothed shares of the classes in training, whatever the power of the class."""
        table = self.networks[0].tables[-1]
        parents = [np.zeros(1, dtype=np.intp)] * (len(table.cards) - 1)
        return next(class_probabilities(table, parents, 1))[0]


@record
@dataclass(frozen=True, eq=False, repr=False)
class Weighted(LogLinear):
    """A network whose tables are raised to powers: P(c | x) ∝ P(c)^w₀ Π P(x_i | parents of i, c)^w_i.

    A missing feature is ignored, and a family whose parent is missing backs off to the parents before it,
    unless ``fading`` is given. ``structure`` has levels and no tables; ``tables`` and ``powers`` follow its
    families, the class last.
    """

    structure: BNC
    tables: tuple[PrefixTable, ...]
    powers: tuple[Power, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    no_joint = (
        "a model with weights provides P(class | features), but does not define a joint distribution. Use "
        "cloglik or cv, or refit the model with lp without leave-one-out."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        cards = self.structure.cards
        expected = [tuple([cards[v] for v in scope]) for scope in self.structure.scopes]
        actual = [(*table.cards, cards[-1]) if table.root else table.cards for table in self.tables]
        lengths = [len(by_depth(p, len(t.cards))) for p, t in zip(self.powers, self.tables, strict=False)]
        if actual != expected or lengths != [len(table.cards) for table in self.tables]:
            raise ValueError("tables: expected one, and a power, for each family, of the size of its levels")

    @property
    def networks(self) -> tuple[Weighted, ...]:
        """The networks whose terms are averaged: this one."""
        return (self,)

    @property
    def members(self) -> tuple[Weighted, ...]:
        """The model itself."""
        return (self,)

    @property
    def fitted(self) -> bool:
        """Whether it has tables, which it always has."""
        return True

    def _logs(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        for family, _, term in self.terms:
            yield family, term.logs(codes, left_out)

    def _raised(self, power: float) -> Weighted:
        powers = [tuple([power * w for w in p]) if isinstance(p, tuple) else power * p for p in self.powers]
        return renewed(self, powers=tuple(powers))

    @cached_property
    def terms(self) -> list[tuple[int, int, Term]]:
        """The log tables of its families times their powers, see `_make_terms`."""
        return _make_terms(self)

    @cached_property
    def network(self) -> BNC:
        """The network with its tables, without the powers."""
        families = zip(self.tables, self.structure.families, strict=True)
        return replace(self.structure, cpts=tuple([table.conditional(family) for table, family in families]))

    def unweighted(self) -> BNC:
        """Return the network without powers."""
        return replace(self.network, recipe=self.recipe, learned=self.learned)

    def facts(self) -> dict[str, object]:
        """Return the size of the network, and what leave-one-out found."""
        return self.structure.facts() | {"leave-one-out": self.learned.get("leave_one_out")}

    def _stacks(self, data: Dataset, prior: Any) -> Stacks:
        """Return the tables of all prefixes of the families."""
        return stack_network(replace(self.structure, recipe=self.recipe), data, prior)

    def _estimate(self, data: Any, prior: Any) -> Any:
        """Return the structure with tables, without powers."""
        return replace(self.structure, recipe=self.recipe)._estimate(data, prior)


@record
@dataclass(frozen=True, eq=False, repr=False)
class AveragedCuts(LogLinear):
    """A network with several discretizations, over which the log of each table is averaged.

        P(c | x) ∝ P(c)^w₀ Π_i exp(w_i mean_s ln P_s(x_i | parents of i, c))

    The levels of ``structure`` are the intervals between the cut points of all discretizations. There is one
    network per discretization; there are none until `lp`.
    """

    structure: BNC
    coarsenings: tuple[Coarsening, ...]
    networks: tuple[Weighted, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    no_joint = (
        "a model that averages over discretizations provides P(class | features), but does not "
        "define a joint distribution. Use cloglik or cv, or another discretization."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.features)
        sizes = {len(coarsen.maps) for coarsen in self.coarsenings}
        if sizes != {n} or (self.networks and len(self.networks) != len(self.coarsenings)):
            raise ValueError("coarsenings must be one per network, each with one map per feature")

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return bool(self.networks)

    @cached_property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization."""
        return self.networks or tuple([self.in_cutting(i) for i in range(len(self.coarsenings))])

    def in_cutting(self, i: int) -> BNC:
        """Return the structure with the levels of a discretization, which its recipe applies to raw data."""
        *_, classes = self.levels or ((),)
        recipe, preparation = self.recipe, self.preparation
        if recipe is not None and preparation is not None and isinstance(preparation.discretizer, MovedCuts):
            coarse = replace(preparation, discretizer=preparation.discretizer.at_times[i])
            recipe = replace(recipe, preparation=coarse)
        return replace(self.structure, levels=(*self.coarsenings[i].levels, classes), recipe=recipe)

    @property
    def powers(self) -> tuple[Power, ...]:
        """The powers of the terms, in the order of the families: of each feature, then of the class."""
        return self.networks[0].powers if self.networks else ()

    def _coding(self, network: int) -> Coarsening:
        return self.coarsenings[network]

    def _logs(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        """Yield terms of rows, by one look-up per family unless its table would be large."""
        tables, others = self.derived("fine_terms", _make_fine_terms)
        if left_out is not None:
            tables, others = [], _make_terms(self)
        for family, features, cards, logs in tables:
            cells = np.zeros(codes.shape[1], dtype=np.intp)
            for i, card in zip(features, cards, strict=True):
                cells *= card
                cells += codes[i]
                cells += 1
            yield family, logs.take(cells, axis=0)
        views = [coarsen(codes[: len(self.features)]) for coarsen in self.coarsenings] if others else []
        for family, view, term in others:
            yield family, term.logs(views[view], left_out)

    def _joined(self, tables: list[Table]) -> list[Table]:
        owner, scope = tables[0].owner, tables[0].scope
        cards = tuple([len(self.known_levels[i]) + 1 for i in scope])
        if prod(cards) > sum(prod(table.logs.shape[:-1]) for table in tables):
            return tables
        joined = np.zeros((*cards, len(self.known_levels[-1])))
        for table in tables:
            pairs = zip(table.codings, cards, strict=True)
            places = [np.append(np.arange(r - 1), -1) if c is None else c for c, r in pairs]
            joined += table.logs[np.ix_(*places)]
        return [Table(owner, scope, joined)]

    def unweighted(self) -> AveragedCuts:
        """Return the model itself, whose powers are 1."""
        return self

    def facts(self) -> dict[str, object]:
        """Return the size of the network, the number of discretizations, and the leave-one-out result."""
        return self.structure.facts() | {
            "num. cuttings": len(self.coarsenings),
            "leave-one-out": self.learned.get("leave_one_out"),
        }

    def _estimate(self, data: Any, prior: Any) -> AveragedCuts:
        """Return the structure with the tables of each discretization, and all powers 1."""
        result: AveragedCuts = self._stacks(data, prior).model([1.0] * len(data.columns), self.depth)
        return result

    def _stacks(self, data: Dataset, prior: Any) -> Stacks:
        """Return the tables of all prefixes of the families in each discretization."""
        structures = [replace(self.in_cutting(i), cpts=None) for i in range(len(self.coarsenings))]
        codes = [np.concatenate([coarsen(data.codes[:-1]), data.codes[-1:]]) for coarsen in self.coarsenings]
        return stack_families(
            structures, codes, data, prior, self._with_networks, self.coarsenings[0].changes
        )

    def _with_networks(self, networks: tuple[Weighted, ...]) -> AveragedCuts:
        structure = replace(self.structure, families=networks[0].structure.families, cpts=None)
        return replace(self, structure=structure, networks=networks, learned={})


@dataclass(frozen=True, eq=False)
class Stacks:
    """The tables of all prefixes of a network's families, in one or more codings of the rows.

    ``structures`` have the levels of each coding and ``codes`` its rows, (variables, rows). ``families`` has
    the tables of each family: in all codings, or in the first alone if they code it alike. ``make`` returns
    a model, given the network of each coding.
    """

    structures: Sequence[BNC]
    codes: Sequence[Codes]
    families: Sequence[Stack]
    make: Callable[[tuple[Weighted, ...]], Any]

    def logs(self, family: int, rows: Any, left_out: LeftOut, depths: Sequence[int]) -> Iterator[Array]:
        """Yield the mean logs of a family at rows left out, with so many parents, (rows, classes or 1)."""
        x, stack = self.structures[0], self.families[family]
        n, class_number = len(stack.cards), len(x.features)
        of_class = family == class_number
        members = [v for v in x.scopes[family] if v != class_number]
        codes = [np.concatenate([self.codes[i][v][rows] for i in range(n)]) for v in members]
        repeated = LeftOut(np.tile(left_out.classes, n), np.tile(left_out.shares, n)) if n > 1 else left_out
        values = (
            class_probabilities(stack, codes, len(repeated.classes), repeated)
            if of_class
            else feature_probabilities(stack, codes, repeated)
        )
        logs = []
        for value in values:
            by_coding = log(value).reshape(n, -1, value.shape[1])
            logs.append(by_coding.sum(axis=0) / n if n > 1 else by_coding[0])
        return (logs[min(depth, len(logs) - 1)] for depth in depths)

    def model(self, powers: Sequence[Power], parents: int) -> Any:
        """Return the model with powers of its families and at most so many feature parents."""
        by_family = [stack.tables(parents) for stack in self.families]
        networks = []
        for i, structure in enumerate(self.structures):
            tables = [of_family[i if len(of_family) > 1 else 0] for of_family in by_family]
            x = shortened(replace(structure, learned={}), parents)
            networks.append(Weighted(x, tuple(tables), tuple(powers), x.recipe, concentrations_of(tables)))
        return self.make(tuple(networks))


def stack_families(
    structures: Sequence[BNC],
    codes: Sequence[Codes],
    data: Dataset,
    prior: Any,
    make: Callable[[tuple[Weighted, ...]], Any],
    varies: Callable[[Sequence[int]], bool] = lambda scope: False,
) -> Stacks:
    """Count the families of a structure in codings of the same rows, and learn their tables; see `Stacks`.

    ``varies`` is whether a family is coded differently by different codings.
    """
    scopes, class_number = structures[0].scopes, len(data.columns) - 1
    counts, cards = [], []
    for scope in scopes:
        n = len(structures) if varies(scope) else 1
        members = without_class(scope, class_number)
        cards.append(np.array([[x.cards[v] for v in members] for x in structures[:n]]))
        classes = np.tile(data.codes[-1], n) if len(members) < len(scope) else None
        weights = None if data.weights is None else np.tile(data.weights, n)
        all_codes = [np.concatenate([coding[v] for coding in codes[:n]]) for v in members]
        largest = cards[-1].max(axis=0).tolist()
        counts.append(count_prefixes(all_codes, largest, classes, data.cards[-1], weights, n))
    of_class = [scope[0] == class_number for scope in scopes]
    return Stacks(structures, codes, make_stacks(counts, cards, of_class, prior), make)


def stack_network(x: BNC, data: Dataset, prior: Any) -> Stacks:
    """Return the tables of the families of one network."""
    structure = replace(x, levels=data.levels, cpts=None)
    return stack_families([structure], [data.codes], data, prior, lambda networks: networks[0])


def shortened(x: BNC, parents: int) -> BNC:
    """Return a structure with the first feature parents of each family, at most so many."""
    families = []
    for variable, *ps in x.families:
        class_parent = ps[-1:] if ps[-1:] == [x.class_var] else []
        families.append((variable, *ps[: len(ps) - len(class_parent)][:parents], *class_parent))
    return replace(x, families=tuple(families), cpts=None)


def with_at_most(x: Any, parents: int) -> Any:
    """Return a structure, to be fitted, with at most so many feature parents in each family."""
    if hasattr(x, "base"):
        return with_at_most(renewed(x.base, recipe=x.recipe), parents)
    if hasattr(x, "structure"):
        return renewed(x, structure=shortened(x.structure, parents))
    return shortened(x, parents)


class Term:
    """The log tables of one family times their powers, for the numbers of its features, the variable first.

    ``powers`` are those of the tables with 0, 1, … feature parents. The sum of the logs is written out if it
    has no more than ``most_cells`` cells, and computed from the counts if not.
    """

    def __init__(self, table: PrefixTable, features: Scope, powers: Array, most_cells: float) -> None:
        self.table, self.features, self.powers, self.most_cells = table, features, powers, most_cells
        self.of_class = len(features) < len(table.cards)

    @cached_property
    def written(self) -> Array | None:
        """The logs of all configurations, (values of the features, classes), unless they are too many."""
        if self.table.cells > self.most_cells:
            return None
        levels, *parent_cards = self.table.cards
        *parents, variable = np.indices((*parent_cards, levels)).reshape(len(self.table.cards), -1)
        logs = self._sum(self.table.at_rows([variable, *parents]))
        return logs.reshape(-1, levels) if self.of_class else logs

    def _sum(self, values: Iterator[Array]) -> Array:
        pairs = zip(values, self.powers.tolist(), strict=True)
        return np.asarray(sum(power * log(value) for value, power in pairs if power))

    def logs(self, codes: Codes | Mapping[int, Codes], left_out: LeftOut | None = None) -> Array:
        """Return the logs of rows, (rows or 1, classes or 1)."""
        members = [codes[i] for i in self.features]
        if left_out is not None or self.written is None:
            return self._work_out(members, left_out)
        if not members:
            return self.written
        if min(code.min(initial=0) for code in members) >= 0:
            return self._look_up(self.written, members)
        complete = np.logical_and.reduce([code >= 0 for code in members])
        logs = np.empty((len(complete), self.written.shape[1]))
        logs[complete] = self._look_up(self.written, [code[complete] for code in members])
        logs[~complete] = self._work_out([code[~complete] for code in members])
        return logs

    def _look_up(self, logs: Array, members: list[Codes]) -> Array:
        """Return the logs of rows in which all of the family is observed."""
        levels, *parent_cards = self.table.cards
        cards = parent_cards if self.of_class else [*parent_cards, levels]
        ordered = members if self.of_class else [*members[1:], members[0]]
        return logs.take(flat_index(ordered, cards), axis=0, mode="clip")

    def _work_out(self, members: list[Codes], left_out: LeftOut | None = None) -> Array:
        """Return the logs of rows from the counts."""
        if self.of_class:
            rows = len(members[0]) if members else 1 if left_out is None else len(left_out.classes)
            return self._sum(class_probabilities(self.table, members, rows, left_out))
        return self._sum(feature_probabilities(self.table, members, left_out))


def by_depth(power: Power, n: int) -> Array:
    """Return the powers of the n tables of a family; one number is that of the last."""
    if isinstance(power, tuple):
        return np.array(power)
    return np.array([0.0] * (n - 1) + [power])


def _make_terms(x: LogLinear) -> list[tuple[int, int, Term]]:
    """Return the distinct terms of a model, each with its family and the number of a network that has it.

    The largest are not written out if all together use too much memory.
    """
    class_number, chosen = len(x.features), []
    for i, scope in enumerate(x.structure.scopes):
        features = tuple([v for v in scope if v != class_number])
        times = Counter(id(network.tables[i]) for network in x.networks)
        for position, network in enumerate(x.networks):
            table = network.tables[i]
            share = times.pop(id(table), 0) / len(x.networks)
            powers = share * by_depth(x.powers[i], len(table.cards))
            if powers.any():
                chosen.append((i, position, table, features, powers))
    sizes = np.sort([table.cells for _, _, table, _, _ in chosen])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    most = min(_MOST_CELLS, allowed.max(initial=0))
    return [
        (family, position, Term(table, features, powers, most))
        for family, position, table, features, powers in chosen
    ]


def _make_fine_terms(x: AveragedCuts) -> tuple[list[tuple[Any, ...]], list[tuple[int, int, Term]]]:
    """Return tables of the sums of the terms of families, and the terms of families with too many values.

    A table, with its family, the numbers of its features and their numbers of values, has one row per
    combination of their fine codes, with missing values first, and one column per class.
    """
    families: dict[int, list[tuple[int, int, Term]]] = {}
    for found in _make_terms(x):
        families.setdefault(found[0], []).append(found)
    tables: list[tuple[Any, ...]] = []
    others: list[tuple[int, int, Term]] = []
    for family, terms in families.items():
        features = terms[0][2].features
        cards = tuple([len(x.known_levels[i]) + 1 for i in features])
        if prod(cards) > _MOST_FINE_CELLS:
            others += terms
            continue
        grid = np.indices(cards).reshape(len(cards), prod(cards)) - 1
        logs = np.zeros((prod(cards), len(x.known_levels[-1])))
        for _, view, term in terms:
            maps = [x.coarsenings[view].maps[i] for i in features]
            coarse = [row if places is None else places[row] for row, places in zip(grid, maps, strict=True)]
            logs += term.logs(dict(zip(features, coarse, strict=True)))
        tables.append((family, features, cards, logs))
    return tables, others
