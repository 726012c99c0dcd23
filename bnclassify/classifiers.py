"""Bayesian network classifiers: families, priors that turn counts into tables, and averages.

A network is a list of families, each a variable and its parents; in the networks
of the R package, the class is a parent of every feature. A prior adds
pseudo-counts to the counts of a family and returns its conditional probability
table; this is the only place where counts become probabilities. `BNC` is a
network with one class, `DN` a dependency network, and `Ensemble` an average of
networks over their joint distributions. Each counts its families, estimates its
tables and states its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from math import isfinite, prod
from typing import Any, Protocol, Self, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np

from .counts import Scope, count_families, flat_index
from .dataset import Countable, Dataset, Levels
from .elimination import (
    BURN_IN,
    Density,
    GibbsSampler,
    draw_column_per_row,
    fill_in_by_elimination,
    fill_in_by_enumeration,
)
from .model import (
    MISSING_RULE,
    ClassProportions,
    CountedModel,
    Model,
    Recipe,
    Step,
    Tally,
    TrainingRows,
    check_counted,
    forward_to_basis,
    replace_unchecked,
)
from .scores import Formula, Mixture, Numeric, Rows, Sum, Table, network_terms_and_codes, scores_at
from .tools.arrays import (
    BLOCK_ROWS,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    code_type,
    log,
    log_sum_exp,
    map_by_shape,
    normalize,
    slices,
)
from .tools.checks import Real, must_be, options_sentence
from .tools.graphs import find_cycle, topological_layers
from .tools.immutable import (
    COUNT,
    PROBABILITY,
    Immutable,
    StackedArrays,
    cached_property,
    field_bounds,
    record,
)
from .tools.messages import WIDE, how_to_merge, listed, repeated_items, shorten_text, shown, warn

# Families, a variable and its parents: checks of graph and tables, and their sizes.


Family: TypeAlias = tuple[Hashable, ...]


@lru_cache(maxsize=64)  # each structure is checked once
def check_families(
    class_var: Hashable,
    families: tuple[Family, ...],
    *,
    origin: str = "families",
    acyclic: bool = True,
) -> None:
    """Raise unless families are a graph, ``acyclic`` or not; error messages name ``origin``."""
    variables = dict.fromkeys(family[0] for family in families if family)  # in order
    if not families or not all(families) or families[-1][0] != class_var:
        raise ValueError(
            f"{origin} must have one family per variable, the last of {shown(class_var)}."
        )
    if twice := repeated_items([family[0] for family in families]):
        raise ValueError(
            f"{origin} must have one family per variable; got several of {listed(twice)}."
        )
    for variable, *parents in families:
        strange = [name for name in parents if name not in variables]
        if strange:
            raise ValueError(
                f"{origin}: the parent {shown(strange[0])} of {shown(variable)} is not a variable "
                f"of the network. {options_sentence(strange[0], variables)}"
            )
        if not acyclic and variable in parents:
            raise ValueError(f"{origin} must not have {shown(variable)} as a parent of itself.")
        if len(set(parents)) < len(parents):
            raise ValueError(f"{origin} must name each parent once; got {listed(parents)}.")
        if class_var in parents[:-1]:
            raise ValueError(
                f"{origin} must list the class last in a family; got {listed(parents)}."
            )
    if acyclic and any(len(family) > 1 + (family[-1] == class_var) for family in families):
        cycle = find_cycle({family[0]: family[1:] for family in families})
        if cycle:
            arcs = shorten_text(" -> ".join(map(str, cycle)))
            raise ValueError(f"{origin} must not have cycles; got {arcs}. Omit one.")


@lru_cache(maxsize=64)
def positions_of_families(families: tuple[Family, ...]) -> tuple[Scope, ...]:
    position = {family[0]: i for i, family in enumerate(families)}
    return tuple([tuple(map(position.__getitem__, family)) for family in families])


def check_table_shapes(
    families: Sequence[Family], levels: Levels | None, cpts: tuple[Array, ...] | None
) -> None:
    """Raise a ValueError unless levels and tables, if given, have the shapes of the families."""
    if levels is not None and len(levels) != len(families):
        raise ValueError(
            f"levels must have labels of each of {len(families)} variables; got {len(levels)}."
        )
    if cpts is None:
        return
    if levels is None or len(cpts) != len(families):
        raise ValueError(
            f"cpts must have a table, and levels, for each of {len(families)} families."
        )
    card = {family[0]: len(labels) for family, labels in zip(families, levels, strict=True)}
    for family, table in zip(families, cpts, strict=True):
        shape = tuple([card[v] for v in family])
        if table.shape != shape:
            raise ValueError(
                f"cpts must have a table of {shown(family[0])} of shape {shape}, the levels of its "
                f"family; got {table.shape}."
            )


def count_parameters(scopes: Sequence[Scope], cards: Sequence[int]) -> int:
    """Return the number of free parameters: Σ (levels − 1) · Π parents' levels, 2 for numbers."""
    total = 0
    for v, *parents in scopes:
        per_configuration = cards[v] - 1 if cards[v] else 2
        total += per_configuration * prod([cards[p] for p in parents])
    return total


# Priors, which turn counts into probabilities.


LEAST_AMOUNT, MOST_AMOUNT = 1e-100, 1e100
"""Bounds of positive pseudo-counts, within which no table or score overflows."""

MOST_ESS = 1e12
"""Largest equivalent sample size: with more, posterior tables hardly differ from the prior."""


Amount = TypeVar("Amount", float, Array)


class Prior(Protocol):
    """Converts the counts of a family to its conditional probability table."""

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return a table that sums to 1 over the variable's axis; earlier axes stack tables."""
        ...


class NestedPrior(Prior, Protocol):
    """Shrinks a table towards the table with one parent fewer, which needs the counts of both."""

    def count(self, data: Countable, scopes: Sequence[Scope]) -> list[Any]:
        """Return the counts behind the tables of families."""
        ...

    def tabulate(
        self, counts: Sequence[Any], scopes: Sequence[Scope], families: Sequence[Family]
    ) -> tuple[list[Array], dict[str, Any]]:
        """Return the tables of families, and results of their estimation by name."""
        ...


def is_nested_prior(prior: Prior) -> TypeGuard[NestedPrior]:
    return getattr(prior, "nested", False) is True


class PseudoCounts(Immutable):
    """A Dirichlet prior: (N_ijk + a) / (N_ij· + r a), with r levels; uniform if both are 0."""

    nested = False

    def pseudo_count_per_cell(self, levels: Amount, configurations: float | Positions) -> Amount:
        """Return a, given numbers of levels (of a variable or several) and of configurations."""
        raise TypeError(f"{type(self).__name__} does not define pseudo-counts")

    @property
    def is_positive(self) -> bool:
        """Whether a is greater than 0, so that no probability is 0."""
        return bool(self.pseudo_count_per_cell(2, 2) > 0)

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return the posterior mean of the table; see `Prior`."""
        levels, *parent_cards = counts.shape[axis:]
        return self.smoothed_probabilities(
            counts, counts.sum(axis=axis, keepdims=True), levels, prod(parent_cards)
        )

    def tables_on_last_axis(
        self,
        counts: ArrayOf[Any],
        variable: Positions,
        cards: Positions,
        configurations: int | Positions = 1,
    ) -> Array:
        """Return tables of variables whose levels, at ascending positions, are on the last axis.

        The numbers of configurations may differ by table.
        """
        sizes = np.bincount(variable)
        sizes = sizes[sizes > 0]
        totals = np.add.reduceat(counts, sizes.cumsum() - sizes, axis=-1, dtype=np.float64)
        totals = np.repeat(totals, sizes, axis=-1)
        return self.smoothed_probabilities(
            counts, totals, cards[variable].astype(np.float64), configurations
        )

    def counts_plus_prior(
        self, counts: ArrayOf[Any], levels: Amount, configurations: float | Positions
    ) -> Array:
        """Return N + a, as floats: the type of counts may be too narrow for the sum."""
        result: Array = np.add(
            counts, self.pseudo_count_per_cell(levels, configurations), dtype=np.float64
        )
        return result

    def smoothed_probabilities(
        self,
        counts: ArrayOf[Any],
        totals: ArrayOf[Any],
        levels: Amount,
        configurations: float | Positions,
    ) -> Array:
        """Return (N + a) / (N· + r a) in cells of tables with r levels; 1 / r if both are 0."""
        added = self.pseudo_count_per_cell(levels, configurations)
        cells = np.add(counts, added, dtype=np.float64)
        total = np.add(totals, levels * added, dtype=np.float64)
        if np.all(total):
            return np.asarray(cells / total)
        empty = total == 0
        return np.where(empty, 1 / levels, cells) / np.where(empty, 1.0, total)


@record
@dataclass(frozen=True)
class Dirichlet(PseudoCounts):
    """``smooth`` in every cell: 0 gives maximum-likelihood estimates, 1 the Laplace correction."""

    bounds = field_bounds(smooth=COUNT)

    smooth: float

    def pseudo_count_per_cell(self, levels: Amount, configurations: float | Positions) -> Amount:
        return self.smooth + 0 * levels


@record
@dataclass(frozen=True)
class EquivalentSize(PseudoCounts):
    """An equivalent sample size ``ess`` per table, spread evenly over its cells (BDeu)."""

    bounds = field_bounds(ess=COUNT)

    ess: float

    def pseudo_count_per_cell(self, levels: Amount, configurations: float | Positions) -> Amount:
        # the configurations are those of all parents, including the class
        return cast("Amount", self.ess / (levels * configurations))


@record
@dataclass(frozen=True)
class MEstimate(PseudoCounts):
    """An equivalent sample size ``m`` per distribution of a table, spread over the levels."""

    bounds = field_bounds(m=COUNT)

    m: float

    def pseudo_count_per_cell(self, levels: Amount, configurations: float | Positions) -> Amount:
        return self.m / levels


@record
@dataclass(frozen=True)
class Given(PseudoCounts):
    """No pseudo-counts, because the counts themselves are the rows that given tables are worth."""

    is_positive = True  # as far as the tables are

    def pseudo_count_per_cell(self, levels: Amount, configurations: float | Positions) -> Amount:
        return 0 * levels


@dataclass(frozen=True, eq=False)
class Drawn(PseudoCounts):
    """Draws tables from their Dirichlet posteriors, in place of their means."""

    prior: PseudoCounts
    rng: np.random.Generator

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Draw a table; see `Prior`."""
        levels, *parent_cards = counts.shape[axis:]
        logs = self._draw_log_gammas(
            self.prior.counts_plus_prior(counts, levels, prod(parent_cards))
        )
        return normalize(np.exp(logs - logs.max(axis=axis, keepdims=True)), axis)

    def tables_on_last_axis(
        self,
        counts: ArrayOf[Any],
        variable: Positions,
        cards: Positions,
        configurations: int | Positions = 1,
    ) -> Array:
        """Draw the tables of several variables whose levels all occur."""
        starts = np.flatnonzero(np.diff(variable, prepend=-1))
        levels = cards[variable].astype(np.float64)
        logs = self._draw_log_gammas(self.prior.counts_plus_prior(counts, levels, configurations))
        masses: Array = np.exp(
            logs - np.repeat(np.maximum.reduceat(logs, starts, axis=-1), cards, axis=-1)
        )
        masses /= np.repeat(np.add.reduceat(masses, starts, axis=-1), cards, axis=-1)
        return masses

    def _draw_log_gammas(self, shape: Array) -> Array:
        """Return the logs of gamma variables, which do not underflow if the shape is small.

        If N is gamma(shape + 1) and E is exponential, ln N - E / shape is the
        log of a gamma(shape) variable.
        """
        with np.errstate(divide="ignore"):  # probabilities of 0 stay 0
            fall = self.rng.standard_exponential(shape.shape) / shape
        return np.log(self.rng.standard_gamma(shape + 1)) - fall


def check_positive_prior(prior: Prior, argument: str) -> None:
    if not getattr(prior, "is_positive", True):
        raise ValueError(f"{argument} requires smooth above 0, so that no probability is 0.")


def tables_from_counts(counts: Sequence[Array], prior: Prior) -> StackedArrays:
    """Return the tables of families from their counts; those of one shape are made together."""
    return map_by_shape(counts, lambda stack: prior(stack.astype(np.float64), axis=1))


PRIORS: dict[str, Callable[[Any], Prior]] = {
    "smooth": lambda amount: Dirichlet(_check_amount("smooth", amount)),
    "ess": lambda amount: EquivalentSize(_check_amount("ess", amount, MOST_ESS)),
    "m": lambda amount: MEstimate(_check_amount("m", amount)),
}
"""The priors by the argument of `lp` that requests them; back-off adds itself."""


def find_prior(**arguments: object) -> Prior:
    """Return the prior of the only argument in `PRIORS` that is not None, or backoff=False."""
    amounts = {name: value for name, value in arguments.items() if value is not None}
    if amounts.get("backoff") is False:
        del amounts["backoff"]
    if not amounts:
        raise TypeError(f"One of {', '.join(arguments)} must be given, for example smooth=1.")
    if len(amounts) > 1:
        raise ValueError(f"Only one of {', '.join(amounts)} can be given. Omit the others.")
    [(name, value)] = amounts.items()
    return PRIORS[name](value)


def _check_amount(name: str, amount: object, most: float = MOST_AMOUNT) -> float:
    """Return an amount of pseudo-counts as a Python number, or raise an error."""
    value: float = Real(0, most).check(name, amount)
    if 0 < value < LEAST_AMOUNT:
        raise ValueError(must_be(name, f"0 or at least {LEAST_AMOUNT:g}", value))
    return value


# Single networks: a graph over features and class and, once fitted, a table per family.


class Graph(CountedModel):
    """Base of models that are one graph: a family per variable and, fitted, a table for each."""

    bounds = field_bounds(cpts=PROBABILITY)

    families: tuple[Family, ...]
    levels: Levels | None
    cpts: tuple[Array, ...] | None
    learned: Mapping[str, Any]

    def __post_init__(self) -> None:
        self._check_graph()
        check_table_shapes(self.families, self.levels, self.cpts)
        super().__post_init__()

    def _check_graph(self) -> None:
        """Raise a ValueError unless the families are a graph of this type."""

    @property
    def members(self) -> tuple[Self, ...]:
        return (self,)

    @property
    def graph(self) -> Self:
        return self

    @property
    def network(self) -> Self:
        return self

    @property
    def fitted(self) -> bool:
        return self.cpts is not None

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The families as positions: variables 0, 1, 2 … in the order of ``families``."""
        return positions_of_families(self.families)

    @property
    def parents(self) -> dict[Hashable, Family]:
        """The parents of each variable, classes last."""
        return {family[0]: family[1:] for family in self.families}

    @cached_property
    def cards(self) -> tuple[int, ...]:
        return tuple([len(labels) for labels in self.levels or ()])

    @cached_property
    def is_augmented(self) -> bool:
        """Whether there is one class, which is a parent of every feature and has no parents."""
        *features, class_family = self.families
        return (
            self.one_class
            and len(class_family) == 1
            and all(f[-1] == class_family[0] for f in features)
        )

    @property
    def depth(self) -> int:
        """The largest number of feature parents of a variable, including the class."""
        depths = []
        for _, *parents in self.families:
            depths.append(len([name for name in parents if name not in self.targets]))
        return max(depths)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: Σ (levels − 1) · Π levels of the parents."""
        return count_parameters(self.scopes, list(map(len, self.known_levels)))

    def facts(self) -> dict[str, object]:
        """Return the size of the graph and of its tables, and the course of EM and searches."""
        facts: dict[str, object] = {"num. features": len(self.features)}
        arcs = sum(len(family) - 1 for family in self.families)
        if self.is_augmented:
            facts["arcs"] = f"{arcs - len(self.features) or 'none'} between features"
        else:
            facts["num. arcs"] = arcs
        is_parametric = all(density.is_parametric for density in self.densities.values())
        if self.cpts is not None and is_parametric:
            facts["free parameters"] = self.n_parameters
        facts["EM"] = self.learned.get("em")
        if "metric" in self.trace:
            scores: Sequence[float] = self.trace["scores"]
            n_steps = len(scores) - 1
            steps = f"{n_steps} step{'' if n_steps == 1 else 's'}"
            score = f"{self.trace['metric']} {abs(scores[-1]):.4g}"
            facts["search"] = f"{steps}, {score}, epsilon {self.trace['epsilon']:g}"
        return facts

    @property
    def _families_to_count(self) -> tuple[Family, ...]:
        return self.families

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return list(zip([family[0] for family in self.families], self.cpts or (), strict=False))

    def estimate(self, data: Countable, prior: Prior) -> Self:
        if is_nested_prior(prior):
            raise TypeError(
                f"backoff: {self.no_joint or 'is defined for networks with one class variable'}"
            )
        return super().estimate(data, prior)

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        return count_families(data, self.scopes)

    def tabulate(self, tally: Tally) -> Self:
        tables = tables_from_counts(tally.counts, tally.prior)
        return replace_unchecked(self, cpts=tables, learned={"counts": tally})


@dataclass(frozen=True, eq=False, repr=False)
class Network(Graph):
    """Base of networks with one class; see `BNC` for the attributes."""

    class_var: Hashable
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    trace: Mapping[str, Any] = field(default_factory=dict)
    learned: Mapping[str, Any] = field(default_factory=dict)
    densities: Mapping[Hashable, Density] = field(default_factory=dict)

    def _check_graph(self) -> None:
        check_families(self.class_var, tuple(self.families))
        check_numeric_leaves(self)

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        return tuple([family[0] for family in self.families[:-1]])

    def with_class_exchanged(self, variable: int) -> Self | None:
        if self.densities or self.no_joint or self.class_shift.any():
            return None
        fields = {"families": self.families, "levels": self.known_levels, "cpts": self.cpts or ()}
        exchanged = {}
        for name, values in fields.items():
            order = list(values)
            order[variable], order[-1] = order[-1], order[variable]
            exchanged[name] = tuple(order)
        return replace_unchecked(self, class_var=self.variables[variable], learned={}, **exchanged)

    def with_class_proportions(self, given: ClassProportions | None) -> Self:
        """Return the network with class proportions: if the class has no parents, in its table."""
        x = super().with_class_proportions(given)
        if given is None or self.cpts is None or len(self.families[-1]) > 1:
            return x
        return replace_unchecked(x, cpts=(*self.cpts[:-1], np.array(given.shares)))

    def learned_class_prior(self) -> Array:
        if self.cpts is not None and len(self.families[-1]) == 1:  # all other tables sum to 1
            return self.cpts[-1]
        return super().learned_class_prior()

    @cached_property
    def formula(self) -> Sum:
        """The log joint as a sum of one term per feature in order, then one of the class."""
        of_class, names, terms = len(self.features), self.variables, list[Table | Numeric]()
        logs: Array
        for scope, logs in zip(self.scopes, map_by_shape(self.cpts or (), log), strict=True):
            v, name = scope[0], names[scope[0]]
            if name in self.densities:
                terms.append(Numeric(v, scope[1:-1], self.densities[name]))
            elif of_class in scope:
                # P(v | u, class) has axes (v, u, class), P(class) only (class,)
                axis, owner = scope.index(of_class), -1 if v == of_class else v
                by_class = logs if axis == len(scope) - 1 else np.moveaxis(logs, axis, -1)
                terms.append(Table(owner, scope[:axis] + scope[axis + 1 :], by_class))
            else:  # the same for all classes: an axis of length 1
                terms.append(Table(v, scope, logs[..., None]))
        return Sum(tuple(terms), marginalizes=True)


@record
@dataclass(frozen=True, eq=False, repr=False)
class BNC(Network):
    """A Bayesian network classifier: its graph and, once fitted, its tables.

    Learners return it, and functions such as `lp`, `predict` and `params`
    accept it. It is immutable.

    Attributes
    ----------
    class_var : str
        The class.
    families : tuple of tuple
        ``(variable, feature parents…, class if it is a parent)`` of each
        feature, and at the end ``(class_var, parents…)``. In an augmented naive
        Bayes, which most learners return, the class is a parent of every
        feature and has no parents.
    levels : tuple of tuple, or None
        The labels of each variable in the order of ``families``; None without
        data.
    cpts : tuple of read-only arrays, or None
        The conditional probability tables in the order of ``families``; None
        before `lp`. Axis i of a table is member i of its family, so a table
        sums to 1 over its first axis.
    recipe : Recipe or None
        The steps that learned structure and parameters; `cv` repeats them.
    trace : mapping
        Results of the search for the structure, by name; see `search_steps`.
    learned : mapping
        Results of a method of `lp`, by name; see `feature_weights` and
        `em_objectives`.
    densities : mapping
        The densities of features that are numbers, by name. Numeric features
        have no levels, are not parents, and have empty tables.

    Examples
    --------
    >>> from bnclassify import BNC
    >>> BNC("class", (("a", "class"), ("b", "a"), ("class",)))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variable: class
      num. features:  2
      num. arcs:      2
    """

    def estimate(self, data: Countable, prior: Prior) -> Self:
        check_numeric_leaves(replace_unchecked(self, levels=data.levels))
        return CountedModel.estimate(self, data, prior)  # which accepts nested priors

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        scopes = [self.scopes[i] for i in self._positions_of_tables]
        tables = (
            prior.count(data, scopes) if is_nested_prior(prior) else count_families(data, scopes)
        )
        if not self.densities:
            return tuple(tables) if isinstance(tables, list) else tables
        counts = dict(zip(self._positions_of_tables, tables, strict=True))
        for name, density in self.densities.items():
            position = self.variables.index(name)
            counts[position] = density.count(data, self.scopes[position])
        return tuple([counts[i] for i in range(len(self.scopes))])

    @property
    def _positions_of_tables(self) -> list[int]:
        if not self.densities:
            return list(range(len(self.families)))
        return [i for i, name in enumerate(self.variables) if name not in self.densities]

    def tabulate(self, tally: Tally) -> Self:
        prior: Prior = tally.prior
        coded, learned = self._positions_of_tables, dict[str, Any]()
        counts = [tally.counts[i] for i in coded] if self.densities else tally.counts
        made: Sequence[Array]
        if is_nested_prior(prior):
            scopes, families = [self.scopes[i] for i in coded], [self.families[i] for i in coded]
            made, learned = prior.tabulate(counts, scopes, families)
        else:
            made = tables_from_counts(counts, prior)
        named = dict(zip(self.variables, tally.counts, strict=True))
        densities = {
            name: density.estimate(named[name], name) for name, density in self.densities.items()
        }
        learned["counts"] = tally
        if densities:
            tables = [np.empty([self.cards[v] for v in scope]) for scope in self.scopes]
            for i, table in zip(coded, made, strict=True):
                tables[i] = table
            made = tables  # empty for numbers
        cpts = made if isinstance(made, tuple) else tuple(made)
        return replace_unchecked(self, cpts=cpts, densities=densities, learned=learned)

    def maximize(self, data: Dataset, prior: Any, em: Any) -> Self:
        tables, run = em.maximize_tables(data, self.scopes, prior)
        return replace_unchecked(self, levels=data.levels, cpts=tuple(tables), learned={"em": run})

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        codes = np.full((len(self.scopes), n), -1, dtype=code_type(max(self.cards)))
        if self.class_shift.any():  # the table of the class is not that of the joint distribution
            return self.fill_in_codes(Rows(codes[:-1]), codes[-1], rng)
        parents, cpts = {scope[0]: scope[1:] for scope in self.scopes}, self.cpts or ()
        parents_first = chain.from_iterable(topological_layers(parents))
        for v in parents_first:
            if self.variables[v] not in self.densities:
                given = [codes[p] for p in parents[v]]
                # the inverse distribution function at uniform numbers
                levels = cpts[v].cumsum(axis=0).reshape(len(cpts[v]), -1)[:-1]
                ends = levels[:, flat_index(given, cpts[v].shape[1:])] if given else levels
                codes[v] = np.count_nonzero(rng.random(n) >= ends, axis=0)
        return codes

    def fill_in_codes(
        self, rows: Rows, labels: Codes, rng: np.random.Generator | None = None, *, burn_in: int = 0
    ) -> Codes:
        n = max(1, len(rows))
        completed = []
        # Terms of numbers become tables of all rows of a block.
        for block in slices(n, most=BLOCK_ROWS if self.densities else n):
            total = cast("Sum", self.score)
            terms, codes = network_terms_and_codes(total, rows.subset(block))
            completed.append(fill_in_by_elimination(terms, codes, labels[block], rng))
        return np.concatenate(completed, axis=1)

    def log_joint_left_out(
        self, data: Dataset, prior: Prior, rows: Positions, left_out: Any
    ) -> Array:
        return np.asarray(left_out.log_joint(self, data, prior, rows))


@record
@dataclass(frozen=True, eq=False, repr=False)
class DN(Network):
    """A dependency network classifier: the parents of each feature were selected separately.

    Its graph may have cycles, so the product of its tables is not a joint
    distribution. It predicts with P(c) Π P(x_i | parents, c), summed over the
    values of missing features and normalized over the classes. `sample`,
    `impute` and `query` draw from it by ordered Gibbs sampling. `chisq_dn`
    learns its structure, `lp` estimates its tables.

    Attributes
    ----------
    class_var : str
        The class, a parent of every feature.
    families : tuple of tuple
        ``(variable, feature parents…, class)`` of each feature, and at the end
        ``(class_var,)``.
    levels, cpts, recipe, trace, learned
        As in `BNC`.

    Examples
    --------
    >>> from bnclassify.models import DN
    >>> DN("class", (("a", "b", "class"), ("b", "a", "class"), ("class",)))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variable: class
      num. features:  2
      arcs:           2 between features
    """

    no_joint = (
        "a dependency network (DN) has no joint distribution, because its arcs may form cycles; "
        "use predict, cloglik and cv, or learn a network with a joint distribution, "
        "for example with ban"
    )
    is_sampled = True

    def _check_graph(self) -> None:
        check_families(self.class_var, tuple(self.families), acyclic=False)
        if not self.is_augmented:
            raise ValueError(
                f"families: in a dependency network the class {shown(self.class_var)} is a parent "
                "of every feature and has no parents"
            )

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        nothing = np.full((len(self.scopes), n), -1, dtype=code_type(max(self.cards)))
        return self.fill_in_codes(Rows(nothing[:-1]), nothing[-1], rng)

    def fill_in_codes(
        self,
        rows: Rows,
        labels: Codes,
        rng: np.random.Generator | None = None,
        *,
        burn_in: int = BURN_IN,
    ) -> Codes:
        if rng is None:
            return fill_in_by_elimination(*network_terms_and_codes(self.formula, rows), labels)
        drawn = np.where(labels < 0, draw_column_per_row(scores_at(self.score, rows), rng), labels)
        sampler = GibbsSampler.from_factors(self.formula.factors[:-1])
        return np.vstack([sampler.draw_missing(rows.codes, drawn, burn_in, rng), drawn])


def check_numeric_leaves(x: Network) -> None:
    """Raise a ValueError if a number, without levels, is a parent, or a density does not fit."""
    if not x.densities and all(x.levels or ()):
        return
    card = {} if x.levels is None else dict(zip(x.variables, map(len, x.levels), strict=True))
    numbers = {name for name, levels in card.items() if not levels}
    for variable, *parents in x.families if numbers else ():
        inner = [name for name in parents if name in numbers]
        if inner or (variable in numbers and parents[-1:] != [x.class_var]):
            raise ValueError(
                f"families: the number {shown(inner[0] if inner else variable)} must be a leaf "
                "that has the class as a parent. Discretize it, for example with bnc(..., "
                "discretize='mdlp')."
            )
    parents_of = {family[0]: family[1:] for family in x.families}
    for name, density in x.densities.items():
        shape = tuple([card.get(v) for v in parents_of.get(name, ())])
        if not shape or (x.cpts is not None and density.shape != shape):
            raise ValueError(f"numbers: the density of {shown(name)} must fit its family")


def warn_of_wide_tables(x: Model, rows: int) -> None:
    """Warn of a network with more free parameters than rows if a single table causes the excess."""
    if not isinstance(x, Network) or "concentrations" in x.learned:  # back-off smooths wide tables
        return
    largest = max([table.size for table in x.cpts or ()], default=0)
    if not x.densities and largest <= rows / 2:
        return
    sizes = [count_parameters([scope], x.cards) for scope in x.scopes]
    total, most = sum(sizes), max(sizes)
    # 100: with fewer rows, most networks have more parameters than rows
    if rows < 100 or total <= rows or most <= rows / 2:
        return
    widest = x.families[sizes.index(most)][0]
    cut = x.discretizer.numeric
    wide = [own for own in zip(x.features, x.cards, strict=False) if own[0] not in cut]
    remedy = "use a structure with fewer arcs, such as that of nb"
    if any(card > WIDE for _, card in wide):
        remedy = f"{how_to_merge(wide)}, or {remedy}"
    warn(
        f"the network has {total:,} free parameters, more than the {rows:,} rows; {most:,} are in "
        f"the table of {shown(widest)}. {remedy[0].upper()}{remedy[1:]}."
    )


# Ensembles: models whose joint distribution is the mean over their members.


ArcShares = dict[tuple[Hashable, Hashable], float]


class Average(CountedModel):
    """Base of models that average the joint distributions of their members."""

    is_average = True

    @property
    def log_weights(self) -> Array:
        """The logs of the weights of the members, which sum to 1; equal by default."""
        return log(np.full(len(self.members), 1 / len(self.members)))

    @cached_property
    def formula(self) -> Formula:
        return self.mixture_of_members()

    def mixture_of_members(self) -> Mixture:
        return Mixture(tuple([member.score for member in self.members]), self.log_weights)

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        if self.class_shift.any():
            nothing = np.full((len(self.variables), n), -1, dtype=np.intp)
            return self.fill_in_codes(Rows(nothing[:-1]), nothing[-1], rng)
        picks = rng.choice(len(self.members), size=n, p=np.exp(self.log_weights))
        return self._codes_drawn_by_member(picks, lambda member, rows: member.draw(len(rows), rng))

    def _codes_drawn_by_member(
        self, picks: Positions, draw: Callable[[Model, Positions], Codes]
    ) -> Codes:
        """Return (variables, rows) codes, each row drawn by the member that is picked for it."""
        codes = np.empty((len(self.variables), len(picks)), dtype=np.intp)
        for i, member in enumerate(self.members):
            rows = np.flatnonzero(picks == i)
            if len(rows):
                codes[:, rows] = draw(member, rows)
        return codes

    def fill_in_codes(
        self, rows: Rows, labels: Codes, rng: np.random.Generator | None = None, *, burn_in: int = 0
    ) -> Codes:
        if rng is None:
            cards = [len(known) for known in self.levels or ()]
            codes = np.vstack([rows.codes, labels])
            return fill_in_by_enumeration(
                lambda found: scores_at(self.score, Rows(found)), cards, codes
            )
        if self.class_shift.any():  # features given the class do not depend on its proportions
            drawn = draw_column_per_row(scores_at(self.score, rows), rng)
            labels = np.where(labels < 0, drawn, labels)
        # ln P(row, class | member), (rows, members, classes), of the class of each row if known
        logs = np.stack([scores_at(member.score, rows) for member in self.members], axis=1)
        possible: Mask = (labels[:, None] == np.arange(logs.shape[-1])) | (labels[:, None] < 0)
        of_members = log_sum_exp(np.where(possible[:, None], logs, -np.inf)) + self.log_weights
        picks = draw_column_per_row(of_members, rng)
        return self._codes_drawn_by_member(
            picks, lambda member, at: member.fill_in_codes(rows.subset(at), labels[at], rng)
        )

    def arc_shares(self) -> ArcShares:
        return mean_arc_shares(self.members, np.exp(self.log_weights).tolist())

    def log_joint_left_out(
        self, data: Dataset, prior: Any, rows: Positions, left_out: Any
    ) -> Array:
        logs = np.stack(
            [check_counted(m).log_joint_left_out(data, prior, rows, left_out) for m in self.members]
        )
        return log_sum_exp(logs + self.log_weights[:, None, None], axis=0)


def mean_arc_shares(members: Sequence[Model], weights: Sequence[float]) -> ArcShares:
    """Average the shares of arcs over members exactly."""
    mean: ArcShares = {}
    for member, weight in zip(members, weights, strict=True):
        for arc, share in member.arc_shares().items():
            mean[arc] = mean.get(arc, 0.0) + weight * share
    return {arc: round(share, 9) for arc, share in mean.items()}


@record
@forward_to_basis("class_var", "features", "levels", "fitted")
@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Average):
    """An average of models: P(row, class) is the weighted mean of members.

    Attributes
    ----------
    members : tuple of models
        Networks or ensembles over the same features in the same order, with the
        same levels.
    weights : tuple of float, or None
        A positive weight per member, which need not sum to 1; None for equal
        weights.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of learning, by name.

    Examples
    --------
    >>> from bnclassify import Ensemble, load_car, lp, nb, predict, tan_cl
    >>> car = load_car()
    >>> both = Ensemble((nb("class", car), tan_cl("class", car)))
    >>> predict(lp(both, car, smooth=1), car.tail(1), prob=True).round(2)
    class  unacc   acc  good  vgood
    1727    0.11  0.17  0.14   0.58
    """

    members: tuple[Model, ...]
    weights: tuple[float, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        members = tuple(self.members)
        object.__setattr__(self, "members", members)
        strange = [type(member).__name__ for member in members if not isinstance(member, Model)]
        if strange:
            raise TypeError(f"members must be models; got {listed(strange)}.")
        if not members:
            raise ValueError("members must contain at least one model; got none.")
        first = members[0]
        for i, member in enumerate(members):
            if member.preparation or member.numeric_features:
                raise ValueError(
                    f"members must be models of categories; member {i} accepts numbers or raw "
                    "data. Use discretize and merge_rare once, and learn the members from the "
                    "result."
                )
        for i, member in enumerate(members):
            for name in ("class_var", "features", "levels", "fitted"):
                if getattr(member, name) != getattr(first, name):
                    raise ValueError(
                        f"members must have the same {name}; member {i} differs from the first. "
                        "Learn all of them from the same data."
                    )
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
            positive = all(isfinite(weight) and weight > 0 for weight in self.weights)
            if len(self.weights) != len(self.members) or not positive:
                raise ValueError(
                    "weights must be a positive number for each of the members; got "
                    f"{listed(self.weights)}."
                )
        if self.recipe is None and all(member.recipe for member in self.members):
            recipes = tuple([member.recipe for member in self.members])
            columns = [recipe.columns for recipe in recipes if recipe is not None]
            features = None if None in columns else tuple(self.features)
            settings = {"recipes": recipes, "weights": self.weights}
            structure = Step("Ensemble", learn_members, settings, draws=True)
            again = Step("each member", refit_members, {"recipes": recipes}, draws=True)
            parameters = again if self.fitted else None
            seen = [recipe.seen for recipe in recipes if recipe is not None and recipe.seen]
            recipe = Recipe(
                self.class_var, structure, features, parameters, seen=seen[0] if seen else None
            )
            object.__setattr__(self, "recipe", recipe)
        super().__post_init__()

    @property
    def basis(self) -> Model:
        """The first member, which has the class, features and levels of all members."""
        return self.members[0]

    def facts(self) -> dict[str, object]:
        rule = self.basis.facts().get(MISSING_RULE)
        return super().facts() | ({} if rule is None else {MISSING_RULE: rule})

    @property
    def no_joint(self) -> str:
        """The reason why it has no joint distribution, if a member has none."""
        return next((member.no_joint for member in self.members if member.no_joint), "")

    @property
    def trained_on(self) -> TrainingRows | None:
        return super().trained_on or self.members[0].trained_on

    @cached_property
    def log_weights(self) -> Array:
        weights = np.asarray(self.weights or [1.0] * len(self.members))
        return log(weights / float(weights.sum()))

    def estimate(self, data: Countable, prior: Prior) -> Ensemble:
        members = [member.estimate(data, prior) for member in self.members]
        return replace(self, members=tuple(members))

    def map_counted_parts(self, function: Callable[..., Model], *others: Model) -> Ensemble:
        alike: Iterable[tuple[Model, ...]] = zip(*[x.members for x in (self, *others)], strict=True)
        members = [member.map_counted_parts(function, *rest) for member, *rest in alike]
        return replace(self, members=tuple(members))

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        return {
            **super().properties_to_agree,
            "number of members": len(self.members),
            "weights": self.weights,
        }

    def maximize(self, data: Dataset, prior: Any, em: Any) -> Ensemble:
        members = [check_counted(member).maximize(data, prior, em) for member in self.members]
        return replace(self, members=tuple(members))

    def with_class_exchanged(self, variable: int) -> Ensemble | None:
        members = [check_counted(member).with_class_exchanged(variable) for member in self.members]
        if None in members or self.class_shift.any():
            return None
        return replace_unchecked(self, members=tuple(members))


@record
def learn_members(
    class_var: Hashable,
    data: Dataset,
    *,
    recipes: tuple[Recipe, ...],
    weights: tuple[float, ...] | None,
    rng: np.random.Generator | None = None,
) -> Ensemble:
    return Ensemble(tuple([recipe.fit(data, rng) for recipe in recipes]), weights)


@record
def refit_members(
    x: Ensemble,
    data: Dataset,
    *,
    recipes: tuple[Recipe, ...],
    rng: np.random.Generator | None = None,
) -> Ensemble:
    """Learn the parameters of each member by its own recipe."""
    members = [
        recipe.refit(member, data, rng) for recipe, member in zip(recipes, x.members, strict=True)
    ]
    return Ensemble(tuple(members), x.weights)
