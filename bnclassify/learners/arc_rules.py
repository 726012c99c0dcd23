"""Arcs that a search for a network must, may not and may change: checked, and turned into numbers."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.checks import Flag, ListOf, OneOf, Whole, is_among, must_be
from ..base.graphs import find_cycle
from ..base.messages import listed, shown
from ..frames.schema import Countable
from .local_scores import check_score

MOVES = ("add", "delete", "reverse")
"""The operations on an arc, in the order in which ties are broken."""

Arc = tuple[Hashable, Hashable]


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a search; `required` and `forbidden` are (from, to) arrays of bool."""

    required: NDArray[np.bool_]
    forbidden: NDArray[np.bool_]
    max_parents: int
    moves: Collection[str]


@dataclass(frozen=True)
class Rules:
    """The checked arguments of a search."""

    score: str = "bic"
    ess: float = 1
    max_parents: int | None = None
    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    moves: Collection[str] = MOVES
    progress: bool = False

    def __post_init__(self) -> None:
        checked = {
            "ess": check_score(self.score, self.ess),
            "required": _as_arcs("required", self.required),
            "forbidden": _as_arcs("forbidden", self.forbidden),
            "moves": _as_moves(self.moves),
            "progress": Flag().check("progress", self.progress),
        }
        if self.max_parents is not None:
            checked["max_parents"] = Whole().check("max_parents", self.max_parents)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def settings(self) -> dict[str, Any]:
        """Return the arguments for the recipe: those that are not defaults, and moves."""
        usual = vars(Rules()) | {"moves": None, "progress": self.progress}
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    def limits(self, data: Countable) -> Limits:
        """Return the limits of a search over the columns of data."""
        most = len(data.columns) if self.max_parents is None else self.max_parents
        required = _arc_matrix(data, "required", self.required)
        return Limits(required, _arc_matrix(data, "forbidden", self.forbidden), most, self.moves)

    def with_arcs(self, required: Sequence[Arc], forbidden: Sequence[Arc]) -> Rules:
        """Return the rules with further arcs."""
        return replace(self, required=(*self.required, *required), forbidden=(*self.forbidden, *forbidden))


def _as_arcs(argument: str, arcs: object) -> tuple[Arc, ...]:
    """Return pairs of names as tuples, or raise."""
    expected = "pairs of names such as [('a', 'b')]"
    pairs = ListOf(expected).check(argument, arcs)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(must_be(argument, expected, pair))
        if pair[0] == pair[1]:
            raise ValueError(
                f"{argument} must not contain an arc from a variable to itself; got {written([pair])}."
            )
    return tuple((source, target) for source, target in pairs)


def _as_moves(moves: object) -> tuple[str, ...]:
    chosen = ListOf(listed(MOVES)).check("moves", moves)
    if not chosen or not all(is_among(move, MOVES) for move in chosen):
        raise ValueError(must_be("moves", f"a list of at least one of {listed(MOVES)}", chosen))
    return tuple(move for move in MOVES if move in chosen)


def written(arcs: Iterable[Sequence[Hashable]]) -> str:
    """Write arcs for a message."""
    pairs = list(arcs)
    rest = f" and {len(pairs) - 8} more" if len(pairs) > 8 else ""
    return ", ".join(f"{shown(source)} -> {shown(target)}" for source, target in pairs[:8]) + rest


def _arc_matrix(data: Countable, argument: str, arcs: Iterable[Arc]) -> NDArray[np.bool_]:
    """Turn arcs into a (from, to) array of bool."""
    matrix = np.zeros((len(data.columns), len(data.columns)), dtype=bool)
    for arc in arcs:
        for name in arc:
            OneOf(data.columns, "pairs of columns of `dataset`").check(argument, name)
        matrix[tuple(data.positions[name] for name in arc)] = True
    return matrix


def place_start(
    parents: Mapping[Hashable, Sequence[Hashable]], data: Countable, rules: Rules
) -> list[list[int]]:
    """Return the parents of each column in the initial structure, or raise an error that names arcs."""
    start = {name: list(parents[name]) for name in data.columns}
    for source, target in rules.required:
        if source not in start[target]:
            start[target].append(source)
    _check_arcs([(parent, name) for name, names in start.items() for parent in names], rules)
    cycle = find_cycle(start)
    if cycle:
        raise ValueError(
            f"required must not form a cycle with the initial arcs; got {' -> '.join(map(str, cycle))}. "
            "Drop one of these arcs."
        )
    return [[data.positions[parent] for parent in names] for names in start.values()]


def _check_arcs(arcs: Sequence[Arc], rules: Rules) -> None:
    """Raise an error if arcs of the initial structure contradict the rules."""
    both = [arc for arc in rules.required if arc in rules.forbidden]
    if both:
        raise ValueError(f"required and forbidden must not share arcs; got {written(both)} in both.")
    lost = [arc for arc in arcs if arc in rules.forbidden]
    if lost:
        raise ValueError(
            f"forbidden must not contain arcs of the initial structure; got {written(lost)}. Start from a "
            "structure without them."
        )
    if rules.max_parents is None:
        return
    for target in dict.fromkeys(target for _, target in arcs):
        into = [arc for arc in arcs if arc[1] == target]
        if len(into) > rules.max_parents:
            raise ValueError(
                f"max_parents must be at least {len(into)} for the initial structure; got "
                f"{rules.max_parents}. Increase it or drop some of {written(into)}."
            )
