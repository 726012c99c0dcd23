"""Tree-augmented naive Bayes of maximum likelihood, AIC or BIC."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array
from ..base.checks import check_choice
from ..base.graphs import maximum_forest
from ..base.messages import suggestion
from ..frames.counting import PairStatistics, pair_statistics
from ..frames.schema import Dataset
from ..frames.training import TrainingData, prepare
from ..model.networks import BNC
from ..model.recipes import Step
from .fixed import network


def _penalised(pairs: PairStatistics, arc_parameters: Array, penalty: Array | float) -> Array:
    return pairs.rows * pairs.information - penalty * arc_parameters


# What an augmenting arc adds to each score: (pair statistics, free parameters of the arc) -> (n, n).
_SCORES: dict[str, Callable[[PairStatistics, Array], Array]] = {
    "loglik": lambda pairs, arc_parameters: pairs.information,
    "aic": lambda pairs, arc_parameters: _penalised(pairs, arc_parameters, 1.0),
    "bic": lambda pairs, arc_parameters: _penalised(
        pairs, arc_parameters, 0.5 * np.log(np.maximum(pairs.rows, 1))
    ),
}


def tan_cl(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    score: str = "loglik",
    root: Hashable | None = None,
) -> BNC:
    """Learn the tree-augmented naive Bayes that maximises a decomposable score (Chow-Liu).

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        All columns but the class are features.
    score : {"loglik", "aic", "bic"}, default "loglik"
        What to maximise. With "loglik" the features form one tree; "aic" and "bic" leave out
        arcs that lower the score, which gives a forest or a naive Bayes.
    root : str, optional
        The feature at which its tree is rooted. Other trees, and all by default, are
        rooted at their first feature.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters.

    Raises
    ------
    KeyError
        If ``class_var`` or ``root`` is not a column.
    ValueError
        If the score is unknown, the root is the class, the data has no rows, or no class.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out. If every row has a value of its own in a column.

    Notes
    -----
    An arc adds I(X;Y|C) to the log-likelihood per row, in nats. To AIC it adds
    N·I − (r_x−1)(r_y−1)r_c, to BIC N·I − ½ ln N · (r_x−1)(r_y−1)r_c, with r the numbers of levels and
    N the rows in which x, y and the class are observed. An edge stays if it adds at least 0.
    An edge to a feature of one level adds exactly 0, so it stays; leave such features out. With AIC
    and BIC, features never observed together have no edge. Of tied edges the one with the lower
    first, then the lower second column is taken.

    References
    ----------
    .. [1] Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers.
       Machine Learning 29.
    .. [2] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions
       with dependence trees. IEEE Transactions on Information Theory 14.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, tan_cl
    >>> modelstring(tan_cl("class", load_car(), score="aic", root="safety"))
    '[class] [buying|class] [doors|class] [safety|class] [maint|buying:class] [persons|safety:class]
     [lug_boot|safety:class]'
    """
    check_choice("score", score, _SCORES)
    data = prepare(dataset, class_var)
    if root is not None and root not in data.features:
        raise (ValueError if root == class_var else KeyError)(
            f"root: expected a feature, got {root!r}; {suggestion(root, data.features)}"
        )
    parents = _forest(data, score, data.features.index(root) if root is not None else 0)
    return network(class_var, parents, data.schema, Step("tan_cl", tan_cl, {"score": score, "root": root}))


def _forest(data: TrainingData, score: str, root: int) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its feature parents in the best forest."""
    features, class_column = data.features, len(data.features)
    if len(features) < 2:
        return dict.fromkeys(features, ())
    freedom = np.array(data.cards[:-1], dtype=float) - 1
    pairs = pair_statistics(data, range(class_column), class_column)
    weights = _SCORES[score](pairs, np.outer(freedom, freedom) * data.cards[class_column])
    keep = np.full_like(weights, True, dtype=bool)
    if score != "loglik":  # of features never observed together nothing is known, ln 0 included
        keep = (weights >= -TOLERANCE) & (pairs.rows > 0)
    parent = maximum_forest(weights, keep, roots=(root, *range(len(features))))
    return {f: (features[p],) if p >= 0 else () for f, p in zip(features, parent, strict=True)}
