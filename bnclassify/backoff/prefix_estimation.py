"""Prefix tables of families, learned from data."""

from __future__ import annotations

from collections.abc import Sequence

from ..frames.schema import Dataset
from ..network.bnc import Scope
from ..network.priors import PrefixPrior
from .counts import NestedCounts, count_prefixes
from .tables import PrefixTable


def prefix_table(data: Dataset, scope: Scope, prior: PrefixPrior) -> PrefixTable:
    """Learn the prefix table of one family.

    Parameters
    ----------
    data : Dataset
        The features, then the class, which no row lacks.
    scope : tuple of int
        The variable and its parents by number, the class last if it is one.
    prior : PrefixPrior
    """
    [table] = tabulate_prefixes([count_nested(data, scope)], [scope], len(data.columns), prior)
    return table


def tabulate_prefixes(
    counts: Sequence[NestedCounts], scopes: Sequence[Scope], columns: int, prior: PrefixPrior
) -> list[PrefixTable]:
    """Make prefix tables of the counts of families, the class being the last of so many columns."""
    tables = []
    for scope, nested in zip(scopes, counts, strict=True):
        masses = prior.masses(nested.prefixes, nested.cards, of_class=scope[0] == columns - 1)
        tables.append(PrefixTable(nested.cards, nested.prefixes, masses, prior.nested))
    return tables


def count_nested(data: Dataset, scope: Scope) -> NestedCounts:
    """Count all prefixes of a family."""
    class_column = len(data.columns) - 1
    by_class = len(scope) > 1 and scope[-1] == class_column
    members = scope[:-1] if by_class else scope
    cards = tuple([data.cards[column] for column in members])
    prefixes = count_prefixes(
        [data.codes[column] for column in members],
        cards,
        data.codes[class_column] if by_class else None,
        data.cards[class_column] if by_class else 1,
        data.weights,
    )
    return NestedCounts(cards, prefixes)
