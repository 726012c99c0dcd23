"""The classifier of several class variables as an estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, MultiOutputMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from ..frames import check_not_reordered, check_weights, foreign_to_pandas
from ..model import Model
from ..numbers import discretize
from ..parameters import lp
from ..prediction import predict
from ..several.multidimensional import MultiModel, chain, maode, mbc
from ..tools.arrays import Array, ArrayOf
from ..tools.calls import parameters_of, showing_progress
from ..tools.checks import Cutting, Flag, Instance, OneOf, Seed, Unseen, must_be
from ..tools.messages import listed
from ..tools.parallel import using_jobs
from .inputs import CategoricalInput, seed_from_random_state

_LEARNERS: dict[str, Callable[..., Model]] = {"chain": chain, "maode": maode, "mbc": mbc}
_METHODS = ("quantile", "width")


@dataclass(eq=False, repr=False)
class BNCMultiClassifier(MultiOutputMixin, ClassifierMixin, CategoricalInput):
    """A classifier of several class variables as an estimator of scikit-learn.

    `y` has one column per class variable. `mbc`, `maode` or `chain` and `lp`
    learn its ``model_``.

    Parameters
    ----------
    learner : {"chain", "maode", "mbc"} or callable, default "chain"
        Learner of a structure with several class variables.
    smooth : float, default 1
        As in `lp`.
    dag_args : dict, optional
        Additional arguments of the learner, such as ``{"learner": "tan_cl"}``
        of a chain.
    lp_args : dict, optional
        Additional arguments of `lp`. By default, a chain of naive Bayes models,
        the default structure, has ``{"held_out": "weights"}``: weights by
        held-out rows, for more accurate probabilities.
    discretize : {"quantile", "width"} or None, default "quantile"
        Method that discretizes numeric columns.
    bins : int, default 4
        Number of intervals.
    joint : bool, default False
        If True, `predict` returns the most probable combination of labels. By
        default, it returns the most probable label of each class variable.
    handle_unknown : {"error", "missing"}, default "missing"
        As in `BNCClassifier`.
    random_state : int, numpy.random.Generator or numpy.random.RandomState, optional
        Seed of the learner and of `lp`: their ``rng``.
    n_jobs : int, optional
        As in `BNCClassifier`.
    verbose : bool, optional
        As in `BNCClassifier`.

    Attributes
    ----------
    model_ : MBC, MAODE, Chain or ChainEnsemble
        The fitted model.
    discretizer_ : Discretizer or None
        Discretizes data for ``model_``.
    classes_ : list of arrays
        Labels of each class variable, sorted; a single array for a single class
        variable.
    n_outputs_ : int
        The number of class variables.
    n_features_in_ : int
        Number of columns of ``X``.

    Examples
    --------
    >>> from bnclassify import load_voting
    >>> from bnclassify.sklearn import BNCMultiClassifier
    >>> votes = load_voting().dropna()
    >>> X, y = votes.drop(columns=["crime", "mx_missile"]), votes[["crime", "mx_missile"]]
    >>> clf = BNCMultiClassifier("mbc").fit(X, y)
    >>> clf.predict(X.head(2))
    array([['y', 'n'],
           ['y', 'n']], dtype=object)
    >>> round(clf.score(X, y), 2)
    0.76
    """

    learner: str | Callable[..., Model] = "chain"
    smooth: float = 1
    _: KW_ONLY
    dag_args: Mapping[str, Any] | None = None
    lp_args: Mapping[str, Any] | None = None
    discretize: Cutting | None = "quantile"
    bins: int = 4
    joint: bool = False
    handle_unknown: Unseen = "missing"
    random_state: Seed | np.random.RandomState = None
    n_jobs: int | None = None
    verbose: bool | None = None

    def fit(self, X: pd.DataFrame | ArrayLike, y: pd.DataFrame | ArrayLike) -> Self:
        """Learn structure and parameters.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Categorical and numeric columns, which may contain missing values.
        y : (n, class variables) DataFrame or array-like
            Labels, without missing values. With a single class variable, all
            results have the form of single-output classifiers.

        Returns
        -------
        BNCMultiClassifier
            The fitted estimator.
        """
        learner, X, y = self._find_learner(), foreign_to_pandas(X), foreign_to_pandas(y)
        Flag().check("joint", self.joint)
        values = validate_data(self, y=_checked_multi_labels(y), multi_output=True)
        labels = _columns_of_labels(values, y)
        check_not_reordered(y, X)
        frame = self._frame_as_in_fit(X, reset=True)
        check_consistent_length(frame, labels)
        discretizer = None
        if self.discretize is not None:
            OneOf(_METHODS).check("discretize", self.discretize)
            frame, discretizer = discretize(frame, method=self.discretize, bins=self.bins)
        names = list(labels.columns)
        are_distinct = len({*names, *frame.columns}) == len(names) + len(frame.columns)
        if not are_distinct or not all(isinstance(name, str) for name in names):
            prefix = "y"
            while any(f"{prefix}{j}" in frame.columns for j in range(len(names))):
                prefix += "_"
            names = [f"{prefix}{j}" for j in range(len(names))]
        classes = []
        for name, (_, column) in zip(names, labels.items(), strict=True):
            levels, codes = np.unique(column.to_numpy(), return_inverse=True)
            frame[name] = pd.Categorical.from_codes(codes, categories=levels.tolist())
            classes.append(levels)
        rng = {"rng": seed_from_random_state(self.random_state)}
        drawn = rng if "rng" in parameters_of(learner) else {}
        with showing_progress(self.verbose, "verbose"), using_jobs(self.n_jobs):
            structure = learner(names, frame, **{**drawn, **(self.dag_args or {})})
            expected = "a learner of a structure with several class variables"
            Instance(MultiModel, expected).check("learner", structure)
            lp_args = {**rng, "smooth": self.smooth, **self._arguments_of_lp()}
            model = lp(structure, frame, **lp_args)
        self.model_, self.discretizer_ = model, discretizer
        self.classes_, self.n_outputs_ = classes if len(classes) > 1 else classes[0], len(classes)
        return self

    def _arguments_of_lp(self) -> Mapping[str, Any]:
        """Return the arguments of `lp`, by default with weights for a chain of naive Bayes."""
        is_default = self.lp_args is None and self.learner == "chain" and not self.dag_args
        return {"held_out": "weights"} if is_default and self.smooth > 0 else self.lp_args or {}

    def predict(self, X: pd.DataFrame | ArrayLike) -> ArrayOf[Any]:
        """Predict the labels of each row, with one column per class variable."""
        frame = self._discretized_rows(X)
        predicted = predict(self.model_, frame, unseen=self.handle_unknown, joint=self.joint)
        pairs = zip(self._labels_of_classes(), predicted.items(), strict=True)
        labels = [levels[column.cat.codes] for levels, (_, column) in pairs]
        together: ArrayOf[Any] = np.array(labels, dtype=np.result_type(*labels))
        return together.T if self.n_outputs_ > 1 else together[0]

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> list[Array] | Array:
        """Predict the posterior probabilities of each class variable, as a list of arrays.

        The columns of an array are in the order of ``classes_``.
        """
        frame = self._discretized_rows(X)
        shares = predict(self.model_, frame, prob=True, unseen=self.handle_unknown).to_numpy()
        ends = np.cumsum([len(levels) for levels in self._labels_of_classes()])
        by_class = np.split(shares, ends[:-1].tolist(), axis=1)
        return by_class if self.n_outputs_ > 1 else by_class[0]

    def score(self, X: pd.DataFrame | ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the share of rows, weighted by ``sample_weight``, with all labels correct."""
        X, y = foreign_to_pandas(X), foreign_to_pandas(y)
        check_not_reordered(y, X)
        predicted = self.predict(X).reshape(-1, self.n_outputs_)
        if sample_weight is not None:
            rows = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(predicted))
            sample_weight = check_weights(sample_weight, rows, "sample_weight", "X")
        labels = _columns_of_labels(_checked_multi_labels(y), y).to_numpy()
        return float(np.average((predicted == labels).all(axis=1), weights=sample_weight))

    def _labels_of_classes(self) -> list[ArrayOf[Any]]:
        classes: Any = self.classes_
        return classes if self.n_outputs_ > 1 else [classes]

    def _find_learner(self) -> Callable[..., Model]:
        """Return the learner, or raise an error for unknown arguments."""
        learner = _LEARNERS.get(self.learner) if isinstance(self.learner, str) else self.learner
        if not callable(learner):
            raise ValueError(
                must_be("learner", f"a function or one of {listed(_LEARNERS)}", self.learner)
            )
        self._check_arguments(learner, "class_vars")
        return learner

    def _discretized_rows(self, X: Any) -> pd.DataFrame:
        frame = self._rows_to_predict(X)
        return frame if self.discretizer_ is None else self.discretizer_(frame)


def _checked_multi_labels(y: object) -> object:
    """Return labels, those of pandas as an array, or raise an error if any is missing."""
    values = y.to_numpy() if hasattr(y, "to_numpy") else y
    missing = 0 if y is None else np.count_nonzero(pd.isna(np.asarray(values, dtype=object)))
    if missing:
        raise ValueError(f"y must have no missing values (NaN); got {missing}. Drop these rows.")
    return values


def _columns_of_labels(values: object, y: object) -> pd.DataFrame:
    """Return labels as a data frame with one column per class variable, with the given names."""
    table = np.asarray(values)
    labels = pd.DataFrame(table if table.ndim > 1 else table[:, None]).infer_objects()
    for _, column in labels.items():
        check_classification_targets(column.to_numpy())
    return labels.set_axis(y.columns, axis="columns") if isinstance(y, pd.DataFrame) else labels
