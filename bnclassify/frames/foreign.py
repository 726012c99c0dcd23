"""Frames of other libraries (polars, Arrow, DuckDB, …) as pandas frames, and predictions in their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd

from ..base.messages import listed

_OWN = (pd.DataFrame, pd.Series, Mapping, np.ndarray, list, tuple, str)

_MODULES = ("polars", "pyarrow", "duckdb", "_duckdb", "ibis", "pyspark", "sqlframe", "modin", "cudf")
"""Libraries with frames, of which some do not have the interface of Arrow."""


class AnyFrame(Protocol):
    """A data frame of any library, as type checkers see it."""

    @property
    def columns(self) -> Any:
        """The columns or their names."""


def converted(data: Any) -> Any:
    """Return a data frame or Series of another library as one of pandas, and all other data unchanged."""
    if not _is_foreign(data):
        return data
    opened = _opened(data)
    if not hasattr(opened, "implementation"):  # such as an array of Arrow
        return data
    if hasattr(opened, "collect"):
        opened = opened.collect()
    if hasattr(opened, "columns"):
        columns = {name: _column(opened[name]) for name in opened.columns}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(opened)))
    return pd.Series(_column(opened), name=opened.name)


def in_kind_of(given: Any, answer: Any) -> Any:
    """Return a Series or data frame of pandas in the library of the data that were given."""
    if not _is_foreign(given):
        return answer
    import narwhals.stable.v2 as nw

    implementation = _opened(given).implementation
    is_lazy = implementation.is_spark_like() or implementation.is_duckdb() or implementation.is_ibis()
    backend: Any = nw.Implementation.PYARROW if is_lazy else implementation
    if isinstance(answer, pd.Series):
        values, dtype = _values(answer)
        return nw.new_series(str(answer.name), values, dtype, backend=backend).to_native()
    names = ["_".join(map(str, name if isinstance(name, tuple) else (name,))) for name in answer.columns]
    if len(set(names)) < len(names):
        raise ValueError(
            f"newdata must be a pandas DataFrame if columns of the result have the same name as text; got "
            f"{type(given).__name__} and the names {listed(names)}. Convert it with .to_pandas()."
        )
    columns = {name: _values(column) for name, (_, column) in zip(names, answer.items(), strict=True)}
    schema = {name: dtype for name, (_, dtype) in columns.items()}
    return nw.from_dict(
        {name: values for name, (values, _) in columns.items()}, schema, backend=backend
    ).to_native()


def _is_foreign(data: Any) -> bool:
    if isinstance(data, _OWN):
        return False
    return hasattr(data, "__arrow_c_stream__") or type(data).__module__.partition(".")[0] in _MODULES


def _opened(data: Any) -> Any:
    """Return a frame or Series as narwhals wraps it, from any object with the interface of Arrow."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        name = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise ImportError(
            f"Data of type {name} require narwhals, which is not installed. Run pip install "
            "'pybnclassify[frames]', or convert them to a pandas DataFrame."
        ) from None
    opened = nw.from_native(data, allow_series=True, pass_through=True)
    if opened is data and hasattr(data, "__arrow_c_stream__"):
        return nw.from_arrow(data, backend="pyarrow")
    return opened


def _column(series: Any) -> Any:
    """Return a column as pandas would have it: integers and bools with missing values are nullable."""
    dtype, implementation = series.dtype, series.implementation
    if implementation.is_pandas_like():
        return series.to_pandas().array
    categories = getattr(dtype, "categories", None)
    if implementation.is_pyarrow() and str(dtype) == "Categorical":
        categories = series.to_native().unify_dictionaries().combine_chunks().dictionary.to_pylist()
    if categories is not None:
        return pd.Categorical(series.to_list(), categories=list(categories))
    if dtype.is_float() or dtype.is_decimal():
        import narwhals.stable.v2 as nw

        return series.cast(nw.Float64).to_numpy()
    if not (dtype.is_integer() or str(dtype) == "Boolean"):
        return pd.Series(series.to_list(), dtype=object).array
    filled, missing = series.fill_null(0 if dtype.is_integer() else False), series.is_null().to_numpy()
    if not missing.any():
        return filled.to_numpy()
    nullable = pd.arrays.IntegerArray if dtype.is_integer() else pd.arrays.BooleanArray
    return nullable(filled.to_numpy().copy(), missing.astype(bool))


def _values(column: pd.Series[Any]) -> tuple[Any, Any]:
    """Return numbers or labels and their type; labels of other types as text, missing ones as None."""
    import narwhals.stable.v2 as nw

    if column.dtype.kind == "f":
        return column.to_numpy(), nw.Float64()
    labels = column.astype(object).where(column.notna(), None)
    types = {"integer": nw.Int64(), "boolean": nw.Boolean()}
    kind = pd.api.types.infer_dtype(column.cat.categories)
    if kind in types:
        return labels.tolist(), types[kind]
    return [None if label is None else str(label) for label in labels], nw.String()
