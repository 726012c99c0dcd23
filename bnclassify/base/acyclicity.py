"""A directed graph that stays acyclic while arcs come and go, and knows at any time which may."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class ChangingDag:
    """A directed acyclic graph over vertices by number, with who reaches whom kept up to date.

    Parameters
    ----------
    n : int
        The number of vertices.
    arcs : iterable of (int, int)
        The arcs to begin with, each from its first to its second vertex; they form no cycle.

    Attributes
    ----------
    arcs, reach : (n, n) arrays of bool
        Whether there is an arc, and whether there is a directed path, from the vertex of the row
        to that of the column. Every vertex reaches itself.

    Examples
    --------
    >>> graph = ChangingDag(3, [(0, 1), (1, 2), (0, 2)])
    >>> graph.closes_cycle[2].tolist()  # arcs from the last vertex to the others and itself
    [True, True, True]
    >>> graph.reversible()  # 0 -> 2 is not: the path 0 -> 1 -> 2 would make it a cycle
    (array([0, 1]), array([1, 2]))
    """

    def __init__(self, n: int, arcs: Iterable[tuple[int, int]] = ()) -> None:
        self.arcs = np.zeros((n, n), dtype=bool)
        self.reach = np.eye(n, dtype=bool)
        for source, target in arcs:
            self.add(source, target)

    @property
    def closes_cycle(self) -> NDArray[np.bool_]:
        """Whether an arc from the vertex of the row to that of the column would close a cycle."""
        return self.reach.T

    def add(self, source: int, target: int) -> None:
        """Add an arc that closes no cycle: what reaches its source now reaches all that its target does."""
        self.arcs[source, target] = True
        self.reach |= self.reach[:, source, None] & self.reach[target]

    def remove(self, source: int, target: int) -> None:
        """Remove an arc. Only its source and those above it can lose what they reach."""
        self.arcs[source, target] = False
        if self.reach[self.arcs[source], target].any():
            return
        ancestors = np.nonzero(self.reach[:, source])[0]
        # A vertex reaches more than any vertex below it, so this order comes from below.
        for vertex in ancestors[np.argsort(np.count_nonzero(self.reach[ancestors], axis=1))]:
            self.reach[vertex] = self.reach[self.arcs[vertex]].any(axis=0)
            self.reach[vertex, vertex] = True

    def present(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the sources and targets of the arcs there are, in order."""
        return np.divmod(np.flatnonzero(self.arcs), len(self.arcs))  # faster than to look in two dimensions

    def reversible(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the sources and targets of the arcs that can be reversed without closing a cycle.

        Such an arc is the only path from its source to its target: no other child of the source
        reaches the target.
        """
        sources, targets = self.present()
        path_counts = np.count_nonzero(self.arcs[sources] & self.reach.T[targets], axis=1)
        is_only_path = path_counts == 1  # the target itself
        return sources[is_only_path], targets[is_only_path]
