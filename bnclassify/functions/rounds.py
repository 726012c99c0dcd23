"""Rounds of cross-validation: models learned again on some rows, and what they say of the others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.messages import shown
from ..base.randomness import Seed, check_rng
from ..frames.matching import scoring_classes
from ..frames.schema import Dataset, take_rows
from ..frames.training import TrainingData
from ..metrics.folds import Folds, Rows, check_k, draw_folds, fold_rows, shuffle_folds
from ..metrics.outcomes import Labelling, Outcome
from ..model.model import Model
from ..model.questions import classes
from ..model.raw_rows import log_joint
from .repetition import relearn


@dataclass(frozen=True, eq=False)
class Round:
    """A fold of a repeat.

    Attributes
    ----------
    repeat, fold : int
        From 0.
    test : array of int
        The rows that are tested; models learn from the others.
    seed : int or None
        Of what learners draw at random. All models get the same, so it does not matter which stand
        beside one another.
    """

    repeat: int
    fold: int
    test: Rows
    seed: int | None


def deal_rounds(
    data: Dataset, *, k: int, repeats: int, folds: Folds | None, rng: Seed, stratified: bool = True
) -> list[Round]:
    """Deal rows, whose class is the last column, into folds, and again for each repeat.

    The first repeat is the same whatever their number. Folds that are not ``stratified`` are dealt
    whatever the classes.
    """
    generator, rounds = check_rng(rng), []
    draw = _draw if stratified else _draw_at_random
    for repeat in range(repeats):
        drawn = folds if folds is not None else draw(data, k, generator, quiet=repeat > 0)
        for fold, test in enumerate(fold_rows(drawn, len(data), data.index)):
            seed = None if rng is None else int(generator.integers(2**63))
            rounds.append(Round(repeat, fold, test, seed))
    return rounds


def run_round(
    models: Mapping[Hashable, Model], data: TrainingData, fold: Round, *, dag: bool
) -> Iterator[Outcome]:
    """Yield what each model, learned again on the other rows, says of those that a round tests."""
    test = take_rows(data, fold.test)
    for learned in learn_again(models, data, fold, dag=dag):
        actual = scoring_classes(test, data.class_var, classes(learned))
        labelling = Labelling(classes(learned), data.class_var, test.index)
        yield Outcome(log_joint(learned, test), actual, labelling, test.weights)


def learn_again(
    models: Mapping[Hashable, Model], data: Dataset, fold: Round, *, dag: bool
) -> Iterator[Model]:
    """Yield each model, learned again on the rows that a round does not test."""
    tested = np.zeros(len(data), dtype=bool)
    tested[fold.test] = True
    trained = take_rows(data, ~tested)
    for name, model in models.items():
        rng = None if fold.seed is None else check_rng(fold.seed)
        try:
            yield relearn(model, trained, dag=dag, rng=rng)
        except ValueError as error:
            raise ValueError(
                f"x: model {shown(name)} cannot be learned again in fold {fold.fold}: {error}. With "
                "dag=False it keeps its structure"
            ) from error


def _draw(data: Dataset, k: int, rng: np.random.Generator, *, quiet: bool) -> NDArray[np.intp]:
    """Draw folds; unless ``quiet``, warn of classes with fewer rows than there are folds."""
    classes = data.codes[-1]
    return shuffle_folds(classes, k, rng) if quiet else draw_folds(classes, data.levels[-1], k, rng)


def _draw_at_random(data: Dataset, k: int, rng: np.random.Generator, *, quiet: bool) -> NDArray[np.intp]:
    """Draw folds of all rows as if they were of one class."""
    check_k(k, len(data))
    return shuffle_folds(np.zeros(len(data), dtype=np.intp), k, rng)
