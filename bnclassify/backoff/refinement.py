"""The additional terms of a refined model, and their weights by leave-one-out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.graphs import descending
from ..counts.information import informations, pair_statistics
from ..frames.numeric import as_floats
from ..frames.schema import Dataset, Schema
from ..model.model import Model, renewed
from .counts import without_class
from .gaussians import SCALES, NumberTerms, fit_terms, normal_scores
from .powers import PRECISION, Terms, beside, in_full, log_likelihood, odds, weigh_blocks
from .refined import Refined
from .tables import LeftOut
from .terms import Power
from .weighted import Stacked

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
class Found:
    """The best weights of a refined model: its objective, log-likelihood and precisions of weights."""

    model: Refined
    objective: float
    log_likelihood: float
    ridges: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Refinement:
    """The terms that were requested for the features of a network, fitted to training rows.

    ``coded`` are the categorical features, ``numbers`` the numeric ones, in descending order of
    their information on the class, ``values`` (numbers, rows), and ``of_numbers`` their terms on each scale,
    without weights.
    """

    asked: Sequence[str]
    stacked: Stacked
    data: Dataset
    coded: Sequence[int]
    numbers: tuple[int, ...]
    values: Array
    of_numbers: tuple[NumberTerms, ...]

    @classmethod
    def learn(cls, x: Model, stacked: Stacked, data: Dataset, asked: Sequence[str]) -> Refinement:
        """Fit the terms to data, whose numeric columns have numbers."""
        names = [name for name in SCALES if name in asked]
        numeric = _numbers(x, data)
        needed = numeric and (names or "slopes" in asked)
        order, parents = _gaussian_parents(stacked, data, numeric) if needed else ([], [])
        values = np.array([as_floats(data.numbers[data.columns[f]]) for f in order]).reshape(-1, len(data))
        weights = np.ones(len(data)) if data.weights is None else data.weights
        none, terms = np.empty((0, data.cards[-1])), []
        for name in (names or ["slopes"]) if order else []:
            scales = tuple([SCALES.get(name, normal_scores)(numbers, weights) for numbers in values])
            of_scale = NumberTerms(name, scales, (), np.empty(0), none)
            if name in names:
                scores = of_scale.scores(values)
                rows = LeftOut(data.codes[-1], weights)
                gaussians = fit_terms(scores, np.isnan(values), parents, rows, data.cards[-1])
                of_scale = replace(of_scale, gaussians=tuple(gaussians), powers=np.ones(len(order)))
            terms.append(of_scale)
        coded = [i for i in range(len(data.columns) - 1) if i not in numeric]
        return cls(asked, stacked, data, coded, tuple(order), values, tuple(terms))

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
        """The categorical features, each with its levels that have a shift, the most frequent ones."""
        data, features = self.data, self.coded
        if "shifts" not in self.asked or not features:
            return []
        weights = np.ones(len(data)) if data.weights is None else data.weights
        counts = [np.bincount(data.codes[i] + 1, weights, data.cards[i] + 1)[1:] for i in features]
        too_rare = np.sort(np.concatenate([[0.0], *counts]))[:-_MOST_SHIFTS][-1:].max(initial=0)
        return [(i, np.flatnonzero(c > too_rare)) for i, c in zip(features, counts, strict=True)]

    def weigh(
        self,
        by_depth: Array,
        best: int,
        single: Array,
        rows: NDArray[np.intp],
        left_out: LeftOut,
        counts: Array,
        depth: int,
    ) -> Found:
        """Return the refined model with the best weights.

        ``by_depth`` are the odds of the tables at held-out rows by number of parents, and ``single`` the
        weights for the best number, ``depth``.
        """
        others = [i for i in range(len(by_depth)) if i != best and "levels" in self.asked]
        of_scales = [terms for terms in self.of_numbers if terms.gaussians]
        names = ["tables", *["levels"] * len(others), *[terms.name for terms in of_scales], *self.columns]
        shared = [by_depth[best], *[by_depth[i, :-1] for i in others]]
        shared += [self._left_out(terms, rows, left_out) for terms in of_scales]
        columns = [columns[rows] for columns in self.columns.values()]
        if sum(c.shape[0] * c.shape[1] for c in columns) <= _SMALL:
            columns = list(map(in_full, columns))
        sizes = [*map(len, shared), *[c.shape[1] * shared[0].shape[2] for c in columns]]
        joined = [np.concatenate(shared)] if sum(array.size for array in shared) <= _SMALL else shared
        problem = Terms(joined, left_out.classes, counts, beside(columns) if columns else None)
        kinds = [name for name in _RIDGES if name in names]
        blocks = np.repeat([kinds.index(name) for name in names], sizes)
        mean = np.concatenate([single, np.zeros(problem.size - len(single))])
        weights, total, ridges = weigh_blocks(problem, mean, blocks, [_RIDGES[name] for name in kinds])
        of_tables, *parts = np.split(weights, np.cumsum(sizes)[: len(shared)])[:-1]
        powers: list[Power] = of_tables.tolist()
        if "levels" in self.asked:
            by_number = dict(zip([best, *others], [of_tables, *parts], strict=False))
            powers = [*self._powers(by_number), powers[-1]]
        most = len(by_depth) - 1 if "levels" in self.asked else depth
        base = renewed(self.stacked, powers=tuple(powers), most_parents=most)
        by_class = problem.by_class(weights) if columns else np.empty((0, 0))
        model = self._assemble(base, parts[len(others) :], by_class)
        likelihood = log_likelihood(total, left_out.classes, counts)
        objective = likelihood - 0.5 * float(ridges[blocks] @ (weights - mean) ** 2)
        return Found(model, objective, likelihood, dict(zip(kinds, ridges.tolist(), strict=True)))

    def _left_out(self, terms: NumberTerms, rows: NDArray[np.intp], left_out: LeftOut) -> Array:
        """Return the odds by the Gaussian terms of a scale at held-out rows, (numbers, rows, classes − 1)."""
        numbers = self.values[:, rows]
        return odds(terms.log_densities(numbers, terms.scores(numbers), left_out))

    def _powers(self, by_number: Mapping[int, Array]) -> list[Power]:
        """Return the powers of the tables of each feature, from the powers per largest number of parents."""
        result: list[Power] = []
        class_number = len(self.data.columns) - 1
        for f, scope in enumerate(self.stacked.structures[0].scopes[:-1]):
            powers = np.zeros(len(without_class(scope, class_number)))
            for number, weights in by_number.items():
                powers[min(number, len(powers) - 1)] += weights[f]
            result.append(tuple(powers.tolist()))
        return result

    def _assemble(self, base: Any, of_scales: Sequence[Array], by_class: Array) -> Refined:
        """Return the model with these weights of Gaussian terms and of columns."""
        weights = iter(of_scales)
        terms = [replace(t, powers=next(weights)) if t.gaussians else t for t in self.of_numbers]
        shifts: list[Array | None] = [None] * len(base.features)
        start = 0
        if "slopes" in self.columns:
            start = len(self.numbers)
            terms[0] = replace(terms[0], slopes=by_class[:start])
        for i, levels in self.shifted:
            table = np.zeros((self.data.cards[i] + 1, self.data.cards[-1]))
            table[levels] = by_class[start : start + len(levels)]
            start, shifts[i] = start + len(levels), table
        return Refined(base, self.numbers, tuple(terms), tuple(shifts), base.recipe)


def _numbers(x: Model, data: Dataset) -> list[int]:
    """Return the features whose numbers the model discretizes."""
    discretizer = None if x.preparation is None else x.preparation.discretizer
    cut = () if discretizer is None else discretizer.cuts
    return [i for i, name in enumerate(data.columns[:-1]) if name in cut and name in data.numbers]


def _gaussian_parents(
    stacked: Stacked, data: Dataset, numbers: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """Return numbers in descending order of I(X;C), and for each the positions of its parents in this order.

    Parents are the earlier ones with the largest I(X;Y|C); both are means over the codings.
    """
    relevance, information = [], []
    class_column = len(data.columns) - 1
    for structure, codes in zip(stacked.structures, stacked.codes, strict=True):
        levels = structure.levels or ()
        view = Dataset(Schema(data.columns, levels), codes, data.index, data.weights)
        relevance.append([value for value, _ in informations(view, [(f, class_column) for f in numbers])])
        information.append(pair_statistics(view, numbers, class_column).information)
    order = descending(np.mean(relevance, axis=0))
    means = np.mean(information, axis=0)[np.ix_(order, order)].round(9)
    parents = [np.argsort(-row[:i], kind="stable")[:_MOST_PARENTS].tolist() for i, row in enumerate(means)]
    return [numbers[i] for i in order], parents
