"""The value of information: which missing value of a row to find out next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_fitted
from ..dataset import MISSING, check_unseen
from ..elimination import density_grid
from ..frames import AnyTable, Row, is_missing
from ..model import Model
from ..prediction import check_costs
from ..scores import Rows, scores_at, sums_in_formula
from ..tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Positions,
    log,
    log_normalize,
    log_sum_exp,
    slices,
    softmax,
    xlogx,
)
from ..tools.calls import with_call_advice
from ..tools.checks import Unseen
from ..tools.graphs import descending_order
from .explain import original_values, read_one_row


@with_call_advice("Pass costs by name: value_of_information(x, row, costs=costs).")
def value_of_information(
    x: Model, row: AnyTable | Row, *, costs: pd.DataFrame | None = None, unseen: Unseen = "error"
) -> pd.DataFrame:
    """Rank missing features by their expected information about the class.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    row : pandas.DataFrame, Series or dict
        One row. Features that a Series or dict omits are unknown.
    costs : pandas.DataFrame, optional
        Costs of decisions, as in `predict`.
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        One row per missing feature, the most valuable first, ties in column
        order. Columns:

        - ``gain``: the expected reduction of the entropy of the class, in nats
        - ``cost_reduction``: with `costs`, the expected reduction of the cost
          of the best decision; the table is sorted by it

        It is empty if no feature is missing.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` is a `DN` or has several class variables, `row` has not exactly
        one row, or its probability is 0.

    Notes
    -----
    With e the observed values, H the entropy, and d a decision [1]_,

        gain = H(C | e) − Σ_v P(v | e) H(C | e, v) cost_reduction = min_d
        E[cost(d) | e] − Σ_v P(v | e) min_d E[cost(d) | e, v].

    If the model does not define a joint distribution, P(v | e) is approximate,
    and H(C | e) is the entropy of the average over v of P(C | e, v), so that no
    gain is negative. A feature that the model discretizes has one value per
    interval, and one with a density has values on a grid. Missing values are
    regarded as unknown, and "(missing)" is not a value to find out.

    References
    ----------
    .. [1] Howard, R. A. (1966). Information value theory. IEEE Transactions on
       Systems Science and Cybernetics 2.

    Examples
    --------
    >>> from bnclassify import load_car, lp, tan_cl, value_of_information
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> value_of_information(model, {"safety": "high", "buying": "low"}).round(3)
               gain
    feature
    persons   0.328
    maint     0.149
    lug_boot  0.124
    doors     0.006
    """
    model = check_fitted(x)
    check_unseen(unseen)
    raw, data = read_one_row(model, row)
    table = None if costs is None else check_costs(costs, model.known_levels[-1])[0]
    absent = [is_missing(original_values(raw, name)[0]) for name in model.features]
    known = model.rows_to_score(data, unseen).with_values_unknown(
        np.array(absent, dtype=bool)[:, None]
    )
    logs = scores_at(model.score, known)
    if logs.max() == -np.inf:
        raise ValueError(
            "row must have a positive probability; got 0. Fit the model with smooth above 0."
        )
    now = np.exp(log_normalize(logs))
    missing = list[int](np.flatnonzero(known.codes[:, 0] < 0).tolist())
    measures: dict[str, Callable[[Array], Array]] = {"gain": lambda p: -xlogx(p).sum(axis=1)}
    if table is not None:
        measures["cost_reduction"] = lambda p: (p @ table).min(axis=1)
    values = np.empty((len(missing), len(measures)))
    options = list[tuple[Codes, Array | None, Array]]()  # codes, numbers, widths they represent
    for feature in missing:
        name, levels = model.features[feature], model.known_levels[feature]
        if name in model.densities:
            points, widths = density_grid(model.densities[name])
            options.append((np.zeros(len(points), dtype=np.intp), points, widths))
        else:
            codes = np.arange(len(levels) - (levels[-1:] == (MISSING,)))
            options.append((codes, None, np.ones(len(codes))))
    widest = max([len(codes) for codes, _, _ in options], default=1)
    for block in slices(len(missing), widest * len(known.codes)):  # many features at once
        rows, owners = _rows_with_each_value(known, missing[block], options[block])
        joint = _log_joint_of_values(model, rows, owners)
        after = np.exp(log_normalize(scores_at(model.score, rows)))
        for i, (_, _, widths) in enumerate(options[block], block.start):
            own = owners == missing[i]
            given_class = softmax(joint[own] + log(widths)[:, None], 0)
            chances = given_class @ now.ravel()  # P(value | observed), (values,)
            average = chances[None] @ after[own]
            for j, measure in enumerate(measures.values()):
                values[i, j] = (measure(average) - chances @ measure(after[own])).item()
    values = np.maximum(values, 0.0)  # apart from rounding errors
    order = descending_order(values[:, -1])
    ranked = [model.features[missing[i]] for i in order]
    names = pd.Index(ranked, name="feature", tupleize_cols=False)
    return pd.DataFrame(values[order], names, list(measures))


def _rows_with_each_value(
    row: Rows, features: Sequence[int], values: Sequence[tuple[Codes, Array | None, Array]]
) -> tuple[Rows, Positions]:
    """Return copies of a row, each with one value of one feature, and these features.

    Example: with the values u, v of feature 3 and w of feature 5, the features
    of the copies are 3, 3, 5.
    """
    owners = np.repeat(features, [len(codes) for codes, _, _ in values])
    rows = row.subset(np.zeros(len(owners), dtype=np.intp))
    codes, numbers = rows.codes.astype(np.intp), dict(rows.numbers)
    for feature, (own, points, _) in zip(features, values, strict=True):
        codes[feature, owners == feature] = own
        if points is not None:
            numbers[feature] = numbers.get(feature, np.full(len(owners), np.nan))
            numbers[feature][owners == feature] = points
    unknown = None if rows.unknown is None else rows.unknown.copy()
    if unknown is not None:
        unknown[owners, np.arange(len(owners))] = False
    return Rows(codes, numbers, unknown), owners


def _log_joint_of_values(x: Model, rows: Rows, owners: Positions) -> Array:
    """Return ln P(value, observed | class) plus a constant of class and owner of each row.

    The rows of an owner differ in this feature only. In formulas with codings,
    the values that a coding joins have equal probabilities.
    """
    logs = []
    for formula in x.value_formulas:
        codings = dict[int, ArrayOf[Any]]()
        for one in sums_in_formula(formula):
            codings |= one.codings_by_feature
        found = scores_at(formula, rows)
        if codings:
            # with how many values of its owner each row shares a code
            coded = rows.codes.copy()
            for v, coding in codings.items():
                coded[v] = coding[rows.codes[v]]
            pairs = np.stack([owners, coded[owners, np.arange(len(owners))]])
            _, place, joined = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
            found = found - np.log(joined[place.ravel()])[:, None]
        logs.append(found)
    return logs[0] if len(logs) == 1 else log_sum_exp(np.stack(logs), axis=0)
