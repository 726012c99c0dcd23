"""The five greedy learners: each is an initial structure and the edits that one step may make."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pandas as pd

from ...base.checks import check_whole
from ...base.randomness import Seed
from ...frames.schema import Dataset
from ...metrics.folds import Folds
from ...network.bnc import BNC
from .docstrings import telling
from .greedy import Climber
from .neighbours import (
    Edit,
    Structure,
    additions_and_joins,
    dependence_arcs,
    removals_and_joins,
    superparents,
    tree_arcs,
)
from .runs import Moves, Search


def _nothing(n: int) -> Structure:
    return {}


def _naive(n: int) -> Structure:
    return dict.fromkeys(range(n), ())


def _favourite_children(structure: Structure, at: Climber) -> Sequence[Edit]:
    """Choose the best superparent first; then its children one by one are the neighbours."""
    candidates = superparents(structure)
    if not candidates:
        return []
    best = candidates[at.pick(at.score(structure, candidates))]
    return [{child: parents} for child, parents in best.items()]


FORWARD = Moves(_nothing, lambda structure, at: additions_and_joins(structure, at.features), joins=True)
BACKWARD = Moves(_naive, lambda structure, at: removals_and_joins(structure), joins=True)
TREE = Moves(_naive, lambda structure, at: tree_arcs(structure))
SUPERPARENT = Moves(_naive, _favourite_children)


@telling
def fssj(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    metric: str = "accuracy",
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a semi-naive Bayes by forward sequential selection and joining.

    Starts from the class alone. A step adds a feature by itself, or joins it to a group: all
    members of the group become its parents. Features that do not help stay out.

    Parameters
    ----------
    {data}
    {search}

    {result}

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
    search = Search(k, epsilon, (smooth, ess, m), metric, folds, rng, progress)
    return search.run(fssj, FORWARD, class_var, dataset)


@telling
def bsej(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    metric: str = "accuracy",
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a semi-naive Bayes by backward sequential elimination and joining.

    Starts from the naive Bayes. A step removes a feature, or joins two groups of features: the
    members of the later group become parents of those of the earlier one.

    Parameters
    ----------
    {data}
    {search}

    {result}

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product attributes. ISIS 96.

    Examples
    --------
    >>> from bnclassify import bsej, load_car, modelstring, search_steps
    >>> model = bsej("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [maint|class] [doors|class] [persons|class] [safety|class] [buying|maint:class]
     [lug_boot|safety:class]'
    >>> search_steps(model).round(3)
      operation       from           to   gain  score
    0      join   (maint,)    (buying,)  0.050  0.900
    1      join  (safety,)  (lug_boot,)  0.036  0.936
    """
    search = Search(k, epsilon, (smooth, ess, m), metric, folds, rng, progress)
    return search.run(bsej, BACKWARD, class_var, dataset)


@telling
def tan_hc(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    metric: str = "accuracy",
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing.

    Starts from the naive Bayes. A step adds one arc to a feature that has no feature parent. Of
    two directions that give equivalent structures, the arc from the later feature is tried.

    Parameters
    ----------
    {data}
    {search}

    {result}

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
    search = Search(k, epsilon, (smooth, ess, m), metric, folds, rng, progress)
    return search.run(tan_hc, TREE, class_var, dataset)


@telling
def tan_hcsp(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    epsilon: float = 0.01,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    metric: str = "accuracy",
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing with superparents.

    Starts from the naive Bayes. A step first picks the superparent: the feature that scores best
    as parent of all features that can still have one. Then it adds the best single arc from it.
    Of n features a step scores some 2n structures, where `tan_hc` scores all arcs, some n².

    Parameters
    ----------
    {data}
    {search}

    {result}

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
    search = Search(k, epsilon, (smooth, ess, m), metric, folds, rng, progress)
    return search.run(tan_hcsp, SUPERPARENT, class_var, dataset)


@telling
def kdb(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    k: int,
    kdbk: int = 2,
    epsilon: float = 0.01,
    smooth: float | None = None,
    ess: float | None = None,
    m: float | None = None,
    metric: str = "accuracy",
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
    {data}
    kdbk : int, default 2
        The most feature parents that a feature may have.
    {search}

    {result}

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
    most = check_whole("kdbk", kdbk, least=1, kind="a whole number of feature parents")
    arcs = Moves(_naive, lambda structure, at: dependence_arcs(structure, most))
    search = Search(k, epsilon, (smooth, ess, m), metric, folds, rng, progress)
    return search.run(kdb, arcs, class_var, dataset, kdbk=most)
