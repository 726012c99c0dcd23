"""The greedy loop: from a structure to its best neighbour, as long as that is an improvement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from tqdm.auto import tqdm

from ...base.arrays import TOLERANCE, Array
from .neighbours import Edit, Structure, apply

Score = Callable[[Structure, Sequence[Edit]], Array]
Pick = Callable[[Array], int]


class Climber(NamedTuple):
    """What a step has at hand: the features there are, and how to score and pick candidates."""

    features: range
    score: Score
    pick: Pick


class Move(NamedTuple):
    """A step that a search took, from a structure by an edit, and the scores before and after."""

    structure: Structure
    edit: Edit
    before: float
    after: float


@dataclass(frozen=True)
class Ascent:
    """What a search returns.

    Attributes
    ----------
    structure : Structure
    start : float
        The score of the structure that the search began with.
    moves : tuple of Move
    missed : float
        By how much the best candidate would have raised the score at the end; 0 if there was none
        that would.
    """

    structure: Structure
    start: float
    moves: tuple[Move, ...]
    missed: float = 0.0

    @property
    def scores(self) -> tuple[float, ...]:
        """The score at the start, and after each step."""
        return (self.start, *(move.after for move in self.moves))


def picker(rng: np.random.Generator | None) -> Pick:
    """Return a function that picks the best score, of tied ones the first, or with rng any."""

    def pick(scores: Array) -> int:
        tied = np.nonzero(scores >= scores.max() - TOLERANCE)[0]
        return int(tied[0] if rng is None else rng.choice(tied))

    return pick


def search(
    initial: Structure,
    neighbours: Callable[[Structure, Climber], Sequence[Edit]],
    climber: Climber,
    *,
    epsilon: float,
    most: float,
    progress: bool = False,
) -> Ascent:
    """Take the best edit again and again while it improves the score by at least epsilon.

    Search ends early when the score is ``most``, above which there is none, or no edit is left.
    """
    current, moves, missed = initial, list[Move](), 0.0
    start = score = float(climber.score(initial, [{}])[0])
    with tqdm(disable=not progress, desc="search", unit=" steps") as bar:
        while score < most - TOLERANCE:
            edits = neighbours(current, climber)
            if not edits:
                break
            bar.set_postfix(candidates=len(edits), best=f"{score:.4f}")
            scores = climber.score(current, edits)
            best = climber.pick(scores)
            best_score = float(scores[best])
            if best_score - epsilon < score - TOLERANCE:
                missed = best_score - score if best_score > score + TOLERANCE else 0.0
                break
            moves.append(Move(current, edits[best], score, best_score))
            current, score = apply(current, edits[best]), best_score
            bar.update()
            bar.set_postfix(candidates=len(edits), best=f"{score:.4f}")
    return Ascent(current, start, tuple(moves), missed)
