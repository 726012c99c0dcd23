"""One superparent (SPODE) and Sahami's k-dependence classifiers: parents by score or information."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from ..base.arrays import TOLERANCE, Mask, Positions, first_best
from ..base.checks import OneOf, ScoreName, Whole
from ..base.graphs import descending
from ..counts.information import informations, pair_statistics
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable
from ..frames.training import averages_views, prepare
from ..model.recipes import Step
from ..network.classifiers import BNC
from ..network.densities import Numbers, as_setting, columns_of
from .arc_moves import Arc, ArcRules
from .fixed import network
from .local_scores import SCORE_NAMES, LocalScores, warn_of_fractions


@averages_views
def spode(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    score: ScoreName = "bic",
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Learn a superparent one-dependence estimator (SPODE): the best single parent of all other features.

    The class is a parent of every feature, and one feature, the superparent, is a parent of all other
    features. The superparent is the feature whose network has the largest score, the
    best single member of an `aode`.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. By default, all columns except `class_var` are features.
    score : {"loglik", "aic", "bic", "bde", "k2"}, default "bic"
        Decomposable score to maximize, as in `network_score`.
    features : list of str, optional
        Columns to use as features.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them. With one feature, naive Bayes.

    Raises
    ------
    KeyError
        If `class_var` or a feature is not a column of `dataset`.
    ValueError
        If `score` is not one of the options above, or `dataset` has no rows or no row with an observed class.

    Warns
    -----
    UserWarning
        If the class is missing in some rows, which are then ignored, all values of a column are distinct, or
        weights are fractions whose sum is less than the number of rows and the score is not "loglik".

    Notes
    -----
    The score of a superparent is the sum of its contributions to the scores of all other features. If values
    are missing, a contribution is computed from the rows in which both features are observed. Of tied
    superparents, the first in column order is chosen. Naive Bayes can have a larger score; `network_score`
    compares them.

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (1999). Learning augmented Bayesian classifiers: a comparison of
       distribution-based and classification-based approaches. AISTATS 1999.
    .. [2] Yang, Y., Korb, K., Ting, K. M., Webb, G. I. (2005). Ensemble selection for
       superparent-one-dependence estimators. AI 2005.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, spode
    >>> modelstring(spode("class", load_car()))
    '[class] [safety|class] [buying|safety:class] [maint|safety:class] [doors|safety:class]
     [persons|safety:class] [lug_boot|safety:class]'
    """
    OneOf(SCORE_NAMES).check("score", score)
    data = prepare(dataset, (class_var,), features)
    warn_of_fractions(data, score)
    names = data.features
    chosen = None if features is None else names
    parents: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(names, ())
    if len(names) > 1:
        best = names[_best_superparent([LocalScores(view, score) for view in data.views], len(names))]
        parents = {name: () if name == best else (best,) for name in names}
    step = Step("spode", spode, {"score": score, "features": chosen})
    return network(class_var, parents, data.schema, step, columns=chosen)


def _best_superparent(scores: list[LocalScores], n: int) -> int:
    """Return the position of the feature with the largest contribution to the scores of all others."""
    gains = np.mean([of_view.gains_given_class(n) for of_view in scores], axis=0)
    return int(first_best(np.where(np.eye(n, dtype=bool), 0.0, gains).sum(axis=0)))


@averages_views
def kdb_mi(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    kdbk: int = 2,
    features: Iterable[Hashable] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    numbers: Numbers = None,
) -> BNC:
    """Learn a k-dependence Bayesian classifier by mutual information (Sahami's k-DB).

    Features are ranked by their mutual information with the class. The feature parents of each feature are
    the `kdbk` features of higher rank with the largest mutual information given the class, even if it is
    small. There is no search, only one pass over pairs of features. In contrast, `kdb` adds an arc only if it
    improves the cross-validated accuracy.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns except `class_var` are features.
    kdbk : int, default 2
        Number of feature parents; 0 gives naive Bayes. Tables grow with each parent, so a larger number
        needs more rows or hierarchical smoothing (``backoff=True`` in `lp`).
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` between features that are always included, and arcs that are never included.
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers, as in `lp`, which estimates their densities. Numbers are ranked
        with the other features by the mutual information under a Gaussian model, for both densities. Their
        parents are features with levels; a number is never a parent.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them. Required parents come first, then the
        others in descending order of information.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a feature has more than `kdbk` required parents, an arc is both required and forbidden or
        contains the class, or the required arcs form a cycle.

    Warns
    -----
    UserWarning
        If the class is missing in some rows, which are then ignored, or all values of a column are
        distinct.

    Notes
    -----
    Features are ranked by I(X;C) and parents of X by I(X;Y|C), in nats per row, over the rows in which
    these variables are observed. Values within 1e-9 are tied, and the first column wins. A feature that is
    never observed together with X is not a candidate.

    If arcs are required, the next feature in the ranking has the largest I(X;C) among the features whose
    required parents have a rank. Required parents count in `kdbk`.

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96.

    Examples
    --------
    >>> from bnclassify import kdb_mi, load_car, modelstring
    >>> modelstring(kdb_mi("class", load_car(), kdbk=1))
    '[class] [safety|class] [buying|safety:class] [persons|safety:class] [lug_boot|safety:class]
     [maint|buying:class] [doors|lug_boot:class]'
    """
    k = Whole().check("kdbk", kdbk)
    data = prepare(dataset, (class_var,), features, numeric=columns_of(numbers))
    chosen = None if features is None else data.features
    rules = ArcRules.check(required, forbidden, data.columns, apart=class_var)
    rules.check_leaves(data.schema.numeric)
    rules.complete(dict.fromkeys(data.features, ()), "kdbk", k)
    step = Step("kdb_mi", kdb_mi, {"kdbk": k, "features": chosen} | rules.settings() | as_setting(numbers))
    return network(class_var, _best_parents(data, k, rules), data.schema, step, columns=chosen)


def _best_parents(data: Learnable, k: int, rules: ArcRules) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its feature parents: required parents, then the best ones."""
    names, class_column = data.features, len(data.features)
    if k == 0:
        return dict.fromkeys(names, ())
    required, forbidden = rules.matrices(names)
    pairs = [pair_statistics(view, range(class_column), class_column) for view in data.views]
    with_class = [(feature, class_column) for feature in range(class_column)]
    relevance = np.mean(
        [[value for value, _ in informations(view, with_class)] for view in data.views], axis=0
    )
    rank = _ranks(descending(relevance), required)
    coded = np.array(data.cards[:class_column]) > 0  # the others are numbers
    is_candidate = (rank < rank[:, None]) & (pairs[0].rows > 0) & ~forbidden.T & coded
    information = np.where(is_candidate, np.mean([view.information for view in pairs], axis=0), -np.inf)
    information[required.T] = np.inf
    parents: list[list[Hashable]] = [[] for _ in names]
    each = np.arange(len(names))
    for _ in range(min(k, len(names) - 1)):
        best = information.max(axis=1)
        first = (information >= best[:, None] - TOLERANCE).argmax(axis=1)
        for v in np.nonzero(best > -np.inf)[0].tolist():
            parents[v].append(names[first[v]])
        information[each, first] = -np.inf
    return {name: tuple(best_first) for name, best_first in zip(names, parents, strict=True)}


def _ranks(order: Positions, required: Mask) -> Positions:
    """Return the rank of each feature; a feature follows its required parents."""
    rank = np.full(len(order), len(order))
    for number in range(len(order)):
        waits = required[rank == len(order)].any(axis=0) | (rank < len(order))
        rank[order[~waits[order]][0]] = number
    return rank
