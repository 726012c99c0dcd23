"""The back-off prior, its tables, and the priors by the arguments of `lp`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.checks import Flag, Real, must_be
from ..base.records import record
from ..frames.schema import Dataset
from ..network.priors import (
    LEAST_AMOUNT,
    MOST_AMOUNT,
    MOST_ESS,
    Dirichlet,
    EquivalentSize,
    MEstimate,
    Prior,
    is_nested,
)
from .concentration_search import learn_masses
from .counts import PrefixCounts, count_nested
from .tables import PrefixTable, Stack

_BLOCK_FAMILIES = 2**6  # number of families whose concentrations are chosen together


@record
@dataclass(frozen=True)
class BackOff:
    """Each table is shrunk towards the table with one parent fewer, by an amount estimated from the data.

    The variable alone is shrunk towards the uniform distribution. The class, if it is a parent, is
    added first, then the feature parents in family order. The class alone has a pseudo-count of 1.
    """

    nested = True

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Raise a TypeError, because a single table does not contain the counts of shorter tables."""
        raise TypeError("backoff requires the counts of shorter tables. Use smooth, ess or m.")

    def count(self, data: Dataset, scopes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        """Return the counts of each family and of its prefixes."""
        return tuple(count_nested(data, scopes))

    def tabulate(
        self,
        counts: Sequence[Any],
        scopes: Sequence[tuple[int, ...]],
        families: Sequence[tuple[Hashable, ...]],
    ) -> tuple[list[Array], dict[str, Any]]:
        """Return the table of each family, and the concentrations."""
        of_class = [number == len(scopes) - 1 for number in range(len(scopes))]
        stacks = make_stacks(
            [c.prefixes for c in counts], [np.array([c.cards]) for c in counts], of_class, self
        )
        tables = [stack.tables(len(scope))[0] for stack, scope in zip(stacks, scopes, strict=True)]
        cpts = [table.conditional(family) for table, family in zip(tables, families, strict=True)]
        return cpts, concentrations_of(tables)


def make_stacks(
    families: Sequence[Sequence[PrefixCounts]],
    cards: Sequence[NDArray[np.intp]],
    of_class: Sequence[bool],
    prior: Any,
) -> list[Stack]:
    """Return the tables of families from their counts, in one coding per row of ``cards``."""
    nested = is_nested(check_prefix_prior(prior))
    masses: list[list[Array]] = []
    for start in range(0, len(families), _BLOCK_FAMILIES):
        block = slice(start, start + _BLOCK_FAMILIES)
        if nested:
            masses += learn_masses(families[block], cards[block], of_class[block])
        else:
            masses += map(partial(_given_masses, prior), families[block], cards[block])
    return [
        Stack(rows, tuple(prefixes), amounts, nested)
        for rows, prefixes, amounts in zip(cards, families, masses, strict=True)
    ]


def _given_masses(prior: Any, prefixes: Sequence[PrefixCounts], cards: NDArray[np.intp]) -> list[Array]:
    """Return the pseudo-counts that a prior adds to each distribution of each prefix, one per coding."""
    levels, root, masses = cards[:, 0], len(prefixes) - cards.shape[1], []
    for i, prefix in enumerate(prefixes):
        configurations = prefix.counts.shape[1] * cards[:, 1 : max(1, i - root + 1)].prod(axis=1)
        masses.append(np.array(levels * prior.per_cell(levels, configurations), dtype=np.float64))
    return masses


def check_prefix_prior(prior: Any) -> Any:
    """Return a prior that adds pseudo-counts to the table of every prefix, or raise a TypeError."""
    if not is_nested(prior) and not hasattr(prior, "per_cell"):
        raise TypeError("prior must be smooth, ess, m or backoff.")
    return prior


def concentrations_of(tables: Sequence[PrefixTable]) -> dict[str, Any]:
    """Return the record of back-off in a model, empty for other priors."""
    return {"concentrations": tuple([table.masses for table in tables])} if tables[0].nested else {}


PRIORS: dict[str, Callable[[Any], Prior]] = {
    "smooth": lambda amount: Dirichlet(_check_amount("smooth", amount)),
    "ess": lambda amount: EquivalentSize(_check_amount("ess", amount, MOST_ESS)),
    "m": lambda amount: MEstimate(_check_amount("m", amount)),
    "backoff": lambda asked: BackOff(),
}
"""The priors by the argument of `lp` that requests them."""


def find_prior(**arguments: object) -> Prior:
    """Return the prior of the only argument in `PRIORS` that is not None or False."""
    amounts = {name: value for name, value in arguments.items() if value is not None}
    if not Flag().check("backoff", amounts.get("backoff", False)):
        amounts.pop("backoff", None)
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
