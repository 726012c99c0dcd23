"""Superparent one-dependence estimators (SPODE): one feature is a parent of all others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from ..base.arrays import first_best
from ..base.checks import OneOf
from ..base.options import ScoreName
from ..frames.opening import InFull, InParts
from ..frames.training import averages_views, prepare
from ..model.recipes import Step
from ..network.classifiers import BNC
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
    totals = np.zeros(n)
    for of_view in scores:
        of_view.prefetch([(feature, n) for feature in range(n)])
        gains = np.array([of_view.gains(feature, (n,))[:n] for feature in range(n)])
        totals += np.where(np.eye(n, dtype=bool), 0.0, gains).sum(axis=0) / len(scores)
    return int(first_best(totals))
