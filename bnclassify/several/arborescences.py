"""The directed tree of greatest weight, whatever its root (Chu and Liu, Edmonds)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array


class Arc(NamedTuple):
    """The best arc into a vertex or a group of vertices: its ends among all vertices, and what it weighs.

    Into a member of a group, an arc weighs what it gains over the best one.
    """

    tail: int
    head: int
    weight: float


class Contraction:
    """A graph in which cycles of best arcs become groups, and a group is one vertex, until one is left.

    A group goes by its first vertex, and stands in the row and column of that. Groups are also
    numbered, vertices first and then as they form, and ``within`` tells which group each is in.
    """

    def __init__(self, weights: Array) -> None:
        n = len(weights)
        self.into = np.array(np.transpose(weights), dtype=np.float64)  # row by head, as heads look for tails
        np.fill_diagonal(self.into, -np.inf)
        self.head, self.tail = np.indices((n, n))
        self.number = list(range(n))
        self.best: dict[int, Arc] = {}
        self.within: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}

    def best_tail(self, v: int) -> int:
        """Find the vertex from which the best arc into a vertex comes, and note the arc."""
        row = self.into[v]
        u = int((row >= row.max() - TOLERANCE).argmax())
        self.best[self.number[v]] = Arc(int(self.tail[v, u]), int(self.head[v, u]), float(row[u]))
        return u

    def merge(self, cycle: Sequence[int]) -> int:
        """Make the vertices of a cycle one, which every vertex reaches by the best of the arcs to them."""
        members = sorted(cycle)
        first, *others = members
        for v in members:
            self.into[v] -= self.best[self.number[v]].weight
        matrices = self.into, self.tail, self.head
        _choose(matrices, members)
        _choose([matrix.T for matrix in matrices], members)
        self.into[others] = -np.inf
        self.into[:, others] = -np.inf
        self.into[first, first] = -np.inf
        group = len(self.number) + len(self.members)
        self.members[group] = [self.number[v] for v in members]
        self.within |= dict.fromkeys(self.members[group], group)
        self.number[first] = group
        return first


def _choose(matrices: Sequence[NDArray[Any]], rows: Sequence[int]) -> None:
    """Put the best of some rows into the first of them, with what stands there in all parts."""
    weights = matrices[0][rows]
    best = (weights >= weights.max(axis=0) - TOLERANCE).argmax(axis=0)
    for matrix in matrices:
        matrix[rows[0]] = np.take_along_axis(matrix[rows], best[None], axis=0)[0]


def maximum_arborescence(weights: Array) -> list[int]:
    """Find the arborescence of greatest weight among those of all roots, in quadratic time.

    A walk goes from a vertex to that of its best arc, and on. When it meets itself, it has found a
    cycle, of which one arc will give way. It becomes one vertex, into which an arc weighs what it gains
    over the arc that would give way to it.

    Parameters
    ----------
    weights : (n, n) array
        The finite weight of the arc from a row to a column; the diagonal does not matter.

    Returns
    -------
    list of int
        The parent of each vertex, -1 for the root. Of tied roots the first.

    Examples
    --------
    >>> maximum_arborescence(np.array([[0, 5.0, 1], [6, 0, 4], [1, 1, 0]]))
    [1, -1, 1]
    """
    n = len(weights)
    if n < 2:
        return [-1] * n
    graph = Contraction(weights)
    walk, n_left = [0], n
    while n_left > 1:
        v = graph.best_tail(walk[-1])
        if v in walk:
            cycle = walk[walk.index(v) :]
            n_left -= len(cycle) - 1
            walk[walk.index(v) :] = [graph.merge(cycle)]
        else:
            walk.append(v)
    return _expand(graph, n)


def _expand(graph: Contraction, n: int) -> list[int]:
    """Enter the group of all at the vertex where that costs least, and each group in it in turn."""
    price = np.array([sum(graph.best[g].weight for g in _groups_of(graph, v)[:-1]) for v in range(n)])
    parent = [-1] * n
    pending = [(len(graph.within), -1, int((price <= price.min() + TOLERANCE).argmax()))]
    while pending:
        group, tail, head = pending.pop()
        groups = _groups_of(graph, head)
        groups = groups[: groups.index(group) + 1]
        parent[head] = tail
        for upper, lower in zip(groups[1:], groups, strict=False):
            for member in graph.members[upper]:
                if member != lower:
                    pending.append((member, graph.best[member].tail, graph.best[member].head))
    return parent


def _groups_of(graph: Contraction, v: int) -> list[int]:
    """Return a vertex and the groups that it is in, from the inside out."""
    groups = [v]
    while groups[-1] in graph.within:
        groups.append(graph.within[groups[-1]])
    return groups
