"""Priors of probability tables: the one place where counts become probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..backoff.counts import PrefixCounts
from ..backoff.nesting import nested_masses
from ..base.arrays import Array, normalize
from ..base.checks import check_flag
from ..base.messages import plain, shown
from ..base.records import record

Masses: TypeAlias = tuple[float, ...]


class Prior(Protocol):
    """Turns the counts of a family into its conditional probability table."""

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return a table that sums to 1 over the axis of the variable.

        Parameters
        ----------
        counts : array
            Its axes in family order. Axes before that of the variable are a stack of tables.
        axis : int
            The axis of the variable; those after it belong to its parents.
        """
        ...


@runtime_checkable
class PrefixPrior(Prior, Protocol):
    """A prior that adds pseudo-rows, and tells how many to each prefix of a family."""

    @property
    def nested(self) -> bool:
        """Whether pseudo-rows are spread as the prefix before is; if not, uniformly."""

    def masses(self, prefixes: Sequence[PrefixCounts], cards: Sequence[int], *, of_class: bool) -> Masses:
        """Return the pseudo-rows of each prefix, as `PrefixTable` has them.

        Parameters
        ----------
        prefixes : sequence of PrefixCounts
        cards : sequence of int
            Number of levels of the variable and of its feature parents.
        of_class : bool
            Whether the variable is the class.
        """


def is_nested(prior: Prior) -> TypeGuard[PrefixPrior]:
    """Whether a prior needs the counts of shorter tables: it spreads pseudo-rows as the prefix before is."""
    return getattr(prior, "nested", False) is True  # asking for the protocol takes longer than a table


def check_prefix_prior(prior: Prior) -> PrefixPrior:
    """Return a prior that adds pseudo-rows to every prefix, or raise."""
    if not isinstance(prior, PrefixPrior):
        raise TypeError("prior: expected one of smooth, ess, m and backoff, which say how tables back off")
    return prior


class PseudoCounts:
    """A Dirichlet prior: the same pseudo-count is added to every cell of a table.

    (N_ijk + a) / (N_ij· + r a), with r levels of the variable; uniform where there is no mass.
    """

    nested = False

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return a for a variable with so many levels, its parents with so many configurations."""
        raise TypeError(f"{type(self).__name__} does not say what it adds to a cell")

    @property
    def is_positive(self) -> bool:
        """Whether it adds anything, so that no probability is 0."""
        return bool(self.per_cell(2, 2) > 0)

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return the posterior mean of the table; see `Prior`."""
        levels, *parent_cards = counts.shape[axis:]
        return normalize(counts + self.per_cell(levels, prod(parent_cards)), axis)

    def masses(self, prefixes: Sequence[PrefixCounts], cards: Sequence[int], *, of_class: bool) -> Masses:
        """Return r a of each prefix; see `PrefixPrior`."""
        levels, *parent_cards = cards
        root = len(prefixes) - len(cards)
        configurations = [
            p.counts.shape[1] * prod(parent_cards[: max(0, i - root)]) for i, p in enumerate(prefixes)
        ]
        return tuple([float(levels * self.per_cell(levels, q)) for q in configurations])

    def side_by_side(
        self,
        counts: NDArray[Any],
        variable: NDArray[np.intp],
        cards: NDArray[np.intp],
        configurations: int = 1,
    ) -> Array:
        """Return the tables of several variables, whose levels follow one another along the last axis.

        Parameters
        ----------
        counts : array
            Some levels may be left out; then they occur in no row that is counted here.
        variable : (levels,) array of int
            The variable that has each level, in ascending order.
        cards : (variables,) array of int
            Their numbers of levels.
        configurations : int
            The number of configurations of the parents.
        """
        starts = np.flatnonzero(np.diff(variable, prepend=-1))
        lengths = np.diff(np.append(starts, len(variable)))
        levels = cards[variable[starts]]
        pseudo = np.zeros(levels.shape) + self.per_cell(levels, configurations)
        mass = counts + np.repeat(pseudo, lengths)
        total = np.add.reduceat(counts, starts, axis=-1, dtype=np.float64) + levels * pseudo
        if not total.all():  # a table of nothing is uniform
            empty = total == 0
            mass += np.repeat(empty, lengths, axis=-1)
            total += empty * levels
        mass /= np.repeat(total, lengths, axis=-1)
        return mass


@record
@dataclass(frozen=True)
class Dirichlet(PseudoCounts):
    """``smooth`` in every cell: 0 gives maximum-likelihood estimates, 1 the Laplace correction."""

    smooth: float

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return ``smooth``, whatever the table."""
        return self.smooth


@record
@dataclass(frozen=True)
class EquivalentSize(PseudoCounts):
    """As many pseudo-rows as ``ess`` in every table, spread evenly over its cells (BDeu)."""

    ess: float

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return ess / (r q), with q configurations of all parents, the class among them."""
        return self.ess / (levels * configurations)


@record
@dataclass(frozen=True)
class MEstimate(PseudoCounts):
    """As many pseudo-rows as ``m`` in every distribution of a table, spread evenly over the levels."""

    m: float

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return m / r."""
        return self.m / levels


@record
@dataclass(frozen=True)
class BackOff:
    """Every table is shrunk towards the one with a parent less, by how much the data tells.

    The variable alone is shrunk towards the uniform distribution, then come the class, if it is a
    parent, and the feature parents in family order. The class alone has one pseudo-row.
    """

    nested = True

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Raise: the counts of one table do not tell of the shorter ones."""
        raise TypeError("backoff: needs the counts of shorter tables; use smooth, ess or m here")

    def masses(self, prefixes: Sequence[PrefixCounts], cards: Sequence[int], *, of_class: bool) -> Masses:
        """Return the concentration of each prefix; see `PrefixPrior`."""
        return nested_masses(prefixes, 1.0 if of_class else None)


PRIORS: dict[str, Callable[[Any], Prior]] = {
    "smooth": lambda amount: Dirichlet(_check_amount("smooth", amount)),
    "ess": lambda amount: EquivalentSize(_check_amount("ess", amount)),
    "m": lambda amount: MEstimate(_check_amount("m", amount)),
    "backoff": lambda asked: BackOff(),
}
"""The priors by the argument of `lp` that asks for each."""


def find_prior(**arguments: object) -> Prior:
    """Return the prior that one of the arguments in `PRIORS` asks for; those None or False do not."""
    amounts = {name: value for name, value in arguments.items() if value is not None}
    if not check_flag("backoff", amounts.get("backoff", False)):
        amounts.pop("backoff", None)
    if not amounts:
        raise TypeError(f"{', '.join(arguments)}: one of them must be given, for example smooth=1")
    if len(amounts) > 1:
        raise ValueError(
            f"{', '.join(amounts)}: only one of them can say how counts are smoothed; drop the others"
        )
    [(name, value)] = amounts.items()
    return PRIORS[name](value)


def _check_amount(name: str, amount: object) -> float:
    """Return a number of pseudo-counts as Python's own; raise if it is not finite and 0 or more."""
    number: Any = plain(amount)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{name}: expected a number, got {shown(number)}")
    value: Any = number
    if not (value == 0 or 1e-100 <= value <= 1e100):
        raise ValueError(f"{name}: expected a finite number, 0 or more (1e-100 to 1e100), got {shown(value)}")
    return value if value < 2**63 else float(value)  # NumPy has no longer whole numbers
