"""Whether the population has changed since training: stability of the features and of the score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..additive.effect_table import UNSEEN, EffectTable
from ..base.arrays import Array, Codes, Mask, weights_at
from ..base.graphs import descending_order
from ..base.messages import listed, needs_rows_error, shown
from ..frames.dataset import Dataset
from ..frames.numeric import as_floats
from ..frames.opening import InFull, is_partitioned
from ..frames.schema import MISSING
from ..inference.evidence import weigh_evidence
from ..model.arguments import check_fitted, check_has_rows, encode_for_model
from ..model.counted import check_counted
from ..model.model import Model
from ..model.recipes import Tally

SCORE = "(score)"
"""The row of the log odds of a class, or of the predicted class."""

_GROUPS = 10  # of neighboring intervals, and of the score
_SHARES = np.arange(1, _GROUPS) / _GROUPS
_HALF = 0.5  # pseudo-count of each value
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class _Distributions:
    """A description of rows: values, missing and unseen ones, and parts of the log odds.

    ``columns`` are weights of levels, (levels,), or numbers of a density,
    (rows,), NaN if missing. ``odds`` are (classes or 1, 1 + features): means
    over rows. ``scores`` are (rows,), log odds or the codes of the predicted
    classes, None if they are not known.
    """

    columns: list[Array]
    missing: Array
    unseen: Array
    odds: Array
    scores: Array | None = None
    weights: Array | None = None


def drift(x: Model, newdata: InFull, dataset: InFull | None = None) -> pd.DataFrame:
    """Measure how far each feature of new rows differs from training data.

    Parameters
    ----------
    x : BNC or another model
        Fitted model of one class variable.
    newdata : pandas.DataFrame, Dataset or another frame
        New rows, with or without the class.
    dataset : pandas.DataFrame, Dataset or another frame, optional
        Training data. Sums of effects, scorecards and networks contain the
        shares of values; other models need `dataset`. Some results also need
        it: the last row, the log odds of networks and of sums with effects of
        pairs, and the shares of missing values of networks without a level for
        them.

    Returns
    -------
    pandas.DataFrame
        One row per feature, the largest change first, and a last row
        ``"(score)"``. Columns:

        - ``psi``, the population stability index of the values
        - ``missing_before``, ``missing_now``, ``unseen_before``,
          ``unseen_now``, the shares of missing values, and of labels that did
          not occur in training
        - ``log_odds``, the change of the mean contribution in `explain`; with
          more than two classes, one column ``log_odds <label>`` per class
          against all others

        The row ``"(score)"`` has the index of the log odds in tenths of the
        training data or, with more than two classes, of the predicted classes,
        and the change of the mean log odds. Results that need `dataset` are NaN
        without it. ``attrs["target"]`` is the class of ``log_odds``.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `newdata` is empty, `x` has several class variables, or it does not
        contain the shares of values.

    Notes
    -----
    With p and q the shares of a value in training and now, the index is Σ (q −
    p) ln(q / p) over the values [1]_. Missing and unseen values count as
    values. Each count has a pseudo-count of one half. More than ten intervals
    are joined to ten with about equal shares in training. By a rule of thumb,
    below 0.1 a change is small, and above 0.25 it is large; small samples have
    larger indices by chance, about (values − 1) (1/n + 1/N) for n new and N
    training rows.

    References
    ----------
    .. [1] Yurdakul, B. (2018). Statistical properties of population stability
       index. Western Michigan University.

    Examples
    --------
    >>> from bnclassify import bnc, drift, load_pima
    >>> pima = load_pima()
    >>> model = bnc(class_var="diabetes", dataset=pima, additive=True)
    >>> older = pima[pima["age"] > 30]
    >>> drift(model, older, pima)[["psi", "log_odds"]].round(1).iloc[[0, 1, -1]]
                 psi  log_odds
    feature
    age          2.4       0.4
    pregnancies  0.5       0.1
    (score)      0.4       0.9
    """
    model = check_fitted(x)
    if not model.one_class:
        raise ValueError(
            "x must have one class variable; got several. Pass a model of one of them."
        )
    labels = model.known_levels[-1]
    if len(labels) < 2:
        raise ValueError(
            "x must have a class with at least two labels, because drift compares their log odds; "
            f"got {shown(model.class_var)} with {listed(labels)} alone. Fit it to rows of "
            "other labels, too."
        )
    now = _distributions_in_rows(model, newdata, "newdata")
    then = (
        _distributions_in_training_data(model)
        if dataset is None
        else _distributions_in_rows(model, dataset, "dataset")
    )
    gaps = np.array([[one.missing, one.unseen] for one in (then, now)])
    features = range(len(model.features))
    stability = [_stability_of_feature(model, i, then, now, gaps[..., i]) for i in features]
    table = pd.DataFrame(
        {
            "psi": stability,
            "missing_before": then.missing,
            "missing_now": now.missing,
            "unseen_before": then.unseen,
            "unseen_now": now.unseen,
        },
        index=pd.Index(model.features, name="feature", tupleize_cols=False),
    )
    columns = ["log_odds"] if len(labels) == 2 else [f"log_odds {label}" for label in labels]
    change = now.odds - then.odds
    table = table.assign(**dict(zip(columns, change[:, 1:], strict=True)))
    table = table.iloc[descending_order(table["psi"].fillna(-1.0).to_numpy())]
    score = {
        "psi": _stability_of_scores(then, now),
        **dict(zip(columns, change.sum(axis=1), strict=True)),
    }
    last = pd.DataFrame(score, index=pd.Index([SCORE], name="feature")).reindex(
        columns=table.columns
    )
    result = pd.concat([table, last])
    result.attrs["target"] = labels[-1] if len(labels) == 2 else None
    return result


def _distributions_in_rows(x: Model, rows: InFull, argument: str) -> _Distributions:
    if is_partitioned(rows):
        raise needs_rows_error(argument, in_turn=False)
    data = check_has_rows(
        encode_for_model(x, rows, x.features, argument), argument
    ).with_positive_weights()
    weights = data.row_weights
    placed, total = x.rows_to_score(data, "missing").codes, float(weights.sum())
    values, missing, unseen = list[Array](), list[float](), list[float]()
    for i, (name, labels) in enumerate(zip(x.features, x.known_levels, strict=False)):
        gap, strange = _rows_missing_and_unseen(data, name, placed[i], labels)
        known = ~gap & ~strange
        if name in x.densities:
            values.append(np.where(known, as_floats(data.numbers[name]), np.nan))
        else:
            values.append(np.bincount(placed[i][known], weights[known], len(labels)).astype(float))
        missing.append(float(weights[gap].sum()) / total)
        unseen.append(float(weights[strange].sum()) / total)
    parts = _log_odds_by_feature(x, data)
    totals: Array = parts.sum(axis=2)
    # 9: digits of scores, so that equal rows have equal scores
    scores = totals[0].round(9) if len(totals) == 1 else totals.argmax(axis=0).astype(float)
    odds = np.average(parts, axis=1, weights=weights)
    return _Distributions(values, np.array(missing), np.array(unseen), odds, scores, weights)


def _rows_missing_and_unseen(
    data: Dataset, name: Hashable, codes: Codes, labels: Sequence[Hashable]
) -> tuple[Mask, Mask]:
    """Return which rows lack a value of a feature, and which have one not seen in training."""
    raw: Codes = data.codes[data.positions[name]]
    gap: Mask = np.less(raw, 0)
    if name in data.numbers:
        gap = np.isnan(as_floats(data.numbers[name]))
    strange: Mask = np.less(codes, 0) & ~gap
    for label, mask in ((MISSING, gap), (UNSEEN, strange)):
        if label in labels:
            mask |= np.equal(codes, list(labels).index(label))
    return gap, strange


def _log_odds_by_feature(x: Model, data: Dataset) -> Array:
    """Return the log odds of the class and of features, for the last of two classes, or each."""
    names = x.known_levels[-1]
    pairs = (
        [(names[1], names[0])]
        if len(names) == 2
        else [(a, [b for b in names if b != a]) for a in names]
    )
    found = []
    for target, against in pairs:
        evidence = weigh_evidence(x, data, target, against, "missing", argument="newdata")
        order = np.append(0, 1 + np.argsort(evidence.order))
        found.append(evidence.log_odds[:, order])
    return np.stack(found)


def _distributions_in_training_data(x: Model) -> _Distributions:
    """Return the description of the training data that a model contains, or raise."""
    n, many = len(x.features), len(x.known_levels[-1])
    odds = np.full((1 if many == 2 else many, 1 + n), np.nan)
    if isinstance(x, EffectTable) and x.shares:
        counts = [_counts_from_shares(x, share) for share in x.shares]
        if many == 2 and set(x.parent_of_each_feature) <= {None} and not x.pairs:
            pairs = zip(counts, x.tables, strict=True)
            logs = np.stack([x.constant, *[own @ table / own.sum() for own, table in pairs]])
            odds = (logs[:, 1] - logs[:, 0])[None]
        return _distributions_from_counts(
            x, [own[:-1] for own in counts], [own[-1] for own in counts], odds
        )
    tally = x.learned.get("counts")
    if not isinstance(tally, Tally) or x.network is not x or x.densities:
        raise ValueError(
            f"dataset must be the training data, because a model such as {x.type_in_words} does "
            "not contain the shares of values. Call drift(x, newdata, dataset)."
        )
    families = check_counted(x).properties_to_agree["families"]
    counts_of = {}
    for (v, *_), counts in zip(families, tally.counts, strict=True):
        counts_of[v] = np.asarray(counts, float).reshape(len(counts), -1).sum(axis=1)
    values = [counts_of[v] for v in x.features]
    return _distributions_from_counts(x, values, [np.nan] * n, odds)


def _counts_from_shares(x: EffectTable, share: Array) -> Array:
    """Return the weights of the values of a feature, and of missing ones, without pseudo-counts."""
    if x.trained_on is None:
        return share * 1000.0  # rows of training data of unknown size
    return np.maximum(share * (x.trained_on.size + _HALF * len(share)) - _HALF, 0.0)


def _distributions_from_counts(
    x: Model, counts: list[Array], lacking: list[float], odds: Array
) -> _Distributions:
    """Return a sample with the weights of levels, and of missing values, NaN if unknown."""
    values, missing, unseen = list[Array](), list[float](), list[float]()
    for labels, own, gap in zip(x.known_levels, counts, lacking, strict=False):
        is_gap = np.array([label == MISSING for label in labels], dtype=bool)
        is_unseen = np.array([label == UNSEEN for label in labels], dtype=bool)
        if is_gap.any():
            gap = float(np.nan_to_num(gap) + own[is_gap].sum())
        total = float(own[~is_gap].sum()) + float(np.nan_to_num(gap))
        missing.append(gap / total if total else np.nan)
        unseen.append(float(own[is_unseen].sum()) / total if total else 0.0)
        values.append(np.where(is_gap | is_unseen, 0.0, own))
    return _Distributions(values, np.array(missing), np.array(unseen), odds)


def _stability_of_feature(
    x: Model, i: int, then: _Distributions, now: _Distributions, gaps: Array
) -> float:
    """Return the index of the values of a feature, given the shares of missing and unseen ones."""
    name, before = x.features[i], then.columns[i]
    tables = [before, now.columns[i]]
    if name in x.densities:
        ends = _ends_of_tenths(before, then.weights)
        tables = [_weights_in_intervals(ends, one.columns[i], one.weights) for one in (then, now)]
    elif name in x.cuts and len(before) > _GROUPS and before.any():
        middles: Array = (np.cumsum(before) - before / 2) / before.sum()
        groups = np.searchsorted(_SHARES, middles)
        tables = [np.bincount(groups, own, _GROUPS).astype(float) for own in tables]
    shares: Array = np.where(np.isnan(gaps).any(axis=0), 0.0, gaps)  # of missing and unseen values
    parts = zip(tables, shares, (then, now), strict=True)
    return _stability_index(*[_append_missing_and_unseen(*part) for part in parts])


def _append_missing_and_unseen(values: Array, gaps: Array, rows: _Distributions) -> Array:
    """Return weights of values, and those of missing and unseen ones, from their shares."""
    known = 1 - float(gaps.sum())
    if known > _TINY:
        total = float(values.sum()) / known
    else:  # nothing is known
        total = 1.0 if rows.weights is None else float(rows.weights.sum())
    return np.append(values, total * gaps)


def _ends_of_tenths(numbers: Array, weights: Array | None) -> Array:
    """Return the inner ends of intervals with equal weights, except for ties; NaN are left out."""
    weights = np.ones(len(numbers)) if weights is None else weights
    known = np.flatnonzero(~np.isnan(numbers) & (weights > 0))
    if not len(known):
        return np.empty(0)
    order = known[numbers[known].argsort(kind="stable")]
    sums = weights[order].cumsum()
    at = np.searchsorted(sums, _SHARES * float(sums[-1]) * (1 - _TINY))
    return np.unique(numbers[order[at]])


def _weights_in_intervals(ends: Array, numbers: Array, weights: Array | None) -> Array:
    """Return the weight of numbers in each interval; NaN are left out."""
    known = ~np.isnan(numbers)
    places = np.searchsorted(ends, numbers[known])
    return np.bincount(places, weights_at(weights, known), len(ends) + 1).astype(float)


def _stability_index(before: Array, after: Array) -> float:
    """Return the population stability index of two tables of weights."""
    used = (before > 0) | (after > 0)
    p: Array = (before[used] + _HALF) / (before[used] + _HALF).sum()
    q: Array = (after[used] + _HALF) / (after[used] + _HALF).sum()
    return float(((q - p) * np.log(q / p)).sum())


def _stability_of_scores(then: _Distributions, now: _Distributions) -> float:
    """Return the index of the log odds in tenths of those before, or of the predicted classes."""
    if then.scores is None or now.scores is None:
        return float("nan")
    many = len(then.odds)
    ends = np.arange(many - 1.0) if many > 1 else _ends_of_tenths(then.scores, then.weights)
    before = _weights_in_intervals(ends, then.scores, then.weights)
    return _stability_index(before, _weights_in_intervals(ends, now.scores, now.weights))
