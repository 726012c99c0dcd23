"""Cross-validation: the recipe of a model is repeated without each fold, and the fold is predicted.

Folds are drawn at random within the classes, given, or made of groups of rows
that belong together. A round fits the recipe to the rows outside of a fold, with
everything that learning involves: cut points, structure, parameters. Values that
occur only in the test fold are treated as missing. `cv` returns metrics of the
folds, and `cv_predict` the predictions themselves. The same folds are used for
all models, so that they can be compared. Rounds can run in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from hashlib import blake2b
from itertools import product
from math import isnan
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .accessors import (
    check_fitted,
    check_has_joint_distribution,
    check_ordered,
    unwrap_estimator,
)
from .dataset import (
    Columns,
    Data,
    Dataset,
    Opened,
    OpenedData,
    check_same_index,
    check_unseen,
    recode_column,
)
from .frames import (
    AnyFrame,
    InFull,
    InPandas,
    InParts,
    NoRowsError,
    TrainingData,
    check_have_levels,
    encode_frame,
    foreign_to_pandas,
    in_library_of,
    open_data,
    read_training,
    split_off_groups,
)
from .metrics import AnyMetric, choose_metrics
from .model import Derived, Model, Recipe, SeveralClasses, contains_given
from .numbers import check_can_discretize
from .prediction import Labelling, Outcomes, predict_outcomes
from .tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    first_best,
    log,
    log_normalize,
    normalize,
    sum_nested,
)
from .tools.calls import Bar, progress_bar, showing_progress, with_call_advice
from .tools.checks import (
    Flag,
    MetricName,
    OneOf,
    Seed,
    Unseen,
    Whole,
    check_columns,
    check_rng,
    is_among,
    must_be,
    options_sentence,
)
from .tools.immutable import cached_property
from .tools.messages import listed, shown, silencing_warnings, warn
from .tools.parallel import run_tasks, using_jobs

# Folds of rows, and units of their weights; also those that the R package draws.


Folds = Sequence[ArrayLike] | ArrayOf[Any] | Iterable[tuple[ArrayLike, ArrayLike]]


@dataclass(frozen=True, eq=False)
class RowFold:
    """A fold: tested rows, tested ``units`` of weights, and rows to learn from if not the rest."""

    rows: Positions
    units: Array | None = None
    learned: Positions | None = None

    def split(self, data: Data) -> tuple[Data, Data]:
        test = data.take_rows(self.rows)
        if self.learned is not None:
            return data.take_rows(self.learned), test
        if self.units is None or data.weights is None:
            others = np.ones(len(data), dtype=bool)
            others[self.rows] = False
            return data.take_rows(np.nonzero(others)[0]), test
        left = data.weights.copy()
        left[self.rows] -= self.units
        train = replace(data, weights=left).take_rows(np.nonzero(left)[0])
        return train, replace(test, weights=self.units)


def stratified_folds(y: ArrayLike, k: int, *, rng: Seed = None) -> Positions:
    """Assign rows to folds at random, with each class in its proportion.

    Parameters
    ----------
    y : (n,) array-like
        The class of each row, none missing.
    k : int
        Number of folds, from 2 to n.
    rng : int or numpy.random.Generator, optional
        Seed; the folds are drawn at random.

    Returns
    -------
    (n,) array of int
        The fold of each row, from 0 to k − 1. Fold sizes, and the numbers of
        rows of a class per fold, differ by at most one.

    Raises
    ------
    TypeError, ValueError
        If `k` is not a whole number from 2 to the number of rows.

    Warns
    -----
    UserWarning
        If a class has fewer rows than there are folds.

    Examples
    --------
    >>> from bnclassify import stratified_folds
    >>> stratified_folds(["a", "a", "b", "b"], k=2, rng=1)
    array([0, 1, 0, 1])
    """
    codes, levels = encode_classes(y)
    check_number_of_folds(k, len(codes))
    warn_of_small_classes(np.bincount(codes), levels, k)
    return shuffle_folds(codes, k, check_rng(rng))


def encode_classes(y: ArrayLike) -> tuple[Codes, tuple[Hashable, ...]]:
    """Return the code of the class of each row, and the classes."""
    y = foreign_to_pandas(y)
    if isinstance(y, str | pd.DataFrame) or np.ndim(y) != 1:
        raise TypeError(f"y must be the class of each row; got {type(y).__name__}.")
    data = encode_frame(pd.Series(y).to_frame("y"), ["y"], argument="y")
    codes = data.codes[0, :]
    if codes.min(initial=0) < 0:
        raise ValueError(
            f"y must have a class in every row; {np.count_nonzero(codes < 0)} rows have "
            "no class. Drop them."
        )
    return codes, data.levels[0]


def warn_of_small_classes(sizes: ArrayOf[Any], levels: Iterable[Hashable], k: int) -> None:
    """Warn of classes with fewer rows than folds."""
    small = [level for level, size in zip(levels, sizes, strict=False) if 0 < size < k]
    if small:
        warn(
            f"classes with fewer rows than k={k}, so that some folds have none of "
            f"them: {listed(small, most=8)}"
        )


def r_folds(y: ArrayLike, k: int, *, seed: int, sample_kind: str = "rejection") -> Positions:
    """Assign rows to the folds of ``cv`` in R after ``set.seed(seed)``.

    Parameters
    ----------
    y : (n,) array-like
        The class of each row, none missing. The order of its levels must be
        that of the factor in R.
    k : int
        Number of folds, from 2 to n.
    seed : int
        Seed of R, from 0 to 2,147,483,647.
    sample_kind : {"rejection", "rounding"}, default "rejection"
        How R draws whole numbers: "rejection" since R 3.6, and "rounding"
        before it or after ``RNGversion("3.5.0")``.

    Returns
    -------
    (n,) array of int
        The fold of each row, from 0 to k − 1, for ``folds=`` of `cv`,
        `cv_predict` and the greedy learners.

    Raises
    ------
    TypeError, ValueError
        If `k` is not a whole number from 2 to the number of rows.

    Notes
    -----
    R fills the folds of each class separately, in the order of the levels: it
    draws a permutation of the folds, repeats it, and draws a permutation of the
    result. A greedy search in R draws ties after its folds; here, ties are
    resolved to the first candidate, so that its steps can differ.

    Examples
    --------
    The cross-validation of the paper on the R package, which prints 0.8582303:

    >>> from bnclassify import bnc, cv, load_car, r_folds
    >>> car = load_car()
    >>> folds = r_folds(car["class"], 5, seed=0, sample_kind="rounding")
    >>> round(cv(bnc("nb", "class", car, smooth=0.01), car, folds=folds), 7)
    0.8582303
    """
    codes, levels = encode_classes(y)
    check_number_of_folds(k, len(codes))
    Whole(least=0, most=2**31 - 1).check("seed", seed)
    OneOf(["rejection", "rounding"]).check("sample_kind", sample_kind)
    numbers = _r_uniform(seed)
    warn_of_small_classes(np.bincount(codes), levels, k)
    folds = np.empty(len(codes), np.intp)
    for code in range(len(levels)):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            filled = np.resize(_r_sample(range(k), numbers, sample_kind), len(rows))
            folds[rows] = _r_sample(filled, numbers, sample_kind)
    return folds


def _r_uniform(seed: int) -> Iterator[float]:
    """Yield the numbers of ``runif`` after ``set.seed``."""
    words = [seed]
    for _ in range(50 + 625):
        words.append((69069 * words[-1] + 1) % 2**32)  # the random numbers of R
    generator = np.random.MT19937()
    key = np.array(words[-624:], np.uint32)
    generator.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
    while True:
        yield min(max(int(generator.random_raw()) * 2.3283064365386963e-10, 2.0**-33), 1 - 2.0**-33)


def _r_sample(
    items: Sequence[Any] | range | ArrayOf[Any], numbers: Iterator[float], kind: str
) -> list[Any]:
    """Return all items in the order of ``sample``."""
    left, drawn = list(items), []
    for n in range(len(left), 0, -1):
        i = int(n * next(numbers)) if kind == "rounding" else n
        while i >= n:  # rejected: as many random bits as n − 1 has
            number = 0
            for _ in range((n - 1).bit_length() // 16 + 1):
                number = 65536 * number + int(next(numbers) * 65536)
            i = number & ((1 << (n - 1).bit_length()) - 1)
        drawn.append(left[i])
        left[i] = left[n - 1]
    return drawn


def shuffle_folds(codes: ArrayOf[Any], k: int, rng: np.random.Generator) -> Positions:
    """Draw stratified folds without a check or a warning."""
    # rows sorted by class, in random order within a class, are assigned to folds 0, 1, … k − 1, 0,
    # 1, …
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.intp)
    folds[order] = np.arange(len(codes)) % k
    return folds


def split_weights_into_folds(
    codes: ArrayOf[Any],
    units: ArrayOf[np.int64],
    k: int,
    rng: np.random.Generator,
    *,
    most_repeated: int = 2**22,
) -> ArrayOf[np.int64]:
    """Split whole weights over stratified folds unit by unit, (rows, k), as if rows were repeated.

    Rows are repeated if there are at most `most_repeated` units; if not, the
    units of a fold are drawn. Of 10^9 units and more, each fold has the same
    number, and the remainders of rows are drawn.
    """
    if units.sum() >= 10**9:  # NumPy draws none of so many units
        rest = split_weights_into_folds(codes, units % k, k, rng, most_repeated=most_repeated)
        return np.asarray((units // k)[:, None] + rest)
    if units.sum() <= most_repeated:
        rows = np.repeat(np.arange(len(units)), units)
        cells = rows * k + shuffle_folds(codes[rows], k, rng)
        return np.bincount(cells, minlength=len(units) * k).reshape(-1, k)
    tested, before = np.zeros((len(units), k), dtype=np.int64), 0
    for code in map(int, np.unique(codes)):
        rows = np.flatnonzero(codes == code)
        left: ArrayOf[np.int64] = units[rows]
        total = int(left.sum())
        # Of 3 folds, 7 units of the first class go as 3, 2, 2, and 5 of the next, which begins with
        # the fold after the last unit, as 1, 2, 2: sums of 4, 4, 4.
        sizes = total // k + ((np.arange(k) - before) % k < total % k)
        for fold in range(k - 1):
            drawn = rng.multivariate_hypergeometric(left, sizes[fold], method="marginals")
            tested[rows, fold] = drawn
            left = left - drawn
        tested[rows, -1] = left
        before += total
    return tested


def drawn_or_given_folds(
    data: TrainingData,
    k: int,
    folds: Folds | None,
    rng: np.random.Generator,
    *,
    pairs: bool = True,
    quiet: bool = False,
) -> list[RowFold]:
    """Return folds of training rows: drawn, or the given ones, which count all given rows.

    Given folds may be ``pairs`` of rows to learn from and to test. Groups stay
    together.
    """
    if folds is None:
        return draw_folds(data, k, rng, quiet=quiet)
    # Of the rows u, ?, v, where ? has no class, the given rows 1 and 2 are the training row 1.
    known = data.is_row_labeled if len(data.targets) == 1 else np.full(len(data), True)
    position = np.cumsum(known) - 1
    given: Any = list(folds) if isinstance(folds, Iterator) else folds
    tests: Sequence[tuple[Positions, Positions | None]]
    if pairs and isinstance(given, list | tuple) and given and all(map(_is_pair_of_arrays, given)):
        tests = _tested_and_learned_rows(given, len(known))
    else:
        rows_tested = rows_tested_by_folds(given, len(known), data.with_unlabeled_rows.index)
        tests = [(rows, None) for rows in rows_tested]
    split = []
    for test, learned in tests:
        tested: Positions = position[test[known[test]]]
        train = None if learned is None else position[learned[known[learned]]]
        split.append(RowFold(tested, None, train))
    _check_whole_cases(data, split)
    return split


def _check_whole_cases(data: TrainingData, tests: Sequence[RowFold]) -> None:
    """Raise a ValueError if rows of a case are learned from and tested in the same fold."""
    if data.cases is None:
        return
    for number, test in enumerate(tests):
        others = (
            np.setdiff1d(np.arange(len(data)), test.rows) if test.learned is None else test.learned
        )
        divided = np.intersect1d(data.cases[test.rows], data.cases[others])
        if len(divided):
            raise ValueError(
                f"folds must keep the rows of a group together; got a fold (number {number}, "
                f"counted from 0) that divides {len(divided)} group{'s' * (len(divided) > 1)}. "
                "Omit folds to draw folds of whole groups."
            )


def draw_folds(
    data: TrainingData, k: int, rng: np.random.Generator, *, quiet: bool = False
) -> list[RowFold]:
    """Draw folds of rows, of groups or of units of whole weights, stratified by an only target.

    Classes with fewer rows than folds cause a warning, unless ``quiet``.
    """
    is_single, weights = len(data.targets) == 1, data.weights
    codes: Codes = data.codes[-1] if is_single else np.zeros(len(data), dtype=np.intp)
    if data.cases is not None and len(np.unique(data.cases)) < len(data):
        order = rng.permutation(len(data))
        return split_cases_into_folds(data.cases[order], codes[order], order, k)
    units: ArrayOf[np.int64] | None = None
    if weights is not None and not (weights % 1).any() and weights.sum() < 2**53:
        units = weights.astype(np.int64)
    check_number_of_folds(k, len(codes) if units is None else int(units.sum()))
    if is_single and not quiet:
        warn_of_small_classes(np.bincount(codes, units), data.levels[-1], k)
    if units is None:
        folds = shuffle_folds(codes, k, rng)
        return [RowFold(np.nonzero(folds == fold)[0]) for fold in range(k)]
    tested = split_weights_into_folds(codes, units, k, rng)
    # Rows of weight 0 are tested, too, in turns, so that each row is predicted.
    turns: Positions = np.where(units == 0, np.arange(len(codes)) % k, -1)
    rows_of = [np.flatnonzero((tested[:, fold] > 0) | (turns == fold)) for fold in range(k)]
    return [
        RowFold(rows, tested[rows, fold].astype(np.float64)) for fold, rows in enumerate(rows_of)
    ]


def split_cases_into_folds(cases: Codes, classes: Codes, rows: Codes, number: int) -> list[RowFold]:
    """Return each fold's rows: whole cases, those of a class (by first row) in turns."""
    _, first, case = np.unique(cases, return_index=True, return_inverse=True)
    if len(first) < number:
        remedy = (
            f"Use k={len(first)} or less"
            if len(first) > 1
            else "Each row needs the label of its group"
        )
        raise ValueError(
            f"groups must contain at least {number} groups, one for each fold; got "
            f"{len(first)}. {remedy}."
        )
    order = np.lexsort((first, classes[first]))
    place = np.arange(len(order)) - np.searchsorted(classes[first][order], classes[first][order])
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = (place + classes[first][order]) % number
    folds = [np.sort(rows[fold[case] == each]) for each in range(number)]
    return [RowFold(some) for some in folds if len(some)]


def check_number_of_folds(k: object, rows: int) -> None:
    """Raise unless ``k`` is a whole number of folds between 2 and the number of rows."""
    if Whole(least=2).check("k", k) > rows:
        raise ValueError(f"k must be at most the number of rows, which is {rows}; got {shown(k)}.")


def _is_pair_of_arrays(fold: object) -> bool:
    return isinstance(fold, tuple) and len(fold) == 2 and np.ndim(fold[0]) == np.ndim(fold[1]) == 1


def _tested_and_learned_rows(
    folds: Sequence[tuple[ArrayLike, ArrayLike]], rows: int
) -> list[tuple[Positions, Positions]]:
    """Return the rows that each fold tests and those it learns from, or raise."""
    pairs = [(_check_test_rows(test, rows), _check_test_rows(train, rows)) for train, test in folds]
    if any(len(np.intersect1d(test, train)) for test, train in pairs):
        raise ValueError(
            "folds must not learn from rows that they test; some train and test sets overlap."
        )
    return pairs


def rows_tested_by_folds(
    folds: Folds, rows: int, index: pd.Index[Any] | None = None
) -> list[Positions]:
    """Return the rows that each fold tests, by fold numbers (aligned with ``index``) or lists."""
    folds = list(folds) if isinstance(folds, Iterator) else folds
    if _is_fold_number_per_row(folds):
        if index is not None:
            check_same_index(folds, index, "folds")
        numbers = np.asarray(folds)
        if numbers.shape != (rows,) or not np.issubdtype(numbers.dtype, np.integer):
            raise ValueError(
                f"folds must be the fold number of each of {rows} rows, or a list of arrays of "
                f"rows to test; got an array of {numbers.dtype} with shape {numbers.shape}."
            )
        tests: list[Positions] = [np.flatnonzero(numbers == fold) for fold in np.unique(numbers)]
    else:
        tests = [_check_test_rows(fold, rows) for fold in folds]
    if len(tests) < 2 and not (tests and len(tests[0]) < rows):
        raise ValueError(f"folds must contain at least 2 folds; got {len(tests)}.")
    return tests


def _is_fold_number_per_row(folds: object) -> bool:
    if (
        isinstance(folds, str | Mapping)
        or not isinstance(folds, Iterable)
        or getattr(folds, "ndim", 1) == 0
    ):
        raise TypeError(
            "folds must be an array of fold numbers or a list of arrays of rows to test; "
            f"got {shown(folds)}."
        )
    return isinstance(folds, pd.Series) or all(isinstance(fold, int | np.generic) for fold in folds)


def _check_test_rows(fold: object, rows: int) -> Positions:
    if _is_pair_of_arrays(fold):
        raise ValueError(
            "folds must be the rows to test in each fold; got pairs. Pass [test for "
            "_, test in folds]."
        )
    test = np.asarray(fold)
    if test.dtype == bool and test.shape == (rows,):
        test = np.flatnonzero(test)
    is_list = test.ndim == 1 and 0 < len(test) < rows and np.issubdtype(test.dtype, np.integer)
    if not is_list or test.min() < 0 or test.max() >= rows or len(np.unique(test)) < len(test):
        raise ValueError(
            f"folds must each be different row positions from 0 to {rows - 1}, at least one and "
            f"not all; got {shown(fold)}."
        )
    return test.astype(np.intp)


# Rounds of cross-validation: models refitted without the rows of a fold, and evaluated on them.


R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Round:
    """One fold of one repeat, and the seed of learners, which all models share."""

    repeat: int
    number: int
    fold: RowFold
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows, and their assignment to folds.

    ``folds`` is a digest of the folds, which are a partition if each repeat
    tests every row once; ``unseen`` has the numbers of unseen values that are
    treated as missing, by column. ``index`` are the labels of all rows, and
    ``known`` is whether they have a class.
    """

    data: TrainingData
    rounds: list[Round]
    folds: str
    is_partition: bool
    unseen: Mapping[Hashable, int] = field(default_factory=dict)
    index: Any = None
    known: Any = None

    @property
    def n_repeats(self) -> int:
        """The number of repeats of cross-validation."""
        return self.rounds[-1].repeat + 1

    def map_rounds(
        self,
        models: Mapping[Hashable, Model],
        function: Callable[[Round, Any, Any, list[Model]], R],
        *,
        dag: bool,
        bar: Bar,
    ) -> Iterator[R]:
        """Yield a function of each round, its training and test rows, and refitted models.

        A round without training rows has no models.
        """

        def run_round(rnd: Round) -> tuple[R, bool]:
            train, test = rnd.fold.split(self.data)
            learned: list[Model] = []
            try:
                if not train.size:
                    raise NoRowsError("dataset must have rows; got none.")
                learned = [
                    _refit_without_fold(name, model, rnd, train, dag)
                    for name, model in models.items()
                ]
            except NoRowsError:
                pass
            return function(rnd, train, test, learned), bool(learned)

        empty: list[int] = []
        results = run_tasks(run_round, self.rounds)
        for rnd, (result, has_models) in zip(self.rounds, results, strict=True):
            empty += [] if has_models else [rnd.number]
            bar.update(len(models))
            yield result
        if empty:
            warn(
                "No training row has a positive weight if fold "
                f"{listed(empty, most=8)} is tested, so its results are NaN. Use other folds."
            )


def _refit_without_fold(name: Any, model: Model, rnd: Round, train: Dataset, dag: bool) -> Model:
    """Return a model, refitted to the training rows of a round, or raise."""
    recipe, rng = check_recipe(model), None if rnd.seed is None else check_rng(rnd.seed)
    try:
        fitted: Model = recipe.fit(train, rng) if dag else recipe.refit(model, train, rng)
        if isinstance(model, Derived):
            model.check_type_of_refit(fitted)
        return fitted
    except NoRowsError:
        raise
    except ValueError as error:
        raise ValueError(
            f"x must be models that can be refitted; model {shown(name)} cannot in fold "
            f"{rnd.number}: "
            f"{str(error).removesuffix('.')}.{' With dag=False, it keeps its structure.' * dag}"
        ) from error


def models_by_name(x: object) -> dict[Hashable, Model]:
    """Return models by name or number, all fitted and with the same targets, or raise."""
    x = unwrap_estimator(x)
    if isinstance(x, Model):
        models: dict[Any, Any] = {0: x}
    elif isinstance(x, Mapping | list | tuple):
        named = x.items() if isinstance(x, Mapping) else enumerate(x)
        models = {name: unwrap_estimator(one) for name, one in named}
    else:
        raise TypeError(
            f"x must be a model, or a list or dict of models; got {type(x).__name__}. The models "
            "are the first argument, the data the second."
        )
    if not models:
        raise ValueError("x must contain at least one model; got none.")
    for model in models.values():
        check_recipe(model)
    targets = {model.targets for model in models.values()}
    if len(targets) > 1:
        names = listed([name for each in targets for name in each])
        raise ValueError(f"x must be models of the same class; got models of {names}.")
    return models


def check_recipe(x: Model, *, fitted: bool = True) -> Recipe:
    """Return the recipe of a model; raise if it has none, or has no tables although ``fitted``."""
    if fitted:
        check_fitted(x)
    if x.recipe is None or (fitted and x.recipe.parameters is None):
        raise ValueError(
            "x must record its recipe to be refitted. Learn it with functions of this package, or "
            "evaluate it as it is, with summary(x, rows, k=0)."
        )
    return x.recipe


def columns_for_refits(models: Mapping[Hashable, Model], *, dag: bool) -> set[Hashable] | None:
    """Return the columns that are needed to refit models; None for all."""
    if dag and any(check_recipe(x, fitted=False).columns is None for x in models.values()):
        return None
    return {name for model in models.values() for name in model.variables}


def plan_rounds(
    models: Mapping[Hashable, Model],
    dataset: Any,
    *,
    k: int,
    repeats: int = 1,
    folds: Any = None,
    dag: bool = True,
    unseen: str = "missing",
    rng: Seed,
    groups: Any,
    columns: object = "same",
) -> Plan:
    """Prepare the data that models need, and assign its rows to folds."""
    check_unseen(unseen)
    Flag().check("dag", dag)
    opened, cases = open_data(dataset).check_in_memory("dataset"), None
    if groups is not None:
        opened, cases = split_off_groups(opened, groups, next(iter(models.values())).targets)
    if isinstance(folds, str):
        opened, folds = _split_off_folds(opened, folds)
    check_training_columns(models, opened, columns, dag)
    if groups is None and folds is None:
        divided = [name for name, model in models.items() if _used_groups(check_recipe(model))]
        if divided:
            warn(
                f"Model {listed(divided)} was learned from groups of rows, and folds of single "
                "rows can test a group with which it was learned. Pass groups to cv or cv_predict."
            )
    if given := names_of_given_models(models):
        warn(
            f"Model {listed(given)} is not fitted again, and folds can test rows with which it was "
            "made. Evaluate it on other rows, with summary(x, rows, k=0)."
        )
    data = training_data_of_models(models, opened, [*opened.columns], dag=dag)
    counts: Mapping[Hashable, int] = {}
    if unseen == "missing" and not dag:
        data, counts = hide_unseen_levels(models, data)
    if cases is not None:
        rows = data.is_row_labeled if len(data.targets) == 1 else slice(None)
        data = replace(data, cases=cases[rows])
    plan = _plan_folds(data, k, repeats, folds, rng)
    warn_of_unseen_values(counts)
    return replace(plan, unseen=counts)


def _split_off_folds(data: Any, column: str) -> tuple[Opened[Dataset], Positions]:
    """Return data without a column, and the position of its label in each row, or raise."""
    check_columns([column], data.columns, "folds")
    data, labels = data.split_off_column(column)
    number, _ = pd.factorize(pd.Series(labels), sort=True)
    if missing := np.count_nonzero(number < 0):
        raise ValueError(f"folds must have a fold in every row; {missing} rows have none.")
    return data, number


def warn_of_unseen_values(counts: Mapping[Hashable, int]) -> None:
    """Warn of values that are treated as missing, whose numbers are given by column."""
    if counts:
        hidden = listed([f"{count} in {shown(name)}" for name, count in counts.items()])
        warn(
            f"Values that are not among the levels of the models are treated as missing: {hidden}."
        )


def check_training_columns(
    models: Mapping[Hashable, Model], data: OpenedData, columns: object, dag: bool
) -> None:
    """Raise unless the data have exactly the training columns, or ``columns`` is "any"."""
    if OneOf(("same", "any")).check("columns", columns) == "any" or not dag:
        return
    present = data.columns
    for name, model in models.items():
        recipe = check_recipe(model, fitted=False)
        seen = recipe.seen
        if seen is None or set(seen) == set(present):
            continue
        missing = [c for c in seen if c not in present]
        added = [c for c in present if c not in seen]
        parts = {"it lacks": missing, "it also has": added}
        differing = [f"{part} {listed(names)}" for part, names in parts.items() if names]
        remedy = (
            "Pass these columns. In cv, columns='any' learns from the columns present, which gives "
            "a different model, and dag=False keeps the structure."
        )
        if added and not missing and _used_groups(recipe):
            remedy = (
                f"If {shown(added[0])} names the groups of its rows, pass groups={added[0]!r} to "
                "cv or cv_predict."
            )
        raise ValueError(
            f"dataset must have the columns that model {shown(name)} was learned from; "
            f"{' and '.join(differing)}. {remedy}"
        )


def _used_groups(recipe: Recipe) -> bool:
    """Whether a model was learned from groups of rows."""
    return recipe.rows is not None and 0 < recipe.rows.cases < recipe.rows.given


def names_of_given_models(models: Mapping[Hashable, Model]) -> list[Hashable]:
    """Return the names of models that recipes do not fit again, or only in part."""
    return [name for name, model in models.items() if contains_given(model.recipe)]


def training_data_of_model(x: Model, dataset: OpenedData) -> TrainingData:
    """Return the rows with a class, prepared for the recipe of a model."""
    return training_data_of_models({0: x}, dataset, dataset.columns, dag=True, warns=False)


def _read_numbers_for_models(
    models: Mapping[Hashable, Model], dataset: Opened[Dataset], names: Sequence[Hashable], dag: bool
) -> Opened[Dataset]:
    """Encode rows, with numeric columns as numbers if some models need them."""
    cut = {k: m for k, m in models.items() if m.discretizer is not None}
    raw = cut | {k: m for k, m in models.items() if m.densities}
    if not raw:
        return dataset
    others = {k: m for k, m in models.items() if k not in raw}
    sets = [columns_for_refits(some, dag=dag) for some in (models, others)]
    needed, coded = [set(names) if some is None else some for some in sets]
    target = next(iter(models.values())).class_var
    return dataset.encode_raw(target, needed | {target}, coded)


def hide_unseen_levels(
    models: Mapping[Hashable, Model], data: TrainingData
) -> tuple[TrainingData, dict[Hashable, int]]:
    """Return data without the levels that a fixed model lacks, and their numbers by column."""
    unseen: dict[Hashable, Mask] = {}
    for model in models.values():
        coded = data if model.preparation is None else model.preparation.prepared_data(data)
        for name in [name for name in model.features if name not in model.densities]:
            position = coded.positions[name]
            codes, labels = coded.codes[[position]][0], coded.levels[position]
            recoded = recode_column(codes, labels, model.levels_by_name[name], name, -1)
            strange: Mask = (recoded < 0) & (codes >= 0)
            if strange.any():
                unseen[name] = unseen.get(name, np.zeros(len(data), dtype=bool)) | strange
    if not unseen:
        return data, {}
    hidden, numbers = data.codes.copy(), dict(data.numbers)
    for name, rows in unseen.items():
        hidden[data.positions[name], rows] = -1
        if name in numbers:
            numbers[name] = np.where(rows, np.nan, numbers[name])
    counts = {name: int(np.count_nonzero(rows)) for name, rows in unseen.items()}
    return replace(data, codes=hidden, numbers=numbers), counts


def training_data_of_models(
    models: Mapping[Hashable, Model],
    dataset: OpenedData,
    names: Sequence[Hashable],
    *,
    dag: bool,
    warns: bool = True,
) -> TrainingData:
    """Return the columns among names to which models can be refitted, in rows with the only target.

    If ``warns``, dropped rows cause a warning.
    """
    opened = dataset.check_in_memory("dataset")
    cut = any(m.discretizer and m.discretizer.columns for m in models.values())
    if isinstance(opened, Dataset) and dag and warns and cut:
        check_can_discretize(opened)
    targets = next(iter(models.values())).targets
    needed = columns_for_refits(models, dag=dag)
    check_columns({*targets, *(needed or ())}, names, "dataset")
    chosen = [name for name in names if needed is None or name in needed or name in targets]
    if not isinstance(opened, Dataset):
        opened = _read_numbers_for_models(models, opened, names, dag)
    kept: set[Hashable] = set()
    if not isinstance(opened, Dataset):
        kept = {name for model in models.values() for name in model.densities}
    data = opened.read(Columns(chosen, numeric=kept))
    raw = set(data.numbers)
    if all(model.preparation is not None for model in models.values()):
        raw |= {name for name, card in zip(data.columns, data.cards, strict=True) if not card}
    check_have_levels(
        data, [name for name in data.columns if name not in raw or name in targets], targets
    )
    if warns and len(targets) == 1 and data.incomplete[data.positions[targets[0]]]:
        unknown = np.count_nonzero(data.codes[data.positions[targets[0]]] < 0)
        if unknown < len(data):  # none is left otherwise, which is an error below
            warn(f"{unknown} of {len(data)} rows have no class {shown(targets[0])} and are ignored")
    read = read_training(data, targets, known=dict.fromkeys(raw, ()), warns=False)
    assert isinstance(read, TrainingData)
    return read


def _plan_folds(data: TrainingData, k: int, repeats: int, folds: Folds | None, rng: Seed) -> Plan:
    """Assign rows to folds, stratified by one target; the first repeat never changes.

    Given folds include rows without a class.
    """
    generator, rounds, digest, is_partition = check_rng(rng), [], blake2b(digest_size=12), True
    index, given = data.with_unlabeled_rows.index, data
    known = data.is_row_labeled if len(data.targets) == 1 else np.full(len(data), True)
    data = replace(data, with_unknown=None)
    for repeat in range(repeats):
        tests = drawn_or_given_folds(given, k, folds, generator, quiet=repeat > 0)
        if folds is not None:
            rows = np.sort(np.concatenate([test.rows for test in tests]))
            is_partition = np.array_equal(rows, np.arange(len(data)))
        for number, test in enumerate(tests):
            seed = None if rng is None else int(generator.integers(2**63))
            rounds.append(Round(repeat, number, test, seed))
            learned = () if test.learned is None else np.sort(test.learned)
            units = () if test.units is None else test.units
            numbers = np.array([len(test.rows), *np.sort(test.rows), *units, *learned])
            digest.update(numbers.astype("<i8").tobytes())
    return Plan(data, rounds, digest.hexdigest(), is_partition, index=index, known=known)


# Metrics in the rounds of cross-validation, and the record of the folds in `attrs` of results.


_KEY = "cv"
NOT_REFITTED = "not_refitted"
"""The attribute of results with the names of models that were not fitted again in the folds."""

Results = TypeVar("Results", "pd.Series[Any]", pd.DataFrame)


@dataclass(frozen=True)
class Scheme:
    """The assignment of rows to folds, and the metrics of class frequencies alone.

    Results with the same digest ``folds`` have the same folds, which are a
    partition if each repeat tests every row once. Sizes are sums of weights
    and, as baselines, means over the folds.
    """

    repeats: int
    k: int
    train_size: float
    test_size: float
    is_partition: bool
    folds: str
    baselines: Mapping[str, float | None]

    def __str__(self) -> str:
        folds = f"{self.k} folds" if self.k > 1 else "1 fold"
        return folds if self.repeats == 1 else f"{self.repeats} repeats of {folds}"


def attach_scheme(
    results: Results,
    scheme: Scheme,
    unseen: Mapping[Hashable, int],
    given: Sequence[Hashable] = (),
) -> Results:
    """Return results with the record of their computation, in plain values that pandas keeps."""
    results.attrs[_KEY] = asdict(scheme)
    if given:
        results.attrs[NOT_REFITTED] = list(given)
    if unseen:
        results.attrs["unseen"] = dict(unseen)
    return results


def recorded_scheme(results: pd.Series[Any] | pd.DataFrame) -> Scheme | None:
    """Return the record of results, None if they have none."""
    record = results.attrs.get(_KEY)
    if not isinstance(record, Mapping) or set(record) != {field.name for field in fields(Scheme)}:
        return None
    return Scheme(**record)


def values_of_metric(
    results: pd.DataFrame, metric: Hashable | None, scheme: Scheme | None
) -> tuple[pd.DataFrame, Hashable | None]:
    """Return the values of one metric, with one column per model, and its name if it is known."""
    wanted = getattr(metric, "__name__", metric)
    if results.columns.nlevels == 1 and "metric" in results.columns.names:
        raise ValueError("results must have one column per model; got metrics of one model.")
    by_metric = results.columns.nlevels == 2
    metrics: list[Hashable] = list(scheme.baselines) if scheme else []
    if by_metric:
        metrics = list(results.columns.unique(1))
    if wanted is not None and not is_among(wanted, metrics):
        remedy = "The columns of these results are models only."
        if metrics:
            remedy = options_sentence(wanted, metrics)
        raise ValueError(must_be("metric", "in the results", wanted, remedy))
    if wanted is None and by_metric and len(metrics) > 1:
        names = listed(metrics)
        raise ValueError(f"metric must be given, because the results have several: {names}.")
    name = wanted if wanted is not None or len(metrics) != 1 else metrics[0]
    if by_metric:
        results = results.loc[:, results.columns.get_level_values(1) == name].droplevel(1, axis=1)
    return results, name


@dataclass(frozen=True, eq=False)
class Scores:
    """Metrics of models in each round; the last model is the baseline of class frequencies.

    ``sums`` over the tested rows are by round, model and metric, None if a
    metric is not defined; ``sizes``, (rounds, 2), are the weights of the
    training and the test rows.
    """

    metrics: Sequence[AnyMetric]
    repeats: list[int]
    sums: list[list[list[Any]]]
    sizes: Array

    @cached_property
    def values_by_round(self) -> Array:
        """The metrics in each round, (rounds, models, metrics)."""
        values = np.full((len(self.sums), len(self.sums[0]), len(self.metrics)), np.nan)
        for fold, model, metric in product(*map(range, values.shape)):
            sums = self.sums[fold][model][metric]
            if sums is not None:
                values[fold, model, metric] = self.metrics[metric].value_from_sums(sums)
        return values

    @cached_property
    def means(self) -> Array:
        """The metrics, (models, metrics): means over rounds or, if pooled, over repeats."""
        means = _mean_of_folds(self.values_by_round)
        for i, metric in enumerate(self.metrics):
            if metric.is_pooled:
                means[:, i] = self._pooled_means_by_model(i, metric.value_from_sums)
        return means

    @cached_property
    def expected_metrics_if_calibrated(self) -> Array:
        """The expected metrics of calibrated posteriors, (models, metrics); NaN if not defined."""
        expected = np.full_like(self.means, np.nan)
        for i, metric in enumerate(self.metrics):
            if metric.value_if_calibrated is not None:
                expected[:, i] = self._pooled_means_by_model(i, metric.value_if_calibrated)
        return expected

    @cached_property
    def standard_errors(self) -> Array:
        """Standard errors, (models, metrics): √(variance / folds) or, pooled, by the jackknife."""
        errors, repeats = [], np.array(self.repeats)
        pooled = [i for i, metric in enumerate(self.metrics) if metric.is_pooled]
        for repeat in dict.fromkeys(self.repeats):
            values: Array = self.values_by_round[repeats == repeat]
            n: Positions = np.count_nonzero(~np.isnan(values), axis=0)
            for metric, model in product(pooled, range(values.shape[1])):
                values[:, model, metric] = self._jackknife_values(repeat, model, metric)
            squares: Array = np.nansum((values - _mean_of_folds(values)) ** 2, axis=0)
            variance: Array = squares / np.where(n > 1, n - 1, np.nan)
            variance[:, pooled] *= (n[:, pooled] - 1) ** 2
            errors.append(np.sqrt(variance / np.maximum(n, 1)))
        return np.asarray(np.mean(errors, axis=0))

    def _jackknife_values(self, repeat: int, model: int, metric: int) -> list[float]:
        """Return a pooled metric of all folds of a repeat but one, for each; NaN without rows."""
        folds = self._sums_by_fold(repeat, model, metric)
        values = [np.nan] * len(folds)
        for fold, own in enumerate(folds):
            rest = [sums for sums in folds[:fold] + folds[fold + 1 :] if sums is not None]
            if own is not None and rest:
                values[fold] = self.metrics[metric].value_from_sums(sum_nested(rest))
        return values

    def _pooled_means_by_model(self, metric: int, function: Callable[[Any], float]) -> list[float]:
        """Return for each model the mean over repeats of a function of the sums over all folds."""
        means = []
        for model in range(len(self.sums[0])):
            values = []
            for repeat in dict.fromkeys(self.repeats):
                folds = self._sums_by_fold(repeat, model, metric)
                known = [sums for sums in folds if sums is not None]
                if known:
                    values.append(function(sum_nested(known)))
            means.append(float(_mean_of_folds(np.array(values))))
        return means

    def _sums_by_fold(self, repeat: int, model: int, metric: int) -> list[Any]:
        """Return the sums of the folds of a repeat, None where the metric is not defined."""
        rounds = zip(self.repeats, self.sums, strict=True)
        return [models[model][metric] for own, models in rounds if own == repeat]


def _mean_of_folds(values: Array) -> Array:
    """Return the mean over the first axis without NaN; NaN if all are NaN."""
    n: Positions = np.count_nonzero(~np.isnan(values), axis=0)
    total: Array = np.nansum(values, axis=0)
    return total / np.where(n, n, np.nan)


def _sums_and_weights_of_rows(
    models: Sequence[Model], metrics: Sequence[AnyMetric], rows: Dataset
) -> tuple[list[list[Any]], list[Any]]:
    """Return the sums over rows by model and metric, and the weights of the rows."""
    all_outcomes = [predict_outcomes(model, rows) for model in models]
    sums = [[metric.sums_over_rows(outcomes) for metric in metrics] for outcomes in all_outcomes]
    return sums, _total_and_label_weights(rows, models[0].targets)


def _total_and_label_weights(rows: Dataset, targets: Sequence[Hashable]) -> list[Any]:
    """Return the weight of the rows and, for each target, by label, (labels,)."""
    return [float(rows.size), *[rows.level_weights(name) for name in targets]]


def evaluate_in_rounds(
    models: Mapping[Hashable, Model], plan: Plan, metrics: Sequence[AnyMetric], *, dag: bool
) -> Scores:
    """Refit models in each round, and evaluate them on its test rows."""
    data = plan.data
    weigh = partial(_total_and_label_weights, targets=data.targets)

    def evaluate_round(
        _: Round, train: Dataset, test: Dataset, learned: list[Model]
    ) -> tuple[list[list[Any]], tuple[float, float]]:
        if not learned:
            return [[None] * len(metrics)] * (len(models) + 1), (0.0, test.size)
        of_rows = partial(_sums_and_weights_of_rows, learned, metrics)
        sums, tested = of_rows(test)
        learned_from = train.sum_over_parts(weigh)
        frequencies = _metric_sums_of_class_shares(metrics, test, data, learned_from[1:])
        return [*sums, frequencies], (learned_from[0], tested[0])

    steps = len(plan.rounds) * len(models)
    with progress_bar(None, total=steps, desc="cv", unit=" models") as bar:
        found = [*plan.map_rounds(models, evaluate_round, dag=dag, bar=bar)]
    repeats, sizes = [rnd.repeat for rnd in plan.rounds], np.array([sizes for _, sizes in found])
    return Scores(metrics, repeats, [sums for sums, _ in found], sizes)


def evaluate_without_refit(
    x: Model, dataset: Any, metrics: Sequence[AnyMetric]
) -> tuple[list[float], list[float | None]]:
    """Return metrics of a model in rows, and those of the class shares in these rows."""
    models, opened = dict[Hashable, Model]({0: x}), open_data(dataset)
    data = training_data_of_models(models, opened, [*opened.columns], dag=False)
    data, unseen = hide_unseen_levels(models, data)
    warn_of_unseen_values(unseen)
    [sums], tested = data.sum_over_parts(partial(_sums_and_weights_of_rows, [x], metrics))
    of_shares = _metric_sums_of_class_shares(metrics, data, data, tested[1:])
    pairs = zip(metrics, of_shares, strict=True)
    baselines = [None if own is None else metric.value_from_sums(own) for metric, own in pairs]
    values = zip(metrics, sums, strict=True)
    return [metric.value_from_sums(own) for metric, own in values], baselines


def _metric_sums_of_class_shares(
    metrics: Sequence[AnyMetric], test: Dataset, data: Dataset, counts: Sequence[Array]
) -> list[Any]:
    """Return the sums of metrics of label frequencies alone; None if a user's function fails."""
    actual: Codes = test.codes[-len(data.targets) :]
    logs = [np.broadcast_to(log(normalize(own)), (actual.shape[1], len(own))) for own in counts]
    levels = data.levels[-len(counts) :]
    labels = partial(np.array, [*map(first_best, logs)])
    outcomes = Outcomes(logs, actual, data.targets, levels, test.index, test.weights, labels)
    sums: list[Any] = []
    with silencing_warnings():  # users did not request these results
        for metric in metrics:
            try:
                sums.append(None if metric.needs_joint else metric.sums_over_rows(outcomes))
            except Exception:
                sums.append(None)
    return sums


# Cross-validation of models that are refitted in each fold.


AsMetric: TypeAlias = "MetricName | Callable[[pd.DataFrame, pd.Series[Any]], float]"


Models: TypeAlias = "Sequence[Model] | Mapping[str, Model]"
# type checkers infer list[str] for a variable, so its names are not checked
Metrics: TypeAlias = "list[str] | list[AsMetric] | tuple[str | AsMetric, ...]"


class Options(TypedDict, total=False):
    """Arguments that `cv` and `cv_predict` share."""

    k: int
    dag: bool
    folds: Folds | str | None
    groups: Any
    columns: Literal["same", "any"]
    unseen: Unseen
    rng: Seed
    n_jobs: int | None
    progress: bool | None


class _Repeated(Options, total=False):
    repeats: int


@overload  # type checkers regard a Model as a model of a single class variable
def cv(  # type: ignore[overload-overlap]
    x: SeveralClasses | Models,
    dataset: InFull | InParts,
    *,
    metric: AsMetric | Metrics = "accuracy",
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> pd.Series[Any]: ...
@overload
def cv(
    x: Model,
    dataset: InFull | InParts,
    *,
    metric: AsMetric = "accuracy",
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> float: ...
@overload
def cv(
    x: Model,
    dataset: InFull | InParts,
    *,
    metric: Metrics,
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> pd.Series[Any]: ...
@overload
def cv(
    x: Model | Models,
    dataset: InFull | InParts,
    *,
    metric: AsMetric | Metrics = "accuracy",
    mean: Literal[False],
    **options: Unpack[_Repeated],
) -> pd.DataFrame: ...
@with_call_advice("The class is a column of the data: cv(x, dataset, k=10).")
def cv(
    x: Model | Models,
    dataset: InFull | InParts,
    *,
    k: int = 10,
    repeats: int = 1,
    metric: AsMetric | Metrics = "accuracy",
    dag: bool = True,
    mean: bool = True,
    folds: Folds | str | None = None,
    groups: Any = None,
    columns: Literal["same", "any"] = "same",
    unseen: Unseen = "missing",
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> float | pd.Series[Any] | pd.DataFrame:
    """Estimate the performance of models by cross-validation on the same folds.

    Parameters
    ----------
    x : Model, or a list or dict of models
        Fitted models. In each fold, each model is fitted again to the training
        rows by the same calls. Given tables, as of `from_effects` and
        `with_table`, are not, which gives a warning, because rows that are
        tested can be those with which they were made. To evaluate them, use
        ``summary(x, rows, k=0)`` with other rows.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with all variables of the models. Rows without a class are ignored.
    k : int, default 10
        Number of folds, if `folds` is not given. Five take half the time.
    repeats : int, default 1
        Number of times that rows are split into folds at random. Use more for
        small data, because results depend on the split.
    metric : str, function, or a list of them, default "accuracy"
        One or several of:

        - for labels: "accuracy", "balanced_accuracy", "f1", "precision",
          "recall", "kappa", "mcc";
        - for posteriors: "auc", "loglik" (higher is better), "log_loss",
          "brier", "calibration_error", "rmse" (lower is better). Choose
          "log_loss" if you use probabilities;
        - for a class with an order: "rps", the ranked probability score, and
          "mean_absolute_error" of ranks;
        - a function ``(posteriors, actual)`` that returns a number.
          `posteriors` has one column per class. If rows have weights, it must
          accept ``weights``, a Series.
    dag : bool, default True
        If True, structure and parameters are refitted; if False, only the
        parameters, which is faster, but too optimistic if the structure was
        learned from the same rows.
    mean : bool, default True
        If True, average over folds. "calibration_error" is then computed from
        all held-out rows. Use False for the results of each fold, which
        `compare` needs.
    folds : list of arrays, array of int, or str, optional
        Positions of the test rows of each fold, the fold number of each row,
        the name of a column with the fold of each row, or pairs of training and
        test rows, as scikit-learn's ``TimeSeriesSplit`` yields them. By
        default, `k` random folds.
    groups : str or array-like, optional
        Name of a column, or one label per row, if several rows belong together,
        such as the visits of a patient. The rows of a group stay in one fold.
        The column is not a feature.
    columns : {"same", "any"}, default "same"
        Whether `dataset` must have the columns that the models were learned
        from. With "any", the models learn from the columns of `dataset`, and
        are different models.
    unseen : {"missing", "error"}, default "missing"
        With ``dag=False``, what to do with values that a model does not
        contain, as in `predict`. With ``dag=True``, the levels of all rows are
        known in every fold.
    rng : int or numpy.random.Generator, optional
        Seed of the folds, and of learners that draw at random. Give it to get
        the same result again.
    n_jobs : int, optional
        Number of folds that run at the same time, by default 1; -1 means all
        processor cores. The results are the same. Folds run in processes on
        Linux and in threads on other systems.
    progress : bool, optional
        Whether to show a progress bar. By default, it appears after 3 seconds
        in an interactive session.

    Returns
    -------
    float, pandas.Series, pandas.DataFrame
        The mean over folds; for several models or metrics, a Series by model,
        or model and metric. With ``mean=False``, one row per fold and one
        column per model, or per model and metric.

    Raises
    ------
    KeyError, TypeError, ValueError
        If models differ in their class, a model was learned from other columns,
        the class is missing in every row, or ``k``, ``repeats`` or ``folds`` do
        not fit the data.

    Notes
    -----
    Folds are stratified by class. A row of weight 5 counts as
    five rows, which can be in several folds; a row with a fractional weight
    stays in one fold. "brier" is the mean of (P(class) − 1[class])², as in
    scikit-learn, and the sum over the classes if there are more than two. The
    page :doc:`Formulas </methods>` defines the metrics, and how weights are
    split.

    For several class variables, "accuracy" means "hamming", the proportion of
    labels that are correct, and "exact_match" is the proportion of rows with
    all labels correct. "joint_hamming" and "joint_exact_match" evaluate the
    most probable combinations, and other metrics each class variable, as
    "log_loss(name)".

    ``attrs["standard_errors"]`` of a Series is the standard deviation over
    folds divided by √k, an approximation, because training sets overlap. To get
    it for a single model, pass ``[x]``.

    Examples
    --------
    >>> from bnclassify import cv, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> models = {"nb": lp(nb("class", car), car, smooth=1),
    ...           "tan": lp(tan_cl("class", car), car, smooth=1)}
    >>> cv(models, car, k=5, rng=0, metric=["balanced_accuracy", "log_loss"]).unstack().round(2)
    metric  balanced_accuracy  log_loss
    model
    nb                   0.57      0.34
    tan                  0.91      0.21
    """
    x = unwrap_estimator(x)
    models = models_by_name(x)
    Flag().check("mean", mean)
    if Whole(least=1, most=100_000).check("repeats", repeats) > 1 and folds is not None:
        raise ValueError("repeats must be 1 if folds are given. Omit one of the two arguments.")
    targets = next(iter(models.values())).targets
    metrics = choose_metrics(metric, targets)
    for one, model in product(metrics, models.values()):
        if one.needs_joint:
            check_has_joint_distribution(model, 'metric "loglik"')
        if one.needs_order:
            check_ordered(model, f'metric "{one.name}"', one.target)
    options: Any = {"folds": folds, "dag": dag, "unseen": unseen, "rng": rng, "groups": groups}
    with using_jobs(n_jobs), showing_progress(progress):
        plan = plan_rounds(models, dataset, k=k, repeats=repeats, columns=columns, **options)
        scores = evaluate_in_rounds(models, plan, metrics, dag=dag)
    by_metric = isinstance(metric, list | tuple) or len(targets) > 1
    flat = len(targets) > 1 and isinstance(x, Model)
    names = _result_columns(list(models), metrics if by_metric else None, flat=flat)
    scheme, given = _describe_folds_and_baselines(plan, scores), names_of_given_models(models)
    if not mean:
        by_round = scores.values_by_round[:, :-1].reshape(len(plan.rounds), -1)
        return attach_scheme(
            pd.DataFrame(by_round, _result_index(plan), names), scheme, plan.unseen, given
        )
    _warn_of_undefined_metrics(metrics, scores.values_by_round[scores.sizes[:, 0] > 0, :-1])
    if isinstance(x, Model) and not by_metric:
        return float(scores.means[0, 0])
    means = attach_scheme(pd.Series(scores.means[:-1].ravel(), names), scheme, plan.unseen, given)
    attributes = {
        "standard_errors": scores.standard_errors,
        "calibrated": scores.expected_metrics_if_calibrated,
    }
    for name, values in attributes.items():
        known = pd.Series(values[:-1].ravel(), names).dropna()
        if len(known):
            means.attrs[name] = known.to_dict()
    return means


def _result_columns(
    models: list[Any], metrics: Sequence[AnyMetric] | None, *, flat: bool
) -> pd.Index[Any]:
    """Return the columns of results: models, models and metrics, or metrics of one if ``flat``."""
    if metrics is None:
        columns: pd.Index[Any] = pd.Index(models, tupleize_cols=False)
        return columns
    names = [metric.name for metric in metrics]
    if flat:
        return pd.Index(names)
    return pd.MultiIndex.from_product([models, names], names=["model", "metric"])


def _result_index(plan: Plan) -> pd.Index[Any]:
    """Return the rows of results: folds, or repeats and folds."""
    if plan.n_repeats == 1:
        return pd.RangeIndex(len(plan.rounds), name="fold")
    return pd.MultiIndex.from_tuples(
        [(r.repeat, r.number) for r in plan.rounds], names=["repeat", "fold"]
    )


def _describe_folds_and_baselines(plan: Plan, scores: Scores) -> Scheme:
    """Return the record of folds and of the metrics of class frequencies alone."""
    train_size, test_size = map(float, scores.sizes.mean(axis=0))
    means: list[float] = scores.means[-1, :].tolist()
    of_metric = zip(scores.metrics, means, strict=True)
    baselines = {metric.name: None if isnan(mean) else mean for metric, mean in of_metric}
    k = len(plan.rounds) // plan.n_repeats
    return Scheme(
        plan.n_repeats, k, train_size, test_size, plan.is_partition, plan.folds, baselines
    )


def _warn_of_undefined_metrics(metrics: Sequence[AnyMetric], values: Array) -> None:
    """Warn of metrics that are not defined in some folds; values are (rounds, models, metrics)."""
    absent: list[int] = np.isnan(values).any(axis=1).sum(axis=0).tolist()
    for metric, folds in zip(metrics, absent, strict=True):
        if folds:
            warn(
                f"{metric.name} is not defined in {folds} of {len(values)} folds, which are "
                "excluded from the mean. mean=False shows them."
            )


# Out-of-fold predictions of models that are refitted in each fold of a cross-validation.


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
