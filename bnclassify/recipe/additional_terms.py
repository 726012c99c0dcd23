"""The additional terms of refined models, fitted to training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..base.arrays import Array, Positions
from ..base.immutable import cached_property
from ..frames.dataset import Dataset
from ..frames.numeric import as_floats
from ..frames.schema import MISSING
from ..model.model import Model
from ..scores.fading import Fading
from .content_order import ContentHashes
from .design_matrix import DesignMatrix
from .number_terms import SCALES, NumberTerms, fit_gaussian_terms, normal_scores
from .prefix_tables import LeftOutRows
from .refined import Refined
from .weighted import StackedModel

_MOST_SHIFTS = 2**10  # levels with a shift; shifts of rarer levels would be shrunk to almost 0

Shifts: TypeAlias = list[tuple[int, Positions]]
"""Features, with the number of the shift of each level: -1 for none and for missing values."""


@dataclass(frozen=True, eq=False)
class AdditionalTerms:
    """The terms that were requested for the features of a network, fitted to training rows.

    ``numeric`` are the numeric features, and ``numbers`` those with a term, for
    Gaussian terms in descending order of their information on the class, with
    ``values`` (numbers, rows). ``of_numbers`` are their terms on each scale,
    without weights.
    """

    requested: Sequence[str]
    stacked: StackedModel
    data: Dataset
    numeric: frozenset[int]
    numbers: tuple[int, ...]
    values: Array
    of_numbers: tuple[NumberTerms, ...]

    @classmethod
    def learn(
        cls, stacked: StackedModel, data: Dataset, requested: Sequence[str]
    ) -> AdditionalTerms:
        """Fit the terms to data, whose numeric columns have numbers."""
        names = [name for name in SCALES if name in requested]
        numeric = _discretized_features(stacked, data)
        numbers = numeric if names or "slopes" in requested else []
        parents: list[list[int]] = []
        columns = [as_floats(data.numbers[data.columns[f]]) for f in numbers]
        values = np.array(columns).reshape(-1, len(data))
        if len(values) and names and names != ["densities"]:
            order, parents = _order_and_parents_of_numbers(values, data, numbers)
            numbers, values = [numbers[i] for i in order], values[order]
        weights = data.row_weights
        none, terms = np.empty((0, data.cards[-1])), []
        for name in (names or ["slopes"]) if numbers else []:
            learn_scale = SCALES.get(name, normal_scores)
            scales = tuple([learn_scale(of_number, weights) for of_number in values])
            of_scale = NumberTerms(name, scales, (), np.empty(0), none)
            if name in names:
                scores, missing = of_scale.scores(values), np.isnan(values)
                rows = LeftOutRows(data.codes[-1], weights)
                given = parents if name != "densities" else [[] for _ in numbers]
                gaussians = fit_gaussian_terms(scores, missing, given, rows, data.cards[-1])
                powers = np.ones(len(numbers))
                of_scale = replace(of_scale, gaussians=tuple(gaussians), powers=powers)
            terms.append(of_scale)
        return cls(
            requested, stacked, data, frozenset(numeric), tuple(numbers), values, tuple(terms)
        )

    @cached_property
    def design_by_term(self) -> dict[str, DesignMatrix]:
        """The columns with a weight for each class, (rows, columns), by term."""
        result: dict[str, DesignMatrix] = {}
        if "slopes" in self.requested and self.numbers:
            result["slopes"] = DesignMatrix(self.of_numbers[0].scores(self.values))
        if self.shifts_of_levels:
            result["shifts"] = _indicators_of_shifts(self.data, self.shifts_of_levels)
        if self.shifts_of_intervals:
            result["steps"] = _indicators_of_shifts(self.data, self.shifts_of_intervals)
        if self.features_with_missing:
            result["gaps"] = DesignMatrix(
                (self.data.codes[list(self.features_with_missing)] < 0).T.astype(np.float64)
            )
        return result

    @cached_property
    def features_with_missing(self) -> tuple[int, ...]:
        """The features with missing values, each of which has a shift."""
        missing = (self.data.codes[:-1] < 0).any(axis=1) & ("gaps" in self.requested)
        return tuple(np.flatnonzero(missing).tolist())

    @cached_property
    def shifts_of_intervals(self) -> Shifts:
        """The numeric features with a shift per interval of MDLP, which several levels share."""
        if "steps" not in self.requested or not self.stacked.apart:
            return []
        maps = self.stacked.coarsenings[-self.stacked.apart].maps
        found = []
        for i, places in enumerate(maps):
            if i in self.numeric and places is not None and places.max() > 0:
                found.append((i, places.astype(np.intp)))
        return found

    @cached_property
    def shifts_of_levels(self) -> Shifts:
        """The features with a shift per level, for the 1,024 most frequent, and their ties."""
        data, numeric = self.data, self.numeric
        if "shifts" not in self.requested:
            return []
        weights = data.row_weights
        counts = []
        for i, labels in enumerate(data.levels[:-1]):
            count = np.bincount(data.codes[i].astype(np.intp) + 1, weights, data.cards[i] + 1)[1:]
            if i in numeric:  # only "(missing)"
                count[: len(labels) - (labels[-1:] == (MISSING,))] = 0
            counts.append(count)
        most_frequent = np.sort(np.concatenate([np.empty(0), *counts]))[-_MOST_SHIFTS:]
        least: float = most_frequent[:1].max(initial=1e-300)
        found = []
        for i, count in enumerate(counts):
            has_shift = np.append(count >= least, False)  # the last one is that of missing values
            if has_shift.any():
                found.append((i, np.where(has_shift, has_shift.cumsum() - 1, -1)))
        return found

    def assemble_model(
        self,
        base: StackedModel,
        of_scales: Mapping[str, Array],
        by_class: Mapping[str, Array],
        fading: Fading,
    ) -> Refined:
        """Return the model with the weights of Gaussian terms by scale, and of columns by term."""
        terms = []
        for of_scale in self.of_numbers:
            powers = of_scales.get(of_scale.name, np.zeros(len(of_scale.gaussians)))
            terms.append(replace(of_scale, powers=powers))
        shifts: list[Array | None] = [None] * len(base.features)
        gaps: list[Array | None] = [None] * len(base.features)
        if "slopes" in by_class:
            terms[0] = replace(terms[0], slopes=by_class["slopes"])
        for name, chosen in {
            "shifts": self.shifts_of_levels,
            "steps": self.shifts_of_intervals,
        }.items():
            start = 0
            for i, places in chosen if name in by_class else ():
                of_places = by_class[name][start : start + places.max() + 1]
                table = np.where(places[:, None] >= 0, of_places[places], 0.0)
                shifts[i] = table if shifts[i] is None else shifts[i] + table
                start += len(of_places)
        for place, i in enumerate(self.features_with_missing if "gaps" in by_class else ()):
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


def _indicators_of_shifts(data: Dataset, chosen: Shifts) -> DesignMatrix:
    """Return the indicators of the shifts of columns, (rows, shifts), as a sparse array."""
    from scipy import sparse  # slow to import

    sizes = [int(places.max()) + 1 for _, places in chosen]
    rows, columns = [], []
    for (i, places), start in zip(chosen, np.cumsum([0, *sizes]).tolist(), strict=False):
        found: Positions = places[data.codes[i]]
        rows.append(np.flatnonzero(found >= 0))
        columns.append(start + found[rows[-1]])
    at = np.concatenate(rows), np.concatenate(columns)
    return DesignMatrix(sparse.csr_array((np.ones(len(at[0])), at), shape=(len(data), sum(sizes))))


def _discretized_features(x: Model, data: Dataset) -> list[int]:
    discretizer = x.discretizer
    cut = () if discretizer is None else discretizer.cuts
    return [i for i, name in enumerate(data.columns[:-1]) if name in cut and name in data.numbers]


def _order_and_parents_of_numbers(
    values: Array, data: Dataset, numbers: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """Return an order of numbers, (numbers, rows), and where the parents of each are in it.

    Numbers are in descending order of I(X;C), and parents are the earlier ones
    with the largest I(X;Y|C), both for normal distributions of the normal
    scores. Ties are broken by the contents.
    """
    ranks = np.argsort(ContentHashes(data).column_order)[numbers]
    by_contents = np.argsort(ranks)
    weights = data.row_weights
    scores = np.array([normal_scores(row, weights)(row) for row in values[by_contents]])
    scatter, log_variances = _scatter_within_classes(scores, data)
    deviations = np.sqrt(np.maximum(np.diag(scatter), 1e-300))
    correlations = np.abs(scatter / deviations / deviations[:, None]).round(9)
    # Scores have equal variances, so the least variance within classes is the largest I(X;C).
    order = np.argsort(log_variances.round(9), kind="stable")
    place_of, parents = np.argsort(order), []
    for place, number in enumerate(order.tolist()):
        earlier = np.sort(order[:place])
        # 8: number of parents of a Gaussian term
        best = earlier[np.argsort(-correlations[number, earlier], kind="stable")][:8]
        parents.append(place_of[best].tolist())
    return by_contents[order].tolist(), parents


def _scatter_within_classes(scores: Array, data: Dataset) -> tuple[Array, Array]:
    """Return Σ r rᵀ for r = scores less their class mean, and the mean ln variance in a class."""
    scatter, logs = np.zeros((len(scores), len(scores))), np.zeros(len(scores))
    for c in range(data.cards[-1]):
        mass = np.where(data.codes[-1] == c, data.row_weights, 0.0)
        size = max(float(mass.sum()), 1e-300)
        residuals: Array = scores - (scores @ mass / size)[:, None]
        of_class = (residuals * mass) @ residuals.T
        scatter += of_class
        logs += size * np.log(np.maximum(np.diag(of_class) / size, 1e-9))
    return scatter, logs / float(data.row_weights.sum())
