"""What a model of several class variables says of rows: the verbs `predict`, `loglik` and `cloglik` on it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, first_best, log_normalize
from ..base.messages import shown
from ..frames.matching import match, scoring_classes
from ..frames.rows import Row, encode_new
from ..frames.schema import Dataset
from ..functions.prediction import Wish, predict_kind
from ..functions.scores import sum_log_joint, sum_log_posterior
from ..model.questions import values
from .chain_inference import follow, log_conditional_at
from .chains import Chain
from .class_inference import likeliest, log_evidence, log_joint_at, log_marginals
from .maode import MAODE
from .mbc import MBC, MultiModel

_PROBABILITY = "probability"


@predict_kind.register(MultiModel)
def _(x: MultiModel, newdata: pd.DataFrame | Dataset | Row, wish: Wish) -> pd.DataFrame:
    wish.refuse("is defined for one class variable; predict each by a model of its own", "prior", "costs")
    if not isinstance(x, Chain):
        wish.refuse("is defined for a chain, which chain(class_vars, dataset) learns", "greedy")
    if wish.joint and wish.prob and _PROBABILITY in x.class_vars:
        raise ValueError(f"prob: a class variable is called {shown(_PROBABILITY)} already; rename it")
    codes, index = match_features(x, newdata, wish.unseen)
    if wish.joint:
        best = follow(x, codes)[1] if wish.greedy and isinstance(x, Chain) else likeliest(x, codes)
        labels = label_frame(x, best.codes, index)
        return labels.assign(**{_PROBABILITY: np.exp(best.logs)}) if wish.prob else labels
    marginals = follow(x, codes)[0] if wish.greedy and isinstance(x, Chain) else log_marginals(x, codes)
    if wish.prob:
        return _posterior_frame(x, marginals, index)
    return label_frame(x, [first_best(logs) for logs in marginals], index)


def match_features(
    x: MultiModel, newdata: pd.DataFrame | Dataset | Row, unseen: str
) -> tuple[Codes, pd.Index[Any]]:
    """Return the codes of the features in new rows, and the index of the rows."""
    levels = values(x)
    feature_levels = {name: levels[name] for name in x.features}
    data = encode_new(newdata, feature_levels)
    if not feature_levels:
        return np.empty((0, len(data)), dtype=np.int8), data.index
    return match(data, x.features, tuple(feature_levels.values()), unseen=unseen), data.index


def label_frame(x: MultiModel, codes: Sequence[Codes] | Codes, index: pd.Index[Any]) -> pd.DataFrame:
    """Return labels from codes, a categorical column for each class variable."""
    columns = {}
    for j, (class_codes, labels) in enumerate(zip(codes, x.class_levels, strict=True)):
        dtype = pd.CategoricalDtype(pd.Index(list(labels), tupleize_cols=False))
        columns[j] = pd.Series(pd.Categorical.from_codes(class_codes, dtype=dtype), index=index)
    return pd.DataFrame(columns, index=index).set_axis(_names(x.class_vars), axis="columns")


def _names(class_vars: Sequence[Hashable]) -> pd.Index[Any]:
    return pd.Index(list(class_vars), tupleize_cols=False)


def _posterior_frame(x: MultiModel, marginals: Sequence[Array], index: pd.Index[Any]) -> pd.DataFrame:
    """Return posteriors, a column for each class variable and label."""
    pairs = [
        (name, label) for name, labels in zip(x.class_vars, x.class_levels, strict=True) for label in labels
    ]
    columns = pd.MultiIndex.from_arrays(
        [pd.Index(list(part), dtype=object, tupleize_cols=False) for part in zip(*pairs, strict=True)]
    )
    shares = np.hstack([np.exp(log_normalize(logs)) for logs in marginals])
    return pd.DataFrame(shares, index=index, columns=columns)


def known_labels(x: MultiModel, dataset: pd.DataFrame | Dataset) -> tuple[Codes, Codes, Array | None]:
    """Return the codes of features and of class variables, none of which is missing, and weights."""
    data = encode_new(dataset, values(x), "dataset")
    labels = [
        scoring_classes(data, name, levels) for name, levels in zip(x.class_vars, x.class_levels, strict=True)
    ]
    n = len(x.features)
    codes = match(data, x.features, (x.levels or ())[:n]) if n else np.empty((0, len(data)), dtype=np.int8)
    return codes, np.array(labels, dtype=np.intp), data.weights


@sum_log_joint.register
def _(x: MultiModel, dataset: pd.DataFrame | Dataset) -> float:
    codes, labels, weights = known_labels(x, dataset)
    return _weigh(log_joint_at(x, codes, labels), weights)


@sum_log_posterior.register(MBC)
@sum_log_posterior.register(MAODE)
def _(x: MBC | MAODE, dataset: pd.DataFrame | Dataset) -> float:
    codes, labels, weights = known_labels(x, dataset)
    evidence = log_evidence(x, codes)
    possible = evidence > -np.inf
    posteriors = np.where(possible, log_joint_at(x, codes, labels) - np.where(possible, evidence, 0.0), 0.0)
    uniform = -float(np.log(x.class_cards).sum())
    return _weigh(np.where(possible, posteriors, uniform), weights)


@sum_log_posterior.register
def _(x: Chain, dataset: pd.DataFrame | Dataset) -> float:
    codes, labels, weights = known_labels(x, dataset)
    return _weigh(log_conditional_at(x, codes, labels), weights)


def _weigh(logs: Array, weights: Array | None) -> float:
    """Return the sum over rows, each as often as it counts."""
    return float(logs.sum()) if weights is None else float(logs[weights > 0] @ weights[weights > 0])
