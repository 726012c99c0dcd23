"""What each value of each feature adds to the log odds of the classes, as a table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..accessors import check_fitted, encode_for_model
from ..dataset import MISSING, Dataset, Opened, codes_by_levels
from ..elimination import density_grid
from ..frames import AnyTable, open_rows
from ..model import Model, Step
from ..numbers import short_point_texts
from ..prediction import cards_of_features, positions_parents_first, target_position
from ..scores import (
    Rows,
    effect_of_feature_alone,
    effects_at,
    main_effects,
    scopes_of_terms,
    scores_in_sequence,
    shifts_of_missing,
)
from ..tools.arrays import Array, Codes, Mask, Positions, log, softmax
from ..tools.checks import Optional, Whole
from ..tools.messages import listed, repeated_items, shown
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
    with_value_shares,
)
from .fit import fit_effects
from .from_effects import as_given

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


@dataclass(frozen=True, eq=False)
class _Grid:
    """Points of a feature at which a model is evaluated, and their positions on a table's axis."""

    axis: Values
    codes: Positions
    numbers: Array
    mass: Array
    position: Positions


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
    order = positions_parents_first(model)
    points = [
        tuple(density_grid(model.densities[name])[0].tolist())
        if name in model.densities
        else model.levels_by_name[name]
        for name in model.features
    ]
    masses, parents = _feature_distributions(model, points, order), model.feature_parents
    grids = list[_Grid]()
    for i, (own_points, mass) in enumerate(zip(points, masses, strict=True)):
        grids.append(_grid_of_feature(model, i, own_points, mass))
    # Row r is at point r of each feature, and at its last one if it has fewer.
    numbers = np.arange(max([len(grid.codes) for grid in grids], default=1))
    positions = [np.minimum(numbers, len(grid.codes) - 1) for grid in grids]
    rows = _rows_at_grid_points(model, grids, positions)
    logs = _contributions_at_rows(model, rows, order)
    alone = dict[int, Array]()  # effects of features with a parent given the class alone
    if any(parents.values()):
        for owner, scope, effect in effects_at(model.score, rows, cards_of_features(model)):
            if scope == (owner,):
                alone[owner] = alone.get(owner, 0.0) + effect
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


def _grid_of_feature(x: Model, i: int, labels: tuple[Hashable, ...], mass: Array) -> _Grid:
    """Return the points of a feature, and the values of its table.

    Example: with the cuts 1 and 4, the points are 1, 4 and ∞, one per interval.
    A density has a grid.
    """
    name, cuts = x.features[i], x.cuts.get(x.features[i])
    card = len(labels) - (labels[-1:] == (MISSING,))
    codes = np.arange(len(labels))
    if cuts is None and name not in x.densities:
        # Values that are merged, or unknown to the feature, are unseen ones.
        has_merged = name in x.merger.columns
        own = labels[: card - has_merged]
        values = Values((*own, *[UNSEEN] * (has_merged or card < len(labels))))
        position = np.where(codes < card, codes, len(values.labels))
        return _Grid(values, codes, mass, mass, position)
    if cuts is None:
        numbers, codes = np.array(labels[:card], dtype=np.float64), np.zeros(card, dtype=np.intp)
        points = np.unique(np.array(short_point_texts(numbers[:-1].tolist()), dtype=np.float64))
        # Of the points with few digits, those without numbers between them are one.
        chosen = points[np.unique(np.searchsorted(points, numbers, side="left"))[:-1]]
    else:
        numbers, chosen = np.array([*cuts, np.inf]), np.array(cuts)
    n_missing = len(codes) - len(numbers)
    position = np.searchsorted(chosen, numbers, side="left")
    position = np.append(position, [len(chosen) + 1] * n_missing).astype(np.intp)
    numbers = np.append(numbers, [np.nan] * n_missing)
    return _Grid(Values.from_cuts(chosen.tolist()), codes, numbers, mass, position)


def _feature_distributions(
    x: Model, points: Sequence[tuple[Hashable, ...]], order: Sequence[int]
) -> list[Array]:
    """Return P(value) of the points of each feature."""
    cards, is_grid = list(map(len, points)), [name in x.densities for name in x.features]
    # Row r is at point r of each feature, and at its last one if it has fewer.
    positions = np.arange(max(cards, default=1))
    codes = np.minimum(positions, np.array(cards, dtype=np.intp)[:, None] - 1)
    numbers = dict[Hashable, Array]()
    for i, name in enumerate(x.features):
        numbers[name] = np.full(len(positions), np.nan)
        if is_grid[i]:
            numbers[name] = np.array(points[i], dtype=float)[codes[i]]
    codes[is_grid] = 0
    if any(x.feature_parents.values()):
        rows = x.rows_from_codes(codes, numbers)
        tables = main_effects(x.score, cards_of_features(x))
        logs = [
            effect_of_feature_alone(x.score, i, rows)[:card] if is_grid[i] else tables[i][:-1]
            for i, card in enumerate(cards)
        ]
    else:
        found = _contributions_at_rows(x, x.rows_from_codes(codes, numbers), order)
        logs = [found[i + 1, :card] for i, card in enumerate(cards)]
    prior, masses = x.class_prior(), []
    for name, of_levels in zip(x.features, logs, strict=True):
        widths = density_grid(x.densities[name])[1] if name in x.densities else np.ones(1)
        mass = softmax(of_levels + log(widths)[:, None], axis=0) @ prior
        masses.append(np.maximum(np.nan_to_num(mass), LEAST_MASS))
    return masses


def _rows_at_grid_points(x: Model, grids: Sequence[_Grid], rows: Sequence[Positions]) -> Rows:
    """Return rows of the points of each feature at some positions."""
    codes = np.zeros((len(grids), len(rows[0]) if rows else 1), dtype=np.intp)
    numbers = dict[Hashable, Array]()
    for i, (grid, at) in enumerate(zip(grids, rows, strict=True)):
        codes[i] = grid.codes[at]
        if grid.axis.cuts is not None:
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
