"""The greedy loop: from a structure to its best neighbour, as long as that is an improvement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tqdm.auto import tqdm

from ...base.arrays import TOLERANCE, Array
from .neighbours import Edit, Structure, apply

Score = Callable[[Structure, Sequence[Edit]], Array]
Pick = Callable[[Array], int]


@dataclass(frozen=True)
class Found:
    """What a search returns: the structure, and the scores of the steps that led there."""

    structure: Structure
    scores: tuple[float, ...]


def picker(rng: np.random.Generator | None) -> Pick:
    """Return a function that picks the best score, of tied ones the first, or with rng any."""

    def pick(scores: Array) -> int:
        tied = np.nonzero(scores >= scores.max() - TOLERANCE)[0]
        return int(tied[0] if rng is None else rng.choice(tied))

    return pick


def search(
    initial: Structure,
    neighbours: Callable[[Structure], Sequence[Edit]],
    score: Score,
    pick: Pick,
    *,
    epsilon: float,
    progress: bool = False,
) -> Found:
    """Take the best edit again and again while it improves the score by at least epsilon.

    Search ends early when the score is 1 or no edit is left.
    """
    current, scores = initial, [float(score(initial, [{}])[0])]
    with tqdm(disable=not progress, desc="search", unit=" steps") as bar:
        while scores[-1] < 1 - TOLERANCE:
            edits = neighbours(current)
            if not edits:
                break
            bar.set_postfix(candidates=len(edits), best=f"{scores[-1]:.4f}")
            found = score(current, edits)
            best = pick(found)
            if found[best] - epsilon < scores[-1] - TOLERANCE:
                break
            current = apply(current, edits[best])
            scores.append(float(found[best]))
            bar.update()
            bar.set_postfix(candidates=len(edits), best=f"{scores[-1]:.4f}")
    return Found(current, tuple(scores))
