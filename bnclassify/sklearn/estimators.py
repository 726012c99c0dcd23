"""The classifier of one class for scikit-learn: pipelines, grid searches, whatever takes its estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..base.arrays import Array, log_normalize
from ..base.calls import check_arguments, parameters_of
from ..base.messages import shown, warn
from ..base.randomness import Seed
from ..frames.encoding import check_weights
from ..frames.numeric import labels_to_keep, read_numbers
from ..frames.schema import Dataset
from ..functions.decisions import check_costs, check_prior
from ..functions.learning import best_parameters, bnc, learn_structure
from ..functions.parameters import lp
from ..functions.prediction import predict, weigh_classes
from ..learners.by_name import find_learner
from ..learners.k_dependence import kdb_mi
from ..model.model import Model
from ..numbers.preparation import Preparing
from .inputs import CategoricalInput, as_labels, as_times, class_name, draw_seed


class BNCClassifier(ClassifierMixin, CategoricalInput):
    """A Bayesian network classifier as an estimator of scikit-learn.

    It does what `bnc` and `predict` do, and its ``model_`` is what `bnc` returns, so that
    every function of the package goes on from there: ``plot(clf.model_)``. As it comes, without
    arguments, it is the most accurate that the package has.

    Parameters
    ----------
    learner : str or callable, default "kdb_mi"
        A learner of structure, or its name, as in `bnc`.
    smooth : float, optional
        As in `lp`. With neither ``smooth`` nor ``lp_args``, tables back off, and what the kind of model
        takes is learned by leave-one-out: weights and the number of parents of a network, the power of
        an ensemble of networks. Where it takes neither, ``smooth`` is 1.
    dag_args : dict, optional
        Further arguments of the learner, such as ``{"score": "aic"}``. The greedy learners
        need a number of folds, ``{"k": 5}``. The ``kdbk`` of `kdb_mi` is 4 unless it is among these.
    lp_args : dict, optional
        Further arguments of `lp`, such as ``{"wanbia": True}`` or ``{"missing": "em"}``, or, without
        ``smooth``, all of them.
    discretize : str or None, default "averaged"
        Cut columns of numbers, integers among them, into intervals, as in `bnc`: "averaged" or
        "averaged5" with the learners that go with them, "mdlp", "mixed", "quantile" or "width" with any.
        So cut points are learned from what `fit` sees, and in cross-validation from nothing else.
    bins : int, default 5
        Number of intervals that "quantile", "width" and "mixed" make.
    min_count : int, optional
        Merge levels that are in fewer rows, as in `bnc`.
    handle_unknown : {"error", "missing"}, default "missing"
        What to do when predicting about a value that `fit` did not see: raise, or take it as
        missing. The categories of a column of type category count as seen.
    prior : dict or Series, optional
        The probability of each class where new rows come from, if it is another than in `fit`.
    costs : DataFrame, optional
        What it costs to predict a class of a row of another, ``costs.loc[actual, predicted]``: the
        label of least expected cost is predicted; probabilities stay as they are. Both are as in
        `bnclassify.predict`.
    random_state : int, numpy.random.Generator or numpy.random.RandomState, optional
        Seed of what the learner and `lp` draw at random: their ``rng``.

    Attributes
    ----------
    model_ : BNC, AODE or another model
        The model learned. It takes raw data as ``X`` is, but whole numbers as integers.
    discretizer_ : Discretizer or None
        Tells where ``model_`` cuts numbers; None if ``discretize`` is.
    classes_ : (classes,) array
        The labels that occur in ``y``, sorted.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : (features,) array of str
        Their names, if ``X`` is a DataFrame whose column names are all text.

    Notes
    -----
    ``X`` is a DataFrame or an array. Every column holds categories: those types that `encode`
    takes, and whole numbers of type float too, because that is what OrdinalEncoder and
    KBinsDiscretizer return. Numbers with fractions are measurements, and refused where ``discretize``
    is None. Else columns of numbers are cut, but for flags and whole numbers of at most ten values, which
    stay categories; those left with one level are left out, if there are others. Missing is NaN, None or
    pd.NA; what becomes of missing features `lp` says.

    In ``model_``, features are called as the columns of a DataFrame if all its names are text, else
    x0, x1 and so on by position. The class keeps the name of a Series ``y``, else it is called
    "class", with "_" after it where a feature has that name already. Its levels are ``classes_``,
    also where ``y`` is of type category with labels that do not occur or stand in another order.

    In cross-validation `fit` sees no more than the training part: make columns categories before, or
    leave ``handle_unknown`` at "missing", where rare values may be absent from a part. A grid with options
    of one learner is one of a list: ``[{"learner": ["nb"]}, {"learner": ["tan_cl"],
    "dag_args": [{"score": "aic"}, {"score": "bic"}]}]``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    >>> from bnclassify import load_car, modelstring
    >>> from bnclassify.sklearn import BNCClassifier
    >>> car = load_car()
    >>> X, y = car.drop(columns="class"), car["class"]
    >>> folds = StratifiedKFold(5, shuffle=True, random_state=0)
    >>> grid = {"learner": ["nb", "tan_cl"], "smooth": [0.1, 1]}
    >>> search = GridSearchCV(BNCClassifier(discretize=None), grid, cv=folds).fit(X, y)
    >>> search.best_params_
    {'learner': 'tan_cl', 'smooth': 0.1}
    >>> modelstring(search.best_estimator_.model_)
    '[class] [buying|class] [maint|buying:class] [safety|buying:class] [persons|safety:class]
     [lug_boot|safety:class] [doors|lug_boot:class]'

    Numbers, cut anew in each training part:

    >>> wines, cultivar = load_wine(return_X_y=True, as_frame=True)
    >>> print(round(cross_val_score(BNCClassifier(), wines, cultivar, cv=folds).mean(), 3))
    0.983
    """

    def __init__(
        self,
        learner: str | Callable[..., Model] = "kdb_mi",
        smooth: float | None = None,
        *,
        dag_args: Mapping[str, Any] | None = None,
        lp_args: Mapping[str, Any] | None = None,
        discretize: str | None = "averaged",
        bins: int = 5,
        min_count: int | None = None,
        handle_unknown: str = "missing",
        prior: Mapping[Any, float] | pd.Series[Any] | None = None,
        costs: pd.DataFrame | None = None,
        random_state: Seed | np.random.RandomState = None,
    ) -> None:
        self.learner = learner
        self.smooth = smooth
        self.dag_args = dag_args
        self.lp_args = lp_args
        self.discretize = discretize
        self.bins = bins
        self.min_count = min_count
        self.handle_unknown = handle_unknown
        self.prior = prior
        self.costs = costs
        self.random_state = random_state

    def fit(self, X: pd.DataFrame | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn structure and parameters.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Categories, missing values among them or not.
        y : (n,) array-like
            The class of each row, none missing.
        sample_weight : (n,) array-like of numbers, optional
            How often each row counts, 0 or more. Rows of weight 0 are left out. Where a column is cut or
            levels are merged, rows are repeated: weights are whole numbers, 10,000,000 in all at most.

        Returns
        -------
        BNCClassifier
            Itself.

        Raises
        ------
        TypeError, ValueError
            If a column holds no categories, weights are no whole numbers or too great where a column is
            cut or levels are merged, or what scikit-learn, the learner and `lp` raise.
        """
        state = self.__dict__.copy()
        try:
            self._learn(X, y, sample_weight)
        except BaseException:  # what was learned before stays whole, the names of its columns too
            self.__dict__ = state
            raise
        return self

    def predict(self, X: pd.DataFrame | ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Predict the class of each row.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Columns as in `fit`.

        Returns
        -------
        (n,) array
            Labels among ``classes_``, of tied ones the first.

        Raises
        ------
        TypeError, ValueError
            If columns are not those of `fit`, or a value was not seen and ``handle_unknown`` is "error".
        """
        check_is_fitted(self, "model_")
        frame, unseen = self._frame(X), self.handle_unknown
        labels = predict(self.model_, frame, unseen=unseen, prior=self.prior, costs=self.costs)
        return self.classes_[labels.cat.codes]

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> Array:  # noqa: N803
        """Predict the posterior probabilities of the classes.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Columns as in `fit`.

        Returns
        -------
        (n, classes) array
            Columns as ``classes_``, rows summing to 1.

        Raises
        ------
        TypeError, ValueError
            As `predict`.
        """
        check_is_fitted(self, "model_")
        frame, unseen = self._frame(X), self.handle_unknown
        return predict(self.model_, frame, prob=True, unseen=unseen, prior=self.prior).to_numpy()

    def predict_log_proba(self, X: pd.DataFrame | ArrayLike) -> Array:  # noqa: N803
        """Predict the logs of the posterior probabilities, exact where those are too small for a float.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Columns as in `fit`.

        Returns
        -------
        (n, classes) array
            Columns as ``classes_``.

        Raises
        ------
        TypeError, ValueError
            As `predict`.
        """
        check_is_fitted(self, "model_")
        frame, unseen = self._frame(X), self.handle_unknown
        return log_normalize(weigh_classes(self.model_, frame, unseen=unseen, prior=self.prior)[0])

    def _find_learner(self) -> Callable[..., Model]:
        """Return the learner, if it and `lp` take the arguments for them; else raise."""
        learner = find_learner(self.learner, "learner")
        for name in ("dag_args", "lp_args"):
            if not isinstance(getattr(self, name), Mapping | None):
                raise TypeError(f"{name}: expected a dict of arguments, got {shown(getattr(self, name))}")
        if "smooth" in (self.lp_args or {}):
            raise ValueError("lp_args: smooth is an argument of its own; write BNCClassifier(smooth=...)")
        check_arguments(learner, self.dag_args or {}, "dag_args", supplied=("class_var", "dataset"))
        check_arguments(lp, self.lp_args or {}, "lp_args", supplied=("x", "dataset", "smooth"))
        return learner

    def _learn(self, X: pd.DataFrame | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:  # noqa: N803
        """Set what `fit` learns."""
        learner = self._find_learner()
        labels = validate_data(self, y=as_labels(y))
        check_classification_targets(labels)
        frame = self._frame(X, reset=True)
        check_consistent_length(frame, labels)
        weights = None
        if sample_weight is not None:
            rows, weights = self._weigh_rows(sample_weight, X, frame)
            frame, labels = frame.iloc[rows].copy(), labels[rows]
        classes, codes = np.unique(labels, return_inverse=True)
        self._check_decisions(classes.tolist())
        if isinstance(X, pd.DataFrame) and isinstance(y, pd.Series) and y.name in X and y.equals(X[y.name]):
            warn(
                f"X: its column {shown(y.name)} is y itself, so nothing else will be learned; leave it "
                "out of X"
            )
        target = class_name(getattr(y, "name", None), frame.columns)
        frame[target] = pd.Categorical.from_codes(codes, categories=classes.tolist())
        if weights is None:
            model = self._learn_model(learner, target, frame, self._preparing)
        else:
            read = self._preparing.read(frame, target, frame.columns)
            preparing = self._preparing if read.numbers else Preparing(None, self.bins, self.min_count)
            model = self._learn_model(learner, target, replace(read, weights=weights), preparing)
        preparation = model.preparation
        self.classes_, self.model_ = classes, model
        self.discretizer_ = None if preparation is None else preparation.discretizer

    def _check_decisions(self, classes: list[Any]) -> None:
        """Raise unless what labels are chosen by fits the classes."""
        if self.prior is not None:
            check_prior(self.prior, classes)
        if self.costs is not None:
            check_costs(self.costs, classes)

    @property
    def _preparing(self) -> Preparing:
        """What is done to data before it is encoded."""
        return Preparing(self.discretize, self.bins, self.min_count)

    def _learn_model(
        self,
        learner: Callable[..., Model],
        target: str,
        data: pd.DataFrame | Dataset,
        preparing: Preparing,
    ) -> Model:
        rng: dict[str, Any] = {"rng": draw_seed(self.random_state)}
        defaults = {"kdbk": 4} if learner is kdb_mi else {}
        drawn = rng if "rng" in parameters_of(learner) else {}
        dag_args = {**defaults, **drawn, **(self.dag_args or {})}
        lp_args = {**({} if self.smooth is None else {"smooth": self.smooth}), **(self.lp_args or {})}
        if lp_args:
            return bnc(learner, target, data, dag_args=dag_args, **preparing._asdict(), **{**rng, **lp_args})
        structure, prepared = learn_structure(learner, target, data, dag_args, preparing)
        return lp(structure, prepared, **rng, **best_parameters(structure))

    def _weigh_rows(
        self,
        sample_weight: ArrayLike,
        X: Any,  # noqa: N803
        frame: pd.DataFrame,
    ) -> tuple[NDArray[np.intp], Array | None]:
        """Return the rows that count, and how often; where numbers are cut, repeated instead."""
        row_index = X.index if isinstance(X, pd.DataFrame) else frame.index
        weights = check_weights(sample_weight, row_index, "sample_weight")
        if not weights.any():
            raise ValueError("sample_weight: no row counts, for all weights are zero")
        rows = np.flatnonzero(weights)
        weights = weights[rows]
        if not self._goes_by_rows(frame.iloc[rows]):
            return rows, weights
        return np.repeat(rows, as_times(weights)), None

    def _goes_by_rows(self, frame: pd.DataFrame) -> bool:
        """Whether numbers are cut or levels merged, which repeats rows for their weights."""
        if self.min_count is not None or self.discretize is None:
            return self.min_count is not None
        columns = {name: read_numbers(column.array, name, "X", must=False) for name, column in frame.items()}
        return any(values is not None and not labels_to_keep(values) for values in columns.values())
