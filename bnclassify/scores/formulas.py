"""Formulas of the scores of the classes: a fitted model is its formula, which `evaluate` evaluates.

A row is one code per feature, -1 if it is missing, and the numbers of some
features, NaN if missing. The value of a formula is one score per class. The
posterior is exp(score) / Σ exp(score), and uniform if all scores are -inf. A
score is NaN if the formula does not apply to the row. If that of the whole
formula is NaN, the prediction is missing. h is the share of the features whose
code is -1.

Each term has an `owner`: the position of the feature to whose family it
belongs, -1 for that of the class.

`as_plain_formula` returns a formula of plain values only, which other languages
can evaluate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..tools.arrays import Array, ArrayOf, Codes
from ..tools.graphs import find_cycle
from ..tools.immutable import cached_property
from .densities import Density, Gaussian
from .factors import AlikeFactors, Factor
from .fading import Fading
from .rows import Rows
from .unknown import UnknownEffects

Coding: TypeAlias = ArrayOf[Any] | None
"""The code in a table of each code of a feature, ascending with it; None if they are the same."""


@dataclass(frozen=True, eq=False)
class Table:
    """Entries that are looked up: ``logs[codes of the features in scope]``, one number per class.

    ``logs`` is (values of each feature in scope…, classes), or (…, 1) if all
    classes have the same entry. In a `Sum` that does not marginalize, each
    feature has one value more, the last, for a missing value. ``codings`` has
    one `Coding` per feature in scope, and is empty if none is coded.
    """

    owner: int
    scope: tuple[int, ...]
    logs: Array
    codings: tuple[Coding, ...] = ()

    @cached_property
    def _entries_missing_first(self) -> Array:
        """The entries as (cells, classes), with those of missing values first on each axis."""
        axes = tuple(range(len(self.scope)))
        return np.roll(self.logs, 1, axes).reshape(-1, self.logs.shape[-1])

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return a table's entries at rows, (rows or 1, classes), with ones for missing values."""
        if len(self.scope) == 1 and not self.codings:  # -1 is the position of the last entry
            entries: Array = self.logs.take(codes[self.scope[0]], axis=0)
            return entries
        cells = np.zeros(codes.shape[1] if self.scope else 1, dtype=np.intp)
        codings = self.codings or (None,) * len(self.scope)
        for v, coding, card in zip(self.scope, codings, self.logs.shape, strict=False):
            cells *= card
            cells += codes[v] if coding is None else coding[codes[v]]
            cells += 1
        return self._entries_missing_first.take(cells, axis=0)

    @property
    def entries_if_parents_missing(self) -> Array:
        """The owner's entries if other features in scope are missing, (values + 1, classes)."""
        logs = self.logs.reshape(len(self.logs), -1, self.logs.shape[-1])[:, -1]
        return logs if not self.codings or self.codings[0] is None else logs[self.codings[0]]

    def as_plain_terms(self) -> tuple[Table, ...]:
        """Return the term as plain tables."""
        return (self,)


class Counted(Protocol):
    """A term that is computed for the rows that ask for it, because its table can be large."""

    @property
    def owner(self) -> int:
        """The feature to whose family it belongs, -1 for the class."""

    @property
    def scope(self) -> tuple[int, ...]:
        """The features on which it depends."""

    @property
    def entries_if_parents_missing(self) -> Array:
        """Its values if all other features in scope are missing, as of a `Table`."""

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return its values at rows, (rows or 1, classes or 1)."""

    def as_plain_terms(self) -> tuple[Table, ...]:
        """Return the term as plain tables, or raise a ValueError if they would be too large."""


@dataclass(frozen=True, eq=False)
class Numeric:
    """The log density of the owner's number, in cells of features in scope, a `Normal`."""

    owner: int
    scope: tuple[int, ...]
    density: Density

    def as_plain_terms(self) -> tuple[Normal, ...]:
        """Return the term as a normal density, or raise a TypeError if it is not."""
        density = self.density
        if not isinstance(density, Gaussian):
            raise no_formula_error("a model with kernel densities")
        normal = Normal(self.owner, self.scope, density.mean, density.variance, density.rest)
        return (normal,)


@dataclass(frozen=True, eq=False)
class Normal:
    """The log density of the owner's number: -(ln(2π variance) + (number - mean)² / variance) / 2.

    ``mean``, ``variance`` and ``rest``, which the rounding of the mean leaves,
    are looked up like a `Table`. If the number is missing, the term is 0 for
    all values of the features in scope.
    """

    owner: int
    scope: tuple[int, ...]
    mean: Array
    variance: Array
    rest: Array | None = None

    @cached_property
    def density(self) -> Gaussian:
        """The density of the number."""
        return Gaussian(self.mean, self.variance, self.rest)


Term: TypeAlias = Table | Counted | Numeric | Normal


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of a row's terms, over all values of missing features if it ``marginalizes``."""

    terms: tuple[Term, ...]
    marginalizes: bool

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The tables of a sum that marginalizes, in the order of the terms."""
        return tuple(
            [Factor(t.scope, t.logs[..., None, :]) for t in self.terms if isinstance(t, Table)]
        )

    @cached_property
    def stacked_factors(self) -> list[AlikeFactors]:
        """The tables of a sum that marginalizes, stacked by their shape."""
        by_shape = groupby(self.factors_ordered_by_shape, lambda factor: factor.table.shape)
        return [AlikeFactors.from_factors(list(alike)) for _, alike in by_shape]

    @cached_property
    def factors_ordered_by_shape(self) -> list[Factor]:
        """The tables of a sum that marginalizes, those of the same shape together."""
        alike: dict[tuple[int, ...], list[Factor]] = {}
        for factor in self.factors:
            alike.setdefault(factor.table.shape, []).append(factor)
        return [factor for factors in alike.values() for factor in factors]

    @cached_property
    def densities_by_owner(self) -> dict[int, tuple[tuple[int, ...], Density]]:
        """The scopes and densities of the terms of numbers, by their owners."""
        numeric = [term for term in self.terms if isinstance(term, Numeric | Normal)]
        return {term.owner: ((term.owner, *term.scope), term.density) for term in numeric}

    @cached_property
    def codings_by_feature(self) -> dict[int, ArrayOf[Any]]:
        """The codings of the features that the tables of a sum that marginalizes share."""
        found: dict[int, ArrayOf[Any]] = {}
        for table in self.terms:
            if isinstance(table, Table):
                pairs = zip(table.scope, table.codings, strict=False)
                found |= {v: coding for v, coding in pairs if coding is not None}
        return found

    @cached_property
    def is_cyclic(self) -> bool:
        """Whether the arcs from the other features in the scopes to the owners form a cycle."""
        scopes = {term.owner: term.scope for term in self.terms}
        above = {i: [v for v in scope if v != i] for i, scope in scopes.items() if i >= 0}
        return bool(find_cycle(above))


@dataclass(frozen=True, eq=False)
class Mixture:
    """The score ln Σ_i exp(log_weight_i + score_i) over formulas that apply, NaN if none does."""

    formulas: tuple[Formula, ...]
    log_weights: Array


@dataclass(frozen=True, eq=False)
class Choice:
    """The score of the first of the formulas that applies."""

    formulas: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Raised:
    """The score of a formula, times power + (1 - power)·h; ``shift`` is added per class."""

    formula: Formula
    power: float
    shift: Array | None = None


@dataclass(frozen=True, eq=False)
class Blend:
    """The score of a formula, in incomplete rows blended with that of trees: see `Fading`.

    ``shift`` is added per class.
    """

    formula: Formula
    log_prior: Array
    trees: tuple[Formula, ...]
    rule: Fading
    shift: Array | None = None


@dataclass(frozen=True, eq=False)
class Completed:
    """The score of a sum of effects of features and pairs, maybe unknown; see `UnknownEffects`.

    ``shift`` is added per class.
    """

    formula: Sum
    unknown: UnknownEffects
    shift: Array | None = None


@dataclass(frozen=True, eq=False)
class Computed:
    """Scores of a function: faster than the formula they equal, or because there is none.

    ``scores_of_rows`` returns the scores of `Rows`, (rows, classes). ``plain``,
    if any, returns the formula, or raises a TypeError. If it ``averages``, the
    formula is a `Mixture`. ``called`` is the model in messages.
    """

    scores_of_rows: Callable[[Rows], Array]
    called: str
    plain: Callable[[], Formula] | None = None
    averages: bool = False


@dataclass(frozen=True, eq=False)
class Recoded:
    """A formula's score at rows with some codes changed; ``called`` is the model in messages."""

    formula: Formula
    change: Callable[[Codes], Codes]
    called: str


Formula: TypeAlias = Sum | Mixture | Choice | Raised | Blend | Completed | Computed | Recoded


def add_to_scores(x: Formula, shift: Array) -> Formula:
    """Return a formula with a number added to the scores of each class."""
    if isinstance(x, Mixture | Choice):
        return replace(x, formulas=tuple([add_to_scores(each, shift) for each in x.formulas]))
    if isinstance(x, Recoded):
        return replace(x, formula=add_to_scores(x.formula, shift))
    if isinstance(x, Computed):
        compute, plain = x.scores_of_rows, x.plain
        shifted = None if plain is None else lambda: add_to_scores(plain(), shift)
        return replace(x, scores_of_rows=lambda rows: compute(rows) + shift, plain=shifted)
    if isinstance(x, Sum):
        *terms, last = x.terms
        if isinstance(last, Table) and last.owner < 0:  # the class is the last in a network
            return replace(x, terms=(*terms, replace(last, logs=last.logs + shift)))
        return replace(x, terms=(*x.terms, Table(-1, (), shift)))
    return replace(x, shift=shift if x.shift is None else x.shift + shift)


def as_plain_formula(x: Formula) -> Formula:
    """Return a formula of plain values only, or raise an error that says why there is none."""
    if isinstance(x, Computed):
        if x.plain is None:
            raise no_formula_error(x.called)
        return as_plain_formula(x.plain())
    if isinstance(x, Recoded):
        raise no_formula_error(x.called)
    if isinstance(x, Sum):
        terms = list[Term]()
        for term in x.terms:
            terms += (term,) if isinstance(term, Normal) else term.as_plain_terms()
        return replace(x, terms=tuple(terms))
    if isinstance(x, Mixture | Choice):
        return replace(x, formulas=tuple(map(as_plain_formula, x.formulas)))
    if isinstance(x, Blend):
        trees = tuple(map(as_plain_formula, x.trees))
        return replace(x, formula=as_plain_formula(x.formula), trees=trees)
    if isinstance(x, Completed):
        return x
    return replace(x, formula=as_plain_formula(x.formula))


def no_formula_error(got: str) -> TypeError:
    """Return the error about a model without a formula that other languages can evaluate."""
    return TypeError(
        f"x must be a model whose scores are sums of tables; got {got}. Use a model of one class "
        "variable, fitted without kernels and without subsumption."
    )


def sums_in_formula(formula: Formula) -> Iterator[Sum]:
    """Yield the sums of which a formula is made."""
    if isinstance(formula, Sum):
        yield formula
        return
    for value in vars(formula).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Formula):
                yield from sums_in_formula(part)


def formula_of_complete_rows(x: Formula) -> Any:
    """Return the formula of complete rows, without the blend."""
    return x.formula if isinstance(x, Blend | Completed) else x


def is_sum_of_tables(x: Formula) -> bool:
    """Whether the scores of complete rows are a sum of terms with entries for missing values."""
    core = formula_of_complete_rows(x)
    return isinstance(core, Sum) and not core.marginalizes


def scopes_of_terms(x: Formula) -> list[tuple[int, ...]] | None:
    """Return the features of each term of the scores; None if these are not a sum of terms."""
    if isinstance(x, Blend | Completed | Raised):
        return scopes_of_terms(x.formula)
    if not isinstance(x, Sum):
        return None
    scopes = []
    for term in x.terms:
        if isinstance(term, Numeric | Normal):
            scopes.append((term.owner, *term.scope))
        else:
            scopes.append(term.scope)
    return scopes


def averaged_formulas(x: Formula) -> tuple[Formula, ...]:
    """Return the formulas whose exponentials are averaged in every row; none if not a mean."""
    if isinstance(x, Computed) and x.averages and x.plain is not None:
        x = x.plain()
    return x.formulas if isinstance(x, Mixture) else ()


def pad_for_missing(logs: Array, value: float = 0.0) -> Array:
    """Return a table's entries with one more, for missing values, on all axes but the last."""
    widths = [(0, 1)] * (logs.ndim - 1) + [(0, 0)]
    return np.pad(logs, widths, constant_values=value)
