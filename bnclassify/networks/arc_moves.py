"""Hill climbing: the additions, deletions and reversals of arcs, the best of which is made."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..structure import LocalScores
from ..tools.arrays import TOLERANCE, Array, Mask, Positions
from ..tools.calls import Bar, progress_bar
from ..tools.graphs import ChangingDag
from .structural_em import ParentLists

MOVES = ("add", "delete", "reverse")
"""The operations on an arc, in the order in which ties are broken."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a search; `required` and `forbidden` are (from, to) arrays of bool."""

    required: Mask
    forbidden: Mask
    max_parents: int
    moves: Collection[str]


class ArcMove(NamedTuple):
    """An operation on an arc."""

    operation: str
    source: int
    target: int


class Change(NamedTuple):
    """A move that a search made in a run, its gain, and the score after it."""

    move: ArcMove
    gain: float
    score: float
    run: int


class HillClimber:
    """The current network of a search; after each step, only families that changed are scored."""

    def __init__(self, scores: LocalScores, parents: ParentLists, limits: Limits) -> None:
        self.scores, self.limits = scores, limits
        self.parents = [list(ps) for ps in parents]
        n = len(self.parents)
        self._graph = ChangingDag(n, [(p, v) for v, ps in enumerate(parents) for p in ps])
        # Gains of the addition and the deletion of each arc, (to, from), and of additions that
        # close no cycle, with the largest to each variable; -inf if it is impossible.
        self._added, self._deleted, self._open = np.full((3, n, n), -np.inf)
        self._largest, self._local = np.full(n, -np.inf), np.zeros(n)
        self._update_gains_of_families(*range(n))
        self._update_acyclic_additions(range(n))

    @property
    def score_of_network(self) -> float:
        """The score of the network."""
        return float(self._local.sum())

    @property
    def arc_matrix(self) -> Mask:
        """Whether there is an arc, (from, to)."""
        return self._graph.arcs.copy()

    def gains_of_moves(self) -> Array:
        """Return the gains of operations on arcs, (operations, from, to); impossible is -inf."""
        gains = np.full((len(MOVES), *self._added.shape), -np.inf)
        sources, targets, deletions, reversals = self._gains_of_deletions_and_reversals()
        turns = self._graph.reversible_arcs(sources, targets)
        gains[0] = self._open.T
        gains[1, sources, targets] = deletions
        gains[2, sources[turns], targets[turns]] = reversals[turns]
        return gains

    def _gains_of_deletions_and_reversals(self) -> tuple[Positions, Positions, Array, Array]:
        """Return the ends of the arcs, in order, and the gains of their deletions and reversals."""
        sources, targets = self._graph.arc_ends()
        deletions: Array = self._deleted[targets, sources]
        reversals: Array = deletions + self._added[sources, targets]
        for gains, move in ((deletions, "delete"), (reversals, "reverse")):
            if move not in self.limits.moves:
                gains[:] = -np.inf
        return sources, targets, deletions, reversals

    def best_move(
        self, tolerance: float, tabu: Collection[Mask] = ()
    ) -> tuple[ArcMove, float] | None:
        """Return the best move to a network that is not `tabu` and its gain, the first if tied."""
        sources, targets, deletions, reversals = self._gains_of_deletions_and_reversals()
        refused = list[int]()
        while True:
            found = self._first_of_tied_moves(tolerance, sources, targets, deletions, reversals)
            if found is None or not tabu or not self._leads_to_tabu_network(found[0], tabu):
                break
            operation, source, target = found[0]
            if operation == "add":
                self._open[target, source] = -np.inf
                self._largest[target] = self._open[target].max()
                refused.append(target)
            else:
                gains = deletions if operation == "delete" else reversals
                gains[(sources == source) & (targets == target)] = -np.inf
        self._update_acyclic_additions(refused)
        return found

    def _leads_to_tabu_network(self, move: ArcMove, networks: Collection[Mask]) -> bool:
        after = self.arc_matrix
        after[move.source, move.target] = move.operation == "add"
        after[move.target, move.source] |= move.operation == "reverse"
        return any(np.array_equal(after, network) for network in networks)

    def _first_of_tied_moves(
        self,
        tolerance: float,
        sources: Positions,
        targets: Positions,
        deletions: Array,
        reversals: Array,
    ) -> tuple[ArcMove, float] | None:
        largest: float = max(self._largest.max(initial=-np.inf), deletions.max(initial=-np.inf))
        least: float = largest - tolerance
        better = np.flatnonzero(reversals >= least)  # only these are checked for cycles
        reversals[better[~self._graph.reversible_arcs(sources[better], targets[better])]] = -np.inf
        least = max(least, reversals.max(initial=-np.inf) - tolerance)
        if least == -np.inf:
            return None
        reached = np.flatnonzero(self._largest >= least)
        if len(reached):
            tied: Mask = self._open[reached] >= least
            source = int(tied.any(axis=0).argmax())
            target = int(reached[tied[:, source].argmax()])
            return ArcMove("add", source, target), float(self._open[target, source])
        operation, gains = "delete", deletions
        if not (deletions >= least).any():
            operation, gains = "reverse", reversals
        at = int((gains >= least).argmax())
        return ArcMove(operation, int(sources[at]), int(targets[at])), float(gains[at])

    def _update_acyclic_additions(self, targets: Sequence[int] | Positions) -> None:
        """Update which additions of arcs to some variables close no cycle."""
        if len(targets) and "add" in self.limits.moves:
            self._open[targets] = np.where(
                self._graph.reach[targets], -np.inf, self._added[targets]
            )
            self._largest[targets] = self._open[targets].max(axis=1)

    def draw_move(self, rng: np.random.Generator) -> tuple[ArcMove, float] | None:
        """Draw one of the possible moves, and return it with its gain."""
        gains = self.gains_of_moves()
        possible = np.flatnonzero(gains > -np.inf)
        if not len(possible):
            return None
        drawn = int(possible[rng.integers(len(possible))])
        operation, source, target = map(int, np.unravel_index(drawn, gains.shape))
        return ArcMove(MOVES[operation], source, target), float(gains.flat[drawn])

    def make_move(self, move: ArcMove) -> None:
        """Make a possible move. Paths change from an end of the arc and its ancestors only."""
        operation, source, target = move
        changed = self._graph.reach[:, source] | (
            self._graph.reach[:, target] & (operation == "reverse")
        )
        if operation == "add":
            self.parents[target].append(source)
            self._graph.add_arc(source, target)
        else:
            self.parents[target].remove(source)
            self._graph.remove_arc(source, target)
        if operation == "reverse":
            self.parents[source].append(target)
            self._graph.add_arc(target, source)
            self._update_gains_of_families(source, target)
        else:
            self._update_gains_of_families(target)
        changed[target] = True
        self._update_acyclic_additions(np.flatnonzero(changed))

    def _update_gains_of_families(self, *variables: int) -> None:
        """Score families, and their gains by one more or one fewer parent."""
        families = [(v, *self.parents[v]) for v in variables]
        shorter = ((v, *p) for v in variables for _, p in self._deletable_parents_and_others(v))
        self.scores.count_families_ahead(
            [family for family in families if len(family) <= self.limits.max_parents],
            chain(families, shorter),
        )
        for variable in variables:
            self._update_gains_of_family(variable)

    def _deletable_parents_and_others(self, variable: int) -> Iterator[tuple[int, list[int]]]:
        if self.limits.moves != ("add",):
            for parent in self.parents[variable]:
                if not self.limits.required[parent, variable]:
                    yield parent, [p for p in self.parents[variable] if p != parent]

    def _update_gains_of_family(self, variable: int) -> None:
        parents, scores = self.parents[variable], self.scores
        self._added[variable] = -np.inf
        if len(parents) < self.limits.max_parents:
            option = ~self.limits.forbidden[:, variable]
            option[[variable, *parents]] = False
            gains = scores.gains_by_added_parent(variable, parents)
            np.copyto(self._added[variable], gains, where=option)
        score = self._local[variable] = scores.score_of_family(variable, parents)
        self._deleted[variable] = -np.inf
        for parent, others in self._deletable_parents_and_others(variable):
            self._deleted[variable, parent] = scores.score_of_family(variable, others) - score


@dataclass(frozen=True)
class Climb:
    """Continuation at a maximum: at most `tabu` steps down, then `restarts` at random moves."""

    tabu: int = 0
    restarts: int = 0
    progress: bool | None = None

    def __call__(
        self, scores: LocalScores, start: ParentLists, limits: Limits, rng: np.random.Generator
    ) -> tuple[list[list[int]], list[Change]]:
        """Return the parents of each variable in the best network found, and the moves made."""
        changes: list[Change] = []
        with progress_bar(self.progress, desc="search", unit=" steps") as bar:
            climber = HillClimber(scores, start, limits)
            best, best_score = self._climb_to_maximum(climber, changes, 0, bar)
            for run in range(1, self.restarts + 1):
                climber = HillClimber(scores, best, limits)
                for _ in range(5):  # random moves before each restart
                    drawn = climber.draw_move(rng)
                    if drawn is not None:
                        _make_and_record_move(climber, *drawn, changes, run, bar)
                    if climber.score_of_network > best_score + TOLERANCE:
                        break
                found, score = self._climb_to_maximum(climber, changes, run, bar)
                if score > best_score + TOLERANCE:
                    best, best_score = found, score
        return best, changes

    def _climb_to_maximum(
        self, climber: HillClimber, changes: list[Change], run: int, bar: Bar
    ) -> tuple[list[list[int]], float]:
        """Make moves until `tabu` steps did not improve the best score; return the best network."""
        recent = deque([climber.arc_matrix], maxlen=self.tabu)
        best, best_score = [list(ps) for ps in climber.parents], climber.score_of_network
        # since the best network: the sum of gains, the steps down, and the ends of changed arcs
        gained, n_down, changed = 0.0, 0, set[int]()
        while True:
            tolerance = max(TOLERANCE, 1e-12 * abs(climber.score_of_network))
            if self.tabu:
                tolerance = 1.490116e-8  # the square root of the machine epsilon, as in bnlearn
            found = climber.best_move(tolerance, recent)
            if found is None:
                return best, best_score
            move, gain = found
            if gain <= tolerance and n_down == self.tabu:
                return best, best_score
            _make_and_record_move(climber, move, gain, changes, run, bar)
            changed |= {move.source, move.target}
            if self.tabu:
                recent.append(climber.arc_matrix)
            gained += gain
            n_down += gain <= tolerance
            if gained >= tolerance:
                for variable in changed:
                    best[variable] = list(climber.parents[variable])
                best_score, gained, n_down, changed = climber.score_of_network, 0.0, 0, set()


def _make_and_record_move(
    climber: HillClimber, move: ArcMove, gain: float, changes: list[Change], run: int, bar: Bar
) -> None:
    climber.make_move(move)
    changes.append(Change(move, gain, climber.score_of_network, run))
    bar.set_postfix_str(f"score={climber.score_of_network:.4f}", refresh=False)
    bar.update()
