"""Trees by Chow and Liu's algorithm: among features within each class, or among all variables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from ..classifiers import BNC
from ..counts import arc_scores, pair_informations, pair_statistics
from ..dataset import Countable
from ..elimination import Numbers, numbers_as_setting, numeric_columns_of
from ..frames import (
    InFull,
    InParts,
    TrainingData,
    mark_as_averaging,
    prepare_training_data,
)
from ..model import Step
from ..tools.arrays import TOLERANCE, Array, Mask, first_best
from ..tools.checks import OneOf
from ..tools.graphs import max_forest_parents, spanning_tree_posterior
from .arc_rules import Arc, ArcRules, arcs_in_words
from .local_scores import (
    WITH_MISSING_VALUES,
    check_missing_option,
    check_score_and_ess,
    warn_of_fractional_weights,
)
from .networks import network


def edge_posterior(data: Countable, ess: float) -> Array:
    """Return the posterior of each edge over spanning trees, given the class, (n, n)."""
    gains = np.mean([arc_scores(view, "bde", ess).gains for view in data.codings], axis=0)
    return spanning_tree_posterior(gains)[0]


_SCORES = ("loglik", "aic", "bic", "bde")


@mark_as_averaging
def tan_cl(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    score: Literal["loglik", "aic", "bic", "bde"] = "loglik",
    ess: float = 1,
    root: Hashable | None = None,
    features: Iterable[Hashable] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    missing: Literal["available", "em"] = "available",
    numbers: Numbers = None,
) -> BNC:
    """Learn a tree-augmented naive Bayes (TAN) by the Chow-Liu algorithm.

    The class is a parent of every feature, and each feature has at most one
    other feature as a parent. The arcs between features form a maximum-weight
    spanning tree or forest, where the weight of an arc is its contribution to
    `score`. An arc represents dependence given the class, in either direction,
    and not a causal effect.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns except `class_var` are features.
    score : {"loglik", "aic", "bic", "bde"}, default "loglik"
        Decomposable score to maximize. With "loglik", the features form a
        single tree. The other scores omit arcs that lower the score, so the
        result can be a forest or a naive Bayes model.
    ess : float, default 1
        Equivalent sample size of "bde", from 1e-100 to 1e12.
    root : str, optional
        Feature to use as the root of its tree. By default, and for all other
        trees, the root is the first feature of the tree in column order. With
        `lp` and `ess`, the root does not change posteriors.
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Pairs of features, in any order, that are always joined, and pairs that
        are never joined.
    missing : {"available", "em"}, default "available"
        With "available", each pair of features is counted in the rows with both
        values. With "em", structural EM uses all rows, as in `hc`; not with the
        score "bde".
    numbers : {"gaussian", "kernel"} or dict, optional
        Numeric columns to keep as numbers, as in `lp`. A numeric feature is
        never a parent. Its own parent is the feature with the largest mutual
        information given the class under a Gaussian model, for all scores.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    Notes
    -----
    Use "aic" to predict. "bic" keeps fewer arcs, and "loglik", the default of
    R, keeps n − 1 of them, even if features are independent. The page
    :doc:`Formulas </methods>` defines the weight of an arc, which comes from
    the rows with values of both features and the class. "loglik" ranks arcs by
    information per row, as R does, so if values are missing, the result need
    not be the maximum-likelihood tree. Of tied arcs, the first in column order
    is chosen.

    References
    ----------
    .. [1] Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network
       classifiers. Machine Learning 29.
    .. [2] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability
       distributions with dependence trees. IEEE Transactions on Information
       Theory 14.

    Examples
    --------
    With AIC, buying, doors and safety have no other feature as a parent:

    >>> from bnclassify import load_car, modelstring, tan_cl
    >>> modelstring(tan_cl("class", load_car(), score="aic", root="safety"))
    '[class] [buying|class] [doors|class] [safety|class] [maint|buying:class] [persons|safety:class]
     [lug_boot|safety:class]'
    """
    OneOf(_SCORES).check("score", score)
    ess = check_score_and_ess("bde", ess)
    check_missing_option(missing, "available", score)
    data = prepare_training_data(
        dataset,
        (class_var,),
        features,
        rows_needed=missing == "em",
        numeric=numeric_columns_of(numbers),
    )
    coded = tuple([name for name in data.features if name not in data.schema.numeric])
    rules = ArcRules.check(required, forbidden, data.columns, directed=False, apart=class_var)
    rules.check_numbers_are_leaves(data.schema.numeric)
    first = 0 if root is None else coded.index(OneOf(coded, "a feature").check("root", root))
    warn_of_fractional_weights(data, score)
    trace: dict[str, Any] = {}
    settings = (
        {"score": score, "root": root} | rules.recipe_settings() | numbers_as_setting(numbers)
    )
    settings |= {"ess": None if ess == 1 else ess, "features": features}
    if missing == "em":
        if data.schema.numeric:
            raise ValueError(
                "missing must be 'available' with numbers; got 'em'. Discretize the numbers."
            )
        settings["missing"] = missing
        parents, scores = _best_forest_by_em(cast("TrainingData", data), score, first, rules)
        trace |= {"scores": scores, "steps": ()}
    else:
        among = rules.rules_for_columns(coded)
        of_coded = _parents_in_best_forest(
            data.select((*coded, class_var)), score, ess, first, among
        )
        of_numbers = _parents_of_numeric_features(data, rules)
        parents = {name: {**of_coded, **of_numbers}[name] for name in data.features}
    return network(class_var, parents, data.schema, Step("tan_cl", tan_cl, settings), trace)


def _parents_in_best_forest(
    data: Countable, score: str, ess: float, root: int, rules: ArcRules
) -> dict[Hashable, tuple[Hashable, ...]]:
    features = data.features
    if len(features) < 2:
        return dict.fromkeys(features, ())
    views = []
    for view in data.codings:
        pairs = arc_scores(view, score, ess)
        views.append(pairs.information if score == "loglik" else pairs.gains)
    weights = np.asarray(np.mean(views, axis=0))
    keep = np.full_like(weights, True, dtype=bool)
    if score != "loglik":
        # features that are never observed together have no information, and ln 0 in a penalty
        keep = (weights >= -TOLERANCE) & (pairs.rows > 0)
    return parents_in_max_forest(features, weights, keep, root, rules, is_tree=score == "loglik")


def _best_forest_by_em(
    data: TrainingData, score: str, root: int, rules: ArcRules
) -> tuple[dict[Hashable, tuple[Hashable, ...]], tuple[float, ...]]:
    if len(list(data.codings)) > 1:
        raise ValueError(
            "missing must be 'available' with several discretizations; got 'em'. Discretize once, "
            "for example with discretize='mdlp'."
        )
    features, class_column, position = data.features, len(data.features), data.positions

    def positions_of_parents(parents: Mapping[Hashable, Sequence[Hashable]]) -> list[list[int]]:
        of_features = [[position[p] for p in parents[feature]] for feature in features]
        return [*[[*own, class_column] for own in of_features], []]

    # the arcs that are required
    none = np.zeros((class_column, class_column))
    start = parents_in_max_forest(features, none, none > 0, root, rules, is_tree=False)

    def learn_forest(rows: TrainingData, _: object = None) -> list[list[int]]:
        return positions_of_parents(_parents_in_best_forest(rows, score, 1, root, rules))

    found, scores = WITH_MISSING_VALUES["em"](
        data, positions_of_parents(start), learn_forest, score, others=[learn_forest(data)]
    )
    parents = {}
    for feature, (*own, _) in zip(features, found[:-1], strict=True):
        parents[feature] = tuple([features[p] for p in own])
    return parents, tuple(scores)


def _parents_of_numeric_features(
    data: Countable, rules: ArcRules
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each number to the coded feature with the largest mutual information given the class."""
    required, forbidden = rules.required_and_forbidden_masks(data.features)
    coded = [i for i, card in enumerate(data.cards[:-1]) if card]
    numbers = [i for i, card in enumerate(data.cards[:-1]) if not card]
    pairs = [(i, number) for i in coded for number in numbers]
    found = pair_informations(data, pairs, (len(data.features),))
    information = np.where(required, np.inf, -np.inf)  # (from, to)
    for pair, (value, n_rows) in zip(pairs, found, strict=True):
        if n_rows and not forbidden[pair] and not required[pair]:
            information[pair] = value
    parents: dict[Hashable, tuple[Hashable, ...]] = {}
    for number in numbers:
        of_number = information[:, number]
        best = data.columns[int(first_best(of_number))]
        parents[data.columns[number]] = (best,) if of_number.max() > -np.inf else ()
    return parents


def parents_in_max_forest(
    names: tuple[Hashable, ...],
    weights: Array,
    keep: Mask,
    root: int,
    rules: ArcRules,
    *,
    is_tree: bool = True,
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each variable to its parent in the maximum-weight forest that obeys the rules.

    ``weights`` are those of the edges between variables, (n, n), of which those
    to ``keep`` can be used. Required edges are used in any case. If it
    ``is_tree``, forbidden edges must not divide it.
    """
    required, forbidden = rules.required_and_forbidden_masks(names)
    roots = sorted(range(len(names)), key=lambda i: i != root)
    if rules.required:
        n_joined = sum(parent >= 0 for parent in max_forest_parents(weights, required, roots))
        if np.count_nonzero(required) > 2 * n_joined:  # each pair has two entries
            raise ValueError(
                "required must not contain pairs that form a cycle; got "
                f"{arcs_in_words(rules.required)}. Drop one of them."
            )
    # a required edge has a larger weight than any path of others
    raised = np.where(required, 1 + 2 * float(np.abs(weights).max(initial=0.0)), weights)
    parent = max_forest_parents(raised, (keep & ~forbidden) | required, roots)
    n_roots = parent.count(-1)
    if is_tree and rules.forbidden and n_roots > max_forest_parents(weights, keep, roots).count(-1):
        raise ValueError(
            "forbidden must leave a tree over all variables; got "
            f"{arcs_in_words(rules.forbidden)}. Drop some of them."
        )
    return {name: (names[p],) if p >= 0 else () for name, p in zip(names, parent, strict=True)}


def chow_liu(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    root: Hashable | None = None,
    features: Iterable[Hashable] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
) -> BNC:
    """Learn the tree of highest likelihood over all variables (Chow-Liu).

    Of all networks with at most one parent per variable, this one has the
    highest likelihood. The class is a variable like any other and is predicted
    from its neighbors in the tree only. In contrast, `tan_cl` makes the class a
    parent of every feature and learns a tree over the features.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data. All columns become variables.
    root : str, optional
        Root of the tree, by default the class. It does not change the
        likelihood. With `lp` and `ess`, it does not change predictions; with
        `smooth`, it does, because the pseudo-counts differ.
    features : list of str, optional
        Columns to use as features.
    required, forbidden : pairs of str
        Pairs of variables that are always joined, and pairs that are never
        joined, as in `tan_cl`, including pairs with the class.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    Notes
    -----
    Use it for an overview of the dependences in a table; `tan_cl` predicts
    better. An edge contributes I(X;Y), in nats per row, over the rows with both
    values. Variables that are never observed together are not joined. Ties are
    broken as in `tan_cl`.

    References
    ----------
    .. [1] Chow, C. K., Liu, C. N. (1968). Approximating discrete probability
       distributions with dependence trees. IEEE Transactions on Information
       Theory 14.

    Examples
    --------
    >>> from bnclassify import chow_liu, load_car, modelstring
    >>> modelstring(chow_liu("class", load_car()))
    '[class] [buying|class] [maint|class] [doors|class] [persons|class] [lug_boot|class]
     [safety|class]'
    """
    data = prepare_training_data(dataset, (class_var,), features)
    rows = data.in_original_column_order
    names = rows.columns
    rules = ArcRules.check(required, forbidden, names, directed=False)
    first = names.index(
        class_var if root is None else OneOf(names, "a variable").check("root", root)
    )
    pairs = pair_statistics(rows, range(len(names)), None)
    parents = parents_in_max_forest(names, pairs.information, pairs.rows > 0, first, rules)
    settings = {"root": root, "features": features} | rules.recipe_settings()
    return network(class_var, parents, rows.schema, Step("chow_liu", chow_liu, settings))
