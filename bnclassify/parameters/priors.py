"""Priors of probability tables: the one place where counts become probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

from ..base.arrays import Array, normalize


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

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return the posterior mean of the table; see `Prior`."""
        levels, *above = counts.shape[axis:]
        return normalize(counts + self.per_cell(levels, prod(above)), axis)


@dataclass(frozen=True)
class Dirichlet(PseudoCounts):
    """``smooth`` in every cell: 0 gives maximum-likelihood estimates, 1 the Laplace correction."""

    smooth: float

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return ``smooth``, whatever the table."""
        return self.smooth


@dataclass(frozen=True)
class EquivalentSize(PseudoCounts):
    """As many pseudo-rows as ``ess`` in every table, spread evenly over its cells (BDeu)."""

    ess: float

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return ess / (r q), with q configurations of all parents, the class among them."""
        return self.ess / (levels * configurations)


@dataclass(frozen=True)
class MEstimate(PseudoCounts):
    """As many pseudo-rows as ``m`` in every distribution of a table, spread evenly over the levels."""

    m: float

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return m / r."""
        return self.m / levels
