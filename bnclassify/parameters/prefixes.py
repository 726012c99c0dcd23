"""Prefix tables of families, learned from data."""

from __future__ import annotations

from collections.abc import Sequence

from ..frames.counting import count_families
from ..frames.prefixes import PrefixCounts, count_prefixes, nest_tables
from ..frames.schema import Countable, Dataset
from ..model.networks import Scope
from ..model.prefixes import PrefixTable
from .priors import PrefixPrior


def prefix_tables(data: Countable, scopes: Sequence[Scope], prior: PrefixPrior) -> list[PrefixTable]:
    """Learn the prefix tables of families; data in parts is gone through once.

    Parameters
    ----------
    data : Dataset or Partitions
        The features, then the class, which no row lacks.
    scopes : sequence of tuples of int
        The variable and its parents by number, the class last if it is one.
    prior : PrefixPrior
    """
    tables = []
    for scope, prefixes in zip(scopes, _count_scopes(data, scopes), strict=True):
        cards = tuple([data.cards[column] for column in _without_class(data, scope)])
        masses = prior.masses(prefixes, cards, of_class=scope[0] == len(data.columns) - 1)
        tables.append(PrefixTable(cards, prefixes, masses, prior.nested))
    return tables


def prefix_table(data: Countable, scope: Scope, prior: PrefixPrior) -> PrefixTable:
    """Learn the prefix table of one family; see `prefix_tables`."""
    return prefix_tables(data, [scope], prior)[0]


def _without_class(data: Countable, scope: Scope) -> Scope:
    """Return a family without the class as a parent."""
    return scope[:-1] if len(scope) > 1 and scope[-1] == len(data.columns) - 1 else scope


def _count_scopes(data: Countable, scopes: Sequence[Scope]) -> list[tuple[PrefixCounts, ...]]:
    if isinstance(data, Dataset):
        return [_count_scope(data, scope) for scope in scopes]
    # Numbers of what occurs do not add up, so data in parts is counted in full tables.
    families = [_prefixes_of(scope, _without_class(data, scope)) for scope in scopes]
    tables = iter(count_families(data, [prefix for own in families for prefix in own]))
    return [
        nest_tables(
            [next(tables) for _ in own], [data.cards[column] for column in _without_class(data, scope)]
        )
        for scope, own in zip(scopes, families, strict=True)
    ]


def _prefixes_of(scope: Scope, own: Scope) -> list[Scope]:
    """Return the prefixes of a family, each but the first with the class if that is a parent."""
    last = scope[len(own) :]
    longer = [(*own[: i + 1], *last) for i in range(0 if last else 1, len(own))]
    return [own[:1], *longer]


def _count_scope(data: Dataset, scope: Scope) -> tuple[PrefixCounts, ...]:
    own, class_column = _without_class(data, scope), len(data.columns) - 1
    by_class = len(own) < len(scope)
    return count_prefixes(
        [data.codes[column] for column in own],
        [data.cards[column] for column in own],
        data.codes[class_column] if by_class else None,
        data.cards[class_column] if by_class else 1,
        data.weights,
    )
