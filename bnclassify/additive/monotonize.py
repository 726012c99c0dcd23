"""Tables of effects that rise or fall with a feature, by isotonic regression."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..accessors import check_fitted, check_has_rows, check_not_dropped, encode_for_model
from ..dataset import Columns, Dataset, codes_by_levels
from ..frames import AnyTable, open_rows
from ..model import Model, Step
from ..scores import scores_at
from ..tools.arrays import Positions, log_normalize, weights_at
from ..tools.checks import Instance, OneOf
from ..tools.immutable import record
from ..tools.messages import listed, shown, warn
from .effect_table import UNSEEN, EffectTable, cell_weights, training_rows, with_effect_moments
from .effects import estimate_model_to_tabulate, tabulate_effects

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
    orders = {n: _level_order_of(table, n, dataset) for n in directions if n not in table.cuts}
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
    column = open_rows(dataset, "dataset").encode(Columns((name,)))
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
    if name in x.cuts:
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
