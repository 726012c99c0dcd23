"""The additional terms of refined models, fitted to training rows, and the weights of all terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..base.arrays import Array, Codes, Positions
from ..base.immutable import cached_property
from ..frames.dataset import Dataset
from ..frames.numeric import as_floats
from ..frames.schema import MISSING
from ..model.model import Model, renewed
from .cases import column_order
from .counts import without_class
from .design import Design
from .incomplete import Fading
from .log_linear import LogLinear
from .powers import PRECISION, Problem, log_likelihood, maximize, odds, weigh_blocks
from .refined import ADDITIVE, Refined
from .tables import LeftOut
from .terms import SCALES, NumberTerms, Power, fit_terms, normal_scores
from .weighted import Stacked

RIDGE = 1.0
"""The precision of the weights of logistic regression."""

_FREE = 1e-4  # precision of its intercept
_MOST_PARENTS = 8  # number of parents of a Gaussian term
_MOST_SHIFTS = 2**10  # levels with a shift; shifts of rarer levels would be shrunk to almost 0
_SMALL = 2**22  # number of values up to which a copy is faster than single operations
_RIDGES = {
    "tables": PRECISION,
    "depths": 10.0,
    "codings": 10.0,
    "gaussians": 30.0,
    "zscores": 30.0,
    "densities": 30.0,
    "slopes": 10.0,
    "shifts": 10.0,
    "steps": 10.0,
    "gaps": 10.0,
}
"""The initial precision of the weights of each term in the search by evidence."""


OF_REGRESSION = ("slopes", "shifts", "gaps")
"""The columns of the logistic regression that is added to the model."""

Shifts: TypeAlias = list[tuple[int, Positions]]
"""Features, each with the number of the shift of each of its levels, -1 for none and for missing values."""


class Block(NamedTuple):
    """Terms of one kind: (terms, classes − 1, rows) odds with a weight each, or columns, one per class."""

    name: str
    odds: Array | None = None
    columns: Design | None = None

    def weights(self, others: int) -> int:
        """Return the number of weights, given the number of classes less 1."""
        of_odds = 0 if self.odds is None else len(self.odds)
        return of_odds + (0 if self.columns is None else self.columns.shape[1] * others)


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """A model with the best weights, its objective and log-likelihood, and the precisions of the weights."""

    model: LogLinear
    objective: float
    log_likelihood: float
    ridges: Mapping[str, float] = field(default_factory=dict)


class HeldOutOdds(NamedTuple):
    """The odds by tables and terms at rows that are held out, (…, classes − 1, rows).

    ``by_depth`` are (depths, families, …), ``of_codings`` those in each discretization that is apart, of
    `Stacked.apart_families`, and ``of_numbers`` the odds of Gaussian terms on each scale, (numbers, …).
    """

    by_depth: Array
    of_codings: list[Array]
    of_numbers: list[Array]

    @classmethod
    def of_folds(cls, folds: Sequence[HeldOutOdds], rows: Sequence[Positions]) -> HeldOutOdds:
        """Return the odds of all rows from those of each fold."""
        order = np.argsort(np.concatenate(rows))
        by_depth, codings, numbers = zip(*folds, strict=True)

        def join(arrays: Sequence[Array]) -> Array:
            return np.ascontiguousarray(np.concatenate(arrays, axis=-1)[..., order])

        of_codings, of_numbers = [list(map(join, zip(*each, strict=True))) for each in (codings, numbers)]
        return cls(join(by_depth), of_codings, of_numbers)

    def times(self, kept: Array) -> HeldOutOdds:
        """Return the odds times a number per row."""
        by_depth, *parts = self
        return HeldOutOdds(by_depth * kept, *[[array * kept for array in part] for part in parts])


@dataclass(frozen=True, eq=False)
class HeldOutTerms:
    """Terms of training rows, and the odds by each of them at rows that are held out.

    ``counts`` are the weights of the rows, and ``represented`` is how many training rows they stand for. At
    incomplete rows, all terms count ``kept``, and ``offset`` are the odds that are added to them.
    """

    terms: Refinement
    depths: range
    rows: Positions
    counts: Array
    represented: int
    odds: HeldOutOdds
    fading: Fading
    kept: Array | None = None
    offset: Array | float = 0.0

    @classmethod
    def of(
        cls, terms: Refinement, depths: range, rows: Positions, counts: Array, n: int, odds: HeldOutOdds
    ) -> HeldOutTerms:
        """Return the terms of incomplete rows as they count in predictions; see `Fading`."""
        data, of_tables = terms.data, odds.by_depth[0]
        additive = bool(terms.asked) and {*terms.asked} <= {*ADDITIVE}
        fading = Fading.learn(data, of_tables, data.codes[-1, rows], counts, additive=additive)
        if not terms.gappy:
            return cls(terms, depths, rows, counts, n, odds, fading)
        *evidence, prior = of_tables
        kept, offset = fading.at(data.codes[:-1, rows], prior.T, np.sum(evidence, axis=0).T)
        return cls(terms, depths, rows, counts, n, odds.times(kept), fading, kept, offset.T)

    @property
    def classes(self) -> Codes:
        """The classes of the rows."""
        classes: Codes = self.terms.data.codes[-1, self.rows]
        return classes

    def up_to(self, depth: int) -> HeldOutTerms:
        """Return the terms with a maximum number of feature parents."""
        by_depth, codings, numbers = self.odds
        kept = slice(depth + 1)
        odds = HeldOutOdds(by_depth[kept], [array[kept] for array in codings], numbers)
        return replace(self, depths=self.depths[kept], odds=odds)

    def columns(self) -> list[Block]:
        """Return the columns at the rows."""
        blocks = []
        for name, columns in self.terms.columns.items():
            own = columns[self.rows]
            if self.kept is not None:
                gaps = self.fading.of_shifts(self.terms.data.codes[:-1, self.rows])
                own = own.times(gaps[:, 0] if name == "gaps" else self.kept)
            blocks.append(Block(name, columns=own))
        return blocks

    def regress(self) -> Refined:
        """Return the ridge logistic regression of the class on columns, without tables."""
        of_terms = [block for block in self.columns() if block.name in OF_REGRESSION]
        n_classes = self.terms.data.cards[-1]
        intercept = np.ones(len(self.rows)) if self.kept is None else self.kept
        columns = _designs_beside([*[c for _, _, c in of_terms if c is not None], Design(intercept[:, None])])
        none = np.empty((0, n_classes - 1, len(self.rows)))
        problem = Problem([none], self.classes, self.counts, columns, self.offset)
        ridges = np.repeat([RIDGE] * (columns.shape[1] - 1) + [_FREE], n_classes - 1)
        nothing = np.zeros(len(ridges))
        by_class = problem.by_class(maximize(problem, nothing, ridges, nothing)[0])
        of_columns = _weights_by_block(by_class, of_terms)
        found = self.terms.assemble(self.terms.stacked.raised(0.0), {}, of_columns, self.fading)
        return renewed(found, intercept=by_class[-1])

    def weigh(self, best: int, single: Array, ridges: Mapping[str, float]) -> WeightedFit:
        """Return the refined model with the best weights, around ``single`` ones of tables number ``best``.

        Without ``ridges``, the precisions of the weights by kind of term, they maximize the evidence.
        """
        odds, asked, stacked = self.odds, self.terms.asked, self.terms.stacked
        others = [i for i in range(len(odds.by_depth)) if i != best and "depths" in asked]
        scales = [terms.name for terms in self.terms.of_numbers if terms.gaussians]
        blocks = [
            Block("tables", odds.by_depth[best]),
            *[Block("depths", odds.by_depth[i, :-1]) for i in others],
            *[Block("codings", of_coding[best]) for of_coding in odds.of_codings if "codings" in asked],
            *[Block(name, of_scale) for name, of_scale in zip(scales, odds.of_numbers, strict=True)],
            *self.columns(),
        ]
        problem = self._problem(blocks)
        kinds = [name for name in _RIDGES if name in {block.name for block in blocks}]
        sizes = [block.weights(problem.others) for block in blocks]
        kind = np.repeat([kinds.index(block.name) for block in blocks], sizes)
        mean = np.concatenate([single, np.zeros(problem.size - len(single))])
        start = [ridges.get(name, _RIDGES[name]) for name in kinds]
        weights, total, precisions = weigh_blocks(problem, mean, kind, start, search=not ridges)
        found: dict[str, list[Array]] = {name: [] for name in ("depths", "codings")}
        for block, part in zip(blocks, np.split(weights, np.cumsum(sizes)[:-1]), strict=True):
            found.setdefault(block.name, []).append(part)
        [of_tables], depth = found["tables"], self.depths[best]
        powers: list[Power] = of_tables.tolist()
        if "depths" in asked:
            powers[:-1] = self._powers(dict(zip([best, *others], [of_tables, *found["depths"]], strict=True)))
            depth = len(odds.by_depth) - 1
        further = tuple(map(self._further, stacked.apart_families, found["codings"]))
        base = renewed(stacked, powers=tuple(powers), most_parents=depth, further=further)
        of_scales = {name: found[name][0] for name in scales}
        model = self.terms.assemble(
            base, of_scales, _weights_by_block(problem.by_class(weights), blocks), self.fading
        )
        likelihood = log_likelihood(total, self.classes, self.counts)
        objective = likelihood - 0.5 * float(precisions[kind] @ (weights - mean) ** 2)
        return WeightedFit(model, objective, likelihood, dict(zip(kinds, precisions.tolist(), strict=True)))

    def _problem(self, blocks: Sequence[Block]) -> Problem:
        """Return the problem of the weights of blocks, first those with one weight per term."""
        shared = [block.odds for block in blocks if block.odds is not None]
        joined = [np.concatenate(shared)] if sum(array.size for array in shared) <= _SMALL else shared
        columns = [block.columns for block in blocks if block.columns is not None]
        side = _designs_beside(columns) if columns else None
        return Problem(joined, self.classes, self.counts, side, self.offset)

    def _further(self, families: Positions, weights: Array) -> tuple[Power, ...]:
        """Return the powers of all families in a discretization in which some have a table."""
        powers = np.zeros(len(self.terms.stacked.powers))
        powers[families] = weights
        return tuple(powers.tolist())

    def _powers(self, by_number: Mapping[int, Array]) -> list[Power]:
        """Return the powers of the tables of each feature, from the powers per largest number of parents."""
        result: list[Power] = []
        structure = self.terms.stacked.structure
        for f, scope in enumerate(structure.scopes[:-1]):
            powers = np.zeros(min(len(without_class(scope, len(structure.features))), len(by_number)))
            for number, weights in by_number.items():
                powers[min(number, len(powers) - 1)] += weights[f]
            result.append(tuple(powers.tolist()))
        return result


def _designs_beside(columns: Sequence[Design]) -> Design:
    """Return columns side by side, in full if they are small."""
    small = sum(c.shape[0] * c.shape[1] for c in columns) <= _SMALL
    return Design.beside([Design(c.full()) if small else c for c in columns])


def _weights_by_block(by_class: Array, blocks: Sequence[Block]) -> dict[str, Array]:
    """Return the weights of the columns of each block that has some, (columns, classes)."""
    found, start = {}, 0
    for name, _, columns in blocks:
        if columns is not None:
            found[name], start = by_class[start : start + columns.shape[1]], start + columns.shape[1]
    return found


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
    def learn(cls, stacked: Stacked, data: Dataset, asked: Sequence[str]) -> Refinement:
        """Fit the terms to data, whose numeric columns have numbers."""
        names = [name for name in SCALES if name in asked]
        numeric = _discretized_features(stacked, data)
        numbers = numeric if names or "slopes" in asked else []
        parents: list[list[int]] = []
        values = np.array([as_floats(data.numbers[data.columns[f]]) for f in numbers]).reshape(-1, len(data))
        if len(values) and names and names != ["densities"]:
            order, parents = _gaussian_parents(values, data, numbers)
            numbers, values = [numbers[i] for i in order], values[order]
        weights = np.ones(len(data)) if data.weights is None else data.weights
        none, terms = np.empty((0, data.cards[-1])), []
        for name in (names or ["slopes"]) if numbers else []:
            scales = tuple([SCALES.get(name, normal_scores)(numbers, weights) for numbers in values])
            of_scale = NumberTerms(name, scales, (), np.empty(0), none)
            if name in names:
                scores = of_scale.scores(values)
                rows = LeftOut(data.codes[-1], weights)
                given = parents if name != "densities" else [[] for _ in numbers]
                gaussians = fit_terms(scores, np.isnan(values), given, rows, data.cards[-1])
                of_scale = replace(of_scale, gaussians=tuple(gaussians), powers=np.ones(len(numbers)))
            terms.append(of_scale)
        return cls(asked, stacked, data, frozenset(numeric), tuple(numbers), values, tuple(terms))

    @cached_property
    def columns(self) -> dict[str, Design]:
        """The columns with a weight for each class, (rows, columns), by term."""
        result: dict[str, Design] = {}
        if "slopes" in self.asked and self.numbers:
            result["slopes"] = Design(self.of_numbers[0].scores(self.values))
        if self.shifted:
            result["shifts"] = _indicators_of_shifts(self.data, self.shifted)
        if self.stepped:
            result["steps"] = _indicators_of_shifts(self.data, self.stepped)
        if self.gappy:
            result["gaps"] = Design((self.data.codes[list(self.gappy)] < 0).T.astype(np.float64))
        return result

    @cached_property
    def gappy(self) -> tuple[int, ...]:
        """The features with missing values, each of which has a shift."""
        missing = (self.data.codes[:-1] < 0).any(axis=1) & ("gaps" in self.asked)
        return tuple(np.flatnonzero(missing).tolist())

    @cached_property
    def stepped(self) -> Shifts:
        """The numeric features with a shift per interval of MDLP, which several levels share."""
        if "steps" not in self.asked or not self.stacked.apart:
            return []
        maps = self.stacked.coarsenings[-self.stacked.apart].maps
        chosen = [(i, places) for i, places in enumerate(maps) if i in self.numeric and places is not None]
        return [(i, places.astype(np.intp)) for i, places in chosen if places.max() > 0]

    @cached_property
    def shifted(self) -> Shifts:
        """The features with a shift per level, of the most frequent levels."""
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
        kept = [np.append(count > too_rare, False) for count in counts]
        return [(i, np.where(has, has.cumsum() - 1, -1)) for i, has in enumerate(kept) if has.any()]

    def held_out(self, rows: Positions, left_out: LeftOut, depths: Sequence[int]) -> HeldOutOdds:
        """Return the odds by tables with these numbers of parents, and by Gaussian terms, at rows."""
        by_depth, of_codings = self.stacked.left_out_odds(rows, left_out, depths)
        numbers = self.values[:, rows]
        of_scales = [terms for terms in self.of_numbers if terms.gaussians]
        of_numbers = [odds(t.log_densities(numbers, t.scores(numbers), left_out)) for t in of_scales]
        return HeldOutOdds(by_depth, of_codings, of_numbers)

    def assemble(
        self, base: Any, of_scales: Mapping[str, Array], by_class: Mapping[str, Array], fading: Fading
    ) -> Refined:
        """Return the model with the weights of Gaussian terms by scale, and of columns by term."""
        terms = [
            replace(t, powers=of_scales.get(t.name, np.zeros(len(t.gaussians)))) for t in self.of_numbers
        ]
        d = len(base.features)
        shifts: list[Array | None] = [None] * d
        gaps: list[Array | None] = [None] * d
        if "slopes" in by_class:
            terms[0] = replace(terms[0], slopes=by_class["slopes"])
        for name, chosen in {"shifts": self.shifted, "steps": self.stepped}.items():
            start = 0
            for i, places in chosen if name in by_class else ():
                of_places = by_class[name][start : start + places.max() + 1]
                table = np.where(places[:, None] >= 0, of_places[places], 0.0)
                shifts[i] = table if shifts[i] is None else shifts[i] + table
                start += len(of_places)
        for place, i in enumerate(self.gappy if "gaps" in by_class else ()):
            gaps[i] = by_class["gaps"][place]
        return Refined(
            base,
            self.numbers,
            tuple(terms),
            tuple(shifts),
            recipe=base.recipe,
            fading=fading,
            gaps=tuple(gaps),
        )


def _indicators_of_shifts(data: Dataset, chosen: Shifts) -> Design:
    """Return the indicators of the shifts of columns, (rows, shifts), as a sparse array."""
    from scipy import sparse  # slow to import

    sizes = [int(places.max()) + 1 for _, places in chosen]
    rows, columns = [], []
    for (i, places), start in zip(chosen, np.cumsum([0, *sizes]).tolist(), strict=False):
        found: Positions = places[data.codes[i]]
        rows.append(np.flatnonzero(found >= 0))
        columns.append(start + found[rows[-1]])
    at = np.concatenate(rows), np.concatenate(columns)
    return Design(sparse.csr_array((np.ones(len(at[0])), at), shape=(len(data), sum(sizes))))


def _discretized_features(x: Model, data: Dataset) -> list[int]:
    """Return the features whose numbers the model discretizes."""
    discretizer = x.discretizer
    cut = () if discretizer is None else discretizer.cuts
    return [i for i, name in enumerate(data.columns[:-1]) if name in cut and name in data.numbers]


def _gaussian_parents(
    values: Array, data: Dataset, numbers: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """Return an order of numbers, (numbers, rows), and for each the positions of its parents in this order.

    Numbers are in descending order of I(X;C), and parents are the earlier ones with the largest I(X;Y|C),
    both for normal distributions of the normal scores. Ties are broken by the contents.
    """
    weights = np.ones(len(data)) if data.weights is None else data.weights
    scores = np.array([normal_scores(numbers, weights)(numbers) for numbers in values])
    ranks = np.argsort(column_order(data))[numbers]
    by_contents = np.argsort(ranks)
    scores = scores[by_contents]
    within, between = np.zeros((len(scores), len(scores))), np.zeros(len(scores))
    for c in range(data.cards[-1]):
        share = np.where(data.codes[-1] == c, weights, 0.0)
        size = max(float(share.sum()), 1e-300)
        residuals: Array = scores - (scores @ share / size)[:, None]
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
    return by_contents[order].tolist(), parents
