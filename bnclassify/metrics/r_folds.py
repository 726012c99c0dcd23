"""The folds that the R package draws after ``set.seed``, by the random numbers of R."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.checks import OneOf, Whole
from .folds import check_k, encode_classes, warn_of_small_classes

_WORD = 2**32


def r_folds(y: ArrayLike, k: int, *, seed: int, sample_kind: str = "rejection") -> NDArray[np.intp]:
    """Assign rows to the folds of ``cv`` in the R package after ``set.seed(seed)``.

    Parameters
    ----------
    y : (n,) array-like
        The class of each row, none missing. The order of its levels must be that of the factor in R.
    k : int
        Number of folds, from 2 to n.
    seed : int
        Seed of R, from 0 to 2,147,483,647.
    sample_kind : {"rejection", "rounding"}, default "rejection"
        How R draws whole numbers: "rejection" since R 3.6, and "rounding" before it or after
        ``RNGversion("3.5.0")``.

    Returns
    -------
    (n,) array of int
        The fold of each row, from 0 to k − 1, for ``folds=`` of `cv`, `cv_predict` and the greedy learners.

    Raises
    ------
    TypeError
        If ``y`` is not a sequence of classes, or ``k`` or ``seed`` is not a whole number.
    ValueError
        If an argument is out of range, or a class is missing.

    Warns
    -----
    UserWarning
        If a class has fewer than ``k`` rows, so that some folds have none.

    Notes
    -----
    R fills the folds of each class separately, in the order of the levels: it draws a permutation of the
    folds, repeats it, and draws a permutation of the result. The random numbers are those of R's default
    generator, the Mersenne Twister [1]_. A greedy search in R draws ties after its folds; here, ties are
    resolved to the first candidate, so that its steps can differ although its folds are equal.

    References
    ----------
    .. [1] Matsumoto, M., Nishimura, T. (1998). Mersenne Twister: a 623-dimensionally equidistributed uniform
       pseudo-random number generator. ACM Transactions on Modeling and Computer Simulation 8, 3-30.

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
    check_k(k, len(codes))
    Whole(least=0, most=2**31 - 1).check("seed", seed)
    OneOf(["rejection", "rounding"]).check("sample_kind", sample_kind)
    numbers = _uniform(seed)
    warn_of_small_classes(np.bincount(codes), levels, k)
    folds = np.empty(len(codes), np.intp)
    for code in range(len(levels)):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            filled = np.resize(_permute(range(k), numbers, sample_kind), len(rows))
            folds[rows] = _permute(filled, numbers, sample_kind)
    return folds


def _uniform(seed: int) -> Iterator[float]:
    """Yield the numbers of ``runif`` after ``set.seed``."""
    words = [seed]
    for _ in range(50 + 625):
        words.append((69069 * words[-1] + 1) % _WORD)
    generator = np.random.MT19937()
    key = np.array(words[-624:], np.uint32)
    generator.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
    while True:
        yield min(max(int(generator.random_raw()) * 2.3283064365386963e-10, 2.0**-33), 1 - 2.0**-33)


def _permute(items: Sequence[Any] | range | NDArray[Any], numbers: Iterator[float], kind: str) -> list[Any]:
    """Return all items in the order of ``sample``."""
    left, drawn = list(items), []
    for n in range(len(left), 0, -1):
        i = int(n * next(numbers)) if kind == "rounding" else _draw_below(n, numbers)
        drawn.append(left[i])
        left[i] = left[n - 1]
    return drawn


def _draw_below(n: int, numbers: Iterator[float]) -> int:
    """Draw a whole number below n from as many random bits, until one is small enough."""
    bits = (n - 1).bit_length()
    while True:
        drawn = 0
        for _ in range(bits // 16 + 1):
            drawn = 65536 * drawn + int(next(numbers) * 65536)
        drawn &= (1 << bits) - 1
        if drawn < n:
            return drawn
