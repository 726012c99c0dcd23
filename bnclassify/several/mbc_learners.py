"""The learners of structures with several class variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..base.arborescences import maximum_arborescence
from ..base.arrays import TOLERANCE
from ..base.calls import check_arguments, parameters_of
from ..base.checks import check_choice, check_whole
from ..base.graphs import maximum_forest
from ..base.messages import listed, shown
from ..base.records import record
from ..counts.information import pair_statistics
from ..frames.opening import InFull, InParts
from ..frames.partitions import Partitions
from ..frames.schema import Learnable
from ..frames.training import TrainingData, one_target, prepare
from ..learners.by_name import find_learner
from ..learners.local_scores import LocalScores, check_score
from ..model.model import Model
from ..model.recipes import Recipe, Step
from ..network.bnc import Family
from .chains import Chain
from .class_training import check_class_vars
from .multi_model import MultiModel
from .multidimensional import MAODE, MBC

Parents = tuple[int, ...]

_GRAPHS = ("tree", "empty")


@record
def mbc(
    class_vars: Sequence[Hashable],
    dataset: InFull | InParts,
    *,
    classes: str = "tree",
    features: str = "empty",
    score: str = "bic",
    ess: float = 1,
    max_parents: int = 1,
) -> MBC:
    """Learn a multidimensional Bayesian network classifier: one network that predicts several classes.

    Each feature gets the classes that it depends on as its parents, so that what is known of one class
    tells of another. With both graphs empty this is the multidimensional naive Bayes, with two trees the
    tree-augmented classifier of van der Gaag and de Waal.

    Parameters
    ----------
    class_vars : list of str
        Names of the class variables.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All other columns are features.
    classes : {"tree", "empty"}, default "tree"
        The graph among the class variables: the tree of most mutual information (Chow-Liu), directed away
        from the first, or no arcs.
    features : {"empty", "tree"}, default "empty"
        The graph among the features: no arcs, or the best tree given the features' class parents.
    score : {"bic", "bde", "aic", "k2", "loglik"}, default "bic"
        By which the class parents of a feature are chosen, as in `network_score`.
    ess : float, default 1
        Equivalent sample size of "bde".
    max_parents : int, default 1
        The most class parents of a feature. All sets up to that size are tried.

    Returns
    -------
    MBC
        A structure; `lp` gives it parameters.

    Raises
    ------
    KeyError
        If a class variable is not a column.
    TypeError
        If ``class_vars`` is no list of names, or a column holds no categories.
    ValueError
        If a class variable is named twice, the data has no rows, or an option is out of range.

    Warns
    -----
    UserWarning
        If every row has a value of its own in a column.

    Notes
    -----
    Of tied sets of class parents (within 1e-9) the smallest is taken, then the first. In the tree of
    features, an arc p → v is worth N I(v; p | class parents of v), and the root is the one of the tree
    that is worth most (Edmonds). Rows without some of the classes count where what they show is
    counted: sets of class parents are compared by what they add to a feature without parents in the rows
    in which all of them are known.

    For comparison, with ``X = df.drop(columns=class_vars)``, a classifier a class is
    ``{c: bnc("tan_cl", c, X.assign(**{c: df[c]}), smooth=1) for c in class_vars}``, and one class of joined
    labels ``bnc("tan_cl", "all", X.assign(all=df[class_vars].agg("+".join, axis=1)), smooth=1)``.

    References
    ----------
    .. [1] van der Gaag, L. C., de Waal, P. R. (2006). Multi-dimensional Bayesian network classifiers.
       PGM 2006.
    .. [2] Bielza, C., Li, G., Larrañaga, P. (2011). Multi-dimensional classification with Bayesian
       networks. International Journal of Approximate Reasoning 52.
    .. [3] Edmonds, J. (1967). Optimum branchings. Journal of Research of the National Bureau of
       Standards 71B.

    Examples
    --------
    >>> from bnclassify import families, load_voting, lp, mbc, predict
    >>> voting = load_voting()
    >>> structure = mbc(["mx_missile", "immigration", "crime"], voting)
    >>> families(structure)["el_salvador_aid"], families(structure)["immigration"]
    (('el_salvador_aid', 'mx_missile'), ('immigration', 'crime'))
    >>> model = lp(structure, voting, smooth=1)
    >>> predict(model, voting.loc[[97]])
       mx_missile immigration crime
    97          n           n     n
    >>> predict(model, voting.loc[[97]], joint=True, prob=True).round(2)
       mx_missile immigration crime  probability
    97          n           y     y         0.27
    """
    names = check_class_vars(class_vars)
    check_choice("classes", classes, _GRAPHS)
    check_choice("features", features, _GRAPHS)
    settings = _score_settings(score, ess, max_parents)
    data = prepare(dataset, names, named_by="class_vars")
    n = len(data.features)
    bridge = _choose_class_parents(data, score, ess, max_parents)
    feature_parents = _feature_tree(data, bridge) if features == "tree" else [()] * n
    class_parents = _class_tree(data) if classes == "tree" else [()] * len(names)
    parents = [(*p, *c) for p, c in zip(feature_parents, bridge, strict=True)] + class_parents
    step = Step("mbc", mbc, {"classes": classes, "features": features} | settings)
    return MBC(names, _families(data, parents), data.levels, recipe=Recipe(names, step))


@record
def maode(
    class_vars: Sequence[Hashable],
    dataset: InFull | InParts,
    *,
    score: str = "bic",
    ess: float = 1,
    max_parents: int = 1,
) -> MAODE:
    """Build an average of networks, each with one class variable as the parent of the other classes.

    Which class variable the others depend on need not be chosen: all have their turn.

    Parameters
    ----------
    class_vars : list of str
        Names of the class variables.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All other columns are features.
    score, ess, max_parents
        How the class parents of the features are chosen, which all networks share, as in `mbc`.

    Returns
    -------
    MAODE
        A structure; `lp` gives it parameters.

    Raises
    ------
    KeyError, TypeError, ValueError
        As `mbc`.

    Warns
    -----
    UserWarning
        As `mbc`.

    Notes
    -----
    P(classes, features) is the mean over the members of their joint distributions, taken in log space,
    so that the posteriors of single classes, the likeliest combination and missing features follow from
    one distribution. The paper [1]_ pools the members' logs instead, the geometric mean, under which
    posteriors of single classes and of combinations do not follow from the same distribution unless it
    is normalised over all combinations.

    References
    ----------
    .. [1] Antonucci, A., Corani, G., Mauá, D. D., Gabaglio, S. (2013). An ensemble of Bayesian networks
       for multilabel classification. IJCAI 2013.

    Examples
    --------
    >>> from bnclassify import load_voting, lp, maode, members, predict
    >>> voting = load_voting()
    >>> model = lp(maode(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> len(members(model))
    2
    >>> predict(model, voting.loc[[183]], prob=True).round(2)
        mx_missile       crime
                 n     y     n     y
    183       0.36  0.64  0.65  0.35
    """
    names = check_class_vars(class_vars)
    settings = _score_settings(score, ess, max_parents)
    data = prepare(dataset, names, named_by="class_vars")
    families = _families(data, _choose_class_parents(data, score, ess, max_parents))
    return MAODE(names, families, data.levels, recipe=Recipe(names, Step("maode", maode, settings)))


def _score_settings(score: str, ess: float, max_parents: int) -> dict[str, Any]:
    """Return how parents are chosen, checked."""
    ess = check_score(score, ess)
    settings = {"score": score, "max_parents": check_whole("max_parents", max_parents, 0)}
    return settings | ({"ess": ess} if score == "bde" else {})


def _families(data: Learnable, parents: Sequence[Parents]) -> tuple[Family, ...]:
    return tuple([(data.columns[v], *(data.columns[p] for p in ps)) for v, ps in enumerate(parents)])


def _choose_class_parents(data: Learnable, score: str, ess: float, max_parents: int) -> list[Parents]:
    """Choose for each feature the classes that are worth most as its parents, by column number.

    Every set of at most ``max_parents`` classes is tried, for all features at once. Sets are compared
    by what they gain over no parent, in the rows in which feature and classes are known.
    """
    n, m = len(data.features), len(data.targets)
    scores = LocalScores(data, score, ess)
    best = np.zeros(n)
    chosen: list[Parents] = [()] * n
    for n_parents in range(1, min(max_parents, m) + 1):
        sets = list(combinations(range(n, n + m), n_parents))
        scores.counts.prefetch(sets)
        for classes in sets:
            gains = scores.gains_by(classes)[:n]
            for v in np.nonzero(gains > best + TOLERANCE)[0].tolist():
                best[v], chosen[v] = gains[v], classes
    return chosen


def _class_tree(data: Learnable) -> list[Parents]:
    """Return the parent of each class variable in the tree of most mutual information, the first its root."""
    n, m = len(data.features), len(data.targets)
    pairs = pair_statistics(data, range(n, n + m), None)
    parent = maximum_forest(pairs.information, pairs.rows > 0, roots=range(m))
    return [(n + p,) if p >= 0 else () for p in parent]


def _feature_tree(data: Learnable, class_parents: Sequence[Parents]) -> list[Parents]:
    """Return the parent of each feature in the best arborescence, given the features' class parents.

    An arc p → v is worth N I(v; p | class parents of v), which v's likelihood gains.
    """
    n = len(class_parents)
    scores = LocalScores(data, "loglik")
    scores.prefetch([(v, *classes) for v, classes in enumerate(class_parents)])
    gains = [np.maximum(scores.gains(v, classes)[:n], 0.0) for v, classes in enumerate(class_parents)]
    parent = maximum_arborescence(np.array(gains).T) if n else []
    return [(p,) if p >= 0 else () for p in parent]


def chain(
    class_vars: Sequence[Hashable],
    dataset: InFull | InParts,
    *,
    learner: str | Callable[..., Model] = "nb",
    order: Sequence[Hashable] | None = None,
    dag_args: Mapping[str, Any] | None = None,
) -> Chain:
    """Learn a chain of ordinary structures: those classes that come before are features to the next.

    Parameters
    ----------
    class_vars : list of str
        Names of the class variables.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All other columns are features.
    learner : str or callable, default "nb"
        A learner of structure, or its name, such as "tan_cl".
    order : list of str, optional
        The class variables in the order of the chain; that of ``class_vars`` by default.
    dag_args : dict, optional
        Further arguments of the learner, the same for all classes.

    Returns
    -------
    Chain
        A structure; `lp` gives it parameters, by any of its methods.

    Raises
    ------
    KeyError
        If a class variable is not a column.
    TypeError
        If ``class_vars`` is no list of names, the learner has no such argument as one of ``dag_args``,
        or returns no structure of one class.
    ValueError
        If a class variable is named twice, ``order`` does not name each once, the data has no rows, or
        no learner has that name.

    Warns
    -----
    UserWarning
        If every row has a value of its own in a column.

    Notes
    -----
    P(c_1 … c_m | features) = Π P(c_j | features, c_1 … c_{j−1}), each factor the posterior of an ordinary
    classifier. `predict` tries all combinations of labels where these are at most 65,536, so that posteriors
    and the likeliest combination are exact. Beyond, or with ``greedy=True``, it takes the
    likeliest label of one class after the other, given those taken before. Rows that lack a class are
    left out of what is learned of that class alone.

    References
    ----------
    .. [1] Dembczyński, K., Cheng, W., Hüllermeier, E. (2010). Bayes optimal multilabel classification
       via probabilistic classifier chains. ICML 2010.
    .. [2] Read, J., Pfahringer, B., Holmes, G., Frank, E. (2011). Classifier chains for multi-label
       classification. Machine Learning 85.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members, predict
    >>> voting = load_voting().dropna()
    >>> structure = chain(["mx_missile", "crime"], voting, learner="tan_cl", dag_args={"score": "bic"})
    >>> "mx_missile" in members(structure)[1].features
    True
    >>> predict(lp(structure, voting, smooth=1), voting.head(1), joint=True, prob=True).round(3)
      mx_missile crime  probability
    5          n     n        0.813
    """
    names = check_class_vars(class_vars)
    if dag_args is not None and not isinstance(dag_args, Mapping):
        raise TypeError(f"dag_args: expected a dict of further arguments, got {shown(dag_args)}")
    options, chain_order = dict(dag_args or {}), _check_order(order, names)
    function = find_learner(learner, "learner")
    check_arguments(function, options, "dag_args", supplied=("class_var", "dataset"))
    data = prepare(dataset, names, named_by="class_vars")
    settings = {"learner": learner, "order": chain_order, "dag_args": options}
    step = Step("chain", chain_again, settings, draws="rng" in parameters_of(function))
    return Chain(names, _links(function, data, chain_order, options), Recipe(names, step))


def _check_order(order: Sequence[Hashable] | None, names: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    """Return the order of a chain, or raise unless it has each class variable once."""
    if order is None:
        return names
    if isinstance(order, str) or not isinstance(order, Sequence):
        raise TypeError(f"order: expected a list of the class variables, got {shown(order)}")
    if len(order) != len(names) or set(order) != set(names):
        raise ValueError(f"order: expected each of {listed(names)} once, got {listed(order)}")
    return tuple(order)


@record
def chain_again(
    class_vars: Sequence[Hashable],
    dataset: InFull | InParts,
    *,
    learner: str | Callable[..., Model],
    order: tuple[Hashable, ...],
    dag_args: Mapping[str, Any],
    rng: np.random.Generator | None = None,
) -> Chain:
    """Learn a chain again, drawing from ``rng`` if one is given."""
    drawn = {} if rng is None else {"rng": rng}
    return chain(class_vars, dataset, learner=learner, order=order, dag_args={**dag_args, **drawn})


def _links(
    learner: Callable[..., Model],
    data: TrainingData | Partitions,
    order: tuple[Hashable, ...],
    options: Mapping[str, Any],
) -> tuple[Model, ...]:
    """Learn a structure for each class variable, from the features and the classes before it."""
    links = []
    for i, name in enumerate(order):
        columns = [*data.features, *order[:i]]
        link = learner(name, dataset=one_target(data, name, columns), **options)
        if not isinstance(link, Model) or isinstance(link, MultiModel):
            raise TypeError(
                f"learner: expected a function that returns a structure of one class, got {shown(link)}"
            )
        links.append(link)
    return tuple(links)


record(chain)
