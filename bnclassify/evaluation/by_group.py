"""Results of a model in groups of rows: shares, errors, log-loss and calibration."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, first_best, log
from ..base.checks import Instance, Names, Seed, check_columns, must_be
from ..base.messages import listed, needs_rows
from ..frames.schema import MISSING
from ..frames.sources import find_source, in_pandas
from ..inference.predict import predict
from ..metrics import METRICS
from ..model.arguments import check_fitted
from ..model.model import Model
from .cv_predict import cv_predict

ALL = "(all)"
"""The row of all groups together."""

_MOST_GROUPS = 100


def results_by_group(
    x: Model, dataset: Any, by: Hashable | Sequence[Hashable], k: int, rng: Seed, progress: bool | None
) -> pd.DataFrame:
    """Return one row per group, and one of all; predictions are cross-validated if there are folds."""
    model = check_fitted(x)
    if not model.one_class:
        raise ValueError(must_be("by", "None for a model of several class variables", by))
    if find_source(dataset, "dataset") is not None:
        raise needs_rows("dataset")
    expected = "a DataFrame if by is given"
    frame = Instance(pd.DataFrame, expected).check("dataset", in_pandas(dataset)).reset_index(drop=True)
    names = list(Names().check("by", by if isinstance(by, list | tuple) else [by]))
    check_columns(names, list(frame.columns), "by")
    check_columns([model.class_var], list(frame.columns), "dataset")
    frame = frame[frame[model.class_var].notna()].reset_index(drop=True)
    keys = _keys_of(frame, names)
    if keys.nunique() > _MOST_GROUPS:
        raise ValueError(
            f"by must have at most {_MOST_GROUPS} groups; got {keys.nunique():,} of {listed(names)}. Bin "
            "numbers first, for example with pd.qcut(column, 4)."
        )
    p = _posteriors(model, frame, k, rng, progress)
    labels = list(model.known_levels[-1])
    actual = np.array([labels.index(label) for label in frame[model.class_var]], dtype=np.intp)
    rows = {key: np.flatnonzero(keys == key) for key in keys.cat.categories}
    rows |= {ALL: np.arange(len(frame))}
    shown = labels[1:] if len(labels) == 2 else labels
    table = [_results(p[at], actual[at], labels, shown) for at in rows.values()]
    index = pd.Index(list(rows), name=", ".join(map(str, names)), tupleize_cols=False)
    return pd.DataFrame(table, index=index)


def _keys_of(frame: pd.DataFrame, names: Sequence[Hashable]) -> pd.Series[Any]:
    """Return the group of each row, categorical, in the order of the values."""
    texts = [frame[name].astype(object).where(frame[name].notna(), MISSING) for name in names]
    if len(texts) > 1:
        pairs = [", ".join(map(str, values)) for values in zip(*texts, strict=True)]
        return pd.Series(pd.Categorical(pairs, categories=sorted(set(pairs))))
    column = frame[names[0]]
    is_coded = isinstance(column.dtype, pd.CategoricalDtype)
    known = list(column.cat.categories) if is_coded else sorted(column.dropna().unique())
    present = set(texts[0])
    order = [value for value in dict.fromkeys((*known, MISSING)) if value in present]
    return pd.Series(pd.Categorical(texts[0], categories=order))


def _posteriors(x: Model, frame: pd.DataFrame, k: int, rng: Seed, progress: bool | None) -> Array:
    """Return the posteriors of rows, (rows, classes): out of fold, or of the model as it is."""
    if not k:
        return predict(x, frame, prob=True, unseen="missing").to_numpy()
    recipe = x.recipe
    seen = None if recipe is None else recipe.seen or recipe.columns
    columns = frame.columns if seen is None else [c for c in frame if c in {*seen, x.class_var}]
    found = cv_predict(x, frame[list(columns)], k=k, rng=rng, progress=progress)
    return found[list(x.known_levels[-1])].to_numpy()


def _results(
    p: Array, actual: Codes, labels: Sequence[Hashable], shown: Sequence[Hashable]
) -> dict[str, float]:
    """Return the results of the rows of a group."""
    logs, best = log(p), first_best(log(p))
    found: dict[str, float] = {"rows": len(p)}
    for label in shown:
        c = list(labels).index(label)
        found[f"actual {label}"] = float(np.mean(actual == c))
        found[f"predicted {label}"] = float(np.mean(best == c))
        found[f"probability {label}"] = float(p[:, c].mean())
    found["error"] = float(np.mean(best != actual))
    for name in ("log_loss", "calibration_error"):
        found[name] = METRICS[name].of_rows(logs, actual)
    return found
