"""Networks whose log tables are multiplied by powers, and averaged over their discretizations.

The powers, those of a posterior, and numbers of parents are chosen by leave-one-out: tables of
counts are exact for each held-out row; structure, cut points and concentrations are learned from
all rows. The score of a class is linear in the powers, and ln P(y) = score(y) − ln Σ_k exp
score(k), so the problems are concave and have one optimum each, which a truncated Newton method
finds. Scores are given as log odds, called odds below: those of the other classes minus that of
the first.

In incomplete rows, trees that marginalize over features take a share of the score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from ..classifiers import BNC, Prior, check_positive_prior
from ..counts import MAX_CELLS, Scope
from ..dataset import Dataset, Levels, Schema
from ..elimination import Factor, Fading, log_joint_of_network
from ..frames import TrainingData
from ..model import (
    MISSING_RULE,
    NO_JOINT,
    BuiltOn,
    CountedModel,
    Derived,
    Model,
    Recipe,
    forward_to_basis,
    replace_unchecked,
)
from ..numbers import MovedCuts
from ..parameters import Method, method_of_lp
from ..scores import Blend, Coding, Formula, Raised, Sum, Table, scopes_of_terms
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    code_type,
    log,
    log_sum_exp,
    one_thread,
    slices,
)
from ..tools.checks import Flag, Instance, OneOf, Optional
from ..tools.immutable import (
    POWER,
    Immutable,
    cached_property,
    field_bounds,
    is_within_bounds,
    record,
)
from ..tools.messages import listed, shown
from .backoff_prior import (
    LeftOutRows,
    NestedCounts,
    PrefixTable,
    check_prefix_prior,
    class_probabilities,
    class_shares,
    concentrations_of,
    count_prefixes_of_families,
    feature_probabilities,
    tables_of_counts,
)

COMMON_PRECISION = 1.0
"""Precision of the normal prior of the common power, whose mean is 1."""

PRECISION = 3.0
"""Precision of the normal priors of the powers of single terms, whose mean is the common power."""


def log_odds_of_scores(logs: Array) -> Array:
    """Return the scores of the other classes minus that of the first, (…, classes − 1, rows).

    ``logs`` are (…, rows, classes).
    """
    by_class = logs.swapaxes(-1, -2)
    return np.subtract(by_class[..., 1:, :], by_class[..., :1, :], order="C")


def log_likelihood(total: Array, classes: Codes, weights: Array) -> float:
    """Return Σ v ln P(y) for the odds of rows, (classes − 1, rows), and their classes."""
    own = np.zeros(len(classes))  # the odds of the class of each row, 0 for the first class
    if len(total):
        at = np.maximum(classes, 1) - 1, np.arange(len(classes))
        own = np.where(classes == 0, 0.0, total[at])
    return float(weights @ (own - _log_sum_of_odds(total)))


def _log_sum_of_odds(total: Array) -> Array:
    """Return ln(1 + Σ exp log odds) of each row."""
    return log_sum_exp(np.concatenate([np.zeros((1, total.shape[1])), total]), axis=0)


@dataclass(frozen=True)
class Powers:
    """The best powers of terms: a common one, one per term, (terms,), and the objective."""

    common: float
    single: Array
    objective: float
    log_likelihood: float


def best_powers(
    terms: Array, classes: Codes, weights: Array, start: Powers | None = None
) -> Powers:
    """Return the best common power of terms, and the best powers around it.

    The common power τ maximizes Σ v ln P(y) − ½ (τ − 1)², with all powers τ. The powers w of single
    terms maximize Σ v ln P(y) − (3/2) Σ (w − τ)². ``terms`` are (terms, classes − 1, rows) odds,
    and ``weights`` count the rows. The search may start from the powers of similar terms.
    """
    begin = 1.0 if start is None else start.common
    common = best_common_power(terms.sum(axis=0), classes, weights, begin)
    mean = np.full(len(terms), common)
    first = mean if start is None else start.single
    single = _best_powers(terms, classes, weights, mean, PRECISION, first)
    likelihood = log_likelihood(np.tensordot(single, terms, 1), classes, weights)
    penalty = PRECISION / 2 * float(((single - common) ** 2).sum())
    return Powers(common, single, likelihood - penalty, likelihood)


def best_common_power(total: Array, classes: Codes, weights: Array, start: float = 1.0) -> float:
    """Return the best power of the sum of all terms, (classes − 1, rows) odds."""
    [power] = _best_powers(
        total[None], classes, weights, np.ones(1), COMMON_PRECISION, np.array([start])
    )
    return float(power)


def _best_powers(
    terms: Array, classes: Codes, weights: Array, mean: Array, precision: float, start: Array
) -> Array:
    """Return the powers w that maximize Σ v ln P(y) − ½ λ Σ (w − mean)², (terms,).

    Newton's method, with steps by conjugate gradients that are halved until the
    objective rises.
    """
    flat = terms.reshape(len(terms), -1)
    is_own: Mask = classes == np.arange(1, terms.shape[1] + 1)[:, None]

    def objective(powers: Array) -> float:
        likelihood = log_likelihood(np.tensordot(powers, terms, 1), classes, weights)
        return likelihood - precision / 2 * float(((powers - mean) ** 2).sum())

    powers, value = start, objective(start)
    for _ in range(200):
        odds = np.tensordot(powers, terms, 1)
        p = np.exp(odds - _log_sum_of_odds(odds))
        slope = flat @ ((is_own - p) * weights).ravel() - precision * (powers - mean)

        def curvature_times(direction: Array, p: Array = p) -> Array:
            spread = np.tensordot(direction, terms, 1)
            spread = (spread - (p * spread).sum(axis=0)) * p * weights
            return np.asarray(flat @ spread.ravel() + precision * direction)

        step = _solve_by_conjugate_gradients(curvature_times, slope)
        gain = float(slope @ step)
        # 1e-13: rounding error of the objective, as a share of it or of the weight of the rows
        slack = 1e-13 * max(abs(value), float(weights.sum()))
        for _ in range(40):
            reached = objective(powers + step)
            if reached >= value - slack:
                break
            step = step / 2
        else:
            break
        powers, value = powers + step, reached
        if gain <= 1e-14 * max(1.0, abs(value)):
            break
    return powers


def _solve_by_conjugate_gradients(times: Callable[[Array], Array], right: Array) -> Array:
    """Return x with A x = right, up to 1 % of ``right``, if A is positive definite."""
    result, residual, direction = np.zeros_like(right), right, right
    size = first = float(right @ right)
    for _ in range(2 * len(right)):
        if size <= 1e-4 * first or size <= 1e-300:
            break
        product = times(direction)
        length = size / float(direction @ product)
        result, residual = result + length * direction, residual - length * product
        size, before = float(residual @ residual), size
        direction = residual + size / before * direction
    return result


@record
@dataclass(frozen=True, eq=False)
class Coarsening(Immutable):
    """One of several discretizations, as a map from fine to coarse intervals.

    ``levels`` are the labels of each feature in this discretization. ``maps``
    has one array of (fine levels + 1,) coarse codes per feature, the last -1
    for missing values, or None if it is not discretized.
    """

    levels: Levels
    maps: tuple[Codes | None, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = zip(self.maps, self.levels, strict=True)
        if not all(
            codes is None or is_within_bounds(codes, -1, len(labels) - 1) for codes, labels in pairs
        ):
            raise ValueError("maps must contain the codes of levels.")

    def __call__(self, codes: Codes) -> Codes:
        """Return the coarse codes for fine codes of the features, (features, rows)."""
        coarse = codes.copy()
        for row, fine, places in zip(coarse, codes, self.maps, strict=True):
            if places is not None:
                row[:] = places.take(fine, mode="wrap")
        return coarse


@dataclass(frozen=True, eq=False, repr=False)
class FineData(TrainingData):
    """Training data whose numeric columns were discretized several times."""

    cuttings: tuple[Coarsening, ...] = ()

    @classmethod
    def from_cuts(cls, data: TrainingData, cuts: MovedCuts) -> FineData:
        """Return training data discretized at the union of all cut points."""
        fine = {name: np.array(points) for name, points in cuts.cuts.items()}
        cuttings = []
        for time in cuts.discretizers_by_time:
            maps: list[Codes | None] = []
            levels: list[tuple[Any, ...]] = []
            for name, labels in zip(data.features, data.levels, strict=False):
                if name in time.cuts:
                    extra = labels[len(fine[name]) + 1 :]  # the level of missing values
                    # Of the fine intervals that end at 1, 2, 3 and ∞, cut at 2 alone: 0, 0, 1 and
                    # 1; then the codes of other levels, and -1.
                    points = np.array(time.cuts[name])
                    last = range(len(points), len(points) + 1 + len(extra))
                    codes = [*np.searchsorted(points, fine[name]), *last, -1]
                    maps.append(np.array(codes, dtype=code_type(last.stop)))
                    levels.append((*time.intervals[name], *extra))
                else:
                    maps.append(None)
                    levels.append(labels)
            cuttings.append(Coarsening(tuple(levels), tuple(maps)))
        content = {field.name: getattr(data, field.name) for field in fields(data)}
        return cls(**content, cuttings=tuple(cuttings))

    @property
    def codings(self) -> Iterator[TrainingData]:
        """The rows in each discretization."""
        for coarsen in self.cuttings:
            codes = np.concatenate([coarsen(self.codes[:-1]), self.codes[-1:]])
            schema = Schema(self.columns, (*coarsen.levels, self.levels[-1]), self.schema.ordered)
            yield TrainingData(
                schema,
                codes,
                self.index,
                self.weights,
                targets=self.targets,
                order=self.order,
                cases=self.cases,
            )


_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_CALL = 2**12  # number of values that are looked up in the time that a call takes


class RaisedTable:
    """The log table of a family times its power, in a discretization of the features in scope.

    It is written out, if it is not too large, once rows have been asked for as
    many values as it has; the values of fewer rows are worked out from the
    counts.
    """

    def __init__(
        self,
        owner: int,
        scope: Scope,
        codings: tuple[Coding, ...],
        table: PrefixTable,
        power: float,
        most_cells: float,
    ) -> None:
        self.owner, self.scope, self.codings = owner, scope, codings
        self.table, self.power, self.most_cells = table, power, most_cells
        self.n_cells = prod([card + 1 for card in table.cards[owner < 0 :]])
        self._asked = 0

    @cached_property
    def written(self) -> Table:
        """The logs at all values, with a value more of each feature if it is missing."""
        levels, *cards = self.table.cards
        n_columns = self.table.prefixes[-1].counts.shape[1]
        logs = np.zeros((*[card + 1 for card in cards], levels + 1, n_columns))
        for depth, values in enumerate(self.table.full_tables_by_depth()):
            known: list[Any] = [slice(card) for card in cards[:depth]]
            # the next parent is missing, whatever the later ones are
            missing = [-1] if depth < len(cards) else []
            shape = (*values.shape[:depth], *values.shape[depth + len(missing) :])
            places = (*known, *missing, ..., slice(levels), slice(None))
            logs[places] = self.power * log(values).reshape(shape)
        if self.owner < 0:
            return Table(self.owner, self.scope, logs[..., :-1, 0], self.codings)
        return Table(self.owner, self.scope, np.moveaxis(logs, len(cards), 0), self.codings)

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return the logs of rows, (rows or 1, classes or 1)."""
        rows = codes.shape[1] if self.scope else 1
        self._asked += rows * self.table.prefixes[-1].counts.shape[1] + _CALL
        if self.table.n_cells <= min(self.most_cells, self._asked):
            return self.written.entries_of_rows(codes)
        pairs = zip(self.scope, self.codings or (None,) * len(self.scope), strict=True)
        members = [codes[v] if coding is None else coding[codes[v]] for v, coding in pairs]
        if self.owner < 0:
            *_, values = class_probabilities(self.table, members, rows)
        else:
            *_, values = feature_probabilities(self.table, members)
        return self.power * log(values)


@dataclass(frozen=True, eq=False)
class FamilyTerm:
    """The sum of the raised tables of a family over discretizations, a term of `Sum`.

    ``cards`` are the numbers of levels of the features in scope before they are
    coded. ``check`` raises an error if the terms of the model are too large to
    be written.
    """

    owner: int
    scope: Scope
    cards: tuple[int, ...]
    parts: tuple[RaisedTable, ...]
    check: Callable[[], None]

    @cached_property
    def _table_of_fine_codes(self) -> Table | None:
        """The sum as a table, if there are several codings and few cells."""
        # 2**12: maximum number of cells of a table of the sums over all discretizations
        if not self.parts[0].codings or self.n_cells > 2**12:
            return None
        return self._sum_of_tables()

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return the values at rows, (rows or 1, classes or 1)."""
        if self._table_of_fine_codes is not None:
            return self._table_of_fine_codes.entries_of_rows(codes)
        first, *others = [part.entries_of_rows(codes) for part in self.parts]
        return np.asarray(sum(others, start=first))

    @cached_property
    def entries_if_parents_missing(self) -> Array:
        """The log tables without feature parents, raised to the powers of those with parents."""
        codes, found = np.arange(self.cards[0]), []
        for part in self.parts:
            coding = part.codings[0] if part.codings else None
            own = codes if coding is None else coding[codes]
            values = feature_probabilities(part.table.with_first_parents(0), [own])
            found.append(part.power * log(next(values)))
        logs = np.asarray(sum(found))
        return np.concatenate([logs, np.zeros((1, logs.shape[1]))])

    def as_plain_terms(self) -> tuple[Table, ...]:
        """Return the tables of all discretizations, or their sum if it has fewer cells."""
        self.check()
        if len(self.parts) > 1 and self.n_cells <= sum(part.n_cells for part in self.parts):
            return (self._sum_of_tables(),)
        return tuple([part.written for part in self.parts])

    @property
    def n_cells(self) -> int:
        return prod([card + 1 for card in self.cards])

    @property
    def n_written_cells(self) -> int:
        """The number of configurations in the tables of `as_plain_terms`."""
        return min(self.n_cells, sum(part.n_cells for part in self.parts))

    def _sum_of_tables(self) -> Table:
        """Return the sum of the parts as a table of the codes before they are coded."""
        columns = max(part.written.logs.shape[-1] for part in self.parts)
        total = np.zeros([*[card + 1 for card in self.cards], columns])
        for part in self.parts:
            places = []
            for coding, card in zip(part.codings, self.cards, strict=True):
                places.append(np.append(np.arange(card), -1) if coding is None else coding)
            logs = part.written.logs
            total += logs[np.ix_(*places)] if places else logs
        return Table(self.owner, self.scope, total)


def family_terms(
    scopes: Sequence[Scope],
    cards: Sequence[int],
    tables: Sequence[Sequence[PrefixTable]],
    powers: Sequence[float],
    codings: Sequence[Sequence[Coding]],
    check: Callable[[], None],
) -> tuple[FamilyTerm, ...]:
    """Return a term for each family with a power.

    ``tables`` are those of each discretization, and ``powers`` those of their
    mean. ``codings`` has those of all features in each discretization, if there
    are several.
    """
    class_number, chosen = len(scopes) - 1, []
    for i in range(len(scopes)):
        own_tables = [own[i] for own in tables]
        times = Counter(map(id, own_tables))  # the same table in several discretizations is one
        for position, table in enumerate(own_tables):
            if raised := powers[i] * times.pop(id(table), 0) / len(tables):
                chosen.append((i, position, table, raised))
    # the largest number of cells of a table that is written out
    sizes = np.sort([table.n_cells for _, _, table, _ in chosen])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    most = float(min(_MOST_CELLS, allowed.max(initial=0)))
    parts: dict[int, list[RaisedTable]] = {}
    for i, position, table, raised in chosen:
        owner = i if i < class_number else -1
        features = tuple([v for v in scopes[i] if v != class_number])
        own = tuple([codings[position][v] for v in features]) if codings else ()
        part = RaisedTable(owner, features, own, table, raised, most)
        parts.setdefault(i, []).append(part)
    terms = []
    for first, *others in parts.values():
        own_cards = tuple([cards[v] for v in first.scope])
        terms.append(FamilyTerm(first.owner, first.scope, own_cards, (first, *others), check))
    return tuple(terms)


@record
@forward_to_basis("parents", "graph", "trace")
@dataclass(frozen=True, eq=False, repr=False)
class Weighted(BuiltOn):
    """A network whose log tables are multiplied by powers, and averaged over its discretizations.

    Without ``coarsenings``, there is one table per family: P(c | x) ∝ P(c)^w₀
    Π_i P(x_i | parents, c)^w_i. If not, the levels of ``structure`` are the
    intervals between the cut points of all discretizations. ``tables`` are
    empty until `lp` estimates them. A missing feature is ignored, and a family
    with a missing parent backs off to the previous parents, unless ``fading``
    is given.
    """

    bounds = field_bounds(powers=POWER)

    structure: BNC
    coarsenings: tuple[Coarsening, ...] = ()
    tables: tuple[tuple[PrefixTable, ...], ...] = ()
    powers: tuple[float, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = len(self.tables) in (0, len(self.coarsenings) or 1)
        fits &= all(len(coarsen.maps) == len(self.features) for coarsen in self.coarsenings)
        for coding, tables in enumerate(self.tables if fits else ()):
            cards = self.structure_in_coding(coding).cards
            shapes = []
            for table in tables:
                of_class = cards[-1:] if table.prefix_without_parents else ()
                shapes.append((*table.cards, *of_class))
            wanted = [tuple([cards[v] for v in scope]) for scope in self.structure.scopes]
            fits &= shapes == wanted and len(self.powers) == len(tables)
        if not fits:
            raise ValueError(
                "tables must have one table, and one power, per family, of the size of its levels "
                "in each of the coarsenings, which must have one map per feature."
            )

    @property
    def type_in_words(self) -> str:
        averages = "a model that averages over discretizations"
        return averages if self.coarsenings else "a model with weights"

    @property
    def fitted(self) -> bool:
        return bool(self.tables)

    @cached_property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization, which its recipe applies to raw data."""
        if not self.coarsenings:
            return (self,)
        networks, moved = list[Model](), self.discretizer
        for number in range(len(self.coarsenings)):
            recipe = self.recipe
            if recipe is not None and isinstance(moved, MovedCuts):
                coarse = replace(self.preparation, discretizer=moved.discretizers_by_time[number])
                recipe = replace(recipe, preparation=coarse)
            network: Any = replace(self.structure_in_coding(number), recipe=recipe)
            if self.tables:
                tables = self.tables[number]
                learned = concentrations_of(tables)
                network = Weighted(network, (), (tables,), self.powers, recipe, learned)
            networks.append(network)
        return tuple(networks)

    @cached_property
    def network(self) -> BNC | None:
        """The network with its tables, without the powers, if there is a single one."""
        if self.coarsenings:
            return None
        pairs = zip(self.tables[0], self.structure.families, strict=True)
        return replace(self.structure, cpts=tuple([table.cpt_of_family(f) for table, f in pairs]))

    def facts(self) -> dict[str, Any]:
        is_sum = (
            self.fitted
            and not self.depth
            and all(len(scope) < 2 for scope in scopes_of_terms(self.score) or ())
        )
        form = {"form": "sum of one effect per feature"} if is_sum else {}
        rule = "the fewer values a row has, the more it is predicted by naive Bayes"
        rule = "ignored" if self.fading is None else rule
        return self.basis.facts() | form | {MISSING_RULE: rule}

    @property
    def no_joint(self) -> str:
        return f"{self.type_in_words} {NO_JOINT}"

    @property
    def basis(self) -> BNC:
        return self.structure

    @property
    def depth(self) -> int:
        return self.structure.depth

    @cached_property
    def sum_of_terms(self) -> Sum:
        """The terms of complete rows, one per family."""
        cards = [len(labels) for labels in self.known_levels]
        codings = [coarsen.maps for coarsen in self.coarsenings]
        terms = family_terms(
            self.structure.scopes, cards, self.tables, self.powers, codings, self._check_size
        )
        return Sum(terms, marginalizes=False)

    @cached_property
    def formula(self) -> Formula:
        """The terms and, in incomplete rows, the rule that blends them with trees."""
        if self.fading is None:
            return self.sum_of_terms
        if self.depth:
            trees = self.value_formulas
        else:  # the tables of the features, with powers of 1
            powers = (1.0,) * len(self.features) + (0.0,)
            trees = (replace_unchecked(self, powers=powers, fading=None).sum_of_terms,)
        return Blend(self.sum_of_terms, log(self.learned_class_prior()), trees, self.fading)

    @cached_property
    def value_formulas(self) -> tuple[Formula, ...]:
        """The trees of at most three networks, evenly spread, as sums of tables."""
        trees, nothing = [], np.full((len(self.features), 1), -1)
        n = len(self.tables)
        for number in np.unique(np.linspace(0, n - 1, min(n, 3)).astype(int)).tolist():
            structure = self.structure_in_coding(number)
            families, cpts = [], []  # of the network of the first parents
            for (variable, *parents), table in zip(
                structure.families, self.tables[number], strict=True
            ):
                last = parents[-1:] if parents[-1:] == [self.class_var] else []
                own = min(1, len(table.cards) - 1)
                # 2**20: maximum number of cells of a table in a tree
                columns = table.prefixes[-1].counts.shape[1]
                own *= prod(table.cards[: own + 1]) * columns <= 2**20
                families.append((variable, *parents[:own], *last))
                cpts.append(table.with_first_parents(own).cpt_of_family(families[-1]))
            tree = replace(structure, families=tuple(families), cpts=tuple(cpts), learned={})
            factors = tree.formula.factors
            maps = self.coarsenings[number].maps if self.coarsenings else ()
            tables = []
            for i, factor in enumerate(factors):
                codings = tuple([maps[v] for v in factor.scope]) if maps else ()
                tables.append(Table(i, factor.scope, factor.table[..., 0, :], codings))
            # Given the class: the log joint minus the log joint of an empty row.
            given_class = tables[-1].logs - log_joint_of_network(factors, nothing)[0]
            tables[-1] = replace(tables[-1], owner=-1, logs=given_class)
            trees.append(Sum(tuple(tables), marginalizes=True))
        return tuple(trees)

    def structure_in_coding(self, number: int) -> BNC:
        if not self.coarsenings:
            return self.structure
        return replace(
            self.structure, levels=(*self.coarsenings[number].levels, self.known_levels[-1])
        )

    def _check_size(self) -> None:
        terms = [term for term in self.sum_of_terms.terms if isinstance(term, FamilyTerm)]
        sizes = [len(self.known_levels[-1]) * term.n_written_cells for term in terms]
        if sum(sizes) > MAX_CELLS // 2**5:
            largest = terms[int(np.argmax(sizes))]
            raise ValueError(
                f"x must have tables of at most {MAX_CELLS // 2**5:,} cells to be written out; got "
                f"{sum(sizes):,}, of which {max(sizes):,} are for "
                f"{listed([self.features[i] for i in largest.scope])}. Use a single discretization "
                "such as discretize='mdlp', or fewer parents."
            )

    def feature_weights(self) -> Any:
        *of_features, of_class = self.powers
        return dict(zip([self.class_var, *self.features], [of_class, *of_features], strict=True))

    def learned_class_prior(self) -> Array:
        """Return the class shares in training, regardless of the power of the class."""
        return class_shares(self.tables[0][-1])

    def with_first_parents(self, most: int) -> Weighted:
        """Return the model with at most so many feature parents in each family."""
        tables = [tuple([one.with_first_parents(most) for one in own]) for own in self.tables]
        families = []
        for variable, *ps in self.structure.families:
            of_class = ps[-1:] if ps[-1:] == [self.class_var] else []
            families.append((variable, *ps[: len(ps) - len(of_class)][:most], *of_class))
        structure = replace(self.structure, families=tuple(families), cpts=None)
        learned = {} if self.coarsenings else concentrations_of(tables[0])
        return replace_unchecked(self, structure=structure, tables=tuple(tables), learned=learned)

    def estimate(self, data: Any, prior: Any) -> Any:
        if not self.coarsenings:
            return replace(self.structure, recipe=self.recipe).estimate(data, prior)
        return self.learn_tables(data, prior)

    def learn_tables(self, data: Dataset, prior: Any) -> Weighted:
        """Return the structure with tables of all prefixes of families, with all powers 1.

        A family without discretized features has one table for all codings.
        """
        structure = replace(self.structure, levels=data.levels, cpts=None, learned={})
        empty = replace_unchecked(
            self, structure=structure, tables=(), powers=(), learned={}, fading=None
        )
        coded, last = self.codes_in_codings(data.codes[:-1]), len(structure.scopes) - 1
        counts: dict[tuple[int, int], NestedCounts] = {}  # by coding and family
        for coding, codes in enumerate(coded):
            schema = Schema(data.columns, empty.structure_in_coding(coding).known_levels)
            rows = replace(data, schema=schema, codes=np.concatenate([codes, data.codes[-1:]]))
            scopes = {}
            for family, scope in enumerate(structure.scopes):
                features = [v for v in scope if v != last]
                if not coding or any(self.coarsenings[0].maps[v] is not None for v in features):
                    scopes[coding, family] = scope
            found = count_prefixes_of_families(rows, list(scopes.values()))
            counts |= dict(zip(scopes, found, strict=True))
        are_of_class = [family == last for _, family in counts]
        learned_tables = tables_of_counts(list(counts.values()), are_of_class, prior)
        by_place = dict(zip(counts, learned_tables, strict=True))
        tables = []
        for coding in range(len(coded)):
            tables.append(
                tuple([by_place.get((coding, f), by_place[0, f]) for f in range(last + 1)])
            )
        learned = {} if self.coarsenings else concentrations_of(tables[0])
        return replace_unchecked(
            empty, tables=tuple(tables), powers=(1.0,) * len(tables[0]), learned=learned
        )

    def codes_in_codings(self, codes: Codes) -> list[Codes]:
        """Return codes of features, (features, rows), in each discretization."""
        return [coarsen(codes) for coarsen in self.coarsenings] or [codes]

    def left_out_logs(self, coded: Sequence[Codes], left_out: LeftOutRows) -> Iterator[list[Array]]:
        """Yield the mean logs of each family's tables at rows, without the row, by depth.

        ``coded`` are the codes of the features in each discretization. Each
        array, for 0, 1, … feature parents, is (rows, classes or 1).
        """
        class_number, n = len(self.features), len(left_out.classes)
        for family, scope in enumerate(self.structure.scopes):
            tables = {id(own[family]): (i, own[family]) for i, own in enumerate(self.tables)}
            total = list[Array]()
            for coding, table in tables.values():
                members = [v for v in scope if v != class_number]
                columns = [coded[coding][v] for v in members]
                if family == class_number:
                    values = class_probabilities(table, columns, n, left_out)
                else:
                    values = feature_probabilities(table, columns, left_out)
                logs = list(map(log, values))
                total = [a + b for a, b in zip(total, logs, strict=True)] if total else logs
            yield [logs / len(tables) for logs in total]

    def left_out_log_odds(
        self, codes: Codes, left_out: LeftOutRows, depths: Sequence[int]
    ) -> Array:
        """Return odds by each family, each row held out: (depths, families, classes − 1, rows)."""
        shape = len(depths), len(self.structure.scopes), self.structure.cards[-1] - 1
        found = np.zeros((*shape, len(left_out.classes)))
        for block in slices(codes.shape[1], most=BLOCK_ROWS):
            coded = self.codes_in_codings(codes[:, block])
            for family, logs in enumerate(self.left_out_logs(coded, left_out.take(block))):
                for odds, depth in zip(found, depths, strict=True):
                    # a family with fewer parents has fewer depths
                    of_depth = logs[min(depth, len(logs) - 1)]
                    if of_depth.shape[1] > 1:
                        odds[family, :, block] = log_odds_of_scores(of_depth)
        return found


def learn_fading(data: Dataset, terms: Array, classes: Codes, counts: Array) -> Fading:
    """Return the rule, given the odds at rows of the tables without feature parents."""
    weights = data.row_weights
    known = data.codes[:-1] >= 0
    shares = known @ weights / max(float(weights.sum()), 1e-300)
    # 1 - 1e-9: largest share of rows in which a feature is known that some rows lack
    usual = np.where(known.all(axis=1), 1.0, np.minimum(shares, 1 - 1e-9))
    power = best_common_power(terms.sum(axis=0), classes, counts) if data.cards[-1] > 1 else 1.0
    return Fading(usual, power)


def log_joint_of_incomplete_rows(
    scopes: Sequence[Scope],
    tables: Sequence[PrefixTable],
    codes: Codes,
    left_out: LeftOutRows,
) -> Array:
    """Return the log joint of rows under the network without each row, (rows, classes)."""
    class_number = len(scopes) - 1
    factors = []
    for scope, table in zip(scopes, tables, strict=True):
        members = [v for v in scope if v != class_number or v == scope[0]]
        logs = log(_tables_without_own_row(table, [codes[v] for v in members], left_out))
        if scope[0] == class_number:  # (parents…, classes, rows, 1)
            factors.append(Factor(scope[1:], np.moveaxis(logs[..., 0], -2, -1)))
        else:  # (parents…, levels, rows, classes)
            factors.append(Factor(tuple(members), np.moveaxis(logs, len(members) - 1, 0)))
    return log_joint_of_network(factors, codes[:-1], np.arange(codes.shape[1]))


def _tables_without_own_row(
    table: PrefixTable, codes: Sequence[Codes], left_out: LeftOutRows
) -> Array:
    """Return each row's table from all others, (parents' levels…, levels, rows, classes or 1)."""
    rows = len(left_out.classes)
    levels, *parent_cards = table.cards
    *parents, variable = np.indices((*parent_cards, levels)).reshape(len(table.cards), -1, 1)
    all_codes = [np.repeat(values, rows) for values in (variable, *parents)]
    own_value = np.where(variable == codes[0], left_out.shares, 0.0)
    any_value = np.where(codes[0] >= 0, left_out.shares, 0.0)

    def deduct(i: int) -> tuple[Array, Array]:
        same = np.ones((len(variable), rows))
        for cells, code in zip(
            parents[: max(0, i - table.prefix_without_parents)], codes[1:], strict=False
        ):
            same = same * (cells == code)
        return (same * own_value).ravel(), (same * any_value).ravel()

    *_, values = table.probabilities_at_rows(
        all_codes, np.tile(left_out.classes, len(variable)), deduct
    )
    return values.reshape(*parent_cards, levels, rows, values.shape[1])


_MOST_ODDS = 2**25  # maximum number of odds of all terms, 256 MiB


@record
@dataclass(frozen=True)
class LeaveOneOutSummary:
    """The results of leave-one-out.

    ``power`` is the best common power of all tables, ``objective`` the maximum
    of the objective, ``log_likelihood`` the log-likelihood of the classes of
    held-out rows, ``parents`` the largest number of feature parents kept, and
    ``rows`` the number of held-out rows.
    """

    power: float
    objective: float
    log_likelihood: float
    parents: int
    rows: int


@method_of_lp
@record
@dataclass(frozen=True)
class LeaveOneOut(Method):
    """Choose powers of tables, the number of feature parents, or both."""

    weights: bool = True
    parents: bool = False

    argument = "held_out"
    holds_out_rows = True

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> LeaveOneOut | None:
        how = Optional(OneOf(("weights", "parents", "power"))).check(
            "held_out", given.get("held_out")
        )
        is_dict = Instance(Mapping | None, "a dict of arguments")
        args = is_dict.check("held_out_args", given.get("held_out_args")) or {}
        if args and how != "weights":
            raise ValueError(f"held_out must be 'weights' with held_out_args; got {shown(how)}.")
        for name in args:
            OneOf(("parents",)).check("each key of held_out_args", name)
        if how in (None, "power"):
            return None
        return cls(how == "weights", how == "parents" or args.get("parents", False))

    def __post_init__(self) -> None:
        Flag().check("weights", self.weights)
        Flag().check("parents in held_out_args", self.parents)

    def check(self, x: Model, prior: Prior) -> None:
        name = f"held_out={'weights' if self.weights else 'parents'!r}"
        if not isinstance(x.graph, BNC):
            raise TypeError(
                f"{name} is defined for a single Bayesian network; got {x.type_in_words}. For an "
                "ensemble, use held_out='power'."
            )
        check_positive_prior(prior, name)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        by_name = np.argsort(list(map(repr, data.columns[:-1])))  # whatever the order of columns
        columns = [data.codes[i] for i in by_name]
        data = data.take_rows(np.lexsort((data.row_weights, *columns, data.codes[-1])))
        with one_thread:
            model = x if isinstance(x, Weighted) else Weighted(x.graph, recipe=x.recipe)
            model = model.learn_tables(data, prior)
            depths = range(0 if self.parents else model.depth, model.depth + 1)
            if data.cases is not None and len(np.unique(data.cases)) < len(data):
                odds = _log_odds_by_folds(model, data, data.cases, prior, depths)
                classes, counts, n = data.codes[-1], data.row_weights, len(data)
            else:
                n_terms = len(depths) * len(model.powers)
                rows, counts, left_out, n = rows_to_hold_out(data, n_terms)
                odds = model.left_out_log_odds(data.codes[:-1, rows], left_out, depths)
                classes = left_out.classes
            found: list[Powers] = []  # of the tables with each number of parents
            for terms in odds:
                if self.weights:
                    found.append(best_powers(terms, classes, counts, found[-1] if found else None))
                else:
                    likelihood = log_likelihood(terms.sum(axis=0), classes, counts)
                    found.append(Powers(1.0, np.ones(len(terms)), likelihood, likelihood))
            values = [powers.objective for powers in found]
            # the fewest parents of those that are tied
            best = next(i for i, value in enumerate(values) if value >= max(values) - TOLERANCE)
            powers, depth = found[best], depths[best]
            summary = LeaveOneOutSummary(
                powers.common, powers.objective, powers.log_likelihood, depth, n
            )
            learned = {"leave_one_out": summary}
            kept = replace_unchecked(
                model.with_first_parents(depth), powers=tuple(powers.single.tolist())
            )
            if self.weights:
                fading = learn_fading(data, odds[0], classes, counts)
                return replace_unchecked(kept, fading=fading, learned={**kept.learned, **learned})
            if kept.network is None:
                return replace_unchecked(kept, learned=learned)
            return replace(kept.network, recipe=kept.recipe, learned=learned)


def _log_odds_by_folds(
    x: Weighted, data: Dataset, case_of_rows: Positions, prior: Prior, depths: range
) -> Array:
    """Return odds at all rows by tables of other cases, in ten folds of cases."""
    case, cases = pd.factorize(case_of_rows)
    if len(cases) < 5:
        raise ValueError(
            "groups must contain at least 5 groups of rows with a class; got "
            f"{len(cases)}. Rows of a group are held out together."
        )
    found, held, fold_of_rows = [], [], case % 10
    for fold in range(min(10, len(cases))):
        own = np.flatnonzero(fold_of_rows == fold)
        train = replace(data, weights=np.where(fold_of_rows == fold, 0.0, data.row_weights))
        others = LeftOutRows(data.codes[-1, own], np.zeros(len(own)))
        model = x.learn_tables(train, prior)
        found.append(model.left_out_log_odds(data.codes[:-1, own], others, depths))
        held.append(own)
    order = np.argsort(np.concatenate(held))
    return np.ascontiguousarray(np.concatenate(found, axis=-1)[..., order])


class HeldOutRows(LeftOutRows):
    """Rows that are held out in turn."""

    def log_joint(self, x: BNC, data: Dataset, prior: Prior, rows: Positions) -> Array:
        """Return ln P(features, class) of rows, each by a network of the rest, (rows, classes)."""
        model = Weighted(x).learn_tables(data, prior)
        [tables] = model.tables
        codes = data.codes[:, rows]
        complete: Mask = codes.min(axis=0) >= 0
        result = np.empty((len(rows), data.cards[-1]))
        known = np.flatnonzero(complete)
        for part in slices(len(known), most=BLOCK_ROWS):
            at = known[part]
            by_family = model.left_out_logs([codes[:-1, at]], self.take(at))
            result[at] = sum(by_depth[-1] for by_depth in by_family)
        incomplete = np.flatnonzero(~complete)
        # 2**20: maximum number of cells of the tables of a family, one per incomplete row
        most = max(1, 2**20 // max(table.n_cells for table in tables))
        for part in slices(len(incomplete), most=most):
            block = incomplete[part]
            result[block] = log_joint_of_incomplete_rows(
                x.scopes, tables, codes[:, block], self.take(block)
            )
        return result


def rows_to_hold_out(data: Dataset, terms: int) -> tuple[Positions, Array, HeldOutRows, int]:
    """Return the rows to hold out (spread, or equal ones together), their weights and total."""
    limit = max(1, _MOST_ODDS // max(1, terms * (data.cards[-1] - 1)))
    n, counts = len(data), data.row_weights
    rows: Positions = np.arange(n)
    if data.cases is None and counts.min(initial=1.0) >= 1:  # the first of equal rows, weighted
        order = np.lexsort(data.codes)
        ordered = data.codes[:, order]
        is_first: Mask = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
        group = np.empty(n, dtype=np.intp)
        group[order] = np.cumsum(is_first) - 1
        first = order[is_first]
        in_turn = np.argsort(first)
        rows, counts = first[in_turn], np.bincount(group, counts)[in_turn].astype(np.float64)
    rows, counts = rows[counts > 0], counts[counts > 0]
    if len(rows) > limit:
        n = limit
        spread = np.linspace(0, len(rows) - 1, n).astype(np.intp)
        rows, counts = rows[spread], counts[spread]
    return rows, counts, HeldOutRows(data.codes[-1, rows], data.held_out_weights[rows]), n


@record
@forward_to_basis("members", "picture_notes", "feature_weights", "is_average")
@dataclass(frozen=True, eq=False, repr=False)
class Powered(Derived):
    """A model whose posterior has a power and is normalized: P(c | x) ∝ P₀(c | x)^τ of ``base``.

    If a share h of the features is missing, the power is τ + (1 − τ) h.
    """

    bounds = field_bounds(power=POWER)

    base: Model
    power: float
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    type_in_words = "a model with a power"

    estimate = Derived.estimate_base

    no_joint = f"{type_in_words} {NO_JOINT}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if getattr(self.learned.get("leave_one_out"), "power", self.power) != self.power:
            raise ValueError(f"the power must be that of leave-one-out; got {self.power}")

    def check_type_of_refit(self, fitted: Model) -> None:
        """Accept any model: its base is the recipe's result if the held-out power is 1."""

    @cached_property
    def formula(self) -> Formula:
        return Raised(self.base.score, self.power)


@method_of_lp
@record
@dataclass(frozen=True)
class LeaveOneOutPower(Method):
    """Raise the posterior to the power that maximizes the likelihood of held-out classes."""

    argument = "held_out"

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> LeaveOneOutPower | None:
        return cls() if given.get("held_out") == "power" else None

    def check(self, x: Model, prior: Prior) -> None:
        check_positive_prior(prior, "held_out='power'")
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        fitted = x.estimate(data, prior)
        if not isinstance(fitted, CountedModel):
            raise TypeError(
                f"held_out must be None for {x.type_in_words}, for which 'power' is not defined."
            )
        rows, weights, left_out, n = rows_to_hold_out(data, 1)
        logs = fitted.log_joint_left_out(data, prior, rows, left_out)
        total = log_odds_of_scores(logs)
        power = best_common_power(total, left_out.classes, weights)
        value = log_likelihood(power * total, left_out.classes, weights)
        objective = value - COMMON_PRECISION / 2 * (power - 1) ** 2
        depth = max(0 if member.graph is None else member.graph.depth for member in fitted.members)
        summary = LeaveOneOutSummary(power, objective, value, depth, n)
        return Powered(fitted, power, x.recipe, {"leave_one_out": summary})
