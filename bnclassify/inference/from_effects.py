"""A table of effects as a model: read, checked, and made into tables of numbers."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..base import graphs
from ..base.checks import Instance, check_name, must_be
from ..base.immutable import record
from ..base.messages import listed, plain, repeated, shown
from ..frames.encoding import is_missing
from ..frames.schema import MISSING
from ..model.recipes import Recipe, Step
from .effects import RESERVED, UNSEEN, EffectTable, Values, build

_INTERVAL = re.compile(r"\(\s*([^\s,()\[\]]+),\s*([^\s,()\[\]]+)\]")


def from_effects(table: pd.DataFrame, *, class_var: Hashable | None = None) -> EffectTable:
    """Make a model of a table of effects, as `effects` returns it or edited.

    Parameters
    ----------
    table : pandas.DataFrame
        The columns ``feature``, ``value``, one column of numbers per class (of two classes, only the last)
        and, if a feature depends on another one, ``given`` and ``given_value``, which are empty for other
        features. Rows can be in any order, and a column ``share`` is optional. See `effects`.
    class_var : str, optional
        Name of the class. By default, the feature of the first row. Its row has the base of the log odds and,
        for two classes, the first class as its value.

    Returns
    -------
    EffectTable
        A fitted model, whose log odds are the sums of the entries of the table. All functions that predict,
        explain, evaluate, draw and export accept it. `cv` evaluates the table as it is, without fitting it
        again.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column is absent, a number is missing, two rows have the same values, the intervals of a feature
        overlap or leave a gap, or a feature has no row for some value of its feature parent.

    Notes
    -----
    Values are labels, or intervals that are closed on the right and together contain all numbers, from
    ``-inf`` to ``inf``: ``pandas.Interval`` or text such as ``(99.5, 127.5]``, as in a file. A missing value
    has the effect in the row ``"(missing)"``, and 0 without such a row. With a row ``"(unseen)"``, all other
    labels have its effect; without one, they are unseen, as in `predict`. Classes that have no row have a
    base of 0.

    Examples
    --------
    A table can be edited like any other. Here, a missing answer becomes evidence:

    >>> from bnclassify import bnc, effects, from_effects, load_voting, predict
    >>> voting = load_voting()[["crime", "physician_fee_freeze", "Class"]]
    >>> table = effects(bnc("nb", "Class", voting, smooth=1))
    >>> table.loc[3, "republican"] = -1.0
    >>> edited = from_effects(table)
    >>> predict(edited, {"physician_fee_freeze": "y"}, prob=True).round(3)
    Class  democrat  republican
    0         0.201       0.799
    """
    Instance(pd.DataFrame, "a DataFrame, as effects returns it").check("table", table)
    _check_columns(table)
    frame = table.reset_index(drop=True).astype(object)
    names = [name for name in frame.columns if name not in RESERVED]
    features = frame["feature"].tolist()
    class_var = features[0] if class_var is None and features else class_var
    check_name(class_var)
    numbers = _read_numbers(frame, names)
    is_base = np.array([feature == class_var for feature in features], dtype=bool)
    classes, constant = _read_base(frame[is_base], numbers[is_base], names, class_var)
    if len(names) == 1:
        numbers = np.column_stack([np.zeros(len(numbers)), numbers])
    groups = {name: np.flatnonzero([f == name for f in features]) for name in dict.fromkeys(features)}
    groups.pop(class_var, None)
    values = {name: _read_values(name, frame["value"][rows].tolist()) for name, rows in groups.items()}
    parents = {name: _parent_of(name, frame, rows, values) for name, rows in groups.items()}
    if cycle := graphs.find_cycle(parents):
        raise ValueError(f"given must not form a cycle; got one of {listed(cycle)}. Correct the column.")
    tables = [_fill(name, parents[name], frame, groups[name], numbers, values) for name in groups]
    shares = _shares(frame, groups, values) if "share" in frame else ()
    fields: dict[str, Any] = {"tables": tuple(tables), "constant": constant, "shares": shares}
    model = build(class_var, classes, values, parents, **fields)
    structure = Step("from_effects", given_table, {"model": model})
    return replace(model, recipe=Recipe(class_var, structure, model.features, Step("as given", as_given)))


@record
def given_table(class_var: Hashable, dataset: object, *, model: EffectTable) -> EffectTable:
    """Return a table that was given, whatever the data are."""
    return model


@record
def as_given(x: Any, data: object) -> Any:
    """Return a model as it is."""
    return x


def _check_columns(table: pd.DataFrame) -> None:
    """Raise an error unless a table has the columns that it needs, each once."""
    columns = list(table.columns)
    absent = [name for name in ("feature", "value") if name not in columns]
    absent += ["given_value"] if "given" in columns and "given_value" not in columns else []
    if absent:
        raise KeyError(f"table must have a column {listed(absent)}; got {listed(columns)}.")
    if twice := repeated(columns):
        raise ValueError(f"table must have distinct columns; got {listed(twice)} twice.")
    if not set(columns) - set(RESERVED):
        raise KeyError(f"table must have a column of numbers for a class; got {listed(columns)}.")


def _read_numbers(frame: pd.DataFrame, names: Sequence[Hashable]) -> Any:
    """Return the effects on classes, (rows, classes), or raise an error that names a row."""
    columns = []
    for name in names:
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            at = f"{shown(frame['feature'][row])}, value {shown(frame['value'][row])}"
            raise ValueError(
                f"table must have a finite number in every row of {shown(name)}; got "
                f"{shown(frame[name][row])} for {at}."
            )
        columns.append(numbers)
    return np.column_stack(columns)


def _read_base(
    rows: pd.DataFrame, numbers: Any, names: Sequence[Hashable], class_var: Hashable
) -> tuple[tuple[Any, ...], Any]:
    """Return the classes, and the log odds before any feature is known."""
    if len(rows) > 1 or (len(names) == 1 and not len(rows)):
        remedy = "Its value is the other class." if len(names) == 1 else "Pass the class as class_var."
        raise ValueError(
            f"table must have one row of the class {shown(class_var)}; got {len(rows)} rows. {remedy}"
        )
    base = numbers[0] if len(rows) else np.zeros(len(names))
    if len(names) > 1:
        return tuple(map(plain, names)), base
    classes = plain(rows["value"].iloc[0]), plain(names[0])
    if classes[0] == classes[1] or is_missing(classes[0]):
        raise ValueError(must_be("table", "a table of two different classes", classes))
    return classes, np.append(0.0, base)


def _as_interval(value: Any) -> pd.Interval | None:
    """Return an interval, which may be written as text, or None."""
    if isinstance(value, str) and (found := _INTERVAL.fullmatch(value)):
        try:
            value = pd.Interval(float(found[1]), float(found[2]))
        except ValueError:
            return None
    return value if isinstance(value, pd.Interval) else None


def _read_values(name: Hashable, column: Sequence[Any]) -> Values:
    """Return the values of a feature without missing ones, or raise."""
    values = list(dict.fromkeys(plain(value) for value in column))
    if any(map(is_missing, values)):
        raise ValueError(f"value must be a label, an interval or '(missing)'; got nothing for {shown(name)}.")
    known = [value for value in values if not isinstance(value, str) or value not in (MISSING, UNSEEN)]
    intervals = list(map(_as_interval, known))
    if not known or None in intervals:
        if any(isinstance(value, pd.Interval) for value in known):
            raise ValueError(
                f"value must be intervals or labels, not both; got both for {shown(name)}: {listed(known)}."
            )
        return Values((*known, *[UNSEEN] * (UNSEEN in values)))
    return Values.between(_cuts_between(name, [interval for interval in intervals if interval is not None]))


def _cuts_between(name: Hashable, intervals: Sequence[pd.Interval]) -> list[float]:
    """Return the cut points between intervals that contain every number once, or raise an error."""
    ordered = sorted(intervals, key=lambda interval: (interval.left, interval.right))
    problem = next((f"{i} is not closed on the right" for i in ordered if i.closed != "right"), "")
    ends = [-np.inf, *[interval.right for interval in ordered]]
    for end, interval in zip(ends, [*ordered, pd.Interval(np.inf, np.inf)], strict=True):
        if end > interval.left:
            before = ordered[ends.index(end) - 1]
            problem = problem or f"{before} and {interval} overlap"
        elif end < interval.left:
            problem = problem or f"({end}, {interval.left}] has no row"
    if problem:
        raise ValueError(
            f"table must have intervals of {shown(name)} that contain every number once, such as (-inf, 50] "
            f"and (50, inf]; {problem}."
        )
    return [float(low.right) for low, _ in pairwise(ordered)]


def _parent_of(
    name: Hashable, frame: pd.DataFrame, rows: Any, values: Mapping[Hashable, Values]
) -> tuple[Hashable, ...]:
    """Return the feature parent of a feature, or raise."""
    if "given" not in frame:
        return ()
    column = frame["given"][rows].tolist()
    found = {None if is_missing(parent) or parent == "" else parent for parent in column}
    if len(found) > 1 or not found <= {None, *values} or name in found:
        raise ValueError(
            f"given must be one other feature of the table in all rows of {shown(name)}, or empty; got "
            f"{listed(list(dict.fromkeys(column)))}."
        )
    return tuple(found - {None})


def _places(values: Values) -> dict[Any, int]:
    """Return the row of each value in a table of numbers."""
    ends = [] if values.cuts is None else [-np.inf, *values.cuts, np.inf]
    labels = values.labels if values.cuts is None else [pd.Interval(*pair) for pair in pairwise(ends)]
    return {label: i for i, label in enumerate((*labels, MISSING))}


def _key(value: Any, values: Values) -> Any:
    return value if values.cuts is None or value == MISSING else _as_interval(value)


def _fill(
    name: Hashable,
    parents: Sequence[Hashable],
    frame: pd.DataFrame,
    rows: Any,
    numbers: Any,
    values: Mapping[Hashable, Values],
) -> Any:
    """Return the effects of a feature as an array, or raise if a row is repeated or absent."""
    own, above = _places(values[name]), [_places(values[parent]) for parent in parents]
    table = np.full((len(own), *map(len, above), numbers.shape[1]), np.nan)
    for row in rows:
        at = [own.get(_key(plain(frame["value"][row]), values[name]))]
        texts = [f"{shown(name)} = {frame['value'][row]}"]
        for parent, places in zip(parents, above, strict=True):
            at.append(places.get(_key(plain(frame["given_value"][row]), values[parent])))
            texts.append(f"{shown(parent)} = {frame['given_value'][row]}")
        if None in at:
            problem = "is not a value of the table" if at[0] is not None else "is not an interval"
            raise ValueError(f"table must have known values; {' given '.join(texts)} {problem}.")
        if not np.isnan(table[tuple(at)]).all():
            raise ValueError(f"table must have one row per value; got two for {' given '.join(texts)}.")
        table[tuple(at)] = numbers[row]
    if above and UNSEEN in above[0]:  # like a missing parent if it has no rows
        table[:, -2] = np.where(np.isnan(table[:, -2]), np.nan_to_num(table[:, -1], nan=0.0), table[:, -2])
    known = table[(slice(-1),) * (1 + len(above))]
    if np.isnan(known).any():
        absent = np.argwhere(np.isnan(known))[0]
        labels = [list(places)[i] for places, i in zip([own, *above], absent, strict=False)]
        raise ValueError(
            f"table must have a row for every pair of values of {listed([name, *parents])}; got none for "
            f"{' given '.join(map(str, labels))}."
        )
    return np.nan_to_num(table, nan=0.0)


def _shares(
    frame: pd.DataFrame, groups: Mapping[Hashable, Any], values: Mapping[Hashable, Values]
) -> tuple[Any, ...]:
    """Return the shares of the values of each feature, or nothing if some are missing."""
    shares = pd.to_numeric(frame["share"], errors="coerce").to_numpy(dtype=np.float64)
    found = []
    for name, rows in groups.items():
        places = _places(values[name])
        at = [places[_key(plain(frame["value"][row]), values[name])] for row in rows]
        found.append(np.bincount(at, shares[rows], len(places)))
    if not all(np.isfinite(share).all() and share.min() >= 0 and 0 < share.sum() <= 1.001 for share in found):
        return ()
    return tuple([share / share.sum() for share in found])
