"""A fitted model is a formula, and this chapter evaluates it.

A formula is a sum of terms, a mixture or a choice of formulas, or a formula that
is raised to a power or completed. It knows the features that each term needs,
and so also how features that are unknown or missing are left out of it.
`scores_at` returns the scores of rows, (rows, classes): the log joint
probability for a network, and unnormalized log posteriors for a sum of effects.
Predictions, explanations, SQL and the page read the same formulas, so that they
agree. The functions at the end return the effects of single features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress, groupby
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from .elimination import (
    AlikeFactors,
    Density,
    DensityTerm,
    Factor,
    Fading,
    Gaussian,
    add_marginalized_terms,
    log_joint_of_network,
    posteriors_of_families,
    sum_terms,
)
from .tools.arrays import (
    BLOCK_CELLS,
    BLOCK_ROWS,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    log,
    log_sum_exp,
    one_thread,
    slices,
)
from .tools.graphs import find_cycle
from .tools.immutable import (
    ANY_NUMBER,
    COUNT,
    PROBABILITY,
    Immutable,
    cached_property,
    field_bounds,
    record,
)

# Rows at which formulas are evaluated: their codes, and their numbers.


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the features of a model: codes, and the numbers of some features.

    ``codes`` are (features, rows), -1 if the value is missing. ``numbers`` has
    the numbers of some features, by position, (rows,), NaN if missing. The code
    of a number without levels is 0, or -1 if it is missing. ``unknown``,
    (features, rows), tells which values are unknown, or is None if none is. The
    code of an unknown value is -1, too, and its number is NaN; see `scores_at`.
    """

    codes: Codes
    numbers: Mapping[int, Array] = field(default_factory=dict)
    unknown: Mask | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    def subset(self, rows: Any) -> Rows:
        numbers = {i: values[rows] for i, values in self.numbers.items()}
        unknown = None if self.unknown is None else self.unknown[:, rows]
        return Rows(self.codes[:, rows], numbers, unknown)

    def with_values_missing(self, hidden: Mask) -> Rows:
        numbers = {i: np.where(hidden[i], np.nan, values) for i, values in self.numbers.items()}
        return Rows(np.where(hidden, -1, self.codes), numbers, self.unknown)

    def with_values_unknown(self, unknown: Mask) -> Rows:
        rows = self.with_values_missing(unknown)
        told = unknown if self.unknown is None else unknown | self.unknown
        return Rows(rows.codes, rows.numbers, told)

    def revealed_in_sequence(self, order: Sequence[int]) -> Rows:
        """Return each row with its first 0, 1, 2 … features in an order, the others missing.

        The result has (1 + features) · rows rows: first all rows without
        features, then with the first.
        """
        features, n = self.codes.shape
        step = np.empty(features, dtype=np.intp)
        step[list(order)] = np.arange(len(order))
        hidden = np.repeat(step[:, None] >= np.arange(len(order) + 1), n, axis=1)
        return self.subset(np.tile(np.arange(n), len(order) + 1)).with_values_missing(hidden)

    @property
    def mask_of_complete_rows(self) -> Mask:
        complete: Mask = self.codes.min(axis=0, initial=0) >= 0
        return complete


# Unknown values in sums of effects: effects given the known ones, as joint normals.


UNKNOWN = -2
"""The state of an unknown value, which is not evidence; that of a missing one is -1."""

_LEAST_VARIANCE = 1e-4
USUAL_ROWS = 5  # number of training rows with so many missing values that show what these add up to
# The mean of a logistic function of a normal number z is about that of z / √(1 + πv/8).
_PROBIT = np.pi / 8


@record
@dataclass(frozen=True, eq=False)
class UnknownEffects(Immutable):
    """Means and covariances of the effects of features, then of pairs, in training rows.

    An effect is the log odds of a class against the first one, so that a
    feature has one per other class; they are in the order of the features and
    pairs. A pair is known if both features are. If some effects are unknown,
    their sum has a normal distribution given the known ones, with mean E and,
    as the mean over pairs of classes, variance v. With the log odds L of the
    class ``shares``, and the variance v₀ and the log odds z₀ of a row of which
    nothing is known, the log odds are

        (constant + Σ known effects + E) / √(1 + π v / 8) + (L − z₀ / √(1 + π v₀
        / 8)) v / v₀

    so that they are those of the shares if nothing is known. ``covariances``
    has variances only if there are more than 2,000 effects. A missing value of
    a feature that is ``always`` known in training is unknown, and so are those
    of features with ``gaps`` if a row has more of them than ``most``, as fewer
    than five training rows do, so that they do not show what so many add up to.
    """

    bounds = field_bounds(means=ANY_NUMBER, covariances=ANY_NUMBER, shares=PROBABILITY, most=COUNT)

    means: Array
    covariances: Array
    shares: Array
    always: Mask
    gaps: Mask
    most: float

    def __post_init__(self) -> None:
        super().__post_init__()
        n = self.means.size
        fits = self.covariances.shape in ((n, n), (n,)) and self.means.shape[0] >= len(self.always)
        if (
            not fits
            or self.means.ndim != 2
            or self.shares.shape not in ((self.means.shape[1] + 1,), (0,))
        ):
            raise ValueError("means and covariances must be those of the effects of each feature.")

    @classmethod
    def from_rows(
        cls, effects: Array, missing: Mask, weights: Array, shares: Array
    ) -> UnknownEffects:
        """Return the moments of effects in rows, (effects, rows, classes), that have weights.

        ``missing``, (features, rows), are the missing values that are counted.
        """
        odds = effects[..., 1:] - effects[..., :1]
        total = max(float(weights.sum()), 1e-300)
        means: Array = np.einsum("frc,r->fc", odds, weights) / total
        centered = np.moveaxis(odds - means[:, None], 1, 0).reshape(odds.shape[1], means.size)
        if means.size > 2_000:  # of which all covariances are kept
            covariances = weights @ centered**2 / total + _LEAST_VARIANCE
        else:
            root = np.sqrt(weights / total)[:, None] * centered
            covariances = root.T @ root
            of_classes = (np.eye(odds.shape[2]) + 1) / 2  # the same whichever class is the first
            covariances += _LEAST_VARIANCE * np.kron(np.eye(len(odds)), of_classes)
        most = number_of_usual_gaps(np.count_nonzero(missing, axis=0), weights)
        always = np.all(~missing, axis=1)
        # 9: digits of covariances, which are written to files and pages
        return cls(means, covariances.round(9), shares, always, ~always, most)

    def mask_of_unknown_values(self, codes: Codes, told: Mask | None) -> Mask:
        """Return which values are unknown, by codes (features, rows), and those said to be."""
        unknown = np.zeros(codes.shape, dtype=bool) if told is None else told
        missing = np.less(codes, 0) & ~unknown
        gaps = missing & self.gaps[:, None]
        too_many: Mask = np.count_nonzero(gaps, axis=0) > self.most
        return np.asarray(unknown | (missing & self.always[:, None]) | (gaps & too_many))

    def with_changed_effects(
        self, before: Sequence[Array], after: Sequence[Array], masses: Sequence[Array]
    ) -> Self:
        """Return moments for tables whose effects change a little, by the shares of values."""
        changes = [new - old for new, old in zip(after, before, strict=True)]
        pairs = zip(changes, masses, strict=True)
        added = [mass @ (change[:, 1:] - change[:, :1]) for change, mass in pairs]
        return replace(self, means=self.means + np.array(added).reshape(self.means.shape))

    def select_features(self, features: Sequence[int]) -> Self:
        """Return the moments of some of the features."""
        at = [i * self.n_other_classes + c for i in features for c in range(self.n_other_classes)]
        of_features = {
            name: getattr(self, name)[list(features)] for name in ("means", "always", "gaps")
        }
        covariances = self.covariances[np.ix_(*[at] * self.covariances.ndim)]
        return replace(self, covariances=covariances, **of_features)

    @property
    def n_other_classes(self) -> int:
        return self.means.shape[1]

    def scores_of_class_and_effects(
        self, constant: Array, effects: Array, states: Codes
    ) -> tuple[Array, Array]:
        """Return what class and effects add to the scores, (rows, classes), and each effect.

        ``effects`` are (effects, rows, classes), and ``states`` (effects,
        rows): 0 known, `UNKNOWN`, or -1 missing. Unknown effects are not read,
        and missing ones are not evidence of these. What the known effects say
        of the unknown ones is in the parts of the known ones.
        """
        odds = effects[..., 1:] - effects[..., :1]
        start, parts = np.zeros(effects.shape[1:]), np.zeros(effects.shape)
        per_variance = self._log_odds_correction_per_variance(constant)
        patterns, of_row = np.unique(states, axis=1, return_inverse=True)
        of_row = of_row.ravel()
        order = np.argsort(of_row, kind="stable")
        for block in slices(len(order), self.means.size * self.n_other_classes, 16 * BLOCK_CELLS):
            rows = order[block]
            numbers, own = np.unique(of_row[rows], return_inverse=True)
            with one_thread:  # small equations
                weights, variances = self._regressions_on_known(patterns.T[numbers])
            variance, means = variances[own, None], self.means[:, None]
            unknown: Mask = states[:, rows, None] == UNKNOWN
            effect = np.where(unknown, 0.0, odds[:, rows])
            from_mean = np.where(states[:, rows, None] >= 0, effect - means, 0.0)
            effect += np.einsum("rkcd,krc->krd", weights[own], from_mean)
            expected: Array = constant[1:] - constant[0] + (unknown * means).sum(axis=0)
            scale = np.sqrt(1 + _PROBIT * variance)
            start[rows, 1:] = expected / scale + per_variance * variance
            parts[:, rows, 1:] = effect / scale
        return start, parts

    def _regressions_on_known(self, states: Codes) -> tuple[Array, Array]:
        """Return known effects' weights in the sum of the unknown, and its variance given them.

        For ``states``, (patterns, effects), the weights are (patterns, effects,
        classes, classes), without the first class, and 0 for effects that are
        not known. Example: with the covariances [[a, b], [b, c]] and the second
        effect unknown, w solves a w = b, and the variance is c − b w.
        """
        q, n = self.n_other_classes, self.means.size
        weights, variances = np.zeros((len(states), n, q)), np.empty(len(states))
        known = states >= 0
        n_known: Positions = np.count_nonzero(known, axis=1)
        for number in map(int, np.unique(n_known)):  # they have equations of one shape
            alike = np.flatnonzero(n_known == number)
            for block in slices(len(alike), n * max(n, number * q), BLOCK_CELLS // 8):
                some = alike[block]
                hidden = np.repeat(states[some] == UNKNOWN, q, axis=1)[..., None]
                to_sum = hidden * np.tile(np.eye(q), (len(self.means), 1))  # (patterns, n, q)
                if self.covariances.ndim == 1:
                    between: Array = self.covariances[:, None] * to_sum
                else:
                    between = self.covariances @ to_sum  # of each effect and the sum
                    at = np.nonzero(np.repeat(known[some], q, axis=1))[1].reshape(len(some), -1)
                    given = self.covariances[at[:, :, None], at[:, None, :]]
                    of_known = np.take_along_axis(between, at[..., None], axis=1)
                    weights[some[:, None], at] = np.linalg.solve(given, of_known)
                within = to_sum.swapaxes(1, 2) @ between - between.swapaxes(1, 2) @ weights[some]
                variances[some] = mean_pairwise_variance(within)
        return weights.reshape(len(states), len(self.means), q, q), variances

    def _log_odds_correction_per_variance(self, constant: Array) -> Array:
        """Return what the log odds lack of the class shares if nothing is known, per variance."""
        if not len(self.shares) or not len(self.means):
            return np.zeros(self.n_other_classes)
        _, variance = self._regressions_on_known(np.full((1, len(self.means)), UNKNOWN))
        start: Array = constant[1:] - constant[0] + self.means.sum(axis=0)
        known: Array = np.log(self.shares[1:]) - np.log(self.shares[0])
        return np.asarray((known - start / np.sqrt(1 + _PROBIT * variance)) / variance)


def number_of_usual_gaps(gaps: Positions, weights: Array) -> float:
    """Return how many missing values at least five rows have, and 1 if fewer rows have any.

    >>> number_of_usual_gaps(np.array([0, 1, 2, 8]), np.array([90.0, 30.0, 10.0, 1.0]))
    2.0
    """
    of_numbers = np.bincount(gaps, weights)
    rows_with_as_many: Array = of_numbers[::-1].cumsum()[::-1]
    # 1e-9: rounding of weights
    usual = np.flatnonzero(rows_with_as_many >= USUAL_ROWS - 1e-9)
    return float(max(usual.max(initial=0), 1))


def mean_pairwise_variance(covariances: Array) -> Array:
    """Return the mean over pairs of classes of the variance of their log odds.

    ``covariances``, (…, classes, classes), are those of the log odds against
    the first class.

    >>> mean_pairwise_variance(np.array([[[2.0]]]))
    array([2.])
    """
    q = covariances.shape[-1]
    trace: Array = covariances.trace(axis1=-2, axis2=-1)
    return np.asarray(np.maximum(2 / q * (trace - covariances.sum(axis=(-2, -1)) / (q + 1)), 0.0))


# Formulas of the scores of the classes: a fitted model is its formula, see `scores_at`.
#
# A row is one code per feature, -1 if it is missing, and the numbers of some
# features, NaN if missing. The value of a formula is one score per class. The
# posterior is exp(score) / Σ exp(score), and uniform if all scores are -inf. A
# score is NaN if the formula does not apply to the row. If that of the whole
# formula is NaN, the prediction is missing. h is the share of the features whose
# code is -1.
#
# Each term has an `owner`: the position of the feature to whose family it
# belongs, -1 for that of the class.
#
# `as_plain_formula` returns a formula of plain values only, which other languages
# can evaluate.


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
        return Gaussian(self.mean, self.variance, self.rest)


Term: TypeAlias = Table | Counted | Numeric | Normal


class SingleTables(NamedTuple):
    """The tables of one feature in a sum, whose entries are stacked, to be looked up at once.

    ``are_single`` tells which terms they are. Each has the position of its
    feature and the ``start`` of its ``entries``, that of a missing value first.
    """

    are_single: list[bool]
    features: Positions
    starts: Positions
    entries: Array

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return the entries of each table at rows, (tables, rows, classes)."""
        cells = np.add(codes[self.features], 1 + self.starts[:, None], dtype=np.intp)
        return self.entries.take(cells, axis=0)


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of a row's terms, over all values of missing features if it ``marginalizes``."""

    terms: tuple[Term, ...]
    marginalizes: bool

    @cached_property
    def single_tables(self) -> SingleTables:
        n_classes = max([t.logs.shape[-1] for t in self.terms if isinstance(t, Table)], default=1)
        are_single = [
            isinstance(t, Table)
            and t.scope == (t.owner,)
            and not t.codings
            and t.logs.shape[1] == n_classes
            for t in self.terms
        ]
        tables = [t for t in compress(self.terms, are_single) if isinstance(t, Table)]
        starts = np.cumsum([0, *[len(t.logs) for t in tables]])[:-1]
        rows = [row for t in tables for row in (t.logs[-1:], t.logs[:-1])]
        features = np.array([t.owner for t in tables], dtype=np.intp)
        entries = np.concatenate([np.zeros((0, n_classes)), *rows])
        return SingleTables(are_single, features, starts, entries)

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

    @cached_property
    def tables(self) -> list[Table]:
        """The tables of the effects of features and pairs."""
        return [t for t in self.formula.terms if isinstance(t, Table) and t.owner >= 0]


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


# The one evaluation of a fitted model: scores of rows, in sequence, by term, by feature.
#
# `predict`, `explain`, `counterfactual`, `value_of_information` and `query`
# evaluate the formula of a model by these functions. `to_sql` and `write_page`
# write the same formula, so this section is also their specification.
#
# - `scores_at` returns the scores of rows. A value can be *missing*, or
#   *unknown*, which is not evidence. A sum that marginalizes does so for both. In
#   other sums, the entry of a missing value is added. A term whose owner is
#   unknown is not; an unknown parent has the entry of a missing one. `Completed`
#   adds what the known effects say of the unknown ones.
# - `scores_in_sequence` returns the scores of rows with the first 0, 1, 2 …
#   features in an order, whose differences are the contributions that `explain`
#   shows.
# - `term_values_at` returns the terms of a sum, `effects_at` the parts of the
#   scores that depend on some features alone, and `main_effects` their tables.


Effect: TypeAlias = tuple[int, tuple[int, ...], Array]
"""The owner of a part of the scores, the features it depends on, its (rows, classes) values."""


def scores_at(x: Formula, rows: Rows, *, adjusted: bool = True) -> Array:
    """Return the scores of rows, (rows, classes), NaN in rows to which the formula does not apply.

    Unless ``adjusted``, powers are those of complete rows and blends are their
    formulas alone.
    """
    if len(rows) <= BLOCK_ROWS or isinstance(x, Computed):
        return _scores_of_block(x, rows, adjusted)
    blocks = map(rows.subset, slices(len(rows), most=BLOCK_ROWS))
    return np.concatenate([_scores_of_block(x, block, adjusted) for block in blocks])


def _scores_of_block(x: Formula, rows: Rows, adjusted: bool) -> Array:
    if isinstance(x, Sum) and x.marginalizes:
        return _network_scores(x, rows)
    if isinstance(x, Sum):
        total: Array = np.zeros((len(rows), 1))
        for _, _, values in scopes_and_term_values(x, rows):
            if values.shape[1] > total.shape[1]:
                total = np.repeat(total, values.shape[1], axis=1)
            total += values
        return total
    if isinstance(x, Computed):
        return x.scores_of_rows(rows)
    if isinstance(x, Recoded):
        return _scores_of_block(x.formula, recoded_rows(x, rows), adjusted)
    if isinstance(x, Mixture):
        logs = np.stack([_scores_of_block(each, rows, adjusted) for each in x.formulas])
        logs = logs + x.log_weights[:, None, None]
        lacks = np.isnan(logs)  # to which a formula does not apply
        if not lacks.any():
            return log_sum_exp(logs, axis=0)
        total = log_sum_exp(np.where(lacks, -np.inf, logs), axis=0)
        return np.where(lacks.all(axis=0), np.nan, total)
    if isinstance(x, Choice):
        first, *others = [_scores_of_block(each, rows, adjusted) for each in x.formulas]
        for other in others:
            first = np.where(np.isnan(first), other, first)
        return first
    scores = _scores_of_block(x.formula, rows, adjusted)
    if isinstance(x, Completed):
        incomplete = np.flatnonzero(~rows.mask_of_complete_rows) if adjusted else ()
        if len(incomplete):
            start, parts = _completed_effects(x, rows.subset(incomplete))
            scores[incomplete] = start + parts.sum(axis=0)
    elif isinstance(x, Raised):
        scores = scores * (_power_per_row(x, rows) if adjusted else x.power)
    elif adjusted:
        _blend_incomplete_rows(x, scores, rows, scores_at)
    return scores if x.shift is None else scores + x.shift


def recoded_rows(x: Recoded, rows: Rows) -> Rows:
    return Rows(x.change(rows.codes), rows.numbers, rows.unknown)


def _power_per_row(x: Raised, rows: Rows) -> Array:
    """Return power + (1 - power)·h, (rows, 1)."""
    h: Array = np.count_nonzero(rows.codes < 0, axis=0) / max(1, len(rows.codes))
    return np.asarray((x.power + (1 - x.power) * h)[:, None])


def term_values_at(x: Sum, rows: Rows) -> Iterator[tuple[int, Array]]:
    """Yield owner and values, (rows or 1, classes), of each term of a sum without marginals.

    The values of a term whose owner is unknown are 0.
    """
    for owner, _, values in scopes_and_term_values(x, rows):
        yield owner, values


def scopes_and_term_values(x: Sum, rows: Rows) -> Iterator[Effect]:
    """Yield the owner of each term of such a sum, the features it depends on, and its values."""
    # 2**10: with more rows, tables are looked up one by one as fast
    looked_up = iter(x.single_tables.entries_of_rows(rows.codes) if len(rows) < 2**10 else ())
    for term, is_single in zip(x.terms, x.single_tables.are_single, strict=True):
        assert not isinstance(term, Numeric | Normal)  # which are only in sums that marginalize
        owner, values = term.owner, next(looked_up, None) if is_single else None
        if values is None:
            values = term.entries_of_rows(rows.codes)
        if rows.unknown is not None and owner >= 0 and rows.unknown[owner].any():
            values = np.where(rows.unknown[owner][:, None], 0.0, values)
        yield owner, term.scope, values


def numbers_of_feature(feature: int, rows: Rows) -> Array:
    """Return the numbers of a feature, NaN if they are not given."""
    values = rows.numbers.get(feature)
    return np.full(len(rows), np.nan) if values is None else values


def _network_scores(x: Sum, rows: Rows) -> Array:
    if x.densities_by_owner:
        return log_joint_of_network(*network_terms_and_codes(x, rows), cyclic=x.is_cyclic)
    codes = _codes_in_tables(x, rows)
    # 2**10: with more rows, tables are looked up one by one as fast
    total = sum_terms(x.stacked_factors if len(rows) < 2**10 else x.factors_ordered_by_shape, codes)
    if codes.min(initial=0) < 0:
        add_marginalized_terms(
            total, x.factors, codes, np.zeros(len(rows), np.intp), cyclic=x.is_cyclic
        )
    return total


def _codes_in_tables(x: Sum, rows: Rows) -> Codes:
    codes = rows.codes
    if x.codings_by_feature:
        codes = codes.copy()
        for v, coding in x.codings_by_feature.items():
            codes[v] = coding[rows.codes[v]]
    return codes


def network_terms_and_codes(x: Sum, rows: Rows) -> tuple[Sequence[Factor | DensityTerm], Codes]:
    """Return the terms of a network as `elimination` combines them, and the codes of rows for them.

    The code of a number is its position among the rows.
    """
    codes = _codes_in_tables(x, rows)
    if not x.densities_by_owner:
        return x.factors, codes
    codes, terms = codes.astype(np.intp), list[Factor | DensityTerm](x.factors)
    for i, (scope, density) in x.densities_by_owner.items():
        numbers = numbers_of_feature(i, rows)
        codes[i] = np.where(np.isnan(numbers), -1, np.arange(len(rows)))
        terms.insert(i, DensityTerm(scope, density, numbers))
    return terms, codes


def _blend_incomplete_rows(
    x: Blend,
    scores: Array,
    rows: Rows,
    at: Callable[[Formula, Rows], Array],
) -> None:
    """Blend the scores of incomplete rows, (…, rows, classes), with the trees.

    ``at`` returns the scores of a tree at rows, maybe in sequence.
    """
    some = np.flatnonzero(~rows.mask_of_complete_rows)
    if not len(some):
        return
    known = rows.subset(some)
    trees: Array = sum((at(tree, known) for tree in x.trees), np.zeros(1)) / len(x.trees)
    kept, added = x.rule.kept_share_and_added_scores(known.codes, x.log_prior, trees)
    scores[..., some, :] = kept[:, None] * scores[..., some, :] + added


def scores_in_sequence(x: Formula, rows: Rows, order: Sequence[int]) -> Array:
    """Return the scores of rows with their first 0, 1, 2 … features, (1 + features, rows, classes).

    Each feature comes after the others in the scope of the terms that it owns,
    unless these form a cycle.
    """
    if isinstance(x, Raised | Blend | Completed) and x.shift is not None:
        return x.shift + scores_in_sequence(replace(x, shift=None), rows, order)
    if isinstance(x, Raised):
        return _power_per_row(x, rows) * scores_in_sequence(x.formula, rows, order)
    if isinstance(x, Recoded):
        return scores_in_sequence(x.formula, recoded_rows(x, rows), order)
    if isinstance(x, Blend):
        logs = scores_in_sequence(x.formula, rows, order)
        _blend_incomplete_rows(x, logs, rows, partial(scores_in_sequence, order=order))
        return logs
    if isinstance(x, Completed):
        start, parts = _completed_effects(x, rows)
        owners = [term.owner for term in x.tables]
        return _cumulative_scores([(-1, start), *zip(owners, parts, strict=True)], len(rows), order)
    if not isinstance(x, Sum) or any(term.scope for term in x.terms if term.owner < 0):
        return _scores_of_revealed_rows(x, rows, order)
    if not x.marginalizes:
        return _cumulative_scores(term_values_at(x, rows), len(rows), order)
    # If the class has no parents and features follow their parents, an unknown feature has no known
    # descendants, so its table sums to 1, and each step adds one term to the previous sum.
    complete = rows.mask_of_complete_rows
    if complete.all():
        return _cumulative_scores(_network_term_values_at(x, rows), len(rows), order)
    known = rows.subset(complete)
    sums = _cumulative_scores(_network_term_values_at(x, known), len(known), order)
    logs = np.empty((len(order) + 1, len(rows), sums.shape[2]))
    logs[:, complete] = sums
    logs[:, ~complete] = _scores_of_revealed_rows(x, rows.subset(~complete), order)
    return logs


def _completed_effects(x: Completed, rows: Rows) -> tuple[Array, Array]:
    """Return the parts of class and tables, with what known effects imply for unknown ones."""
    unknown = x.unknown.mask_of_unknown_values(rows.codes, rows.unknown)
    [constant] = [t.logs for t in x.formula.terms if isinstance(t, Table) and t.owner < 0]
    # 0 known, -1 missing, -2 unknown; an effect of a pair has the lower state of its two features.
    state_of_features = np.where(unknown, UNKNOWN, np.minimum(rows.codes, 0))
    states = np.empty((len(x.tables), len(rows)), dtype=np.intp)
    parts = np.empty((*states.shape, len(constant)))
    effects = (own for own in scopes_and_term_values(x.formula, replace(rows, unknown=None)))
    for i, (_, scope, values) in enumerate(own for own in effects if own[0] >= 0):
        states[i] = state_of_features[scope[0]]
        for v in scope[1:]:
            np.minimum(states[i], state_of_features[v], out=states[i])
        parts[i] = values
    parts[states == UNKNOWN] = 0.0
    start = np.tile(constant, (len(rows), 1))
    some = np.flatnonzero((states == UNKNOWN).any(axis=0))
    if len(some):
        start[some], parts[:, some] = x.unknown.scores_of_class_and_effects(
            constant, parts[:, some], states[:, some]
        )
    return start, parts


def _scores_of_revealed_rows(x: Formula, rows: Rows, order: Sequence[int]) -> Array:
    logs = scores_at(x, rows.revealed_in_sequence(order))
    return logs.reshape(len(order) + 1, len(rows), logs.shape[1])


def _cumulative_scores(values: Iterable[tuple[int, Array]], n: int, order: Sequence[int]) -> Array:
    """Return the sums of the values of the class and of the first 0, 1, 2 … features."""
    by_owner: dict[int, Array] = {}
    for owner, added in values:
        by_owner[owner] = by_owner.get(owner, 0.0) + added
    width = max(added.shape[1] for added in by_owner.values())
    steps = np.zeros((len(order) + 1, n, width))
    for step, owner in zip(steps, (-1, *order), strict=True):
        step += by_owner.get(owner, 0.0)
    return np.cumsum(steps, axis=0)


def _network_term_values_at(x: Sum, rows: Rows) -> Iterator[tuple[int, Array]]:
    terms, codes = network_terms_and_codes(x, rows)
    for i, term in enumerate(terms):
        values = np.zeros((len(rows), term.n_classes))
        term.add_to_sums(values, codes)
        yield -1 if i + 1 == len(terms) else i, values


def effects_at(x: Formula, rows: Rows, cards: Sequence[int]) -> Iterator[Effect]:
    """Yield parts of scores that depend on some features alone: effects, terms of several.

    ``cards`` are the numbers of levels of the features. What the parts do not
    explain are interactions.
    """
    if isinstance(x, Recoded):
        yield from effects_at(x.formula, recoded_rows(x, rows), cards)
    elif isinstance(x, Raised):
        for owner, scope, logs in effects_at(x.formula, rows, cards):
            yield owner, scope, x.power * logs
    elif isinstance(x, Completed):
        _, parts = _completed_effects(x, rows)
        for table, part in zip(x.tables, parts, strict=True):
            yield table.owner, table.scope, part
    elif is_sum_of_tables(x):
        core: Sum = formula_of_complete_rows(x)
        effects = main_effects(x, cards)
        tables = _table_terms_of_features(core)
        wide = [table for table in tables if len(table.scope) > 1]
        if isinstance(x, Sum):  # of features with effects of their own, the pairs are terms
            owners_alone = {table.owner for table in tables if table.scope == (table.owner,)}
            wide = [table for table in wide if table.owner not in owners_alone]
        others = replace(core, terms=tuple([term for term in core.terms if term not in wide]))
        for i in sorted({term.owner for term in wide}):
            yield i, (i,), effects[i][rows.codes[i]]
        for i, scope, logs in scopes_and_term_values(others, rows):
            if i >= 0:
                yield i, scope, np.broadcast_to(logs, (len(rows), effects[i].shape[1]))
    else:
        for i, effect in enumerate(main_effects(x, cards)):
            if i in rows.numbers and not cards[i]:
                yield i, (i,), effect_of_feature_alone(x, i, rows)
            else:
                yield i, (i,), effect[rows.codes[i]]


def main_effects(x: Formula, cards: Sequence[int]) -> list[Array]:
    """Return each level's score less that of nothing known, (levels + 1, classes) per feature.

    The last entry is that of a missing value, and 0 unless the formula has
    entries for missing values. In a sum of tables, the table of a feature is
    the first that it owns, if all others are missing.
    """
    if isinstance(x, Raised):
        return [x.power * table for table in main_effects(x.formula, cards)]
    if is_sum_of_tables(x):
        n_classes = scores_at(x, _row_of_missing_values(len(cards))).shape[1]
        found: dict[int, Array] = {}
        for table in _table_terms_of_features(formula_of_complete_rows(x)):
            if table.owner not in found:  # the entries of others are not computed
                found[table.owner] = table.entries_if_parents_missing
        effects = [found.get(i, np.zeros((card + 1, 1))) for i, card in enumerate(cards)]
        return [np.broadcast_to(effect, (len(effect), n_classes)) for effect in effects]
    if isinstance(x, Sum) and not x.densities_by_owner and not x.is_cyclic:
        n, classes, tables = len(cards), x.factors[-1].n_classes, list[Array]()
        tables += [np.zeros((card + 1, classes)) for card in cards]  # 0 if missing
        nothing = np.full((n, 1), -1)
        for v, _, free, shares in posteriors_of_families(x.factors, nothing):
            if v < n:  # of ln P(level | class)
                others = tuple([1 + axis for axis, u in enumerate(free) if u != v])
                tables[v][:-1] = log(shares.sum(axis=others)[0])
        return tables
    tables = []
    for i, card in enumerate(cards):
        codes = np.full((len(cards), card + 1), -1, dtype=np.intp)
        codes[i, :-1] = np.arange(card)
        tables.append(effect_of_feature_alone(x, i, Rows(codes)))
        tables[-1][-1] = 0.0
    return tables


def _table_terms_of_features(x: Sum) -> list[Table | Counted]:
    """Return the terms of a sum that does not marginalize that are tables of features."""
    others = Numeric | Normal
    return [term for term in x.terms if not isinstance(term, others) and term.owner >= 0]


def _row_of_missing_values(n_features: int) -> Rows:
    return Rows(np.full((n_features, 1), -1))


def effect_of_feature_alone(x: Formula, feature: int, rows: Rows) -> Array:
    """Return the scores of rows in which only one feature is known, less that of nothing known."""
    hidden = np.full(rows.codes.shape, True)
    hidden[feature] = False
    with np.errstate(invalid="ignore"):  # a class of probability 0
        return scores_at(x, rows.with_values_missing(hidden)) - scores_at(
            x, _row_of_missing_values(len(hidden))
        )


def shifts_of_missing(x: Formula) -> dict[int, Array]:
    """Return what a missing value of each feature adds to the scores, (classes,), if not 0."""
    if isinstance(x, Raised):
        return shifts_of_missing(x.formula)
    found: dict[int, Array] = {}
    if not is_sum_of_tables(x):
        return found
    for term in _table_terms_of_features(formula_of_complete_rows(x)):
        shift: Array = term.entries_if_parents_missing[-1]
        if shift.any():
            found[term.owner] = found.get(term.owner, 0.0) + shift
    return found


def mask_of_values_without_effect(x: Formula, rows: Rows) -> Mask:
    """Return which values, (features, rows), add nothing to scores: unknown, most missing."""
    if isinstance(x, Recoded):
        return mask_of_values_without_effect(x.formula, recoded_rows(x, rows))
    if isinstance(x, Completed):
        return x.unknown.mask_of_unknown_values(rows.codes, rows.unknown)
    silent: Mask = np.less(rows.codes, 0)
    for i in shifts_of_missing(x):
        silent[i] = False if rows.unknown is None else rows.unknown[i]
    return silent
