"""Folds of cross-validation: the rows that each fold tests, also those that the R package draws."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..dataset import check_same_index
from ..frames import TrainingData, encode_frame, foreign_to_pandas
from ..recipe.row_folds import RowFold, split_cases_into_folds
from ..tools.arrays import ArrayOf, Codes, Positions
from ..tools.checks import OneOf, Seed, Whole, check_rng
from ..tools.messages import listed, shown, warn

Folds = Sequence[ArrayLike] | ArrayOf[Any] | Iterable[tuple[ArrayLike, ArrayLike]]


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
    if pairs and _is_list_of_pairs(given):
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


def check_number_of_folds(k: object, rows: int) -> None:
    """Raise unless ``k`` is a whole number of folds between 2 and the number of rows."""
    if Whole(least=2).check("k", k) > rows:
        raise ValueError(f"k must be at most the number of rows, which is {rows}; got {shown(k)}.")


def _is_list_of_pairs(folds: object) -> bool:
    if not isinstance(folds, list | tuple) or not len(folds):
        return False
    return all(map(_is_pair_of_arrays, folds))


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
