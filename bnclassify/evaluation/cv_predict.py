"""Out-of-fold predictions of models that are refitted in each fold of a cross-validation."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, Unpack, overload

import numpy as np
import pandas as pd

from ..accessors import unwrap_estimator
from ..dataset import Dataset
from ..fitting.rounds import Plan, Round, models_by_name, plan_rounds
from ..frames import AnyFrame, InFull, InPandas, InParts, TrainingData, in_library_of
from ..metrics.folds import Folds
from ..metrics.outcomes import Labelling, predict_outcomes
from ..model import Model
from ..recipe.row_folds import RowFold
from ..tools.arrays import Array, Mask, first_best, log, log_normalize
from ..tools.calls import Bar, progress_bar, showing_progress, with_call_advice
from ..tools.checks import Flag, Seed, Unseen
from ..tools.messages import listed
from ..tools.parallel import using_jobs
from .cv import Options

Predictions: TypeAlias = "pd.DataFrame | pd.Series[Any]"


@overload
def cv_predict(
    x: Model, dataset: InPandas | InParts, *, prob: Literal[True] = True, **options: Unpack[Options]
) -> pd.DataFrame: ...
@overload
def cv_predict(
    x: Model, dataset: InPandas | InParts, *, prob: Literal[False], **options: Unpack[Options]
) -> pd.Series[Any]: ...
@overload
def cv_predict(
    x: Model, dataset: AnyFrame, *, prob: bool = True, **options: Unpack[Options]
) -> Any: ...
@with_call_advice("The class is a column of the data: cv_predict(x, dataset, k=10).")
def cv_predict(
    x: Model,
    dataset: InFull | InParts,
    *,
    k: int = 10,
    prob: bool = True,
    dag: bool = True,
    folds: Folds | str | None = None,
    groups: Any = None,
    columns: Literal["same", "any"] = "same",
    unseen: Unseen = "missing",
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Predictions:
    """Predict every row by a model fitted without it, in cross-validation.

    Parameters
    ----------
    x : Model
        Fitted model. In each fold, it is fitted again to the training rows, and
        predicts the test rows.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        As in `cv`.
    prob : bool, default True
        If True, return posteriors; if False, labels.
    k, dag, folds, groups, columns, unseen, rng, n_jobs, progress
        As in `cv`. ``folds`` must test every row once.

    Returns
    -------
    pandas.DataFrame, pandas.Series, or a frame of another library
        Posteriors or labels, as `predict` returns them; missing in rows without
        a class. If units of a row with a whole weight are tested in several
        folds, its posteriors are averaged over these folds.

    Raises
    ------
    KeyError, TypeError, ValueError
        As `cv`, or if ``folds`` do not test every row once.

    Examples
    --------
    >>> from bnclassify import cv_predict, load_car, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, smooth=1)
    >>> cv_predict(model, car, rng=0).tail(2).round(3)
    class  unacc    acc   good  vgood
    1726   0.190  0.288  0.515  0.008
    1727   0.163  0.118  0.023  0.695
    """
    x = unwrap_estimator(x)
    if not isinstance(x, Model):
        raise TypeError(f"x must be one model; got {type(x).__name__}.")
    models = models_by_name(x)
    Flag().check("prob", prob)
    if len(x.targets) > 1:
        raise TypeError(f"x must predict one class; got a model of {listed(x.targets)}.")
    options: Any = {"folds": folds, "dag": dag, "unseen": unseen, "rng": rng, "groups": groups}
    with using_jobs(n_jobs), showing_progress(progress):
        plan = plan_rounds(models, dataset, k=k, columns=columns, **options)
        with progress_bar(None, total=len(plan.rounds), desc="cv_predict", unit=" folds") as bar:
            found = _predict_rows(x, plan, plan.data, prob=prob, dag=dag, bar=bar)
    predicted: Predictions = in_library_of(dataset, found)
    return predicted


def _predict_rows(
    x: Model, plan: Plan, data: TrainingData, *, prob: bool, dag: bool, bar: Bar
) -> Predictions:
    """Predict rows in memory, each in the round in which it is tested."""
    labels = data.levels[-1]
    tests: list[RowFold] = [rnd.fold for rnd in plan.rounds]
    if not plan.is_partition:
        times = np.bincount(np.concatenate([fold.rows for fold in tests]), minlength=len(data))
        raise ValueError(
            f"folds must test every row once; {np.count_nonzero(times == 0)} of {len(data)} rows "
            f"are never tested, and {np.count_nonzero(times > 1)} more than once."
        )

    def posteriors_at_test_rows(
        rnd: Round, train: Dataset, test: Dataset, learned: list[Model]
    ) -> Array:
        if not learned:
            return np.array(np.nan)
        logs = predict_outcomes(learned[0], test).outcome_of_target().log_joint_of_classes(labels)
        return np.exp(log_normalize(logs))

    posteriors = np.zeros((len(data), len(labels)))
    predicted = plan.map_rounds({0: x}, posteriors_at_test_rows, dag=dag, bar=bar)
    for fold, found in zip(tests, predicted, strict=True):
        units = np.ones(1) if fold.units is None else np.where(fold.units > 0, fold.units, 1.0)
        posteriors[fold.rows] += units[:, None] * found
    of_all = np.full((len(plan.index), len(labels)), np.nan)
    of_all[plan.known] = posteriors
    named = _labeled_predictions(Labelling(labels, data.columns[-1], plan.index), of_all, prob=prob)
    if plan.unseen:
        named.attrs["unseen"] = dict(plan.unseen)
    return named


def _labeled_predictions(labelling: Labelling, posteriors: Array, *, prob: bool) -> Predictions:
    """Return posteriors or labels; missing values if posteriors, (rows, classes), are NaN."""
    unknown: Mask = np.isnan(posteriors[:, 0])
    logs = log(np.where(unknown[:, None], 1.0, posteriors))
    if not prob:
        return labelling.labels_of_codes(np.where(unknown, -1, first_best(logs)))
    found = labelling.posterior_frame(logs)
    found[unknown] = np.nan
    return found
