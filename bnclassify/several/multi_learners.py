"""The learners of structures with several class variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from math import comb
from numbers import Integral
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..classifiers import Family
from ..counts import pair_statistics
from ..dataset import Countable
from ..frames import AnyTable, prepare_training_data
from ..model import Model, Recipe, Step
from ..structure import LocalScores, check_score_and_ess, find_learner, warn_of_fractional_weights
from ..tools.arrays import TOLERANCE
from ..tools.calls import check_arguments, parameters_of, progress_bar
from ..tools.checks import (
    Instance,
    Names,
    OneOf,
    ScoreName,
    Seed,
    Whole,
    check_column_name,
    check_rng,
    must_be,
)
from ..tools.graphs import max_forest_parents, maximum_arborescence
from ..tools.immutable import record
from ..tools.messages import shown, with_shared_text
from .mbc import MAODE, MBC
from .multidimensional import Chain, ChainEnsemble

Parents = tuple[int, ...]

_shared = with_shared_text(
    {
        "{data}": """\
class_vars : list of str
    Names of the class variables.
dataset : pandas.DataFrame, Dataset, or partitioned data
    Data with the class variables. All other columns are features.""",
        "{search}": """\
ess : float, default 1
    Equivalent sample size of "bde".
max_parents : int, default 1
    Maximum number of class parents of a feature. All sets up to this size
    are scored.
progress : bool, optional
    Whether to show a progress bar; by default after 3 seconds, in an
    interactive session.""",
    }
)


@_shared
@record
def mbc(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    classes: Literal["tree", "empty"] = "tree",
    features: Literal["tree", "empty"] = "empty",
    score: ScoreName = "bic",
    ess: float = 1,
    max_parents: int = 1,
    progress: bool | None = None,
) -> MBC:
    """Learn a multidimensional Bayesian network classifier (MBC).

    The class variables that a feature depends on become its parents, so that
    evidence about one class variable changes the posteriors of the others. With
    both graphs empty, this is the multidimensional naive Bayes, and with two
    trees the tree-augmented classifier [1]_.

    Parameters
    ----------
    {data}
    classes : {"tree", "empty"}, default "tree"
        Graph among the class variables: the maximum-weight spanning tree of
        mutual information (Chow-Liu), directed away from the first class
        variable, or no arcs.
    features : {"empty", "tree"}, default "empty"
        Graph among the features: no arcs, or the best tree given the class
        parents of the features.
    score : {"bic", "bde", "aic", "k2", "loglik"}, default "bic"
        Score for the choice of the class parents of a feature, as in
        `network_score`.
    {search}

    Returns
    -------
    MBC
        A structure without parameters; `lp` estimates them.

    Notes
    -----
    Among tied sets of class parents (within 1e-9), the smallest is chosen, then
    the first. In the tree of features, the weight of an arc p → v is N I(v; p |
    class parents of v), and the tree is a maximum arborescence (Edmonds). Rows
    without some class variables count for the families that they have. In
    prediction, missing features are marginalized over exactly.

    References
    ----------
    .. [1] van der Gaag, L. C., de Waal, P. R. (2006). Multi-dimensional
       Bayesian network classifiers. PGM 2006.
    .. [2] Bielza, C., Li, G., Larrañaga, P. (2011). Multi-dimensional
       classification with Bayesian networks. International Journal of
       Approximate Reasoning 52.

    Examples
    --------
    >>> from bnclassify import families, load_voting, lp, mbc, predict
    >>> voting = load_voting()
    >>> structure = mbc(["mx_missile", "immigration", "crime"], voting)
    >>> families(structure)["el_salvador_aid"], families(structure)["immigration"]
    (('el_salvador_aid', 'mx_missile'), ('immigration', 'crime'))
    >>> model = lp(structure, voting, smooth=1)
    >>> predict(model, voting.loc[[97]], joint=True, prob=True).round(2)
       mx_missile immigration crime  probability
    97          n           y     y         0.27
    """
    names = _check_class_vars(class_vars)
    given = {"classes": classes, "features": features}
    graphs = {name: OneOf(("tree", "empty")).check(name, value) for name, value in given.items()}
    settings = _score_settings(score, ess, max_parents)
    data = prepare_training_data(dataset, names, named_by="class_vars")
    bridge = _choose_class_parents(data, progress, **settings)
    n, m = len(bridge), len(names)
    feature_parents, class_parents = list[Parents]([()] * n), list[Parents]([()] * m)
    if features == "tree":  # with the largest gain in log-likelihood
        scores = LocalScores(data, "loglik")
        scores.count_families_ahead([(v, *own) for v, own in enumerate(bridge)])
        gains = [scores.gains_by_added_parent(v, own)[:n] for v, own in enumerate(bridge)]
        tree = maximum_arborescence(np.maximum(gains, 0.0).T)
        feature_parents = [(p,) if p >= 0 else () for p in tree]
    if classes == "tree":  # of maximum information, rooted at the first class
        pairs = pair_statistics(data, range(n, n + m), None)
        tree = max_forest_parents(pairs.information, pairs.rows > 0, roots=range(m))
        class_parents = [(n + p,) if p >= 0 else () for p in tree]
    parents = [(*p, *c) for p, c in zip(feature_parents, bridge, strict=True)] + class_parents
    recipe = Recipe(names, Step("mbc", mbc, graphs | settings))
    return MBC(names, _families_by_name(data, parents), data.levels, recipe=recipe)


@_shared
@record
def maode(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    score: ScoreName = "bic",
    ess: float = 1,
    max_parents: int = 1,
    progress: bool | None = None,
) -> MAODE:
    """Build an average of networks, each with another class as the parent.

    The root of the class variables need not be chosen, because each of them is
    the root of one network.

    Parameters
    ----------
    {data}
    score : {"bic", "bde", "aic", "k2", "loglik"}, default "bic"
        Score for the choice of the class parents of a feature. All networks
        share these parents.
    {search}

    Returns
    -------
    MAODE
        A structure without parameters; `lp` estimates them.

    Notes
    -----
    P(classes, features) is the mean of the joint distributions of the members.
    Posteriors, the most probable combination of labels and the marginalization
    over missing features follow from it. The paper [1]_ pools the logs of the
    members instead.

    References
    ----------
    .. [1] Antonucci, A., Corani, G., Mauá, D. D., Gabaglio, S. (2013). An
       ensemble of Bayesian networks for multilabel classification. IJCAI 2013.

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
    names = _check_class_vars(class_vars)
    settings = _score_settings(score, ess, max_parents)
    data = prepare_training_data(dataset, names, named_by="class_vars")
    families = _families_by_name(data, _choose_class_parents(data, progress, **settings))
    return MAODE(names, families, data.levels, recipe=Recipe(names, Step("maode", maode, settings)))


def _check_class_vars(class_vars: object) -> tuple[Hashable, ...]:
    if isinstance(class_vars, pd.DataFrame):
        remedy = "The class variables are the first argument, and the data are the second."
        raise TypeError(must_be("class_vars", "a list of names", class_vars, remedy))
    names = Names(filled=True).check("class_vars", class_vars)
    for name in names:
        check_column_name(name, "class_vars")
    return names


def _score_settings(score: str, ess: float, max_parents: int) -> dict[str, Any]:
    ess = check_score_and_ess(score, ess)
    settings = {"score": score, "max_parents": Whole().check("max_parents", max_parents)}
    return settings | ({"ess": ess} if score == "bde" else {})


def _families_by_name(data: Countable, parents: Sequence[Parents]) -> tuple[Family, ...]:
    return tuple(
        [(data.columns[v], *(data.columns[p] for p in ps)) for v, ps in enumerate(parents)]
    )


def _choose_class_parents(
    data: Countable, progress: bool | None, *, score: str, max_parents: int, ess: float = 1
) -> list[Parents]:
    """Return each feature's class parents with the largest gain over none, by position."""
    n, m = len(data.features), len(data.targets)
    warn_of_fractional_weights(data, score)
    scores = LocalScores(data, score, ess)
    best = [0.0] * n
    chosen: list[Parents] = [()] * n
    sizes = range(1, min(max_parents, m) + 1)
    total = sum(comb(m, size) for size in sizes)
    with progress_bar(progress, total=total, desc="class parents", unit=" sets") as bar:
        for size in sizes:
            sets = list(combinations(range(n, n + m), size))
            scores.counts.prefetch([], [(v, *classes) for classes in sets for v in range(n)])
            for classes in sets:
                for v in range(n):
                    if (gain := scores.gain_over_no_parents(v, classes)) > best[v] + TOLERANCE:
                        best[v], chosen[v] = gain, classes
                bar.update()
    return chosen


@_shared
@record
def chain(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    learner: str | Callable[..., Model] = "nb",
    order: Sequence[Hashable] | None = None,
    orders: int | Sequence[Sequence[Hashable]] | None = None,
    dag_args: Mapping[str, Any] | None = None,
    rng: Seed = None,
) -> Chain | ChainEnsemble:
    """Learn a chain of structures, each with earlier classes as features.

    Parameters
    ----------
    {data}
    learner : str or callable, default "nb"
        Learner of structure, or its name, such as "tan_cl".
    order : list of str, optional
        Class variables in the order of the chain. By default, the order of
        `class_vars`.
    orders : int or list of orders, optional
        Learn an ensemble of chains in place of one: their orders, or their
        number. The first of a number of chains has the order of `class_vars`,
        the others have random orders, which can be equal.
    dag_args : dict, optional
        Additional arguments of the learner, the same for all class variables.
    rng : int or numpy.random.Generator, optional
        Seed of random orders.

    Returns
    -------
    Chain or, with `orders`, ChainEnsemble
        A structure without parameters; `lp` estimates them, by any of its
        methods.

    Notes
    -----
    P(c_1 … c_m | features) = Π P(c_j | features, c_1 … c_{j−1}), where each
    factor is the posterior of a classifier of one class variable. `predict`
    enumerates all combinations of labels if there are at most 65,536. Beyond
    that, or with ``greedy=True``, it predicts one class variable after the
    other, given the labels predicted before. Rows without a class variable are
    excluded only from the model of that variable. Missing features are treated
    as in the models of the chain.

    The posteriors of an ensemble are means over its chains: of the labels of
    each class variable, and with ``joint=True`` of combinations of labels. If
    these are too many, or with ``greedy=True``, the best of the combinations
    that the chains predict is returned.

    References
    ----------
    .. [1] Dembczyński, K., Cheng, W., Hüllermeier, E. (2010). Bayes optimal
       multilabel classification via probabilistic classifier chains. ICML 2010.
    .. [2] Read, J., Pfahringer, B., Holmes, G., Frank, E. (2011). Classifier
       chains for multi-label classification. Machine Learning 85.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members, predict
    >>> voting = load_voting().dropna()
    >>> bic = {"score": "bic"}
    >>> structure = chain(["mx_missile", "crime"], voting, learner="tan_cl", dag_args=bic)
    >>> "mx_missile" in members(structure)[1].features
    True
    >>> predict(lp(structure, voting, smooth=1), voting.head(1), joint=True, prob=True).round(3)
      mx_missile crime  probability
    5          n     n        0.813
    """
    names = _check_class_vars(class_vars)
    Instance(Mapping | None, "a dict of arguments of the learner").check("dag_args", dag_args)
    options = dict(dag_args or {})
    if order is not None and orders is not None:
        raise ValueError(must_be("order", "None if orders are given", order, "Add it to orders."))
    chain_orders = _checked_chain_orders(names, [order or names] if orders is None else orders, rng)
    function = find_learner(learner, "learner")
    check_arguments(function, options, "dag_args", supplied=("class_var", "dataset"))
    data = prepare_training_data(dataset, names, named_by="class_vars")

    def chain_recipe(**of_order: Any) -> Recipe:
        settings = {"learner": learner, **of_order, "dag_args": options}
        return Recipe(
            names, Step("chain", chain_again, settings, draws="rng" in parameters_of(function))
        )

    chains = []
    for own in chain_orders:
        links = []
        for i, name in enumerate(own):
            given: Any = data.select((*data.features, *own[:i], name))
            rows = prepare_training_data(given, (name,), warns=False)
            link = function(name, dataset=rows, **options)
            if not isinstance(link, Model) or not link.one_class:
                expected = "a function that returns a structure of one class variable"
                raise TypeError(f"learner must be {expected}; it returned {shown(link)}.")
            links.append(link)
        chains.append(Chain(names, tuple(links), chain_recipe(order=own)))
    if orders is None:
        return chains[0]
    return ChainEnsemble(names, tuple(chains), chain_recipe(orders=chain_orders))


def _checked_chain_orders(
    names: tuple[Hashable, ...], orders: int | Sequence[Sequence[Hashable]], rng: Seed
) -> tuple[tuple[Hashable, ...], ...]:
    """Return the orders of chains, drawn if only their number is given, or raise."""
    if isinstance(orders, int | Integral):
        generator, n = check_rng(rng), Whole(least=1, most=10_000).check("orders", orders)
        drawn = [generator.permutation(len(names)).tolist() for _ in range(n - 1)]
        return (names, *[tuple([names[i] for i in order]) for order in drawn])
    Instance(Sequence, "a number of chains, or a list of orders").check("orders", orders)
    checked = tuple([Names().check("order", order) for order in orders])
    for order in checked:
        if set(order) != set(names):
            raise ValueError(must_be("order", "a list of all class variables", list(order)))
    if not checked:
        raise ValueError("orders must have at least one order; got none. Pass a number of chains.")
    return checked


@record
def chain_again(
    class_vars: Sequence[Hashable],
    dataset: AnyTable | Countable,
    *,
    dag_args: Mapping[str, Any],
    rng: np.random.Generator | None = None,
    **settings: Any,
) -> Chain | ChainEnsemble:
    """Learn chains again, with draws of the learner from `rng` if given."""
    drawn = {} if rng is None else {"rng": rng}
    return chain(class_vars, dataset, dag_args={**dag_args, **drawn}, **settings)
