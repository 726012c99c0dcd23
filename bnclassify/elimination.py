"""The terms of a network, and how unknown variables are summed out of them.

A term of a log joint probability is a table of logarithms or a density, over the
positions of the features that it needs and the class. Terms are added at the
codes of each row, and a term with a missing member adds nothing. The sum over
the values of missing features is exact: variables are eliminated one at a time,
in an order that keeps the tables small, and all rows with the same missing
features are computed together. If the features form a forest, messages pass up
and down it. The same sums give the posteriors of families that EM needs. Gibbs
sampling serves the networks whose arcs form cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, combinations
from math import prod
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from .counts import (
    MAX_CELLS,
    Moments,
    Observed,
    Recoding,
    flat_index,
    moments_by_configuration,
    moments_of_cells,
    observed_numbers,
)
from .dataset import Dataset, Numeric
from .tools.arrays import (
    BLOCK_ROWS,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    code_type,
    first_best,
    log,
    log_normalize,
    log_sum_exp,
    slices,
    softmax,
)
from .tools.checks import OneOf
from .tools.graphs import find_cycle, topological_layers
from .tools.immutable import (
    ANY_NUMBER,
    COUNT,
    POSITIVE,
    POWER,
    Immutable,
    cached_property,
    field_bounds,
    record,
)
from .tools.messages import shown

# Densities of numbers per configuration (cell) of coded parents and class: Gaussian, kernels.
#
# A density has arrays (levels of each parent…, classes), sufficient statistics
# that add up over rows, the estimate that follows from them, and its
# ``parameters_by_name``. It ``is_parametric`` if a cell has two parameters, mean
# and variance, and no others. Cells are numbered with the class varying fastest.


def moments_with_fallback(
    name: Hashable, within: Moments | None, by_class: Moments
) -> tuple[Moments, Mask, float]:
    """Return moments per cell (or, without variance, the class), a mask of these, and the floor."""
    if not by_class.n.any():
        raise ValueError(
            f"dataset must have an observed value of {shown(name)}; got none. Drop the column."
        )
    variance = by_class.variance
    # 1e-9: smallest variance, as a share of the largest variance within the classes
    floor = 1e-9 * (float(variance.max()) or 1.0)
    empty: Mask = by_class.n == 0
    if empty.any():
        by_class = choose_moments(empty, by_class.pooled(), by_class)
    if within is None:
        return by_class, np.zeros(empty.shape, dtype=bool), floor
    falls = ~(within.low < within.high)
    return choose_moments(falls, by_class, within), falls, floor


def _parent_sets_of_density(scope: Sequence[int]) -> list[Sequence[int]]:
    """Return a number's parents and, if there are several, also the last alone, the class."""
    parents = scope[1:]
    return [parents, parents[-1:]] if len(parents) > 1 else [parents]


def choose_moments(where: Mask, first: Moments, second: Moments) -> Moments:
    """Return the first moments if a condition holds, and the second if not."""
    names = Moments.__dataclass_fields__
    return Moments(
        *[np.where(where, getattr(first, name), getattr(second, name)) for name in names]
    )


@record
@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Immutable):
    """Normal distributions of a number, with arrays (levels of each parent…, classes).

    ``rest`` is what the rounding of the means leaves, as in `Moments`.
    """

    bounds = field_bounds(mean=ANY_NUMBER, variance=POSITIVE, rest=ANY_NUMBER)

    mean: Array
    variance: Array
    rest: Array | None = None

    is_parametric = True

    def __post_init__(self) -> None:
        super().__post_init__()
        arrays = [self.mean, self.variance, *([] if self.rest is None else [self.rest])]
        if len({array.shape for array in arrays}) > 1:
            raise ValueError("variance and rest must have the shape of mean.")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mean.shape

    @staticmethod
    def count(data: Dataset, scope: Sequence[int]) -> list[Moments]:
        """Return the moments in each cell, if there are parents, and in each class."""
        conditions = _parent_sets_of_density(scope)
        return [moments_by_configuration(data, scope[0], condition) for condition in conditions]

    @classmethod
    def estimate(cls, counts: Sequence[Moments], name: Hashable) -> Self:
        """Return maximum-likelihood estimates from `moments_with_fallback`."""
        *within, by_class = counts
        moments, _, floor = moments_with_fallback(name, within[0] if within else None, by_class)
        return cls(moments.mean, np.maximum(moments.variance, floor), moments.rest)

    @np.errstate(over="ignore")  # the density of a number that is far away is 0
    def log_density(self, values: Array, parents: Positions) -> Array:
        """Return ln N(value; mean, variance), (rows, classes)."""
        mean, variance = (
            array.reshape(-1, self.shape[-1])[parents] for array in (self.mean, self.variance)
        )
        deviations: Array = values[:, None] - mean
        if self.rest is not None:
            deviations -= self.rest.reshape(-1, self.shape[-1])[parents]
        return -0.5 * (np.log(2 * np.pi * variance) + deviations**2 / variance)

    def draw(self, cells: Positions, rng: np.random.Generator) -> Array:
        return rng.normal(self.mean.ravel()[cells], np.sqrt(self.variance.ravel()[cells]))

    def parameters_by_name(self) -> Mapping[str, Array]:
        return {"mean": self.mean, "sd": np.sqrt(self.variance)}


@record
@dataclass(frozen=True, eq=False, repr=False)
class Points(Immutable):
    """A number's distinct values in cells, with weights, ascending by cell, value; they add up."""

    bounds = field_bounds(shape=COUNT, values=ANY_NUMBER, cells=COUNT, weights=POSITIVE)

    shape: tuple[int, ...]
    values: Array
    cells: Positions
    weights: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        cells = self.cells
        fits = (
            len(self.values) == len(cells) == len(self.weights) and (cells[1:] >= cells[:-1]).all()
        )
        if not fits or cells.max(initial=-1) >= prod(self.shape):
            raise ValueError(
                "cells must be ascending positions of cells, with as many values and weights."
            )

    def __add__(self, other: Points) -> Points:
        values, cells = np.append(self.values, other.values), np.append(self.cells, other.cells)
        return merge_equal_points(self.shape, values, cells, np.append(self.weights, other.weights))

    def recoded(self, recodings: Sequence[Recoding]) -> Points:
        """Return the values for other levels of the coded columns."""
        shape = tuple([card for _, card in recodings])
        codes = zip(np.unravel_index(self.cells, self.shape), recodings, strict=True)
        cells = np.ravel_multi_index([own.codes[code] for code, own in codes], shape)
        return merge_equal_points(shape, self.values, cells, self.weights)

    @property
    def moments(self) -> Moments:
        return moments_of_cells(Observed(self.values, self.cells, self.weights), self.shape)

    def values_and_weights_in_cell(self, cell: int) -> tuple[Array, Array]:
        rows = slice(*np.searchsorted(self.cells, [cell, cell + 1]))
        return self.values[rows], self.weights[rows]


def merge_equal_points(
    shape: tuple[int, ...], values: Array, cells: Positions, weights: Array
) -> Points:
    """Return points with equal values in a cell merged and their weights added."""
    order = np.lexsort((values, cells))
    values, cells = values[order], cells[order]
    is_first = np.ones(len(values), dtype=bool)
    is_first[1:] = (values[1:] != values[:-1]) | (cells[1:] != cells[:-1])
    totals = np.bincount(np.cumsum(is_first) - 1, weights[order], is_first.sum()).astype(np.float64)
    return Points(shape, values[is_first], cells[is_first], totals)


@record
@dataclass(frozen=True, eq=False, repr=False)
class Kernel(Immutable):
    """Means of normals around values, (levels of each parent…, classes), in cells or classes."""

    bounds = field_bounds(mean=ANY_NUMBER, variance=COUNT, bandwidth=POSITIVE)

    within: Points | None
    by_class: Points
    mean: Array
    variance: Array
    bandwidth: Array
    falls: Mask

    is_parametric = False

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {array.shape for array in (self.mean, self.variance, self.bandwidth, self.falls)}
        points = [
            self.by_class.shape == self.shape[-1:],
            self.within is None or self.within.shape == self.shape,
        ]
        if len(shapes) > 1 or not all(points) or not len(self.by_class.values):
            raise ValueError(
                "mean, variance, bandwidth, falls and points must have the shape of the family."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.bandwidth.shape

    @staticmethod
    def count(data: Dataset, scope: Sequence[int]) -> list[Points]:
        """Return the distinct values in each cell, if there are parents, and in each class."""
        points = []
        for condition in _parent_sets_of_density(scope):
            values, cells, weights = observed_numbers(data, scope[0], condition)
            shape = tuple([data.cards[column] for column in condition])
            counts = np.ones(len(values)) if weights is None else weights
            points.append(merge_equal_points(shape, values, cells, counts))
        return points

    @classmethod
    def estimate(cls, counts: Sequence[Points], name: Hashable) -> Self:
        """Return the density with Silverman's bandwidth, 1.06 s n^(−1/5), and the usual floor."""
        *within, by_class = counts
        moments, falls, floor = moments_with_fallback(
            name, within[0].moments if within else None, by_class.moments
        )
        n = np.maximum(moments.n, 1.0)
        free = np.where(moments.n > 1, moments.n - 1, 1.0)
        s = np.sqrt(np.where(moments.low < moments.high, moments.squares / free, 0.0))
        bandwidth = np.maximum(1.06 * s * n ** (-0.2), np.sqrt(floor))
        first = within[0] if within else None
        return cls(first, by_class, moments.mean, moments.variance, bandwidth, falls)

    def _centers_and_weights_in_cell(self, cell: int) -> tuple[Array, Array]:
        if self.within is not None and not self.falls.ravel()[cell]:
            return self.within.values_and_weights_in_cell(cell)
        values, weights = self.by_class.values_and_weights_in_cell(cell % self.shape[-1])
        return (values, weights) if len(values) else (self.by_class.values, self.by_class.weights)

    @np.errstate(over="ignore")  # the density of a number that is far away is 0
    def log_density(self, values: Array, parents: Positions) -> Array:
        """Return ln of the mean of normals around the values of a cell, (rows, classes)."""
        n_classes = self.shape[-1]
        logs = np.empty((len(values), n_classes))
        for configuration in map(int, np.unique(parents)):
            rows = np.nonzero(parents == configuration)[0]
            found, inverse = np.unique(values[rows], return_inverse=True)
            for c in range(n_classes):
                logs[rows, c] = self._log_density_of_cell(found, configuration * n_classes + c)[
                    inverse
                ]
        return logs

    def _log_density_of_cell(self, values: Array, cell: int) -> Array:
        """Return ln Σ w N(value; center, h²) / Σ w at some values."""
        centers, weights = self._centers_and_weights_in_cell(cell)
        h = float(self.bandwidth.ravel()[cell])
        logs = np.empty(len(values))
        shares = log(weights / (float(weights.sum()) * h * np.sqrt(2 * np.pi)))
        for block in slices(len(values), len(centers)):
            kernels: Array = shares - 0.5 * ((values[block, None] - centers) / h) ** 2
            top: Array = np.maximum(kernels.max(axis=1), -1e300)  # not infinite
            logs[block] = top + log(np.exp(kernels - top[:, None]).sum(axis=1))
        return logs

    def draw(self, cells: Positions, rng: np.random.Generator) -> Array:
        """Draw in each of some cells a training value plus normal noise of its bandwidth."""
        drawn = np.empty(len(cells))
        for cell in range(prod(self.shape)):
            rows = np.nonzero(cells == cell)[0]
            if len(rows):
                centers, weights = self._centers_and_weights_in_cell(cell)
                drawn[rows] = rng.choice(centers, len(rows), p=weights / weights.sum())
        return drawn + rng.normal(0.0, self.bandwidth.ravel()[cells])

    def parameters_by_name(self) -> Mapping[str, Array]:
        """Return the means and standard deviations of the values, and bandwidths."""
        return {"mean": self.mean, "sd": np.sqrt(self.variance), "bandwidth": self.bandwidth}


Density: TypeAlias = Gaussian | Kernel

FAMILIES: dict[str, type[Gaussian | Kernel]] = {"gaussian": Gaussian, "kernel": Kernel}
"""Types of densities by their names in `lp`."""


Numbers: TypeAlias = str | Mapping[Any, str] | None
"""Densities of numeric columns: one type for all, or one type per column."""


def numeric_columns_of(numbers: Numbers) -> Numeric:
    """Return the columns to keep as numbers, or True for the default columns, or raise."""
    if numbers is None:
        return ()
    if isinstance(numbers, Mapping):
        for name, family in numbers.items():
            OneOf(FAMILIES).check(f"numbers[{shown(name)}]", family)
        return tuple(numbers)
    OneOf(FAMILIES).check("numbers", numbers)
    return True


def numbers_as_setting(numbers: Numbers) -> dict[str, Any]:
    """Return the argument as a setting of a step, without it if it is None."""
    if numbers is None:
        return {}
    return {"numbers": dict(numbers) if isinstance(numbers, Mapping) else numbers}


_DEVIATIONS, _POINTS = 6.0, 121  # of the grid of a density


def density_grid(density: Density) -> tuple[Array, Array]:
    """Return points at which a density is evaluated, and the width that each represents."""
    columns = density.parameters_by_name()
    mean, sd = columns["mean"].reshape(-1, 1), columns["sd"].reshape(-1, 1)
    points = np.unique(mean + sd * np.linspace(-_DEVIATIONS, _DEVIATIONS, _POINTS))
    return points, np.gradient(points)


# The terms of a log joint: log tables, padded so that missing values add 0, and densities.


@dataclass(frozen=True, eq=False)
class Factor:
    """The term ln θ of a family: feature positions, (levels of each…, contexts, classes or 1)."""

    scope: tuple[int, ...]
    table: Array

    @property
    def n_classes(self) -> int:
        return self.table.shape[-1]

    @cached_property
    def padded_table(self) -> Array:
        """The table with a last level, 0, on each feature's axis, which the code -1 selects."""
        n = len(self.scope)
        padded = np.zeros((*(r + 1 for r in self.table.shape[:n]), *self.table.shape[n:]))
        padded[(slice(-1),) * n] = self.table
        return padded

    def add_to_sums(self, total: Array, codes: Codes, context: Codes | None = None) -> None:
        """Add the term to (rows, classes) sums; a row in which a family member is missing adds 0.

        Rows are (features, rows) codes and, if tables differ by row, the
        context, which is the table to use.
        """
        coordinates: list[Codes] = [codes[i] for i in self.scope]
        if context is not None:
            coordinates.append(context)
        if not coordinates:
            total += self.table
            return
        index = flat_index(coordinates, self.padded_table.shape[: len(coordinates)])
        total += self.padded_table.reshape(-1, self.n_classes).take(index, axis=0, mode="wrap")


@dataclass(frozen=True, eq=False)
class AlikeFactors:
    """Factors whose tables have the same shape, and no contexts, which are looked up at once.

    ``scopes`` are (features of a scope, factors) and ``padded_tables`` the
    tables, (factors, levels of each… and one more, classes or 1), see `Factor`.
    """

    scopes: Positions
    padded_tables: Array

    @classmethod
    def from_factors(cls, factors: Sequence[Factor]) -> AlikeFactors:
        scopes = np.array([factor.scope for factor in factors], dtype=np.intp).T
        return cls(scopes, np.array([factor.padded_table[..., 0, :] for factor in factors]))

    @property
    def n_classes(self) -> int:
        return self.padded_tables.shape[-1]

    def add_to_sums(self, total: Array, codes: Codes) -> None:
        """Add the terms to (rows, classes) sums one by one, as `Factor` does, with its rounding."""
        flat = self.padded_tables.reshape(-1, self.n_classes)
        if not len(self.scopes):
            for row in flat:
                total += row
            return
        n, *shape, _ = self.padded_tables.shape
        starts = np.arange(0, len(flat), len(flat) // n)[:, None]
        # 2**14: numbers that are looked up at once; more would need new memory each time
        for block in slices(n, total.size, 2**14):
            index = flat_index(list(codes[self.scopes[:, block]]), shape)
            cells = np.add(index, starts[block], dtype=np.intp)
            for values in flat.take(cells, axis=0, mode="wrap"):
                total += values


class Belief(NamedTuple):
    """Posteriors, (rows, levels of each…, classes), of ``free`` members of ``factor``'s family."""

    factor: int
    rows: Positions
    free: tuple[int, ...]
    shares: Array


@dataclass(frozen=True, eq=False)
class DensityTerm:
    """The term of a number, with a density over ``scope``; codes are positions in ``values``."""

    scope: tuple[int, ...]
    density: Density
    values: Array

    @property
    def n_classes(self) -> int:
        return self.density.shape[-1]

    def add_to_sums(self, total: Array, codes: Codes, context: Codes | None = None) -> None:
        """Add the term to (rows, classes) sums, and 0 if the number or a parent is missing."""
        known = np.flatnonzero((codes[list(self.scope)] >= 0).all(axis=0))
        values: Array = self.values[codes[self.scope[0], known]]
        parents: list[Codes] = [codes[v, known] for v in self.scope[1:]]
        cells: Codes = np.zeros(len(known), dtype=np.intp)
        if parents:
            cells = flat_index(parents, self.density.shape[:-1]).astype(np.intp)
        total[known] += self.density.log_density(values, cells)

    def as_factor_and_codes(self, codes: Codes) -> tuple[Factor, Codes]:
        """Return the term as a table over values in some rows, and their codes; 0 is missing."""
        known = codes >= 0
        values, places = np.unique(self.values[codes[known]], return_inverse=True)
        *parents, n_classes = self.density.shape
        cells = prod(parents)
        logs = self.density.log_density(
            np.repeat(values, cells), np.tile(np.arange(cells), len(values))
        )
        table = np.zeros((len(values) + 1, *parents, 1, n_classes))
        table[1:] = logs.reshape(len(values), *table.shape[1:])
        positions = np.zeros(len(codes), dtype=np.intp)
        positions[known] = places + 1
        return Factor(self.scope, table), positions


NetworkTerm: TypeAlias = Factor | DensityTerm


def as_factors_and_codes(
    terms: Sequence[NetworkTerm], codes: Codes
) -> tuple[Sequence[Factor], Codes]:
    """Return terms in which numbers have tables over the values in some rows, and their codes."""
    factors = [term for term in terms if isinstance(term, Factor)]
    if len(factors) == len(terms):
        return factors, codes
    codes = codes.astype(np.int64)
    for i, term in enumerate(terms):
        if isinstance(term, DensityTerm):
            table, codes[i] = term.as_factor_and_codes(codes[i])
            factors.insert(i, table)
    return factors, codes


def sum_terms(
    terms: Sequence[NetworkTerm] | Sequence[AlikeFactors],
    codes: Codes,
    context: Codes | None = None,
) -> Array:
    """Return the sum of terms at each row, (rows, classes); stacked ones have no context."""
    total = np.zeros((codes.shape[1], max([term.n_classes for term in terms])))
    for term in terms:
        if isinstance(term, AlikeFactors):
            term.add_to_sums(total, codes)
        else:
            term.add_to_sums(total, codes, context)
    return total


# Marginalization if no variable has two feature parents: messages between the features.
#
# A missing feature is marginalized over, given the evidence of its children, and
# the sums are sent to its parent if the parent is missing, too. A pass in reverse
# order distributes the posteriors of parents. All rows in which a feature is
# missing are processed at once.


_LEAST = 1e-200  # means of likelihoods below which logs are added up


class ChildEvidence(NamedTuple):
    """ln P(observed descendants | value) of a feature that rows lack, (rows, levels, classes)."""

    feature: int
    rows: Positions
    logs: Array


def is_forest(factors: Sequence[Factor]) -> bool:
    *of_features, of_class = factors
    return all(len(factor.scope) <= 2 for factor in of_features) and len(of_class.scope) <= 1


def add_terms_by_messages(
    total: Array, factors: Sequence[Factor], codes: Codes, context: Codes
) -> None:
    """Add marginalized terms by probabilities or, in rows in which these are too small, by logs."""
    rows: Positions = np.arange(len(total))
    if all(f.table.shape[-2] == 1 and f.table.max(initial=0) <= 0 for f in factors):
        rows = _add_terms_by_probabilities(total, factors, codes)
    if len(rows):
        some = total[rows]
        for _ in collect_evidence(some, factors, codes[:, rows], context[rows]):
            pass
        total[rows] = some


def _add_terms_by_probabilities(total: Array, factors: Sequence[Factor], codes: Codes) -> Positions:
    """Add terms as `collect_evidence`, but return the rows with a small sum, and leave them."""
    parent, children = _parents_and_children(factors)
    added, is_small = np.zeros_like(total), np.zeros(len(total), dtype=bool)
    # a missing value is a last level, of probability 1, but not of parents
    padded = [f.padded_table[:, :-1] if len(f.scope) > 1 else f.padded_table for f in factors]
    tables = [np.exp(table[..., 0, :]) for table in padded]
    messages: dict[int, tuple[Positions, Array]] = {}  # as in `collect_evidence`, with their rows
    parents = {v: [] if p is None else [p] for v, p in enumerate(parent)}
    for v in (v for layer in reversed(topological_layers(parents)) for v in layer if v in children):
        rows, p = np.flatnonzero(codes[v] < 0), parent[v]
        if p is not None:  # first those with a known parent
            is_known: Mask = codes[p, rows] >= 0
            n, rows = np.count_nonzero(is_known), np.concatenate([rows[is_known], rows[~is_known]])
        own: Array = tables[v][:-1]
        evidence = np.ones((len(rows), len(own), total.shape[1]))
        for child in children[v]:
            if child == len(codes):  # the class, which has no row in the codes
                evidence *= tables[child][:-1]
                continue
            of_child: Codes = codes[child, rows]
            likelihood = tables[child].take(of_child, axis=0, mode="wrap")
            if child in messages:
                lacking, means = messages[child]
                at = np.flatnonzero(of_child < 0)
                if likelihood.shape[2] < means.shape[2]:  # the class is not a parent of the child
                    likelihood = np.repeat(likelihood, means.shape[2], axis=2)
                likelihood[at] = means.take(lacking.searchsorted(rows[at]), axis=0)
            evidence *= likelihood
        seen, joint = rows, evidence
        if p is None:
            joint *= own
        else:
            seen, unseen = rows[:n], rows[n:]
            means = np.matmul(evidence[n:].transpose(2, 0, 1), own.transpose(2, 0, 1))
            messages[v] = unseen, means.transpose(1, 2, 0)
            joint = evidence[:n]
            joint *= own.swapaxes(0, 1).take(codes[p, seen], axis=0)
        sums: Array = reduce(np.add, joint.swapaxes(0, 1))
        if sums.min(initial=1) < _LEAST:
            is_small[seen] |= (sums < _LEAST).any(axis=1)
        added[seen] = added.take(seen, axis=0) + log(sums)
    total[~is_small] += added[~is_small]
    return np.flatnonzero(is_small)


def collect_evidence(
    total: Array, factors: Sequence[Factor], codes: Codes, context: Codes, *, leaves: bool = False
) -> Iterator[ChildEvidence]:
    """Add marginalized terms, and yield the evidence on missing features, children first."""
    parent, children = _parents_and_children(factors)
    # From missing features to missing parents: logs at the rows that lack both, (rows, levels of
    # the parent, classes).
    messages: dict[int, Array] = {}
    parents = {v: [] if p is None else [p] for v, p in enumerate(parent)}
    for v in (v for layer in reversed(topological_layers(parents)) for v in layer):
        if not (leaves or v in children):
            continue
        rows = np.nonzero(codes[v] < 0)[0]
        if not len(rows):
            continue
        evidence = np.zeros((len(rows), len(factors[v].table), total.shape[1]))
        for child in children.get(v, ()):
            if child == len(codes):  # the class, which has no row in the codes
                evidence += _tables_at_contexts(factors[child].table, context[rows])
                continue
            # The code of a missing child selects the padding, 0.
            evidence += _entries_at_codes(
                factors[child].padded_table[:, :-1], codes[child, rows], context[rows]
            )
            if child in messages:
                evidence[codes[child, rows] < 0] += messages[child]
        yield ChildEvidence(v, rows, evidence)
        if v not in children:
            continue  # an unobserved leaf sums to 1
        p = parent[v]
        known, seen, unseen = _split_by_known_feature(rows, p, codes)
        total[seen] += log_sum_exp(
            _conditional_logs(v, p, seen, factors, codes, context) + evidence[known], axis=1
        )
        if len(unseen):
            pairs = _log_joints_with_parent(factors[v].table, context[unseen], evidence[~known])
            messages[v] = np.concatenate([log_sum_exp(logs, axis=1) for logs in pairs])


def distribute_posteriors(
    ascent: Sequence[ChildEvidence], factors: Sequence[Factor], codes: Codes, context: Codes
) -> Iterator[Belief]:
    """Yield the posteriors of the missing members of each family, from the evidence with leaves."""
    parent, children = _parents_and_children(factors)
    beliefs: dict[int, tuple[Positions, Array]] = {}
    for v, rows, logs in reversed(ascent):
        p = parent[v]
        known, seen, unseen = _split_by_known_feature(rows, p, codes)
        belief = np.empty_like(logs)
        belief[known] = softmax(
            _conditional_logs(v, p, seen, factors, codes, context) + logs[known], axis=1
        )
        yield Belief(v, seen, (v,), belief[known])
        if p is not None and len(unseen):
            parent_rows, parent_belief = beliefs[p]
            parent_belief, start = parent_belief[np.searchsorted(parent_rows, unseen)], 0
            marginals = []
            for pairs in _log_joints_with_parent(factors[v].table, context[unseen], logs[~known]):
                block = slice(start, start := start + len(pairs))
                shares: Array = softmax(pairs, axis=1) * parent_belief[block, None]
                yield Belief(v, unseen[block], (v, p), shares)
                marginals.append(shares.sum(axis=2))
            belief[~known] = np.concatenate(marginals)
        beliefs[v] = rows, belief
        for child in children.get(v, ()):
            observed, given, _ = _split_by_known_feature(
                rows, None if child == len(codes) else child, codes
            )
            yield Belief(child, given, (v,), belief[observed])


def _split_by_known_feature(
    rows: Positions, feature: int | None, codes: Codes
) -> tuple[Mask, Positions, Positions]:
    """Return in which rows a feature, if any, is known, these rows, and the others."""
    known = np.full(len(rows), True) if feature is None else codes[feature, rows] >= 0
    return known, rows[known], rows[~known]


def _parents_and_children(
    factors: Sequence[Factor],
) -> tuple[list[int | None], dict[int, list[int]]]:
    """Return the parent of each feature, and the children of each parent, including the class."""
    *of_features, of_class = factors
    parent = [factor.scope[1] if len(factor.scope) > 1 else None for factor in of_features]
    children: dict[int, list[int]] = {}
    for child, p in enumerate([*parent, *of_class.scope]):
        if p is not None:
            children.setdefault(p, []).append(child)
    return parent, children


def _conditional_logs(
    v: int, p: int | None, rows: Positions, factors: Sequence[Factor], codes: Codes, context: Codes
) -> Array:
    """Return ln P(feature | observed parent, class), (rows or 1, levels, classes)."""
    table = factors[v].table
    if p is None:
        return _tables_at_contexts(table, context[rows])
    return _entries_at_codes(table.swapaxes(0, 1), codes[p, rows], context[rows])


def _log_joints_with_parent(table: Array, context: Codes, evidence: Array) -> Iterator[Array]:
    """Yield table plus evidence by block, (rows, levels, levels of the missing parent, classes)."""
    tables = np.ascontiguousarray(np.moveaxis(table, -2, 0))  # copied once, not for each block
    cells = table.shape[0] * table.shape[1] * evidence.shape[-1]
    for block in slices(len(evidence), cells):
        of_rows = tables if len(tables) == 1 else tables.take(context[block], axis=0)
        yield of_rows + evidence[block, :, None]


def _entries_at_codes(table: Array, code: Codes, context: Codes) -> Array:
    """Select a code of the first axis, -1 the last, and a context per row: (rows, …, classes)."""
    contexts = table.shape[-2]
    flat = np.moveaxis(table, -2, 1).reshape(-1, *table.shape[1:-2], table.shape[-1])
    index = code if contexts == 1 else code.astype(np.intp) * contexts + context
    return flat.take(index, axis=0, mode="wrap")


def _tables_at_contexts(table: Array, context: Codes) -> Array:
    """Select the context of a table per row, (rows or 1, …, classes)."""
    if table.shape[-2] == 1:
        return table[None, ..., 0, :]
    return np.moveaxis(table, -2, 0).take(context, axis=0)


# Marginalization in networks: sums and maxima over the missing variables of rows.
#
# The missing features of a row form unconnected components. The sum over all
# missing features is the product of the sums over the components, so each is
# eliminated once for all rows that have it. A second pass in reverse order gives
# the posteriors of the missing values. With the maximum in place of the sum, it
# finds their most probable values; an average of networks does not factorize, so
# all combinations are scored. If no variable has two feature parents, the sums
# are messages between the features, see `add_terms_by_messages`.


_CLASS = -1  # the class in a plan, where it stays an axis of tables
_LARGE_CELLS = 2**14  # of a table, from which another order is tried


Met: TypeAlias = Mapping[int, set[int]]
"""The variables that each variable is together with in a table, and itself."""
T = TypeVar("T", bound=tuple[tuple[int, ...], ArrayOf[Any]])
Over: TypeAlias = Callable[..., Array]
"""How a variable is eliminated from logs, along ``axis``: by the log of the sum, or the maximum."""


class LogTable(NamedTuple):
    """A log table per row, (rows, levels…, classes), over features in ascending order."""

    scope: tuple[int, ...]
    logs: Array


class Component(NamedTuple):
    """Features that are missing together in some rows, in an order to eliminate them.

    ``factors`` are the positions of the factors over them, and ``tables`` these
    factors in the rows.
    """

    order: list[int]
    factors: list[int]
    rows: Positions
    tables: list[LogTable]


def log_joint_of_network(
    terms: Sequence[NetworkTerm],
    codes: Codes,
    context: Codes | None = None,
    *,
    cyclic: bool = False,
) -> Array:
    """Return the log joint of a network, (rows, classes), from terms of features and class.

    If arcs can form cycles, it is the log of the product of terms, summed over
    all missing features.
    """
    total = sum_terms(terms, codes, context)
    if codes.min(initial=0) < 0:
        context = np.zeros(len(total), dtype=np.intp) if context is None else context
        add_marginalized_terms(total, terms, codes, context, cyclic=cyclic)
    return total


def log_mean_joint_of_networks(networks: Sequence[Sequence[NetworkTerm]], codes: Codes) -> Array:
    """Return the log of the mean joint of networks, (rows, classes), a block of rows at a time."""
    result = np.empty((codes.shape[1], networks[0][-1].n_classes))
    for block in slices(len(result), most=BLOCK_ROWS):
        joints = [log_joint_of_network(terms, codes[:, block]) for terms in networks]
        if len(joints) == 1:
            result[block] = joints[0]
        else:
            result[block] = log_sum_exp(np.stack(joints), axis=0) - np.log(len(joints))
    return result


def add_marginalized_terms(
    total: Array,
    terms: Sequence[NetworkTerm],
    codes: Codes,
    context: Codes,
    *,
    cyclic: bool = False,
) -> None:
    """Add terms of families with missing features, marginalized over, to rows' log joint.

    ``total`` is (rows, classes) with the terms of observed families, ``codes``
    are (features, rows) with -1 where missing, and ``context`` is (rows,). The
    term of the class is the last one.
    """
    factors, codes = as_factors_and_codes(terms, codes)
    if is_forest(factors) and not cyclic:
        add_terms_by_messages(total, factors, codes, context)
    else:
        add_terms_by_elimination(total, factors, codes, context, everywhere=cyclic)


def add_terms_by_elimination(
    total: Array,
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes | None = None,
    *,
    everywhere: bool = False,
    over: Over = log_sum_exp,
) -> None:
    """Add terms as `add_marginalized_terms` for any graph; if ``everywhere``, also sums of 1."""
    for component in components_of_missing(factors, codes, context, everywhere=everywhere):
        _, remaining = eliminate_log_tables(component.order, component.tables, over)
        total[component.rows] += multiply_tables(remaining).logs


def posteriors_of_families(
    factors: Sequence[Factor], codes: Codes, context: Codes | None = None
) -> Iterator[Belief]:
    """Yield posteriors of missing members of each family of rows as in `add_marginalized_terms`."""
    for component in components_of_missing(factors, codes, context, everywhere=True):
        joined, _ = eliminate_log_tables(component.order, component.tables)
        posteriors = posteriors_by_reverse_elimination(component.order, joined)
        position = {u: i for i, u in enumerate(component.order)}
        for i in component.factors:
            free = tuple(sorted(position.keys() & factors[i].scope))
            shares = marginalize_to_scope(posteriors[min(position[u] for u in free)], free).logs
            yield Belief(i, component.rows, free, shares)


def components_of_missing(
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes | None = None,
    *,
    everywhere: bool = False,
) -> Iterator[Component]:
    """Yield connected missing features in blocks of rows: relevant ones, or ``everywhere`` all."""
    *of_features, of_class = factors
    context = np.zeros(codes.shape[1], dtype=np.intp) if context is None else context
    parents = {v: list(factor.scope[1:]) for v, factor in enumerate(of_features)}
    matters = np.full(codes.shape, True)
    if not everywhere:  # a feature does if it or a descendant, the class included, is observed
        matters = codes >= 0
        matters[list(of_class.scope)] = True
        for v in (v for layer in reversed(topological_layers(parents)) for v in layer):
            for p in parents[v]:
                matters[p] |= matters[v]
    parents[len(codes)] = list(of_class.scope)
    for component, all_rows in _connected_components(parents, matters, codes).items():
        free = set(component)
        touching = [i for i, factor in enumerate(factors) if not free.isdisjoint(factor.scope)]
        tables = [factors[i] for i in touching]
        card = {_CLASS: max(factor.n_classes for factor in tables)}
        scopes = []
        for factor in tables:
            card |= dict(zip(factor.scope, factor.table.shape, strict=False))
            class_axis = {_CLASS} if factor.n_classes > 1 else set()
            scopes.append((free & set(factor.scope)) | class_axis)
        order, cells = plan_elimination(component, scopes, card)
        check_elimination_size(component, cells)
        for block in slices(len(all_rows), cells):
            rows = all_rows[block]
            of_rows = codes[:, rows], context[rows]
            restricted = [_restrict_factor(factor, free, *of_rows) for factor in tables]
            yield Component(order, touching, rows, restricted)


def check_elimination_size(component: Collection[int], cells: int) -> None:
    """Raise a ValueError if the elimination of these variables needs a table of too many cells."""
    if cells > MAX_CELLS:
        raise ValueError(
            f"data: {len(component)} variables are missing together in a row, and marginalization "
            f"would need a table of {cells:,} cells, more than {MAX_CELLS:,}. Use a structure "
            "with fewer parents."
        )


def _connected_components(
    parents: Mapping[int, Sequence[int]], matters: Mask, codes: Codes
) -> dict[tuple[int, ...], Positions]:
    """Map each component of connected missing features to its rows."""
    hidden, n = matters & (codes < 0), len(codes)
    # Each hidden feature of a row is labeled with the first feature of its component. The class
    # is always relevant and never hidden.
    label = np.where(hidden, np.arange(n)[:, None], n)
    families = [([v, *ps] if v < n else list(ps), v) for v, ps in parents.items() if ps]
    changed = True
    while changed:
        previous = label.copy()
        for members, v in families:
            linked = hidden[members] & (matters[v] if v < n else True)
            lowest: Positions = np.where(linked, label[members], n).min(axis=0)
            label[members] = np.where(linked, lowest, label[members])
        changed = not np.array_equal(previous, label)
    rows_of: dict[tuple[int, ...], list[Positions]] = {}
    for first in range(n):
        rows = np.nonzero(hidden[first] & (label[first] == first))[0]
        if len(rows):
            for component, alike in groups_of_equal_columns(label[:, rows] == first):
                rows_of.setdefault(component, []).append(rows[alike])
    return {component: np.concatenate(rows) for component, rows in rows_of.items()}


def groups_of_equal_columns(mask: Mask) -> Iterator[tuple[tuple[int, ...], Positions]]:
    """Yield true positions of each distinct column, and positions of the columns equal to it."""
    packed = np.ascontiguousarray(np.packbits(mask, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, example, group = np.unique(keys, return_index=True, return_inverse=True)
    ends = np.cumsum(np.bincount(group))
    for column, columns in zip(
        example, np.split(np.argsort(group, kind="stable"), ends), strict=False
    ):
        yield tuple(np.nonzero(mask[:, column])[0].tolist()), columns


def plan_elimination(
    component: Collection[int], scopes: Iterable[Collection[int]], card: Mapping[int, int]
) -> tuple[list[int], int]:
    """Order an elimination of scopes; return the order and the cells of the largest table.

    Of two greedy orders, the one with fewer cells in all tables: the smallest
    table first [1]_ and, if that needs large tables, the fewest cells of new
    pairs first.

    .. [1] Kjaerulff, U. (1992). Optimal decomposition of probabilistic networks
       by simulated annealing.
    """
    met = {u: {u} for u in component}
    for scope in {frozenset(scope) for scope in scopes}:  # often equal
        for u in scope & met.keys():
            met[u] |= scope
    order, cells = _greedy_elimination_order(
        met, card, lambda met, u: prod([card[w] for w in met[u]])
    )
    if max(cells) > _LARGE_CELLS:

        def cells_of_new_pairs(met: Met, u: int) -> int:
            """Return the cells of the pairs that meet for the first time without ``u``."""
            near = sorted(met[u] & met.keys() - {u})
            return sum([card[v] * card[w] for v, w in combinations(near, 2) if w not in met[v]])

        other, other_cells = _greedy_elimination_order(met, card, cells_of_new_pairs)
        if sum(other_cells) < sum(cells):
            order, cells = other, other_cells
    return order, max(cells)


def _greedy_elimination_order(
    met: Met, card: Mapping[int, int], cost: Callable[[Met, int], int]
) -> tuple[list[int], list[int]]:
    """Eliminate the variable of lowest cost in turn; return the order and the tables' cells."""
    met = {u: set(others) for u, others in met.items()}
    costs = {u: cost(met, u) for u in sorted(met)}
    order, cells = list[int](), [1]
    while costs:
        best = min(costs, key=costs.__getitem__)
        del costs[best]
        order.append(best)
        joined = met.pop(best)
        cells.append(prod([card[w] for w in joined]))
        joined.discard(best)
        for u in joined & met.keys():
            met[u] = (met[u] | joined) - {best}
        for u in joined & met.keys():
            costs[u] = cost(met, u)
    return order, cells


def eliminate_variables(
    order: Iterable[int], tables: Iterable[T], combine: Callable[[int, list[T]], T]
) -> list[T]:
    """Eliminate variables from tables, which begin with their variables; return those left.

    ``combine`` returns the table that replaces the tables over a variable.
    """
    remaining = list(tables)
    for u in order:
        touching = [table for table in remaining if u in table[0]]
        remaining = [table for table in remaining if u not in table[0]]
        remaining.append(combine(u, touching))
    return remaining


def eliminate_log_tables(
    order: Iterable[int], tables: Iterable[LogTable], over: Over = log_sum_exp
) -> tuple[list[LogTable], list[LogTable]]:
    """Eliminate variables by sum or maximum; return each product, and the other tables."""
    joined: list[LogTable] = []

    def multiply_and_eliminate(u: int, touching: list[LogTable]) -> LogTable:
        scope, logs = multiply_tables(touching)
        joined.append(LogTable(scope, logs))
        return LogTable(tuple([w for w in scope if w != u]), over(logs, axis=1 + scope.index(u)))

    return joined, eliminate_variables(order, tables, multiply_and_eliminate)


def posteriors_by_reverse_elimination(
    order: Sequence[int], joined: Sequence[LogTable]
) -> list[LogTable]:
    """Return the posteriors of the joined tables of an elimination, in reverse, which sum to 1."""
    position = {u: i for i, u in enumerate(order)}
    beliefs: list[LogTable] = [*joined]
    for i, u in reversed(list(enumerate(order))):
        scope, logs = joined[i]
        shares = softmax(logs, axis=1 + scope.index(u))
        remaining = tuple([w for w in scope if w != u])
        if remaining:
            summed_into = beliefs[min(position[w] for w in remaining)]
            shares = shares * _spread_over_axes(
                *marginalize_to_scope(summed_into, remaining), scope
            )
        beliefs[i] = LogTable(scope, shares)
    return beliefs


def marginalize_to_scope(belief: LogTable, scope: tuple[int, ...]) -> LogTable:
    """Sum posteriors over all features except some, which are in ascending order."""
    axes = tuple([1 + i for i, w in enumerate(belief.scope) if w not in scope])
    return LogTable(scope, belief.logs.sum(axis=axes))


def multiply_tables(tables: Sequence[LogTable]) -> LogTable:
    """Return the product of tables, over the features of all of them."""
    scope = tuple(sorted(set().union(*[table.scope for table in tables])))
    smallest_first = sorted(tables, key=lambda table: table.logs.size)
    spread = [_spread_over_axes(*table, scope) for table in smallest_first]
    return LogTable(scope, reduce(np.add, spread))


def _spread_over_axes(members: tuple[int, ...], logs: Array, scope: tuple[int, ...]) -> Array:
    """Reshape a table to have an axis per feature of a scope, of length 1 for absent features."""
    if members == scope:
        return logs
    rows, *lengths, classes = logs.shape
    length = dict(zip(members, lengths, strict=True))
    return logs.reshape(rows, *[length.get(u, 1) for u in scope], classes)


def _restrict_factor(
    factor: Factor, free: Collection[int], codes: Codes, context: Codes
) -> LogTable:
    """Look up a factor's observed members; missing ones keep their axes, in ascending order."""
    # A table over (0, 1, 2), in which 1 is missing, becomes an array (levels of 0, of 2, contexts,
    # levels of 1, classes), of which a row selects the entry of its codes: (levels of 1, classes).
    axis = {u: i for i, u in enumerate(factor.scope)}
    free_members = sorted(u for u in factor.scope if u in free)
    fixed = [u for u in factor.scope if u not in free]
    table = factor.padded_table[
        tuple(slice(-1) if u in free else slice(None) for u in factor.scope)
    ]
    n = len(axis)
    table = np.transpose(
        table, [axis[u] for u in fixed] + [n] + [axis[u] for u in free_members] + [n + 1]
    )
    # The context is observed in every row; a missing code, -1, selects the padding.
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for u in fixed:
        index = index * factor.padded_table.shape[axis[u]] + codes[u]
    index = index * factor.table.shape[-2] + context
    shape = table.shape[len(fixed) + 1 :]
    flat = table.reshape(-1, prod(shape))
    return LogTable(tuple(free_members), flat.take(index, axis=0, mode="wrap").reshape(-1, *shape))


_MOST_COMBINATIONS = 2**16

LogJoint = Callable[[Codes], Array]


def score_combinations(
    log_joint: LogJoint, codes: Codes, hidden: Sequence[int], cards: Sequence[int]
) -> Array:
    """Return logs of rows with each combination of hidden values, (rows, n, classes)."""
    n, dtype = prod(cards), np.result_type(codes, code_type(max(cards, default=0)))
    tried = np.repeat(codes.astype(dtype), n, axis=1)
    tried[list(hidden)] = np.tile(np.indices(cards).reshape(len(cards), n), codes.shape[1])
    logs = log_joint(tried)
    return logs.reshape(codes.shape[1], n, logs.shape[1])


def fill_in_by_enumeration(log_joint: LogJoint, cards: Sequence[int], codes: Codes) -> Codes:
    """Return (variables, rows) codes with the most probable values for -1, scoring all.

    ``log_joint`` returns (rows, levels of the last variable) from the codes of
    the other variables.
    """
    result = codes.copy()
    incomplete = np.nonzero((codes < 0).any(axis=0))[0]
    for hidden, alike in groups_of_equal_columns(codes[:, incomplete] < 0):
        rows = incomplete[alike]
        features = [v for v in hidden if v < len(cards) - 1]
        shape = [cards[v] for v in features]
        n = prod(shape)
        if n > _MOST_COMBINATIONS:
            raise ValueError(
                f"frame: {len(hidden)} values are missing together in a row and have more than "
                f"{_MOST_COMBINATIONS:,} combinations, all of which an average of networks has to "
                "score. Use a single network (BNC)."
            )
        for some in slices(len(rows), n * len(cards)):
            block = rows[some]
            labels = codes[-1:, block].T
            logs = score_combinations(log_joint, codes[:-1, block], features, shape)
            possible: Mask = (labels == np.arange(cards[-1])) | (labels < 0)
            best = first_best(np.where(possible[:, None], logs, -np.inf).reshape(len(block), -1))
            result[np.ix_(np.array([*features, -1]), block)] = np.unravel_index(
                best, (*shape, cards[-1])
            )
    return result


def fill_in_by_elimination(
    terms: Sequence[NetworkTerm],
    codes: Codes,
    labels: Codes,
    rng: np.random.Generator | None = None,
) -> Codes:
    """Return codes and labels, (variables, rows), with the most probable values or drawn ones."""
    over: Over = np.max if rng is None else log_sum_exp
    choose = first_best if rng is None else partial(draw_column_per_row, rng=rng)
    factors, coded = as_factors_and_codes(terms, codes)
    result = np.vstack([coded, labels])
    unknown = np.nonzero(labels < 0)[0]
    if len(unknown):
        features = coded[:, unknown]
        by_class = sum_terms(factors, features)
        add_terms_by_elimination(by_class, factors, features, everywhere=True, over=over)
        result[-1, unknown] = choose(by_class)
    for component in components_of_missing(factors, coded, everywhere=True):
        joined, _ = eliminate_log_tables(component.order, component.tables, over)
        rows = np.arange(len(component.rows))
        # The last eliminated variable is chosen first; then those before it, given the chosen ones.
        for u, (scope, logs) in zip(reversed(component.order), reversed(joined), strict=True):
            index: list[Any] = [result[w, component.rows] for w in scope]
            index[scope.index(u)] = slice(None)
            classes = result[-1, component.rows] if logs.shape[-1] > 1 else np.zeros_like(rows)
            result[u, component.rows] = choose(logs[(rows, *index, classes)])
    return result


def draw_column_per_row(logs: Array, rng: np.random.Generator) -> Positions:
    thresholds = np.exp(log_normalize(logs)).cumsum(axis=1)[:, :-1]
    return np.asarray(np.count_nonzero(rng.random(len(logs))[:, None] >= thresholds, axis=1))


# Draws from dependency networks by ordered Gibbs sampling.


BURN_IN = 100
"""Number of sweeps over the missing features before a draw."""

MOST_SWEEPS = 1_000_000


class _MemberTable(NamedTuple):
    """The logs of a family, (levels of the other members…, classes, levels of one member)."""

    others: tuple[int, ...]
    table: Array

    def logs_of_levels(self, codes: Codes, labels: Positions, rows: Positions) -> Array:
        """Return the logs of the member's levels in some rows, 0 if another member is unknown."""
        *shape, n_classes, card = self.table.shape
        index = np.zeros(len(rows), dtype=np.intp)
        for v, size in zip(self.others, shape, strict=True):
            index = index * size + codes[v, rows]  # -1 selects an entry of the padding
        flat = self.table.reshape(-1, card)
        return flat.take(index * n_classes + labels[rows], axis=0, mode="wrap")


@dataclass(frozen=True, eq=False)
class GibbsSampler:
    """Draws features given the class: in a sweep, one after the other given all others.

    A feature is drawn from its own table times those of its children that are
    not its parents, too: in a network without cycles its distribution given all
    others, and in one whose arcs all have both directions its own table alone.
    """

    terms: Mapping[int, Sequence[_MemberTable]]

    @classmethod
    def from_factors(cls, factors: Sequence[Factor]) -> GibbsSampler:
        """Return the sampler of features' families; parents come first unless arcs form a cycle."""
        parents = {v: list(factor.scope[1:]) for v, factor in enumerate(factors)}
        order = list(parents)
        if not find_cycle(parents):
            order = list(chain.from_iterable(topological_layers(parents)))
        terms: dict[int, list[_MemberTable]] = {}
        for v in order:
            terms[v] = [_table_of_member(factors[v], v)]
            for child, above in parents.items():
                if v in above and child not in parents[v]:
                    terms[v].append(_table_of_member(factors[child], v))
        return cls(terms)

    def draw_missing(
        self, codes: Codes, labels: Positions, burn_in: int, rng: np.random.Generator
    ) -> Codes:
        """Return rows with values for -1 after sweeps; the first starts from observed values."""
        drawn = codes.copy()
        rows_of = {v: np.flatnonzero(codes[v] < 0) for v in self.terms}
        hidden = {v: rows for v, rows in rows_of.items() if len(rows)}
        for _ in range(1 + burn_in):
            for v, rows in hidden.items():
                logs: Array = np.sum(
                    [term.logs_of_levels(drawn, labels, rows) for term in self.terms[v]], axis=0
                )
                drawn[v, rows] = draw_column_per_row(logs, rng)
        return drawn


def _table_of_member(factor: Factor, v: int) -> _MemberTable:
    axis = factor.scope.index(v)
    table = np.moveaxis(factor.padded_table[..., 0, :], axis, -1)[..., :-1]
    return _MemberTable(tuple([u for u in factor.scope if u != v]), table)


# The rule for incomplete rows of weighted models: how much terms and trees count.


@record
@dataclass(frozen=True, eq=False)
class Fading(Immutable):
    """The score of a row in which a share h of the features is missing.

        (1 − h) Σ terms + h (ln P(y) + (power + (1 − power) h) M)

    M is the mean log evidence of the observed features given the class in trees
    that marginalize over the missing ones, and ``usual`` the share of the
    training rows in which each feature is known, which weighs it in h.
    ``power`` is the best one for complete rows, where dependent features are
    counted repeatedly; of a single feature it is 1.
    """

    bounds = field_bounds(usual=(0.0, 1.0), power=POWER)

    usual: Array
    power: float

    def kept_share_and_added_scores(
        self, codes: Codes, log_prior: Array, evidence: Array
    ) -> tuple[Array, Array]:
        """Return 1 − h, (rows,), and the scores added to the terms, (…, rows, classes)."""
        h = self.usual @ np.less(codes, 0) / (float(self.usual.sum()) or 1.0)
        power = (self.power + (1 - self.power) * h)[:, None]
        return 1 - h, h[:, None] * (log_prior + power * evidence)
