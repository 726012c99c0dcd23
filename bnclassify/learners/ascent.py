"""Hill climbing over directed acyclic graphs, on numbered variables.

A step takes the arc whose addition, deletion or reversal gains most. What an arc gains changes only where
the family of its target does, so after a step one or two families are scored anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from ..base.acyclicity import ChangingDag
from ..base.arrays import TOLERANCE, Array
from .local_scores import LocalScores

MOVES = ("add", "delete", "reverse")
"""What a step may do to an arc, in the order in which ties are decided."""


class Step(NamedTuple):
    """One step: what it did to which arc, as it was before, what that gained and came to."""

    operation: str
    source: int
    target: int
    gain: float
    score: float


@dataclass(frozen=True, eq=False)
class Limits:
    """What a search may not do.

    Attributes
    ----------
    required, forbidden : (variables, variables) arrays of bool
        Arcs, from the variable of the row to that of the column, that must stay or may not come.
    max_parents : int
        The most parents of a variable.
    moves : collection of str
        Some of ``MOVES``.
    """

    required: NDArray[np.bool_]
    forbidden: NDArray[np.bool_]
    max_parents: int
    moves: Collection[str]


class Climb:
    """A network on its way up.

    Parameters
    ----------
    scores : LocalScores
    parents : sequence of sequences of int
        The parents of each variable at the start, within the limits.
    limits : Limits

    Attributes
    ----------
    parents : list of list of int
        Those of each variable now, in the order in which they joined.
    """

    def __init__(self, scores: LocalScores, parents: Sequence[Sequence[int]], limits: Limits) -> None:
        self.scores, self.limits = scores, limits
        self.parents = [list(ps) for ps in parents]
        n = len(self.parents)
        self._graph = ChangingDag(n, [(p, v) for v, ps in enumerate(parents) for p in ps])
        # What the addition and the deletion of arcs would gain; -inf where that is no option.
        self._added, self._deleted = np.full((2, n, n), -np.inf)
        self._local = np.zeros(n)
        self._score(*range(n))

    @property
    def score(self) -> float:
        """The score of the network."""
        return float(self._local.sum())

    def step(self) -> Step | None:
        """Make the best move, of tied ones the first; None if none is an improvement."""
        options = [(move, *self._gains(move)) for move in MOVES if move in self.limits.moves]
        tolerance = max(TOLERANCE, 1e-12 * abs(self.score))
        best = max(float(gains.max(initial=-np.inf)) for _, gains, _ in options)
        if best <= tolerance:
            return None
        move, gains, arcs = next(o for o in options if o[1].max(initial=-np.inf) >= best - tolerance)
        first = int((gains >= best - tolerance).argmax())
        source, target = divmod(first if arcs is None else int(arcs[first]), len(self.parents))
        gain = float(gains[first])
        self.make(move, source, target)
        return Step(move, source, target, gain, self.score)

    def gain(self, move: str, source: int, target: int) -> float:
        """Return what a move would gain; -inf if it is none."""
        gains, arcs = self._gains(move)
        where = np.arange(gains.size) if arcs is None else arcs
        return float(gains[where == source * len(self.parents) + target].max(initial=-np.inf))

    def _gains(self, move: str) -> tuple[Array, NDArray[np.intp] | None]:
        """Return what a move on each arc would gain, and those arcs by number; None for all there can be.

        Arcs are numbered from variable to variable, all from the first to begin with.
        """
        if move == "add":
            return np.where(self._graph.closes_cycle, -np.inf, self._added).ravel(), None
        sources, targets = self._graph.present() if move == "delete" else self._graph.reversible()
        gains = self._deleted[sources, targets]
        if move == "reverse":
            gains += self._added[targets, sources]
        return gains, sources * len(self.parents) + targets

    def make(self, move: str, source: int, target: int) -> None:
        """Make a move that is one."""
        if move == "add":
            self.parents[target].append(source)
            self._graph.add(source, target)
        else:
            self.parents[target].remove(source)
            self._graph.remove(source, target)
        if move == "reverse":
            self.parents[source].append(target)
            self._graph.add(target, source)
            self._score(source, target)
        else:
            self._score(target)

    def _score(self, *variables: int) -> None:
        """Score families and what they would gain or lose by one parent more or less."""
        self.scores.prefetch(
            [(v, *self.parents[v]) for v in variables if len(self.parents[v]) < self.limits.max_parents],
            [(v, *self.parents[v]) for v in variables]
            + [(v, *p) for v in variables for _, p in self._lesser(v)],
        )
        for variable in variables:
            self._score_family(variable)

    def _lesser(self, variable: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the parents that a variable may lose, each with the others."""
        if self.limits.moves != ("add",):
            for parent in self.parents[variable]:
                if not self.limits.required[parent, variable]:
                    yield parent, [p for p in self.parents[variable] if p != parent]

    def _score_family(self, variable: int) -> None:
        parents, scores = self.parents[variable], self.scores
        score = self._local[variable] = scores.family(variable, parents)
        self._added[:, variable] = -np.inf
        if len(parents) < self.limits.max_parents:
            option = ~self.limits.forbidden[:, variable]
            option[[variable, *parents]] = False
            np.copyto(self._added[:, variable], scores.gains(variable, parents), where=option)
        self._deleted[:, variable] = -np.inf
        for parent, others in self._lesser(variable):
            self._deleted[parent, variable] = scores.family(variable, others) - score


def climb(
    scores: LocalScores, parents: Sequence[Sequence[int]], limits: Limits, *, progress: bool = False
) -> tuple[list[list[int]], list[Step]]:
    """Climb to where no move is an improvement; return the parents of each variable, and the steps."""
    ascent = Climb(scores, parents, limits)
    steps: list[Step] = []
    with tqdm(disable=not progress, desc="search", unit=" steps") as bar:
        while (step := ascent.step()) is not None:
            steps.append(step)
            if progress:
                bar.update()
                bar.set_postfix(score=f"{step.score:.4f}")
    return ascent.parents, steps
