"""Arcs that a search for a network must, may not and may change: checked, and turned into numbers."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.checks import check_flag, check_list, check_whole, is_among
from ..base.graphs import find_cycle
from ..base.messages import listed, shown, suggestion
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
            "progress": check_flag("progress", self.progress),
        }
        if self.max_parents is not None:
            checked["max_parents"] = check_whole("max_parents", self.max_parents)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def settings(self) -> dict[str, Any]:
        """Return the arguments to learn with again; moves always, those at their usual values not."""
        usual = vars(Rules()) | {"moves": None, "progress": self.progress}
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    def limits(self, data: Countable) -> Limits:
        """Return the limits of a search over the columns of data."""
        most = len(data.columns) if self.max_parents is None else self.max_parents
        required = _arc_matrix(data, "required", self.required)
        return Limits(required, _arc_matrix(data, "forbidden", self.forbidden), most, self.moves)

    def with_arcs(self, required: Sequence[Arc], forbidden: Sequence[Arc]) -> Rules:
        """Return the plan with further arcs required and forbidden."""
        return replace(self, required=(*self.required, *required), forbidden=(*self.forbidden, *forbidden))


def _as_arcs(argument: str, arcs: object) -> tuple[Arc, ...]:
    """Return pairs of names as tuples, or raise."""
    pairs = check_list(argument, arcs, "pairs of names such as [('a', 'b')]")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"{argument}: expected pairs of names such as [('a', 'b')], got {shown(pair)} among them"
            )
        if pair[0] == pair[1]:
            raise ValueError(f"{argument}: {written([pair])} is an arc from a variable to itself")
    return tuple((source, target) for source, target in pairs)


def _as_moves(moves: object) -> tuple[str, ...]:
    chosen = check_list("moves", moves, f"a list of {listed(MOVES)}")
    strange = [move for move in chosen if not is_among(move, MOVES)]
    if strange or not chosen:
        raise ValueError(f"moves: expected some of {listed(MOVES)}, got {listed(strange)}")
    return tuple(move for move in MOVES if move in chosen)


def written(arcs: Iterable[Sequence[Hashable]]) -> str:
    """Write arcs for a message."""
    pairs = list(arcs)
    rest = f" and {len(pairs) - 8} more" if len(pairs) > 8 else ""
    return ", ".join(f"{shown(source)} -> {shown(target)}" for source, target in pairs[:8]) + rest


def _arc_matrix(data: Countable, argument: str, arcs: Iterable[Arc]) -> NDArray[np.bool_]:
    """Turn arcs into a matrix, (variables, variables), rows the variables that they come from."""
    matrix = np.zeros((len(data.columns), len(data.columns)), dtype=bool)
    for arc in arcs:
        strange = [name for name in arc if name not in data.positions]
        if strange:
            raise KeyError(
                f"{argument}: no column {listed(strange)} in the data; {suggestion(strange[0], data.columns)}"
            )
        matrix[tuple(data.positions[name] for name in arc)] = True
    return matrix


def place_start(
    parents: Mapping[Hashable, Sequence[Hashable]], data: Countable, rules: Rules
) -> list[list[int]]:
    """Return the parents of each column at the start, by number: as given, then as required.

    Raise a ValueError that names the arcs if the start breaks the rules of its own search.
    """
    start = {name: list(parents[name]) for name in data.columns}
    for source, target in rules.required:
        if source not in start[target]:
            start[target].append(source)
    _check_arcs([(parent, name) for name, names in start.items() for parent in names], rules)
    cycle = find_cycle(start)
    if cycle:
        raise ValueError(
            f"required: with the arcs of the start, there would be a cycle, {' -> '.join(map(str, cycle))}; "
            "drop one of them"
        )
    return [[data.positions[parent] for parent in names] for names in start.values()]


def _check_arcs(arcs: Sequence[Arc], rules: Rules) -> None:
    """Raise a ValueError for arcs at the start that may not be there."""
    both = [arc for arc in rules.required if arc in rules.forbidden]
    if both:
        raise ValueError(f"required, forbidden: drop from one what is in both, {written(both)}")
    lost = [arc for arc in arcs if arc in rules.forbidden]
    if lost:
        raise ValueError(f"forbidden: the start has {written(lost)}; start from a structure without")
    if rules.max_parents is None:
        return
    for target in dict.fromkeys(target for _, target in arcs):
        into = [arc for arc in arcs if arc[1] == target]
        if len(into) > rules.max_parents:
            raise ValueError(
                f"max_parents: {shown(target)} has more than {rules.max_parents} at the start, "
                f"{written(into)}; raise max_parents or drop some"
            )
