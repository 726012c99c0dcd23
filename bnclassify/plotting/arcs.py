"""Arcs of the picture of a model."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ..base.graphs import find_cycle, layers
from ..base.messages import shown
from ..model.model import Model

_MOST_ABREAST = 8

Arcs = dict[tuple[Hashable, Hashable], float]


@dataclass(frozen=True)
class Sketch:
    """Shares of the members that have an arc, by (from, to); the arcs in both directions; notes."""

    arcs: Arcs
    mutual: frozenset[tuple[Hashable, Hashable]]
    notes: tuple[str, ...]

    def direction(self, features: tuple[Hashable, ...]) -> str:
        """Draw downwards, or to the right if a layer has more features than fit side by side."""
        position = {feature: i for i, feature in enumerate(features)}
        inner = [arc for arc in self.arcs if arc[0] in position and arc[1] in position]
        parents: dict[Hashable, list[Hashable]] = {feature: [] for feature in features}
        for tail, head in inner:
            parents[head].append(tail)
        if find_cycle(parents):  # without the arcs from later to earlier features there is none
            parents = {v: [p for p in above if position[p] < position[v]] for v, above in parents.items()}
        widest = max(map(len, layers(parents)), default=0)
        return "LR" if widest > _MOST_ABREAST else "TB"


def sketch(x: Model, *, class_arcs: bool = True) -> Sketch:
    """Choose the arcs to draw: of an average, those that more than half of its members have."""
    shares = x._arc_shares()
    position = {variable: i for i, variable in enumerate(x.variables)}
    arcs: Arcs = {}
    mutual = set()
    for (tail, head), share in shares.items():
        back = shares.get((head, tail), 0.0)
        forward = share > back or (share == back and position[tail] < position[head])
        if forward and share + back > 0.5:
            arcs[tail, head] = share + back
            if back:
                mutual.add((tail, head))
    notes = _note_members(x, arcs, len({frozenset(arc) for arc in shares}) - len(arcs))
    if not class_arcs:
        _check_children(x, arcs)
        arcs = {arc: share for arc, share in arcs.items() if arc[0] != x.class_var}
        notes.append(f"{x.class_var} is a parent of every feature; those arcs are left out")
    else:
        notes += _tell_colours(x, arcs)
    return Sketch(arcs, frozenset(mutual), tuple(notes))


def _note_members(x: Model, arcs: Arcs, omitted: int) -> list[str]:
    """Return notes on the members of an average, and on the arcs that its picture omits."""
    notes = [note for note in [x._members_note()] if note]
    if omitted:
        notes.append(f"left out are arcs that half of them or fewer have: {omitted:,}")
    if len(set(arcs.values())) > 1:
        notes.append("the wider an arc, the more of them have it")
    return notes


def _tell_colours(x: Model, arcs: Arcs) -> list[str]:
    """Say what arcs look like that come from what is predicted."""
    targets = set(x.targets)
    if len(targets) == 1:
        return [f"arcs from {x.class_var} are grey"] if any(tail in targets for tail, _ in arcs) else []
    notes = []
    if any(tail in targets and head in targets for tail, head in arcs):
        notes.append("arcs between class variables are blue")
    if any(tail in targets and head not in targets for tail, head in arcs):
        notes.append("arcs from class variables to features are grey")
    return notes


def _check_children(x: Model, arcs: Arcs) -> None:
    """Raise a ValueError unless the class is a parent of every feature."""
    unlinked = [feature for feature in x.features if (x.class_var, feature) not in arcs]
    if unlinked:
        raise ValueError(
            f"class_arcs: expected True, because {shown(x.class_var)} is not a parent of every feature, so "
            f"that its arcs tell which; it is none of {shown(unlinked[0])}, for example"
        )
