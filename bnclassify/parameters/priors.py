"""Priors of probability tables: the one place where counts become probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any, Protocol

from ..base.arrays import Array, normalize
from ..base.messages import plain
from ..base.records import record


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


class PseudoCounts:
    """A Dirichlet prior: the same pseudo-count is added to every cell of a table.

    (N_ijk + a) / (N_ij· + r a), with r levels of the variable; uniform where there is no mass.
    """

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return a for a variable with so many levels, its parents with so many configurations."""
        raise TypeError(f"{type(self).__name__} does not say what it adds to a cell")

    @property
    def is_positive(self) -> bool:
        """Whether it adds anything, so that no probability is 0."""
        return bool(self.per_cell(2, 2) > 0)

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return the posterior mean of the table; see `Prior`."""
        levels, *above = counts.shape[axis:]
        return normalize(counts + self.per_cell(levels, prod(above)), axis)


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


PRIORS = {"smooth": Dirichlet, "ess": EquivalentSize, "m": MEstimate}
"""The priors by the argument that asks for each."""


def find_prior(**amounts: object) -> PseudoCounts:
    """Return the prior that one of the arguments in `PRIORS` asks for; those that are None do not."""
    given = {name: amount for name, amount in amounts.items() if amount is not None}
    if not given:
        raise TypeError(f"{', '.join(amounts)}: one of them must be given, for example smooth=1")
    if len(given) > 1:
        raise ValueError(
            f"{', '.join(given)}: only one of them can say how counts are smoothed; drop the others"
        )
    [(name, amount)] = given.items()
    return PRIORS[name](_check_amount(name, amount))


def _check_amount(name: str, amount: object) -> float:
    """Return a number of pseudo-counts as Python's own; raise if it is not finite and 0 or more."""
    number = plain(amount)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{name}: expected a number, got {number!r}")
    if not (number == 0 or 1e-100 <= float(number) <= 1e100):
        raise ValueError(f"{name}: expected a finite number, 0 or more (1e-100 to 1e100), got {number!r}")
    return number  # type: ignore[return-value]
