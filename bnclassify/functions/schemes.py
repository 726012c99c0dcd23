"""How results of cross-validation were made: a record that travels with the data frame."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.checks import is_among
from ..base.messages import listed, shown, suggestion
from ..metrics.folds import Rows

_KEY = "cv"

Table = TypeVar("Table", "pd.Series[Any]", pd.DataFrame)


@dataclass(frozen=True)
class Scheme:
    """How rows were dealt into parts to learn from and parts to test on.

    Attributes
    ----------
    repeats : int
    k : int
        The number of folds of each repeat.
    train_size, test_size : float
        Sums of the weights of rows, their numbers where each counts once; means over the folds.
    is_partition : bool
        Whether the folds of each repeat test every row once.
    folds : str
        A digest of the rows tested: results with the same one are of the same folds.
    baselines : mapping
        By name of the metric, what the largest class alone would score, a mean over the folds;
        None if that is not defined.
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


def describe_folds(
    tests: Sequence[Sequence[Rows]], weights: Array, baselines: Mapping[str, float | None]
) -> Scheme:
    """Describe the rows tested in each fold of each repeat, of those that weights, (rows,), tell of."""
    test_size = float(np.mean([weights[test].sum() for folds in tests for test in folds]))
    digest = blake2b(digest_size=12)
    for folds in tests:
        for test in folds:
            digest.update(np.array([len(test), *np.sort(test)], dtype="<i8").tobytes())
    return Scheme(
        repeats=len(tests),
        k=len(tests[0]),
        train_size=float(weights.sum()) - test_size,
        test_size=test_size,
        is_partition=all(
            np.array_equal(np.sort(np.concatenate(list(folds))), np.arange(len(weights))) for folds in tests
        ),
        folds=digest.hexdigest(),
        baselines=dict(baselines),
    )


def record_scheme(results: Table, scheme: Scheme) -> Table:
    """Return results in which it is written how they were made.

    pandas keeps it where results are selected, and where they are put side by side keeps it only if
    it is the same in all. So it holds plain values, and nothing of the models.
    """
    results.attrs[_KEY] = asdict(scheme)
    return results


def scheme_of(results: pd.Series[Any] | pd.DataFrame) -> Scheme | None:
    """Return how results were made, or None if they do not tell."""
    record = results.attrs.get(_KEY)
    if not isinstance(record, Mapping) or set(record) != {field.name for field in fields(Scheme)}:
        return None
    return Scheme(**record)


def choose_metric(
    results: pd.DataFrame, metric: Hashable | None, scheme: Scheme | None
) -> tuple[pd.DataFrame, Hashable | None]:
    """Return the figures of one metric, a column a model, and its name if that is known."""
    wanted = getattr(metric, "__name__", metric)
    if results.columns.nlevels == 1 and "metric" in results.columns.names:
        raise ValueError("results: expected a column a model, but these are metrics of one model")
    by_metric = results.columns.nlevels == 2
    metrics = list(results.columns.unique(1)) if by_metric else list(scheme.baselines if scheme else ())
    if wanted is not None and not is_among(wanted, metrics):
        hint = suggestion(wanted, metrics) if metrics else "the columns of these tell of models only"
        raise ValueError(f"metric: results have no {shown(wanted)}; {hint}")
    if wanted is None and by_metric and len(metrics) > 1:
        raise ValueError(f"metric: results have several, say which is meant: {listed(metrics, most=20)}")
    name = wanted if wanted is not None or len(metrics) != 1 else metrics[0]
    if by_metric:
        results = results.loc[:, results.columns.get_level_values(1) == name].droplevel(1, axis=1)
    return results, name
