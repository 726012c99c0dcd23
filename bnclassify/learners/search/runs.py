"""One run of a greedy learner: its arguments checked, the search, and the model that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...backoff.prior import find_prior
from ...base.checks import check_choice, check_flag, check_real, check_whole
from ...base.messages import warn
from ...base.randomness import Seed, check_rng
from ...frames.schema import Dataset
from ...frames.training import TrainingData, prepare
from ...metrics.folds import Folds, Rows, draw_folds, fold_rows
from ...metrics.metrics import METRICS
from ...model.raw_rows import check_size
from ...model.recipes import Step, is_repeated
from ...network.bnc import BNC
from ...network.priors import Prior
from ..fixed import network
from .folded import FoldedData
from .greedy import Ascent, Climber, picker, search
from .neighbours import Edit, Structure, describe
from .scoring import CrossValidatedScore

SEARCHED = ("accuracy", "balanced_accuracy", "log_loss")
"""The metrics that a search may be guided by."""

Amount = float | None


@dataclass(frozen=True)
class Moves:
    """What tells one greedy learner from another.

    Attributes
    ----------
    start : callable
        From the number of features, the structure that the search starts from.
    neighbours : callable
        From a structure and what is at hand, the edits that a step may choose from.
    joins : bool
        Whether steps join groups of features; else they add arcs.
    """

    start: Callable[[int], Structure]
    neighbours: Callable[[Structure, Climber], Sequence[Edit]]
    joins: bool = False


@dataclass(frozen=True)
class Search:
    """The arguments that all greedy learners share, as they were given."""

    k: int
    epsilon: float
    smoothing: tuple[Amount, Amount, Amount]
    metric: str
    folds: Folds | None
    rng: Seed
    progress: bool

    @property
    def priors(self) -> dict[str, float]:
        """The argument that asks for a prior, as in `lp`; of none, that for none."""
        amounts = dict(zip(("smooth", "ess", "m"), self.smoothing, strict=True))
        return {name: amount for name, amount in amounts.items() if amount is not None} or {"smooth": 0}

    def run(
        self,
        learner: Callable[..., BNC],
        moves: Moves,
        class_var: Hashable,
        dataset: pd.DataFrame | Dataset,
        **further: Any,
    ) -> BNC:
        """Check the arguments, search, and return the structure found with its recipe and steps.

        Parameters
        ----------
        learner : callable
            The public function, for the recipe.
        moves : Moves
        class_var, dataset
            As the learner was given them.
        **further
            Settings of the learner that the recipe keeps too.
        """
        prior = self._check()
        generator = check_rng(self.rng)
        data = prepare(dataset, (class_var,), rows_needed=True)
        check_size(len(data), data.cards[-1])
        folded = FoldedData.deal(data, _tests(data, self.k, self.folds, generator))
        metric = METRICS[self.metric]
        score = CrossValidatedScore(folded, prior, metric)
        climber = Climber(range(len(data.features)), score, picker(None if self.rng is None else generator))
        ascent = search(
            moves.start(len(climber.features)),
            moves.neighbours,
            climber,
            epsilon=self.epsilon,
            most=0.0 if metric.is_loss else 1.0,
            progress=self.progress,
        )
        self._tell(ascent, len(data.features))
        step = Step(learner.__name__, learner, self._settings(further), draws=True)
        parents = {
            data.features[v]: tuple(data.features[p] for p in numbers)
            for v, numbers in sorted(ascent.structure.items())
        }
        return network(class_var, parents, data.schema, step, trace=self._trace(ascent, moves, data.features))

    def _check(self) -> Prior:
        """Raise for arguments that are out of range, else return the prior that they ask for."""
        check_whole("k", self.k, least=2, kind="a whole number of folds")
        check_real("epsilon", self.epsilon, least=0)
        check_choice("metric", self.metric, SEARCHED)
        check_flag("progress", self.progress)
        return find_prior(**self.priors)

    def _settings(self, further: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the recipe keeps: what is not at its default, and can be used again on other rows."""
        seed = None if isinstance(self.rng, np.random.Generator) else self.rng
        settings = {"k": self.k, **further, "epsilon": self.epsilon, **self.priors, "metric": self.metric}
        usual = {"epsilon": 0.01, "smooth": 0, "metric": "accuracy", "kdbk": 2}
        kept = {name: value for name, value in settings.items() if usual.get(name) != value}
        return kept if seed is None else kept | {"rng": seed}

    def _tell(self, ascent: Ascent, n_features: int) -> None:
        """Warn of a search that ended where it began for want of epsilon, or without features; once."""
        if is_repeated():
            return
        if ascent.missed and not ascent.moves:
            warn(
                f"epsilon: no step raises the {self.metric} by {self.epsilon}, so the search ends where it "
                f"began; the best step would raise it by {ascent.missed:.2g}. With a smaller epsilon, such "
                "as epsilon=0, it is taken"
            )
        elif n_features and not ascent.structure:
            warn(
                f"metric: no feature raises the {self.metric} above that of the largest class alone, so "
                "none is taken; with metric='log_loss' what counts are posteriors"
            )

    def _trace(self, ascent: Ascent, moves: Moves, features: Sequence[Hashable]) -> dict[str, Any]:
        """Return what `greedy_scores`, `search_steps` and the summary tell."""

        def named(numbers: Sequence[int], several: bool) -> Any:
            names = tuple(features[v] for v in numbers)
            return names if several else names[0] if names else None

        steps = []
        for move in ascent.moves:
            operation, source, target = describe(move.structure, move.edit, joins=moves.joins)
            ends = [named(numbers, operation == "join") for numbers in (source, target)]
            steps.append((operation, *ends, move.after - move.before, move.after))
        return {
            "scores": ascent.scores,
            "steps": tuple(steps),
            "metric": self.metric,
            "epsilon": float(self.epsilon),
        }


def _tests(data: TrainingData, k: int, folds: Folds | None, rng: np.random.Generator) -> list[Rows]:
    """Return the rows of ``data`` that each fold tests; folds given count rows without a class too."""
    if folds is None:
        tests = fold_rows(draw_folds(data.codes[-1], data.levels[-1], k, rng), len(data))
    else:
        known = data.has_class
        position = np.cumsum(known) - 1
        test_rows = fold_rows(folds, len(known), data.all_rows.index)
        tests = [position[test[known[test]]] for test in test_rows]
    for number, test in enumerate(tests):
        if not 0 < len(test) < len(data):
            raise ValueError(
                f"folds: fold {number} tests {len(test)} of the {len(data)} rows that have a class; each "
                "fold must test at least one of them and leave one"
            )
        if data.weights is not None and not data.weights[test].any():
            raise ValueError(
                f"folds: the rows that fold {number} tests all have weight 0; each fold must test rows that "
                "count"
            )
    return tests
