"""Refined models: their additional terms, and the weights of these by leave-one-out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, RowsWithNumbers
from ..base.immutable import POWER, bounded, cached_property, record
from ..base.messages import listed
from ..frames.numeric import as_floats
from ..frames.schema import MISSING, Dataset
from ..model.formulas import Scale, Table
from ..model.model import Model, renewed
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from .cases import name_ranks
from .counts import without_class
from .incomplete import Fading
from .powers import PRECISION, Terms, beside, in_full, log_likelihood, maximize, odds, weigh_blocks
from .stacked import Coarsening
from .tables import LeftOut, PrefixTable
from .terms import SCALES, NumberTerms, Power, fit_terms, normal_scores
from .weighted import LogLinear, Stacked

TERMS = ("gaussians", "zscores", "slopes", "shifts", "levels")
"""The terms that can be added, in the order of `feature_weights`."""


@record
@dataclass(frozen=True, eq=False, repr=False)
class Refined(LogLinear):
    """A model with weights and additional terms of single features.

        ln P(c | x) = const + w₀ ln P(c) + Σ_f T_f(x, c)
        T_f = Σ_l a_fl ln P_l(x_f | c, first l parents) + Σ_s g_fs ln p_s(x_f | c) + β_fc z_f + γ_fc(x_f)

    The constant of each class is ``intercept``, or 0. ``base`` has the tables. ``numbers`` are the numeric
    features, ``of_numbers`` their terms on each scale, and ``shifts`` the γ of each feature, (levels + 1,
    classes), the last row of zeros.
    """

    bounds = bounded(shifts=POWER, intercept=POWER)

    base: Any
    numbers: tuple[int, ...] = ()
    of_numbers: tuple[NumberTerms, ...] = ()
    shifts: tuple[Array | None, ...] = ()
    intercept: Array | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        n, cards = len(self.features), [len(labels) for labels in self.known_levels]
        fits = all(0 <= i < n for i in self.numbers) and len(self.shifts) in (0, n)
        fits &= all(len(terms.scales) == len(self.numbers) for terms in self.of_numbers)
        of_classes = [terms.slopes[:1].T for terms in self.of_numbers]
        of_classes += [term.shapes for terms in self.of_numbers for term in terms.gaussians]
        of_classes += [] if self.intercept is None else [self.intercept]
        fits &= all(len(values) == cards[-1] for values in of_classes)
        shapes = zip(self.shifts, cards[:-1], strict=False)
        if not fits or any(s is not None and s.shape != (card + 1, cards[-1]) for s, card in shapes):
            raise ValueError("numbers, of_numbers and shifts must be terms of the features of base.")

    @property
    def of_tables(self) -> LogLinear:
        """The model of the tables alone."""
        tables: LogLinear = self.base
        return tables

    @property
    def structure(self) -> BNC:
        """The network without tables."""
        return self.of_tables.structure

    @property
    def coarsenings(self) -> Sequence[Coarsening]:
        """The discretizations that are averaged."""
        return self.of_tables.coarsenings

    @property
    def tables(self) -> Sequence[Sequence[PrefixTable]]:
        """The table of each family in each discretization."""
        return self.of_tables.tables

    @property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization."""
        return self.of_tables.members

    def _raised(self, power: float) -> Refined:
        """Return the model with the power multiplied into its weights."""
        terms = [replace(t, powers=power * t.powers, slopes=power * t.slopes) for t in self.of_numbers]
        shifts = tuple([None if table is None else power * table for table in self.shifts])
        intercept = None if self.intercept is None else power * self.intercept
        base = self.base._raised(power)
        return renewed(self, base=base, of_numbers=tuple(terms), shifts=shifts, intercept=intercept)

    def plus(self, other: Refined) -> Refined:
        """Return the sum of this model and of logistic regression with the same terms."""
        terms = list(self.of_numbers)
        if terms:
            added = other.of_numbers[0].slopes
            terms[0] = replace(terms[0], slopes=terms[0].slopes + added if len(terms[0].slopes) else added)
        pairs = zip(self.shifts, other.shifts, strict=True)
        shifts = tuple([b if a is None or b is None else a + b for a, b in pairs])
        return renewed(self, of_numbers=tuple(terms), shifts=shifts, intercept=other.intercept)

    def split(self) -> Refined:
        """Return the same model for long use, with the tables of each coding apart."""
        base = self.base.split()
        return renewed(self, base=base, learned=base.learned)

    @property
    def network(self) -> Any:
        """The network with its tables, if there is a single one."""
        return self.base.network

    @property
    def fitted(self) -> bool:
        """True, because it always has tables."""
        return True

    def _with_numbers(self, codes: Codes, numbers: Mapping[Hashable, Any]) -> Any:
        """Return rows with the numbers of the model, NaN if missing."""
        if not self.numbers:
            return codes
        names = {i: self.features[i] for i in self.numbers}
        absent = [name for i, name in names.items() if name not in numbers and (codes[i] >= 0).any()]
        if absent:
            raise ValueError(
                f"newdata must contain numbers in {listed(absent)}; got categories. Pass the data before "
                "they are discretized."
            )
        nothing = np.full(codes.shape[1], np.nan)
        return RowsWithNumbers(
            codes, np.array([as_floats(numbers.get(name, nothing)) for name in names.values()])
        )

    def _logs(self, codes: Codes) -> Iterator[tuple[int, Array]]:
        yield from self.base._logs(codes)
        yield from self._further(codes)

    def _further(self, codes: Codes) -> Iterator[tuple[int, Array]]:
        for i, shifts in enumerate(self.shifts):
            if shifts is not None:
                yield i, shifts.take(codes[i], axis=0, mode="wrap")  # the entry of -1
        n = len(self.features)
        if self.intercept is not None:
            yield n, self.intercept[None]
        if isinstance(codes, RowsWithNumbers):
            for terms in self.of_numbers:
                for number, logs in terms.logs(codes.numbers):
                    yield self.numbers[number], logs

    def _scopes(self) -> Iterator[tuple[int, ...]]:
        yield from ((i,) for i, shifts in enumerate(self.shifts) if shifts is not None)
        yield from () if self.intercept is None else ((),)
        for terms in self.of_numbers:
            places = [tuple(sorted({i, *terms.gaussians[i].parents})) for i in range(len(terms.gaussians))]
            places += [(i,) for i in range(len(terms.slopes))]
            yield from (tuple(sorted(self.numbers[i] for i in scope)) for scope in places)

    def _marginal_tables(self) -> tuple[Array, ...]:
        tables: tuple[Array, ...] = self.base._marginal_tables()
        return tables

    def _described(self) -> tuple[tuple[Any, ...], bool, tuple[Scale, ...]]:
        terms, marginalizes, _ = self.base._described()
        shifts = [Table(i, (i,), table) for i, table in enumerate(self.shifts) if table is not None]
        scales: list[Scale] = []
        for of_numbers in self.of_numbers:
            terms += of_numbers.described(self.numbers, len(scales))
            pairs = zip(self.numbers, of_numbers.scales, strict=True)
            scales += [Scale(i, scale.knots, scale.scores) for i, scale in pairs]
        constant = () if self.intercept is None else (Table(-1, (), self.intercept),)
        return (*terms, *shifts, *constant), marginalizes, tuple(scales)

    def _weights(self) -> Any:
        """Return a frame of weights, one row for the class and one per feature, and one column per term."""
        *of_features, of_class = self.base.powers
        names = [self.class_var, *self.features]
        depth = max((len(power) for power in of_features if isinstance(power, tuple)), default=1)
        columns: dict[str, Array] = {}
        if depth == 1:
            columns["tables"] = np.array([of_class, *map(np.sum, of_features)])
        else:
            powers = np.full((len(names), depth), np.nan)
            for row, power in zip(powers, [(of_class,), *of_features], strict=True):
                row[: len(power)] = power
            columns |= {f"level {i}": powers[:, i] for i in range(depth)}
        of_slopes, of_shifts = np.full((2, len(names)), np.nan)
        at = np.array(self.numbers, dtype=np.intp) + 1
        for terms in self.of_numbers:
            if len(terms.powers):
                columns[terms.name] = np.full(len(names), np.nan)
                columns[terms.name][at] = terms.powers
            if len(terms.slopes):
                of_slopes[at] = np.sqrt(np.square(terms.slopes).mean(axis=1))
        for i, shifts in enumerate(self.shifts):
            if shifts is not None:
                of_shifts[i + 1] = np.sqrt(np.square(shifts[:-1]).mean())
        for name, values in {"slopes": of_slopes, "shifts": of_shifts}.items():
            if not np.isnan(values).all():
                columns[name] = values
        return pd.DataFrame(columns, pd.Index(names, tupleize_cols=False))

    def _curve(self, feature: Hashable) -> Array | None:
        i = self.features.index(feature)
        if i not in self.numbers:
            return None
        low, *_, high = self.of_numbers[0].scales[self.numbers.index(i)].knots.tolist() * 2
        cuts = np.array(self.preparation.discretizer.cuts[feature])  # type: ignore[union-attr]
        points = np.concatenate([np.linspace(low, high, 400), cuts, np.nextafter(cuts, np.inf)])
        return np.unique(points.clip(low, high))

    def _estimate(self, data: Any, prior: Any) -> Any:
        """Return the structure with tables, without powers and additional terms."""
        return renewed(self.base, recipe=self.recipe)._estimate(data, prior)

    def _stacked(self, data: Dataset, prior: Any) -> Any:
        """Return the structure with the tables of all prefixes of the families in each discretization."""
        return renewed(self.base, recipe=self.recipe)._stacked(data, prior)


RIDGE = 1.0
"""The precision of the weights of logistic regression."""

_FREE = 1e-4  # precision of its intercept
_MOST_PARENTS = 8  # number of parents of a Gaussian term
_MOST_SHIFTS = 2**10  # levels with a shift; shifts of rarer levels would be shrunk to almost 0
_SMALL = 2**22  # number of values up to which a copy is faster than single operations
_RIDGES = {
    "tables": PRECISION,
    "levels": 10.0,
    "gaussians": 30.0,
    "zscores": 30.0,
    "slopes": 10.0,
    "shifts": 10.0,
}
"""The initial precision of the weights of each term in the search by evidence."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A model with the best weights, its objective and log-likelihood, odds of rows and precisions."""

    model: Any
    objective: float
    log_likelihood: float
    total: Array
    ridges: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LeftOutTerms:
    """Tables and terms of training rows, and the odds by each table at rows that are held out.

    ``by_depth`` are (depths, families, classes − 1, rows), and ``of_numbers`` those of Gaussian terms on each
    scale. The rows count ``counts`` and represent ``represented`` rows.
    """

    data: Dataset
    stacked: Stacked
    terms: Refinement
    depths: range
    rows: NDArray[np.intp]
    counts: Array
    left_out: LeftOut
    represented: int
    by_depth: Array
    of_numbers: list[Array]

    def up_to(self, depth: int) -> LeftOutTerms:
        """Return the same with a maximum number of parents."""
        return replace(self, depths=self.depths[: depth + 1], by_depth=self.by_depth[: depth + 1])

    @property
    def all_weights(self) -> Array:
        """The weights of all rows."""
        return np.ones(len(self.data)) if self.data.weights is None else self.data.weights


@dataclass(frozen=True, eq=False)
class Refinement:
    """The terms that were requested for the features of a network, fitted to training rows.

    ``numeric`` are the numeric features, and ``numbers`` those with a term, for Gaussian terms in descending
    order of their information on the class, with ``values`` (numbers, rows). ``of_numbers`` are their terms
    on each scale, without weights.
    """

    asked: Sequence[str]
    stacked: Stacked
    data: Dataset
    numeric: frozenset[int]
    numbers: tuple[int, ...]
    values: Array
    of_numbers: tuple[NumberTerms, ...]

    @classmethod
    def learn(cls, x: Model, stacked: Stacked, data: Dataset, asked: Sequence[str]) -> Refinement:
        """Fit the terms to data, whose numeric columns have numbers."""
        names = [name for name in SCALES if name in asked]
        numeric = _numbers(x, data)
        numbers = numeric if names or "slopes" in asked else []
        parents: list[list[int]] = []
        values = np.array([as_floats(data.numbers[data.columns[f]]) for f in numbers]).reshape(-1, len(data))
        if len(values) and names:
            order, parents = _gaussian_parents(values, data, [data.columns[f] for f in numbers])
            numbers, values = [numbers[i] for i in order], values[order]
        weights = np.ones(len(data)) if data.weights is None else data.weights
        none, terms = np.empty((0, data.cards[-1])), []
        for name in (names or ["slopes"]) if numbers else []:
            scales = tuple([SCALES.get(name, normal_scores)(numbers, weights) for numbers in values])
            of_scale = NumberTerms(name, scales, (), np.empty(0), none)
            if name in names:
                scores = of_scale.scores(values)
                rows = LeftOut(data.codes[-1], weights)
                gaussians = fit_terms(scores, np.isnan(values), parents, rows, data.cards[-1])
                of_scale = replace(of_scale, gaussians=tuple(gaussians), powers=np.ones(len(numbers)))
            terms.append(of_scale)
        return cls(asked, stacked, data, frozenset(numeric), tuple(numbers), values, tuple(terms))

    @cached_property
    def columns(self) -> dict[str, Any]:
        """The columns with a weight for each class, (rows, columns), by term."""
        result: dict[str, Any] = {}
        if "slopes" in self.asked and self.numbers:
            result["slopes"] = self.of_numbers[0].scores(self.values)
        if self.shifted:
            from scipy import sparse  # slow to import

            n, sizes = len(self.data), [len(levels) for _, levels in self.shifted]
            rows, places = [], []
            for (i, levels), start in zip(self.shifted, np.cumsum([0, *sizes]).tolist(), strict=False):
                place = np.full(self.data.cards[i] + 1, -1)
                place[levels] = start + np.arange(len(levels))
                found = place[self.data.codes[i]]
                rows.append(np.flatnonzero(found >= 0))
                places.append(found[rows[-1]])
            at = np.concatenate(rows), np.concatenate(places)
            result["shifts"] = sparse.csr_array((np.ones(len(at[0])), at), shape=(n, sum(sizes)))
        return result

    @cached_property
    def shifted(self) -> list[tuple[int, NDArray[np.intp]]]:
        """The features with shifts, each with its levels that have one, the most frequent ones."""
        data, numeric = self.data, self.numeric
        if "shifts" not in self.asked:
            return []
        weights = np.ones(len(data)) if data.weights is None else data.weights
        counts = []
        for i, labels in enumerate(data.levels[:-1]):
            count = np.bincount(data.codes[i].astype(np.intp) + 1, weights, data.cards[i] + 1)[1:]
            if i in numeric:  # only "(missing)"
                count[: len(labels) - (labels[-1:] == (MISSING,))] = 0
            counts.append(count)
        too_rare = np.sort(np.concatenate([[0.0], *counts]))[:-_MOST_SHIFTS][-1:].max(initial=0)
        shifted = [(i, np.flatnonzero(count > too_rare)) for i, count in enumerate(counts)]
        return [(i, levels) for i, levels in shifted if len(levels)]

    def regress(self, weights: Array) -> Refined:
        """Return the ridge logistic regression of the class on the columns, without tables."""
        of_terms, n_classes = self.columns.values(), self.data.cards[-1]
        columns = beside([*of_terms, np.ones((len(self.data), 1))])
        if columns.shape[0] * columns.shape[1] <= _SMALL:
            columns = in_full(columns)
        none = np.empty((0, n_classes - 1, len(self.data)))
        problem = Terms([none], self.data.codes[-1], weights, columns)
        ridges = np.repeat([RIDGE] * (columns.shape[1] - 1) + [_FREE], n_classes - 1)
        nothing = np.zeros(len(ridges))
        found, *_ = maximize(problem, nothing, ridges, nothing)
        *by_class, intercept = problem.by_class(found)
        base = self.stacked._raised(0.0)
        return renewed(
            self._assemble(base, (), np.array(by_class).reshape(-1, n_classes)), intercept=intercept
        )

    def weigh(self, held: LeftOutTerms, best: int, single: Array, ridges: Mapping[str, float]) -> Fit:
        """Return the refined model with the best weights, around ``single`` ones of tables number ``best``.

        Without ``ridges``, the precisions of the weights by kind of term, they maximize the evidence.
        """
        by_depth, classes, counts = held.by_depth, held.left_out.classes, held.counts
        others = [i for i in range(len(by_depth)) if i != best and "levels" in self.asked]
        of_scales = [terms for terms in self.of_numbers if terms.gaussians]
        chosen = self.columns if self._has_enough_rows(counts) else {}
        names = ["tables", *["levels"] * len(others), *[terms.name for terms in of_scales], *chosen]
        shared = [by_depth[best], *[by_depth[i, :-1] for i in others]]
        shared += held.of_numbers
        columns = [columns[held.rows] for columns in chosen.values()]
        if sum(c.shape[0] * c.shape[1] for c in columns) <= _SMALL:
            columns = list(map(in_full, columns))
        sizes = [*map(len, shared), *[c.shape[1] * shared[0].shape[1] for c in columns]]
        joined = [np.concatenate(shared)] if sum(array.size for array in shared) <= _SMALL else shared
        problem = Terms(joined, classes, counts, beside(columns) if columns else None)
        kinds = [name for name in _RIDGES if name in names]
        blocks = np.repeat([kinds.index(name) for name in names], sizes)
        mean = np.concatenate([single, np.zeros(problem.size - len(single))])
        start = [ridges.get(name, _RIDGES[name]) for name in kinds]
        weights, total, precisions = weigh_blocks(problem, mean, blocks, start, search=not ridges)
        of_tables, *parts = np.split(weights, np.cumsum(sizes)[: len(shared)])[:-1]
        powers: list[Power] = of_tables.tolist()
        if "levels" in self.asked:
            by_number = dict(zip([best, *others], [of_tables, *parts], strict=False))
            powers = [*self._powers(by_number), powers[-1]]
        most = len(by_depth) - 1 if "levels" in self.asked else held.depths[best]
        base = renewed(self.stacked, powers=tuple(powers), most_parents=most)
        by_class = problem.by_class(weights) if columns else np.empty((0, 0))
        model = self._assemble(base, parts[len(others) :], by_class)
        likelihood = log_likelihood(total, classes, counts)
        objective = likelihood - 0.5 * float(precisions[blocks] @ (weights - mean) ** 2)
        found = dict(zip(kinds, precisions.tolist(), strict=True))
        return Fit(model, objective, likelihood, total, found)

    def _has_enough_rows(self, counts: Array) -> bool:
        """Whether there are more rows than weights of columns, which regression alone estimates if not."""
        weights = sum(columns.shape[1] for columns in self.columns.values()) * (self.data.cards[-1] - 1)
        return bool(weights < counts.sum())

    def left_out(self, rows: NDArray[np.intp], left_out: LeftOut) -> list[Array]:
        """Return the odds by the Gaussian terms of each scale, (numbers, classes − 1, rows), at rows."""
        numbers = self.values[:, rows]
        of_scales = [terms for terms in self.of_numbers if terms.gaussians]
        return [odds(t.log_densities(numbers, t.scores(numbers), left_out)) for t in of_scales]

    def _powers(self, by_number: Mapping[int, Array]) -> list[Power]:
        """Return the powers of the tables of each feature, from the powers per largest number of parents."""
        result: list[Power] = []
        class_number = len(self.data.columns) - 1
        for f, scope in enumerate(self.stacked.structure.scopes[:-1]):
            powers = np.zeros(min(len(without_class(scope, class_number)), len(by_number)))
            for number, weights in by_number.items():
                powers[min(number, len(powers) - 1)] += weights[f]
            result.append(tuple(powers.tolist()))
        return result

    def _assemble(self, base: Any, of_scales: Sequence[Array], by_class: Array) -> Refined:
        """Return the model with these weights of Gaussian terms and of columns."""
        weights = iter(of_scales)
        terms = [
            replace(t, powers=next(weights))
            if t.gaussians and of_scales
            else replace(t, gaussians=(), powers=np.empty(0))
            for t in self.of_numbers
        ]
        shifts: list[Array | None] = [None] * len(base.features)
        start = 0
        if not by_class.size:
            return Refined(base, self.numbers, tuple(terms), (None,) * len(base.features), recipe=base.recipe)
        if "slopes" in self.columns:
            start = len(self.numbers)
            terms[0] = replace(terms[0], slopes=by_class[:start])
        for i, levels in self.shifted:
            table = np.zeros((self.data.cards[i] + 1, self.data.cards[-1]))
            table[levels] = by_class[start : start + len(levels)]
            start, shifts[i] = start + len(levels), table
        return Refined(base, self.numbers, tuple(terms), tuple(shifts), recipe=base.recipe)


def _numbers(x: Model, data: Dataset) -> list[int]:
    """Return the features whose numbers the model discretizes."""
    discretizer = x.discretizer
    cut = () if discretizer is None else discretizer.cuts
    return [i for i, name in enumerate(data.columns[:-1]) if name in cut and name in data.numbers]


def _gaussian_parents(
    values: Array, data: Dataset, names: Sequence[object]
) -> tuple[list[int], list[list[int]]]:
    """Return an order of numbers, (numbers, rows), and for each the positions of its parents in this order.

    Numbers are in descending order of I(X;C), and parents are the earlier ones with the largest I(X;Y|C),
    both for normal distributions of the normal scores. Ties go to the first name.
    """
    weights = np.ones(len(data)) if data.weights is None else data.weights
    scores = np.array([normal_scores(numbers, weights)(numbers) for numbers in values])
    by_name = np.argsort(name_ranks(names))
    scores = scores[by_name]
    within, between = np.zeros((len(scores), len(scores))), np.zeros(len(scores))
    for c in range(data.cards[-1]):
        share = np.where(data.codes[-1] == c, weights, 0.0)
        size = max(share.sum(), 1e-300)
        residuals = scores - (scores @ share / size)[:, None]
        own = (residuals * share) @ residuals.T
        within += own
        between += size * np.log(np.maximum(np.diag(own) / size, 1e-9))
    deviations = np.sqrt(np.maximum(np.diag(within), 1e-300))
    correlations = np.abs(within / deviations / deviations[:, None]).round(9)
    order = np.argsort((between / weights.sum()).round(9), kind="stable")
    parents = []
    for place, number in enumerate(order.tolist()):
        earlier = np.sort(order[:place])
        best = earlier[np.argsort(-correlations[number, earlier], kind="stable")][:_MOST_PARENTS]
        parents.append(np.argsort(order)[best].tolist())
    return by_name[order].tolist(), parents
