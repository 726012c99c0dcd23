"""Prediction: class labels and posteriors from the log joint, also under another prior or costs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from ..accessors import (
    MOST_DRAWN,
    bounds_from_posterior_draws,
    check_draws,
    check_fitted,
    check_interval,
    check_ordered,
    encode_for_model,
    log_joint,
    with_interval_columns,
)
from ..dataset import Dataset, check_unseen
from ..frames import AnyFrame, Row, dask_frame_of, in_library_of, open_rows
from ..metrics.outcomes import Labelling, categorical_type
from ..model import ClassPrior, Model, SeveralClasses, check_class_prior, log_prior_ratio
from ..scores import Rows, scores_at
from ..tools import special
from ..tools.arrays import Array, Mask, code_type, first_best, log, log_normalize, slices
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, Names, OneOf, Seed, Unseen, check_columns, check_rng, must_be
from ..tools.messages import listed, shown
from .decisions import check_costs, least_costly

_BLOCK_ROWS = 2**16
_ROUNDING = float(np.finfo(np.float64).eps)


NewData: TypeAlias = "pd.DataFrame | Dataset | Row | Sequence[Row]"


class _PredictOptions(TypedDict, total=False):
    unseen: Unseen
    unknown: Sequence[Hashable]
    prior: ClassPrior | None
    costs: pd.DataFrame | None
    points: bool
    joint: bool
    greedy: bool
    at_least: Hashable
    interval: float | None
    draws: int
    rng: Seed


@overload  # type checkers regard a Model as a model of a single class variable
def predict(  # type: ignore[overload-overlap]
    x: SeveralClasses, newdata: NewData, *, prob: bool = False, **options: Unpack[_PredictOptions]
) -> pd.DataFrame: ...
@overload
def predict(
    x: Model, newdata: NewData, *, prob: Literal[False] = False, **options: Unpack[_PredictOptions]
) -> pd.Series[Any]: ...
@overload
def predict(
    x: Model, newdata: NewData, *, prob: Literal[True], **options: Unpack[_PredictOptions]
) -> pd.DataFrame: ...
@overload
def predict(
    x: Model, newdata: NewData, *, prob: bool, **options: Unpack[_PredictOptions]
) -> pd.Series[Any] | pd.DataFrame: ...
@overload
def predict(
    x: Model, newdata: AnyFrame, *, prob: bool = False, **options: Unpack[_PredictOptions]
) -> Any: ...
@with_call_advice("Pass options by name: predict(x, newdata, prob=True).")
def predict(
    x: Model,
    newdata: NewData | AnyFrame,
    *,
    prob: bool = False,
    unseen: Unseen = "error",
    unknown: Sequence[Hashable] = (),
    prior: ClassPrior | None = None,
    costs: pd.DataFrame | None = None,
    points: bool = False,
    joint: bool = False,
    greedy: bool = False,
    at_least: Hashable = None,
    interval: float | None = None,
    draws: int = 1000,
    rng: Seed = None,
) -> pd.Series[Any] | pd.DataFrame:
    """Predict the class of each row, or its posterior probabilities.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    newdata : DataFrame, Dataset, Series, dict, list of dict or Dask DataFrame
        Rows with a column for each feature of `x`. A Series or dict is one row;
        features that it omits are unknown. None, NaN and pandas.NA are missing.
    prob : bool, default False
        If True, return one probability per class, in place of the most probable
        class.
    unseen : {"error", "missing"}, default "error"
        What to do with a value that did not occur in training. The default
        raises an error, which shows mistakes early; "missing" treats the value
        as missing, as a service needs. A column of another type, such as the
        text "1.0" for the number 1, is an error in any case. A warning names
        the columns in which more than a tenth of the known values did not
        occur, or some of them read like a level, as "Nurse" like "nurse".
    unknown : sequence of str, optional
        Features that are unknown in all rows, so that `newdata` needs no column
        for them. Unknown values are not evidence. Missing values are evidence
        if they were in training.
    prior : dict or pandas.Series, optional
        Probability of each class in the population of `newdata`. Give it if the
        classes are more or less frequent there than in training; by default,
        they are as frequent.
    costs : pandas.DataFrame, optional
        Costs of decisions, ``costs.loc[actual, decision]``. The result is then
        the decision with the lowest expected cost. Decisions are classes or
        other labels, such as "refer". By default, all errors cost the same.
    points : bool, default False
        If True, return the total points of each row, for a `Scorecard`; with
        ``prob=True``, a column ``points`` before those of the probabilities.
    joint : bool, default False
        With several class variables: if True, predict the most probable
        combination of labels; if False, the most probable label of each.
    greedy : bool, default False
        For a `chain`: if True, predict the class variables in order, each given
        the labels that were predicted before. This is faster with many class
        variables.
    at_least : label, optional
        With ``prob=True``, return the probability of this class or a higher
        one. The class must have been an ordered categorical in training, or
        have numbers as labels.
    interval : float, optional
        With ``prob=True``, return an interval for each probability, which
        contains it with this probability, such as 0.9. The tables must be
        estimated with ``smooth``, ``ess`` or ``m`` above 0 (a credible
        interval), or the model be a sum of effects that ``bnc(...,
        interval=True)`` fitted (the normal approximation of its posterior).
    draws : int, default 1000
        Number of draws of the tables for a credible interval. More draws give
        more exact ends.
    rng : int or numpy.random.Generator, optional
        Seed of the draws.

    Returns
    -------
    pandas.Series
        Categorical labels with the index of `newdata`. Ties go to the first
        class. With `costs`, the categories are the decisions, unless all
        decisions are classes. With ``points=True``, whole numbers; with
        `at_least`, probabilities.
    pandas.DataFrame
        With ``prob=True``, one column per class. A row that is impossible under
        every class has equal probabilities. With `interval`, a second level of
        the columns has lower, estimate and upper. With several class variables,
        one column per class variable, or per class variable and label; with
        ``joint=True`` and ``prob=True``, the labels and a column
        ``probability``.
    frame of another library
        The same in the library of `newdata`: lazy for Dask, and Arrow for rows
        of a database.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a value did not occur in training and `unseen` is "error", a number
        is infinite, a column of a DataFrame is missing, or the model has no
        intervals.

    Warns
    -----
    UserWarning
        If more than a tenth of the known values of a column did not occur in
        training, or are numbers that lie outside the range of training by more
        than its width, as in another unit; or if values read like a level.

    Notes
    -----
    Networks, averages of networks and models of several class variables
    marginalize over missing and unknown features exactly. A model with
    leave-one-out weights mixes in a second model that does. In a sum of
    effects, an unknown effect has its mean and variance given the known
    effects, from the training rows. With all features unknown, a sum returns
    the class proportions. `ande` skips missing features.

    With the new prior Q and the probabilities P of the model, Q(c | row) ∝
    P(c | row) · Q(c) / P(c) [2]_. The expected cost of decision d is Σ_c P(c |
    row) costs(c, d) [1]_. Intervals assume that the structure is correct. The
    page :doc:`Formulas </methods>` has the details.

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning.
       IJCAI 2001.
    .. [2] Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the
       outputs of a classifier to new a priori probabilities: a simple
       procedure. Neural Computation 14.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from bnclassify import load_car, lp, nb, predict
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> predict(model, car.tail(2), prob=True).round(3)
    class  unacc    acc   good  vgood
    1726   0.217  0.316  0.452  0.014
    1727   0.093  0.198  0.194  0.514

    >>> names = ["unacc", "acc", "good", "vgood"]
    >>> refer = pd.DataFrame(1 - np.eye(4), names, names).assign(refer=0.3)
    >>> predict(model, car.iloc[[0, -2, -1]], costs=refer).tolist()
    ['unacc', 'refer', 'refer']
    """
    model = check_fitted(x)
    for name, flag in {"prob": prob, "points": points, "joint": joint, "greedy": greedy}.items():
        Flag().check(name, flag)
    check_unseen(unseen)
    unknown = Names().check("unknown", unknown)
    reading: dict[str, Any] = {"unseen": unseen, "unknown": unknown}
    predict_rows = _predictor_of_rows(model, prob, reading, prior, costs, joint, greedy)
    if points:
        unless_prob = {} if prob else {"prior": prior}
        _check_has_points(model, prob, costs=costs, interval=interval, **unless_prob)
        predict_rows = partial(_total_points, model, predict_rows if prob else None, **reading)
    if at_least is not None:
        if not prob:
            raise ValueError(
                must_be("at_least", "None unless prob is True", at_least, "Pass prob=True.")
            )
        if points or interval is not None:
            raise ValueError(must_be("at_least", "None with points or interval", at_least))
        predict_rows = _predictor_of_label_or_higher(model, at_least, predict_rows)
    if check_interval(interval) is not None:
        if not prob or joint:
            raise ValueError("interval must be None unless prob is True and joint is False.")
        seed = int(check_rng(rng).integers(2**63))
        drawn = {"draws": check_draws(draws), "seed": seed}
        settings = {"estimate": predict_rows, "interval": interval}
        predict_rows = _predictor_of_intervals(model, reading, prior, settings, drawn)
    frame = dask_frame_of(newdata)
    if frame is None:
        rows: Any = open_rows(newdata)
        answer: pd.Series[Any] | pd.DataFrame = in_library_of(newdata, predict_rows(rows))
    else:
        columns = list(frame.columns)
        check_columns([name for name in model.features if name not in unknown], columns, "newdata")
        needed = frame[[name for name in model.features if name in columns]]
        answer = needed.map_partitions(predict_rows, meta=predict_rows(needed._meta.iloc[:0]))
    return answer


def _predictor_of_intervals(
    x: Model,
    reading: Mapping[str, Any],
    prior: ClassPrior | None,
    settings: Mapping[str, Any],
    drawn: Mapping[str, Any],
) -> Callable[[Any], pd.DataFrame]:
    """Return a function of rows with the intervals of drawn effects or tables."""
    draws: tuple[Model, ...] = x.learned.get("draws", ())
    if not draws:
        return partial(_predict_intervals, x, prior=prior, **settings, **reading, **drawn)
    reading = {**reading, "unseen": "missing"}
    if prior is None and x.class_proportions is not None:
        prior = dict(zip(x.known_levels[-1], x.class_proportions.shares, strict=True))
    others = [_predictor_of_rows(one, True, reading, prior, None, False, False) for one in draws]
    return partial(_intervals_of_draws, draws=others, **settings)


def _predictor_of_rows(
    x: Model,
    prob: bool,
    reading: Mapping[str, Any],
    prior: ClassPrior | None,
    costs: pd.DataFrame | None,
    joint: bool,
    greedy: bool,
) -> Callable[[NewData], Any]:
    """Return a function that predicts rows in memory, and that can be pickled for workers."""
    options: dict[str, Any] = {**reading, "prob": prob, "prior": prior, "costs": costs}
    if isinstance(x, SeveralClasses):
        return partial(x.predict, **options, joint=joint, greedy=greedy)
    if joint or greedy:
        raise TypeError(
            f"{'joint' if joint else 'greedy'} must be False for a model of one class variable. "
            "mbc, maode and chain learn models of several."
        )
    if prob and costs is not None:
        raise ValueError("costs must be None if prob is True. Costs change only labels.")
    return partial(_predict_class, x, **options)


def _predict_class(
    x: Model,
    newdata: NewData,
    *,
    prob: bool,
    unseen: str,
    unknown: Sequence[Hashable],
    prior: ClassPrior | None,
    costs: pd.DataFrame | None,
) -> pd.Series[Any] | pd.DataFrame:
    """Predict the class of rows; labels are predicted block by block."""
    names = x.known_levels[-1]
    made = categorical_type(names, tuple(map(type, names)))
    labelling = partial(Labelling, names, x.class_var, made=made)
    if prob:
        logs, index = unnormalized_log_posteriors(
            x, newdata, unseen=unseen, unknown=unknown, prior=prior
        )
        return labelling(index).posterior_frame(logs)
    table, decisions = (None, names) if costs is None else check_costs(costs, names)
    if not set(decisions) <= set(names):
        labelling, names = partial(Labelling, decisions, x.class_var), decisions
    reweigh = _replacer_of_class_prior(x, prior)
    data = encode_for_model(x, newdata, x.features, unknown=unknown)
    rows = x.rows_to_score(data, unseen)
    best = np.empty(len(data), dtype=code_type(len(names)))
    for block in slices(len(data), most=_BLOCK_ROWS):
        logs = reweigh(scores_at(x.score, rows.subset(block)))
        best[block] = first_best(logs) if table is None else least_costly(logs, table)
    if len(decisions) < len(names):
        best = np.array([names.index(decision) for decision in decisions])[best]
    return labelling(data.index).labels_of_codes(best)


def _predictor_of_label_or_higher(
    x: Model, label: Hashable, predict_rows: Callable[[NewData], Any]
) -> Callable[[NewData], Any]:
    if len(x.targets) > 1:
        raise TypeError(
            f"at_least must be None for a model of several class variables; got {shown(label)}."
        )
    labels = x.known_levels[-1]
    OneOf(labels).check("at_least", label)
    check_ordered(x, "at_least")
    return partial(
        _posteriors_of_class_or_higher, predict_rows=predict_rows, first=labels.index(label)
    )


def _posteriors_of_class_or_higher(
    newdata: NewData, *, predict_rows: Callable[[NewData], pd.DataFrame], first: int
) -> pd.Series[Any]:
    posteriors = predict_rows(newdata)
    total = posteriors.iloc[:, first:].sum(axis=1).clip(upper=1.0)
    return total.rename(f"{posteriors.columns.name} >= {posteriors.columns[first]}")


def _check_has_points(x: Model, has_posteriors: bool, **others: object) -> None:
    """Raise an error unless a model has points, and nothing else is requested but posteriors."""
    no_rows = Rows(np.zeros((len(x.features), 0), dtype=np.int8))
    if not x.points_gained_and_lost(no_rows, ()):
        raise TypeError(
            f"points must be False unless x is a scorecard; got {x.type_in_words}. Make one "
            "with scorecard(x)."
        )
    given = [name for name, value in others.items() if value is not None and value is not False]
    if given:
        raise ValueError(
            must_be("points", f"False with {listed(given)}", True, "Call predict twice.")
        )
    if has_posteriors and "points" in x.known_levels[-1]:
        raise ValueError(
            "points must be False if 'points' is a class, because it is the name of a column of "
            "the result. Rename the class."
        )


def _total_points(
    x: Model,
    predict_posteriors: Callable[[NewData], pd.DataFrame] | None,
    newdata: NewData,
    *,
    unseen: str,
    unknown: Sequence[Hashable],
) -> pd.Series[Any] | pd.DataFrame:
    """Return the totals of rows and, with a function for them, their posteriors, in one frame."""
    data = encode_for_model(x, newdata, x.features, unknown=unknown)
    rows = x.rows_to_score(data, unseen)
    points = x.points_gained_and_lost(rows, range(len(x.features)))["points"]
    totals = pd.Series(points.sum(axis=1), data.index, name="points")
    if predict_posteriors is None:
        return totals
    posteriors = predict_posteriors(newdata)
    posteriors.insert(0, "points", totals.to_numpy())
    return posteriors


def _predict_intervals(
    x: Model,
    newdata: NewData,
    *,
    estimate: Callable[[NewData], pd.DataFrame],
    unseen: str,
    unknown: Sequence[Hashable],
    prior: ClassPrior | None,
    interval: float,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Predict posteriors with intervals, by the same draws of tables in all blocks of rows."""
    frame = estimate(newdata)
    data = encode_for_model(x, newdata, x.features, unknown=unknown)
    rows = x.rows_to_score(data, unseen)
    bounds = np.empty((2, *frame.shape))
    for block in slices(len(frame), draws * frame.shape[1], MOST_DRAWN):
        posteriors = partial(_posteriors_of_targets, rows=rows.subset(block), prior=prior)
        bounds[:, block] = bounds_from_posterior_draws(x, posteriors, interval, draws, seed)
    return with_interval_columns(frame, bounds)


def _intervals_of_draws(
    newdata: NewData,
    *,
    estimate: Callable[[NewData], pd.DataFrame],
    draws: Sequence[Callable[[NewData], pd.DataFrame]],
    interval: float,
) -> pd.DataFrame:
    """Predict posteriors with intervals, from those of draws of the effects."""
    frame = estimate(newdata)
    others = np.stack([draw(newdata).to_numpy() for draw in draws])
    return with_interval_columns(frame, bounds_of_draws(frame.to_numpy(), others, interval))


def bounds_of_draws(estimate: Array, draws: Array, interval: float) -> Array:
    """Return interval ends of probabilities, (2, …), from those of draws, (draws, …).

    The log odds of draws are normal with the mean of the estimate, so that with
    their standard deviation s in G draws the ends are L ± t s, with the quantile
    t of Student's distribution with G − 1 degrees of freedom.
    """
    least, most = np.finfo(np.float64).tiny, 1 - _ROUNDING
    odds = np.asarray(special.logit(np.clip(draws, least, most)))
    estimated = np.asarray(special.logit(np.clip(estimate, least, most)))
    width: Array = special.stdtrit(len(draws) - 1, (1 + interval) / 2) * odds.std(axis=0, ddof=1)
    low, high = special.expit(estimated - width), special.expit(estimated + width)
    return np.stack([np.minimum(low, estimate), np.maximum(high, estimate)])


def _posteriors_of_targets(x: Model, rows: Rows, prior: ClassPrior | None) -> Array:
    """Return the posteriors of the labels of all targets, (rows, labels)."""
    marginals = map(_replacer_of_class_prior(x, prior), x.log_marginals(rows))
    return np.hstack([np.exp(log_normalize(logs)) for logs in marginals])


def unnormalized_log_posteriors(
    x: Model,
    newdata: NewData,
    *,
    unseen: str = "error",
    unknown: Sequence[Hashable] = (),
    prior: ClassPrior | None = None,
) -> tuple[Array, pd.Index[Any]]:
    """Return logs that, normalized, are posteriors, (rows, classes), and the index of the rows."""
    reweigh = _replacer_of_class_prior(x, prior)
    data = encode_for_model(x, newdata, x.features, unknown=unknown)
    return reweigh(log_joint(x, data, unseen=unseen)), data.index


def _replacer_of_class_prior(x: Model, prior: ClassPrior | None) -> Callable[[Array], Array]:
    """Return a function of log joints that replaces the learned P(class) by a prior, if given."""
    if prior is None:
        return lambda logs: logs
    names = x.known_levels[-1]
    shares = check_class_prior(prior, names)
    ratio = log_prior_ratio(x.class_prior(), shares, names)

    def by_rule_of_bayes(logs: Array) -> Array:
        logs = logs + ratio
        is_impossible: Mask = np.less_equal(logs.max(axis=1), -np.inf)
        logs[is_impossible] = log((shares > 0).astype(np.float64))  # equal probabilities
        return logs

    return by_rule_of_bayes
