"""Scorecards: models of two classes as tables of whole points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from math import log, prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, Mask, Positions, log_normalize
from ..base.checks import OneOf, Optional, Real, Whole
from ..base.immutable import ANY_NUMBER, POSITIVE, bounded, cached_property, record
from ..base.messages import listed
from ..frames.schema import MISSING
from ..model.arguments import check_fitted
from ..model.formulas import Formula, Points, Table
from ..model.model import Choose, Derived, Model
from ..model.recipes import Recipe, Step
from .evidence import order_features

_LINES = 12  # of totals that are printed
_MOST_POINTS = 100_000
_LARGEST = 1e9  # score or odds
_UNKNOWN = "(unknown)"  # beside a level of missing values


@record
@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Derived):
    """A model of two classes as a table of whole points, from `scorecard`.

    The points of the values of a row add up to a total, and the log odds of the target are linear in it.

    Attributes
    ----------
    base : BNC or another model
        The model whose contributions are rounded.
    target : str
        The class to which the points refer.
    unit : float
        The log odds that one point adds, in nats.
    intercept : float
        The log odds of the target at a sum of 0 points.
    start : int
        The number that is added to the sum of the points; 0 unless `scorecard` was called with ``pdo``.
    givens : tuple
        The number of the feature parent of each feature, or None.
    tables : tuple of read-only arrays
        The points of each feature, by its values and, if it has one, by those of its parent; the last entry
        of each axis is that of a missing value.
    points, probabilities : pandas.DataFrame
        One row per feature, value and value of the parent in ``given``; and one row per total that can occur.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them, including the rounding.
    """

    base: Model
    target: Any
    unit: float
    intercept: float
    start: int
    givens: tuple[int | None, ...]
    tables: tuple[NDArray[np.int64], ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    bounds = bounded(unit=POSITIVE, intercept=ANY_NUMBER)

    _estimate = Derived._estimate_base

    missing_rule = "given the points of (missing)"
    no_joint = (
        "a scorecard provides P(class | features), but does not define a joint distribution. Use predict, "
        "explain, cloglik or cv, or the model that it was made from, which is its attribute base"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        cards = [len(labels) + 1 for labels in self.known_levels[:-1]]
        shapes = [(cards[i],) if j is None else (cards[i], cards[j]) for i, j in enumerate(self.givens)]
        if [table.shape for table in self.tables] != shapes or self.target not in self.known_levels[-1]:
            raise ValueError("tables must be points of the values of each feature, and target a class.")

    @property
    def members(self) -> tuple[Model, ...]:
        """The scorecard itself."""
        return (self,)

    @property
    def points(self) -> pd.DataFrame:
        """The points of each value."""
        return self._table(self.known_levels, lambda parent, value: value)

    def _table(self, levels: Sequence[Sequence[Any]], write: Callable[[Any, Any], Any]) -> pd.DataFrame:
        """Return the points with these labels; ``write`` returns the text on a parent and its value."""
        labels, rows = [(*own, _UNKNOWN if MISSING in own else MISSING) for own in levels], list[Any]()
        for i, (name, j) in enumerate(zip(self.features, self.givens, strict=True)):
            others = [""] if j is None else [write(self.features[j], value) for value in labels[j]]
            pairs = zip(product(labels[i], others), self.tables[i].ravel().tolist(), strict=True)
            rows += [(name, *pair, n) for pair, n in pairs]
        return pd.DataFrame(rows, columns=["variable", "value", "given", "points"])

    @property
    def _written(self) -> pd.DataFrame:
        """The points, with readable intervals and the names of parents."""
        return self._table([self._written_levels(name) for name in self.features], "{} = {}".format)

    @property
    def probabilities(self) -> pd.DataFrame:
        """The probability of the target at each total."""
        odds = self.intercept + self.unit * (self._totals - self.start)
        shares = np.exp(log_normalize(np.stack([odds, np.zeros(len(odds))], axis=1)))[:, 0]
        return pd.DataFrame({"total": self._totals, "probability": shares})

    @cached_property
    def _totals(self) -> NDArray[np.int64]:
        """The totals that can occur: the points of a parent, and of each child given its value."""

        def below(i: int) -> list[NDArray[np.int64]]:  # the sums below a feature by the value of its parent
            table = self.tables[i].reshape(len(self.tables[i]), -1)
            children = [below(j) for j, given in enumerate(self.givens) if given == i]
            inside = [_sums([child[value] for child in children]) for value in range(len(table))]
            return [
                np.unique(np.concatenate([sums + n for sums, n in zip(inside, points, strict=True)]))
                for points in table.T
            ]

        return _sums([below(i)[0] for i, given in enumerate(self.givens) if given is None]) + self.start

    def _points_at(self, codes: Codes) -> NDArray[np.int64]:
        """Return the points of each feature, (features, rows)."""
        pairs = zip(self._term_scopes(), self.tables, strict=True)
        found = [table[tuple([codes[v] for v in scope])] for scope, table in pairs]
        return np.array(found, dtype=np.int64).reshape(len(self.tables), codes.shape[1])

    @property
    def _sign(self) -> Array:
        """1 for the target, and 0 for the other class."""
        return np.array([float(label == self.target) for label in self.known_levels[-1]])

    def _log_joint(self, codes: Codes) -> Array:
        """Return the log odds of the target, and 0 for the other class, (rows, 2)."""
        return (self.intercept + self.unit * self._points_at(codes).sum(axis=0))[:, None] * self._sign

    def _weigh_evidence(
        self, codes: Codes, order: Sequence[int], choose: Choose
    ) -> tuple[Array, Positions, Mask, Array]:
        """Return the points times the unit; missing values have points, too."""
        logs = self._log_joint(codes)
        targets, rivals = choose(logs)
        weights = self.unit * np.column_stack([np.zeros(len(logs)), self._points_at(codes)[order].T])
        weights[:, 0] = self.intercept
        posteriors = np.exp(log_normalize(logs))[np.arange(len(logs)), targets]
        return weights * (2 * self._sign[targets] - 1)[:, None], targets, rivals, posteriors

    def _points_of(self, codes: Codes, order: Sequence[int]) -> NDArray[np.int64]:
        start = np.full((1, codes.shape[1]), self.start)
        return np.concatenate([start, self._points_at(codes)[list(order)]]).T

    def _value_formulas(self) -> tuple[Formula, ...]:
        return self.base._value_formulas() or (self.base._formula(),)

    def _term_scopes(self) -> list[tuple[int, ...]]:
        return [(i,) if given is None else (i, given) for i, given in enumerate(self.givens)]

    def _formula(self) -> Formula:
        pairs = enumerate(zip(self._term_scopes(), self.tables, strict=True))
        tables = tuple([Table(i, scope, table[..., None].astype(float)) for i, (scope, table) in pairs])
        number, totals = self.known_levels[-1].index(self.target), tuple(self.probabilities["total"].tolist())
        return Points(tables, number, self.intercept, self.unit, self.start, totals)

    def facts(self) -> dict[str, object]:
        """Return the facts of the model, and the size of the points."""
        return {**self.base.facts(), "points": f"of {self.target}; one adds {self.unit:.3g} to its log odds"}

    def __repr__(self) -> str:
        frame, totals = self._written, self.probabilities
        frame = frame if frame["given"].any() else frame.drop(columns="given")
        frame["variable"] = frame["variable"].mask(frame["variable"].duplicated(), "")
        some = totals.iloc[np.unique(np.linspace(0, len(totals) - 1, _LINES).round().astype(int))]
        first = f"Start with {self.start:,} points. " if self.start else ""
        title = f"{first}Add the points of {self.class_var} = {self.target}:"
        return "\n".join(["", title, "", *[t.to_string(index=False) + "\n" for t in (frame, some.round(3))]])


def _sums(sets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return all sums of one number of each set."""
    return reduce(lambda a, b: np.unique(np.add.outer(a, b)), sets, np.zeros(1, dtype=np.int64))


def scorecard(
    x: Model,
    *,
    target: Any = None,
    largest: int = 10,
    pdo: float | None = None,
    score: float = 600,
    odds: float = 50,
) -> Scorecard:
    """Round the contributions of a model of two classes to a table of whole points.

    Parameters
    ----------
    x : BNC or another model
        With parameters, two classes, and contributions that depend on at most one other feature: naive Bayes,
        trees, and `kdb_mi` with ``kdbk=1``, with or without weights.
    target : optional
        The class of which the points increase the odds. By default, the rarer class, or the last one.
    largest : int, default 10
        The largest difference of points between two values of a feature. It is not used with `pdo`.
    pdo : float, optional
        Points that double the odds, such as 20, as in credit scoring.
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
        If `x` does not have two classes, or has contributions that depend on several features, on numbers,
        or are infinite.

    Notes
    -----
    The log odds of the target are base + Σ_i contribution_i. With low_i the smallest contribution of feature
    i, the points of a value are round((contribution − low_i) / unit), where the unit is the largest range of
    the contributions of a feature divided by `largest`, or ln 2 / pdo. The probability of the target at a
    total is 1 / (1 + exp(−(base + Σ_i low_i + unit · total))). With `pdo`, a whole number of points to start
    with is added, and the probability is 1 / (1 + exp(−(ln odds + unit · (total − score)))).

    A missing feature contributes 0; if the parent is missing, a value contributes its weight of evidence
    given the class alone.

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
    Optional(Real(above=0, most=_MOST_POINTS)).check("pdo", pdo)
    Real(least=-_LARGEST, most=_LARGEST).check("score", score)
    Real(above=0, most=_LARGEST).check("odds", odds)
    if target is None:
        prior = model._class_prior().round(9)
        target = names[int(prior[0] < prior[1]) ^ 1]
    OneOf(names).check("target", target)
    base, givens, parts = _contributions(model, names.index(target))
    low = [float(part.min()) for part in parts]
    widest = max([float(np.ptp(part)) for part in parts], default=0.0)
    unit = log(2) / pdo if pdo is not None else widest / largest if widest > TOLERANCE else 1.0
    rounded = [np.round((part - least) / unit) for part, least in zip(parts, low, strict=True)]
    intercept, start = base + sum(low), 0
    if pdo is not None:
        start = round(score - (log(odds) - intercept) / unit)
        intercept = log(odds) + unit * (start - score)
    settings = {"target": target, "largest": largest, "pdo": pdo, "score": score, "odds": odds}
    tables, recipe = tuple([part.astype(np.int64) for part in rounded]), model.recipe
    if recipe is not None and recipe.parameters is not None:
        settings |= {"parameters": recipe.parameters}
        recipe = replace(recipe, parameters=Step("scorecard", fit_card, settings, draws=True))
    return Scorecard(model, target, unit, intercept, start, tuple(givens), tables, recipe)


@record
def fit_card(
    x: Any, data: Any, *, parameters: Step, rng: np.random.Generator | None = None, **settings: Any
) -> Scorecard:
    """Estimate the parameters of a structure, and round the contributions."""
    return scorecard(parameters(x.base if isinstance(x, Scorecard) else x, data, rng=rng), **settings)


def _contributions(x: Model, target: int) -> tuple[float, list[int | None], list[Array]]:
    """Return the base of the log odds, the parent of each feature, and contributions of values, or raise."""
    scopes, n, order = x._term_scopes(), len(x.features), order_features(x)
    simple = scopes is not None and not x.parents[x.class_var] and x.missing_rule != "an error"
    if not simple or max(map(len, scopes or ())) > 2 or any(x._curve(f) is not None for f in x.features):
        raise ValueError(
            "x must be a model in which the contribution of a feature depends on its value and at most "
            f"one other feature; got a model of type {type(x).__name__}. Use nb, tan_cl, or kdb_mi with "
            "dag_args={'kdbk': 1}, and for numbers smooth=1 and discretize='mdlp'."
        )
    base, givens, parts = 0.0, list[int | None](), []
    for i, above in enumerate(x.feature_parents.values()):
        members = [i, *map(x.features.index, above)]
        cards = [len(x.known_levels[v]) for v in members]
        codes = np.zeros((n, prod(cards)), dtype=np.intp)
        codes[members] = np.indices(cards).reshape(len(cards), -1)
        odds = _odds(x._log_joints_in_sequence(codes, order), target)
        part, at = np.zeros([card + 1 for card in cards]), order.index(i)
        with np.errstate(invalid="ignore"):
            part[tuple([slice(-1)] * len(cards))] = (odds[at + 1] - odds[at]).reshape(cards)
        if above:  # the parent is missing
            mains = sum(_odds(logs, target) for _, scope, logs in x._effects(codes) if scope == (i,))
            part[:-1, -1] = np.reshape(mains, cards)[:, 0]
        base = float(odds[0, 0])
        givens.append(members[1] if above else None)
        parts.append(part)
    if not np.isfinite([base, *[part.sum() for part in parts]]).all():
        raise ValueError("x must have positive probabilities only; got 0. Fit the model with smooth above 0.")
    return base, givens, parts


def _odds(logs: Array, target: int) -> Array:
    """Return the log odds of the target from logs of two classes."""
    with np.errstate(invalid="ignore"):
        return np.asarray(logs[..., target] - logs[..., 1 - target])
