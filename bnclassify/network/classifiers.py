"""Single networks: a graph over features and class and, once fitted, a table per family."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self, cast

import numpy as np

from ..counts import count_families, flat_index
from ..dataset import Countable, Dataset, Levels
from ..elimination import (
    BURN_IN,
    Density,
    GibbsSampler,
    draw_column_per_row,
    fill_in_by_elimination,
)
from ..model.class_prior import ClassProportions
from ..model.counted import CountedModel
from ..model.model import Model, replace_unchecked
from ..model.recipes import Recipe, Tally
from ..scores import Numeric, Rows, Sum, Table, network_terms_and_codes, scores_at
from ..tools.arrays import (
    BLOCK_ROWS,
    Array,
    Codes,
    Positions,
    code_type,
    log,
    map_by_shape,
    slices,
)
from ..tools.graphs import topological_layers
from ..tools.immutable import PROBABILITY, cached_property, field_bounds, record
from ..tools.messages import WIDE, how_to_merge, shown, warn
from .families import (
    Family,
    Scope,
    check_families,
    check_table_shapes,
    count_parameters,
    positions_of_families,
)
from .priors import Prior, is_nested_prior, tables_from_counts


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
        """The numbers of levels of the variables."""
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
                codes[v] = _draw_levels_by_inverse_cdf(
                    cpts[v], [codes[p] for p in parents[v]], rng.random(n)
                )
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


def _draw_levels_by_inverse_cdf(table: Array, parents: list[Codes], uniform: Array) -> Codes:
    """Evaluate a variable's inverse distribution function, given parents, at uniform numbers."""
    levels = table.cumsum(axis=0).reshape(len(table), -1)[:-1]
    thresholds = levels if not parents else levels[:, flat_index(parents, table.shape[1:])]
    return np.asarray(np.count_nonzero(uniform >= thresholds, axis=0))


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
    cut = {} if x.discretizer is None else x.discretizer.numeric
    wide = [
        (name, card) for name, card in zip(x.features, x.cards, strict=False) if name not in cut
    ]
    remedy = "use a structure with fewer arcs, such as that of nb"
    if any(card > WIDE for _, card in wide):
        remedy = f"{how_to_merge(wide)}, or {remedy}"
    warn(
        f"the network has {total:,} free parameters, more than the {rows:,} rows; {most:,} are in "
        f"the table of {shown(widest)}. {remedy[0].upper()}{remedy[1:]}."
    )
