"""What each value of each feature adds to the log odds of the classes, as a table."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..accessors import check_fitted, encode_for_model
from ..dataset import MISSING, Dataset, Opened, codes_by_levels
from ..frames import AnyTable, open_rows
from ..model import Model
from ..prediction import target_position
from ..tools.arrays import Array, Codes, Mask, Positions
from ..tools.checks import Optional, Whole
from ..tools.messages import listed, repeated_items, shown
from .effect_table import (
    RESERVED,
    EffectTable,
    PairEffects,
    cell_weights,
    intervals_between_cuts,
)
from .tabulate import check_no_marks, tabulate_effects

_Row: TypeAlias = tuple[Hashable, ...]

BASE = "(base)"
"""The value of the class in a table of several classes."""


def effects(
    x: Model,
    dataset: AnyTable | None = None,
    *,
    target: Hashable | None = None,
    steps: int | None = None,
    class_var: Hashable | None = None,
) -> pd.DataFrame:
    """Return a table with the effect of each value on the log odds.

    For complete rows, the table is the whole model: their log odds are the sum
    of the entries for their values. After editing the table, `from_effects`
    turns it into a model again, which weighs unknown values as `x` does if it
    has the training data as its ``dataset``.

    Parameters
    ----------
    x : BNC or another model
        A fitted model that is a sum: the default of `bnc`, naive Bayes with or
        without weights, or a tree (the effect of a feature can then depend on
        one other feature).
    dataset : pandas.DataFrame, Dataset or another frame, optional
        Data for the column ``share`` and, if they contain a class with two
        labels, ``observed``. By default, the table does not have these columns.
    target : optional
        With two classes, the class that the effects refer to. By default, the
        last one.
    steps : int, optional
        Maximum number of intervals per numeric feature, by default 32. If the
        model has more, or its effect is a curve, the neighboring intervals that
        differ least are merged. Choose fewer for a table to read. By default, a
        table of effects keeps its intervals.
    class_var : str, optional
        The class, if `x` has several.

    Returns
    -------
    pandas.DataFrame
        One row for the class, and one row per ``feature`` and ``value``: a
        label, an interval, ``"(missing)"``, or ``"(unseen)"`` for all other
        values. If the effect depends on another feature, ``given`` names it,
        with one row per ``given_value``. With two classes, the effects are in a
        column with the name of the target; with more, there is one column per
        class, and the effects of a value sum to 0. ``share`` is the proportion
        of rows in `dataset` with the value, and ``observed`` the proportion of
        the target among them, NaN without rows.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the log odds of `x` are not a sum, or are infinite, if a label is
        ``"(missing)"``, or if a target is given for more than two classes.

    Notes
    -----
    The table is exact if the effects of the model are steps. If an effect is a
    curve, the entry of an interval is its mean over the training data; 32
    intervals usually cost less than .001 of log-loss. Intervals are merged so
    that the variance of the effect within intervals grows least.

    The effect of a missing value is 0 if the model ignores it. In a tree, a
    value whose parent is missing has its effect given the class alone.
    Posteriors of incomplete rows can therefore differ from the posteriors of
    `x` if it is a tree, or has a rule for incomplete rows.

    Correlated features share their effect on the class. An effect can therefore
    rise from one value to the next while ``observed`` falls, because other
    features explain the difference. This is correct for predictions, but
    misleading if the feature is read alone; `monotonize` can exclude it.

    Examples
    --------
    >>> from bnclassify import bnc, effects, load_voting
    >>> voting = load_voting()[["crime", "physician_fee_freeze", "Class"]]
    >>> model = bnc("nb", "Class", voting, smooth=1)
    >>> effects(model, voting).round(2)
                    feature      value  republican  share  observed
    0                 Class   democrat       -0.46   1.00      0.39
    1                 crime          n       -3.27   0.39      0.02
    2                 crime          y        1.02   0.57      0.64
    3                 crime  (missing)        0.00   0.04      0.41
    4  physician_fee_freeze          n       -3.96   0.57      0.01
    5  physician_fee_freeze          y        2.84   0.41      0.92
    6  physician_fee_freeze  (missing)        0.00   0.03      0.27
    """
    Optional(Whole(least=2, most=1000)).check("steps", steps)
    table = tabulate_effects(check_fitted(x).model_of_class(class_var), steps, dataset)
    names = table.known_levels[-1]
    if target is not None and len(names) > 2:
        raise ValueError(
            "target must be None for more than two classes, of which each has a column; "
            f"got {shown(target)}."
        )
    c = target_position(names, target)
    columns = list(names) if c is None else [names[c]]
    if twice := repeated_items([*RESERVED, *columns]):
        raise ValueError(f"x must have classes of other names than {listed(twice)}. Rename them.")
    check_no_marks(table)
    rows: list[_Row] = [(table.class_var, BASE if c is None else names[1 - c], "", "")]
    entries = [table.constant + table.class_shift, *table.tables]
    for name, j in zip(table.features, table.parent_of_each_feature, strict=True):
        parent = "" if j is None else table.features[j]
        others = [""] if j is None else table.shown_values(parent)
        for value, other in product(table.shown_values(name), others):
            rows.append((name, value, parent, other))
    for pair in table.pairs:
        rows_of_pair, effects_of_pair = rows_and_effects_of_pair(table, pair)
        rows += rows_of_pair
        entries.append(effects_of_pair)
    frame = pd.DataFrame(rows, columns=["feature", "value", "given", "given_value"], dtype=object)
    if not table.pairs and not any(table.feature_parents.values()):
        frame = frame.drop(columns=["given", "given_value"])
    logs = np.concatenate([each.reshape(-1, len(names)) for each in entries])
    logs = logs if c is None else logs[:, [c]] - logs[:, [1 - c]]
    for i, label in enumerate(columns):
        frame[label] = logs[:, i]
    if dataset is not None:
        frame = frame.assign(**_share_and_observed_columns(table, open_rows(dataset, "dataset"), c))
    return frame


def _share_and_observed_columns(
    x: EffectTable, rows: Opened[Dataset], c: int | None
) -> dict[str, Array]:
    """Return the share of rows with each value and, of two classes, the share of one in these."""
    has_class = c is not None and x.class_var in rows.columns
    data = encode_for_model(x, rows, x.variables if has_class else x.features, "dataset")
    counts = _all_cell_weights(x, data)
    shares = {"share": np.concatenate([[1.0], *[n.ravel() / (n.sum() or 1.0) for n in counts]])}
    if has_class:
        labels = codes_by_levels(
            data, (x.class_var,), x.known_levels[-1:], unseen="missing"
        ).ravel()
        weights = list[Array]()
        for used in (labels == c, labels >= 0):
            tables = [data.row_weights[used].sum(), *_all_cell_weights(x, data, used)]
            weights.append(np.concatenate([np.ravel(table) for table in tables]))
        with np.errstate(invalid="ignore"):
            shares["observed"] = weights[0] / weights[1]
    return shares


def _all_cell_weights(x: EffectTable, data: Dataset, rows: Mask | None = None) -> list[Array]:
    """Return the weight of the rows, or of some of them, by value in each table and pair."""
    of_pairs = [cell_weights_of_pair(x, pair, data, rows) for pair in x.pairs]
    return [*cell_weights(x, data, rows), *of_pairs]


class _PairAxis(NamedTuple):
    """The values of a feature in a pair's table, the group of each, and the value of each code."""

    values: list[Hashable]
    groups: Positions
    places: Positions


def _pair_axes(x: EffectTable, pair: PairEffects) -> list[_PairAxis]:
    """Return the values of both features in a pair: the intervals of their groups, or their labels.

    The last is that of missing values, if these have effects.
    """
    axes = list[_PairAxis]()
    for i, groups in zip(pair.features, pair.groups, strict=True):
        cuts, missing = x.cuts.get(x.features[i]), [MISSING] * int(groups[-1] >= 0)
        if cuts is None:
            labels = [*x.known_levels[i], *missing]
            places = np.append(np.arange(len(groups) - 1), len(labels) - 1 if missing else -1)
            axes.append(_PairAxis(labels, groups[: len(labels)], places))
        else:
            ends: list[int] = np.flatnonzero(np.diff(groups[:-1])).tolist()
            values = intervals_between_cuts([cuts[end] for end in ends]) + missing
            axes.append(_PairAxis(values, np.arange(len(values)), groups))
    return axes


def rows_and_effects_of_pair(x: EffectTable, pair: PairEffects) -> tuple[list[_Row], Array]:
    """Return feature, value, given and given value of the rows of a pair, and each effect."""
    first, second = _pair_axes(x, pair)
    name, given = [x.features[i] for i in pair.features]
    values = product(first.values, second.values)
    rows: list[_Row] = [(name, value, given, other) for value, other in values]
    return rows, pair.table[np.ix_(first.groups, second.groups)]


def cell_weights_of_pair(
    x: EffectTable, pair: PairEffects, data: Dataset, rows: Mask | None = None
) -> Array:
    """Return the weight of the rows, or of some of them, in each row of the table of a pair."""
    codes = x.rows_to_score(data, "missing").codes
    weights = data.row_weights if rows is None else data.row_weights * rows
    first, second = _pair_axes(x, pair)
    first_codes: Codes = codes[pair.features[0]]
    second_codes: Codes = codes[pair.features[1]]
    down, across = first.places.take(first_codes), second.places.take(second_codes)
    known = (down >= 0) & (across >= 0)
    cells = down[known] * len(second.values) + across[known]
    n_cells = len(first.values) * len(second.values)
    return np.bincount(cells, weights[known], n_cells).astype(np.float64)
