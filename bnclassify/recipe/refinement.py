"""The additional terms of refined models, fitted to training rows, and the weights of all terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Array, Positions
from ..base.immutable import cached_property
from ..frames.dataset import Dataset
from ..frames.numeric import as_floats
from ..frames.schema import MISSING
from ..model.model import Model, renewed
from .cases import column_order
from .counts import without_class
from .incomplete import Fading
from .powers import PRECISION, Terms, beside, in_full, log_likelihood, maximize, odds, weigh_blocks
from .refined import Refined
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
    "gaps": 10.0,
}
"""The initial precision of the weights of each term in the search by evidence."""


class Block(NamedTuple):
    """Terms of one kind: (terms, classes − 1, rows) odds with a weight each, or columns, one per class."""

    name: str
    odds: Array | None = None
    columns: Any = None


@dataclass(frozen=True, eq=False)
class Fit:
    """A model with the best weights, its objective and log-likelihood, and the precisions of the weights."""

    model: Any
    objective: float
    log_likelihood: float
    ridges: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class HeldOutTerms:
    """Tables and terms of training rows, and the odds by each table at rows that are held out.

    ``by_depth`` are (depths, families, classes − 1, rows), ``of_codings`` the families and their odds,
    (depths, families, classes − 1, rows), in each discretization that is apart, and ``of_numbers`` the odds
    of Gaussian terms on each scale. ``counts`` are the weights of the rows, and ``represented`` is how many
    training rows they stand for. At incomplete rows, all terms count ``kept``, and ``offset`` are the odds of
    what is added to them.
    """

    data: Dataset
    stacked: Stacked
    terms: Refinement
    depths: range
    rows: Positions
    counts: Array
    left_out: LeftOut
    represented: int
    by_depth: Array
    of_codings: Sequence[tuple[Positions, Array]]
    of_numbers: list[Array]
    fading: Fading
    kept: Array | None = None
    offset: Array | float = 0.0

    def up_to(self, depth: int) -> HeldOutTerms:
        """Return the same with a maximum number of parents."""
        kept = slice(depth + 1)
        codings = [(families, by_depth[kept]) for families, by_depth in self.of_codings]
        return replace(self, depths=self.depths[kept], by_depth=self.by_depth[kept], of_codings=codings)

    def faded(self) -> HeldOutTerms:
        """Return the terms of incomplete rows as they count in predictions; see `Fading`."""
        features = self.data.codes[:-1, self.rows]
        if not self.terms.gappy:
            return self
        *evidence, prior = self.by_depth[0]
        evidence = np.sum(evidence, axis=0)
        kept, offset = self.fading.at(features, prior.T, evidence.T)
        arrays = [self.by_depth, *[by_depth for _, by_depth in self.of_codings], *self.of_numbers]
        by_depth, *others = [array * kept for array in arrays]
        n = len(self.of_codings)
        codings = [(families, odds) for (families, _), odds in zip(self.of_codings, others[:n], strict=True)]
        return replace(
            self, by_depth=by_depth, of_codings=codings, of_numbers=others[n:], kept=kept, offset=offset.T
        )

    def columns(self, names: Sequence[str]) -> list[Block]:
        """Return the columns at the rows."""
        blocks = []
        for name, columns in self.terms.columns.items():
            if name in names:
                own = columns[self.rows]
                if self.kept is not None:
                    gaps = self.fading.of_shifts(self.data.codes[:-1, self.rows])
                    by = gaps if name == "gaps" else self.kept[:, None]
                    own = own * by if isinstance(own, np.ndarray) else own.multiply(by).tocsr()
                blocks.append(Block(name, columns=own))
        return blocks

    def regress(self) -> Refined:
        """Return the ridge logistic regression of the class on the columns, without tables."""
        of_terms, n_classes = self.columns(COLUMNS), self.data.cards[-1]
        intercept = np.ones((len(self.rows), 1)) if self.kept is None else self.kept[:, None]
        columns = beside([*[block.columns for block in of_terms], intercept])
        if columns.shape[0] * columns.shape[1] <= _SMALL:
            columns = in_full(columns)
        none = np.empty((0, n_classes - 1, len(self.rows)))
        problem = Terms([none], self.left_out.classes, self.counts, columns, self.offset)
        ridges = np.repeat([RIDGE] * (columns.shape[1] - 1) + [_FREE], n_classes - 1)
        nothing = np.zeros(len(ridges))
        found, *_ = maximize(problem, nothing, ridges, nothing)
        *by_class, constant = problem.by_class(found)
        weights = _split(np.array(by_class).reshape(-1, n_classes), of_terms)
        found_model = self.terms.assemble(self.stacked._raised(0.0), {}, weights, self.fading)
        return renewed(found_model, intercept=constant)

    def weigh(self, best: int, single: Array, ridges: Mapping[str, float]) -> Fit:
        """Return the refined model with the best weights, around ``single`` ones of tables number ``best``.

        Without ``ridges``, the precisions of the weights by kind of term, they maximize the evidence.
        """
        asked = self.terms.asked
        others = [i for i in range(len(self.by_depth)) if i != best and "depths" in asked]
        codings = self.of_codings if "codings" in asked else []
        scales = [terms for terms in self.terms.of_numbers if terms.gaussians]
        blocks = [
            Block("tables", self.by_depth[best]),
            *[Block("depths", self.by_depth[i, :-1]) for i in others],
        ]
        blocks += [Block("codings", by_depth[best]) for _, by_depth in codings]
        blocks += [Block(t.name, of_scale) for t, of_scale in zip(scales, self.of_numbers, strict=True)]
        columns = self.columns(COLUMNS)
        problem = _problem([*blocks, *columns], self)
        kinds = [name for name in _RIDGES if name in {block.name for block in (*blocks, *columns)}]
        sizes = [len(block.odds) for block in blocks if block.odds is not None]
        sizes += [block.columns.shape[1] * problem.others for block in columns]
        number = np.repeat([kinds.index(block.name) for block in (*blocks, *columns)], sizes)
        mean = np.concatenate([single, np.zeros(problem.size - len(single))])
        start = [ridges.get(name, _RIDGES[name]) for name in kinds]
        weights, total, precisions = weigh_blocks(problem, mean, number, start, search=not ridges)
        of_tables, *parts = np.split(weights, np.cumsum(sizes)[: len(blocks)])[:-1]
        powers: list[Power] = of_tables.tolist()
        if "depths" in asked:
            by_number = dict(zip([best, *others], [of_tables, *parts], strict=False))
            powers = [*self._powers(by_number), powers[-1]]
        parts = parts[len(others) :]
        further = [self._further(*pair, self.depths[best]) for pair in zip(codings, parts, strict=False)]
        base = renewed(
            self.stacked,
            powers=tuple(powers),
            most_parents=len(self.by_depth) - 1 if "depths" in asked else self.depths[best],
            further=tuple(further),
        )
        of_scales = dict(zip([t.name for t in scales], parts[len(codings) :], strict=True))
        by_class = problem.by_class(weights) if columns else np.empty((0, self.data.cards[-1]))
        model = self.terms.assemble(base, of_scales, _split(by_class, columns), self.fading)
        likelihood = log_likelihood(total, self.left_out.classes, self.counts)
        objective = likelihood - 0.5 * float(precisions[number] @ (weights - mean) ** 2)
        return Fit(model, objective, likelihood, dict(zip(kinds, precisions.tolist(), strict=True)))

    def _further(self, coding: tuple[Positions, Any], weights: Array, depth: int) -> tuple[Power, ...]:
        """Return the powers of all families in a discretization, of their tables with most parents."""
        powers = np.zeros(len(self.stacked.powers))
        powers[coding[0]] = weights
        return tuple(powers.tolist())

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


def _problem(blocks: Sequence[Block], held: HeldOutTerms) -> Terms:
    """Return the problem of the weights of blocks, first those with one weight per term."""
    shared = [block.odds for block in blocks if block.odds is not None]
    joined = [np.concatenate(shared)] if sum(array.size for array in shared) <= _SMALL else shared
    columns = [block.columns for block in blocks if block.columns is not None]
    if sum(c.shape[0] * c.shape[1] for c in columns) <= _SMALL:
        columns = list(map(in_full, columns))
    side = beside(columns) if columns else None
    return Terms(joined, held.left_out.classes, held.counts, side, held.offset)


def _split(by_class: Array, blocks: Sequence[Block]) -> dict[str, Array]:
    """Return the weights of the columns of each block, (columns, classes)."""
    ends = np.cumsum([block.columns.shape[1] for block in blocks])[:-1]
    return (
        dict(zip([block.name for block in blocks], np.split(by_class, ends), strict=True)) if blocks else {}
    )


COLUMNS = ("slopes", "shifts", "gaps")
"""The terms with one weight for each class."""


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
    def columns(self) -> dict[str, Any]:
        """The columns with a weight for each class, (rows, columns), by term."""
        result: dict[str, Any] = {}
        if "slopes" in self.asked and self.numbers:
            result["slopes"] = self.of_numbers[0].scores(self.values)
        if self.shifted:
            result["shifts"] = _indicators(self.data, self.shifted)
        if self.gappy:
            result["gaps"] = (self.data.codes[list(self.gappy)] < 0).T.astype(np.float64)
        return result

    @cached_property
    def gappy(self) -> tuple[int, ...]:
        """The features with missing values, each of which has a shift."""
        missing = (self.data.codes[:-1] < 0).any(axis=1) & ("gaps" in self.asked)
        return tuple(np.flatnonzero(missing).tolist())

    @cached_property
    def shifted(self) -> list[tuple[int, Positions]]:
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

    def held_out(self, rows: Positions, left_out: LeftOut) -> list[Array]:
        """Return the odds by the Gaussian terms of each scale, (numbers, classes − 1, rows), at rows."""
        numbers = self.values[:, rows]
        of_scales = [terms for terms in self.of_numbers if terms.gaussians]
        return [odds(t.log_densities(numbers, t.scores(numbers), left_out)) for t in of_scales]

    def assemble(
        self, base: Any, of_scales: Mapping[str, Array], by_class: Mapping[str, Array], fading: Fading
    ) -> Refined:
        """Return the model with the weights of Gaussian terms by scale, and of columns by term."""
        terms = [
            replace(t, powers=of_scales.get(t.name, np.zeros(len(t.gaussians)))) for t in self.of_numbers
        ]
        d, n_classes = len(base.features), self.data.cards[-1]
        shifts: list[Array | None] = [None] * d
        gaps: list[Array | None] = [None] * d
        if "slopes" in by_class:
            terms[0] = replace(terms[0], slopes=by_class["slopes"])
        start = 0
        for i, levels in self.shifted if "shifts" in by_class else ():
            table = np.zeros((self.data.cards[i] + 1, n_classes))
            table[levels] = by_class["shifts"][start : start + len(levels)]
            start, shifts[i] = start + len(levels), table
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


def _indicators(data: Dataset, chosen: Sequence[tuple[int, Positions]]) -> Any:
    """Return the indicators of chosen levels of columns, (rows, levels), as a sparse array."""
    from scipy import sparse  # slow to import

    sizes = [len(levels) for _, levels in chosen]
    rows, places = [], []
    for (i, levels), start in zip(chosen, np.cumsum([0, *sizes]).tolist(), strict=False):
        place = np.full(data.cards[i] + 1, -1)
        place[levels] = start + np.arange(len(levels))
        found = place[data.codes[i]]
        rows.append(np.flatnonzero(found >= 0))
        places.append(found[rows[-1]])
    at = np.concatenate(rows), np.concatenate(places)
    return sparse.csr_array((np.ones(len(at[0])), at), shape=(len(data), sum(sizes)))


def _numbers(x: Model, data: Dataset) -> list[int]:
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
    return by_contents[order].tolist(), parents
