"""The record of the folds of cross-validation, which is stored in the ``attrs`` of results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import pandas as pd

from ..base.checks import available, is_among, must_be
from ..base.messages import listed

_KEY = "cv"

Table = TypeVar("Table", "pd.Series[Any]", pd.DataFrame)


@dataclass(frozen=True)
class Scheme:
    """The assignment of rows to folds, and the metrics of class frequencies alone.

    Results with the same digest ``folds`` have the same folds, which are a partition if each repeat tests
    every row once. Sizes are sums of weights and, as baselines, means over the folds.
    """

    repeats: int
    k: int
    train_size: float
    test_size: float
    is_partition: bool
    folds: str
    baselines: Mapping[str, float | None]

    def __str__(self) -> str:
        folds = f"{self.k} folds" if self.k > 1 else "1 fold"
        return folds if self.repeats == 1 else f"{self.repeats} repeats of {folds}"


def record_scheme(results: Table, scheme: Scheme, unseen: Mapping[Hashable, int]) -> Table:
    """Return results with the record of how they were computed, and of unseen values if there are any.

    pandas keeps the record if results are selected, and if they are concatenated and it is the same in all.
    So it contains plain values, and nothing of the models.
    """
    results.attrs |= {"unseen": dict(unseen), _KEY: asdict(scheme)} if unseen else {_KEY: asdict(scheme)}
    return results


def scheme_of(results: pd.Series[Any] | pd.DataFrame) -> Scheme | None:
    """Return the record of results, None if they have none."""
    record = results.attrs.get(_KEY)
    if not isinstance(record, Mapping) or set(record) != {field.name for field in fields(Scheme)}:
        return None
    return Scheme(**record)


def choose_metric(
    results: pd.DataFrame, metric: Hashable | None, scheme: Scheme | None
) -> tuple[pd.DataFrame, Hashable | None]:
    """Return the values of one metric, with one column per model, and its name if it is known."""
    wanted = getattr(metric, "__name__", metric)
    if results.columns.nlevels == 1 and "metric" in results.columns.names:
        raise ValueError("results must have one column per model; got metrics of one model.")
    by_metric = results.columns.nlevels == 2
    metrics = list(results.columns.unique(1)) if by_metric else list(scheme.baselines if scheme else ())
    if wanted is not None and not is_among(wanted, metrics):
        remedy = available(wanted, metrics) if metrics else "The columns of these results are models only."
        raise ValueError(must_be("metric", "in the results", wanted, remedy))
    if wanted is None and by_metric and len(metrics) > 1:
        names = listed(metrics, most=20)
        raise ValueError(f"metric must be given, because the results have several: {names}.")
    name = wanted if wanted is not None or len(metrics) != 1 else metrics[0]
    if by_metric:
        results = results.loc[:, results.columns.get_level_values(1) == name].droplevel(1, axis=1)
    return results, name
