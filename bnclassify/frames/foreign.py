"""Frames of other libraries, such as polars and Arrow, as pandas, and results in their type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

import numpy as np
import pandas as pd

from ..tools.arrays import ArrayOf
from ..tools.messages import listed

_OWN = (pd.DataFrame, pd.Series, Mapping, np.ndarray, list, tuple, str)

_MODULES = (
    "polars",
    "pyarrow",
    "duckdb",
    "_duckdb",
    "ibis",
    "pyspark",
    "sqlframe",
    "modin",
    "cudf",
)
"""Libraries with frames, of which some do not have the interface of Arrow."""


class AnyFrame(Protocol):
    """A data frame of any library, as type checkers see it."""

    @property
    def columns(self) -> Any:
        """The columns or their names."""


class Foreign(Protocol):
    """An object of another library, as a column of ibis or narwhals; its methods return others."""

    def __getattr__(self, name: str, /) -> Foreign: ...
    def __call__(self, *arguments: object, **named: object) -> Foreign: ...
    def __getitem__(self, at: object, /) -> Foreign: ...
    def __setitem__(self, at: object, value: object, /) -> None: ...
    def __iter__(self) -> Iterator[Foreign]: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __mul__(self, other: object, /) -> Foreign: ...
    def __sub__(self, other: object, /) -> Foreign: ...
    def __and__(self, other: object, /) -> Foreign: ...
    def __ge__(self, other: object, /) -> Foreign: ...
    def __gt__(self, other: object, /) -> Foreign: ...
    def __le__(self, other: object, /) -> Foreign: ...
    def __lt__(self, other: object, /) -> Foreign: ...


def foreign_to_pandas(data: Any) -> Any:
    """Return another library's data frame or Series as one of pandas, and other data unchanged."""
    if not is_foreign(data):
        return data
    opened = _opened_by_narwhals(data)
    if not hasattr(opened, "implementation"):  # such as an array of Arrow
        return data
    if hasattr(opened, "collect"):
        opened = opened.collect()
    if hasattr(opened, "columns"):
        columns = {str(name): _column_for_pandas(opened[name]) for name in opened.columns}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(opened)))
    return pd.Series(cast("ArrayOf[Any]", _column_for_pandas(opened)), name=str(opened.name))


def in_library_of(given: object, answer: pd.Series[Any] | pd.DataFrame) -> Any:
    """Return a Series or data frame of pandas in the library of the data that were given."""
    if not is_foreign(given):
        return answer
    import narwhals.stable.v2 as nw

    own = _opened_by_narwhals(given).implementation
    is_lazy = own.is_spark_like() or own.is_duckdb() or own.is_ibis()
    backend: Foreign = nw.Implementation.PYARROW if is_lazy else own
    if isinstance(answer, pd.Series):
        return nw.new_series(
            str(answer.name), *_values_and_type(answer), backend=backend
        ).to_native()
    names = [
        "_".join(map(str, name if isinstance(name, tuple) else (name,))) for name in answer.columns
    ]
    if len(set(names)) < len(names):
        raise ValueError(
            "newdata must be a pandas DataFrame if columns of the result have the same name as "
            f"text; got {type(given).__name__} and the names {listed(names)}. Convert it "
            "with .to_pandas()."
        )
    values, types = zip(*[_values_and_type(column) for _, column in answer.items()], strict=True)
    schema = dict(zip(names, types, strict=True))
    return nw.from_dict(dict(zip(names, values, strict=True)), schema, backend=backend).to_native()


def is_dask(data: object) -> bool:
    """Whether data is a Dask DataFrame, found without importing Dask."""
    return type(data).__module__.partition(".")[0] == "dask" and type(data).__name__ == "DataFrame"


def dask_frame_of(data: object) -> Any:
    """Return the Dask DataFrame, also of encoded data that stay there; None for other data."""
    frame = data if is_dask(data) else getattr(data, "dask_frame", None)
    return frame if is_dask(frame) else None


def is_foreign(data: object) -> bool:
    """Whether data may be a frame or a column of another library."""
    if isinstance(data, _OWN):
        return False
    return (
        hasattr(data, "__arrow_c_stream__") or type(data).__module__.partition(".")[0] in _MODULES
    )


def _opened_by_narwhals(data: object) -> Foreign:
    """Return a frame or Series wrapped by narwhals, from any object with Arrow's interface."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        name = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise ImportError(
            f"Data of type {name} require narwhals, which is not installed. Run pip install "
            "narwhals, or convert them to a pandas DataFrame."
        ) from None
    opened: Foreign = nw.from_native(data, allow_series=True, pass_through=True)
    if opened is data and hasattr(data, "__arrow_c_stream__"):
        opened = nw.from_arrow(data, backend="pyarrow")
    return opened


def _column_for_pandas(series: Foreign) -> object:
    """Return a column as pandas has it: integers and bools with missing values are nullable."""
    dtype, implementation = series.dtype, series.implementation
    if implementation.is_pandas_like():
        return series.to_pandas().array
    if implementation.is_pyarrow() and str(dtype) == "Categorical":
        return categories_of_arrow(series.to_native())
    if dtype.is_float():
        return series.to_numpy()
    if not (dtype.is_integer() or str(dtype) == "Boolean") or str(dtype) in _WIDE:
        values = pd.Series(list(series.to_list()), dtype=object)
        categories = getattr(dtype, "categories", None)
        return values.array if categories is None else pd.Categorical(values, list(categories))
    filled = np.array(series.fill_null(0 if dtype.is_integer() else False).to_numpy())
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if not missing.any():
        return filled
    return (pd.arrays.IntegerArray if dtype.is_integer() else pd.arrays.BooleanArray)(
        filled, missing
    )


def categories_of_arrow(chunked: Foreign) -> pd.Categorical:
    """Return categories of Arrow, whose dictionary may repeat a label, as those of pandas."""
    labels = chunked.unify_dictionaries().combine_chunks().dictionary.to_pylist()
    known = dict.fromkeys(label for label in labels if label is not None)
    return pd.Categorical(
        list(chunked.to_pylist()), list(known), ordered=bool(chunked.type.ordered)
    )


def _values_and_type(column: pd.Series[Any]) -> tuple[object, Foreign]:
    """Return numbers or labels and their type; other labels as text, missing ones as None."""
    import narwhals.stable.v2 as nw

    if column.dtype.kind == "f":
        return column.to_numpy(), nw.Float64()
    labels = column.astype(object).where(column.notna(), None)
    types: dict[str, Foreign] = {"integer": nw.Int64(), "boolean": nw.Boolean()}
    kind = pd.api.types.infer_dtype(column.cat.categories)
    if kind in types:
        return labels.tolist(), types[kind]
    return [None if label is None else str(label) for label in labels], nw.String()


_WIDE = ("Int128", "UInt128")
"""Types of integers that NumPy does not know."""
