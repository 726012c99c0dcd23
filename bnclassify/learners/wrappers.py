"""The five greedy learners: an initial structure and the candidate edits of a step each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from inspect import signature
from typing import TypeVar, Unpack

from ..classifiers import BNC
from ..frames import InFull
from ..tools.calls import with_call_advice
from ..tools.checks import Whole
from ..tools.messages import with_shared_text
from .greedy import GreedySearch, Moves, SearchOptions, SearchSpace
from .neighbors import (
    Edit,
    Structure,
    additions_and_joins,
    k_dependence_additions,
    removals_and_joins,
    superparent_additions,
    tree_arc_additions,
)

_SHARED = """\
Parameters
----------
class_var : str
    Name of the class variable.
dataset : pandas.DataFrame or Dataset
    Training data. All columns except `class_var` are features.
k : int
    Number of folds, from 2 to the number of rows or, if weights are whole
    numbers, to their sum.
{own}epsilon : float, default 0.01
    Minimum improvement of the score by a step. With 0, the search also
    makes steps that do not change the score.
smooth, ess, m : float, optional
    Prior of the models that are scored, as in `lp`; give at most one. By
    default ``smooth=0``, as in R.
metric : str, default "accuracy"
    Metric to optimize: "accuracy", "balanced_accuracy", "f1", "precision",
    "recall", "kappa", "mcc", "log_loss", "brier", "rmse" or
    "calibration_error", as in `cv`. If classes are imbalanced, the
    structure without features can have the best accuracy; "log_loss"
    evaluates posteriors.
folds : list of arrays or array of int, optional
    Positions of the rows that each fold tests, or the fold number of each
    row. By default, folds are drawn at random, and if all weights are whole
    numbers, a row of weight 5 counts as five rows, as in `cv`.
start : BNC, optional
    Initial structure, of the type that the learner returns.
    {arcs}
rng : int or numpy.random.Generator, optional
    Seed of the folds. If given, ties are broken at random; by default, the
    first candidate wins.
progress : bool, optional
    Whether to show a progress bar; by default after 3 seconds, in an
    interactive session.

Returns
-------
BNC
    Structure without parameters. Use `lp` to estimate them, and
    `search_steps` to see the search.

Warns
-----
UserWarning
    If a class has fewer rows than there are folds, or the search returns
    the initial structure although a step would have improved the score by
    less than `epsilon`, or selects no feature.

Notes
-----
The search optimizes a cross-validated metric, so evaluate its result by an
outer cross-validation, such as `cv`. The score is the mean of the metric
over folds, or its negative for a loss such as log_loss. The search ends if
no step improves the score by `epsilon`, no step is left, or the score is
maximal. Tables are estimated from available cases, and missing features of
a row are marginalized over exactly."""

_ARCS = """\
Features that it does not contain have no feature parent.
required, forbidden : pairs of str
    Arcs ``(from, to)`` between features that the initial structure
    contains, and arcs that are never added."""
_PAIRS = """\
Features that it does not contain are not selected.
required, forbidden : pairs of str
    Pairs of features that are always joined, and pairs that are never
    joined."""

Decorated = TypeVar("Decorated", bound=Callable[..., BNC])


def _with_search_options(arcs: str, own: str = "") -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds the shared arguments to a learner's docstring and signature."""
    described = with_shared_text(
        {"{search}": _SHARED.replace("{arcs}", arcs).replace("{own}", own)}
    )
    shared = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in signature(GreedySearch).parameters.values()
        if p.name != "k"
    ]

    def with_search_signature(learner: Decorated) -> Decorated:
        *own, _ = signature(learner).parameters.values()
        vars(learner)["__signature__"] = signature(learner).replace(parameters=[*own, *shared])
        return with_call_advice("Pass options by name, such as k=5.")(described(learner))

    return with_search_signature


def _arcs_from_best_superparent(structure: Structure, space: SearchSpace) -> Sequence[Edit]:
    """Select the best superparent; the neighbors add an arc from it to one of its children."""
    candidates = superparent_additions(structure, space.forbidden)
    if not candidates:
        return []
    best, _ = space.best_edit(structure, candidates)
    return [{child: parents} for child, parents in best.items()]


FORWARD = Moves(
    lambda structure, space: additions_and_joins(structure, space.features, space.forbidden),
    joins=True,
    naive=False,
)
BACKWARD = Moves(
    lambda structure, space: removals_and_joins(
        structure, space.forbidden, set().union(*space.required)
    ),
    joins=True,
)
TREE = Moves(lambda structure, space: tree_arc_additions(structure, space.forbidden), most=1)
SUPERPARENT = Moves(_arcs_from_best_superparent, most=1)


@_with_search_options(_PAIRS)
def fssj(class_var: Hashable, dataset: InFull, *, k: int, **options: Unpack[SearchOptions]) -> BNC:
    """Learn a semi-naive Bayes by forward sequential selection and joining.

    The search starts from the class alone. A step adds a feature alone or joins
    it to a group, and all members of the group become its parents. Features
    that do not improve the score are not selected.

    {search}

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product
       attributes. ISIS 96.

    Examples
    --------
    >>> from bnclassify import fssj, load_car, modelstring, search_steps
    >>> model = fssj("class", load_car(), k=5, smooth=1, rng=0, epsilon=0)
    >>> modelstring(model)
    '[class] [persons|class] [safety|class] [buying|safety:class] [doors|persons:class]
     [maint|safety:buying:class] [lug_boot|safety:buying:maint:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.7, 0.7, 0.768, 0.811, 0.861, 0.943, 0.948]
    """
    return GreedySearch(k, **options).search_network(fssj, FORWARD, class_var, dataset)


@_with_search_options(_PAIRS)
def bsej(class_var: Hashable, dataset: InFull, *, k: int, **options: Unpack[SearchOptions]) -> BNC:
    """Learn a semi-naive Bayes by backward sequential elimination and joining.

    The search starts from naive Bayes. A step removes a feature or joins two
    groups of features: the members of the later group become parents of the
    members of the earlier group.

    {search}

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product
       attributes. ISIS 96.

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
    return GreedySearch(k, **options).search_network(bsej, BACKWARD, class_var, dataset)


@_with_search_options(_ARCS)
def tan_hc(
    class_var: Hashable, dataset: InFull, *, k: int, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing.

    The search starts from naive Bayes. A step adds one arc to a feature without
    a feature parent. If both directions give equivalent structures, the arc
    from the later feature is the candidate.

    {search}

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of
       augmented Bayesian classifiers. International Journal on Artificial
       Intelligence Tools 11.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, search_steps, tan_hc
    >>> model = tan_hc("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [maint|class] [doors|class] [persons|class] [safety|class] [buying|maint:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.85, 0.9, 0.936]
    """
    return GreedySearch(k, **options).search_network(tan_hc, TREE, class_var, dataset)


@_with_search_options(_ARCS)
def tan_hcsp(
    class_var: Hashable, dataset: InFull, *, k: int, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing with superparents.

    The search starts from naive Bayes. A step first selects the superparent:
    the feature with the best score as a parent of all features that can still
    have one. Then it adds the best single arc from it. With n features, a step
    scores about 2n structures; `tan_hc` scores about n².

    {search}

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of
       augmented Bayesian classifiers. International Journal on Artificial
       Intelligence Tools 11.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, search_steps, tan_hcsp
    >>> model = tan_hcsp("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [buying|class] [doors|class] [persons|class] [safety|class] [maint|buying:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.85, 0.901, 0.939]
    """
    return GreedySearch(k, **options).search_network(tan_hcsp, SUPERPARENT, class_var, dataset)


@_with_search_options(
    _ARCS, "kdbk : int, default 2\n    Maximum number of feature parents per feature.\n"
)
def kdb(
    class_var: Hashable, dataset: InFull, *, k: int, kdbk: int = 2, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a k-dependence Bayes by hill climbing, like ``kdb`` in R.

    Each feature has at most `kdbk` feature parents. The search starts from
    naive Bayes, and each step adds the arc that improves the cross-validated
    accuracy most. `kdb_mi`, Sahami's k-DB, has the same kind of structure, but
    ranks parents by mutual information, without a search. The page Choosing a
    classifier sets both side by side.

    {search}

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers.
       KDD 96, for the structure; the greedy search is from the R package
       bnclassify.

    Examples
    --------
    >>> from bnclassify import kdb, load_car, modelstring, search_steps
    >>> model = kdb("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [buying|class] [doors|class] [persons|class] [safety|class] [maint|buying:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.85, 0.901, 0.939]
    """
    most = Whole(least=1).check("kdbk", kdbk)
    arcs = Moves(
        lambda structure, space: k_dependence_additions(structure, most, space.forbidden), most=most
    )
    return GreedySearch(k, **options).search_network(kdb, arcs, class_var, dataset, kdbk=most)
