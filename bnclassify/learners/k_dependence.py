"""One superparent (SPODE) and k-dependence classifiers: parents by score or information."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from ..classifiers import BNC
from ..counts import arc_scores, pair_informations, pair_statistics
from ..dataset import Countable
from ..elimination import Numbers, numbers_as_setting, numeric_columns_of
from ..frames import InFull, InParts, mark_as_averaging, prepare_training_data
from ..model import Step
from ..tools.arrays import Array, Mask, Positions, first_best
from ..tools.checks import OneOf, ScoreName, Whole
from ..tools.graphs import descending_order
from .arc_rules import Arc, ArcRules
from .local_scores import SCORE_NAMES, LocalScores, warn_of_fractional_weights
from .networks import network


@mark_as_averaging
def spode(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    score: ScoreName = "bic",
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Learn a superparent one-dependence estimator (SPODE).

    The class is a parent of every feature, and one feature, the superparent, is
    a parent of all other features. The superparent is the feature with the
    largest score of its network, the best single member of an `aode`.

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
        Structure without parameters. Use `lp` to estimate them. With one
        feature, naive Bayes.

    Warns
    -----
    UserWarning
        As in `tan_cl`.

    Notes
    -----
    Use it for the readable graph closest to an AODE. The score of a superparent
    is the sum of its contributions to the scores of all other features, each
    from the rows with values of both features. Of tied superparents, the first
    in column order is chosen. Naive Bayes can have a larger score;
    `network_score` compares them.

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (1999). Learning augmented Bayesian
       classifiers: a comparison of distribution-based and classification-based
       approaches. AISTATS 1999.
    .. [2] Yang, Y., Korb, K., Ting, K. M., Webb, G. I. (2005). Ensemble
       selection for superparent-one-dependence estimators. AI 2005.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, spode
    >>> modelstring(spode("class", load_car()))
    '[class] [safety|class] [buying|safety:class] [maint|safety:class] [doors|safety:class]
     [persons|safety:class] [lug_boot|safety:class]'
    """
    OneOf(SCORE_NAMES).check("score", score)
    data = prepare_training_data(dataset, (class_var,), features)
    warn_of_fractional_weights(data, score)
    names = data.features
    parents: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(names, ())
    if len(names) > 1:
        views = [_scores_of_children(view, score) for view in data.codings]
        gains = np.where(np.eye(len(names), dtype=bool), 0.0, np.mean(views, axis=0))
        best = names[int(first_best(gains.sum(axis=0)))]  # for the scores of all other features
        parents = {name: () if name == best else (best,) for name in names}
    step = Step("spode", spode, {"score": score, "features": features})
    return network(class_var, parents, data.schema, step)


def _scores_of_children(data: Countable, score: str) -> Array:
    """Return what an arc between two features contributes to a score, (child, parent)."""
    if score != "k2":
        return arc_scores(data, score, size=data.size).gains
    n, scores = len(data.features), LocalScores(data, score)  # which depends on the direction
    return np.array([scores.gains_by_added_parent(child, (n,))[:n] for child in range(n)])


@mark_as_averaging
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
    """Learn a k-dependence classifier by mutual information (Sahami's k-DB).

    Features are ranked by their mutual information with the class. The feature
    parents of each feature are the `kdbk` features of higher rank with the
    largest mutual information given the class, even if it is small. One pass
    over pairs of features suffices. `kdb` has the same kind of structure, but
    adds an arc only if it improves the cross-validated accuracy, so it has
    fewer arcs and takes longer. The page Choosing a classifier sets both side
    by side.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns except `class_var` are features.
    kdbk : int, default 2
        Number of feature parents; 0 gives naive Bayes. Tables grow with each
        parent, so a larger number needs more rows or hierarchical smoothing
        (``backoff=True`` in `lp`).
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` between features that are always included, and arcs
        that are never included.
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers, as in `lp`, which estimates their
        densities. They are ranked with the other features by the mutual
        information under a Gaussian model. Their parents are categorical
        features, and they are never parents themselves.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them. Required
        parents come first, then the others in descending order of information.

    Notes
    -----
    Use it with many rows, and with ``backoff=True``, because tables are large.
    Features are ranked by I(X;C) and parents of X by I(X;Y|C), in nats per row,
    over the rows with values of these variables. Of tied features, the first in
    column order is chosen. Required parents count in `kdbk` and come before
    their children in the ranking.

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers.
       KDD 96.

    Examples
    --------
    >>> from bnclassify import kdb_mi, load_car, modelstring
    >>> modelstring(kdb_mi("class", load_car(), kdbk=1))
    '[class] [safety|class] [buying|safety:class] [persons|safety:class] [lug_boot|safety:class]
     [maint|buying:class] [doors|lug_boot:class]'
    """
    k = Whole().check("kdbk", kdbk)
    data = prepare_training_data(
        dataset, (class_var,), features, numeric=numeric_columns_of(numbers)
    )
    rules = ArcRules.check(required, forbidden, data.columns, apart=class_var)
    rules.check_numbers_are_leaves(data.schema.numeric)
    rules.add_required_parents(dict.fromkeys(data.features, ()), "kdbk", k)
    settings = {"kdbk": k, "features": features}
    step = Step("kdb_mi", kdb_mi, settings | rules.recipe_settings() | numbers_as_setting(numbers))
    return network(class_var, _most_informative_parents(data, k, rules), data.schema, step)


def _most_informative_parents(
    data: Countable, k: int, rules: ArcRules
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its feature parents: required parents, then the most informative."""
    names, class_column = data.features, len(data.features)
    if k == 0:
        return dict.fromkeys(names, ())
    required, forbidden = rules.required_and_forbidden_masks(names)
    pairs = [pair_statistics(view, range(class_column), class_column) for view in data.codings]
    with_class = [(feature, class_column) for feature in range(class_column)]
    of_views = []
    for view in data.codings:
        of_views.append([value for value, _ in pair_informations(view, with_class)])
    rank = _ranks_by_relevance(descending_order(np.mean(of_views, axis=0)), required)
    coded = np.array(data.cards[:class_column]) > 0  # the others are numbers
    # (children, candidates); -inf if a feature cannot be a parent, or no longer
    is_candidate = (rank < rank[:, None]) & (pairs[0].rows > 0) & ~forbidden.T & coded
    mean = np.mean([view.information for view in pairs], axis=0)
    information = np.where(is_candidate, mean, -np.inf)
    information[required.T] = np.inf
    parents: list[list[Hashable]] = [[] for _ in names]
    each = np.arange(len(names))
    for _ in range(min(k, len(names) - 1)):
        best = first_best(information)
        for child in np.flatnonzero(information[each, best] > -np.inf).tolist():
            parents[child].append(names[best[child]])
        information[each, best] = -np.inf
    return {name: tuple(of_child) for name, of_child in zip(names, parents, strict=True)}


def _ranks_by_relevance(order: Positions, required: Mask) -> Positions:
    """Return the rank of each feature; a feature follows its required parents.

    Example: in the order 2, 0, 1, where 2 requires the parent 1, the features
    0, 1 and 2 have the ranks 0, 1 and 2: feature 2 waits until 1 is ranked.
    """
    unranked = len(order)
    rank = np.full(len(order), unranked)
    for number in range(len(order)):
        waits: Mask = required[rank == unranked].any(axis=0) | (rank < unranked)
        rank[order[~waits[order]][0]] = number
    return rank
