"""A model in one small table: its facts and performance, of all rows or in groups of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import (
    check_fitted,
    check_has_rows,
    check_model,
    encode_for_model,
    variables_of_new_data,
)
from ..dataset import MISSING, Countable
from ..frames import AnyTable, check_same_index, frame_of, is_column_name, open_data
from ..metrics import METRICS, choose_metrics
from ..model import Model
from ..prediction import predict, weigh_evidence
from ..questions.facts import aligned_lines, facts_of
from ..tools.arrays import first_best, log
from ..tools.calls import with_call_advice
from ..tools.checks import Names, Seed, Whole, check_columns, must_be
from ..tools.messages import listed, repeated_items, shown, to_python_scalar
from ..validation import cv, cv_predict, evaluate_without_refit, recorded_scheme

_METRICS = ["accuracy", "log_loss", "calibration_error"]
_IN_WORDS = {
    "log_loss": "log-loss",
    "calibration_error": "calibration error",
    "rps": "ranked probability score",
}
_MOST_FEATURES = 3


@with_call_advice("Pass data second: summary(x, dataset).")
def summary(
    x: Model,
    dataset: AnyTable | Countable | None = None,
    *,
    by: Hashable | Sequence[Hashable] | None = None,
    k: int = 10,
    rng: Seed = None,
    groups: Any = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Summarize a model and, if data are given, its performance.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters; with parameters if `dataset` is given.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        Data for cross-validation, as in `cv`: usually the training data.
    by : str or list of str, optional
        Columns of `dataset` with groups as values, such as "sex". They need not
        be features.
    k : int, default 10
        Number of folds. 0 evaluates the model as it is, without refitting it;
        use it for rows that the model has not seen.
    rng : int or numpy.random.Generator, optional
        Seed of the folds.
    groups : str or array-like, optional
        As in `cv`: rows that belong together, such as those of a person, are in
        the same fold.
    progress : bool, optional
        Whether to show a progress bar of the models that `cv` refits; by
        default after 3 seconds, in an interactive session.

    Returns
    -------
    pandas.DataFrame
        Columns ``item`` and ``value``, with the facts and texts of
        ``print(x)``. With `dataset`, there are also the cross-validated (with
        ``k=0``, the plain) accuracy, log-loss and calibration error, and for a
        class with an order the ranked probability score, each with its
        baseline, the value if every row gets the class proportions, and the
        three features with the largest
        mean absolute contributions in `explain`, in at most 1,000 rows.
        ``attrs["metrics"]`` has the exact values and baselines.

        With `by`, one row per group and a last row of all rows: the number of
        rows, the actual share of a class, the share predicted and the mean
        probability, the error, log-loss and calibration error. The class is the
        last of two; with more, there are three columns per class.

    Raises
    ------
    KeyError, TypeError, ValueError
        With `dataset`, as `cv` and `explain`. If `by` is not a column, its
        values cannot be sorted, or there are more than 100 groups.

    Examples
    --------
    >>> from bnclassify import bnc, load_car, summary
    >>> car = load_car()
    >>> model = bnc("tan_cl", "class", car, smooth=1)
    >>> found = summary(model, car, rng=0).set_index("item")["value"]
    >>> print(found[["accuracy", "strongest features"]].to_string())
    item
    accuracy                     0.943, baseline 0.700
    strongest features    safety 1.43, persons 1.19, maint 0.79
    """
    x = check_model(x)
    k = Whole(least=0).check("k", k)
    if by is not None:
        return results_by_group(x, dataset, by, k, rng, groups, progress)
    facts, metrics = facts_of(x), dict[str, tuple[float, float | None]]()
    if dataset is not None:
        dataset = open_data(dataset).check_in_memory("dataset")
        names, rows = list(_METRICS), check_fitted(x).trained_on
        if rows is not None and x.targets and set(x.targets) <= set(rows.ordered):
            names.append("rps")
        is_latent = variables_of_new_data(x) == x.features
        if not is_latent and not k:
            chosen = choose_metrics(list(names), x.targets)
            values = zip(*evaluate_without_refit(x, dataset, chosen), strict=True)
            metrics = dict(zip([metric.name for metric in chosen], values, strict=True))
        elif not is_latent:
            means = cv(
                [x], dataset, metric=names, k=k, rng=rng, groups=groups, progress=progress
            ).droplevel(0)
            scheme = recorded_scheme(means)
            baselines = {} if scheme is None else scheme.baselines
            for name, value in means.items():
                metrics[str(name)] = value, baselines.get(str(name))
        for name, (value, baseline) in metrics.items():
            for metric, words in _IN_WORDS.items():
                name = name.replace(metric, words)
            note = "" if baseline is None else f", baseline {baseline:.3f}"
            facts[name] = f"{value:.3f}{note}"
        texts = []
        for target in x.targets:
            # 1000: number of rows from which strengths of features are computed
            strengths = mean_contributions(x.model_of_class(target), dataset, 1000)
            best = sorted(strengths, key=lambda v: -strengths[v])[:_MOST_FEATURES]
            text = ", ".join(f"{v} {strengths[v]:.2f}" for v in best)
            texts.append(text if len(x.targets) == 1 else f"{target}: {text}")
        facts["strongest features"] = "; ".join(texts)
    table = _Summary({"item": list(facts), "value": pd.Series(list(facts.values()), dtype=object)})
    table.attrs["metrics"] = metrics
    return table


class _Summary(pd.DataFrame):
    """A table of items and values that prints whole sentences; its parts are plain tables."""

    def __repr__(self) -> str:
        facts = dict(self.itertuples(index=False, name=None)) if self.shape[1] == 2 else {}
        return "\n".join(aligned_lines(facts)) if facts else super().__repr__()

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            return self.to_html(index=False)


def mean_contributions(x: Model, dataset: Any, most: int) -> dict[Hashable, float]:
    """Return the mean absolute contribution of each feature in at most ``most`` spaced rows.

    Of rows with weights, as many units of weight are evenly spaced.
    """
    data = check_has_rows(
        encode_for_model(check_fitted(x), dataset, x.features, "dataset"), "dataset"
    )
    if max(len(data), data.size) > most:
        ends = np.cumsum(data.row_weights)
        units = np.linspace(0, ends[-1] - min(1.0, ends[-1] / most), most)
        data = replace(data.take_rows(np.searchsorted(ends, units, side="right")), weights=None)
    return weigh_evidence(x, data, unseen="missing", argument="dataset").mean_contributions


ALL = "(all)"
"""The row of all groups together."""

_MOST_GROUPS = 100


def results_by_group(
    x: Model,
    dataset: Any,
    by: Hashable | Sequence[Hashable],
    k: int,
    rng: Seed,
    groups: Any,
    progress: bool | None,
) -> pd.DataFrame:
    """Return one row per group, and one of all; with folds, predictions are cross-validated."""
    model = check_fitted(x)
    if not model.one_class:
        raise ValueError(must_be("by", "None for a model of several class variables", by))
    frame = frame_of(dataset, "dataset")
    check_same_index(groups, frame.index, "groups")
    frame = frame.reset_index(drop=True)
    names = list(Names(filled=True).check("by", by if isinstance(by, list | tuple) else [by]))
    check_columns(names, list(frame.columns), "by")
    check_columns([model.class_var], list(frame.columns), "dataset")
    known = frame[model.class_var].notna()
    frame = frame[known].reset_index(drop=True)
    if groups is not None and not is_column_name(groups) and np.shape(groups) == known.shape:
        groups = np.asarray(groups)[known]
    labels = list(model.known_levels[-1])
    column = frame[model.class_var]
    name = shown(column.name)
    if not len(column):
        raise ValueError(
            f"dataset must be a table with rows that have the class {name}; got 0 rows."
        )
    at = {label: code for code, label in enumerate(labels)}
    if unknown := [label for label in column.unique() if label not in at]:
        raise ValueError(
            f"dataset must have the classes of the model in {name}, {listed(labels)}; got "
            f"{listed(unknown)}."
        )
    actual = np.array([at[label] for label in column], dtype=np.intp)
    if not k:
        p = predict(model, frame, prob=True, unseen="missing").to_numpy()
    else:
        kept = {*(model.training_columns or frame.columns), model.class_var}
        kept |= {groups} if is_column_name(groups) else set()
        rows = frame[[name for name in frame if name in kept]]
        held_out = cv_predict(model, rows, k=k, rng=rng, groups=groups, progress=progress)
        p = held_out.reindex(columns=labels, fill_value=0.0).to_numpy()
    columns = {str(i): _values_in_order(frame[name]) for i, name in enumerate(names)}
    values = pd.DataFrame(columns)
    group_of_row = values.groupby(list(columns), observed=True).ngroup()
    groups_in_order = values.drop_duplicates().sort_values(list(columns))
    if len(groups_in_order) > _MOST_GROUPS:
        raise ValueError(
            f"by must have at most {_MOST_GROUPS} groups; got {len(groups_in_order):,} of "
            f"{listed(names)}. Bin numbers first, for example with pd.qcut(column, 4)."
        )
    values_of_groups = list(groups_in_order.itertuples(index=False, name=None))
    keys: list[Hashable] = [", ".join(map(str, group)) for group in values_of_groups]
    if len(names) == 1:
        keys = [to_python_scalar(value) for [value] in values_of_groups]
    elif repeated_items(keys):
        keys = [", ".join([repr(str(value)) for value in group]) for group in values_of_groups]
    if twice := repeated_items([*keys, ALL]):
        raise ValueError(
            f"by must have groups of different names, other than {ALL!r}, the row of all groups; "
            f"got {listed(twice)}. Rename the values of {listed(names)}."
        )
    table = []
    for group in [*range(len(keys)), None]:
        chosen = slice(None) if group is None else np.flatnonzero(group_of_row == group)
        own, codes = p[chosen], actual[chosen]
        logs, best = log(own), first_best(log(own))
        results: dict[str, float] = {"rows": len(own)}
        for c, label in enumerate(labels):
            if c or len(labels) != 2:
                results[f"actual {label}"] = float(np.mean(codes == c))
                results[f"predicted {label}"] = float(np.mean(best == c))
                results[f"probability {label}"] = float(own[:, c].mean())
        results["error"] = float(np.mean(best != codes))
        for metric in ("log_loss", "calibration_error"):
            results[metric] = METRICS[metric].metric_of_rows(logs, codes)
        table.append(results)
    index = pd.Index([*keys, ALL], name=", ".join(map(str, names)), tupleize_cols=False)
    return pd.DataFrame(table, index=index)


def _values_in_order(column: pd.Series[Any]) -> pd.Categorical[Any]:
    """Return the values of a column as categories in order, with missing ones as the last."""
    try:
        is_coded = isinstance(column.dtype, pd.CategoricalDtype)
        values = column.cat.categories if is_coded else sorted(column.dropna().unique())
    except TypeError:
        kinds = dict.fromkeys(type(value).__name__ for value in column.dropna())
        raise TypeError(
            "by must name columns of values that can be sorted, of one type; got "
            f"{shown(column.name)} with values of type {listed(kinds)}. Convert it, for example "
            "with .astype(str)."
        ) from None
    # Of type object, because overlapping intervals cannot be looked up as intervals.
    places = pd.Index(values, dtype=object, tupleize_cols=False)
    codes = places.get_indexer(pd.Index(column, dtype=object, tupleize_cols=False))
    if MISSING in values and (codes < 0).any():
        raise ValueError(
            f"by must name columns without missing values or without the value {MISSING!r}; got "
            f"both in {shown(column.name)}. Rename the value."
        )
    labels: Any = [*values, *[MISSING] * (MISSING not in values)]
    ordered: pd.Categorical[Any] = pd.Categorical.from_codes(codes % len(labels), labels)
    return ordered
