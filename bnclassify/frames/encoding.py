"""Data frames become integer codes here, and here all input data is checked."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, code_type
from ..base.immutable import EMPTY
from ..base.messages import listed, plain, shown, suggestion
from .categories import NUMBERS_ADVICE, check_categorical
from .numeric import ArrayLike, read_numbers
from .schema import Countable, Dataset, Schema
from .sources import NEEDS_ROWS, find_source, is_delayed

_ASKED_ABOUT = {
    "newdata": (
        "take a part at a time, as in: for chunk in chunks: predict(x, chunk); predict takes a Dask "
        "DataFrame as a whole"
    ),
    "frame": "take a part at a time, as in: for chunk in chunks: impute(x, chunk)",
    "row": "take a few of them, such as frame.head() of a Dask DataFrame",
}
"""What to do where a model is asked about rows in parts, by the argument that has them."""

_SAMPLE = "take a sample of them, for example frame.sample(frac=0.01).compute() of a Dask DataFrame"


def encode_columns(
    frame: pd.DataFrame | Dataset,
    columns: Iterable[Hashable] | None = None,
    *,
    argument: str = "dataset",
    named_by: str | None = None,
    known: Mapping[Hashable, tuple[Any, ...]] | None = None,
    numeric: Mapping[Hashable, bool] = EMPTY,
) -> Dataset:
    """Encode the named columns of a data frame, or all; what the others hold does not matter.

    An encoded dataset is returned with all its columns. Columns that are not there raise a
    KeyError that names them and the argument they were named by, else that of the data.

    The levels that are ``known`` of each column are given for new data: numbers of type float may be
    among them. In data to learn from, such numbers may be codes or measurements, and raise an error.

    The columns in ``numeric`` are read as numbers, without codes, if they hold any; those that map to
    True must.
    """
    if isinstance(frame, Dataset):
        check_columns(columns or (), frame.columns, named_by or argument)
        return frame
    check_frame(frame, argument, or_row=known is not None)
    chosen = None
    if columns is not None:
        chosen = check_columns(columns, frame.columns.tolist(), named_by or argument)
    names: list[Hashable] = [name for name in frame.columns.tolist() if chosen is None or name in chosen]
    numbers = _read_numbers(frame, numeric.keys() & names, argument, numeric) if numeric else {}
    coded, column_codes, _ = read_columns(frame, {name for name in names if name not in numbers}, known=known)
    levels = tuple([() if name in numbers else coded.levels[coded.positions[name]] for name in names])
    schema = Schema(tuple(names), levels, coded.ordered)
    codes = np.full((len(names), len(frame)), -1, dtype=code_type(max(coded.cards, default=0)))
    for name, code in zip(coded.columns, column_codes, strict=True):
        codes[schema.positions[name]] = code
    return Dataset(schema, codes, frame.index, numbers=numbers)


def _read_numbers(
    frame: pd.DataFrame, names: Collection[Hashable], argument: str, must: Mapping[Hashable, bool]
) -> dict[Hashable, NDArray[Any]]:
    """Return the numbers of those of the named columns that hold such."""
    columns = zip(frame.columns.tolist(), column_arrays(frame), strict=True)
    read = {
        name: read_numbers(array, name, argument, must=must[name]) for name, array in columns if name in names
    }
    return {name: values for name, values in read.items() if values is not None}


def read_columns(
    data: pd.DataFrame | Dataset,
    columns: Collection[Hashable] | None = None,
    *,
    known: Mapping[Hashable, tuple[Any, ...]] | None = None,
) -> tuple[Schema, Sequence[NDArray[Any]], Array | None]:
    """Return the schema of columns in the order of the data, their codes (not copied), and the weights."""
    if isinstance(data, Dataset):
        chosen = data.select([name for name in data.columns if columns is None or name in columns])
        return chosen.schema, list(chosen.codes), data.weights
    arrays: dict[Hashable, ArrayLike] = {
        name: array
        for name, array in zip(data.columns.tolist(), column_arrays(data), strict=True)
        if columns is None or name in columns
    }
    check_categorical(arrays, known)
    encoded = [_encode_column(array) for array in arrays.values()]
    ordered = [name for name, array in arrays.items() if getattr(array.dtype, "ordered", False)]
    levels = tuple([levels for levels, _ in encoded])
    return Schema(tuple(arrays), levels, frozenset(ordered)), [c for _, c in encoded], None


def check_frame(frame: object, argument: str, *, or_row: bool = False) -> pd.DataFrame:
    """Return what is a data frame with unique column names, or raise; ``or_row`` is what could have been."""
    if (isinstance(frame, Countable) and not isinstance(frame, Dataset)) or find_source(frame, argument):
        raise TypeError(f"{argument}: {_needs_rows(argument, or_row)}")
    if not isinstance(frame, pd.DataFrame):
        expected = "a pandas DataFrame" + (", or one row as a Series or a dict" if or_row else "")
        raise TypeError(f"{argument}: expected {expected}, got {_origin(frame)}{_hint(frame)}")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()].unique().tolist()
        raise ValueError(
            f"{argument}: column names must be unique, but these occur more than once: {listed(twice)}"
        )
    return frame


def _needs_rows(argument: str, is_new: bool) -> str:
    """Say what to do with data in parts, to learn from or new."""
    if not is_new and argument not in _ASKED_ABOUT:
        return NEEDS_ROWS
    advice = _ASKED_ABOUT.get(argument, _SAMPLE)
    return f"rows are needed in memory here, and these are in parts; {advice}"


def _origin(data: object) -> str:
    """Return the type of data, and of other libraries' data frames whose they are."""
    kind = type(data)
    library = kind.__module__.partition(".")[0]
    foreign = hasattr(data, "to_pandas") or library == "dask"
    return f"{kind.__name__} of {library}" if foreign else kind.__name__


def _hint(data: object) -> str:
    """Say how to make a data frame of what came instead."""
    if is_delayed(data):  # which has any attribute
        return "; call its compute(), or make a Dask DataFrame by dask.dataframe.from_delayed"
    if hasattr(data, "to_pandas"):
        return "; call its to_pandas()"
    if isinstance(data, Dataset) and data.weights is not None:
        return (
            ", whose rows have weights; cut and merge the data frame that it was encoded from first, without "
            "its weights: cut, discretizer = discretize(df.drop(columns='w'), class_var=...), then "
            "encode(cut, weights=df['w']), and learn from that without discretize and min_count"
        )
    if isinstance(data, Dataset):
        return ", whose columns are categories already; pass the data frame that it was encoded from"
    if isinstance(data, pd.Series):
        return "; a single row is pd.DataFrame([row]) or df.iloc[[i]]"
    if isinstance(data, dict):
        return "; make it pd.DataFrame([row]) if it is one row, pd.DataFrame(data) if it is columns"
    if isinstance(data, str):
        return "; pass the DataFrame itself; learners take the name of the class first, then the data"
    if hasattr(data, "to_frame"):  # a column of Dask or another library
        return "; a single column is df[[name]], or its to_frame()"
    if isinstance(data, list | tuple):
        return f"; {_first_wrong(data)}; rows are pd.DataFrame(data, columns=names)"
    return "; make it pd.DataFrame(data, columns=names)"


def _first_wrong(parts: Sequence[object]) -> str:
    """Say why a list is not one of data frames."""
    wrong = [(i, part) for i, part in enumerate(parts) if not isinstance(part, pd.DataFrame)]
    allowed = "a list may hold data frames of pandas, the parts of the data"
    return (
        f"{allowed}, but item {wrong[0][0]} is a {_origin(wrong[0][1])}"
        if wrong
        else f"{allowed}, but this has none"
    )


def column_arrays(frame: pd.DataFrame) -> list[ArrayLike]:
    """Return the arrays of columns, without making a Series of each if pandas has a way."""
    arrays = getattr(frame, "_iter_column_arrays", None)
    return [column.array for _, column in frame.items()] if arrays is None else list(arrays())


def _encode_column(array: ArrayLike) -> tuple[tuple[Any, ...], NDArray[Any]]:
    """Return the levels and codes of one column of categories."""
    if isinstance(array, pd.Categorical):
        return _as_levels(array.categories), array.codes
    codes, labels = pd.factorize(pd.Series(array, dtype=array.dtype), sort=True)
    levels = _as_levels(labels)
    if array.dtype.kind in "fO":  # whole numbers are told and compared as such
        levels = tuple(int(x) if isinstance(x, float) and x.is_integer() else x for x in levels)
    return levels, codes


def _as_levels(labels: pd.Index[Any]) -> tuple[Any, ...]:
    dtype = labels.dtype
    if isinstance(dtype, pd.StringDtype):
        arrow = dtype.storage == "pyarrow"  # where tolist takes several times as long
        return tuple(labels.array.__arrow_array__().to_pylist() if arrow else labels.tolist())
    return tuple(map(plain, labels)) if dtype.kind == "O" else tuple(labels.tolist())


def check_columns(names: Iterable[Hashable], available: Collection[Hashable], argument: str) -> set[Hashable]:
    """Return names as a set, or raise a KeyError for those that are not available."""
    existing = available if isinstance(available, set | dict) else set(available)
    names = list(names)
    try:
        chosen = set(names)
    except TypeError:
        for name in names:
            check_name(name, argument)
        raise
    absent = [name for name in names if name not in existing]
    if absent:
        raise KeyError(
            f"{argument}: no column {listed(absent)} in the data; {suggestion(absent[0], available)}"
        )
    return chosen


def check_names(
    features: Iterable[Hashable], targets: Collection[Hashable], argument: str = "features"
) -> tuple[Hashable, ...]:
    """Return feature names as a tuple; they must be unique and no target among them."""
    if isinstance(features, str) or not isinstance(features, Iterable) or getattr(features, "ndim", 1) != 1:
        raise TypeError(
            f"{argument}: expected a list of names, got {shown(features)}; write [{shown(features)}]"
        )
    names = tuple(features)
    if not all(isinstance(name, Hashable) and name is not pd.NA for name in names):
        raise TypeError(f"{argument}: expected a list of names, got {listed(names)}")
    for target in targets:
        if target in names:
            raise ValueError(f"{argument}: {shown(target)} is the class; leave it out")
    if len(set(names)) < len(names):
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        raise ValueError(f"{argument}: each name may occur once, but these occur again: {listed(twice)}")
    return names


def check_name(name: object, argument: str) -> None:
    """Raise a TypeError for what cannot name a column."""
    if not isinstance(name, Hashable) or name is pd.NA:
        hint = f" {shown(name)}"
        if isinstance(name, pd.Series):
            hint = f"; write {shown(name.name)}"
        elif isinstance(name, pd.DataFrame):
            hint = "; the name of the class goes first, the data second"
        raise TypeError(f"{argument}: expected the name of a column, got {type(name).__name__}{hint}")


def check_class_name(class_var: object, argument: str = "class_var") -> None:
    """Raise a TypeError for what cannot name the class, where no data tells."""
    check_name(class_var, argument)
    if class_var is None:
        raise TypeError(f"{argument}: expected the name of a column, got None")


def check_levels(data: Countable | Schema, columns: Iterable[Hashable], rows: int | None = None) -> None:
    """Raise a ValueError for columns without a level, from which nothing can be learned."""
    empty = [name for name in columns if not data.cards[data.positions[name]]]
    if empty and (rows == 0 or (isinstance(data, Dataset) and not len(data))):
        raise ValueError("dataset: no rows to learn from")
    numeric = [name for name in empty if isinstance(data, Dataset) and name in data.numbers]
    if numeric:
        raise TypeError(f"column {listed(numeric)}: expected categories, got {NUMBERS_ADVICE}")
    if empty:
        raise ValueError(
            f"dataset: no value is known in {listed(empty)}; leave such columns out or, where this is a part "
            "of the data, make them categories before it is split"
        )
