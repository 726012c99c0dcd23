"""Whether the population has changed since training: stability of the features and of the score."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_has_one_class_variable, check_has_rows, read_for_model
from ..additive.effect_table import LEAST_MASS, UNSEEN, EffectTable
from ..dataset import MISSING, Columns, Dataset, as_floats, rounding_of_numbers
from ..frames import AnyTable, labels_and_codes_of_numbers, open_rows
from ..model import Model, Tally, check_counted
from ..networks.backoff_prior import NestedCounts
from ..numbers import points_between
from ..prediction import weigh_evidence
from ..tools.arrays import Array, Mask
from ..tools.graphs import descending_order
from ..tools.messages import listed, shown, warn

SCORE = "(score)"
"""The row of the log odds of a class, or of the predicted class."""

_GROUPS = 10  # intervals of a number and of the score
_SHARES = np.arange(1, _GROUPS) / _GROUPS
_HALF = 0.5  # pseudo-count of each value
_TINY = 1e-9

_COLUMNS = (
    "psi",
    "measured",
    "missing_before",
    "missing_now",
    "unseen_before",
    "unseen_now",
    "outside",
)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Rows, or what a model contains about those of training.

    By column: ``levels`` are the weights of the levels of the model, (levels,),
    and ``labels`` those of labels that it merges or does not use; ``numbers``
    are those of all rows, NaN if missing. ``odds`` are (classes or 1, 1 +
    features), means over rows. ``scores`` are (rows,), log odds or the codes of
    the predicted classes, None if only the model is known.
    """

    levels: Mapping[Hashable, Array]
    missing: Mapping[Hashable, float]
    unseen: Mapping[Hashable, float]
    odds: Array
    weights: Array
    numbers: Mapping[Hashable, Array] = field(default_factory=dict)
    labels: Mapping[Hashable, Mapping[Hashable, float]] = field(default_factory=dict)
    scores: Array | None = None


def drift(x: Model, newdata: AnyTable, dataset: AnyTable | None = None) -> pd.DataFrame:
    """Measure how far each feature of new rows differs from training data.

    Parameters
    ----------
    x : BNC or another model
        Fitted model of one class variable.
    newdata : pandas.DataFrame, Dataset or another frame
        New rows, with or without the class.
    dataset : pandas.DataFrame, Dataset or another frame, optional
        Training data. Pass them if you have them: without them, numeric columns
        are measured in the intervals of the model and not in tenths. Sums of
        effects, scorecards and networks contain the shares of intervals and
        levels, networks in the rows in which parents are known; other models
        need `dataset`. Some results also need it: the last
        row, merged and dropped labels, the log odds of networks and of sums
        with effects of pairs, and the shares of missing values of networks
        without a level for them, and of the sums and scorecards that are made
        of such networks.

    Returns
    -------
    pandas.DataFrame
        One row per feature, and per column of the training data that the model
        dropped, the largest change first, and a last row ``"(score)"``.
        Columns:

        - ``psi``, the population stability index of the values
        - ``measured``, the values that it counts: numbers by "tenths" of the
          training rows, by the "intervals" of the model or by their "range"
          alone, "labels", or "nothing"
        - ``missing_before``, ``missing_now``, ``unseen_before``,
          ``unseen_now``, the shares of missing values, and of labels that did
          not occur in training
        - ``outside``, the share of new rows with a number outside the range of
          the training data; NaN for other columns
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

    Warns
    -----
    UserWarning
        If `dataset` is not given, and columns can change without an effect on
        their index, because the model has one interval of them or none.

    Notes
    -----
    With p and q the shares of a value in training and now, the index is Σ (q −
    p) ln(q / p) over the values [1]_. Missing and unseen values count as
    values. Each count has a pseudo-count of one half. Without `dataset`,
    missing values of training rows contribute their effect in the table, also
    in rows that lack more values than five rows do, in which `predict` treats
    them as unknown. Numbers are counted in tenths of `dataset`, where a number
    that a tenth of the rows has is an interval of its own, and labels before
    rare ones are merged. Without `dataset`, they are counted in the intervals
    of the model (more than ten are
    joined to ten with about equal shares in training), and numbers below and
    above the range of the training data are two further values. By a rule of
    thumb, below 0.1 a change is small, and above 0.25 it is large; small
    samples have larger indices by chance, about (values − 1) (1/n + 1/N) for n
    new and N training rows.

    References
    ----------
    .. [1] Yurdakul, B. (2018). Statistical properties of population stability
       index. Western Michigan University.

    Examples
    --------
    >>> from bnclassify import bnc, drift, load_pima
    >>> pima = load_pima()
    >>> model = bnc(class_var="diabetes", dataset=pima)
    >>> older = pima[pima["age"] > 30]
    >>> drift(model, older, pima)[["psi", "log_odds"]].round(1).iloc[[0, 1, -1]]
                 psi  log_odds
    feature
    age          2.6       0.4
    pregnancies  0.5       0.1
    (score)      0.4       0.8
    """
    model = check_has_one_class_variable(x)
    labels = model.known_levels[-1]
    if len(labels) < 2:
        raise ValueError(
            "x must have a class with at least two labels, because drift compares their log odds; "
            f"got {shown(model.class_var)} with {listed(labels)} alone. Fit it to rows of "
            "other labels, too."
        )
    now = _sample_of_rows(model, newdata, "newdata")
    if dataset is None:
        then = _sample_of_training(model)
    else:
        then = _sample_of_rows(model, dataset, "dataset")
    names = [*model.features, *_dropped_columns(model)]
    table = pd.DataFrame(
        [_changes_of_column(model, name, then, now) for name in names],
        pd.Index(names, name="feature", tupleize_cols=False),
        _COLUMNS,
    )
    unmeasured = table.index[table["measured"].isin(["range", "nothing"])].tolist()
    if dataset is None and unmeasured:
        warn(
            f"x does not contain the shares of values of {listed(unmeasured)}, because it does not "
            "distinguish them, so drift measures numbers outside the range of training alone. "
            "Pass the training data as dataset."
        )
    columns = ["log_odds"] if len(labels) == 2 else [f"log_odds {label}" for label in labels]
    change = now.odds - then.odds
    for column, own in zip(columns, change, strict=True):
        # Columns that the model dropped contribute nothing.
        table[column] = np.append(own[1:], np.zeros(len(names) - len(model.features)))
    table = table.iloc[descending_order(table["psi"].fillna(-1.0).to_numpy())]
    score: dict[str, Any] = dict(zip(columns, change.sum(axis=1), strict=True))
    score["psi"] = np.nan
    if then.scores is not None and now.scores is not None:
        many = len(then.odds)
        ends = np.arange(many - 1.0) if many > 1 else points_at_tenths(then.scores, then.weights)
        before = _weights_in_intervals(ends, then.scores, then.weights)
        after = _weights_in_intervals(ends, now.scores, now.weights)
        score["psi"] = _stability_index(before, after)
    score["measured"] = "tenths" if len(labels) == 2 else "labels"
    last = pd.DataFrame(score, index=pd.Index([SCORE], name="feature")).reindex(
        columns=table.columns
    )
    result = pd.concat([table, last])
    result.attrs["target"] = labels[-1] if len(labels) == 2 else None
    return result


def _dropped_columns(x: Model) -> list[Hashable]:
    """Return the columns of the training data that are not variables of the model."""
    return [name for name in x.training_columns if name not in x.variables]


def _sample_of_rows(x: Model, rows: AnyTable, argument: str) -> _Sample:
    opened = open_rows(rows, argument)
    raw = check_has_rows(read_for_model(x, opened, x.features, argument), argument)
    raw = raw.with_positive_weights()
    data = x.preparation.prepared_data(raw)
    weights, placed = data.row_weights, x.rows_to_score(data, "missing").codes
    names = x.known_levels[-1]
    found = []
    for target in names[1:] if len(names) == 2 else names:
        against = [label for label in names if label != target]
        evidence = weigh_evidence(x, data, target, against, "missing", argument="newdata")
        order = np.append(0, 1 + np.argsort(evidence.order))
        found.append(evidence.log_odds[:, order])
    parts = np.stack(found)
    totals: Array = parts.sum(axis=2)
    # 9: digits of scores, so that equal rows have equal scores
    scores = totals[0].round(9) if len(totals) == 1 else totals.argmax(axis=0).astype(float)
    levels, labels = dict[Hashable, Array](), dict[Hashable, dict[Hashable, float]]()
    missing, unseen = dict[Hashable, float](), dict[Hashable, float]()
    numbers = {name: as_floats(values) for name, values in data.numbers.items()}
    merged = x.merger.columns
    for i, (name, known) in enumerate(zip(x.features, x.known_levels, strict=False)):
        # rows that lack a value, and rows with a value that was not seen in training
        gap: Mask = np.less(data.codes[data.positions[name]], 0)
        if name in data.numbers:
            gap = np.isnan(as_floats(data.numbers[name]))
        strange: Mask = np.less(placed[i], 0) & ~gap
        for label, mask in ((MISSING, gap), (UNSEEN, strange)):
            if label in known:
                mask |= np.equal(placed[i], list(known).index(label))
        missing[name] = float(weights[gap].sum() / weights.sum())
        unseen[name] = float(weights[strange].sum() / weights.sum())
        codes = np.where(gap | strange, 0, placed[i].astype(np.intp) + 1)
        levels[name] = np.bincount(codes, weights, len(known) + 1)[1:].astype(float)
        if name in merged:
            labels[name] = _weights_of_labels(raw, name)
    for name in _dropped_columns(x):
        if name not in opened.columns:
            continue
        try:
            column = opened.read(Columns([name], raw={name: False}))
        except (TypeError, ValueError):  # a column that a model does not need
            continue
        column = column.with_positive_weights()
        if name in column.numbers and name in x.discretizer.cuts:
            numbers[name] = as_floats(column.numbers[name])
            gap = np.isnan(numbers[name])
        else:
            if name in column.numbers:
                coded = labels_and_codes_of_numbers(column.numbers[name], ())
                column = column.with_codes({name: coded})
            labels[name], gap = _weights_of_labels(column, name), column.codes[0] < 0
        missing[name] = float(weights[gap].sum() / weights.sum())
    odds = np.average(parts, axis=1, weights=weights)
    return _Sample(levels, missing, unseen, odds, weights, numbers, labels, scores)


def _weights_of_labels(data: Dataset, name: Hashable) -> dict[Hashable, float]:
    counts = data.level_weights(name)
    return dict(zip(data.levels[data.positions[name]], counts.tolist(), strict=True))


def _sample_of_training(x: Model) -> _Sample:
    """Return what a model contains about its training data, or raise.

    Shares of missing values are NaN if they are unknown.
    """
    n, many = len(x.features), len(x.known_levels[-1])
    odds, lacking = np.full((1 if many == 2 else many, 1 + n), np.nan), [np.nan] * n
    tally = x.learned.get("counts")
    if isinstance(x, EffectTable) and x.shares:
        counts = [share * 1000.0 for share in x.shares]  # of training data of unknown size
        if x.trained_on is not None:  # without the pseudo-counts
            sizes = [x.trained_on.size + _HALF * len(share) for share in x.shares]
            own_sizes = zip(x.shares, sizes, strict=True)
            counts = [np.maximum(share * size - _HALF, 0.0) for share, size in own_sizes]
        if many == 2 and set(x.parent_of_each_feature) <= {None} and not x.pairs:
            pairs = zip(counts, x.tables, strict=True)
            constant = x.constant + x.class_shift
            logs = np.stack([constant, *[own @ table / own.sum() for own, table in pairs]])
            odds = (logs[:, 1] - logs[:, 0])[None]
        # Tables of networks without a level for missing values do not know their share.
        lacking = [
            float(own[-1]) if share[-1] > 2 * LEAST_MASS else np.nan
            for own, share in zip(counts, x.shares, strict=True)
        ]
        counts = [own[:-1] for own in counts]
    elif isinstance(tally, Tally) and x.network is x and not x.densities:
        counts_of = {}
        families = check_counted(x).properties_to_agree["families"]
        for (v, *_), own in zip(families, tally.counts, strict=True):
            own = own.level_weights if isinstance(own, NestedCounts) else np.asarray(own, float)
            counts_of[v] = own.reshape(len(own), -1).sum(axis=1)
        counts = [counts_of[v] for v in x.features]
    else:
        raise ValueError(
            f"dataset must be the training data, because a model such as {x.type_in_words} does "
            "not contain the shares of values. Call drift(x, newdata, dataset)."
        )
    levels, missing, unseen = dict[Hashable, Array](), dict[Hashable, float](), {}
    for name, labels, own, gap in zip(x.features, x.known_levels, counts, lacking, strict=False):
        is_gap = np.array([label == MISSING for label in labels], dtype=bool)
        is_unseen = np.array([label == UNSEEN for label in labels], dtype=bool)
        known_gap = float(np.nan_to_num(gap)) + float(own[is_gap].sum())
        total = float(own[~is_gap].sum()) + known_gap
        is_unknown = np.isnan(gap) and not is_gap.any()
        missing[name] = known_gap / total if total and not is_unknown else np.nan
        unseen[name] = float(own[is_unseen].sum()) / total if total else 0.0
        levels[name] = np.where(is_gap | is_unseen, 0.0, own)
    size = 1.0 if x.trained_on is None else x.trained_on.size
    return _Sample(levels, missing, unseen, odds, np.array([size]))


def _changes_of_column(x: Model, name: Hashable, then: _Sample, now: _Sample) -> tuple[Any, ...]:
    """Return the row of the result for a column, without log odds, as in ``_COLUMNS``."""
    missing = np.array([one.missing.get(name, np.nan) for one in (then, now)])
    unseen = np.array([one.unseen.get(name, 0.0) for one in (then, now)])
    low, high = x.training_ranges.get(name, (np.nan, np.nan))
    if name in then.numbers and not np.isnan(then.numbers[name]).all():
        low, high = np.nanmin(then.numbers[name]), np.nanmax(then.numbers[name])
    margin = rounding_of_numbers([low, high])
    low, high = low - margin, high + margin
    has_range = name in now.numbers and low <= high
    sides: Array = np.zeros(3)  # weights of new rows below, within and above the range
    if has_range:
        sides = _weights_in_intervals(np.array([low, high]), now.numbers[name], now.weights)
    if name in now.numbers and name in then.numbers:
        measured, ends = "tenths", points_at_tenths(then.numbers[name], then.weights)
        tables = [
            _weights_in_intervals(ends, one.numbers[name], one.weights) for one in (then, now)
        ]
    elif name in now.labels and name in then.labels:
        measured = "labels"
        known = [label for label, weight in then.labels[name].items() if weight > 0]
        tables = [
            np.array([one.labels[name].get(label, 0.0) for label in known]) for one in (then, now)
        ]
        others = sum(now.labels[name].values()) - float(tables[1].sum())
        # labels of training rows are counted, also those that the model places as unseen
        unseen = np.array([0.0, others / float(now.weights.sum())])
    elif name in x.discretizer.cuts and (name in then.levels or name in now.numbers):
        n = len(x.discretizer.cuts[name]) + 1
        measured = "intervals" if n > 1 else "range" if has_range else "nothing"
        before = then.levels.get(name, then.weights)[:n]
        after = now.levels.get(name, np.array([sides.sum()]))[:n]
        if len(before) > _GROUPS and before.any():
            middles: Array = (np.cumsum(before) - before / 2) / before.sum()
            groups = np.searchsorted(_SHARES, middles)
            before, after = (
                np.bincount(groups, own, _GROUPS).astype(float) for own in (before, after)
            )
        inside: Array = after.copy()
        inside[0] -= sides[0]
        inside[-1] -= sides[2]
        tables = [np.array([0.0, *before, 0.0]), np.array([sides[0], *inside.clip(0), sides[2]])]
    elif name in then.levels:
        measured, tables = "labels", [then.levels[name], now.levels[name]]
    else:
        measured, tables = "nothing", []
    gaps = np.array([missing, unseen])
    gaps = np.where(np.isnan(gaps).any(axis=1, keepdims=True), 0.0, gaps)
    index = []
    for weights, shares, one in zip(tables, gaps.T, (then, now), strict=False):
        known_share = 1 - float(shares.sum())
        # If nothing is known, the weight is that of the rows.
        total = weights.sum() / known_share if known_share > _TINY else one.weights.sum()
        index.append(np.append(weights, float(total) * shares))
    psi = _stability_index(*index) if index else np.nan
    outside = (sides[0] + sides[2]) / now.weights.sum() if has_range else np.nan
    return psi, measured, *missing, *unseen, outside


def points_at_tenths(numbers: Array, weights: Array) -> Array:
    """Return points that divide numbers into ten intervals with about equal weights.

    A number with a tenth of the weight or more has an interval of its own, and
    the other numbers have the rest of the ten. NaN are left out.
    """
    known = ~np.isnan(numbers) & (weights > 0)
    values, places = np.unique(numbers[known], return_inverse=True)
    masses = np.bincount(places, weights[known], len(values))
    is_frequent: Mask = masses >= masses.sum() / _GROUPS * (1 - _TINY)
    frequent, others = np.flatnonzero(is_frequent), np.flatnonzero(~is_frequent)
    last = [*(frequent - 1), *frequent]  # positions of the largest values of intervals
    n = max(_GROUPS - len(frequent), 1)
    if len(others):
        sums = masses[others].cumsum()
        at = np.searchsorted(sums, np.arange(1, n) / n * float(sums[-1]) * (1 - _TINY))
        last += others[at].tolist()
    chosen = np.unique(np.array(last, dtype=np.intp))
    chosen = chosen[(chosen >= 0) & (chosen < len(values) - 1)]
    return points_between(values[chosen], values[chosen + 1])


def _weights_in_intervals(ends: Array, numbers: Array, weights: Array) -> Array:
    """Return the weight of numbers in each interval; NaN are left out."""
    known = ~np.isnan(numbers)
    places = np.searchsorted(ends, numbers[known])
    return np.bincount(places, weights[known], len(ends) + 1).astype(float)


def _stability_index(before: Array, after: Array) -> float:
    """Return the population stability index of two tables of weights."""
    used = (before > 0) | (after > 0)
    p: Array = (before[used] + _HALF) / (before[used] + _HALF).sum()
    q: Array = (after[used] + _HALF) / (after[used] + _HALF).sum()
    return float(((q - p) * np.log(q / p)).sum())
