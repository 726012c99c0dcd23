"""Models whose log odds are sums of effects, as tables: the values of each feature and what they add."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, Positions, log, log_normalize, share_out
from ..base.checks import Whole
from ..base.immutable import ANY_NUMBER, PROBABILITY, bounded, cached_property, record
from ..base.messages import listed, repeated
from ..counts.contingency import flat_index
from ..frames.opening import InFull
from ..frames.schema import MISSING, Dataset
from ..model.arguments import check_fitted, encode_for
from ..model.derived import BuiltOn
from ..model.formulas import Formula, Sum, Table
from ..model.model import Model
from ..model.recipes import A_NETWORK, Recipe
from ..network.classifiers import BNC
from ..numbers.cut_points import interval_labels, readable, written_point
from ..numbers.discretization import Discretizer
from ..numbers.preparation import Preparation
from ..numbers.rare_levels import Merger
from .evidence import order_features
from .value_of_information import grid_of

UNSEEN = "(unseen)"
"""The value of the row for values of a feature that have no row of their own."""

BASE = "(base)"
"""The value of the class in a table of several classes."""

RESERVED = ("feature", "value", "given", "given_value", "share")
"""The columns of a table that are not classes."""

_LEAST_MASS = 1e-12
_PLAIN = Preparation()
_MOST_STEPS = 1000
_STEPS = 32  # of a curve without cut points


@record
@dataclass(frozen=True, eq=False, repr=False)
class EffectTable(BuiltOn):
    """A model whose log odds are a sum of entries of tables, from `from_effects` or `monotonize`.

    Attributes
    ----------
    structure : BNC
        The class, the features with at most one feature parent each, and their levels, without tables.
    tables : tuple of read-only arrays
        The effects of the values of each feature, (values, classes), or (values, values of the parent,
        classes). The last entry of each axis of values is that of a missing value.
    constant : (classes,) array
        The log odds of the classes before any feature is known, up to a constant.
    shares : tuple of read-only arrays
        The shares of the values of each feature in the training data; empty if they are unknown.
    preparation : Preparation
        The cut points of features with intervals, and the levels of features with other values.
    recipe : Recipe or None
        The steps that made it, which `cv` repeats. A table that was given is evaluated as it is.
    learned : mapping
        Results of `monotonize`, by name.
    """

    structure: BNC
    tables: tuple[Array, ...]
    constant: Array
    shares: tuple[Array, ...] = ()
    preparation: Preparation = _PLAIN
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    bounds = bounded(tables=ANY_NUMBER, constant=ANY_NUMBER, shares=PROBABILITY)

    fitted = True
    missing_rule = "given the effect of (missing)"
    no_joint = (
        "a table of effects provides P(class | features), but does not define a joint distribution. Use "
        f"predict, explain, cloglik or cv, or fit a network, which defines one: {A_NETWORK}."
    )
    splits_tables = True
    weighs_missing = True

    def __post_init__(self) -> None:
        super().__post_init__()
        *cards, n_classes = [len(labels) + 1 for labels in self.known_levels]
        shapes = [(*[cards[i] for i in scope], n_classes - 1) for scope in self.term_scopes()]
        fits = [table.shape for table in self.tables] == shapes and self.constant.shape == (n_classes - 1,)
        if not fits or [len(share) for share in self.shares] not in ([], cards):
            raise ValueError("tables must have an effect of each value of each feature on each class.")

    @property
    def basis(self) -> BNC:
        """The network without tables."""
        return self.structure

    @property
    def members(self) -> tuple[Model, ...]:
        """The table itself."""
        return (self,)

    @property
    def givens(self) -> tuple[int | None, ...]:
        """The number of the feature parent of each feature, or None."""
        return tuple([scope[1] if len(scope) > 1 else None for scope in self.term_scopes()])

    def facts(self) -> dict[str, object]:
        """Return the size and form of the table, and the order that was asked of it."""
        form = "sum of one effect per feature" if set(self.givens) <= {None} else "sum of effects of pairs"
        asked = ", ".join(
            f"{name} {direction}" for name, direction in self.learned.get("monotone", {}).items()
        )
        before, after = self.learned.get("log_loss", (0.0, 0.0))
        cost = f"{asked}: log-loss {after:.4f}, before {before:.4f}" if asked else None
        return {"num. features": len(self.features), "form": form, "monotone": cost}

    def term_scopes(self) -> list[tuple[int, ...]]:
        return self.structure.term_scopes()[:-1]

    def _parts(self, codes: Codes) -> Iterator[Array]:
        """Yield the effects of each feature at rows, (rows, classes)."""
        for scope, table in zip(self.term_scopes(), self.tables, strict=True):
            yield table[tuple([codes[v] for v in scope])]

    def log_joint(self, codes: Codes) -> Array:
        """Return scores with the log odds of the posteriors, (rows, classes)."""
        logs = np.tile(self.constant, (codes.shape[1], 1))
        for part in self._parts(codes):
            logs += part
        return logs

    def unadjusted(self, codes: Codes) -> Array:
        """Return scores to which missing values contribute nothing."""
        logs = np.tile(self.constant, (codes.shape[1], 1))
        for of_feature, part in zip(codes, self._parts(codes), strict=True):
            logs += np.where(of_feature[:, None] < 0, 0.0, part)
        return logs

    def log_joints_in_sequence(self, codes: Codes, order: Sequence[int]) -> Array:
        parts, start = list(self._parts(codes)), np.tile(self.constant, (codes.shape[1], 1))
        return np.cumsum([start, *[parts[i] for i in order]], axis=0)

    def class_prior(self) -> Array:
        return share_out(self.constant, axis=0)

    def marginal_tables(self) -> tuple[Array, ...]:
        return tuple([table if table.ndim == 2 else table[:, -1] for table in self.tables])

    @cached_property
    def _logs_of_values(self) -> tuple[Array, ...]:
        """Return ln P(value | class) by Bayes' rule, (values, classes), from the shares of the values."""
        logs, prior = [], log_normalize(self.constant)
        for i, effects in enumerate(self.marginals):
            share = self.shares[i] if self.shares else np.ones(len(effects))
            ratio = log_normalize(effects + prior) - prior  # ln P(class | value) / P(class)
            logs.append(ratio + log(np.maximum(share, _LEAST_MASS))[:, None])
        return tuple(logs)

    def value_logs(self, codes: Codes, features: Positions) -> Array:
        logs = np.empty((codes.shape[1], len(self.constant)))
        for feature in np.unique(features).tolist():
            logs[features == feature] = self._logs_of_values[feature][codes[feature, features == feature]]
        return logs

    def value_formulas(self) -> tuple[Formula, ...]:
        return (Sum(tuple([Table(i, (i,), logs) for i, logs in enumerate(self._logs_of_values)]), False),)

    def formula(self) -> Formula:
        pairs = enumerate(zip(self.term_scopes(), self.tables, strict=True))
        terms = [Table(i, scope, table) for i, (scope, table) in pairs]
        return Sum((Table(-1, (), self.constant), *terms), marginalizes=False)

    def estimate(self, data: Any, prior: Any) -> Any:
        raise self._lacks("estimate its parameters from data")

    def shown_values(self, name: Hashable) -> list[Any]:
        """Return the values of a feature: intervals, labels, and the last for missing values."""
        cuts = self.preparation.discretizer.cuts if self.preparation.discretizer is not None else {}
        if name not in cuts:
            return [*self.levels_by_name[name], MISSING]
        return [*intervals_between(cuts[name]), MISSING]


def intervals_between(cuts: Sequence[float]) -> list[Any]:
    """Return the intervals between cut points."""
    return [pd.Interval(low, high) for low, high in pairwise([-np.inf, *cuts, np.inf])]


class Values(NamedTuple):
    """The values of a feature without missing ones: labels, or the cut points between intervals."""

    labels: tuple[Hashable, ...]
    cuts: tuple[float, ...] | None = None

    @classmethod
    def between(cls, cuts: Sequence[float]) -> Values:
        """Return the intervals between cut points."""
        return cls(interval_labels(map(written_point, cuts)), tuple(cuts))


def build(
    class_var: Hashable,
    classes: tuple[Hashable, ...],
    values: Mapping[Hashable, Values],
    parents: Mapping[Hashable, Sequence[Hashable]],
    **fields: Any,
) -> EffectTable:
    """Return a table with these values of features."""
    families = tuple([(name, *parents[name], class_var) for name in values])
    levels = (*[each.labels for each in values.values()], classes)
    cuts = {name: each.cuts for name, each in values.items() if each.cuts is not None}
    open_ones = {n: each.labels[:-1] for n, each in values.items() if each.labels[-1:] == (UNSEEN,)}
    discretizer = Discretizer("steps", tuple(cuts), tuple(cuts.values())) if cuts else None
    merger = Merger(1, UNSEEN, tuple(open_ones), tuple(open_ones.values())) if open_ones else None
    structure = BNC(class_var, (*families, (class_var,)), levels)
    return EffectTable(structure, preparation=Preparation(merger, discretizer), **fields)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Points of a feature at which a model is evaluated, and their places on an axis of the table."""

    axis: Values
    codes: Positions
    numbers: Array
    mass: Array
    place: Positions


def tabulate(x: object, steps: int | None = None) -> EffectTable:
    """Return a model as a table, without ``steps`` at all cut points that it has, or raise."""
    model = check_fitted(x)
    if isinstance(model, EffectTable):
        return model
    _check_sum(model)
    points = {name: tuple(grid_of(density)[0].tolist()) for name, density in model.densities.items()}
    placed, order = model.with_values(points), order_features(model)
    masses, parents = _masses(model, placed, order), model.feature_parents
    grids = [_make_grid(model, placed, i, steps, mass) for i, mass in enumerate(masses)]
    longest = np.arange(max([len(grid.place) for grid in grids], default=1))
    rows = [np.minimum(longest, len(grid.place) - 1) for grid in grids]
    logs, tables = _contributions(placed, grids, rows, order), []
    alone = _alone(placed, np.array([grid.codes[at] for grid, at in zip(grids, rows, strict=True)]), parents)
    for i, above in enumerate(parents.values()):
        own = grids[i]
        table = _means(logs[i + 1][: len(own.place)], own.place, own.mass, len(own.axis.labels) + 1)
        if above:
            table = _given(placed, grids, i, model.features.index(above[0]), order, alone[i])
        gap = model.gaps[i] if model.gaps else None
        if gap is not None:
            table[-1] = gap
        tables.append(_centred(table))
    constant = _centred(logs[0][0])
    if not np.isfinite([constant.sum(), *[table.sum() for table in tables]]).all():
        raise ValueError("x must have positive probabilities only; got 0. Fit the model with smooth above 0.")
    shares = [np.bincount(g.place, g.mass, len(g.axis.labels) + 1) / g.mass.sum() for g in grids]
    values = {name: grid.axis for name, grid in zip(model.features, grids, strict=True)}
    made = {"tables": tuple(tables), "constant": constant, "shares": tuple(shares), "recipe": model.recipe}
    return build(model.class_var, model.known_levels[-1], values, parents, **made)


def _check_sum(x: Model) -> None:
    """Raise a ValueError unless the log odds are a sum of terms of a feature and at most one parent."""
    scopes = x.term_scopes() if x.one_class and not x.is_sampled else None
    parents = list(x.feature_parents.values()) if scopes is not None else []
    single = all(len(above) < 2 for above in parents) and not x.parents.get(x.class_var, ())
    families = [{i, *map(x.features.index, above)} for i, above in enumerate(parents)]
    if scopes is None or not single or not all(any(set(s) <= f for f in [*families, set()]) for s in scopes):
        raise ValueError(
            "x must be a model whose log odds are a sum of effects of at most two features, of which one is "
            f"a parent of the other; got a model of type {type(x).__name__}. Fit it with additive=True, as "
            "in bnc(class_var=..., dataset=..., additive=True), or use nb, tan_cl, or kdb_mi with "
            "dag_args={'kdbk': 1}."
        )
    if len(x.known_levels[-1]) < 2:
        raise ValueError(f"x must have at least two classes; got {listed(x.known_levels[-1])}.")


def _make_grid(x: Model, placed: Model, i: int, steps: int | None, mass: Array) -> _Grid:
    """Return the points of a feature, and the values of its table."""
    name, labels = x.features[i], placed.known_levels[i]
    card = len(labels) - (labels[-1:] == (MISSING,))
    codes = np.arange(len(labels))
    cuts = None if x.discretizer is None else x.discretizer.cuts.get(name)
    if cuts is None and name not in x.densities:
        values = _labels(x, name, labels, card)
        return _Grid(values, codes, mass, mass, np.where(codes < card, codes, len(values.labels)))
    cum = np.cumsum(mass[:card]) / mass[:card].sum()
    wanted = np.searchsorted(cum, np.arange(1, steps or _STEPS) / (steps or _STEPS) - _LEAST_MASS)
    wanted = np.unique(wanted[wanted < card - 1])
    if cuts is None:  # a density, on a grid
        numbers = np.array(labels[:card], dtype=np.float64)
        chosen = np.unique(np.array(readable(numbers[wanted].tolist()), dtype=np.float64))
        chosen = chosen[np.unique(np.searchsorted(chosen, numbers, side="left"))[:-1]]  # no empty steps
    else:
        ends = np.array(cuts)
        chosen = ends if steps is None or len(ends) <= steps else ends[wanted]
        numbers = np.array([*cuts, np.inf])
    training = x.training_points(name) if cuts else None
    if training is not None:  # within intervals, the effect is a curve
        numbers, first = np.unique([*training[0], *ends, *np.nextafter(ends, np.inf)], return_index=True)
        shares = np.array([*training[1], *np.zeros(2 * len(ends))])[first] + _LEAST_MASS
        own = np.searchsorted(ends, numbers, side="left")
        shares *= mass[own] / np.bincount(own, shares, card)[own]
        codes, mass = np.append(own, codes[card:]), np.append(shares, mass[card:])
    place, gap = np.searchsorted(chosen, numbers, side="left"), len(codes) - len(numbers)
    place = np.append(place, [len(chosen) + 1] * gap).astype(np.intp)
    return _Grid(Values.between(chosen.tolist()), codes, np.append(numbers, [np.nan] * gap), mass, place)


def _labels(x: Model, name: Hashable, labels: tuple[Hashable, ...], card: int) -> Values:
    """Return the labels of a feature; values that would be merged or unknown to it are unseen ones."""
    merger = None if x.preparation is None else x.preparation.merger
    if merger is not None and name in merger.columns:
        return Values((*labels[: card - 1], UNSEEN))
    return Values((*labels[:card], *[UNSEEN] * (card < len(labels))))


def _masses(x: Model, placed: Model, order: Sequence[int]) -> list[Array]:
    """Return P(value) of the levels of each feature."""
    cards = [len(labels) for labels in placed.known_levels[:-1]]
    if any(x.feature_parents.values()):
        logs = [table[:-1] for table in placed.marginals]
    else:
        levels = np.arange(max(cards, default=1))
        codes = np.array([np.minimum(levels, card - 1) for card in cards]).reshape(len(cards), -1)
        nothing = np.full(len(levels), np.nan)
        found = _in_order(placed, codes, dict.fromkeys(x.features, nothing), order)[1:]
        logs = [of_feature[:card] for of_feature, card in zip(found, cards, strict=True)]
    prior, masses = placed.class_prior(), []
    for name, of_levels in zip(x.features, logs, strict=True):
        widths = grid_of(x.densities[name])[1] if name in x.densities else np.ones(1)
        mass = share_out(of_levels + log(widths)[:, None], axis=0) @ prior
        masses.append(np.maximum(np.nan_to_num(mass), _LEAST_MASS))
    return masses


def _contributions(
    x: Model, grids: Sequence[_Grid], rows: Sequence[Positions], order: Sequence[int]
) -> Array:
    """Return logs of the class and contributions of features at points, (1 + features, rows, classes)."""
    codes = np.array([grid.codes[at] for grid, at in zip(grids, rows, strict=True)]).reshape(len(grids), -1)
    named = zip(x.features, grids, rows, strict=True)
    numbers = {name: grid.numbers[at] for name, grid, at in named if grid.axis.cuts is not None}
    return _in_order(x, codes, numbers, order)


def _in_order(x: Model, codes: Codes, numbers: Mapping[Hashable, Array], order: Sequence[int]) -> Array:
    """Return logs of the class and contributions of features at rows, (1 + features, rows, classes)."""
    logs = x.log_joints_in_sequence(x.with_numbers(codes, numbers), order)
    with np.errstate(invalid="ignore"):
        logs[1:] = np.diff(logs, axis=0)[np.argsort(order)]
    return logs


def _alone(x: Model, codes: Codes, parents: Mapping[Hashable, Sequence[Hashable]]) -> dict[int, Array]:
    """Return the effects of features with a parent given the class alone, (rows, classes) each."""
    found: dict[int, Array] = {}
    for owner, scope, part in x.effects_at(codes) if any(parents.values()) else ():
        if scope == (owner,):
            found[owner] = found.get(owner, 0.0) + part
    return found


def _means(logs: Array, at: Positions, mass: Array, n: int) -> Array:
    """Return the weighted means of rows in each of n groups, (n, classes); 0 in an empty group."""
    total, weight = np.zeros((n, logs.shape[1])), np.bincount(at, mass, n)
    np.add.at(total, at, logs * mass[:, None])
    return total / np.where(weight > 0, weight, 1.0)[:, None]


def _given(x: Model, grids: Sequence[_Grid], i: int, j: int, order: Sequence[int], alone: Array) -> Array:
    """Return the effects of a feature at the values of its parent j, (values, values of the parent, classes).

    If the parent is missing or unseen, it is the effect given the class ``alone``.
    """
    own, other = grids[i], grids[j]
    pairs = np.stack([other.place, other.codes])
    _, first, place = np.unique(pairs, axis=1, return_index=True, return_inverse=True)
    mass = np.bincount(place.ravel(), other.mass)
    n, width, size = len(own.axis.labels) + 1, len(other.axis.labels) + 1, len(own.place)
    rows = [np.zeros(size * len(first), dtype=np.intp) for _ in grids]
    rows[i], rows[j] = np.repeat(np.arange(size), len(first)), np.tile(first, size)
    logs = _contributions(x, grids, rows, order)[i + 1]
    cells = (own.place[:, None] * width + other.place[first]).ravel()
    table = _means(logs, cells, np.outer(own.mass, mass).ravel(), n * width).reshape(n, width, -1)
    absent = np.setdiff1d(np.arange(width), other.place)
    table[:, absent] = _means(alone[:size], own.place, own.mass, n)[:, None]
    return table


def _centred(logs: Array) -> Array:
    """Return logs of two classes less those of the first, and of more classes less their mean."""
    with np.errstate(invalid="ignore"):
        return logs - (logs[..., :1] if logs.shape[-1] == 2 else logs.mean(axis=-1, keepdims=True))


def effects(
    x: Model, dataset: InFull | None = None, *, steps: int = 32, class_var: Hashable | None = None
) -> pd.DataFrame:
    """Return what each value of each feature adds to the log odds of the classes, as a table.

    The table says all that the model does: the log odds of a row are the sum of its entries. Edit it, and
    `from_effects` makes a model of it again.

    Parameters
    ----------
    x : BNC or another model
        A model with parameters whose log odds are a sum of effects of single features, or of a feature and
        its only feature parent: naive Bayes, with weights or without, trees, and `bnc` with
        ``additive=True``.
    dataset : pandas.DataFrame, Dataset or another frame, optional
        Rows of which the table has the share in each of its rows.
    steps : int, default 32
        Maximum number of cut points of a feature that the model discretizes. If it has more, or none because
        its effect is a curve, the feature is cut at quantiles of the training data into so many intervals.
    class_var : str, optional
        The class, if `x` has several.

    Returns
    -------
    pandas.DataFrame
        One row for the class, and one per feature and ``value``: a label, an interval, ``"(missing)"``, or
        ``"(unseen)"`` for values that have no row. If a feature has a feature parent, ``given`` is its name,
        and there is one row per ``given_value``. For two classes, the column of the last one has the log
        odds against the other, which is the value of the class; for more classes, there is one column per
        class, and rows have a sum of 0. ``share`` is the share of the rows of `dataset`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the log odds of `x` are not such a sum, or are infinite.

    Notes
    -----
    Where the model has steps, the table is exact. Within an interval in which the effect is a curve, it is
    the mean over the training data; 32 intervals usually cost less than .001 of log-loss.

    The effect of a missing value is 0 if the model ignores it. Given a missing parent, a value has the effect
    given the class alone. So rows with missing values can differ from those of `x` if it is a tree, or has
    a rule for incomplete rows.

    Examples
    --------
    >>> from bnclassify import bnc, effects, load_voting
    >>> voting = load_voting()[["crime", "physician_fee_freeze", "Class"]]
    >>> model = bnc("nb", "Class", voting, smooth=1)
    >>> effects(model, voting).round(2)
                    feature      value  republican  share
    0                 Class   democrat       -0.46   1.00
    1                 crime          n       -3.27   0.39
    2                 crime          y        1.02   0.57
    3                 crime  (missing)        0.00   0.04
    4  physician_fee_freeze          n       -3.96   0.57
    5  physician_fee_freeze          y        2.84   0.41
    6  physician_fee_freeze  (missing)        0.00   0.03
    """
    Whole(least=2, most=_MOST_STEPS).check("steps", steps)
    table = tabulate(check_fitted(x).of_class(class_var), steps)
    *others, last = names = table.known_levels[-1]
    shown = list(names) if len(names) > 2 else [last]
    if twice := repeated([*RESERVED, *shown]):
        raise ValueError(f"x must have classes of other names than {listed(twice)}. Rename them.")
    columns: list[str] = ["feature", "value", "given", "given_value"]
    rows: list[tuple[Hashable, ...]] = [(table.class_var, BASE if len(names) > 2 else others[0], "", "")]
    for name, j in zip(table.features, table.givens, strict=True):
        parent = "" if j is None else table.features[j]
        others = [""] if j is None else table.shown_values(parent)
        rows += [(name, value, parent, other) for value, other in product(table.shown_values(name), others)]
    parts = zip(*rows, strict=True)
    frame = pd.DataFrame({name: _objects(part) for name, part in zip(columns, parts, strict=True)})
    if set(table.givens) <= {None}:
        frame = frame.drop(columns=columns[2:])
    logs = np.concatenate([part.reshape(-1, len(names)) for part in (table.constant, *table.tables)])
    logs = logs[:, -1:] - logs[:, :1] if len(names) == 2 else logs
    for label, column in zip(shown, logs.T, strict=True):
        frame[label] = column
    if dataset is not None:
        counts = counts_in(table, encode_for(table, dataset, table.features, "dataset"))
        frame["share"] = np.concatenate([[1.0], *[count.ravel() / (count.sum() or 1.0) for count in counts]])
    return frame


def _objects(values: Sequence[Any]) -> Any:
    """Return an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def counts_in(x: EffectTable, data: Dataset) -> list[Array]:
    """Return the weight of the rows in each cell of the tables of features."""
    codes = x.place(data, "missing")[1]
    counts = []
    for scope, table in zip(x.term_scopes(), x.tables, strict=True):
        cards = table.shape[:-1]
        cells = flat_index([codes[v] % card for v, card in zip(scope, cards, strict=True)], cards)
        count = np.bincount(cells, data.weights, prod(cards))
        counts.append(count.astype(np.float64).reshape(cards))
    return counts
