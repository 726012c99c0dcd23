"""Inputs of estimators for scikit-learn: features, labels, weights, a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..frames import (
    NUMBERS,
    ArrayLike,
    arrays_and_types,
    check_unique,
    foreign_to_pandas,
    is_partitioned,
    value_type,
)
from ..model import Model
from ..parameters import lp
from ..tools.arrays import Array, ArrayOf
from ..tools.calls import check_arguments
from ..tools.checks import Instance, OneOf, Seed, Unseen, must_be, options_sentence
from ..tools.foreign_words import ARGUMENTS_ELSEWHERE
from ..tools.messages import listed, needs_rows_error, shown, warn

_DICTS = ("dag_args", "lp_args")


class CategoricalInput(BaseEstimator):
    """Base of estimators that accept a data frame or an array of categories."""

    handle_unknown: Unseen
    dag_args: Mapping[str, Any] | None
    lp_args: Mapping[str, Any] | None
    _names: list[Any]

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        """Return an estimator, or raise a TypeError for unknown parameters, as in scikit-learn."""
        known: list[str] = cls._get_param_names()
        for name in parameters:
            if name not in known:
                options = options_sentence(name, known, ARGUMENTS_ELSEWHERE)
                raise TypeError(f"{cls.__name__} has no parameter {shown(name)}. {options}")
        estimator: Self = super().__new__(cls)
        return estimator

    def __getattr__(self, name: str) -> Any:
        """Raise an error, which names a function of the package with this name."""
        functions = import_module(__name__.partition(".")[0])
        hint = f" Call bnclassify.{name}(x, ...)." if name in functions.__all__ else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}.{hint}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = tags.input_tags
        inputs.categorical = inputs.string = inputs.allow_nan = True
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters and, if ``deep``, arguments in dicts, as ``dag_args__score``."""
        params: dict[str, Any] = super().get_params(deep)
        for name in _DICTS if deep else ():
            inner = params.get(name)
            if isinstance(inner, Mapping):
                params |= {f"{name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``dag_args__score`` sets one of the arguments in ``dag_args``."""
        known = {*_DICTS} & {*self._get_param_names()}
        nested = {key for key in params if "__" in key and key.partition("__")[0] in known}
        super().set_params(**{key: value for key, value in params.items() if key not in nested})
        for key in nested:
            name, _, argument = key.partition("__")
            setattr(self, name, {**(getattr(self, name) or {}), argument: params[key]})
        return self

    def _check_arguments(self, learner: Callable[..., Model], target: str) -> None:
        """Raise an error for arguments that are unknown or supplied by the estimator."""
        for name in _DICTS:
            Instance(Mapping | None, "a dict of arguments").check(name, getattr(self, name))
        check_arguments(learner, self.dag_args or {}, "dag_args", supplied=(target, "dataset"))
        check_arguments(lp, self.lp_args or {}, "lp_args", supplied=("x", "dataset", "smooth"))

    def _frame_as_in_fit(self, X: Any, *, reset: bool = False) -> pd.DataFrame:
        """Return a new data frame with names and types as in `fit`, which resets names."""
        OneOf(("error", "missing")).check("handle_unknown", self.handle_unknown)
        if is_partitioned(X):
            raise needs_rows_error("X")
        X = foreign_to_pandas(X)
        if not reset and isinstance(X, pd.Series) and set(X.index) >= set(self._names):  # one row
            X = X[self._names].to_frame().T
        if isinstance(X, np.ma.MaskedArray):  # of which scikit-learn ignores the mask
            X = np.where(np.ma.getmaskarray(X), np.nan, np.asarray(X, dtype=object))
        if isinstance(X, pd.DataFrame):
            check_unique(list(X.columns), "X")
            frame: pd.DataFrame = validate_data(self, X, reset=reset, skip_check_array=True)
            if not reset and list(X.columns) != self._names and set(X.columns) == set(self._names):
                in_order = f"columns in the order of fit, {listed(self._names)}"
                raise ValueError(must_be("X", f"a table with {in_order}", list(X.columns)))
            if reset and not frame.size:
                raise ValueError(
                    f"X must be a table with rows and columns; got shape {frame.shape}."
                )
        else:
            checks = {"reset": reset, "ensure_all_finite": "allow-nan"}
            checks["ensure_min_samples"] = int(reset)
            array: ArrayOf[Any] = validate_data(self, X, dtype=None, **checks)
            # NumPy converts NaN in lists to the text "nan".
            if array.dtype.kind == "U" and not hasattr(X, "dtype"):
                array = validate_data(self, X, dtype=object, **checks)
            frame = pd.DataFrame(array)
        arrays, _ = arrays_and_types(frame)
        columns = list(map(_whole_numbers_as_integers, arrays))
        if reset:  # other libraries change the names in `feature_names_in_`
            self._names, self._are_text = self._feature_names_of(X), list(map(_is_text, arrays))
        elif self.handle_unknown == "missing":
            columns = self._without_numbers_for_text(columns)
        frame = frame.reset_index(drop=True)
        if any(new is not old for new, old in zip(columns, arrays, strict=True)):
            frame = pd.DataFrame(dict(enumerate(columns)))
        return frame.set_axis(list(self._names), axis="columns")

    def _feature_names_of(self, X: Any) -> list[Any]:
        """Return the names of features in `fit`: a frame's text or integers, or x0 to xn."""
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_)
        if isinstance(X, pd.DataFrame):
            names = list[Any](X.columns)
            if all(isinstance(name, int) and not isinstance(name, bool) for name in names):
                return names
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _rows_to_predict(self, X: Any) -> pd.DataFrame:
        """Return rows to predict, with columns as in `fit`, or raise before `fit`."""
        check_is_fitted(self, "model_")
        return self._frame_as_in_fit(X)

    def _without_numbers_for_text(self, columns: list[ArrayLike]) -> list[ArrayLike]:
        """Return columns with missing values in place of numbers where the training data have text.

        Some libraries try out an estimator with a row of zeros.
        """
        pairs = zip(columns, self._are_text, strict=True)
        wrong = list[int]()
        for i, (new, text) in enumerate(pairs):
            if text and value_type(new) in NUMBERS and not pd.isna(new).all():
                wrong.append(i)
        if wrong and len(columns[0]) > 1:
            warn(
                f"X has numbers in {listed([self._names[i] for i in wrong])}, and text in "
                "training, so they are treated as missing. Check the order of the columns."
            )
        missing = np.full(len(columns[0]) if columns else 0, None)
        return [missing if i in wrong else column for i, column in enumerate(columns)]


def _is_text(column: ArrayLike) -> bool:
    values = column.categories.array if isinstance(column, pd.Categorical) else column
    return value_type(values) == "string"


def _whole_numbers_as_integers(column: ArrayLike) -> ArrayLike:
    """Return whole numbers of type float, which encoders return, as integers."""
    if pd.api.types.infer_dtype(column, skipna=True) not in ("floating", "mixed-integer-float"):
        return column
    numbers = pd.Series(column).to_numpy(dtype=np.float64, na_value=np.nan)
    known: Array = numbers[~np.isnan(numbers)]
    # From 2⁵³ on, floats skip some whole numbers.
    is_whole = (known == np.round(known)).all() and np.abs(known).max(initial=0) < 2**53
    return pd.Series(numbers).astype("Int64").array if is_whole else column


def seed_from_random_state(random_state: Seed | np.random.RandomState) -> Seed:
    """Return a seed or Generator; for a RandomState, a seed drawn from it."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state


def labels_as_categories(y: Any, classes: ArrayOf[Any], codes: ArrayOf[Any]) -> pd.Categorical:
    """Return labels as categories, which are in order if those of ``y`` are, and sorted if not."""
    labels, dtype = classes.tolist(), getattr(y, "dtype", None)
    made = pd.Categorical.from_codes(codes, categories=labels)
    if not isinstance(dtype, pd.CategoricalDtype) or not dtype.ordered:
        return made
    in_order = [label for label in dtype.categories.tolist() if label in labels]
    return pd.Categorical(made, categories=in_order, ordered=True)


def checked_labels(y: Any) -> ArrayLike:
    """Return labels as an array of NumPy, or raise for missing, multiple or mixed labels."""
    _, *columns = getattr(y, "shape", None) or (0,)
    if columns and columns[0] > 1:
        raise ValueError(
            f"y must be a 1d array with one class per row; got {columns[0]} columns. For several "
            "class variables, use BNCMultiClassifier."
        )
    of_pandas = pd.Series | pd.Index | pd.api.extensions.ExtensionArray
    labels = y.to_numpy() if isinstance(y, of_pandas) else y
    missing = 0 if y is None else np.count_nonzero(pd.isna(labels))
    if missing:
        raise ValueError(f"y must have no missing values; got {missing}. Drop these rows.")
    if getattr(labels, "dtype", None) != np.dtype(object) or np.ndim(labels) != 1:
        return labels
    # All bools, or all numbers, in their own type.
    labels = pd.Series(labels).infer_objects().to_numpy()
    types = {type(label).__name__ for label in labels}
    if labels.dtype == object and types - {"str"}:
        raise ValueError(
            f"y must be text, integers or bools; got {listed(sorted(types))}. Convert it "
            "with y.astype(str)."
        )
    return labels


def unused_class_name(preferred: object, columns: pd.Index[Any]) -> str:
    """Return the preferred name of the class, or one that no feature has."""
    if isinstance(preferred, str) and preferred not in columns:
        return preferred
    name = "class"
    while name in columns:
        name += "_"
    return name
