"""Trees by Chow and Liu's algorithm: among features within each class, or among all variables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array
from ..base.checks import check_choice, is_among
from ..base.graphs import maximum_forest
from ..base.messages import shown, suggestion
from ..counts.information import PairStatistics, pair_statistics
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable
from ..frames.training import averages_views, prepare
from ..model.recipes import Step
from ..network.classifiers import BNC
from .fixed import general_network, network
from .local_scores import LocalScores, check_score


def _arc_parameters(data: Learnable) -> Array:
    """Return how many free parameters an arc between two features adds."""
    freedom = np.array(data.cards[:-1], dtype=float) - 1
    return np.outer(freedom, freedom) * data.cards[-1]


def _bde_gains(data: Learnable, ess: float) -> Array:
    """Return what an arc between two features adds to the log marginal likelihood."""
    scores, n = LocalScores(data, "bde", ess), len(data.features)
    scores.prefetch([(feature, n) for feature in range(n)])
    gains = np.array([scores.gains(feature, (n,))[:n] for feature in range(n)])
    return (gains + gains.T) / 2


# What an augmenting arc adds to each score, (n, n); from the data, its pairs and the sample size.
_SCORES: dict[str, Callable[[Learnable, PairStatistics, float], Array]] = {
    "loglik": lambda data, pairs, ess: pairs.information,
    "aic": lambda data, pairs, ess: pairs.rows * pairs.information - _arc_parameters(data),
    "bic": lambda data, pairs, ess: (
        pairs.rows * pairs.information - 0.5 * np.log(np.maximum(pairs.rows, 1)) * _arc_parameters(data)
    ),
    "bde": lambda data, pairs, ess: _bde_gains(data, ess),
}


@averages_views
def tan_cl(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    score: str = "loglik",
    ess: float = 1,
    root: Hashable | None = None,
) -> BNC:
    """Learn the tree-augmented naive Bayes that maximises a decomposable score (Chow-Liu).

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All columns but the class are features.
    score : {"loglik", "aic", "bic", "bde"}, default "loglik"
        What to maximise. With "loglik" the features form one tree; the others leave out
        arcs that lower the score, which gives a forest or a naive Bayes.
    ess : float, default 1
        Equivalent sample size of the prior of "bde", from 1e-100 to 1e12.
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
    An arc adds :math:`I(X;Y | C)` to the log-likelihood per row, in nats. To AIC it adds
    :math:`N·I − (r_x−1)(r_y−1)r_c`, to BIC :math:`N·I − ½ ln N · (r_x−1)(r_y−1)r_c`, with r the
    numbers of levels and N the rows in which x, y and the class are observed; to the log marginal likelihood
    ("bde", see `network_score`) bde(Y | X, class) − bde(Y | class). An edge stays if it adds at least 0.
    An edge to a feature of one level adds exactly 0, so it stays; leave such features out. But with
    "loglik", features never observed together have no edge. Of tied edges the one with the lower
    first, then the lower second column is taken.

    With "loglik" edges are ranked by I per row, as in R. Where values are missing, pairs are observed
    in different numbers of rows, and this need not be the likeliest tree; "aic" ranks by N·I.

    References
    ----------
    .. [1] Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers.
       Machine Learning 29.
    .. [2] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions
       with dependence trees. IEEE Transactions on Information Theory 14.
    .. [3] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning Bayesian networks: the
       combination of knowledge and statistical data. Machine Learning 20.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, tan_cl
    >>> modelstring(tan_cl("class", load_car(), score="aic", root="safety"))
    '[class] [buying|class] [doors|class] [safety|class] [maint|buying:class] [persons|safety:class]
     [lug_boot|safety:class]'
    """
    check_choice("score", score, _SCORES)
    ess = check_score("bde", ess)
    data = prepare(dataset, (class_var,))
    first = _root_number(root, data.features, 0, class_var)
    parents = _forest(data, score, ess, first)
    settings = {"score": score, "root": root} | ({"ess": ess} if ess != 1 else {})
    return network(class_var, parents, data.schema, Step("tan_cl", tan_cl, settings))


def _root_number(
    root: Hashable | None, names: Collection[Hashable], otherwise: int, class_var: Hashable
) -> int:
    """Return the position of the root among the names, or raise if it is not there."""
    if root is None:
        return otherwise
    if is_among(root, names):
        return list(names).index(root)
    kind = "feature" if class_var not in names else "variable"
    message = f"root: expected a {kind}, got {shown(root)}; {suggestion(root, names)}"
    if is_among(root, [class_var]):
        raise ValueError(message)
    raise KeyError(message)


def _forest(data: Learnable, score: str, ess: float, root: int) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its feature parents in the best forest."""
    features, class_column = data.features, len(data.features)
    if len(features) < 2:
        return dict.fromkeys(features, ())
    views = []
    for view in data.views:
        pairs = pair_statistics(view, range(class_column), class_column)
        views.append(_SCORES[score](view, pairs, ess))
    weights = np.asarray(np.mean(views, axis=0))
    keep = np.full_like(weights, True, dtype=bool)
    if score != "loglik":  # of features never observed together nothing is known, ln 0 included
        keep = (weights >= -TOLERANCE) & (pairs.rows > 0)
    return _directed(features, weights, keep, root)


def _directed(
    names: tuple[Hashable, ...], weights: Array, keep: NDArray[np.bool_], root: int
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each variable to its parent in the forest of greatest weight, rooted as told, else at the first."""
    parent = maximum_forest(weights, keep, roots=(root, *range(len(names))))
    return {name: (names[p],) if p >= 0 else () for name, p in zip(names, parent, strict=True)}


def chow_liu(class_var: Hashable, dataset: InFull | InParts, *, root: Hashable | None = None) -> BNC:
    """Learn the tree of maximum likelihood over all variables, the class among them (Chow-Liu).

    Of all networks in which no variable has two parents, this describes the data best. The class is a
    variable like any other, and predicted from its neighbours in the tree alone. `tan_cl` makes it a
    parent of every feature instead, and grows the tree among those.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All columns become variables.
    root : str, optional
        The variable at which the tree is rooted, the class by default. Which one it is changes
        nothing in the likelihood, and in predictions no more than smoothing does.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters.

    Raises
    ------
    KeyError
        If ``class_var`` or ``root`` is not a column.
    ValueError
        If the data has no rows, or no class.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out. If every row has a value of its own in a column.

    Notes
    -----
    An edge adds I(X;Y), in nats a row, over the rows in which both are observed. There is one tree,
    however little its edges tell, unless variables are never observed together: these have no
    edge, and trees without the root are rooted at their first column. Of tied edges the one with the
    lower first, then the lower second column is taken, the class where it stands.

    References
    ----------
    .. [1] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions
       with dependence trees. IEEE Transactions on Information Theory 14.

    Examples
    --------
    >>> from bnclassify import chow_liu, load_car, modelstring
    >>> modelstring(chow_liu("class", load_car()))
    '[class] [buying|class] [maint|class] [doors|class] [persons|class] [lug_boot|class] [safety|class]'
    """
    data = prepare(dataset, (class_var,))
    rows = data.as_given
    names = rows.columns
    first = _root_number(root, names, names.index(class_var), class_var)
    pairs = pair_statistics(rows, range(len(names)), None)
    parents = _directed(names, pairs.information, pairs.rows > 0, first)
    step = Step("chow_liu", chow_liu, {"root": root})
    return general_network(class_var, parents, rows.schema, step)
