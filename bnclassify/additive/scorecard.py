"""Scorecards: models of two classes as tables of whole points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import product
from math import log
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_has_one_class_variable
from ..dataset import MISSING, Dataset
from ..model import MISSING_RULE, NO_JOINT, Model, Step
from ..scores import Rows, mask_of_values_without_effect
from ..tools import special
from ..tools.arrays import TOLERANCE, Array, ArrayOf
from ..tools.checks import OneOf, Optional, Real, Whole, must_be
from ..tools.immutable import ANY_NUMBER, POSITIVE, cached_property, field_bounds, record
from ..tools.messages import listed
from .effect_table import (
    LEAST_MASS,
    EffectTable,
    merge_similar_intervals,
    with_values,
)
from .effects import check_no_marks, estimate_model_to_tabulate, tabulate_effects

START = "start"
"""The row of the points that every total begins with."""

_MOST_POINTS = 100_000
_LARGEST = 1e9  # score or odds
_SCORE, _ODDS = 600, 50


@record
@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(EffectTable):
    """A model of two classes as a table of whole points, from `scorecard`.

    The points of the values of a row add up to a total, and the log odds of the
    target are linear in the total. A scorecard is an `EffectTable` with the
    effects points times ``unit``, less their mean over the training data: so
    `explain` compares a value with the average row.

    Attributes
    ----------
    base : BNC or another model
        The model with the contributions before rounding.
    target : str
        The class of the points.
    unit : float
        The log odds that one point adds, in nats.
    start : int
        The number that is added to the sum of the points; 0 unless `scorecard`
        was called with ``pdo``.
    points, probabilities : pandas.DataFrame
        One row per feature, value and value of the parent in ``given``, after a
        row ``start`` if ``start`` is not 0; and one row per total that can
        occur.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them, including the rounding.
    """

    base: Model | None = None
    target: Hashable = None
    unit: float = 1.0
    start: int = 0

    bounds = field_bounds(unit=POSITIVE, tables=ANY_NUMBER, constant=ANY_NUMBER)

    no_joint = f"a scorecard {NO_JOINT}"

    def __post_init__(self) -> None:
        super().__post_init__()
        points = [table / self.unit - table.flat[0] / self.unit for table in self._log_odds]
        # 1e-3: largest distance of points from whole numbers, because of rounding errors
        whole = all((np.abs(table - table.round()) < 1e-3).all() for table in points)
        if self.target not in self.known_levels[-1] or len(self.constant) != 2 or not whole:
            raise ValueError("tables must be whole points of each value, and target a class.")

    @property
    def intercept(self) -> float:
        """The log odds of the target at a sum of 0 points."""
        base = float((self.constant + self.class_shift) @ self._class_signs)
        return base + sum(self._lowest_log_odds)

    @cached_property
    def feature_points(self) -> tuple[ArrayOf[np.int64], ...]:
        """The points of each feature, by its values and, if it has one, by those of its parent."""
        above = [
            table - low for table, low in zip(self._log_odds, self._lowest_log_odds, strict=True)
        ]
        return tuple([(table / self.unit).round().astype(np.int64) for table in above])

    @property
    def _log_odds(self) -> list[Array]:
        """The effects on the log odds of the target."""
        return [table @ self._class_signs for table in self.tables]

    @property
    def _lowest_log_odds(self) -> list[float]:
        """The smallest effects of features, which have 0 points, among the values with a row."""
        return [
            float(table[at].min())
            for table, at in zip(self._log_odds, cells_of_occurring_values(self), strict=True)
        ]

    @property
    def points(self) -> pd.DataFrame:
        """The points of each value."""
        start = [(START, "", "", self.start)] * bool(self.start)
        return self._frame_of_points(lambda parent, value: value, start)

    def _frame_of_points(
        self,
        write: Callable[[Hashable, Hashable], Hashable],
        rows: Sequence[tuple[Hashable, ...]] = (),
    ) -> pd.DataFrame:
        """Return the points after some rows; ``write`` returns a parent's label and its value."""
        labels, rows = [(*own, MISSING) for own in self.known_levels], list(rows)
        for i, at in enumerate(cells_of_occurring_values(self)):
            parents: list[Hashable] = [""]
            if (j := self.parent_of_each_feature[i]) is not None:
                parents = [write(self.features[j], value) for value in labels[j][at[1]]]
            points = self.feature_points[i][at].ravel().tolist()
            for (value, parent), n in zip(product(labels[i][at[0]], parents), points, strict=True):
                rows.append((self.features[i], value, parent, n))
        return pd.DataFrame(rows, columns=["variable", "value", "given", "points"])

    def written_levels(self, name: Hashable) -> tuple[Hashable, ...]:
        """Return the levels of a feature, with all digits of cut points, to score by hand."""
        return self.levels_by_name[name]

    @property
    def points_with_parent_names(self) -> pd.DataFrame:
        """The points of each value, with the names of parents."""
        return self._frame_of_points("{} = {}".format)

    @property
    def probabilities(self) -> pd.DataFrame:
        """The probability of the target at each total."""
        odds = self.intercept + self.unit * (self._possible_point_totals - self.start)
        return pd.DataFrame(
            {"total": self._possible_point_totals, "probability": special.expit(odds)}
        )

    @cached_property
    def _possible_point_totals(self) -> ArrayOf[np.int64]:
        """The totals that can occur: the points of a parent, and of each child given its value."""
        parents = enumerate(self.parent_of_each_feature)
        roots = [self._totals_of_subtree(i)[0] for i, parent in parents if parent is None]
        return _possible_sums(roots) + self.start

    def _totals_of_subtree(self, i: int) -> list[ArrayOf[np.int64]]:
        """Return the totals of a feature and its descendants, by the value of its parent."""
        points = self.feature_points[i]
        if self.unknown is not None:
            points = points[cells_of_occurring_values(self)[i]]
        table = points.reshape(len(points), -1)
        parents = enumerate(self.parent_of_each_feature)
        children = [self._totals_of_subtree(j) for j, parent in parents if parent == i]
        of_children = [
            _possible_sums([child[value] for child in children]) for value in range(len(table))
        ]
        totals = []
        for points in table.T:
            sums = [own + of_value for own, of_value in zip(points, of_children, strict=True)]
            totals.append(np.unique(np.concatenate(sums)))
        return totals

    @property
    def _class_signs(self) -> Array:
        """1 for the target, and -1 for the other class."""
        return np.array([1.0 if label == self.target else -1.0 for label in self.known_levels[-1]])

    def points_at_rows(self, rows: Rows) -> ArrayOf[np.int64]:
        """Return points of features, (features, rows); an unknown value has the mean points."""
        found = list(self.table_entries_at(rows.codes, self.feature_points))
        points = np.array(found, dtype=np.int64).reshape(len(self.features), len(rows))
        if self.unknown is None:
            return points
        neutral: Array = self.unknown.means[:, 0] * self._class_signs[1]
        points_of_unknown: Array = (neutral - np.array(self._lowest_log_odds)) / self.unit
        whole = points_of_unknown.round().astype(np.int64)
        return np.where(mask_of_values_without_effect(self.score, rows), whole[:, None], points)

    def points_gained_and_lost(self, rows: Rows, order: Sequence[int]) -> dict[str, ArrayOf[Any]]:
        own, n = self.points_at_rows(rows)[list(order)], len(rows)
        # the most points of known values, given those of the parents, for all values
        most = [np.broadcast_to(own[:-1].max(axis=0), own.shape) for own in self.feature_points]
        best = np.array(list(self.table_entries_at(rows.codes, most)), dtype=np.int64)
        lost: Array = np.maximum(best.reshape(len(self.features), n)[list(order)] - own, 0)
        return {
            "points": np.concatenate([np.full((1, n), self.start), own]).T,
            "lost": np.concatenate([np.zeros((1, n), dtype=np.int64), lost]).T,
        }

    @property
    def _note_on_unknown(self) -> str:
        return "" if self.unknown is None else "With unknown values, use predict, not these totals."

    def __dir__(self) -> list[str]:
        """Return the documented attributes, among them the tables."""
        return sorted({*super().__dir__(), "points", "probabilities"})

    def facts(self) -> dict[str, object]:
        """Return the facts of the table, and the size of the points."""
        size = f"of {self.target}; one adds {self.unit:.3g} to its log odds"
        return super().facts() | {"points": size, MISSING_RULE: self.missing_rule("points")}

    def _repr_html_(self) -> str:
        start = f"Start with {self.start:,} points. " if self.start else ""
        title = escape(
            f"{start}Points of {self.class_var} = {self.target}. {self._note_on_unknown}"
        )
        frame = self.points_with_parent_names
        frame = frame if frame["given"].any() else frame.drop(columns="given")
        return f"<p>{title}</p>{frame.to_html(index=False)}"

    def __repr__(self) -> str:
        frame, totals = self.points_with_parent_names, self.probabilities
        frame = frame if frame["given"].any() else frame.drop(columns="given")
        frame = frame.assign(variable=frame["variable"].mask(frame["variable"].duplicated(), ""))
        # 12: number of totals that are printed
        some = totals.iloc[np.unique(np.linspace(0, len(totals) - 1, 12).round().astype(int))]
        first = f"Start with {self.start:,} points. " if self.start else ""
        title = f"{first}Add the points of {self.class_var} = {self.target}:"
        paragraphs = [title, *[t.to_string(index=False) for t in (frame, some.round(3)) if len(t)]]
        if len(some) < len(totals):
            paragraphs.append(f"The attribute probabilities has all {len(totals):,} totals.")
        paragraphs += [self._note_on_unknown] if self._note_on_unknown else []
        return "".join([f"\n{paragraph}\n" for paragraph in paragraphs])


def cells_of_occurring_values(x: EffectTable) -> list[tuple[slice, ...]]:
    """Return the cells of each table without missing values of features that were never missing."""
    if x.unknown is None:
        rows = x.trained_on
        # shares of missing values, which may also be a level of their own
        lacking = [share[-1] for share in x.shares] or [0.0] * len(x.features)
        never = [
            rows is not None and name not in rows.incomplete and share < 2 * LEAST_MASS
            for name, share in zip(x.features, lacking, strict=True)
        ]
    else:  # missing values of these features are unknown, and have no points
        never = x.unknown.always.tolist()
    return [tuple([slice(-1 if never[v] else None) for v in scope]) for scope in x.term_scopes]


def _possible_sums(sets: Sequence[ArrayOf[np.int64]]) -> ArrayOf[np.int64]:
    """Return all sums of one number of each set; sets are ascending.

    In how many ways each sum is made is a convolution: {0, 2} is (1, 0, 1) and
    {0, 1} is (1, 1), which give (1, 1, 1, 1), so that the sums are 0, 1, 2
    and 3.
    """
    from scipy.fft import irfft, next_fast_len, rfft  # slow to import

    sums = np.zeros(1, dtype=np.int64)
    for numbers in sets:
        size = next_fast_len(int(np.ptp(sums) + np.ptp(numbers)) + 1, real=True)
        one, other = (rfft(np.bincount(each - each.min()), size) for each in (sums, numbers))
        sums = np.flatnonzero(irfft(one * other, size) > 0.5) + sums.min() + numbers.min()
    return sums


def scorecard(
    x: Model,
    *,
    target: Hashable | None = None,
    largest: int = 10,
    most_intervals: int | None = None,
    pdo: float | None = None,
    score: float = _SCORE,
    odds: float = _ODDS,
) -> Scorecard:
    """Round the contributions of a model of two classes to whole points.

    Parameters
    ----------
    x : BNC or another model
        With parameters, two classes, and log odds that are a sum of effects, as
        for `effects`: naive Bayes, trees, `bnc` with ``pairs=0``, and tables of
        `from_effects` and `monotonize`.
    target : optional
        The class; points increase its odds. By default, the last class.
    largest : int, default 10
        The largest difference of points between two values of a feature. It is
        not used with `pdo`.
    most_intervals : int, optional
        Maximum number of intervals of a numeric feature, at least 2; the
        neighbors that differ least are merged. By default, all intervals of the
        model, or 32 of a density. Neighbors with equal points are merged.
    pdo : float, optional
        Points that double the odds, such as 20, as in credit scoring, at least
        0.01.
    score, odds : float, default 600 and 50
        With `pdo`, the total for odds of the target of `odds` to 1. Without it,
        other numbers than the defaults raise an error.

    Returns
    -------
    Scorecard
        A fitted model. Its attributes ``points`` and ``probabilities`` are
        tables that suffice to compute a prediction by hand; if points depend on
        another feature, ``given`` is its value, and ``families(card)`` names
        it. Features with the same points for all values are omitted, and so are
        rows of missing values of features that were never missing.
        ``predict(card, df, points=True)`` returns totals. An unknown value has
        the mean points of its feature, and the probability of a total with
        unknown values, as `predict` returns it, is less extreme than in the
        table.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` does not have two classes, or its log odds are not a sum of
        effects, or are infinite.

    Notes
    -----
    The log odds of the target are base + Σ_i contribution_i, as in `effects`.
    With low_i the smallest contribution of feature i, the points of a value are
    round((contribution − low_i) / unit), where the unit is the largest range of
    the contributions of a feature divided by `largest`, or ln 2 / pdo. The
    probability of the target at a total is 1 / (1 + exp(−(base + Σ_i low_i +
    unit · total))). With `pdo`, a whole number of points to start with is
    added, and the probability is 1 / (1 + exp(−(ln odds + unit · (total −
    score)))).

    The contribution of merged intervals is the mean over the training data.
    `explain` compares each value with the mean points of its feature in the
    training data, and has a column ``lost``, the points below the best value.

    Examples
    --------
    >>> from bnclassify import bnc, load_voting, predict, scorecard
    >>> voting = load_voting()[["crime", "immigration", "physician_fee_freeze", "Class"]]
    >>> model = bnc("nb", "Class", voting, smooth=1)
    >>> card = scorecard(model, target="republican", largest=5)
    >>> card.points.tail(3)
                   variable      value given  points
    3  physician_fee_freeze          n             0
    4  physician_fee_freeze          y             5
    5  physician_fee_freeze  (missing)             3
    >>> predict(card, voting.head(2), prob=True).round(2)
    Class  democrat  republican
    0          0.05        0.95
    1          0.05        0.95
    """
    model = check_has_one_class_variable(x)
    names = model.known_levels[-1]
    if len(names) != 2:
        raise ValueError(
            f"x must have two classes; got {listed(names)}. Merge the others into one."
        )
    if model.pairs:
        raise ValueError(
            f"x must be a sum of effects of single features; got one with {len(model.pairs)} "
            "pairs, which have no points. Fit it with pairs=0."
        )
    Whole(least=1, most=_MOST_POINTS).check("largest", largest)
    Optional(Whole(least=2)).check("most_intervals", most_intervals)
    Optional(Real(least=0.01, most=_MOST_POINTS)).check("pdo", pdo)
    Real(least=-_LARGEST, most=_LARGEST).check("score", score)
    Real(above=0, most=_LARGEST).check("odds", odds)
    for name, value, usual in (("score", score, _SCORE), ("odds", odds, _ODDS)):
        if pdo is None and value != usual:
            raise ValueError(
                must_be(name, f"{usual:g} without pdo", value, "Pass pdo too, such as pdo=20.")
            )
    target = names[1] if target is None else OneOf(names).check("target", target)
    table = tabulate_effects(model, most_intervals or (None if model.densities else _MOST_POINTS))
    check_no_marks(table)
    sign = np.array([1.0 if name == target else -1.0 for name in names])
    effects: list[Array] = [entries @ sign for entries in table.tables]
    cells = cells_of_occurring_values(table)
    within: list[Array] = [effect[at] for effect, at in zip(effects, cells, strict=True)]
    low = [float(effect.min()) for effect in within]
    shift = float(table.class_shift @ sign)  # of class proportions that the card keeps
    intercept, start = float(table.constant @ sign) + shift + sum(low), 0
    widest = max([float(np.ptp(effect)) for effect in within], default=0.0)
    unit = widest / largest if widest > TOLERANCE else 1.0
    if pdo is not None:
        unit = log(2) / pdo
        start = round(score - (log(odds) - intercept) / unit)
        intercept = log(odds) + unit * (start - score)
    own: Array = np.maximum(sign, 0.0)
    recipe = model.recipe
    points = [np.round((effect - least) / unit) for effect, least in zip(effects, low, strict=True)]
    rounded = tuple([unit * each[..., None] * own for each in points])
    unknown = table.unknown and table.unknown.with_changed_effects(
        table.tables, rounded, table.shares
    )
    table = replace(table, tables=rounded, unknown=unknown)
    merged = merge_similar_intervals(table)  # neighbors with equal points
    table = _with_centered_effects(_without_constant_features(merged))
    if recipe is not None and recipe.parameters is not None:
        settings = {"target": target, "largest": largest, "most_intervals": most_intervals}
        settings |= {"pdo": pdo, "score": score, "odds": odds, "parameters": recipe.parameters}
        recipe = replace(recipe, parameters=Step("scorecard", fit_card, settings, draws=True))
    fields = table.effect_table_fields() | {"recipe": recipe}
    fields["constant"] = table.constant + (intercept - shift) * own
    return Scorecard(**fields, base=model, target=target, unit=unit, start=start)


def _without_constant_features(x: EffectTable) -> EffectTable:
    """Return a table without the features that have no effect and no child, if any has one."""
    used = set[int]()
    for i, (table, at) in enumerate(zip(x.tables, cells_of_occurring_values(x), strict=True)):
        if np.ptp(table[at].reshape(-1, table.shape[-1]), axis=0).any():
            used.add(i)
    for i in list(used):
        while (parent := x.parent_of_each_feature[i]) is not None:  # and the parent of that
            used.add(i := parent)
    if not used or len(used) == len(x.features):
        return x
    names = [x.features[i] for i in sorted(used)]
    result = _select_features(x, names)
    if draws := x.learned.get("draws"):
        own = tuple([_select_features(_with_centered_effects(draw), names) for draw in draws])
        result = replace(result, learned={**x.learned, "draws": own})
    return result


def _select_features(x: EffectTable, names: Sequence[Hashable]) -> EffectTable:
    kept = [x.features.index(name) for name in names]
    values = {name: x.values_by_feature[name] for name in names}
    tables, shares = [x.tables[i] for i in kept], [x.shares[i] for i in kept if x.shares]
    return with_values(x, values, tables, shares, x.unknown and x.unknown.select_features(kept))


def _with_centered_effects(x: EffectTable) -> EffectTable:
    """Return a table whose constant is that of the average row, and whose effects have the mean 0.

    Without shares, the mean is that of the values; a parent is independent of
    its child.
    """
    shares = x.shares or [np.append(np.ones(len(t) - 1), 0.0) / (len(t) - 1) for t in x.tables]
    means = list[Array]()
    for share, table, j in zip(shares, x.tables, x.parent_of_each_feature, strict=True):
        by_parent = np.tensordot(share, table, axes=1)  # (classes,), or (parent's values, classes)
        means.append(by_parent if j is None else shares[j] @ by_parent)
    tables = tuple([table - mean for table, mean in zip(x.tables, means, strict=True)])
    constant: Array = np.sum([np.zeros_like(x.constant), *means], axis=0)
    unknown = x.unknown and x.unknown.with_changed_effects(x.tables, tables, shares)
    return replace(x, tables=tables, constant=constant, unknown=unknown)


@record
def fit_card(
    x: Model,
    data: Dataset,
    *,
    parameters: Step,
    rng: np.random.Generator | None = None,
    **settings: Any,
) -> Scorecard:
    """Estimate the parameters of a structure, and round the contributions."""
    base = x.base if isinstance(x, Scorecard) else None
    if base is not None:
        x, data = base, base.preparation.prepared_data(data)
    return scorecard(estimate_model_to_tabulate(parameters, x, data, rng), **settings)
