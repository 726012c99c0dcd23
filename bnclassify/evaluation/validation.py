"""Cross-validated accuracy of models that are learned again in each fold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..base.messages import listed
from ..base.randomness import Seed, check_rng
from ..frames.encoding import check_columns, check_levels, encode_columns
from ..frames.folding import Folds, Rows, draw_folds, fold_rows
from ..frames.matching import scoring_classes
from ..frames.schema import Dataset, take_columns, take_rows
from ..frames.training import TrainingData
from ..inference.joint import log_joint
from ..inference.metrics import ACCURACY
from ..learning.repetition import check_recipe, columns_needed, relearn
from ..model.kinds import Model, of_estimator
from ..model.questions import class_var, classes


def cv(
    x: Model | Sequence[Model] | Mapping[str, Model],
    dataset: pd.DataFrame | Dataset,
    *,
    k: int = 10,
    dag: bool = True,
    mean: bool = True,
    folds: Folds | None = None,
    rng: Seed = None,
    progress: bool = False,
) -> float | pd.Series[Any] | pd.DataFrame:
    """Estimate accuracy by stratified cross-validation, all models on the same folds.

    Parameters
    ----------
    x : BNC, AODE, or a list or dict of them
        Models with parameters. In each fold they are learned again as they were learned,
        on the rows that the fold does not test.
    dataset : pandas.DataFrame or Dataset
        Has all variables of the models, the class in every row. A learner that took all
        columns of its data as features takes all columns of this.
    k : int, default 10
        Number of folds, if ``folds`` is not given.
    dag : bool, default True
        Whether to learn the structure again too; else only parameters.
    mean : bool, default True
        Whether to average over folds.
    folds : list of arrays or array of int, optional
        The positions of the rows that each fold tests, or the fold number of each row.
    rng : int or numpy.random.Generator, optional
        Seed of the folds, and of all that learners draw at random within them.
    progress : bool, default False
        Whether to show a bar over folds and models.

    Returns
    -------
    float
        For one model, the mean over folds of the accuracy in the fold.
    pandas.Series
        For several models, the mean of each; a list is numbered, a dict named.
    pandas.DataFrame
        With ``mean=False``, a row a fold and a column a model.

    Raises
    ------
    KeyError
        If a variable is not a column.
    TypeError, ValueError
        If ``x`` holds something else than models with parameters, models differ in their
        class, the class is missing in a row, or ``k`` or ``folds`` do not fit the data.

    Warns
    -----
    UserWarning
        If a class has fewer than ``k`` rows, so that some folds have none.

    References
    ----------
    .. [1] Kohavi, R. (1995). A study of cross-validation and bootstrap for accuracy estimation
       and model selection. IJCAI 95.

    Examples
    --------
    >>> from bnclassify import cv, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> models = {"nb": lp(nb("class", car), car, smooth=1),
    ...           "tan": lp(tan_cl("class", car), car, smooth=1)}
    >>> cv(models, car, k=5, rng=0).round(2).to_dict()
    {'nb': 0.85, 'tan': 0.94}
    """
    models = _as_dict(x)
    generator = check_rng(rng)
    for name, value in {"dag": dag, "mean": mean, "progress": progress}.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}: expected True or False, got {value!r}")
    target = class_var(next(iter(models.values())))
    needed = [columns_needed(model, dag=dag) for model in models.values()]
    data = encode_columns(dataset, None if None in needed else set().union(*filter(None, needed)))
    check_columns([target], data.columns, "dataset")
    check_levels(data, data.columns)
    data = take_columns(data, (*(name for name in data.columns if name != target), target))
    actual = scoring_classes(data, target, data.levels[-1])
    tests = (
        fold_rows(draw_folds(actual, data.levels[-1], k, generator), len(data))
        if folds is None
        else fold_rows(folds, len(data), data.index)
    )
    results = np.empty((len(tests), len(models)))
    with tqdm(total=results.size, disable=not progress, desc="cv", unit=" models") as bar:
        for i, test in enumerate(tests):
            trained, tested = _split(data, test, target)
            # Each model gets a generator of its own, so it does not matter what stands beside it.
            seed = None if rng is None else int(generator.integers(2**63))
            for j, model in enumerate(models.values()):
                drawn = None if seed is None else check_rng(seed)
                try:
                    results[i, j] = _accuracy(relearn(model, trained, dag=dag, rng=drawn), tested)
                except ValueError as error:
                    raise ValueError(
                        f"x: model {list(models)[j]!r} cannot be learned again in fold {i}: {error}. With "
                        "dag=False it keeps its structure"
                    ) from error
                bar.update()
    table = pd.DataFrame(results, columns=list(models)).rename_axis(index="fold")
    if not mean:
        return table
    means = table.mean()
    return float(means.iloc[0]) if isinstance(x, Model) else means


def _as_dict(x: object) -> dict[Any, Model]:
    """Return models by name or number, all with parameters and of one class."""
    if isinstance(x, Model):
        models: dict[Any, Any] = {0: x}
    elif isinstance(x, Mapping):
        models = dict(x)
    elif isinstance(x, list | tuple):
        models = dict(enumerate(x))
    else:
        raise TypeError(
            f"x: expected a model, a list or a dict of models, got {type(x).__name__}{of_estimator(x)}"
        )
    if not models:
        raise ValueError("x: expected at least one model, got none")
    for model in models.values():
        check_recipe(model)
    targets = {class_var(model) for model in models.values()}
    if len(targets) > 1:
        raise ValueError(f"x: expected models of one class, got {listed(targets)}")
    return models


def _split(data: Dataset, test: Rows, target: Hashable) -> tuple[TrainingData, Dataset]:
    """Return the rows that a fold trains on, and those that it tests."""
    tested = np.zeros(len(data), dtype=bool)
    tested[test] = True
    trained = take_rows(data, ~tested)
    return (
        TrainingData(trained.schema, trained.codes, trained.index, trained.weights, target),
        take_rows(data, test),
    )


def _accuracy(x: Model, data: Dataset) -> float:
    actual = scoring_classes(data, class_var(x), classes(x))
    return ACCURACY.measure(log_joint(x, data), actual)
