"""Rows are divided into folds, and models are refitted without each of them.

Folds are drawn at random within the classes, given, or made of groups of rows
that belong together. `plan_rounds` prepares the data that models need, and
assigns their rows to folds. A round repeats the recipe of each model on the rows
outside of a fold, with everything that learning involves: cut points, structure,
parameters. Rounds can run in several processes. What is measured in a fold is
the subject of the next chapter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .accessors import check_fitted, unwrap_estimator
from .dataset import Columns, Data, Dataset, Known, OpenedData, check_unseen, recode_column
from .frames import (
    Frame,
    NoRowsError,
    TrainingData,
    check_have_levels,
    check_same_index,
    foreign_to_pandas,
    open_data,
    prepare_training_data,
    with_groups_as_cases,
)
from .model import Derived, Model, Recipe, contains_given
from .numbers import check_can_discretize
from .tools.arrays import Array, ArrayOf, Codes, Mask, Positions
from .tools.calls import Bar
from .tools.checks import Flag, OneOf, Seed, Whole, check_columns, check_rng
from .tools.messages import listed, shown, warn
from .tools.parallel import run_tasks

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
    k = check_number_of_folds(k, len(codes))
    warn_of_small_classes(np.bincount(codes), levels, k)
    return shuffle_folds(codes, k, check_rng(rng))


def encode_classes(y: ArrayLike) -> tuple[Codes, tuple[Hashable, ...]]:
    """Return the code of the class of each row, and the classes."""
    y = foreign_to_pandas(y)
    if isinstance(y, str | pd.DataFrame) or np.ndim(y) != 1:
        raise TypeError(f"y must be the class of each row; got {type(y).__name__}.")
    data = Frame(pd.Series(y).to_frame("y"), "y").encode_columns(["y"])
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
    k = check_number_of_folds(k, len(codes))
    seed = Whole(least=0, most=2**31 - 1).check("seed", seed)
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
    n = len(data)
    # Of the rows u, ?, v, where ? has no class, the given rows 1 and 2 are the training row 1.
    known = data.is_row_labeled
    position = np.cumsum(known) - 1
    given: Any = list(folds) if isinstance(folds, Iterator) else folds
    tests: list[tuple[Positions, Positions | None]] = []
    if pairs and isinstance(given, list | tuple) and given and all(map(_is_pair_of_arrays, given)):
        for learned, tested in given:
            own, rest = (_check_test_rows(rows, len(known)) for rows in (tested, learned))
            if len(np.intersect1d(own, rest)):
                raise ValueError(
                    "folds must not learn from rows that they test; some train and test sets "
                    "overlap."
                )
            tests.append((own, rest))
    else:
        rows_tested = rows_tested_by_folds(given, len(known), data.with_unlabeled_rows.index)
        tests = [(rows, None) for rows in rows_tested]
    split: list[RowFold] = []
    for test, train in tests:
        train = None if train is None else position[train[known[train]]]
        fold = RowFold(position[test[known[test]]], None, train)
        if data.cases is not None:
            others = np.setdiff1d(np.arange(n), fold.rows) if train is None else train
            divided = np.intersect1d(data.cases[fold.rows], data.cases[others])
            if len(divided):
                raise ValueError(
                    "folds must keep the rows of a group together; got a fold (number "
                    f"{len(split)}, counted from 0) that divides {len(divided)} "
                    f"group{'s' * (len(divided) > 1)}. Omit folds to draw folds of whole groups."
                )
        split.append(fold)
    return split


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
    k = check_number_of_folds(k, len(codes) if units is None else int(units.sum()))
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


def check_number_of_folds(k: object, rows: int) -> int:
    number = Whole(least=2).check("k", k)
    if number > rows:
        raise ValueError(f"k must be at most the number of rows, which is {rows}; got {number}.")
    return number


def _is_pair_of_arrays(fold: object) -> bool:
    return isinstance(fold, tuple) and len(fold) == 2 and np.ndim(fold[0]) == np.ndim(fold[1]) == 1


def rows_tested_by_folds(
    folds: Folds, rows: int, index: pd.Index[Any] | None = None
) -> list[Positions]:
    """Return the rows that each fold tests, by fold numbers (aligned with ``index``) or lists."""
    folds = list(folds) if isinstance(folds, Iterator) else folds
    is_text = isinstance(folds, str | Mapping)
    if is_text or not isinstance(folds, Iterable) or getattr(folds, "ndim", 1) == 0:
        raise TypeError(
            "folds must be an array of fold numbers or a list of arrays of rows to test; "
            f"got {shown(folds)}."
        )
    if isinstance(folds, pd.Series) or all(isinstance(fold, int | np.generic) for fold in folds):
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
        advice = "The models are the first argument, the data the second."
        if hasattr(x, "predict"):
            advice = "Evaluate it with cross_val_score of scikit-learn."
        raise TypeError(
            f"x must be a model, or a list or dict of models; got {type(x).__name__}. {advice}"
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


def columns_for_refits(
    models: Mapping[Hashable, Model], *, dag: bool
) -> dict[Hashable, None] | None:
    """Return the columns that are needed to refit models, in order; None for all."""
    if dag and any(check_recipe(x, fitted=False).columns is None for x in models.values()):
        return None
    return dict.fromkeys(name for model in models.values() for name in model.variables)


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
    opened: Any = open_data(dataset).check_in_memory("dataset")
    if groups is not None:
        opened = with_groups_as_cases(opened, groups, next(iter(models.values())).targets)
    if isinstance(folds, str):
        check_columns([folds], opened.columns, "folds")
        opened, labels = opened.split_off_column(folds)
        folds, _ = pd.factorize(pd.Series(labels), sort=True)
        if n_missing := np.count_nonzero(folds < 0):
            raise ValueError(f"folds must have a fold in every row; {n_missing} rows have none.")
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
    generator, rounds, digest, is_partition = check_rng(rng), [], blake2b(digest_size=12), True
    for repeat in range(repeats):  # of which the first never changes
        tests = drawn_or_given_folds(data, k, folds, generator, quiet=repeat > 0)
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
    warn_of_unseen_values(counts)
    known = data.is_row_labeled
    index, data = data.with_unlabeled_rows.index, replace(data, with_unknown=None)
    return Plan(data, rounds, digest.hexdigest(), is_partition, counts, index, known)


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
        elif classes := [c for c in missing if c in model.targets]:
            remedy = f"The data must have the class, as a column of this name: {listed(classes)}."
        raise ValueError(
            f"dataset must have the columns that model {shown(name)} was learned from; "
            f"{' and '.join(differing)}. {remedy}"
        )


def _used_groups(recipe: Recipe) -> bool:
    return recipe.rows is not None and 0 < recipe.rows.cases < recipe.rows.given


def names_of_given_models(models: Mapping[Hashable, Model]) -> list[Hashable]:
    """Return the names of models that recipes do not fit again, or only in part."""
    return [name for name, model in models.items() if contains_given(model.recipe)]


def hide_unseen_levels(
    models: Mapping[Hashable, Model], data: TrainingData
) -> tuple[TrainingData, dict[Hashable, int]]:
    """Return data without the levels that a fixed model lacks, and their numbers by column."""
    unseen: dict[Hashable, Mask] = {}
    for model in models.values():
        coded = model.preparation.prepared_data(data)
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
    cut = any(m.discretizer.columns for m in models.values())
    if isinstance(opened, Dataset) and dag and warns and cut:
        check_can_discretize(opened)
    targets = next(iter(models.values())).targets
    needed = columns_for_refits(models, dag=dag)
    check_columns(dict.fromkeys((*(needed or ()), *targets)), names, "dataset")
    chosen = [name for name in names if needed is None or name in needed or name in targets]
    others = {k: m for k, m in models.items() if not (m.preparation.discretizer or m.densities)}
    if len(others) < len(models) and not isinstance(opened, Dataset):
        # numeric columns that only the other models discretize or keep stay numbers
        coded = columns_for_refits(others, dag=dag)
        opened = opened.encode_raw(
            next(iter(models.values())).class_var,
            {*(names if needed is None else needed), *targets},
            set(names) if coded is None else coded,
        )
    data = opened.read(Columns(chosen))
    raw = set(data.numbers)
    if all(model.preparation for model in models.values()):
        raw |= {name for name, card in zip(data.columns, data.cards, strict=True) if not card}
    check_have_levels(
        data, [name for name in data.columns if name not in raw or name in targets], targets
    )
    features = [name for name in data.columns if name not in targets]
    levels: Known = dict.fromkeys(raw, ())
    read = prepare_training_data(data, targets, features, known=levels, warns=warns)
    assert isinstance(read, TrainingData)
    return read
