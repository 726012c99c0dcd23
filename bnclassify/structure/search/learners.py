"""The five greedy learners: each is an initial structure and the edits that one step may make."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from ...base.randomness import Seed, check_rng
from ...frames.folding import Folds, Rows, draw_folds, fold_rows
from ...frames.schema import Dataset
from ...frames.training import TrainingData, prepare
from ...model.networks import BNC
from ...model.recipes import Step
from ...parameters.priors import find_prior
from ..fixed import network
from .ascents import Pick, Score, picker, search
from .neighbours import (
    Edit,
    Structure,
    additions_and_joins,
    dependence_arcs,
    removals_and_joins,
    superparents,
    tree_arcs,
)
from .scoring import FoldScorer

Neighbours = Callable[[Structure], Sequence[Edit]]


def _learn(
    learner: Callable[..., BNC],
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    start: Callable[[int], Structure],
    steps: Callable[[Score, Pick, int], Neighbours],
    *,
    k: int,
    epsilon: float,
    smooth: float,
    folds: Folds | None,
    rng: Seed,
    progress: bool,
    **further: Any,
) -> BNC:
    """Check arguments, search, and return the structure found with its recipe and scores.

    Parameters
    ----------
    learner : callable
        The public function, for the recipe.
    start : callable
        From the number of features, the structure that the search starts from.
    steps : callable
        From the score, the pick among scores and the number of features, the function that
        gives the neighbours of a structure.
    **further
        Settings of the learner that the recipe keeps too.
    """
    _check_epsilon(epsilon)
    find_prior(smooth=smooth)
    generator = check_rng(rng)
    data = prepare(dataset, class_var)
    features = data.features
    tests = _tests(data, k, folds, generator)
    score = FoldScorer(data, tests, smooth)
    pick = picker(None if rng is None else generator)
    n = len(features)
    found = search(start(n), steps(score, pick, n), score, pick, epsilon=epsilon, progress=progress)
    seed = None if isinstance(rng, np.random.Generator) else rng
    settings = {"k": k, "epsilon": epsilon, "smooth": smooth, **further, "rng": seed}
    parents = {features[v]: tuple(features[p] for p in ps) for v, ps in sorted(found.structure.items())}
    step = Step(learner.__name__, learner, settings, draws=True)
    return network(class_var, parents, data.schema, step, trace={"scores": found.scores})


def _tests(data: TrainingData, k: int, folds: Folds | None, rng: np.random.Generator) -> list[Rows]:
    """Return the rows of ``data`` that each fold tests; folds given count rows without a class too."""
    if folds is None:
        return fold_rows(draw_folds(data.codes[-1], data.levels[-1], k, rng), len(data))
    known = data.has_class
    tests = fold_rows(folds, len(known), data.all_rows.index)
    position = np.cumsum(known) - 1
    kept = [position[test[known[test]]] for test in tests]
    for number, test in enumerate(kept):
        if not 0 < len(test) < len(data):
            raise ValueError(
                f"folds: fold {number} tests {len(test)} of the {len(data)} rows that have a class; each "
                "fold must test at least one of them and leave one"
            )
    return kept


def _check_epsilon(epsilon: object) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise TypeError(f"epsilon: expected a number, got {epsilon!r}")
    if not (isfinite(epsilon) and float(epsilon) >= 0):
        raise ValueError(f"epsilon: expected a finite number, 0 or more, got {epsilon!r}")


def _nothing(n: int) -> Structure:
    return {}


def _naive(n: int) -> Structure:
    return dict.fromkeys(range(n), ())


def _favourite_children(score: Score, pick: Pick, n: int) -> Neighbours:
    """Choose the best superparent first; then its children one by one are the neighbours."""

    def neighbours(structure: Structure) -> Sequence[Edit]:
        candidates = superparents(structure)
        if not candidates:
            return []
        best = candidates[pick(score(structure, candidates))]
        return [{child: parents} for child, parents in best.items()]

    return neighbours


def fssj(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float = 0,
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a semi-naive Bayes by forward sequential selection and joining.

    Starts from the class alone. A step adds a feature by itself, or joins it to a group: all
    members of the group become its parents. Features that do not help stay out.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        All columns but the class are features.
    k : int
        Number of folds, from 2 to the number of rows.
    epsilon : float, default 0.01
        A step is taken if it raises the score by at least this much; 0 takes ties too.
    smooth : float, default 0
        As in `lp`, for the models that are scored.
    folds : list of arrays or array of int, optional
        Instead of folds drawn at random: the positions of the rows that each fold tests, or
        the fold number of each row.
    rng : int or numpy.random.Generator, optional
        Seed of the folds. With it, ties are decided at random; without, the first candidate
        is taken.
    progress : bool, default False
        Whether to show a bar with the steps, the candidates and the best score.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `greedy_scores` tells how the search went.

    Raises
    ------
    KeyError
        If ``class_var`` is not a column.
    TypeError, ValueError
        If an argument is out of range, or the data has no rows.

    Warns
    -----
    UserWarning
        If a class has fewer rows than there are folds, or rows have no class. If every row has a
        value of its own in a column.

    Notes
    -----
    The score is the mean over folds of the accuracy in the fold, with parameters learned on
    the other folds. Scores within 1e-9 are tied. The search ends when no step raises the score
    by ``epsilon``, none is left, or the score is 1. Tables are counted over available cases, and
    rows with missing features predicted by summing those out exactly.

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product attributes. ISIS 96.

    Examples
    --------
    >>> from bnclassify import fssj, greedy_scores, load_car, modelstring
    >>> model = fssj("class", load_car(), k=5, smooth=1, rng=0, epsilon=0)
    >>> modelstring(model)
    '[class] [persons|class] [safety|class] [buying|safety:class] [doors|persons:class]
     [maint|safety:buying:class] [lug_boot|safety:buying:maint:class]'
    >>> [round(score, 3) for score in greedy_scores(model)]
    [0.7, 0.7, 0.768, 0.811, 0.861, 0.943, 0.948]
    """
    return _learn(
        fssj,
        class_var,
        dataset,
        _nothing,
        lambda score, pick, n: lambda structure: additions_and_joins(structure, range(n)),
        k=k,
        epsilon=epsilon,
        smooth=smooth,
        folds=folds,
        rng=rng,
        progress=progress,
    )


def bsej(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float = 0,
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a semi-naive Bayes by backward sequential elimination and joining.

    Starts from the naive Bayes. A step removes a feature, or joins two groups of features: the
    members of the later group become parents of those of the earlier one.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        All columns but the class are features.
    k : int
        Number of folds, from 2 to the number of rows.
    epsilon : float, default 0.01
        A step is taken if it raises the score by at least this much; 0 takes ties too.
    smooth : float, default 0
        As in `lp`, for the models that are scored.
    folds : list of arrays or array of int, optional
        Instead of folds drawn at random: the positions of the rows that each fold tests, or
        the fold number of each row.
    rng : int or numpy.random.Generator, optional
        Seed of the folds. With it, ties are decided at random; without, the first candidate
        is taken.
    progress : bool, default False
        Whether to show a bar with the steps, the candidates and the best score.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `greedy_scores` tells how the search went.

    Raises
    ------
    KeyError
        If ``class_var`` is not a column.
    TypeError, ValueError
        If an argument is out of range, or the data has no rows.

    Warns
    -----
    UserWarning
        If a class has fewer rows than there are folds, or rows have no class. If every row has a
        value of its own in a column.

    Notes
    -----
    The score is the mean over folds of the accuracy in the fold, with parameters learned on
    the other folds. Scores within 1e-9 are tied. The search ends when no step raises the score
    by ``epsilon``, none is left, or the score is 1. Tables are counted over available cases, and
    rows with missing features predicted by summing those out exactly.

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product attributes. ISIS 96.

    Examples
    --------
    >>> from bnclassify import bsej, greedy_scores, load_car, modelstring
    >>> model = bsej("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [maint|class] [doors|class] [persons|class] [safety|class] [buying|maint:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in greedy_scores(model)]
    [0.85, 0.9, 0.936]
    """
    return _learn(
        bsej,
        class_var,
        dataset,
        _naive,
        lambda score, pick, n: removals_and_joins,
        k=k,
        epsilon=epsilon,
        smooth=smooth,
        folds=folds,
        rng=rng,
        progress=progress,
    )


def tan_hc(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float = 0,
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing.

    Starts from the naive Bayes. A step adds one arc to a feature that has no feature parent. Of
    two directions that give equivalent structures, the arc from the later feature is tried.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        All columns but the class are features.
    k : int
        Number of folds, from 2 to the number of rows.
    epsilon : float, default 0.01
        A step is taken if it raises the score by at least this much; 0 takes ties too.
    smooth : float, default 0
        As in `lp`, for the models that are scored.
    folds : list of arrays or array of int, optional
        Instead of folds drawn at random: the positions of the rows that each fold tests, or
        the fold number of each row.
    rng : int or numpy.random.Generator, optional
        Seed of the folds. With it, ties are decided at random; without, the first candidate
        is taken.
    progress : bool, default False
        Whether to show a bar with the steps, the candidates and the best score.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `greedy_scores` tells how the search went.

    Raises
    ------
    KeyError
        If ``class_var`` is not a column.
    TypeError, ValueError
        If an argument is out of range, or the data has no rows.

    Warns
    -----
    UserWarning
        If a class has fewer rows than there are folds, or rows have no class. If every row has a
        value of its own in a column.

    Notes
    -----
    The score is the mean over folds of the accuracy in the fold, with parameters learned on
    the other folds. Scores within 1e-9 are tied. The search ends when no step raises the score
    by ``epsilon``, none is left, or the score is 1. Tables are counted over available cases, and
    rows with missing features predicted by summing those out exactly.

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of augmented Bayesian
       classifiers. International Journal on Artificial Intelligence Tools 11.

    Examples
    --------
    >>> from bnclassify import greedy_scores, load_car, modelstring, tan_hc
    >>> model = tan_hc("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [maint|class] [doors|class] [persons|class] [safety|class] [buying|maint:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in greedy_scores(model)]
    [0.85, 0.9, 0.936]
    """
    return _learn(
        tan_hc,
        class_var,
        dataset,
        _naive,
        lambda score, pick, n: tree_arcs,
        k=k,
        epsilon=epsilon,
        smooth=smooth,
        folds=folds,
        rng=rng,
        progress=progress,
    )


def tan_hcsp(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float = 0,
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing with superparents.

    Starts from the naive Bayes. A step first picks the superparent: the feature that scores best
    as parent of all features that can still have one. Then it adds the best single arc from it.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        All columns but the class are features.
    k : int
        Number of folds, from 2 to the number of rows.
    epsilon : float, default 0.01
        A step is taken if it raises the score by at least this much; 0 takes ties too.
    smooth : float, default 0
        As in `lp`, for the models that are scored.
    folds : list of arrays or array of int, optional
        Instead of folds drawn at random: the positions of the rows that each fold tests, or
        the fold number of each row.
    rng : int or numpy.random.Generator, optional
        Seed of the folds. With it, ties are decided at random; without, the first candidate
        is taken.
    progress : bool, default False
        Whether to show a bar with the steps, the candidates and the best score.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `greedy_scores` tells how the search went.

    Raises
    ------
    KeyError
        If ``class_var`` is not a column.
    TypeError, ValueError
        If an argument is out of range, or the data has no rows.

    Warns
    -----
    UserWarning
        If a class has fewer rows than there are folds, or rows have no class. If every row has a
        value of its own in a column.

    Notes
    -----
    The score is the mean over folds of the accuracy in the fold, with parameters learned on
    the other folds. Scores within 1e-9 are tied. The search ends when no step raises the score
    by ``epsilon``, none is left, or the score is 1. Tables are counted over available cases, and
    rows with missing features predicted by summing those out exactly.

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of augmented Bayesian
       classifiers. International Journal on Artificial Intelligence Tools 11.

    Examples
    --------
    >>> from bnclassify import greedy_scores, load_car, modelstring, tan_hcsp
    >>> model = tan_hcsp("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [buying|class] [doors|class] [persons|class] [safety|class] [maint|buying:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in greedy_scores(model)]
    [0.85, 0.901, 0.939]
    """
    return _learn(
        tan_hcsp,
        class_var,
        dataset,
        _naive,
        _favourite_children,
        k=k,
        epsilon=epsilon,
        smooth=smooth,
        folds=folds,
        rng=rng,
        progress=progress,
    )


def kdb(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    kdbk: int = 2,
    epsilon: float = 0.01,
    smooth: float = 0,
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a k-dependence Bayes by hill climbing.

    Starts from the naive Bayes. A step adds one arc to a feature that has fewer than ``kdbk``
    feature parents. `kdb_mi` finds such a structure by mutual information, without a search, and gives
    each feature as many parents as it may have.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        All columns but the class are features.
    kdbk : int, default 2
        The most feature parents that a feature may have.
    k : int
        Number of folds, from 2 to the number of rows.
    epsilon : float, default 0.01
        A step is taken if it raises the score by at least this much; 0 takes ties too.
    smooth : float, default 0
        As in `lp`, for the models that are scored.
    folds : list of arrays or array of int, optional
        Instead of folds drawn at random: the positions of the rows that each fold tests, or
        the fold number of each row.
    rng : int or numpy.random.Generator, optional
        Seed of the folds. With it, ties are decided at random; without, the first candidate
        is taken.
    progress : bool, default False
        Whether to show a bar with the steps, the candidates and the best score.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `greedy_scores` tells how the search went.

    Raises
    ------
    KeyError
        If ``class_var`` is not a column.
    TypeError, ValueError
        If an argument is out of range, or the data has no rows.

    Warns
    -----
    UserWarning
        If a class has fewer rows than there are folds, or rows have no class. If every row has a
        value of its own in a column.

    Notes
    -----
    The score is the mean over folds of the accuracy in the fold, with parameters learned on
    the other folds. Scores within 1e-9 are tied. The search ends when no step raises the score
    by ``epsilon``, none is left, or the score is 1. Tables are counted over available cases, and
    rows with missing features predicted by summing those out exactly.

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96, for the
       structure; here it is found by greedy search.

    Examples
    --------
    >>> from bnclassify import greedy_scores, kdb, load_car, modelstring
    >>> model = kdb("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [buying|class] [doors|class] [persons|class] [safety|class] [maint|buying:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in greedy_scores(model)]
    [0.85, 0.901, 0.939]
    """
    if isinstance(kdbk, bool) or not isinstance(kdbk, Integral):
        raise TypeError(f"kdbk: expected a whole number, got {kdbk!r}")
    if kdbk < 1:
        raise ValueError(f"kdbk: expected at least 1 feature parent, got {kdbk}")
    return _learn(
        kdb,
        class_var,
        dataset,
        _naive,
        lambda score, pick, n: lambda structure: dependence_arcs(structure, kdbk),
        k=k,
        kdbk=kdbk,
        epsilon=epsilon,
        smooth=smooth,
        folds=folds,
        rng=rng,
        progress=progress,
    )
