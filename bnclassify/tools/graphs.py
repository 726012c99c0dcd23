"""Graphs: cycles, layers, components, forests and trees of maximum weight, mutable DAGs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import log
from typing import TypeVar

import numpy as np

from .arrays import TOLERANCE, Array, Mask, Positions, first_best

Vertex = TypeVar("Vertex", bound=Hashable)


def find_cycle(parents: Mapping[Vertex, Sequence[Vertex]]) -> list[Vertex]:
    """Return the vertices of one directed cycle in the order of its arcs, or an empty list."""
    try:
        TopologicalSorter({vertex: above for vertex, above in parents.items() if above}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def topological_layers(parents: Mapping[Vertex, Sequence[Vertex]]) -> list[list[Vertex]]:
    """Sort the vertices of an acyclic graph into layers, each with parents in earlier ones only.

    Within a layer vertices keep the order of ``parents``.
    """
    depth: dict[Vertex, int] = {}
    for vertex in TopologicalSorter(parents).static_order():
        depth[vertex] = 1 + max((depth[p] for p in parents[vertex]), default=-1)
    result: list[list[Vertex]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for vertex in parents:
        result[depth[vertex]].append(vertex)
    return result


def connected_components(parents: Mapping[Vertex, Sequence[Vertex]]) -> list[list[Vertex]]:
    """Sort the vertices into connected components, regardless of the directions of arcs.

    Components and the vertices in them keep the order of ``parents``.
    """
    position = {vertex: i for i, vertex in enumerate(parents)}
    arcs = [(position[v], position[p]) for v, ps in parents.items() for p in ps]
    _, labels = _joining_edges_and_components(len(position), arcs)
    result: dict[int, list[Vertex]] = {}
    for vertex, label in zip(parents, labels, strict=True):
        result.setdefault(label, []).append(vertex)
    return list(result.values())


def _joining_edges_and_components(
    n: int, edges: Iterable[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the edges that join two components if added in turn, and the final components."""
    labels, joining = np.arange(n), []
    for first, second in edges:
        one, other = int(labels[first]), int(labels[second])
        if one != other:
            labels[labels == other] = one
            joining.append((first, second))
            if len(joining) == n - 1:
                break
    return joining, list(map(int, labels))


def max_forest_parents(weights: Array, keep: Mask, roots: Iterable[int]) -> list[int]:
    """Return the parents in the forest of maximum weight, -1 for roots; first tied edges win."""
    n = len(weights)
    candidates: Mask = keep & _forest_candidates(np.where(keep, weights, _ABSENT))
    ends = np.argwhere(np.triu(candidates, 1))
    edges = ends[descending_order(weights[tuple(ends.T)])].tolist()
    neighbors: list[list[int]] = [[] for _ in range(n)]
    for first, second in _joining_edges_and_components(n, edges)[0]:
        neighbors[first].append(second)
        neighbors[second].append(first)
    parent, seen = [-1] * n, [False] * n
    for root in roots:
        pending = [] if seen[root] else [root]
        for vertex in pending:
            seen[vertex] = True
            found = [other for other in neighbors[vertex] if not seen[other]]
            for other in found:
                parent[other] = vertex
            pending += found
    return parent


_ABSENT = -1e300  # the weight of an edge that does not exist


def _forest_candidates(weights: Array) -> Mask:
    """Return the edges, (n, n), that can be part of a forest of maximum weight, with tied ones.

    An edge cannot if it is less than all edges of the path between its ends in
    one such tree, which Prim's algorithm grows. ``least`` has the smallest
    weight on each path.
    """
    n = len(weights)
    least, outside = np.full((n, n), np.inf), weights.copy()
    # of each vertex outside the tree: its largest edge to the tree, and where that edge ends
    best, nearest = np.full(n, _ABSENT), np.zeros(n, dtype=np.intp)
    for _ in range(n):
        vertex = best.argmax()
        # A path from the new vertex is its edge to the nearest one, then the path from there.
        least[vertex] = least[:, vertex] = np.minimum(least[nearest[vertex]], best[vertex])
        least[vertex, vertex] = np.inf
        best[vertex] = outside[:, vertex] = -np.inf
        nearest[outside[vertex] > best] = vertex
        np.maximum(best, outside[vertex], out=best)
    return weights >= least - TOLERANCE * np.maximum(1.0, np.abs(weights))


def spanning_tree_posterior(scores: Array) -> tuple[Array, float]:
    """Return the probability of each edge over all spanning trees, (n, n), and ln Σ_T Π exp(score).

    The probability of a tree is proportional to the product of exp(score) over
    its edges, and that of an edge is its conductance exp(score) times the
    effective resistance between its ends. Vertices are eliminated by the
    star-mesh transform, which keeps resistances, and restored. All values are
    logs; the only difference, below, loses few digits, because y is at most k²
    / 2 times the resistance that results.
    """
    logs: Array = np.array(scores, dtype=np.float64)
    np.fill_diagonal(logs, -np.inf)
    conductances, n = logs, len(logs)
    stars: list[tuple[Array, float]] = []
    for k in range(n - 1, 0, -1):
        # The conductances c_i of the star around k become a mesh of c_i c_j / Σ c.
        row = logs[k, :k]
        total = float(np.logaddexp.reduce(row))
        mesh: Array = row[:, None] + row - total
        np.fill_diagonal(mesh, -np.inf)
        logs = np.logaddexp(logs[:k, :k], mesh)
        stars.append((row - total, total))
    resistances = np.full((n, n), -np.inf)
    for k, (shares, total) in enumerate(reversed(stars), start=1):
        # With the shares s_i = c_i / Σ c, the resistance between i and k is x_i + 1 / Σ c − y,
        # where x_i = Σ_j s_j r_ij and y = ½ Σ_ij s_i s_j r_ij.
        x: Array = np.logaddexp.reduce(shares[:, None] + resistances[:k, :k], axis=0)
        y = float(np.logaddexp.reduce(shares + x)) - log(2)
        top: Array = np.maximum(x, -total)
        sums = np.exp(x - top) + np.exp(-total - top) - np.exp(y - top)
        resistances[k, :k] = resistances[:k, k] = top + np.log(sums)
    return np.exp(conductances + resistances), sum([total for _, total in stars])


def maximum_arborescence(weights: Array) -> list[int]:
    """Return each vertex's parent, -1 for the root, in the maximum arborescence over all roots.

    ``weights``, (n, n), has the finite weight of the arc from the row to the
    column. The first of tied roots is chosen. A walk follows the best arc into
    each vertex backwards (Edmonds), in quadratic time. A cycle in which it ends
    becomes a group. The weight of an arc into it is its gain over the best arc
    to its head.
    """
    n = len(weights)
    if not n:
        return []
    # into[v, u] is the weight of u → v. A group has the row and the column of its first vertex,
    # and its arcs are arcs between vertices, whose ends are kept.
    into = np.array(np.transpose(weights), dtype=np.float64)
    np.fill_diagonal(into, -np.inf)
    head, tail = np.indices((n, n))
    name = list(range(n))  # of the group at each vertex; groups have the numbers after the vertices
    best: dict[int, tuple[int, int, float]] = {}  # arc into a vertex or group: tail, head, weight
    members: dict[int, list[int]] = {}
    walk, n_left = [0], n
    while n_left > 1:
        v = walk[-1]
        u = int(first_best(into[v]))
        best[name[v]] = int(tail[v, u]), int(head[v, u]), float(into[v, u])
        if u not in walk:
            walk.append(u)
            continue
        # The walk is where it was before: the vertices since then are a cycle.
        cycle = sorted(walk[walk.index(u) :])
        walk[walk.index(u) :] = cycle[:1]
        n_left -= len(cycle) - 1
        for v in cycle:
            into[v] -= best[name[v]][2]
        # The first vertex gets the best of the arcs between the cycle and each other vertex.
        first, *others = cycle
        for arrays in ((into, head, tail), (into.T, head.T, tail.T)):  # arcs in, then out
            choice = first_best(arrays[0][cycle].T)  # a member of the cycle for each vertex
            for array in arrays:
                array[first] = np.take_along_axis(array[cycle], choice[None], axis=0)[0]
        into[others], into[:, others], into[first, first] = -np.inf, -np.inf, -np.inf
        group = n + len(members)
        members[group] = [name[v] for v in cycle]
        name[cycle[0]] = group
    return _expand_contracted_group(n, best, members)


def _expand_contracted_group(
    n: int, best: Mapping[int, tuple[int, int, float]], members: Mapping[int, Sequence[int]]
) -> list[int]:
    """Enter the last group at the vertex of minimum cost, and each group in it at its best arc."""
    within = {member: group for group, own in members.items() for member in own}
    groups = [[v] for v in range(n)]  # that each vertex is in, from the inside out
    price = np.zeros(n)
    for vertex, of_vertex in enumerate(groups):
        while of_vertex[-1] in within:
            price[vertex] += best[of_vertex[-1]][2]
            of_vertex.append(within[of_vertex[-1]])
    parent = [-1] * n
    pending = [(n + len(members) - 1, -1, int(first_best(-price)))]
    while pending:
        group, tail, head = pending.pop()
        parent[head] = tail
        entered = groups[head][: groups[head].index(group) + 1]
        for lower, upper in pairwise(entered):
            pending += [(member, *best[member][:2]) for member in members[upper] if member != lower]
    return parent


def descending_order(weights: Array) -> Positions:
    """Order positions by descending weight, ties by position.

    Weights within ``TOLERANCE`` of each other, relative to large weights, are
    tied.
    """
    order = np.argsort(-weights, kind="stable")
    group, groups, largest = 0, [], np.inf  # of tied weights
    for weight in map(float, weights[order]):
        if largest - weight > TOLERANCE * max(1.0, abs(weight)):
            group, largest = group + 1, weight
        groups.append(group)
    return order[np.lexsort((order, np.array(groups, dtype=np.intp)))]


class ChangingDag:
    """A directed acyclic graph over vertices 0, 1, 2 …, with up-to-date paths between them.

    ``arcs[i, j]`` is whether there is an arc from i to j, and ``reach[i, j]``
    whether there is a path; every vertex reaches itself. An arc from i to j
    would close a cycle if j reaches i.
    """

    def __init__(self, n: int, arcs: Iterable[tuple[int, int]] = ()) -> None:
        self.arcs = np.zeros((n, n), dtype=bool)
        self.reach = np.eye(n, dtype=bool)
        for source, target in arcs:
            self.add_arc(source, target)

    def add_arc(self, source: int, target: int) -> None:
        self.arcs[source, target] = True
        self.reach[self.reach[:, source]] |= self.reach[target]

    def remove_arc(self, source: int, target: int) -> None:
        """Remove an arc. Only its source and the ancestors of the source can lose paths."""
        self.arcs[source, target] = False
        if self.reach[self.arcs[source], target].any():
            return
        ancestors = np.flatnonzero(self.reach[:, source])
        # A vertex reaches more than any of its descendants, so this order starts at the leaves.
        n_reached: Positions = np.count_nonzero(self.reach[ancestors], axis=1)
        for vertex in map(int, ancestors[np.argsort(n_reached)]):
            self.reach[vertex] = self.reach[self.arcs[vertex]].any(axis=0)
            self.reach[vertex, vertex] = True

    def arc_ends(self) -> tuple[Positions, Positions]:
        # Faster than np.nonzero of a matrix.
        return np.divmod(np.flatnonzero(self.arcs), len(self.arcs))

    def reversible_arcs(self, sources: Positions, targets: Positions) -> Mask:
        """Return which arcs are the only path between their ends."""
        paths: Mask = self.arcs[sources] & self.reach[:, targets].T
        return np.asarray(np.count_nonzero(paths, axis=1) == 1)  # the target itself
