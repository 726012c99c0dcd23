"""One superparent (SPODE) and k-dependence classifiers: parents by score, information or gain."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import zip_longest
from typing import cast

import numpy as np

from ..base.arrays import Array, Mask, Positions, first_best
from ..base.checks import OneOf, ScoreName, Whole
from ..base.graphs import descending_order
from ..counts.information import pair_informations
from ..counts.pairs import arc_scores, pair_statistics
from ..frames.dataset import Countable, Dataset
from ..frames.opening import InFull, InParts
from ..frames.training import mark_as_averaging, prepare_training_data, prepare_training_rows
from ..model.recipes import Step
from ..network.classifiers import BNC
from ..network.densities import Numbers, numbers_as_setting, numeric_columns_of
from ..recipe.content_order import ContentHashes
from .arc_rules import Arc, ArcRules
from .local_scores import SCORE_NAMES, LocalScores, warn_of_fractional_weights
from .networks import network
from .parent_gains import LeftOutScores, interacting_pairs_by_child, order_by_rounded_value

_LEAST_GAIN = 1.0  # in nats, of a parent: what AIC charges for its weight
_MOST_CANDIDATES = 8  # with the largest information, whose gains are computed
_MOST_PAIRS = 2**10  # with the largest information, whose gains are computed
_MOST_CHILDREN = 128  # number of features that can have feature parents
_CELLS_OF_VALUES = 2**12  # of two columns, up to which gains by distinct values are computed


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


@mark_as_averaging
def kdb_gain(
    class_var: Hashable,
    dataset: InFull,
    *,
    kdbk: int = 2,
    features: Iterable[Hashable] | None = None,
) -> BNC:
    r"""Learn a k-dependence classifier whose parents improve the prediction.

    Features are ranked by their mutual information with the class, as in
    `kdb_mi`. The feature parents of each feature are the features of higher
    rank with the largest gain, if it exceeds 1 nat, and with the largest
    information [1]_, alternately. A feature without such a gain has no feature
    parents. The gain of a pair estimates by how much the pair, added to naive
    Bayes, increases the log-likelihood of the class. A copy of another feature
    has a large information, but no gain.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame or Dataset
        Training data. All columns except `class_var` are features.
    kdbk : int, default 2
        Maximum number of feature parents; 0 gives naive Bayes. The first
        parents do not depend on it.
    features : list of str, optional
        Columns to use as features.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them. Parents are in
        the order of their choice.

    Notes
    -----
    Naive Bayes has the scores :math:`S(y) = \ln P(y) + w Σ_i \ln P(x_i | y)` of
    a row, without the row, with :math:`w = \min(1, 3/\sqrt d)` for d features,
    and the posterior P. The pair of a feature and a parent would add the term
    :math:`t(y) = \ln P(x_i | y, x_j) − \ln P(x_i | y)`, where 2 pseudo-counts
    of the pair are distributed like :math:`P(x_i | y)`. One step of Newton's
    method for its weight increases the log-likelihood of the class by

    .. math:: \frac{g^2}{2 (h + 10)}, \quad g = Σ [t(y_{row}) − E_P t], \quad h = Σ Var_P t,

    with sums over rows, the gain if g is positive. Rows with a missing value of
    the pair add nothing. If there are more than 2^29 terms, an evenly spread
    subset of rows is used. Candidates are the eight features of higher rank
    with the largest information, and in all the 1,024 pairs of a feature and a
    candidate with the largest information.

    No single parent shows the parity of three columns, so pairs of parents are
    also tried, for the 32 triples of features with the largest interaction: the
    information of the three on the class minus the information of any two and
    of the third. Triples are formed of the features of the highest ranks, 23 of
    them for 1,000 rows, without features of many levels: their cubes times the
    classes are below 16 times the rows. From larger data, about 1,000 evenly
    spread rows are used. Both parents of a pair count with half of the gain of
    the pair. If there are more than 128 features, the 128 with the largest
    gains have parents. With several discretizations, the first one is used and,
    for the gains of single parents, the distinct values, if the table of two
    columns has at most 4,096 cells, or as many as rows. Ties are broken by the
    contents of columns, so the structure depends neither on their order nor on
    their names.

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers.
       KDD 96.

    Examples
    --------
    >>> from bnclassify import kdb_gain, load_car, modelstring
    >>> modelstring(kdb_gain("class", load_car(), kdbk=1))
    '[class] [safety|class] [buying|safety:class] [persons|safety:class] [lug_boot|safety:class]
     [maint|buying:class] [doors|lug_boot:class]'
    """
    k = Whole().check("kdbk", kdbk)
    data = prepare_training_rows(dataset, class_var, features)
    step = Step("kdb_gain", kdb_gain, {"kdbk": k, "features": features})
    parents: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(data.features, ())
    if k:
        by_value = getattr(data, "data_coded_by_value", None)
        views = [next(iter(data.codings)), *([] if by_value is None else [by_value])]
        parents = _parents_by_gain_and_information(cast("list[Dataset]", views), k)
    return network(class_var, parents, data.schema, step)


def _parents_by_gain_and_information(
    views: Sequence[Dataset], k: int
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its parents, by gain and by information in turns.

    The gain is the largest of the views; information and ranks are those of the
    first one.
    """
    contents = ContentHashes(views[0])
    views = [view.take_rows(contents.row_order) for view in views]  # some of which are screened
    data, by_contents = views[0], contents.column_order
    names, d = data.columns[:-1], len(data.columns) - 1
    of_class = pair_informations(data, [(i, d) for i in range(d)])
    relevance = np.array([value for value, _ in of_class])
    rank = by_contents[order_by_rounded_value(relevance[by_contents])]
    information = pair_statistics(data, range(d), d).information
    least = _least_information_of_best_pairs(information, rank)
    scores = [LeftOutScores(view) for view in views]
    pairs = interacting_pairs_by_child(data, rank)
    largest, chosen = np.zeros(d), dict[int, list[int]]()
    for place, child in enumerate(map(int, rank)):
        earlier = by_contents[np.isin(by_contents, rank[:place])]
        candidates = earlier[order_by_rounded_value(information[child, earlier])]
        n_informative = int(np.count_nonzero(information[child, candidates] >= least))
        most = min(_MOST_CANDIDATES, n_informative)
        gains = _gains_of_parents(scores, child, candidates, most, pairs.get(child, []))
        largest[child] = gains.max(initial=0.0)
        chosen[child] = _choose_parents_alternately(candidates, gains, k)
    children: list[int] = rank[order_by_rounded_value(largest[rank])][:_MOST_CHILDREN].tolist()
    parents: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(names, ())
    for child in children:
        parents[names[child]] = tuple([names[i] for i in chosen[child]])
    return parents


def _least_information_of_best_pairs(information: Array, rank: Positions) -> float:
    """Return the least information of the 1,024 most informative pairs, 0 if there are fewer."""
    # a child has a higher rank number than its candidate: entries below the diagonal
    of_pairs = information[np.ix_(rank, rank)][np.tril_indices(len(rank), -1)]
    if len(of_pairs) <= _MOST_PAIRS:
        return 0.0
    return float(-np.partition(-of_pairs, _MOST_PAIRS - 1)[_MOST_PAIRS - 1])


def _choose_parents_alternately(candidates: Positions, gains: Array, k: int) -> list[int]:
    """Choose up to k of some candidates, which are in descending order of information.

    Only candidates with a gain of more than 1 nat count, and without one, none
    is chosen. The first is that with the largest gain; then the order by
    information and that by gain take turns.

    >>> _choose_parents_alternately(np.array([4, 1, 7, 2]), np.array([0.0, 5.0, 0.5, 3.0]), 3)
    [1, 4, 2]
    """
    order = order_by_rounded_value(gains)
    n_useful = np.count_nonzero(gains > _LEAST_GAIN)
    useful: list[int] = candidates[order][:n_useful].tolist()
    if not useful:
        return []
    # both parents of a pair have half of its gain, and neither of them is useful alone
    n_first = 2 if len(useful) > 1 and gains[order[0]] == gains[order[1]] else 1
    chosen = dict.fromkeys(useful[:n_first])  # as an ordered set
    for informative, of_gain in zip_longest(candidates[:k].tolist(), useful[n_first:k]):
        chosen |= {informative: None, of_gain: None}
    return [parent for parent in chosen if parent is not None][:k]


def _gains_of_parents(
    scores: Sequence[LeftOutScores],
    child: int,
    candidates: Positions,
    most: int,
    pairs: Sequence[Sequence[int]],
) -> Array:
    """Return the gain of each candidate as a parent: its own, or half a pair's with another.

    Own gains are computed of the first ``most`` candidates. Example: the class
    is the parity of three columns. No single parent of a column has a gain, but
    the pair of the two others has, and both are parents.
    """
    found, best = np.zeros(len(candidates)), candidates[:most]
    for number, view in enumerate(scores):
        cards, cells = np.array(view.data.cards), max(len(view.data), _CELLS_OF_VALUES)
        some = np.flatnonzero((number == 0) | (cards[best] * cards[child] <= cells))
        found[some] = np.maximum(found[some], view.gains_of_parent_sets(child, best[some, None]))
    if pairs:
        of_pairs = np.array(pairs)  # (pairs, 2)
        position = {feature: i for i, feature in enumerate(candidates.tolist())}
        places = [[position[a], position[b]] for a, b in pairs]
        halves = scores[0].gains_of_parent_sets(child, of_pairs)[:, None] / 2
        np.maximum.at(found, places, halves)
    return found
