"""Priors, which turn counts into probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar, cast

import numpy as np

from ..tools.arrays import Array, ArrayOf, Positions, map_by_shape, normalize
from ..tools.checks import Real, must_be
from ..tools.immutable import COUNT, Immutable, StackedArrays, field_bounds, record

if TYPE_CHECKING:
    from ..dataset import Countable
    from .families import Family, Scope

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
    """Whether a prior shrinks tables towards each other."""
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
    """Raise if a prior leaves probabilities of 0."""
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
