"""Families, a variable and its parents: checks of graph and tables, and their sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

from ..dataset import Levels
from ..tools.arrays import Array
from ..tools.checks import options_sentence
from ..tools.graphs import find_cycle
from ..tools.messages import listed, repeated_items, shorten_text, shown

Family: TypeAlias = tuple[Hashable, ...]

Scope: TypeAlias = tuple[int, ...]


@lru_cache(maxsize=64)  # each structure is checked once
def check_families(
    class_var: Hashable,
    families: tuple[Family, ...],
    *,
    origin: str = "families",
    acyclic: bool = True,
) -> None:
    """Raise unless families are a graph, ``acyclic`` or not; error messages name ``origin``."""
    variables = dict.fromkeys(family[0] for family in families if family)  # in order
    if not families or not all(families) or families[-1][0] != class_var:
        raise ValueError(
            f"{origin} must have one family per variable, the last of {shown(class_var)}."
        )
    if twice := repeated_items([family[0] for family in families]):
        raise ValueError(
            f"{origin} must have one family per variable; got several of {listed(twice)}."
        )
    for variable, *parents in families:
        strange = [name for name in parents if name not in variables]
        if strange:
            raise ValueError(
                f"{origin}: the parent {shown(strange[0])} of {shown(variable)} is not a variable "
                f"of the network. {options_sentence(strange[0], variables)}"
            )
        if not acyclic and variable in parents:
            raise ValueError(f"{origin} must not have {shown(variable)} as a parent of itself.")
        if len(set(parents)) < len(parents):
            raise ValueError(f"{origin} must name each parent once; got {listed(parents)}.")
        if class_var in parents[:-1]:
            raise ValueError(
                f"{origin} must list the class last in a family; got {listed(parents)}."
            )
    if acyclic and any(len(family) > 1 + (family[-1] == class_var) for family in families):
        cycle = find_cycle({family[0]: family[1:] for family in families})
        if cycle:
            arcs = shorten_text(" -> ".join(map(str, cycle)))
            raise ValueError(f"{origin} must not have cycles; got {arcs}. Omit one.")


@lru_cache(maxsize=64)
def positions_of_families(families: tuple[Family, ...]) -> tuple[Scope, ...]:
    """Return families as the positions of their variables."""
    position = {family[0]: i for i, family in enumerate(families)}
    return tuple([tuple(map(position.__getitem__, family)) for family in families])


def check_table_shapes(
    families: Sequence[Family], levels: Levels | None, cpts: tuple[Array, ...] | None
) -> None:
    """Raise a ValueError unless levels and tables, if given, have the shapes of the families."""
    if levels is not None and len(levels) != len(families):
        raise ValueError(
            f"levels must have labels of each of {len(families)} variables; got {len(levels)}."
        )
    if cpts is None:
        return
    if levels is None or len(cpts) != len(families):
        raise ValueError(
            f"cpts must have a table, and levels, for each of {len(families)} families."
        )
    card = {family[0]: len(labels) for family, labels in zip(families, levels, strict=True)}
    for family, table in zip(families, cpts, strict=True):
        shape = tuple([card[v] for v in family])
        if table.shape != shape:
            raise ValueError(
                f"cpts must have a table of {shown(family[0])} of shape {shape}, the levels of its "
                f"family; got {table.shape}."
            )


def count_parameters(scopes: Sequence[Scope], cards: Sequence[int]) -> int:
    """Return the number of free parameters: Σ (levels − 1) · Π parents' levels, 2 for numbers."""
    total = 0
    for v, *parents in scopes:
        per_configuration = cards[v] - 1 if cards[v] else 2
        total += per_configuration * prod([cards[p] for p in parents])
    return total
