"""The prior by which tables back off, the tables of a prior, and the priors by the arguments of `lp`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any

from ..base.arrays import Array
from ..base.checks import check_flag
from ..base.messages import plain, shown
from ..base.records import record
from ..frames.schema import Dataset
from ..network.priors import Dirichlet, EquivalentSize, MEstimate, Prior, is_nested
from .concentrations import learn_masses
from .counts import NestedCounts, count_nested
from .tables import PrefixTable

_BLOCK_FAMILIES = 2**8  # of which concentrations are chosen together


@record
@dataclass(frozen=True)
class BackOff:
    """Each table is shrunk towards the one with one parent fewer, by an amount estimated from the data.

    The variable alone is shrunk towards the uniform distribution. The class, if it is a parent, comes
    next, and then the feature parents in family order. The class alone has a pseudo-count of 1.
    """

    nested = True

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Raise a TypeError: a table alone does not have the counts of the shorter ones."""
        raise TypeError("backoff: needs the counts of shorter tables; use smooth, ess or m here")

    def count(self, data: Dataset, scopes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        """Return the counts of each family and of its prefixes."""
        return tuple([count_nested(data, scope) for scope in scopes])

    def tabulate(
        self,
        counts: Sequence[Any],
        scopes: Sequence[tuple[int, ...]],
        families: Sequence[tuple[Hashable, ...]],
    ) -> tuple[list[Array], dict[str, Any]]:
        """Return the table of each family, and the concentrations."""
        tables = prefix_tables(counts, [scope[0] == len(families) - 1 for scope in scopes], self)
        cpts = [table.conditional(family) for table, family in zip(tables, families, strict=True)]
        return cpts, concentrations_of(tables)


def prefix_tables(counts: Sequence[NestedCounts], of_class: Sequence[bool], prior: Any) -> list[PrefixTable]:
    """Return the tables of families from their counts; ``of_class`` marks those of the class."""
    nested = is_nested(check_prefix_prior(prior))
    masses: list[tuple[float, ...]] = []
    for start in range(0, len(counts) if nested else 0, _BLOCK_FAMILIES):
        block = slice(start, start + _BLOCK_FAMILIES)
        first = [1.0 if flag else None for flag in of_class[block]]
        masses += learn_masses([family.prefixes for family in counts[block]], first)
    if not nested:
        masses = [_given_masses(family, prior) for family in counts]
    return [
        PrefixTable(family.cards, family.prefixes, amounts, nested)
        for family, amounts in zip(counts, masses, strict=True)
    ]


def _given_masses(counts: NestedCounts, prior: Any) -> tuple[float, ...]:
    """Return the pseudo-counts that a prior adds to each distribution of each prefix."""
    levels, *parent_cards = counts.cards
    root = len(counts.prefixes) - len(counts.cards)
    configurations = [
        prefix.counts.shape[1] * prod(parent_cards[: max(0, i - root)])
        for i, prefix in enumerate(counts.prefixes)
    ]
    return tuple([float(levels * prior.per_cell(levels, q)) for q in configurations])


def check_prefix_prior(prior: Any) -> Any:
    """Return a prior that adds pseudo-counts to the table of every prefix, or raise a TypeError."""
    if not is_nested(prior) and not hasattr(prior, "per_cell"):
        raise TypeError("prior: expected one of smooth, ess, m and backoff, which define how tables back off")
    return prior


def concentrations_of(tables: Sequence[PrefixTable]) -> dict[str, Any]:
    """Return what a model records of tables that back off, and nothing of others."""
    return {"concentrations": tuple([table.masses for table in tables])} if tables[0].nested else {}


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
