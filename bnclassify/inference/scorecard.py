"""Scorecards: models of two classes as tables of whole points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, ArrayOf, Codes, log_normalize
from ..base.checks import OneOf, Optional, Real, Whole
from ..base.immutable import ANY_NUMBER, POSITIVE, bounded, cached_property, record
from ..base.messages import listed
from ..frames.schema import MISSING
from ..model.arguments import check_fitted
from ..model.model import Model
from ..model.recipes import A_NETWORK, Step
from .effect_table import EffectTable, merge_intervals
from .tabulate import estimate, tabulate

_LINES = 12  # of totals that are printed
_MOST_POINTS = 100_000
_LARGEST = 1e9  # score or odds
_LEAST_PDO = 0.01
_WHOLE = 1e-3  # largest distance of points from whole numbers, because of rounding errors
_FEW = 64  # numbers that are added one by one


@record
@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(EffectTable):
    """A model of two classes as a table of whole points, from `scorecard`.

    The points of the values of a row add up to a total, and the log odds of the target are linear in it. It
    is an `EffectTable` whose effects are points times ``unit``.

    Attributes
    ----------
    base : BNC or another model
        The model whose contributions are rounded.
    target : str
        The class to which the points refer.
    unit : float
        The log odds that one point adds, in nats.
    start : int
        The number that is added to the sum of the points; 0 unless `scorecard` was called with ``pdo``.
    points, probabilities : pandas.DataFrame
        One row per feature, value and value of the parent in ``given``; and one row per total that can occur.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them, including the rounding.
    """

    base: Any = None
    target: Any = None
    unit: float = 1.0
    start: int = 0

    bounds = bounded(unit=POSITIVE, tables=ANY_NUMBER, constant=ANY_NUMBER)

    missing_rule = "given the points of (missing)"
    no_joint = (
        "a scorecard provides P(class | features), but does not define a joint distribution. Use predict, "
        f"explain, cloglik or cv, or fit a network, which defines one: {A_NETWORK}."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target not in self.known_levels[-1] or not all(map(self._is_whole, self.tables)):
            raise ValueError("tables must be whole points of each value, and target a class.")

    def _is_whole(self, table: Array) -> bool:
        points = np.diff(table, axis=-1) / self.unit
        return table.shape[-1] == 2 and bool((np.abs(points - points.round()) < _WHOLE).all())

    @property
    def intercept(self) -> float:
        """The log odds of the target at a sum of 0 points."""
        return float(self.constant @ (2 * self._sign - 1))

    @cached_property
    def _points(self) -> tuple[ArrayOf[np.int64], ...]:
        """The points of each feature, by its values and, if it has one, by those of its parent."""
        tables = [(table @ (2 * self._sign - 1) / self.unit).round() for table in self.tables]
        return tuple([table.astype(np.int64) for table in tables])

    @property
    def points(self) -> pd.DataFrame:
        """The points of each value."""
        return self._table(self.known_levels, lambda parent, value: value)

    def _table(self, levels: Sequence[Sequence[Any]], write: Callable[[Any, Any], Any]) -> pd.DataFrame:
        """Return the points with these labels; ``write`` returns the text on a parent and its value."""
        labels, rows = [(*own, MISSING) for own in levels], list[Any]()
        for i, (name, j) in enumerate(zip(self.features, self.givens, strict=True)):
            others = [""] if j is None else [write(self.features[j], value) for value in labels[j]]
            pairs = zip(product(labels[i], others), self._points[i].ravel().tolist(), strict=True)
            rows += [(name, *pair, n) for pair, n in pairs]
        return pd.DataFrame(rows, columns=["variable", "value", "given", "points"])

    def written_levels(self, name: Hashable) -> tuple[Hashable, ...]:
        """Return the levels of a feature, with all digits of cut points, to score by hand."""
        return self.levels_by_name[name]

    @property
    def _written(self) -> pd.DataFrame:
        """The points, with the names of parents."""
        return self._table(self.known_levels, "{} = {}".format)

    @property
    def probabilities(self) -> pd.DataFrame:
        """The probability of the target at each total."""
        odds = self.intercept + self.unit * (self._totals - self.start)
        shares = np.exp(log_normalize(np.stack([odds, np.zeros(len(odds))], axis=1)))[:, 0]
        return pd.DataFrame({"total": self._totals, "probability": shares})

    @cached_property
    def _totals(self) -> ArrayOf[np.int64]:
        """The totals that can occur: the points of a parent, and of each child given its value."""

        def below(i: int) -> list[ArrayOf[np.int64]]:  # the sums below a feature by the value of its parent
            table = self._points[i].reshape(len(self._points[i]), -1)
            children = [below(j) for j, given in enumerate(self.givens) if given == i]
            inside = [_sums([child[value] for child in children]) for value in range(len(table))]
            return [
                np.unique(np.concatenate([sums + n for sums, n in zip(inside, points, strict=True)]))
                for points in table.T
            ]

        return _sums([below(i)[0] for i, given in enumerate(self.givens) if given is None]) + self.start

    def _points_at(self, codes: Codes) -> ArrayOf[np.int64]:
        """Return the points of each feature, (features, rows)."""
        pairs = zip(self.term_scopes(), self._points, strict=True)
        found = [table[tuple([codes[v] for v in scope])] for scope, table in pairs]
        return np.array(found, dtype=np.int64).reshape(len(self._points), codes.shape[1])

    @property
    def _sign(self) -> Array:
        """1 for the target, and 0 for the other class."""
        return np.array([float(label == self.target) for label in self.known_levels[-1]])

    def points_of(self, codes: Codes, order: Sequence[int]) -> ArrayOf[np.int64]:
        start = np.full((1, codes.shape[1]), self.start)
        return np.concatenate([start, self._points_at(codes)[list(order)]]).T

    def facts(self) -> dict[str, object]:
        """Return the facts of the table, and the size of the points."""
        return {**super().facts(), "points": f"of {self.target}; one adds {self.unit:.3g} to its log odds"}

    def __repr__(self) -> str:
        frame, totals = self._written, self.probabilities
        frame = frame[frame.groupby("variable", sort=False)["points"].transform("any")]
        frame = frame if frame["given"].any() else frame.drop(columns="given")
        frame = frame.assign(variable=frame["variable"].mask(frame["variable"].duplicated(), ""))
        some = totals.iloc[np.unique(np.linspace(0, len(totals) - 1, _LINES).round().astype(int))]
        first = f"Start with {self.start:,} points. " if self.start else ""
        title = f"{first}Add the points of {self.class_var} = {self.target}:"
        parts = [title, *[t.to_string(index=False) for t in (frame, some.round(3)) if len(t)]]
        if len(some) < len(totals):
            parts.append(f"The attribute probabilities has all {len(totals):,} totals.")
        return "".join([f"\n{part}\n" for part in parts])


def _sums(sets: Sequence[ArrayOf[np.int64]]) -> ArrayOf[np.int64]:
    """Return all sums of one number of each set; sets are ascending."""
    total = np.zeros(1, dtype=np.int64)
    for numbers in sorted(sets, key=len):
        few, many = sorted((numbers, total), key=len)
        found = np.zeros(np.ptp(few) + np.ptp(many) + 1, dtype=bool)
        if len(few) <= _FEW:
            for number in few - few[0]:
                found[many - many[0] + number] = True
        else:  # how often each sum occurs is a convolution
            parts = [np.fft.rfft(np.bincount(part - part[0]), len(found)) for part in (few, many)]
            found = np.fft.irfft(parts[0] * parts[1], len(found)) > 0.5
        total = np.flatnonzero(found) + few[0] + many[0]
    return total


def scorecard(
    x: Model,
    *,
    target: Any = None,
    largest: int = 10,
    most_intervals: int | None = None,
    pdo: float | None = None,
    score: float = 600,
    odds: float = 50,
) -> Scorecard:
    """Round the contributions of a model of two classes to a table of whole points.

    Parameters
    ----------
    x : BNC or another model
        With parameters, two classes, and log odds that are a sum of effects, as for `effects`: naive Bayes,
        trees, `bnc` with ``additive=True``, and tables of `from_effects` and `monotonize`.
    target : optional
        The class of which the points increase the odds. By default, the rarer class, or the last one.
    largest : int, default 10
        The largest difference of points between two values of a feature. It is not used with `pdo`.
    most_intervals : int, optional
        Maximum number of intervals of a numeric feature; the neighbours that differ least are merged. By
        default, all intervals of the model, or 32 of a density. Neighbours with equal points are one.
    pdo : float, optional
        Points that double the odds, such as 20, as in credit scoring, at least 0.01.
    score, odds : float, default 600 and 50
        With `pdo`, the total at which the odds of the target are `odds` to 1.

    Returns
    -------
    Scorecard
        A fitted model. Its attributes ``points`` and ``probabilities`` are tables that suffice to compute a
        prediction by hand.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` does not have two classes, or its log odds are not such a sum, or are infinite.

    Notes
    -----
    The log odds of the target are base + Σ_i contribution_i, as in `effects`. With low_i the smallest
    contribution of feature i, the points of a value are round((contribution − low_i) / unit), where the unit
    is the largest range of the contributions of a feature divided by `largest`, or ln 2 / pdo. The
    probability of the target at a total is 1 / (1 + exp(−(base + Σ_i low_i + unit · total))). With `pdo`, a
    whole number of points to start with is added, and the probability is
    1 / (1 + exp(−(ln odds + unit · (total − score)))).

    The contribution of merged intervals is the mean over the training data.

    Examples
    --------
    >>> from bnclassify import bnc, load_voting, predict, scorecard
    >>> voting = load_voting()[["crime", "immigration", "physician_fee_freeze", "Class"]]
    >>> model = bnc("nb", "Class", voting, smooth=1)
    >>> card = scorecard(model, target="republican", largest=5)
    >>> card.points.tail(3)
                   variable      value given  points
    6  physician_fee_freeze          n             0
    7  physician_fee_freeze          y             5
    8  physician_fee_freeze  (missing)             3
    >>> predict(card, voting.head(2), prob=True).round(2)
    Class  democrat  republican
    0          0.05        0.95
    1          0.05        0.95
    """
    model = check_fitted(x)
    names = model.known_levels[-1] if model.one_class else ()
    if len(names) != 2:
        raise ValueError(f"x must have two classes; got {listed(names)}. Merge the others into one.")
    Whole(least=1, most=_MOST_POINTS).check("largest", largest)
    Optional(Whole(least=1)).check("most_intervals", most_intervals)
    Optional(Real(least=_LEAST_PDO, most=_MOST_POINTS)).check("pdo", pdo)
    Real(least=-_LARGEST, most=_LARGEST).check("score", score)
    Real(above=0, most=_LARGEST).check("odds", odds)
    if target is None:
        prior = model.class_prior().round(9)
        target = names[int(prior[0] < prior[1]) ^ 1]
    OneOf(names).check("target", target)
    table = tabulate(model, most_intervals or (None if model.densities else _MOST_POINTS))
    sign = np.array([1.0 if name == target else -1.0 for name in names])
    base, parts = float(table.constant @ sign), [part @ sign for part in table.tables]
    low = [float(part.min()) for part in parts]
    widest = max([float(np.ptp(part)) for part in parts], default=0.0)
    unit = log(2) / pdo if pdo is not None else widest / largest if widest > TOLERANCE else 1.0
    rounded = [np.round((part - least) / unit) for part, least in zip(parts, low, strict=True)]
    intercept, start = base + sum(low), 0
    if pdo is not None:
        start = round(score - (log(odds) - intercept) / unit)
        intercept = log(odds) + unit * (start - score)
    settings = {"target": target, "largest": largest, "most_intervals": most_intervals}
    settings |= {"pdo": pdo, "score": score, "odds": odds}
    own, recipe = np.maximum(sign, 0.0), model.recipe
    table = replace(table, tables=tuple([unit * part[..., None] * own for part in rounded]))
    table = merge_intervals(table)  # neighbours with equal points
    if recipe is not None and recipe.parameters is not None:
        settings |= {"parameters": recipe.parameters}
        recipe = replace(recipe, parameters=Step("scorecard", fit_card, settings, draws=True))
    fields = {name: getattr(table, name) for name in EffectTable.__dataclass_fields__}
    fields |= {"constant": intercept * own, "recipe": recipe, "base": model, "target": target}
    return Scorecard(**fields, unit=unit, start=start)


@record
def fit_card(
    x: Any, data: Any, *, parameters: Step, rng: np.random.Generator | None = None, **settings: Any
) -> Scorecard:
    """Estimate the parameters of a structure, and round the contributions."""
    if isinstance(x, Scorecard):
        x, data = x.base, data if x.base.preparation is None else x.base.preparation.code(data)
    return scorecard(estimate(parameters, x, data, rng), **settings)
