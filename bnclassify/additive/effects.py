"""Tables of effects, written, read and changed: what each value adds to the log odds.

A model that is a sum becomes a table of numbers, which is written as a data
frame; a data frame is read and checked, and becomes a model. Effects are made
to rise or fall with a feature by isotonic regression.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, product
from math import isfinite
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..accessors import check_fitted, check_has_rows, check_not_dropped, encode_for_model
from ..dataset import MISSING, Columns, Dataset, Opened, codes_by_levels
from ..elimination import density_grid
from ..frames import AnyTable, is_missing, open_rows
from ..model import GIVEN, Model, Recipe, Step
from ..numbers import short_point_texts
from ..prediction import cards_of_features, positions_parents_first, target_position
from ..scores import (
    Rows,
    effect_of_feature_alone,
    effects_at,
    main_effects,
    scopes_of_terms,
    scores_at,
    scores_in_sequence,
    shifts_of_missing,
)
from ..tools import graphs
from ..tools.arrays import Array, Mask, Positions, log, log_normalize, softmax, weights_at
from ..tools.checks import Instance, OneOf, Optional, Whole, check_column_name, must_be
from ..tools.immutable import record
from ..tools.messages import listed, repeated_items, shown, to_python_scalar, warn
from .effect_table import (
    LEAST_MASS,
    RESERVED,
    UNSEEN,
    EffectTable,
    PairEffects,
    Values,
    build_effect_table,
    cell_weights,
    intervals_between_cuts,
    logs_less_reference,
    means_of_groups,
    merge_similar_intervals,
    training_rows,
    with_effect_moments,
    with_value_shares,
)
from .fit import fit_effects

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
    codes, counts = x.rows_to_score(data, "missing").codes, cell_weights(x, data, rows)
    weights = data.row_weights if rows is None else data.row_weights * rows
    for pair in x.pairs:
        axes = _pair_axes(x, pair)
        down, across = [axis.places[codes[i]] for axis, i in zip(axes, pair.features, strict=True)]
        known = (down >= 0) & (across >= 0)
        cells = down[known] * len(axes[1].values) + across[known]
        n_cells = len(axes[0].values) * len(axes[1].values)
        counts.append(np.bincount(cells, weights[known], n_cells).astype(np.float64))
    return counts


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
        cuts, missing = x.discretizer.cuts.get(x.features[i]), [MISSING] * int(groups[-1] >= 0)
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


class _Grid(NamedTuple):
    """Points of a feature at which a model is evaluated, and their positions on a table's axis.

    ``numbers`` are those of a density, and ``mass`` is the probability of each
    point or, if it is not yet known, the width that the point represents.
    """

    axis: Values
    codes: Positions
    position: Positions
    numbers: Array | None
    mass: Array


def check_no_marks(table: EffectTable) -> None:
    """Raise a ValueError if a label or a name means something else in a printed table."""
    if alike := [name for name in table.features if MISSING in table.levels_by_name[name]]:
        raise ValueError(
            f"x must have labels other than {MISSING!r}; got it in {listed(alike)}. Rename it, "
            "or make it missing."
        )
    if "" in table.features:
        raise ValueError(
            "x must have features with names other than '', which stands for no feature in the "
            "table. Rename the column before the fit."
        )


def tabulate_effects(
    x: object, steps: int | None = None, dataset: AnyTable | None = None
) -> EffectTable:
    """Return a model as a table with at most so many intervals per feature; a table stays as it is.

    The weights of the values of a feature are their shares in a dataset or,
    without one, in the model.
    """
    model = check_fitted(x)
    if not isinstance(model, EffectTable):
        if not _is_sum_of_effects(model):
            raise ValueError(
                "x must be a model whose log odds are a sum of effects of at most two features, of "
                f"which one is a parent of the other; got {model.type_in_words}, whose log odds "
                "are not. Use the default, bnc(class_var=..., dataset=...), or nb, tan_cl, or "
                "kdb_mi with dag_args={'kdbk': 1}."
            )
        model, steps = _tabulate_at_all_points(model), steps or 32  # intervals of a feature
    if len(model.known_levels[-1]) < 2:
        raise ValueError(f"x must have at least two classes; got {listed(model.known_levels[-1])}.")
    if steps is None:
        return model
    if model.pairs:
        raise ValueError(
            f"steps must be None for a sum with pairs, whose cut points are fixed; got {steps}."
        )
    return merge_similar_intervals(
        model if dataset is None else with_value_shares(model, dataset), steps
    )


def estimate_model_to_tabulate(
    parameters: Step, x: Model, data: Dataset, rng: np.random.Generator | None
) -> Model:
    """Estimate the parameters of the structure of a model whose table is to be made, or raise."""
    if isinstance(x, EffectTable) and parameters.first.function not in (as_given, fit_effects):
        raise ValueError(
            "dag must be True for a table of effects, which lacks the structure of its model."
        )
    estimated: Model = parameters(x, data, rng=rng)
    return estimated


def _tabulate_at_all_points(model: Model) -> EffectTable:
    """Return a sum of effects as a table, at all its cut points; raise if effects are infinite."""
    order, parents = positions_parents_first(model), model.feature_parents
    grids = [_grid_of_feature(model, name) for name in model.features]
    # Row r is at point r of each feature, and at its last one if it has fewer.
    numbers = np.arange(max([len(grid.codes) for grid in grids], default=1))
    positions = [np.minimum(numbers, len(grid.codes) - 1) for grid in grids]
    rows = _rows_at_grid_points(model, grids, positions)
    logs = _contributions_at_rows(model, rows, order)
    of_points = list[Array](logs[1:])  # ln P(point | class) of each feature, up to a constant
    alone = dict[int, Array]()  # effects of features with a parent given the class alone
    if any(parents.values()):
        cards = cards_of_features(model)
        of_points = [table[:-1] for table in main_effects(model.score, cards)]
        for i, grid in enumerate(grids):
            if grid.numbers is not None:
                of_points[i] = effect_of_feature_alone(model.score, i, rows)
        for owner, scope, effect in effects_at(model.score, rows, cards):
            if scope == (owner,):
                alone[owner] = alone.get(owner, 0.0) + effect
    prior = model.class_prior()
    for i, grid in enumerate(grids):
        own_logs = of_points[i][: len(grid.codes)]
        mass = softmax(own_logs + log(grid.mass)[:, None], axis=0) @ prior
        grids[i] = grid._replace(mass=np.maximum(np.nan_to_num(mass), LEAST_MASS))
    shifts = shifts_of_missing(model.score)
    tables, shares = list[Array](), list[Array]()
    for i, (own, above) in enumerate(zip(grids, parents.values(), strict=True)):
        size = len(own.axis.labels) + 1
        table = means_of_groups(logs[i + 1, : len(own.codes)], own.position, own.mass, size)
        if above:
            parent = model.features.index(above[0])
            table = _effects_given_parent(model, grids, i, parent, order, alone[i])
        if i in shifts:
            table[-1] = shifts[i]
        tables.append(logs_less_reference(table))
        shares.append(np.bincount(own.position, own.mass, size) / float(own.mass.sum()))
    constant = logs_less_reference(logs[0, :1]).ravel()
    if not all(np.isfinite(array).all() for array in (constant, *tables)):
        raise ValueError(
            "x must have positive probabilities only; got 0. Fit the model with smooth above 0."
        )
    values = dict(zip(model.features, [grid.axis for grid in grids], strict=True))
    made: dict[str, Any] = {"tables": tuple(tables), "constant": constant, "shares": tuple(shares)}
    made |= {"recipe": model.recipe}
    return build_effect_table(
        model.class_var, model.known_levels[-1], values, parents, model.discretizer, **made
    )


def _is_sum_of_effects(x: Model) -> bool:
    """Whether the log odds are a sum of terms of a feature and at most one parent."""
    if not x.one_class or x.is_sampled or x.parents.get(x.class_var):
        return False
    scopes, parents = scopes_of_terms(x.score), list(x.feature_parents.values())
    if scopes is None or any(len(above) > 1 for above in parents):
        return False
    families = [{i, *map(x.features.index, above)} for i, above in enumerate(parents)]
    return all(not scope or any(set(scope) <= own for own in families) for scope in scopes)


def _grid_of_feature(x: Model, name: Hashable) -> _Grid:
    """Return the points of a feature, and the values of its table.

    Example: with the cuts 1 and 4, the points are 1, 4 and ∞, one per interval.
    A density has a grid.
    """
    labels, cuts = x.levels_by_name[name], x.discretizer.cuts.get(name)
    if name in x.densities:
        numbers, widths = density_grid(x.densities[name])
        points = np.unique(np.array(short_point_texts(numbers[:-1].tolist()), dtype=np.float64))
        # Of the points with few digits, those without numbers between them are one.
        chosen = points[np.unique(np.searchsorted(points, numbers, side="left"))[:-1]]
        position = np.searchsorted(chosen, numbers, side="left")
        codes = np.zeros(len(numbers), dtype=np.intp)
        return _Grid(Values.from_cuts(chosen.tolist()), codes, position, numbers, widths)
    codes = np.arange(len(labels))
    card = len(labels) - (labels[-1:] == (MISSING,))
    if cuts is None:
        # Values that are merged, or unknown to the feature, are unseen ones.
        has_merged = name in x.merger.columns
        values = Values(
            (*labels[: card - has_merged], *[UNSEEN] * (has_merged or card < len(labels)))
        )
    else:
        values = Values.from_cuts(cuts)
    position = np.where(codes < card, codes, len(values.labels))
    return _Grid(values, codes, position, None, np.ones(len(codes)))


def _rows_at_grid_points(x: Model, grids: Sequence[_Grid], rows: Sequence[Positions]) -> Rows:
    """Return rows of the points of each feature at some positions."""
    codes = np.zeros((len(grids), len(rows[0]) if rows else 1), dtype=np.intp)
    numbers = dict[Hashable, Array]()
    for i, (grid, at) in enumerate(zip(grids, rows, strict=True)):
        codes[i] = grid.codes[at]
        if grid.numbers is not None:
            numbers[x.features[i]] = grid.numbers[at]
    return x.rows_from_codes(codes, numbers)


def _contributions_at_rows(x: Model, rows: Rows, order: Sequence[int]) -> Array:
    """Return logs of the class and contributions at rows, (1 + features, rows, classes)."""
    logs = scores_in_sequence(x.score, rows, order)
    with np.errstate(invalid="ignore"):
        logs[1:] = np.diff(logs, axis=0)[np.argsort(order)]
    return logs


def _effects_given_parent(
    x: Model, grids: Sequence[_Grid], i: int, j: int, order: Sequence[int], alone: Array
) -> Array:
    """Return effects given the parent j, (values, its values, classes): ``alone`` if missing."""
    own, parent = grids[i], grids[j]
    n, width, size = len(own.axis.labels) + 1, len(parent.axis.labels) + 1, len(own.codes)
    # Points of the parent with the same value and code count once, with their sum of masses.
    alike = np.stack([parent.position, parent.codes])
    _, chosen, group = np.unique(alike, axis=1, return_index=True, return_inverse=True)
    mass = np.outer(own.mass, np.bincount(group.ravel(), parent.mass))
    # One row per pair of points: (0, 0), (0, 1), …, (1, 0), …, and the other features at point 0.
    rows = [np.zeros(mass.size, dtype=np.intp) for _ in grids]
    rows[i], rows[j] = np.repeat(np.arange(size), len(chosen)), np.tile(chosen, size)
    logs = _contributions_at_rows(x, _rows_at_grid_points(x, grids, rows), order)[i + 1]
    cells = own.position[:, None] * width + parent.position[chosen]
    means = means_of_groups(logs, cells.ravel(), mass.ravel(), n * width)
    table = means.reshape(n, width, -1)
    absent = np.setdiff1d(np.arange(width), parent.position)
    table[:, absent] = means_of_groups(alone[:size], own.position, own.mass, n)[:, None]
    return table


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
        Training data, with the class. From them, the sum learns the effects of
        unknown values given known values, and how many values of a row can be
        missing. Without data, unknown effects are 0, which is right for naive
        Bayes, but not if features depend on each other.

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
    without other labels are booleans, and with `dataset`, labels that are all
    numbers are numbers, also of the class, unless they are text in `dataset`.
    With a row ``"(unseen)"``, all other labels have its effect; without one,
    they are unseen, as in `predict`. Classes that have no row have a base of 0.

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
    if "given" not in frame:
        frame[["given", "given_value"]] = ""
    frame["given"] = ["" if is_missing(name) else name for name in frame["given"]]
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
    of_features = frame["value"][frame["feature"] != class_var]
    is_file = all(isinstance(value, str) for value in of_features)
    opened = open_rows(dataset, "dataset") if is_file and dataset is not None else None
    if is_file:
        frame = _read_text_as_labels(frame, class_var, opened)
    groups, of_pairs = _rows_of_features_and_of_pairs(frame, features)
    of_class = groups.pop(class_var, [])
    classes, constant = _read_classes_and_base(
        frame["value"][of_class], numbers[of_class], names, class_var
    )
    if opened is not None and all(isinstance(label, str) for label in classes):
        labels = _labels_of_text(class_var, classes, opened)
        classes = tuple([labels.get(label, label) for label in classes])
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


def _read_text_as_labels(
    frame: pd.DataFrame, class_var: Hashable, rows: Opened[Dataset] | None
) -> pd.DataFrame:
    """Return a table with booleans or numbers in place of text that is all labels of a feature."""
    frame = frame.copy()
    for name, values in frame.groupby("feature", sort=False)["value"]:
        labels = _labels_of_text(name, set(values) - {MISSING, UNSEEN}, rows)
        if not labels or name == class_var:
            continue
        for feature, value in (("feature", "value"), ("given", "given_value")):
            at = frame[feature] == name
            frame.loc[at, value] = [labels.get(label, label) for label in frame.loc[at, value]]
    return frame


def _labels_of_text(
    name: Hashable, texts: Collection[Any], rows: Opened[Dataset] | None
) -> Mapping[Hashable, Any]:
    """Return the booleans or, with a dataset, numbers that all texts are, or none.

    Text that is also text in the dataset is kept.
    """
    labels: dict[Hashable, Any] = {text: _BOOLEANS[text] for text in texts if text in _BOOLEANS}
    if rows is not None and name not in rows.columns:
        rows = None
    if rows is not None and not labels:
        with suppress(ValueError):
            labels = {text: _read_number(text) for text in texts}
    if not texts or len(labels) < len(texts):
        return {}
    if rows is not None:
        read = rows.encode(Columns((name,), {name: tuple(labels.values())}))
        if {*labels}.intersection(read.levels[read.positions[name]]):
            return {}
    return labels


def _read_number(text: str) -> float:
    """Return a number, as an integer if it is one."""
    with suppress(ValueError):
        return int(text)
    return float(text)


def _rows_of_features_and_of_pairs(
    frame: pd.DataFrame, features: Sequence[Hashable]
) -> tuple[dict[Hashable, list[int]], dict[_Names, list[int]]]:
    """Return the rows of each feature and of each pair, which are those given another feature."""
    both = list[_Names](zip(features, frame["given"], strict=True))
    alone = {name for name, given in both if given == ""}
    groups: dict[Hashable, list[int]] = {}
    pairs: dict[_Names, list[int]] = {}
    for row, (name, given) in enumerate(both):
        if given != "" and name in alone:
            pairs.setdefault((name, given), []).append(row)
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
            f"(-inf, 50] and (50, inf]; got intervals where {problem}."
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
        found = list[Hashable](dict.fromkeys(frame["given"][rows]))
        if len(found) > 1 or not {*found} <= {"", *axes} - {name}:
            raise ValueError(
                f"given must be one other feature of the table in all rows of {shown(name)}, or "
                f"empty; got {listed(found)}."
            )
        parents[name] = tuple([parent for parent in found if parent != ""])
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


Direction: TypeAlias = Literal["increasing", "decreasing"]

_LOST = 0.01  # log-loss in nats that the order may cost without a warning
_FLAT, _STEEP = 1e-9, 0.05  # ranges of effects, in nats, that are constant and that are not


def monotonize(
    x: Model,
    directions: Mapping[Hashable, Direction],
    dataset: AnyTable,
    *,
    target: Hashable | None = None,
) -> EffectTable:
    """Make effects rise or fall with the values, with the least change.

    Parameters
    ----------
    x : BNC or another model
        A model of two classes as for `effects`, or a table of effects.
    directions : dict
        "increasing" or "decreasing" by feature, for the log odds of the target.
        Values are numbers, intervals, or the levels of an ordered categorical
        column of `dataset`.
    dataset : pandas.DataFrame, Dataset or another frame
        Training data, with the class. They give the weights of the values and
        the log-loss.
    target : optional
        The class that the directions refer to. By default, the last class, as
        in `effects`.

    Returns
    -------
    EffectTable
        The table. The effects of these features never go in the other
        direction. ``print`` and `summary` show the directions, and the log-loss
        on `dataset` before and after the change.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` has more than two classes or is not a sum of effects, a feature
        is not in the model, or its values are text and the column of `dataset`
        is not an ordered categorical.

    Warns
    -----
    UserWarning
        If an effect becomes constant, or the log-loss on `dataset` rises by
        more than 0.01 because effects go in the other direction.

    Notes
    -----
    For each feature, Σ share(v) (e(v) − e'(v))² is minimal for the effects e'
    in the order, with the shares of the rows of `dataset`: isotonic regression
    [1]_. If a feature has a feature parent, this is done for each value of the
    parent. Effects of missing and of unseen values do not change. Continuous
    effects are cut into 32 steps; to choose their number, pass
    ``from_effects(effects(x, steps=...))``. If the model has a recipe, `cv`
    fits each training set and makes the result monotone.

    References
    ----------
    .. [1] Barlow, R. E., Bartholomew, D. J., Bremner, J. M., Brunk, H. D.
       (1972). Statistical inference under order restrictions. Wiley.

    Examples
    --------
    >>> from bnclassify import bnc, effects, load_pima, monotonize
    >>> pima = load_pima()
    >>> model = bnc("nb", "diabetes", pima, smooth=1, discretize="quantile")
    >>> rising = monotonize(model, {"pregnancies": "increasing"}, pima)
    >>> table = effects(model).assign(rising=effects(rising)["yes"])
    >>> table[table["feature"] == "pregnancies"].round(2)
           feature        value   yes  rising
    1  pregnancies  (-inf, 1.5] -0.36   -0.50
    2  pregnancies   (1.5, 2.5] -0.83   -0.50
    3  pregnancies   (2.5, 4.5]  0.00    0.00
    4  pregnancies   (4.5, 7.5]  0.25    0.25
    5  pregnancies   (7.5, inf]  0.87    0.87
    6  pregnancies    (missing)  0.00    0.00
    """
    model = check_fitted(x)
    table = tabulate_effects(model, dataset=dataset)
    names = table.known_levels[-1]
    if len(names) != 2:
        raise ValueError(
            f"x must have two classes; got {listed(names)}. Merge the others into one."
        )
    target = names[1] if target is None else OneOf(names).check("target", target)
    _check_directions(model, table, directions)
    data = check_has_rows(encode_for_model(table, dataset, argument="dataset"), "dataset")
    if not data.level_weights(table.class_var).any():
        raise ValueError(
            f"dataset must have rows with a label of {shown(table.class_var)}; got none."
        )
    orders = {
        n: _level_order_of(table, n, dataset) for n in directions if n not in table.discretizer.cuts
    }
    constraints = _Constraints(dict(directions), orders, target)
    result = _make_monotone(model, table, dataset, constraints)
    _warn_of_effects_against_directions(table, result, data, constraints)
    return result


class _Constraints(NamedTuple):
    """The directions of features for the log odds of a class, and the orders of levels of some."""

    directions: Mapping[Hashable, Direction]
    orders: Mapping[Hashable, tuple[Hashable, ...]]
    target: Hashable


def _check_directions(
    model: Model, table: EffectTable, directions: Mapping[Hashable, Direction]
) -> None:
    """Raise an error unless directions are given for features that no other effect depends on."""
    Instance(Mapping, "a dict of directions by feature").check("directions", directions)
    check_not_dropped(model, "directions", directions)
    for name, direction in directions.items():
        OneOf(table.features, "a feature of the model").check("directions", name)
        OneOf(("increasing", "decreasing")).check(f"directions[{name!r}]", direction)
        together = {i for pair in table.pairs for i in pair.features}
        if table.features.index(name) in together:
            raise ValueError(
                f"directions must name features without effects of pairs; got {shown(name)}. Fit "
                "the sum with pairs=0."
            )
        if children := [
            child for child, parents in table.feature_parents.items() if name in parents
        ]:
            raise ValueError(
                "directions must name features on which no other effect depends; got "
                f"{shown(name)}, a parent of {listed(children)}. Fit a model without such pairs, "
                "for example bnc(class_var=..., dataset=..., pairs=0)."
            )


def _level_order_of(table: EffectTable, name: Hashable, dataset: AnyTable) -> tuple[Hashable, ...]:
    """Return the levels of a feature in the order of its column, or of numbers."""
    labels = [label for label in table.levels_by_name[name] if label != UNSEEN]
    column = open_rows(dataset, "dataset").read(Columns((name,), raw={name: False}))
    own: tuple[Hashable, ...] = column.levels[0] if name in column.schema.ordered else ()
    if not own and all(isinstance(label, Real) for label in labels):
        numbers: dict[Hashable, Any] = {label: label for label in labels}
        return tuple(sorted(labels, key=lambda label: float(numbers[label])))
    if absent := [label for label in labels if label not in own]:
        raise ValueError(
            f"directions must name features whose values have an order; got {shown(name)} with "
            f"{listed(absent)}. Give its column of dataset one: pd.Categorical(column, "
            "categories=[...], ordered=True), with all levels from the lowest to the highest."
        )
    return tuple([label for label in own if label in labels])


def _make_monotone(
    model: Model, table: EffectTable, dataset: AnyTable, constraints: _Constraints
) -> EffectTable:
    """Return a table in which effects have directions, with a recipe that repeats it."""
    dataset, recipe = training_rows(table, dataset), model.recipe
    data = encode_for_model(table, dataset, argument="dataset")
    result, learned = _closest_monotone_table(table, data, constraints), dict(table.learned)
    asked = {
        name: (direction, constraints.target) for name, direction in constraints.directions.items()
    }
    learned["monotone"] = {**learned.get("monotone", {}), **asked}
    learned["log_loss"] = (_mean_log_loss(table, data), _mean_log_loss(result, data))
    if "draws" in learned:
        draws = [_closest_monotone_table(one, data, constraints) for one in learned["draws"]]
        learned["draws"] = tuple(draws)
    if recipe is not None and recipe.parameters is not None:
        settings = {**constraints._asdict(), "parameters": recipe.parameters}
        recipe = replace(recipe, parameters=Step("monotonize", fit_monotone, settings, draws=True))
    return replace(result, recipe=recipe, learned=learned)


def _closest_monotone_table(
    x: EffectTable, data: Dataset, constraints: _Constraints
) -> EffectTable:
    """Return the closest table with effects of features in order; a refit may lack some."""
    from scipy.optimize import isotonic_regression  # slow to import

    counts, tables = cell_weights(x, data), list(x.tables)
    is_last = constraints.target == x.known_levels[-1][1]
    for name, direction in constraints.directions.items():
        if name not in x.features:
            continue
        i, at = x.features.index(name), _table_positions_low_to_high(x, name, constraints)
        sign = 1.0 if (direction == "increasing") == is_last else -1.0
        odds = sign * (tables[i][at, ..., 1] - tables[i][at, ..., 0])
        columns = odds.reshape(len(at), -1).copy()  # one column per value of the parent
        # 1e-9: weight of a value without rows
        weights = np.maximum(counts[i][at].reshape(columns.shape), 1e-9)
        for j in range(columns.shape[1]):
            columns[:, j] = isotonic_regression(columns[:, j], weights=weights[:, j]).x
        rising = sign * columns.reshape(odds.shape)
        tables[i] = tables[i].copy()
        tables[i][at] = np.stack([np.zeros(rising.shape), rising], axis=-1)
    result = EffectTable(**{**x.effect_table_fields(), "tables": tuple(tables)})
    return result if x.unknown is None else with_effect_moments(result, data)


def _table_positions_low_to_high(
    x: EffectTable, name: Hashable, constraints: _Constraints
) -> Positions:
    """Return positions of a feature's values, low to high, without missing and unseen ones."""
    labels = x.levels_by_name[name]
    if name in x.discretizer.cuts:
        return np.arange(len(labels))
    known = [label for label in constraints.orders[name] if label in labels]
    return np.array([labels.index(label) for label in known], dtype=np.intp)


def _warn_of_effects_against_directions(
    before: EffectTable, after: EffectTable, data: Dataset, constraints: _Constraints
) -> None:
    """Warn of effects that become constant or cost log-loss, because they go the other way."""
    losses: tuple[float, float] = after.learned["log_loss"]
    opposite: dict[Direction, Direction] = {"increasing": "decreasing", "decreasing": "increasing"}
    turned = {name: opposite[direction] for name, direction in constraints.directions.items()}
    other = _closest_monotone_table(before, data, constraints._replace(directions=turned))
    counts, wrong = cell_weights(before, data), list[Hashable]()
    for name in constraints.directions:
        i, at = before.features.index(name), _table_positions_low_to_high(before, name, constraints)
        old, new, turn = (np.diff(table.tables[i][at])[..., 0] for table in (before, after, other))
        is_flat = np.ptp(old) > _STEEP and np.ptp(new, axis=0).max() < _FLAT
        farther: bool = (counts[i][at] * ((new - old) ** 2 - (turn - old) ** 2)).sum() > 0
        if is_flat or (farther and losses[1] > losses[0] + _LOST):
            wrong.append(name)
    if not wrong and losses[1] <= losses[0] + _LOST:
        return
    verb = "rises" if losses[1] > losses[0] else "falls"
    rises = f"The log-loss {verb} from {losses[0]:.4f} to {losses[1]:.4f}"
    if not wrong:
        warn(
            f"{rises}, because effects change much to have the directions of "
            f"{listed(constraints.directions)}."
        )
        return
    texts = [f"{shown(name)}: {shown(turned[name])}" for name in wrong]
    rest = next(label for label in before.known_levels[-1] if label != constraints.target)
    warn(
        f"directions: the effect of {listed(wrong)} on the log odds of "
        f"{shown(constraints.target)} goes the other way. {rises}. Did you mean "
        f"{{{', '.join(texts)}}}, or target={shown(rest)}?"
    )


@record
def fit_monotone(
    x: Model,
    data: Dataset,
    *,
    directions: Mapping[Hashable, Direction],
    parameters: Step,
    orders: Mapping[Hashable, tuple[Hashable, ...]],
    target: Hashable,
    rng: np.random.Generator | None = None,
) -> EffectTable:
    """Estimate the parameters of a structure, and make its effects monotone."""
    model = estimate_model_to_tabulate(parameters, x, data, rng)
    constraints = _Constraints(directions, orders, target)
    return _make_monotone(model, tabulate_effects(model, dataset=data), data, constraints)


def _mean_log_loss(x: EffectTable, data: Dataset) -> float:
    """Return the mean of -ln P(class | features), weighted, in the rows with a class."""
    classes = codes_by_levels(data, (x.class_var,), x.known_levels[-1:], unseen="missing").ravel()
    known = np.flatnonzero(classes >= 0)
    logs = log_normalize(scores_at(x.score, x.rows_to_score(data, "missing").subset(known)))
    weights = weights_at(data.weights, known)
    return float(-np.average(logs[np.arange(len(known)), classes[known]], weights=weights))
