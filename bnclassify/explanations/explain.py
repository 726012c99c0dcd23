"""Weights of evidence of known values, which sum to the log odds, and the value of unknown ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import isfinite, nextafter
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from ..accessors import check_fitted, product_of_indexes, read_for_model
from ..dataset import MISSING, Dataset, as_floats, check_unseen
from ..elimination import density_grid
from ..frames import AnyTable, Row, is_missing
from ..model import Model
from ..prediction import REST, Evidence, check_costs, split_off_interactions, weigh_evidence
from ..scores import Rows, scores_at, sums_in_formula
from ..tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    log,
    log_normalize,
    log_sum_exp,
    slices,
    softmax,
    xlogx,
)
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, Names, Unseen
from ..tools.graphs import descending_order
from ..tools.messages import shown

_LEAST_FACTOR = 1.05
"""Factor of the odds from which a value is a reason in a sentence."""

_MOST_LOG_ODDS = float(np.log(10_000))

Explained: TypeAlias = "AnyTable | Row | Sequence[Row]"


class _ExplainOptions(TypedDict, total=False):
    target: Hashable | None
    against: Any
    unseen: Unseen
    unknown: Sequence[Hashable]
    class_var: Hashable | None
    sort: bool
    interactions: bool


@overload
def explain(
    x: Model,
    row: Explained,
    *,
    sentences: Literal[False] = False,
    **options: Unpack[_ExplainOptions],
) -> pd.DataFrame: ...
@overload
def explain(
    x: Model, row: Explained, *, sentences: Literal[True], **options: Unpack[_ExplainOptions]
) -> list[str] | pd.Series[Any]: ...
@with_call_advice("Pass the class by name: explain(x, row, target=label).")
def explain(
    x: Model,
    row: Explained,
    *,
    target: Hashable | None = None,
    against: Any = None,
    unseen: Unseen = "error",
    unknown: Sequence[Hashable] = (),
    class_var: Hashable | None = None,
    sort: bool = False,
    interactions: bool = False,
    sentences: bool = False,
) -> pd.DataFrame | list[str] | pd.Series[Any]:
    """Explain predictions by the contributions of features to the log odds.

    The odds of a class are its probability divided by the probability of
    another class. The contributions sum to the logarithm of these odds, as
    `predict` returns them.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    row : pandas.DataFrame, Dataset, Series, dict or list of dict
        One row, such as ``df.iloc[i]`` or ``{"safety": "high", …}``, or several
        rows. Features that a Series or dict omits are unknown.
    target, against : optional
        The class to explain, and the class or classes to compare it with. By
        default, the last of two classes, or the predicted one of more, against
        the most probable other class.
    unseen : {"error", "missing"}, default "error"
        What to do with values that did not occur in training, as in `predict`.
    unknown : sequence of str, optional
        Features that are unknown in all rows, as in `predict`.
    class_var : str, optional
        The class variable to explain, if `x` has several. The others are
        marginalized over.
    sort : bool, default False
        If True, the strongest contributions come first.
    interactions : bool, default False
        If True, divide the contribution of a feature with feature parents into
        its main effect and interactions with them.
    sentences : bool, default False
        If True, return the strongest reasons as text in place of the table: up
        to three values that change the odds by a factor of 1.05 or more, or a
        sentence that there are none. For a `Scorecard`, a reason compares a
        value with the average value.

    Returns
    -------
    pandas.DataFrame
        One row for the class and one per feature, parents before children, with
        these columns:

        - ``value``: the value in the row, NaN if missing.
        - ``parents``: the values of the feature parents.
        - ``log_odds``: the contribution in nats, 0 for an unknown feature.
        - ``odds_ratio``: its exponential, the factor that multiplies the odds.
        - ``points`` and ``lost``, for a `Scorecard`: points, and points below
          the best value.

        A pair of features in a sum of effects has its row, such as "age × sex".
        With ``interactions=True``, one row per interaction follows the
        features, with the tuple of its features as label, or ``"(rest)"`` in an
        average. Unless there is exactly one row, the tables are concatenated,
        indexed by row label and variable, with columns ``target`` and
        ``against``.
    list of str
        With ``sentences=True``. For several rows, a Series of lists.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` has several class variables and `class_var` is not given, a row
        is impossible under all compared classes, or `predict` raises an error.

    Notes
    -----
    The weight of evidence [1]_ of a feature is the log odds given the feature
    and the ones before it, minus the log odds given only the ones before it;
    later features are unknown. In a sum of effects with all features known, it
    is the effect of the value. The weight of the class is its prior log odds in
    a network, the start of the sum in a sum of effects, and the log odds of
    the average row in a `Scorecard`. A missing value has a contribution if
    missing values are evidence in the model. The page :doc:`Formulas
    </methods>` has the details and defines main effects and interactions.

    References
    ----------
    .. [1] Good, I. J. (1985). Weight of evidence: a brief survey. Bayesian
       Statistics 2.

    Examples
    --------
    >>> from bnclassify import explain, load_car, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> explain(model, car.iloc[1727]).round(2)
    vgood against acc  value         parents  log_odds  odds_ratio
    variable
    class              vgood                     -1.76        0.17
    buying               low                      0.92        2.50
    doors              5more                      0.14        1.15
    persons             more                      0.09        1.10
    maint                low    buying = low      1.01        2.75
    safety              high  persons = more      0.61        1.85
    lug_boot             big   safety = high      0.65        1.92
    >>> print(explain(model, car.iloc[1727], sentences=True)[0])
    maint = low: the odds of 'vgood' against 'acc' are 2.8 times as high
    """
    Flag().check("sort", sort)
    Flag().check("sentences", sentences)
    Flag().check("interactions", interactions)
    x = check_fitted(x).model_of_class(class_var)
    raw, data = _read_rows(x, row, Names().check("unknown", unknown))
    evidence = weigh_evidence(x, data, target, against, unseen)
    x, several = evidence.model, len(data) != 1
    known, log_odds = _values_and_contributions(evidence, raw, interactions or bool(x.pairs))
    points = {} if interactions else x.points_gained_and_lost(evidence.rows, evidence.order)
    if sentences:
        base, texts = " with an average value" if points else "", list[list[str]]()
        for i in range(len(data)):
            own = [(variable, column[i]) for variable, column in known.items()]
            texts.append(_sentences_of_reasons(evidence, i, own, log_odds[i, :], base))
        return pd.Series(texts, data.index, dtype=object, name="reasons") if several else texts[0]
    columns = dict[str, ArrayOf[Any]]()
    if several:
        pairs = [_compared_classes(evidence, row) for row in range(len(data))]
        for i, name in enumerate(("target", "against")):
            of_rows = _array_of_objects([pair[i] for pair in pairs])
            columns[name] = np.repeat(of_rows, len(known))
    columns |= {"value": np.stack(list(known.values()), axis=1).ravel()}
    if not interactions:
        parents = _parent_texts_by_variable(evidence)
        parents += parents[:1] * (len(known) - len(parents))  # pairs have none
        columns |= {"parents": np.stack(parents, axis=1).ravel()}
    columns |= {name: column.ravel() for name, column in points.items()}
    with np.errstate(over="ignore"):
        ratios = np.exp(log_odds)
    columns |= {"log_odds": log_odds.ravel(), "odds_ratio": ratios.ravel()}
    variables = list(known)
    if not interactions:  # pairs of features as text
        variables = [
            " \N{MULTIPLICATION SIGN} ".join(map(str, v)) if isinstance(v, tuple) else v
            for v in known
        ]
    index = pd.Index(variables, name="variable", tupleize_cols=False)
    if several:
        rows = data.index.rename("row") if list(data.index.names) == [None] else data.index
        table = pd.DataFrame(columns, product_of_indexes(rows, index))
    else:
        compared = " against ".join(map(str, _compared_classes(evidence, 0)))
        table = pd.DataFrame(columns, index).rename_axis(columns=compared)
    strongest = np.argsort(-np.abs(log_odds), axis=1, kind="stable")
    lines = strongest + np.arange(len(data))[:, None] * len(known)
    return table.iloc[lines.ravel()] if sort else table


def _values_and_contributions(
    evidence: Evidence, raw: Dataset, interactions: bool
) -> tuple[dict[Hashable, ArrayOf[Any]], Array]:
    """Return the values of variables and interactions, (rows,), and the log odds of rows."""
    x = evidence.model  # the targets of rows, then the values of features in order
    values = [_labels_of_codes(x.known_levels[-1], evidence.targets)]
    for i in evidence.order:
        codes, own = evidence.rows.codes[i, :], None
        lacks: Mask = np.less(codes, 0)
        if x.preparation or x.features[i] in raw.numbers:
            own = original_values(raw, x.features[i])
            numbers = raw.numbers.get(x.features[i], own)
            lacks |= np.isnan(numbers) if numbers.dtype == np.float64 else pd.isna(own)
        if own is None or lacks.any():
            labels = _labels_of_codes(x.known_levels[i], codes)
            own = labels if own is None else np.where(lacks, labels, own)
        values.append(own)
    names = [x.class_var, *[x.features[i] for i in evidence.order]]
    if not interactions:
        return dict(zip(names, values, strict=True)), evidence.log_odds
    scopes, log_odds = split_off_interactions(evidence)
    of_feature = dict(zip(evidence.order, values[1:], strict=True))
    for scope in scopes:
        name: Hashable = REST
        joint: list[Hashable] = [""] * len(log_odds)
        if scope:
            name = tuple([x.features[i] for i in scope])
            joint = list(zip(*[of_feature[i] for i in scope], strict=True))
        names.append(name)
        values.append(_array_of_objects(joint))
    return dict(zip(names, values, strict=True)), log_odds


def _sentences_of_reasons(
    evidence: Evidence, row: int, known: Sequence[tuple[Hashable, Any]], weights: Array, base: str
) -> list[str]:
    """Write the strongest contributions of features in a row, and their reference, ``base``."""
    target, rival = _compared_classes(evidence, row)
    n_rivals, n_others = np.count_nonzero(evidence.rivals[row, :]), evidence.rivals.shape[1] - 1
    odds = f"the odds of {_quoted_class(target)}"
    if n_rivals < n_others:
        odds += f" against {_quoted_class(rival) if n_rivals == 1 else rival}"
    order: list[int] = np.argsort(-np.abs(weights), kind="stable").tolist()
    reasons = [i for i in order if i and known[i][0] != REST]
    strong = [i for i in reasons if abs(weights[i]) >= np.log(_LEAST_FACTOR)]
    if not strong:
        return [f"no value alone changes {odds} by a factor of {_LEAST_FACTOR} or more"]
    return [
        f"{value_in_words(*known[i])}: {odds} are {_odds_ratio_in_words(weights[i], base)}"
        for i in strong[:3]
    ]


def _quoted_class(label: Hashable) -> str:
    return shown(label) if isinstance(label, str) else str(label)


def _odds_ratio_in_words(log_odds: float, base: str = "") -> str:
    """Write an odds ratio, and the base to which it refers.

    >>> [_odds_ratio_in_words(log_odds) for log_odds in (0.34, -9.1, 4.0, float("-inf"))]
    ['1.4 times as high', 'divided by 8,955', '55 times as high', '0']
    >>> _odds_ratio_in_words(-20.0), _odds_ratio_in_words(0.34, " with an average value")
    ('divided by more than 10,000', '1.4 times as high as with an average value')
    """
    if np.isinf(log_odds):
        return "infinite" if log_odds > 0 else "0"
    ratio = round(float(np.exp(min(abs(log_odds), _MOST_LOG_ODDS))), 9)  # not 2.7499…, for 2.75
    factor = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
    if abs(log_odds) > _MOST_LOG_ODDS:
        factor = f"more than {factor}"
    if log_odds > 0:
        return f"{factor} times as high{base and f' as{base}'}"
    return f"divided by {factor}{base and f', compared{base}'}"


@dataclass(frozen=True)
class Explanation:
    """The explanation of one row: values and log odds of the class, features and interactions.

    ``unknown`` features have log odds of 0. ``interactions`` are log odds by
    the names of features. The probability of the target is below 1 if the log
    odds are finite, even if they are too large for a float.
    """

    row_values: dict[Hashable, Any]
    unknown: frozenset[Hashable]
    log_odds: dict[Hashable, float]
    interactions: dict[Hashable, float]
    target: str
    rival: str
    probability: float


def explain_row(
    x: Model,
    row: AnyTable | Row,
    target: Hashable | None,
    against: Any,
    unseen: str,
    interactions: bool,
) -> Explanation:
    """Explain one row, for pictures."""
    Flag().check("interactions", interactions)
    raw, data = read_one_row(x, row)
    evidence = weigh_evidence(x, data, target, against, unseen)
    values, log_odds = _values_and_contributions(evidence, raw, interactions or bool(x.pairs))
    known = {variable: column[0] for variable, column in values.items()}
    weights = dict(zip(known, log_odds.ravel().tolist(), strict=True))
    joint = dict(list(weights.items())[evidence.log_odds.shape[1] :])
    most = nextafter(1, 0) if isfinite(sum(weights.values())) else 1.0
    chosen, rival = map(str, _compared_classes(evidence, 0))
    unknown = () if evidence.rows.unknown is None else evidence.rows.unknown[:, 0].nonzero()[0]
    names = frozenset([x.features[i] for i in unknown])
    probability = min(most, float(evidence.posteriors[0]))
    return Explanation(known, names, weights, joint, chosen, rival, probability)


def read_one_row(x: Model, row: AnyTable | Row) -> tuple[Dataset, Dataset]:
    """Return exactly one row with its numbers, and encoded for the model, or raise.

    With an empty dict, all features are unknown.
    """
    raw, data = _read_rows(x, row, x.features if isinstance(row, dict) and not row else ())
    if len(raw) != 1:
        raise ValueError(
            f"row must be one row; got {len(raw):,}. Choose one, for example df.iloc[[0]]."
        )
    return raw, data


def _read_rows(
    x: Model, rows: Explained, unknown: Sequence[Hashable] = ()
) -> tuple[Dataset, Dataset]:
    """Return rows to explain with their numbers, and encoded for the model."""
    raw = read_for_model(check_fitted(x), rows, x.features, "row", unknown)
    return raw, x.preparation.prepared_data(raw)


def original_values(raw: Dataset, name: Hashable) -> ArrayOf[Any]:
    """Return the original values of a column; whole numbers as integers."""
    if name not in raw.numbers:
        return _labels_of_codes(raw.levels[raw.positions[name]], raw.codes[raw.positions[name], :])
    values = raw.numbers[name].astype(object)
    whole = np.flatnonzero(np.equal(np.trunc(as_floats(raw.numbers[name])), values))
    values[whole] = list(map(int, values[whole]))
    return values


def _labels_of_codes(labels: Sequence[Hashable], codes: Codes) -> ArrayOf[Any]:
    """Return labels by their codes, NaN for -1."""
    return _array_of_objects([*labels, np.nan])[codes]


def _array_of_objects(labels: Sequence[Hashable]) -> ArrayOf[Any]:
    """Return an array of objects, which can be tuples."""
    return np.fromiter(labels, dtype=object, count=len(labels))


def _parent_texts_by_variable(evidence: Evidence) -> list[ArrayOf[Any]]:
    """Write the values of the feature parents of each variable: the class, then the features."""
    x, parents = evidence.model, evidence.model.feature_parents
    position = {name: i for i, name in enumerate(x.features)}
    texts: list[ArrayOf[Any]] = [np.full(len(evidence.targets), "", dtype=object)]
    for name in (x.features[i] for i in evidence.order):
        columns = []
        for v in parents[name]:
            labels = [value_in_words(v, label) for label in (*x.written_levels(v), np.nan)]
            columns.append(_array_of_objects(labels)[evidence.rows.codes[position[v], :]])
        joined = map(", ".join, zip(*columns, strict=True))
        texts.append(_array_of_objects(list(joined)) if columns else texts[0])
    return texts


def _compared_classes(evidence: Evidence, row: int) -> tuple[Hashable, Hashable]:
    """Return the explained class of a row, and the class, or text on classes, compared with it."""
    labels, rivals = evidence.model.known_levels[-1], evidence.rivals[row, :]
    target = labels[evidence.targets[row]]
    if np.count_nonzero(rivals) == 1:
        return target, labels[rivals.argmax()]
    return target, rivals_in_words(labels, rivals)


def rivals_in_words(labels: Sequence[Hashable], rivals: Mask) -> str:
    """Describe the classes to compare with."""
    against = [str(label) for label, is_rival in zip(labels, rivals, strict=True) if is_rival]
    if 1 < len(labels) - 1 <= len(against):
        return "the others"
    more = len(against) - 3
    return " or ".join(against[:3]) + (f" or {more} more" if more > 0 else "")


def value_in_words(variable: Hashable, value: Any) -> str:
    """Write the value of a variable, with six digits of a number, or all of its whole part.

    >>> values = {"safety": "high", "doors": float("nan"), "weight": 0.30988614}
    >>> [value_in_words(variable, value) for variable, value in values.items()]
    ['safety = high', 'doors missing', 'weight = 0.309886']
    """
    if variable == REST and isinstance(value, str) and not value:
        return "the rest"
    if isinstance(variable, tuple) and isinstance(value, tuple):  # an interaction
        return ", ".join(map(value_in_words, variable, value))
    text = value
    if isinstance(value, float):
        # 1e15: whole parts of larger numbers have more digits than a float
        text = f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
    return f"{variable} missing" if is_missing(value) else f"{variable} = {text}"


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
        One row. Features that a Series or dict omits are unknown. With an empty
        dict, nothing is known.
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
