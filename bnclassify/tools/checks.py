"""Checks of arguments as values, one line per argument with its message; option types; `rng`."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd

from .messages import did_you_mean, listed, shown, to_python_scalar

Unseen: TypeAlias = Literal["error", "missing"]

Learner: TypeAlias = Literal[
    "nb", "anb", "aode", "ande", "spode", "tan_cl", "chow_liu", "kdb_mi", "chisq_dn",
    "hc", "ban", "fssj", "bsej", "tan_hc", "tan_hcsp", "kdb",
]  # fmt: skip

ScoreName: TypeAlias = Literal["loglik", "aic", "bic", "bde", "k2"]

Cutting: TypeAlias = Literal["mdlp", "quantile", "width", "mixed"]

AnyCutting: TypeAlias = Cutting | Literal["averaged", "averaged5"]

_LabelMetric: TypeAlias = Literal["f1", "precision", "recall", "kappa", "mcc"]

SearchMetric: TypeAlias = (
    Literal["accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "rmse"]
    | _LabelMetric
)

MetricName: TypeAlias = (
    SearchMetric
    | Literal[
        "auc",
        "rps",
        "mean_absolute_error",
        "loglik",
        "hamming",
        "exact_match",
        "joint_hamming",
        "joint_exact_match",
    ]
)


T = TypeVar("T", bound=Hashable)
R = TypeVar("R", covariant=True)


class Check(Protocol[R]):
    """A check of an argument."""

    def check(self, argument: str, value: object) -> R:
        """Return the value, or raise an error."""
        ...


def must_be(argument: str, expected: str, value: object, remedy: str = "") -> str:
    return f"{argument} must be {expected}; got {shown(value)}. {remedy}".rstrip()


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `least` to `most`.

    >>> Whole(least=2).check("k", 5)
    5
    >>> Whole(least=2).check("k", 1)
    Traceback (most recent call last):
    ValueError: k must be a whole number of at least 2; got 1.
    """

    least: int = 0
    most: float = inf

    def check(self, argument: str, value: object) -> int:
        error: type[Exception] = TypeError
        if isinstance(value, Integral) and not isinstance(value, bool):
            if self.least <= int(value) <= self.most:
                return int(value)
            error = ValueError
        bounds = f"of at least {self.least:,}"
        if self.most < inf:
            bounds = f"from {self.least:,} to {self.most:,}"
        raise error(must_be(argument, f"a whole number {bounds}", value))


@dataclass(frozen=True, slots=True)
class Real:
    """A finite number of at least `least` and at most `most`, between `above` and `below`."""

    least: float = -inf
    most: float = inf
    above: float = -inf
    below: float = inf

    def check(self, argument: str, value: object) -> float:
        number: float = to_python_scalar(value)
        is_real = isinstance(number, RealNumber) and not isinstance(number, bool)
        try:
            size = float(number) if is_real else inf
        except OverflowError:
            size = inf
        if isfinite(size) and self.least <= size <= self.most and self.above < size < self.below:
            return number if abs(size) < 2**63 else size  # NumPy has no larger integers
        texts = ("of at least", "greater than", "of at most", "less than")
        bounds = zip(texts, (self.least, self.above, self.most, self.below), strict=True)
        within = " and ".join(f"{text} {bound:g}" for text, bound in bounds if isfinite(bound))
        error = ValueError if is_real else TypeError
        raise error(must_be(argument, f"a finite number {within}".rstrip(), value))


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    def check(self, argument: str, value: object) -> bool:
        return bool(Instance(bool, "True or False").check(argument, value))


@dataclass(frozen=True, slots=True)
class Instance:
    """A value of some types, which `expected` describes."""

    types: Any
    expected: str
    remedy: str = ""

    def check(self, argument: str, value: object) -> Any:
        if not isinstance(value, self.types):
            raise TypeError(must_be(argument, self.expected, value, self.remedy))
        return value


@dataclass(frozen=True, slots=True)
class OneOf(Generic[T]):
    """One of some options, or of the names that `noun` describes; unknown names raise a KeyError.

    >>> OneOf(["loglik", "aic", "bic"]).check("score", "BIC")
    Traceback (most recent call last):
    ValueError: score must be one of 'loglik', 'aic', 'bic'; got 'BIC'. Did you mean 'bic'?
    >>> OneOf(["buying", "safety"], "a feature").check("root", "safty")
    Traceback (most recent call last):
    KeyError: "root must be a feature; got 'safty'. Did you mean 'safety'?"
    """

    options: Collection[T]
    noun: str = ""
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def check(self, argument: str, value: object) -> T:
        if is_among(value, self.options):
            return cast("T", value)
        if not self.noun:
            expected = f"one of {listed(self.options)}"
            remedy = did_you_mean(value, self.options, self.elsewhere)
            raise ValueError(must_be(argument, expected, value, remedy))
        raise KeyError(must_be(argument, self.noun, value, options_sentence(value, self.options)))


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names, each at most once and, if `options` are given, each one of them.

    >>> Names().check("features", "ab")
    Traceback (most recent call last):
    TypeError: features must be a list of names; got 'ab'. Write ['ab'].
    >>> Names(["buying", "safety"], "columns of the data").check("features", ["safty"])
    Traceback (most recent call last):
    KeyError: "features must be columns of the data; got 'safty'. Did you mean 'safety'?"
    """

    options: Collection[Hashable] | None = None
    noun: str = "a list of names"
    filled: bool = False

    def check(self, argument: str, value: object) -> tuple[Hashable, ...]:
        names = tuple(ListOf("names", self.filled).check(argument, value))
        if not all(isinstance(name, Hashable) for name in names):
            raise TypeError(must_be(argument, "a list of names", value))
        if len(set(names)) < len(names):
            raise ValueError(must_be(argument, "a list of names that all differ", value))
        if self.options is not None:
            for name in names:
                OneOf(self.options, self.noun).check(argument, name)
        return names


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list, not empty if `filled`, or another one-axis collection; `noun` names its elements."""

    noun: str
    filled: bool = False

    def check(self, argument: str, value: object) -> list[Any]:
        if isinstance(value, str) and self.noun == "names":
            raise TypeError(must_be(argument, "a list of names", value, f"Write [{shown(value)}]."))
        if (
            isinstance(value, str | bytes | Mapping)
            or not isinstance(value, Iterable)
            or getattr(value, "ndim", 1) != 1
        ):
            raise TypeError(must_be(argument, f"a list of {self.noun}", value))
        elements = list(value)
        if self.filled and not elements:
            raise ValueError(must_be(argument, f"a list of {self.noun}, at least one", elements))
        return elements


@dataclass(frozen=True, slots=True)
class Optional(Generic[R]):
    """None, or a value that another check accepts."""

    other: Check[R]

    def check(self, argument: str, value: object) -> R | None:
        return None if value is None else self.other.check(argument, value)


def options_sentence(
    name: object, options: Collection[Hashable], elsewhere: Mapping[str, str] | None = None
) -> str:
    """Return a sentence with the options similar to a name or, if none is, with all options.

    ``elsewhere`` has a sentence for each name of other libraries that is not an
    option.
    """
    return did_you_mean(name, options, elsewhere) or f"Available: {listed(options)}."


def check_columns(
    names: Iterable[Hashable], options: Collection[Hashable], argument: str
) -> set[Hashable]:
    """Return names as a set, or raise a KeyError for absent columns."""
    existing = options if isinstance(options, set | dict) else set(options)
    names = list(names)
    try:
        chosen = set(names)
    except TypeError:
        for name in names:
            check_column_name(name, argument)
        raise
    if not chosen.issubset(existing):
        absent = [name for name in names if name not in existing]
        found = "; the data have no columns."
        if existing:
            found = f" in the data. {options_sentence(absent[0], options)}"
        raise KeyError(f"{argument}: no column {listed(absent)}{found}")
    return chosen


def check_feature_names(
    features: Iterable[Hashable], targets: Collection[Hashable], argument: str = "features"
) -> tuple[Hashable, ...]:
    """Return feature names as a tuple; they must be unique and must not include a target."""
    names = Names().check(argument, features)
    for target in targets:
        if target in names:
            raise ValueError(f"{argument} must not include the class; got {shown(target)}.")
    return names


def check_column_name(name: object, argument: str = "class_var") -> None:
    """Raise a TypeError for a value that cannot name a column."""
    if not isinstance(name, Hashable) or name is None or name is pd.NA:
        remedy = ""
        if isinstance(name, pd.Series):
            remedy = f" Write {shown(name.name)}."
        elif isinstance(name, pd.DataFrame):
            remedy = " The name of the class is the first argument, and the data are the second."
        raise TypeError(
            f"{argument} must be the name of a column; got {type(name).__name__}.{remedy}"
        )


def is_among(value: object, names: Collection[Hashable]) -> bool:
    """Whether a value is one of some names; arrays, tables and `pandas.NA` are not."""
    try:
        return value in frozenset(names)
    except TypeError:
        return False


Seed = int | np.random.Generator | None


def check_rng(rng: Seed) -> np.random.Generator:
    """Turn a seed, a Generator or None, which draws a fresh seed, into a Generator."""
    if isinstance(rng, bool) or not isinstance(rng, Integral | np.random.Generator | None):
        raise TypeError(must_be("rng", "a seed or a numpy.random.Generator", rng))
    if isinstance(rng, Integral) and int(rng) < 0:
        raise ValueError(must_be("rng", "a seed of at least 0", rng))
    return np.random.default_rng(rng)
