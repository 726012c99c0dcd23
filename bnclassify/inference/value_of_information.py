"""The value of information: which missing value of a row to find out next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..base.arrays import UNKNOWN, Array, Codes, as_missing, blocks, log_normalize, share_out, xlogx
from ..base.calls import guided
from ..base.checks import Unseen
from ..base.graphs import descending
from ..frames.labels import check_unseen
from ..frames.opening import InFull
from ..frames.records import Row, is_missing
from ..frames.schema import MISSING
from ..model.arguments import check_fitted
from ..model.model import Model
from ..scores.densities import Density
from .evidence import middles
from .explain import own_values, read_one
from .predict import check_costs

_DEVIATIONS, _POINTS = 6.0, 121  # of the grid of a density
_BLOCK_CELLS = 2**20


@guided("Pass costs by name: value_of_information(x, row, costs=costs).")
def value_of_information(
    x: Model, row: InFull | Row, *, costs: pd.DataFrame | None = None, unseen: Unseen = "error"
) -> pd.DataFrame:
    """Rank the missing features of a row by how informative about the class they are expected to be.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    row : pandas.DataFrame, Series or dict
        One row. A Series or dict may omit features, which are then missing.
    costs : pandas.DataFrame, optional
        Costs of decisions, as in `predict`.
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        One row per missing feature, the most valuable first, ties in column order. Columns:

        - ``gain``: the expected reduction of the entropy of the class, in nats
        - ``cost_reduction``: with `costs`, the expected reduction of the cost of the best decision, by which
          the features are then ordered

        It is empty if no feature is missing.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` is a `DN` or has several class variables, or `row` is not one row or has probability 0.

    Notes
    -----
    With e the observed values, H the entropy, and d a decision [1]_,

        gain = H(C | e) − Σ_v P(v | e) H(C | e, v)
        cost_reduction = min_d E[cost(d) | e] − Σ_v P(v | e) min_d E[cost(d) | e, v].

    If the model does not define a joint distribution, P(v | e) is approximate, and H(C | e) is that of the
    average over v of P(C | e, v), so that no gain is negative. A feature that the model discretizes has one
    value per interval, and one with a density has values on a grid. Missing values are regarded as unknown,
    and "(missing)" is not a value to find out.

    References
    ----------
    .. [1] Howard, R. A. (1966). Information value theory. IEEE Transactions on Systems Science and
       Cybernetics 2.

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
    raw, data = read_one(model, row)
    table = None if costs is None else check_costs(costs, model.known_levels[-1])[0]
    placed, codes = model.place(data, unseen)
    codes = codes[: len(model.features)].astype(np.intp)
    unknown = UNKNOWN if model.marks_unknown else -1
    codes[[is_missing(own_values(raw, name)[0]) for name in model.features]] = unknown
    logs = placed.log_joint(placed.with_numbers(codes, data.numbers))
    if logs.max() == -np.inf:
        raise ValueError("row must have a positive probability; got 0. Fit the model with smooth above 0.")
    now, missing = np.exp(log_normalize(logs)), list[int](np.flatnonzero(codes[:, 0] < 0).tolist())
    measures: dict[str, Callable[[Array], Array]] = {"gain": lambda p: -xlogx(p).sum(axis=1)}  # entropy
    if table is not None:
        measures["cost_reduction"] = lambda p: (p @ table).min(axis=1)
    values = np.empty((len(missing), len(measures)))
    outcomes = _outcomes_of_features(placed, codes, data.numbers, missing)
    for i, feature in enumerate(missing):
        shares, posteriors = outcomes[feature]
        chances = shares @ now.ravel()
        average = chances[None] @ posteriors
        values[i] = [(of(average) - chances @ of(posteriors)).item() for of in measures.values()]
    values = np.maximum(values, 0.0)  # apart from rounding errors
    order = descending(values[:, -1])
    ranked = [model.features[missing[i]] for i in order]
    names = pd.Index(ranked, name="feature", tupleize_cols=False)
    return pd.DataFrame(values[order], names, list(measures))


def _outcomes_of_features(
    x: Model, codes: Codes, numbers: Mapping[Hashable, Array], features: Sequence[int]
) -> dict[int, tuple[Array, Array]]:
    """Return P(value | observed, class) and P(class | observed, value) of features, (values, classes).

    Many features are computed at once, but each feature with a density on its own grid.
    """
    on_grids = [feature for feature in features if x.features[feature] in x.densities]
    coded = [feature for feature in features if feature not in on_grids]
    found: dict[int, tuple[Array, Array]] = {}
    for block in blocks(len(coded), _BLOCK_CELLS, max(map(len, x.known_levels)) * len(codes)):
        found |= _at_levels(x, codes, numbers, coded[block])
    for feature in on_grids:
        points, widths = grid_of(x.densities[x.features[feature]])
        placed = x.with_values({x.features[feature]: tuple(points.tolist())})
        found |= _at_levels(placed, codes, numbers, [feature], np.log(widths)[:, None])
    return found


def _at_levels(
    x: Model,
    codes: Codes,
    numbers: Mapping[Hashable, Array],
    features: Sequence[int],
    log_widths: Array | float = 0.0,
) -> dict[int, tuple[Array, Array]]:
    """Return the same as `_outcomes_of_features`, at all levels of each feature."""
    owners = np.repeat(features, [len(x.known_levels[feature]) for feature in features])
    rows = np.repeat(codes, len(owners), axis=1)
    given = {name: np.repeat(known, len(owners)) for name, known in numbers.items()}
    rows_of = {feature: np.flatnonzero(owners == feature) for feature in features}
    for feature, at in rows_of.items():
        rows[feature, at] = np.arange(len(at))
        name = x.features[feature]
        middle = None if name in x.densities else middles(x, name)
        if middle is not None:
            given.setdefault(name, np.full(len(owners), np.nan))[at] = middle
    complete = x.with_numbers(rows, given)
    logs, posteriors = x.value_logs(as_missing(rows), owners), np.exp(log_normalize(x.log_joint(complete)))
    found = {}
    for feature, at in rows_of.items():
        known = at[: len(at) - (x.known_levels[feature][-1:] == (MISSING,))]
        found[feature] = share_out(logs[known] + log_widths, 0), posteriors[known]
    return found


def grid_of(density: Density) -> tuple[Array, Array]:
    """Return points at which a density is evaluated, and the width that each represents."""
    columns = density.columns()
    mean, sd = columns["mean"].reshape(-1, 1), columns["sd"].reshape(-1, 1)
    points = np.unique(mean + sd * np.linspace(-_DEVIATIONS, _DEVIATIONS, _POINTS))
    return points, np.gradient(points)
