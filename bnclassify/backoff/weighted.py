"""Networks whose log tables are multiplied by powers, or averaged over several discretizations.

They provide posteriors, but do not define a joint distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Array, Codes, log
from ..base.records import record
from ..counts.contingency import flat_index
from ..frames.schema import Dataset
from ..model.model import BuiltOn, Model
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..network.estimates import Scope
from ..network.log_joints import BLOCK_ROWS
from ..numbers.coarsening import Coarsening
from ..numbers.discretization import MovedCuts
from .counts import count_prefixes, without_class
from .prior import concentrations_of, make_stacks
from .tables import LeftOut, PrefixTable, Stack, class_probabilities, feature_probabilities

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_MOST_FINE_CELLS = 2**12  # of a table of the sums over all discretizations


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
        def powers(self) -> tuple[float, ...]:
            """The powers of the terms, in the order of the families: of each feature, then of the class."""

    @property
    def basis(self) -> BNC:
        """The network without tables."""
        return self.structure

    @property
    def depth(self) -> int:
        """The largest number of feature parents in a family."""
        return self.structure.depth

    def _weights(self) -> dict[Hashable, float]:
        *of_features, of_class = self.powers
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

    A missing feature is ignored, and a family whose parent is missing backs off to the parents before it.
    ``structure`` has levels and no tables; ``tables`` and ``powers`` follow its families, the class last.
    """

    structure: BNC
    tables: tuple[PrefixTable, ...]
    powers: tuple[float, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "a model with weights provides P(class | features), but does not define a joint distribution. Use "
        "cloglik or cv, or refit the model with lp without leave-one-out."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        cards = self.structure.cards
        expected = [tuple([cards[v] for v in scope]) for scope in self.structure.scopes]
        actual = [(*table.cards, cards[-1]) if table.root else table.cards for table in self.tables]
        if actual != expected or len(self.powers) != len(self.tables):
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

    def _log_joint(self, codes: Codes) -> Array:
        """Return Σ w ln P, (rows, classes), which is not a joint distribution, but has its log odds."""
        total = np.zeros((codes.shape[1], self.structure.cards[-1]))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for term in self.terms:
                term.add_to(total[block], codes[:, block])
        return total

    @cached_property
    def terms(self) -> list[Term]:
        """The log tables of its families times their powers."""
        return [term for _, term in _make_terms(self)]

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
    def powers(self) -> tuple[float, ...]:
        """The powers of the terms, in the order of the families: of each feature, then of the class."""
        return self.networks[0].powers if self.networks else ()

    def _log_joint(self, codes: Codes) -> Array:
        """Return Σ w ln P, (rows, classes), by one look-up per family unless its table would be large."""
        tables, others = self.derived("fine_terms", _make_fine_terms)
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for features, cards, logs in tables:
            cells = np.zeros(codes.shape[1], dtype=np.intp)
            for i, card in zip(features, cards, strict=True):
                cells *= card
                cells += codes[i]
                cells += 1
            total += logs.take(cells, axis=0)
        for start in range(0, codes.shape[1] if others else 0, BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            views = [coarsen(codes[:, block]) for coarsen in self.coarsenings]
            for view, term in others:
                term.add_to(total[block], views[view])
        return total

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

    def model(self, powers: Sequence[float], parents: int) -> Any:
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


class Term:
    """The log table of one family times its power, for the numbers of its features, the variable first.

    It is written out if it has no more than ``most_cells`` cells, and computed from the counts if not.
    """

    def __init__(self, table: PrefixTable, features: Scope, power: float, most_cells: float) -> None:
        self.table, self.features, self.power = table, features, power
        self.of_class = len(features) < len(table.cards)
        self.logs = None if table.cells > most_cells else self._write_out()

    def _write_out(self) -> Array:
        """Return the logs of the full table, (values of the features, classes)."""
        logs = self.power * log(self.table.full())
        return logs.reshape(-1, logs.shape[-2] if self.of_class else logs.shape[-1])

    def add_to(self, total: Array, codes: Codes | Mapping[int, Codes]) -> None:
        """Add the logs of rows to their totals, (rows, classes), in place."""
        members = [codes[i] for i in self.features]
        if self.logs is None:
            total += self._work_out(members, len(total))
        elif not members:
            total += self.logs
        elif min(code.min(initial=0) for code in members) >= 0:
            total += self._look_up(self.logs, members)
        else:
            complete = np.logical_and.reduce([code >= 0 for code in members])
            total[complete] += self._look_up(self.logs, [code[complete] for code in members])
            rest = [code[~complete] for code in members]
            total[~complete] += self._work_out(rest, int(np.count_nonzero(~complete)))

    def _look_up(self, logs: Array, members: list[Codes]) -> Array:
        """Return the logs of rows in which all of the family is observed."""
        levels, *parent_cards = self.table.cards
        cards = parent_cards if self.of_class else [*parent_cards, levels]
        ordered = members if self.of_class else [*members[1:], members[0]]
        return logs.take(flat_index(ordered, cards), axis=0, mode="clip")

    def _work_out(self, members: list[Codes], rows: int) -> Array:
        """Return the logs of rows from the counts."""
        if self.of_class:
            *_, values = class_probabilities(self.table, members, rows)
        else:
            *_, values = feature_probabilities(self.table, members)
        return self.power * log(values)


def _make_terms(x: LogLinear) -> list[tuple[int, Term]]:
    """Return the distinct terms of a model, each with the number of a network that has it.

    The largest are not written out if all together use too much memory.
    """
    class_number, chosen = len(x.features), []
    for i, scope in enumerate(x.structure.scopes):
        features = tuple([v for v in scope if v != class_number])
        times = Counter(id(network.tables[i]) for network in x.networks)
        for position, network in enumerate(x.networks):
            table = network.tables[i]
            power = x.powers[i] * times.pop(id(table), 0) / len(x.networks)
            if power:
                chosen.append((position, table, features, power))
    sizes = np.sort([table.cells for _, table, _, _ in chosen])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    most = min(_MOST_CELLS, allowed.max(initial=0))
    return [(position, Term(table, features, power, most)) for position, table, features, power in chosen]


def _make_fine_terms(x: AveragedCuts) -> tuple[list[tuple[Any, ...]], list[tuple[int, Term]]]:
    """Return tables of the sums of the terms of families, and the terms of families with too many values.

    A table, with the numbers of its features and their numbers of values, has one row per combination of
    their fine codes, with missing values first, and one column per class.
    """
    families: dict[tuple[int, ...], list[tuple[int, Term]]] = {}
    for view, term in _make_terms(x):
        families.setdefault(term.features, []).append((view, term))
    tables: list[tuple[Any, ...]] = []
    others: list[tuple[int, Term]] = []
    for features, terms in families.items():
        cards = tuple([len(x.known_levels[i]) + 1 for i in features])
        if prod(cards) > _MOST_FINE_CELLS:
            others += terms
            continue
        grid = np.indices(cards).reshape(len(cards), prod(cards)) - 1
        logs = np.zeros((prod(cards), len(x.known_levels[-1])))
        for view, term in terms:
            maps = [x.coarsenings[view].maps[i] for i in features]
            coarse = [row if places is None else places[row] for row, places in zip(grid, maps, strict=True)]
            term.add_to(logs, dict(zip(features, coarse, strict=True)))
        tables.append((features, cards, logs))
    return tables, others
