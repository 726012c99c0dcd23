"""Which arcs a picture of a model has: what differs by kind of model."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import singledispatch
from typing import cast

import numpy as np

from ..backoff.powered import Powered
from ..base.acyclicity import ChangingDag
from ..base.graphs import layers
from ..base.messages import shown
from ..model.model import Model
from ..network.ensemble import Average, Ensemble
from ..several.chains import Chain
from ..several.maode import MAODE
from ..superparents.ande import ANDE

_MOST_ABREAST = 8

Arcs = dict[tuple[Hashable, Hashable], float]


@singledispatch
def arc_shares(x: Model) -> Arcs:
    """Return the share of the members of a model that has each arc, (from, to); of a single model, 1."""
    return x._arc_shares()


@arc_shares.register
def _(x: Average) -> Arcs:
    n = len(x.members)
    return _mean([arc_shares(member) for member in x.members], [1 / n] * n)


@arc_shares.register
def _(x: Ensemble) -> Arcs:
    return _mean([arc_shares(member) for member in x.members], np.exp(x.log_weights).tolist())


@arc_shares.register
def _(x: ANDE) -> Arcs:
    return {(x.class_var, feature): 1.0 for feature in x.features}


def _mean(shares: list[Arcs], weights: list[float]) -> Arcs:
    """Average the shares of arcs over members, without the noise of rounding."""
    mean: Arcs = {}
    for member_shares, weight in zip(shares, weights, strict=True):
        for arc, share in member_shares.items():
            mean[arc] = mean.get(arc, 0.0) + weight * share
    return {arc: round(share, 9) for arc, share in mean.items()}


@arc_shares.register
def _(x: Powered) -> Arcs:
    return arc_shares(x.base)


@arc_shares.register
def _(x: MAODE) -> Arcs:
    n = len(x.members)
    return _mean([arc_shares(member) for member in x.members], [1 / n] * n)


@arc_shares.register
def _(x: Chain) -> Arcs:
    raise TypeError(
        f"plot: a chain is {len(x.members):,} networks, one for each class variable; plot each of members(x)"
    )


@dataclass(frozen=True)
class Sketch:
    """The arcs of a picture and what is to be said of them.

    Attributes
    ----------
    arcs : dict
        The share of the members that has an arc, by (from, to). Two variables have one arc at most.
    mutual : frozenset
        Those that go both ways, in a graph with cycles or in different members.
    notes : tuple of str
        What someone who sees only the picture has to know.
    """

    arcs: Arcs
    mutual: frozenset[tuple[Hashable, Hashable]]
    notes: tuple[str, ...]

    def direction(self, features: tuple[Hashable, ...]) -> str:
        """Draw downwards, or to the right where a layer has more features than fit side by side.

        Graphviz turns arcs round that close a cycle, to lay the network out; here they are left out.
        """
        position = {feature: i for i, feature in enumerate(features)}
        graph = ChangingDag(len(position))
        parents: dict[int, list[int]] = {i: [] for i in position.values()}
        for tail, head in self.arcs:
            if tail in position and head in position:
                arc = position[tail], position[head]
                if not graph.closes_cycle[arc]:
                    graph.add(*arc)
                    parents[arc[1]].append(arc[0])
        widest = max(map(len, layers(parents)), default=0)
        return "LR" if widest > _MOST_ABREAST else "TB"


def sketch(x: Model, *, class_arcs: bool = True) -> Sketch:
    """Choose the arcs to draw: of an average, those that more than half of its members have."""
    shares = arc_shares(x)
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
    notes = tell_members(x, arcs, len({frozenset(arc) for arc in shares}) - len(arcs))
    if not class_arcs:
        _check_children(x, arcs)
        arcs = {arc: share for arc, share in arcs.items() if arc[0] != x.class_var}
        notes.append(f"{x.class_var} is a parent of every feature; those arcs are left out")
    else:
        notes += _tell_colours(x, arcs)
    return Sketch(arcs, frozenset(mutual), tuple(notes))


@singledispatch
def tell_members(x: Model, arcs: Arcs, left_out: int) -> list[str]:
    """Say what an average is of, and which arcs its picture has, and how many it has not."""
    if own := getattr(type(x), "_tell_members", None):
        return cast("list[str]", own(x, arcs, left_out))
    n = x.facts().get("num. members")
    if n is None:
        return []
    notes = [f"average of {n:,} networks"]
    if left_out:
        notes.append(f"left out are arcs that half of them or fewer have: {left_out:,}")
    if len(set(arcs.values())) > 1:
        notes.append("the wider an arc, the more of them have it")
    return notes


@tell_members.register
def _(x: ANDE, arcs: Arcs, left_out: int) -> list[str]:
    if not x.n:
        return []
    phrase = "a feature is the parent" if x.n == 1 else "two features are the parents"
    return [f"average of {len(x.superparents):,} networks, in each of which {phrase} of all others"]


@tell_members.register
def _(x: Powered, arcs: Arcs, left_out: int) -> list[str]:
    return tell_members(x.base, arcs, left_out)


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
