"""The record of how results of cross-validation were computed, which is stored in their ``attrs``."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import pandas as pd

from ..base.checks import is_among
from ..base.messages import listed, shown, suggestion

_KEY = "cv"

Table = TypeVar("Table", "pd.Series[Any]", pd.DataFrame)


@dataclass(frozen=True)
class Scheme:
    """How rows were assigned to folds.

    Attributes
    ----------
    repeats, k : int
        Numbers of repeats, and of folds per repeat.
    train_size, test_size : float
        Sums of the weights of rows, means over the folds.
    is_partition : bool
        Whether the folds of each repeat test every row once.
    folds : str
        A digest of the folds: results with the same digest are of the same folds.
    baselines : mapping
        Metrics of class frequencies alone by name, means over the folds; None if they are not defined.
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


def record_scheme(results: Table, scheme: Scheme) -> Table:
    """Return results with the record of how they were computed.

    pandas keeps the record if results are selected, and if they are concatenated and it is the same in all.
    So it contains plain values, and nothing of the models.
    """
    results.attrs[_KEY] = asdict(scheme)
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
        hint = suggestion(wanted, metrics) if metrics else "the columns of these results are models only"
        raise ValueError(f"metric must be in the results; got {shown(wanted)}; {hint}")
    if wanted is None and by_metric and len(metrics) > 1:
        names = listed(metrics, most=20)
        raise ValueError(f"metric must be given, because the results have several: {names}.")
    name = wanted if wanted is not None or len(metrics) != 1 else metrics[0]
    if by_metric:
        results = results.loc[:, results.columns.get_level_values(1) == name].droplevel(1, axis=1)
    return results, name
