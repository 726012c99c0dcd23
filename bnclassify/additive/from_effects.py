"""A table of effects as a model: read, checked, and made into tables of numbers."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..dataset import MISSING, Columns
from ..frames import AnyTable, is_missing, open_rows
from ..model import GIVEN, Model, Recipe, Step
from ..tools import graphs
from ..tools.arrays import Array, Positions
from ..tools.checks import Instance, check_column_name, must_be
from ..tools.immutable import record
from ..tools.messages import listed, repeated_items, shown, to_python_scalar
from .effect_table import (
    RESERVED,
    UNSEEN,
    EffectTable,
    PairEffects,
    Values,
    build_effect_table,
    intervals_between_cuts,
    training_rows,
    with_effect_moments,
    with_value_shares,
)

_Names: TypeAlias = tuple[Hashable, Hashable]
_Axes: TypeAlias = "list[_Axis]"

_LARGEST_EFFECT = 1e6

_BOOLEANS: dict[Hashable, bool] = {"True": True, "False": False}
_INTERVAL = re.compile(r"\(\s*([^\s,()\[\]]+),\s*([^\s,()\[\]]+)(?:\]|(?<=inf)\))")


def from_effects(
    table: pd.DataFrame, *, class_var: Hashable | None = None, dataset: AnyTable | None = None
) -> EffectTable:
    """Make a model of a table of effects, as `effects` returns it or edited.

    Parameters
    ----------
    table : pandas.DataFrame
        The columns ``feature``, ``value``, one column of numbers per class (of
        two classes, only the last) and, if a feature depends on another one,
        ``given`` and ``given_value``, which are empty for other features. If a
        feature has rows with and without a given feature, the rows with it are
        the effects of a pair. Rows can be in any order. The columns ``share``
        and ``observed`` are optional. See `effects`.
    class_var : str, optional
        Name of the class. By default, the feature of the first row. Its row has
        the base of the log odds and, for two classes, the first class as its
        value.
    dataset : pandas.DataFrame, Dataset or another frame, optional
        Training data, with the class. From them, a sum of single effects learns
        the effects of unknown values given known values. Without data, unknown
        effects are 0, which is right for naive Bayes.

    Returns
    -------
    EffectTable
        A fitted model; its log odds are the sums of the entries of the table.
        All functions that predict, explain, evaluate, draw and export accept
        it. `cv` evaluates the table without fitting it again.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column is absent, a number is missing or beyond 1,000,000, a cut
        point is infinite, the first row is not the row of the class although
        `class_var` is not given, two rows have the same values, the intervals
        of a feature overlap or leave a gap, or a feature has no row for some
        value of its feature parent.

    Notes
    -----
    Values are labels, or intervals that are closed on the right and together
    contain all numbers, from ``-inf`` to ``inf``: ``pandas.Interval`` or text
    such as ``(99.5, 127.5]``, as in a file. The last interval may end with
    ``inf]`` or ``inf)``. Labels cannot be mixed with such text. A missing value
    has the effect in the row ``"(missing)"``, or 0 without such a row; with a
    dataset, it is unknown if it was never missing and this effect is 0, or if
    the row lacks more values than five training rows do, as in the default. If
    all values are text, as in a file, ``True`` and ``False`` of a feature
    without other labels are booleans, unless they are text in `dataset`. With a
    row ``"(unseen)"``, all other labels have its effect; without one, they are
    unseen, as in `predict`. Classes that have no row have a base of 0.

    Examples
    --------
    A table can be edited like any other. Here, a missing answer becomes
    evidence:

    >>> from bnclassify import bnc, effects, from_effects, load_voting, predict
    >>> voting = load_voting()[["crime", "physician_fee_freeze", "Class"]]
    >>> table = effects(bnc("nb", "Class", voting, smooth=1))
    >>> table.loc[3, "republican"] = -1.0
    >>> edited = from_effects(table)
    >>> predict(edited, {"crime": None, "physician_fee_freeze": "y"}, prob=True).round(3)
    Class  democrat  republican
    0         0.201       0.799
    """
    Instance(pd.DataFrame, "a DataFrame, as effects returns it").check("table", table)
    frame = _check_columns_of_effects(table).reset_index(drop=True).astype(object)
    names = [name for name in frame.columns if name not in RESERVED]
    numbers = np.column_stack([_read_column_of_effects(frame, name) for name in names])
    features: list[Hashable] = frame["feature"].tolist()
    if class_var is None:
        class_var, n = features[0], features.count(features[0])
        single = [
            name
            for name, value in zip(features, frame["value"].tolist(), strict=True)
            if features.count(name) == 1 and _parse_interval(value) is None
        ]
        if n > 1 and single:  # the first row is not that of the class, and another one can be
            raise ValueError(
                f"table must begin with the row of the class; got {n} rows of {shown(class_var)}. "
                f"Pass the name of the class, such as class_var={single[0]!r}, which has one row."
            )
    check_column_name(class_var)
    frame = _read_text_as_booleans(frame, class_var, dataset)
    groups, of_pairs = _rows_of_features_and_of_pairs(frame, features)
    of_class = groups.pop(class_var, [])
    classes, constant = _read_classes_and_base(
        frame["value"][of_class], numbers[of_class], names, class_var
    )
    if len(names) == 1:
        numbers = np.column_stack([np.zeros(len(numbers)), numbers])
    axes = {
        name: _Axis(_read_values_of_feature(name, frame["value"][rows]))
        for name, rows in groups.items()
    }
    parents = _feature_parents(frame, groups, axes)
    tables, shares = list[Array](), list[Array]()
    for name, rows in groups.items():
        own, above = frame.iloc[rows], [axes[v] for v in (name, *parents[name])]
        tables.append(_effects_of_feature(name, own, above, numbers[rows]))
        if "share" in frame:  # of values; NaN if that of one is not known
            masses = pd.to_numeric(own["share"], errors="coerce").to_numpy(dtype=np.float64)
            masses = np.where(masses >= 0, masses, np.inf)[:, None]
            known = _effects_of_feature(name, own, above, masses)
            total: Array = known.reshape(len(known), -1).sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares.append(total / float(total.sum()))
    values = {name: axis.feature_values for name, axis in axes.items()}
    fields: dict[str, Any] = {"tables": tuple(tables), "constant": constant}
    fields["shares"] = tuple(shares) if all(np.isfinite(n).all() for n in shares) else ()
    if of_pairs:
        pair_axes = _value_axes_of_pairs(frame, of_pairs, values)
        values, fields = _with_cuts_of_pairs(values, fields, pair_axes)
        pairs = pair_axes.items()
        fields["pairs"] = tuple(
            [_read_pair(frame, of_pairs[pair], numbers, own, values) for pair, own in pairs]
        )
    model = build_effect_table(class_var, classes, values, parents, **fields)
    if dataset is not None:
        dataset = training_rows(model, dataset)
        model = with_value_shares(model, dataset)
        model = model if any(parents.values()) else with_effect_moments(model, dataset)
    structure = Step("from_effects", given_table, {"model": model})
    return replace(
        model, recipe=Recipe(class_var, structure, model.features, Step("as given", as_given))
    )


@record
def given_table(class_var: Hashable, dataset: object, *, model: EffectTable) -> EffectTable:
    """Return a table that was given, whatever the data are."""
    return model


@record
def as_given(x: Model, data: object) -> Model:
    """Return a model as it is."""
    return x


GIVEN.add(as_given)


def _read_text_as_booleans(
    frame: pd.DataFrame, class_var: Hashable, dataset: AnyTable | None
) -> pd.DataFrame:
    """Return a table with booleans in place of text that is all labels of a feature, as in a file.

    Text of a feature that is also text in the dataset is kept.
    """
    if not all(isinstance(value, str) for value in frame["value"]):
        return frame  # not from a file
    frame, rows = frame.copy(), None if dataset is None else open_rows(dataset, "dataset")
    columns = [("feature", "value"), *[("given", "given_value")] * ("given" in frame)]
    for name, values in frame.groupby("feature", sort=False)["value"]:
        own = set(values) - {MISSING, UNSEEN}
        if name == class_var or not own or not own <= {*_BOOLEANS}:
            continue
        if rows is not None and name in rows.columns:
            labels = rows.encode(Columns((name,))).levels[0]
            if own & {*labels}:
                continue
        for feature, value in columns:
            at = frame[feature] == name
            frame.loc[at, value] = [_BOOLEANS.get(label, label) for label in frame.loc[at, value]]
    return frame


def _rows_of_features_and_of_pairs(
    frame: pd.DataFrame, features: Sequence[Hashable]
) -> tuple[dict[Hashable, list[int]], dict[_Names, list[int]]]:
    """Return the rows of each feature and of each pair, which are those given another feature."""
    given: list[Hashable] = frame["given"].tolist() if "given" in frame else [""] * len(frame)
    is_given = [not is_missing(name) and name != "" for name in given]
    alone = {name for name, has_given in zip(features, is_given, strict=True) if not has_given}
    groups: dict[Hashable, list[int]] = {}
    pairs: dict[_Names, list[int]] = {}
    for row, name in enumerate(features):
        if is_given[row] and name in alone:
            pairs.setdefault((name, given[row]), []).append(row)
        else:
            groups.setdefault(name, []).append(row)
    return groups, pairs


def _with_cuts_of_pairs(
    values: Mapping[Hashable, Values], fields: dict[str, Any], pairs: Mapping[_Names, _Axes]
) -> tuple[dict[Hashable, Values], dict[str, Any]]:
    """Return values and tables of features with the cut points of their pairs, too.

    Example: with the cuts 2 and, in a pair, 1, the effects (a, b) of two
    intervals become (a, a, b).
    """
    fine, tables, shares = dict(values), list(fields["tables"]), fields["shares"]
    for i, (name, own) in enumerate(values.items()):
        if own.cuts is None:
            continue
        cuts = {*own.cuts}
        for names, axes in pairs.items():
            if name in names:
                cuts |= {*(axes[names.index(name)].feature_values.cuts or ())}
        if len(cuts) > len(own.cuts):
            points = sorted(cuts)
            fine[name], shares = Values.from_cuts(points), ()  # those of parts are not known
            at = np.searchsorted(own.cuts, [*points, np.inf], side="left")
            tables[i] = tables[i][np.append(at, -1)]
    return fine, {**fields, "tables": tuple(tables), "shares": shares}


def _read_pair(
    frame: pd.DataFrame,
    rows: list[int],
    numbers: Array,
    axes: _Axes,
    values: Mapping[Hashable, Values],
) -> PairEffects:
    """Return the effects of a pair from its rows, or raise if a row is repeated or absent."""
    names = (frame["feature"][rows[0]], frame["given"][rows[0]])
    every = f"combination of values of {shown(names[0])} and {shown(names[1])}"
    table = _place_rows_on_axes(frame.iloc[rows], axes, numbers[rows], every)
    _check_no_row_absent(table, axes, every)
    table = np.pad(table, ((0, 1), (0, 1), (0, 0)))  # of unknown values
    groups = list[Positions]()  # of each value of a feature, the last of a missing one, or -1
    for name, axis in zip(names, axes, strict=True):
        own, of_pair = values[name], axis.feature_values
        if own.cuts is None:
            of_values = np.array(list(map(of_pair.labels.index, own.labels)), dtype=np.intp)
        else:
            of_values = np.searchsorted(np.array(of_pair.cuts or ()), [*own.cuts, np.inf])
        groups.append(np.append(of_values, axis.positions.get(MISSING, -1)))
    i, j = [list(values).index(name) for name in names]
    if i < j:
        return PairEffects((i, j), (groups[0], groups[1]), table)
    return PairEffects((j, i), (groups[1], groups[0]), np.swapaxes(table, 0, 1))


def _value_axes_of_pairs(
    frame: pd.DataFrame, pairs: Mapping[_Names, list[int]], values: Mapping[Hashable, Values]
) -> dict[_Names, _Axes]:
    """Return the values of both features of each pair, as its rows of the table have them."""
    read: dict[_Names, _Axes] = {}
    for pair, rows in pairs.items():
        if not {*pair} <= {*values} or pair[0] == pair[1] or pair[::-1] in read:
            raise ValueError(
                "given must be another feature of the table, once for each pair; "
                f"got {listed(pair)}."
            )
        read[pair] = []
        for name, column in zip(pair, ("value", "given_value"), strict=True):
            own, alone = _read_values_of_feature(name, frame[column][rows]), values[name]
            labels_differ = own.cuts is None and {*own.labels} != {*alone.labels}
            if (own.cuts is None) != (alone.cuts is None) or labels_differ:
                raise ValueError(
                    f"table must have the same labels of {shown(name)} in the rows of a pair as in "
                    f"its own rows, or intervals in both; got {listed(own.labels)}."
                )
            has_missing = bool((frame[column][rows] == MISSING).any())
            read[pair].append(_Axis(own, has_missing=has_missing))
    return read


def _check_columns_of_effects(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table that has the columns that it needs, each once, or raise an error."""
    columns = list(table.columns)
    needed = ["feature", "value", *["given_value"] * ("given" in columns)]
    if twice := repeated_items(columns):
        raise ValueError(f"table must have distinct columns; got {listed(twice)} twice.")
    if absent := [name for name in needed if name not in columns]:
        raise KeyError(f"table must have a column {listed(absent)}; got {listed(columns)}.")
    if not set(columns) - set(RESERVED):
        raise KeyError(f"table must have a column of numbers for a class; got {listed(columns)}.")
    if not len(table):
        raise ValueError("table must have rows, as effects returns them; got 0 rows.")
    return table


def _read_column_of_effects(frame: pd.DataFrame, name: Hashable) -> Array:
    """Return the effects on a class, (rows,), or raise an error that names a row."""
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
    for row in list[int](np.flatnonzero(~np.isfinite(numbers)).tolist()):
        raise ValueError(
            f"table must have a finite number in every row of {shown(name)}; got "
            f"{shown(frame[name][row])} for {shown(frame['feature'][row])}, value "
            f"{shown(frame['value'][row])}."
        )
    for row in list[int](np.flatnonzero(np.abs(numbers) > _LARGEST_EFFECT).tolist()):
        raise ValueError(
            f"table must have effects from -1,000,000 to 1,000,000, in log odds; got "
            f"{numbers[row]:g} for {shown(frame['feature'][row])}, value "
            f"{shown(frame['value'][row])}. An effect of 40 is already practically certain."
        )
    return numbers


def _read_classes_and_base(
    values: pd.Series[Any], numbers: Array, names: Sequence[Hashable], class_var: Hashable
) -> tuple[tuple[Hashable, ...], Array]:
    """Return the classes, and the log odds before any feature is known."""
    if len(values) > 1 or (len(names) == 1 and not len(values)):
        remedy = (
            "Its value is the other class." if len(names) == 1 else "Pass the class as class_var."
        )
        raise ValueError(
            f"table must have one row of the class {shown(class_var)}; got "
            f"{len(values)} rows. {remedy}"
        )
    base = numbers.ravel() if len(values) else np.zeros(len(names))
    if len(names) > 1:
        return tuple(map(to_python_scalar, names)), base
    classes: tuple[Hashable, Hashable] = (
        to_python_scalar(values.iloc[0]),
        to_python_scalar(names[0]),
    )
    if classes[0] == classes[1] or is_missing(classes[0]):
        raise ValueError(must_be("table", "a table of two different classes", classes))
    return classes, np.append(0.0, base)


class _Axis:
    """The values of a feature, and the position of each in a table of numbers."""

    def __init__(self, values: Values, has_missing: bool = True) -> None:
        self.feature_values = values
        labels = values.labels if values.cuts is None else intervals_between_cuts(values.cuts)
        shown_values = [*labels, *[MISSING] * has_missing]
        self.positions = {label: i for i, label in enumerate(shown_values)}

    def position_of(self, value: Hashable) -> int | None:
        """Return the position of a value, None if it has none."""
        label: Hashable = to_python_scalar(value)
        is_label = self.feature_values.cuts is None or label == MISSING
        return self.positions.get(label if is_label else _parse_interval(label))


def _parse_interval(value: object) -> pd.Interval[float] | None:
    """Return an interval, which may be written as text, or None."""
    if isinstance(value, str) and (found := _INTERVAL.fullmatch(value)):
        with suppress(ValueError):
            value = pd.Interval(float(found[1]), float(found[2]))
    return value if isinstance(value, pd.Interval) else None


def _read_values_of_feature(name: Hashable, column: pd.Series[Any]) -> Values:
    """Return the values of a feature without missing ones, or raise."""
    values = list(dict.fromkeys(list[Hashable](map(to_python_scalar, column))))
    if any(map(is_missing, values)):
        raise ValueError(
            f"value must be a label, an interval or '(missing)'; got nothing for {shown(name)}."
        )
    known = [
        value for value in values if not isinstance(value, str) or value not in (MISSING, UNSEEN)
    ]
    intervals = [interval for interval in map(_parse_interval, known) if interval is not None]
    if len(intervals) == len(known) and "inf" in "".join(map(str, known)):
        return Values.from_cuts(_cuts_between_intervals(name, intervals))
    odd = [value for value in known if _parse_interval(value) is None]
    if 0 < len(odd) < len(known):
        raise ValueError(
            "value must be intervals that begin with -inf and end with inf, or labels; got "
            f"{listed(odd or known)} for {shown(name)}. Write all intervals like (99.5, 127.5], or "
            "rename the labels."
        )
    return Values((*known, *[UNSEEN] * (UNSEEN in values)))


def _cuts_between_intervals(name: Hashable, intervals: Sequence[pd.Interval[float]]) -> list[float]:
    """Return the cut points between intervals that contain every number once, or raise an error."""
    ordered = sorted(intervals, key=lambda interval: (interval.left, interval.right))
    problem = next((f"{i} is not closed on the right" for i in ordered if i.closed != "right"), "")
    around = [pd.Interval(-np.inf, -np.inf), *ordered, pd.Interval(np.inf, np.inf)]
    for low, high in pairwise(around):
        if low.right != high.left:
            overlap = f"{low} and {high} overlap" if low.right > high.left else ""
            problem = problem or overlap or f"({low.right}, {high.left}] has no row"
    if problem:
        raise ValueError(
            f"table must have intervals of {shown(name)} that contain every number once, such as "
            f"(-inf, 50] and (50, inf]; got {listed(intervals)}, where {problem}."
        )
    cuts = [float(interval.right) for interval in ordered[:-1]]
    if infinite := [cut for cut in cuts if not isfinite(cut)]:
        raise ValueError(
            f"table must have finite cut points of {shown(name)}; got {listed(infinite)} in "
            f"{listed(intervals)}. Cut points beyond 1.8e308 are infinite."
        )
    return cuts


def _feature_parents(
    frame: pd.DataFrame, groups: Mapping[Hashable, list[int]], axes: Mapping[Hashable, _Axis]
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the feature parent of each feature, or raise if arcs form a cycle."""
    parents = dict[Hashable, tuple[Hashable, ...]]()
    for name, rows in groups.items():
        column: list[Hashable] = frame["given"][rows].tolist() if "given" in frame else [""]
        found = {None if is_missing(parent) or parent == "" else parent for parent in column}
        if len(found) > 1 or not found <= {None, *axes} - {name}:
            raise ValueError(
                f"given must be one other feature of the table in all rows of {shown(name)}, or "
                f"empty; got {listed(list(dict.fromkeys(column)))}."
            )
        parents[name] = tuple(found - {None})
    if cycle := graphs.find_cycle(parents):
        raise ValueError(
            f"given must not form a cycle; got one of {listed(cycle)}. Correct the column."
        )
    return parents


def _effects_of_feature(name: Hashable, rows: pd.DataFrame, axes: _Axes, numbers: Array) -> Array:
    """Return the effects of a feature as an array, or raise if a row is repeated or absent."""
    table = _place_rows_on_axes(rows, axes, numbers, f"value of {shown(name)}")
    if len(axes) > 1 and UNSEEN in axes[1].positions:  # like a missing parent if it has no rows
        table[:, -2] = np.where(np.isnan(table[:, -2]), table[:, -1], table[:, -2])
    known = table[(slice(-1),) * len(axes)]
    _check_no_row_absent(known, axes, f"value of {shown(name)}, and of the feature that is given")
    return np.asarray(np.nan_to_num(table, nan=0.0))


def _place_rows_on_axes(rows: pd.DataFrame, axes: _Axes, numbers: Array, every: str) -> Array:
    """Return numbers by position on the axes, NaN without a row, or raise if a row is repeated."""
    table = np.full((*[len(axis.positions) for axis in axes], numbers.shape[1]), np.nan)
    columns = ["value", "given_value"][: len(axes)]
    for row, values in enumerate(rows[columns].itertuples(index=False, name=None)):
        found = [axis.position_of(value) for axis, value in zip(axes, values, strict=True)]
        at = tuple([position for position in found if position is not None])
        if None in found or not np.isnan(table[at]).any():
            problem = "an unknown value" if None in found else "two rows"
            text = " given ".join(map(str, values))
            raise ValueError(f"table must have one row per {every}; got {problem}: {text}.")
        table[at] = numbers[row]
    return table


def _check_no_row_absent(table: Array, axes: _Axes, every: str) -> None:
    """Raise an error that names the first entry without a row."""
    for absent in list[list[int]](np.argwhere(np.isnan(table[..., 0])).tolist()):
        labels = [str(list(axis.positions)[i]) for axis, i in zip(axes, absent, strict=True)]
        raise ValueError(
            f"table must have a row for every {every}; got none for {' given '.join(labels)}."
        )
