"""Results of a model in groups of rows: shares, errors, log-loss and calibration."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_fitted
from ..dataset import MISSING, check_same_index, is_column_name
from ..frames import frame_of
from ..metrics import METRICS
from ..model import Model
from ..prediction import predict
from ..tools.arrays import Array, Codes, Positions, first_best, log
from ..tools.checks import Names, Seed, check_columns, must_be
from ..tools.messages import listed, repeated_items, shown, to_python_scalar
from ..validation import cv_predict

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
    actual = _codes_of_actual_classes(frame[model.class_var], labels)
    p = _posteriors_of_rows(model, frame, k, rng, groups, progress)
    group_of_row, groups = _group_of_each_row(frame, names)
    shown_labels = labels[1:] if len(labels) == 2 else labels
    rows = [np.flatnonzero(group_of_row == group) for group in range(len(groups))]
    rows.append(np.arange(len(frame)))
    table = [_results_of_group(p[at], actual[at], labels, shown_labels) for at in rows]
    index = pd.Index([*groups, ALL], name=", ".join(map(str, names)), tupleize_cols=False)
    return pd.DataFrame(table, index=index)


def _codes_of_actual_classes(column: pd.Series[Any], labels: Sequence[Hashable]) -> Codes:
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
    return np.array([at[label] for label in column], dtype=np.intp)


def _group_of_each_row(
    frame: pd.DataFrame, names: Sequence[Hashable]
) -> tuple[Positions, list[Hashable]]:
    """Return the group of each row, and the groups in the order of their values, or raise."""
    ranked = [_ranks_and_sorted_values(frame[name]) for name in names]
    found, group_of_row = np.unique(
        np.stack([ranks for ranks, _ in ranked]), axis=1, return_inverse=True
    )
    if found.shape[1] > _MOST_GROUPS:
        raise ValueError(
            f"by must have at most {_MOST_GROUPS} groups; got {found.shape[1]:,} of "
            f"{listed(names)}. Bin numbers first, for example with pd.qcut(column, 4)."
        )
    groups = []  # of one value per name
    for ranks in found.T.tolist():
        groups.append([values[rank] for (_, values), rank in zip(ranked, ranks, strict=True)])
    keys: list[Hashable] = [", ".join(map(str, group)) for group in groups]
    if len(names) == 1:
        keys = [to_python_scalar(value) for [value] in groups]
    elif repeated_items(keys):
        keys = [", ".join([repr(str(value)) for value in group]) for group in groups]
    if twice := repeated_items([*keys, ALL]):
        raise ValueError(
            f"by must have groups of different names, other than {ALL!r}, the row of all groups; "
            f"got {listed(twice)}. Rename the values of {listed(names)}."
        )
    return group_of_row.ravel(), keys


def _ranks_and_sorted_values(column: pd.Series[Any]) -> tuple[Positions, list[Hashable]]:
    """Return the rank of the value of each row, missing ones last, and the values in order."""
    try:
        codes, found = pd.factorize(column)
        is_coded = isinstance(column.dtype, pd.CategoricalDtype)
        values: list[Hashable] = list(column.cat.categories) if is_coded else sorted(found)
    except TypeError:
        kinds = dict.fromkeys(type(value).__name__ for value in column.dropna())
        raise TypeError(
            "by must name columns of values that can be sorted, of one type; got "
            f"{shown(column.name)} with values of type {listed(kinds)}. Convert it, for example "
            "with .astype(str)."
        ) from None
    if MISSING in values and (codes < 0).any():
        raise ValueError(
            f"by must name columns without missing values or without the value {MISSING!r}; got "
            f"both in {shown(column.name)}. Rename the value."
        )
    at = {value: rank for rank, value in enumerate(values)}
    ranks = np.array([*[at[value] for value in found], len(values)], dtype=np.intp)
    return ranks[codes], [*values, MISSING]


def _posteriors_of_rows(
    x: Model, frame: pd.DataFrame, k: int, rng: Seed, groups: Any, progress: bool | None
) -> Array:
    """Return the posteriors of rows, (rows, classes): out of fold, or of the model as it is."""
    if not k:
        return predict(x, frame, prob=True, unseen="missing").to_numpy()
    recipe = x.recipe
    seen = None if recipe is None else recipe.seen or recipe.columns
    kept = {*(seen or frame.columns), x.class_var, *([groups] if is_column_name(groups) else [])}
    rows = frame[[name for name in frame if name in kept]]
    found = cv_predict(x, rows, k=k, rng=rng, groups=groups, progress=progress)
    return found.reindex(columns=list(x.known_levels[-1]), fill_value=0.0).to_numpy()


def _results_of_group(
    p: Array, actual: Codes, labels: Sequence[Hashable], shown: Sequence[Hashable]
) -> dict[str, float]:
    logs, best = log(p), first_best(log(p))
    found: dict[str, float] = {"rows": len(p)}
    for label in shown:
        c = list(labels).index(label)
        found[f"actual {label}"] = float(np.mean(actual == c))
        found[f"predicted {label}"] = float(np.mean(best == c))
        found[f"probability {label}"] = float(p[:, c].mean())
    found["error"] = float(np.mean(best != actual))
    for name in ("log_loss", "calibration_error"):
        found[name] = METRICS[name].metric_of_rows(logs, actual)
    return found
