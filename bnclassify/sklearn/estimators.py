"""Estimators of scikit-learn: classifiers of one class variable and of several; transformers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from importlib import import_module
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MultiOutputMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..accessors import check_has_joint_distribution, check_model
from ..additive.effect_table import EffectTable
from ..additive.fit import fit_effects
from ..dataset import Dataset
from ..elimination import numeric_columns_of
from ..fitting.bnc import bnc, check_learner_uses_groups
from ..fitting.structure import relearn_raw
from ..folds import training_data_of_models
from ..frames import (
    NUMBERS,
    Meaning,
    arrays_and_types,
    check_not_reordered,
    check_same_index,
    check_unique,
    check_weights,
    foreign_to_pandas,
    is_partitioned,
    open_data,
    rows_as_cases,
    value_type,
    with_groups_as_cases,
)
from ..frames import ArrayLike as ColumnArray
from ..judge.summary import mean_contributions
from ..model import (
    Model,
    Step,
    check_class_prior,
    contains_given,
    log_prior_ratio,
    with_proportions_again,
)
from ..numbers import BY_CLASS, Preparing, discretize, merge_rare
from ..parameters import lp
from ..prediction import check_costs, predict, unnormalized_log_posteriors
from ..several.multidimensional import MultiModel, chain, maode, mbc
from ..structure import LEARNERS, find_learner
from ..tools.arrays import Array, ArrayOf, Positions, log_normalize
from ..tools.calls import check_arguments, parameters_of, showing_progress
from ..tools.checks import (
    AnyCutting,
    Cutting,
    Flag,
    Instance,
    Learner,
    OneOf,
    Seed,
    Unseen,
    must_be,
    options_sentence,
)
from ..tools.foreign_words import ARGUMENTS_ELSEWHERE
from ..tools.messages import listed, needs_rows_error, shown, warn
from ..tools.parallel import using_jobs

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

    def _without_numbers_for_text(self, columns: list[ColumnArray]) -> list[ColumnArray]:
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


def _is_text(column: ColumnArray) -> bool:
    values = column.categories.array if isinstance(column, pd.Categorical) else column
    return value_type(values) == "string"


def _whole_numbers_as_integers(column: ColumnArray) -> ColumnArray:
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


def checked_labels(y: Any) -> ColumnArray:
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


PREPARATION = ("discretize", "bins", "min_count", "missing_level")
"""The arguments of `bnc` that prepare raw data."""


def estimation_step(x: Model) -> Step | None:
    """Return the step that estimated the parameters of a model, before proportions were given."""
    by = None if x.recipe is None else x.recipe.parameters
    if by is not None and by.function is with_proportions_again:
        step: Step = by.settings["parameters"]
        return step
    return by


def estimator_arguments(x: Model) -> dict[str, Any]:
    """Return the arguments of an estimator that repeats the recipe of a model."""
    if not x.one_class:
        raise TypeError(
            f"x must have one class variable; got {type(x).__name__}. Use BNCMultiClassifier."
        )
    recipe = x.recipe
    by, given = estimation_step(x), x.class_proportions
    prior: dict[str, Any] = {}
    if given is not None:
        prior["prior"] = dict[Any, Any](zip(x.known_levels[-1], given.shares, strict=True))
    if by is not None and by.function is fit_effects:
        found = {name: by.settings[name] for name in ("pairs", "missing_level", "min_count")}
        if found["missing_level"] is True:
            found["missing_level"] = "auto"
        draws = by.settings["draws"]
        return found | ({"interval": True, "draws": draws} if draws else {}) | prior
    if recipe is None or (x.fitted and (by is None or by.function is not lp)):
        how = "no recipe" if recipe is None else "tables without a recipe"
        how = how if by is None else f"those of {by}"
        raise ValueError(
            f"x must have parameters that lp estimated, or none; got {how}. Learn it with bnc."
        )
    step, lp_args = recipe.structure, dict(by.settings) if by else {}
    dag_args, steps = dict(step.settings), {"discretize": None, "missing_level": None}
    learner: Any = step.name if step.name in LEARNERS else step.function
    if step.function is relearn_raw:  # with the preparation of raw data
        steps = {name: step.settings[name] for name in PREPARATION}
        learner, dag_args = step.settings["learner"], dict(step.settings["dag_args"])
    if isinstance(dag_args.get("parents"), tuple):  # of anb
        dag_args["parents"] = dict(dag_args["parents"])
    smooth = lp_args.pop("smooth", None)
    arguments = {"dag_args": dag_args or None, "lp_args": lp_args or None}
    return {"learner": learner, "smooth": smooth, **arguments, **steps, **prior}


_NEED_COMPLETE_ROWS = (LEARNERS["hc"], LEARNERS["ban"])
"""Learners that raise an error if values are missing, which are then a level."""

_MOST_ROWS = 200
"""Number of training rows from which importances are computed."""

_NO_ROWS = "feature_importances_ must be asked of an estimator with training rows. Call fit first."


def _are_all_text(labels: Iterable[Hashable]) -> bool:
    return all(isinstance(label, str) for label in labels)


@dataclass(eq=False, repr=False)
class BNCClassifier(ClassifierMixin, CategoricalInput):
    """A Bayesian network classifier as an estimator of scikit-learn.

    It calls `bnc` and `predict`. Its ``model_`` is a model of the package, so
    all functions of the package can be used with it, such as ``plot(clf)``.

    Parameters
    ----------
    learner : str, callable or EffectTable, optional
        Learner of the structure of a network, or its name, as in `bnc`. By
        default, a sum of effects is fitted. If the learner is a sum of effects,
        for example a monotone one or a scorecard, `fit` repeats its recipe and
        does not use the other arguments.
    smooth : float, optional
        As in `lp`, for a network.
    dag_args : dict, optional
        Additional arguments of the learner, such as ``{"score": "aic"}``. The
        greedy learners require a number of folds, ``{"k": 5}``.
    lp_args : dict, optional
        Additional arguments of `lp`, such as ``{"wanbia": True}`` or
        ``{"missing": "em"}``. With ``{"numbers": "gaussian"}`` and
        ``discretize=None``, numeric columns are kept as numbers.
    discretize, bins, min_count, missing_level : optional
        As in `bnc`. With "auto", numeric columns are also discretized if a
        prior is given, and missing values are a level for "hc" and "ban", which
        need complete rows.
    handle_unknown : {"error", "missing"}, default "missing"
        What to do with a value that did not occur in `fit`: raise an error, or
        treat it as missing, with a warning if these are more than a tenth of
        the known values of a column, or if some read like a level. All
        categories of a categorical column are known. A column of another type
        is always an error.
    prior, costs : optional
        As in `bnclassify.predict`. Functions that accept the estimator in place
        of a model use ``model_`` with this prior. Costs change labels, not
        probabilities; `to_sql` writes them as a column ``decision``.
    pairs : "auto", int or list of pairs, default "auto"
        The effects of pairs of features in the sum, as in `bnc`.
    interval, draws : bool and int, default False and 20
        Whether to keep draws for intervals of posteriors, and their number, as
        in `bnc`.
    weights_are : {"frequencies", "cases"}, optional
        Whether whole weights in `fit` are numbers of equal rows, or each row is
        a case; see `fit`.
    random_state : int, numpy.random.Generator or numpy.random.RandomState, optional
        Seed of everything that is drawn at random: ``rng`` of the learner and
        of `lp`. In the sum of effects, nothing is.
    n_jobs : int, optional
        Number of tasks of a learner that run at the same time, as in `cv`.
    verbose : bool, optional
        Whether to show a progress bar; by default after 3 seconds, in an
        interactive session.

    Attributes
    ----------
    model_ : BNC, AODE or another model
        The fitted model. Its class has the name of the Series `y`, or "class",
        and its features those of the DataFrame if these are text or integers,
        or x0, x1, ...
    discretizer_ : Discretizer or None
        The cut points of ``model_``; None if `discretize` is None.
    feature_importances_ : (features,) array
        Mean absolute contributions of the features to the log odds, as
        proportions.
    classes_ : (classes,) array
        Labels that occur in `y`, sorted. In ``model_``, the labels of an
        ordered categorical keep their order.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : (features,) array of str
        Names of the columns, if `X` is a DataFrame and all names are text.

    See Also
    --------
    bnclassify.bnc : Learn a model from a data frame, without scikit-learn.
    BNCMultiClassifier : The classifier of several class variables.

    Notes
    -----
    Text, bool and categorical columns are categorical, as are numbers with two
    values. Other numeric columns are discretized. A column with a single
    interval is dropped unless it is the only column. In a network, whole
    numbers with at most ten values stay categories, even of type float, the
    output of OrdinalEncoder and KBinsDiscretizer. NaN, None and pd.NA are missing values. In grids,
    ``dag_args__score`` is the argument `score` in ``dag_args``. `score` returns
    the accuracy.

    Examples
    --------
    Fit, predict a woman of whom two measurements are known, and ask for the
    strongest reason:

    >>> import pandas as pd
    >>> from bnclassify import explain, load_pima
    >>> from bnclassify.sklearn import BNCClassifier
    >>> women = load_pima()
    >>> X, y = women.drop(columns="diabetes"), women["diabetes"]
    >>> clf = BNCClassifier().fit(X, y)
    >>> bea = pd.DataFrame({"age": [51], "glucose": [171]}).reindex(columns=X.columns)
    >>> clf.predict_proba(bea).round(1)
    array([[0.2, 0.8]])
    >>> explain(clf.model_, bea.iloc[0], sort=True).index[0]
    'glucose'

    A grid search over learners:

    >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
    >>> from bnclassify import load_car
    >>> car = load_car()
    >>> X, y = car.drop(columns="class"), car["class"]
    >>> folds = StratifiedKFold(5, shuffle=True, random_state=0)
    >>> grid = {"learner": ["nb", "tan_cl"], "smooth": [0.1, 1]}
    >>> GridSearchCV(BNCClassifier(discretize=None), grid, cv=folds).fit(X, y).best_params_
    {'learner': 'tan_cl', 'smooth': 0.1}
    """

    learner: Learner | Callable[..., Model] | None = None
    smooth: float | None = None
    _: KW_ONLY
    dag_args: Mapping[str, Any] | None = None
    lp_args: Mapping[str, Any] | None = None
    discretize: AnyCutting | Literal["auto"] | None = "auto"
    bins: int = 5
    min_count: int | None = None
    missing_level: bool | Sequence[Hashable] | Literal["auto"] | None = "auto"
    handle_unknown: Unseen = "missing"
    prior: Mapping[Any, float] | pd.Series[Any] | None = None
    costs: pd.DataFrame | None = None
    pairs: Any = "auto"
    interval: bool = False
    draws: int = 20
    weights_are: Meaning | None = None
    random_state: Seed | np.random.RandomState = None
    n_jobs: int | None = None
    verbose: bool | None = None

    @classmethod
    def from_model(cls, x: Model) -> Self:
        """Return an estimator that learns as a model did, as ``as_mlr`` in R, and predicts as it.

        Parameters
        ----------
        x : BNC, AODE or another model
            A model of `bnc`, or of a learner and `lp`, which `load` may have
            read from a file, or a table of effects, also made monotone or
            rounded to a scorecard. Without parameters, `fit` estimates those of
            `bnc`.

        Returns
        -------
        BNCClassifier
            If `x` has parameters, the estimator is fitted: its ``model_`` is
            `x`, and `X` has the columns of the training data.
            ``feature_importances_`` requires `fit`, because a model contains no
            rows.

        Raises
        ------
        TypeError, ValueError
            If `x` is not a model of one class variable, or its recipe is not a
            learner followed by `lp`.

        Examples
        --------
        >>> from bnclassify import load_car, lp, tan_cl
        >>> from bnclassify.sklearn import BNCClassifier
        >>> car = load_car()
        >>> BNCClassifier.from_model(lp(tan_cl("class", car, score="aic"), car, smooth=1))
        BNCClassifier(dag_args={'score': 'aic'}, discretize=None, learner='tan_cl',
                      missing_level=None, smooth=1)
        """
        by = estimation_step(check_model(x))
        is_made = isinstance(x, EffectTable) and (by is None or by.function is not fit_effects)
        estimator = cls(x) if is_made else cls(**estimator_arguments(x))
        if not x.fitted:
            return estimator
        if x.recipe is None:
            raise ValueError("x must have a recipe; got none. Learn it with bnc.")
        names = [name for name in x.training_columns or x.features if name != x.class_var]
        numeric = {*x.discretizer.columns, *x.densities}
        texts = [v for v in x.features if v not in numeric and _are_all_text(x.levels_by_name[v])]
        estimator._names, estimator.n_features_in_ = names, len(names)
        estimator._are_text = [name in texts for name in names]
        if _are_all_text(names):
            estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.classes_, estimator.model_ = np.unique(np.array(x.known_levels[-1])), x
        estimator.discretizer_ = x.preparation.discretizer
        return estimator

    @property
    def _positions_in_model_classes(self) -> Positions:
        """The place of each of ``classes_`` among the classes of the model."""
        labels = self.model_.known_levels[-1]
        return np.array([labels.index(label) for label in self.classes_.tolist()])

    def fit(
        self,
        X: pd.DataFrame | ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn structure and parameters.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Categorical and numeric columns, which may contain missing values.
        y : (n,) array-like
            Class of each row, without missing values.
        sample_weight : (n,) array-like of numbers, optional
            Weight of each row, at least 0, such as survey weights. Rows of
            weight 0 are ignored. If a weight has a fraction or a feature is a
            number, each row is a case, and equal weights have no effect. If
            not, weights are numbers of equal rows, also if all are equal.
            `weights_are` overrides this.
        groups : (n,) array-like, optional
            Label of the group of each row, such as a patient with several rows.
            The rows of a group are held out together, as in `bnc`.

        Returns
        -------
        BNCClassifier
            The fitted estimator.

        Raises
        ------
        TypeError, ValueError
            If `y` has missing values, other rows than `X` or its index in
            another order, or an argument of the estimator is not valid.

        Warns
        -----
        UserWarning
            If `X` contains the class, and in the cases of `bnc`.
        """
        learner, X, y = self._find_learner(), foreign_to_pandas(X), foreign_to_pandas(y)
        labels: ArrayOf[Any] = validate_data(self, y=checked_labels(y))
        check_classification_targets(labels)
        check_not_reordered(y, X)
        frame = self._frame_as_in_fit(X, reset=True)
        check_consistent_length(frame, labels, groups)
        if isinstance(groups, pd.Series):
            if isinstance(X, pd.DataFrame):
                check_same_index(groups, X.index, "groups", "X")
            groups = groups.reset_index(drop=True)
        cases = None if groups is None else with_groups_as_cases(open_data(frame), groups).cases
        if groups is not None and learner is not None:
            check_learner_uses_groups(learner, self.lp_args)
        weights = None
        if sample_weight is not None:
            row_index = X.index if isinstance(X, pd.DataFrame) else frame.index
            weights = check_weights(sample_weight, row_index, "sample_weight", "X")
            if not weights.any():
                raise ValueError("sample_weight must have a weight greater than 0; got zeros.")
            rows = np.flatnonzero(weights)
            frame, labels, weights = frame.iloc[rows].copy(), labels[rows], weights[rows]
            cases = None if cases is None else cases[rows]
        classes, codes = np.unique(labels, return_inverse=True)
        self._check_prior_and_costs(classes.tolist())
        if isinstance(X, pd.DataFrame) and isinstance(y, pd.Series):
            name: Any = y.name
            if name in X and y.equals(X[name]):
                warn(f"X has the class as its column {shown(name)}. Drop it from X.")
        target = self._name_of_class(y, frame)
        column, dtype = (
            pd.Categorical.from_codes(codes, classes.tolist()),
            getattr(y, "dtype", None),
        )
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
            in_order = [label for label in dtype.categories.tolist() if label in classes]
            column = pd.Categorical(column, categories=in_order, ordered=True)
        frame[target] = column
        data: pd.DataFrame | Dataset = frame
        preparing = self._preparation_settings
        if weights is not None or cases is not None:
            data, preparing = self._encode_training_rows(frame, target, weights, cases)
        model = self._learn_model(learner, target, data, preparing)
        some = np.linspace(0, len(frame) - 1, min(len(frame), _MOST_ROWS)).astype(np.intp)
        sample = frame.drop(columns=target).iloc[some].astype(object)
        # An array of objects, which all libraries can save.
        self._sample = sample.where(sample.notna(), None).to_numpy()
        self.classes_, self.model_ = classes, model
        self.discretizer_ = model.preparation.discretizer
        return self

    @property
    def feature_importances_(self) -> Array:
        """Mean absolute contributions of the features to the log odds, as proportions, (features,).

        The contributions are those of `explain` by default, in at most 200
        training rows, evenly spaced. They sum to 1, unless all are 0. A feature
        that the model dropped has importance 0.
        ``sklearn.inspection.permutation_importance`` measures how the
        performance changes without a feature.
        """
        check_is_fitted(self, "_sample", msg=_NO_ROWS)
        means = np.zeros(len(self._names))
        if len(self.classes_) > 1 and self.model_.features:
            columns = dict(zip(self._names, self._sample.T, strict=True))
            series = {name: pd.Series(own).infer_objects() for name, own in columns.items()}
            sample = pd.DataFrame(series)
            strengths = mean_contributions(self.model_, sample, _MOST_ROWS)
            means = np.array([strengths.get(name, 0.0) for name in self._names])
        means = np.minimum(means, 1e6)  # in place of infinity
        return means / (means.sum() or 1.0)

    def predict(self, X: pd.DataFrame | ArrayLike) -> ArrayOf[Any]:
        """Predict the class of each row, as labels in ``classes_``; the first of tied labels."""
        frame, unseen = self._rows_to_predict(X), self.handle_unknown
        labels = predict(self.model_, frame, unseen=unseen, prior=self.prior, costs=self.costs)
        return self.classes_[np.argsort(self._positions_in_model_classes)[labels.cat.codes]]

    def score(
        self, X: pd.DataFrame | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of rows, weighted by ``sample_weight``, with the correct label."""
        X, y = foreign_to_pandas(X), foreign_to_pandas(y)
        check_not_reordered(y, X)
        if isinstance(X, pd.DataFrame):
            check_same_index(sample_weight, X.index, "sample_weight", "X")
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Predict the posterior probabilities of the classes, with columns as in ``classes_``."""
        frame, unseen = self._rows_to_predict(X), self.handle_unknown
        shares = predict(self.model_, frame, prob=True, unseen=unseen, prior=self.prior).to_numpy()
        return shares[:, self._positions_in_model_classes]

    def predict_log_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Predict the logs of posterior probabilities, even if these are too small for a float."""
        frame, unseen = self._rows_to_predict(X), self.handle_unknown
        logs = unnormalized_log_posteriors(self.model_, frame, unseen=unseen, prior=self.prior)[0]
        return log_normalize(logs)[:, self._positions_in_model_classes]

    def predict_joint_log_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Predict ln P(features, class), with columns as in ``classes_``, as CategoricalNB does.

        Missing features are marginalized over. Models without a joint
        distribution, such as the default, raise a TypeError; with ``smooth=1``,
        networks and their averages have a joint distribution.
        """
        frame = self._rows_to_predict(X)
        model = check_has_joint_distribution(self.model_, "predict_joint_log_proba")
        logs = unnormalized_log_posteriors(model, frame, unseen=self.handle_unknown)[0]
        if self.prior is not None:
            labels = model.known_levels[-1]
            prior = check_class_prior(self.prior, labels)
            logs = logs + log_prior_ratio(model.class_prior(), prior, labels)
        return logs[:, self._positions_in_model_classes]

    def _find_learner(self) -> Callable[..., Model] | None:
        """Return the learner of a network if one is given, or raise for unknown arguments."""
        if self.learner is None or isinstance(self.learner, EffectTable):
            return None
        learner = find_learner(self.learner, "learner")
        self._check_arguments(learner, "class_var")
        return learner

    @property
    def _preparation_settings(self) -> Preparing:
        numeric = numeric_columns_of((self.lp_args or {}).get("numbers"))
        usual = None if numeric else "mdlp"
        method = usual if self.discretize == "auto" else self.discretize
        level = self.missing_level
        if (
            level == "auto"
            and self._find_learner() in _NEED_COMPLETE_ROWS
            and "missing" not in (self.dag_args or {})
        ):
            level = True
        return Preparing(method, self.bins, self.min_count, level, numeric)

    def _check_prior_and_costs(self, classes: list[Any]) -> None:
        """Raise unless `prior` and `costs` are of the classes."""
        if self.prior is not None:
            check_class_prior(self.prior, classes)
        if self.costs is not None:
            _, decisions = check_costs(self.costs, classes)
            if others := set(decisions) - set(classes):
                raise ValueError(
                    f"costs must have classes as its columns; got {listed(others)}. For others, "
                    "call bnclassify.predict(estimator.model_, X, costs=costs)."
                )

    def _encode_training_rows(
        self, frame: pd.DataFrame, target: Hashable, weights: Array | None, cases: Positions | None
    ) -> tuple[pd.DataFrame | Dataset, Preparing]:
        """Return encoded data with weights and cases, and what is left to prepare."""
        preparing = settings = self._preparation_settings
        read = preparing.read(open_data(frame, "X"), target, frame.columns)
        preparing = preparing if read.numbers else preparing._replace(discretize=None)
        are_cases = self.weights_are == "cases"
        if weights is not None and self.weights_are is not None:
            OneOf(("frequencies", "cases")).check("weights_are", self.weights_are)
        elif weights is not None:
            are_cases = bool(read.numbers) or bool((weights % 1).any())
        if weights is not None and np.ptp(weights) == 0 and (are_cases or weights[0] == 1):
            weights = None
        if weights is None and cases is None:
            return frame, settings
        data = replace(read, weights=weights, cases=cases)
        if are_cases and weights is not None and cases is None:
            data = rows_as_cases(data)
        return data, preparing

    def _name_of_class(self, y: Any, frame: pd.DataFrame) -> Hashable:
        """Return the name of the class: that of a model whose recipe is repeated, or of y."""
        if not isinstance(self.learner, EffectTable):
            return unused_class_name(getattr(y, "name", None), frame.columns)
        if self.learner.class_var in frame.columns:
            raise ValueError(
                f"X must not have the class {shown(self.learner.class_var)}; drop this column."
            )
        return self.learner.class_var

    def _learn_model(
        self,
        learner: Callable[..., Model] | None,
        target: Hashable,
        data: pd.DataFrame | Dataset,
        preparing: Preparing,
    ) -> Model:
        if isinstance(self.learner, EffectTable):
            recipe = self.learner.recipe
            if recipe is None:
                raise ValueError(
                    "learner must be a table with a recipe, which fit repeats; got none."
                )
            if contains_given(recipe):
                warn(
                    "learner is a table that is not fitted, so the estimator predicts by it as it "
                    "is, and cross-validation can test rows with which it was made."
                )
            opened = open_data(data, "X")
            rows = training_data_of_models(
                {0: self.learner}, opened, opened.columns, dag=True, warns=False
            )
            fitted: Model = recipe.fit(rows)
            return fitted
        rng: dict[str, Any] = {"rng": seed_from_random_state(self.random_state)}
        given_smooth = {} if self.smooth is None else {"smooth": self.smooth}
        lp_args = {**given_smooth, **(self.lp_args or {})}
        dag_args = dict(self.dag_args or {})
        options = {name: getattr(self, name) for name in ("missing_level", "min_count", "pairs")}
        options |= {"interval": self.interval, "draws": self.draws}
        if learner is None:
            options |= {"discretize": self.discretize, "dag_args": dag_args or None, **lp_args}
        else:
            drawn = rng if "rng" in parameters_of(learner) else {}
            options |= {name: getattr(preparing, name) for name in PREPARATION}
            options |= {"dag_args": {**drawn, **dag_args}, **rng, **lp_args}
        with showing_progress(self.verbose, "verbose"), using_jobs(self.n_jobs):
            return bnc(learner, target, data, **options)


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
            lp_args = self.lp_args or {}
            if self.lp_args is None and self.learner == "chain" and not self.dag_args:
                lp_args = {"held_out": "weights"} if self.smooth > 0 else {}
            lp_args = {**rng, "smooth": self.smooth, **lp_args}
            model = lp(structure, frame, **lp_args)
        self.model_, self.discretizer_ = model, discretizer
        self.classes_, self.n_outputs_ = classes if len(classes) > 1 else classes[0], len(classes)
        return self

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


class _ColumnwiseTransformer(OneToOneFeatureMixin, TransformerMixin, CategoricalInput):
    """Base of transformers that change columns one by one."""

    handle_unknown: Unseen = "missing"
    dag_args = lp_args = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def transform(self, X: pd.DataFrame | ArrayLike) -> pd.DataFrame | ArrayOf[Any]:
        """Transform rows, with columns as in `fit`; the result is a data frame if `X` is one."""
        check_is_fitted(self)
        frame = self._frame_as_in_fit(X)
        changed = self._changed_columns(frame)
        if changed is frame:
            return X.set_axis(frame.columns, axis=1) if isinstance(X, pd.DataFrame) else np.array(X)
        return changed.set_axis(X.index) if isinstance(X, pd.DataFrame) else changed.to_numpy()

    @abstractmethod
    def _changed_columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a new frame of the changed columns, or the same frame if no column changes."""


@dataclass(eq=False, repr=False)
class MDLPDiscretizer(_ColumnwiseTransformer):
    """Discretize columns by the class, as a transformer of scikit-learn.

    It calls `discretize`. To discretize some of the columns, use it in a
    ``ColumnTransformer``. `BNCClassifier` discretizes numbers itself, so it
    does not need this transformer; other classifiers do.

    Parameters
    ----------
    method : {"mdlp", "quantile", "width", "mixed"}, default "mdlp"
        How to choose cut points, as in `discretize`. "mdlp" and "mixed" require
        `y`.
    bins : int, default 5
        Number of intervals of the methods other than "mdlp".
    encode : {"ordinal", "interval"}, default "ordinal"
        Output: the numbers of the intervals, from 0, or the intervals as text
        such as "(-inf, 5.1]", which are ordered categories in a DataFrame.
        Missing values stay missing.

    Attributes
    ----------
    discretizer_ : Discretizer
        The cut points, ``discretizer_.cuts``, by column.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from bnclassify.sklearn import MDLPDiscretizer
    >>> wines, cultivar = load_wine(return_X_y=True, as_frame=True)
    >>> transformer = MDLPDiscretizer(encode="interval").set_output(transform="pandas")
    >>> transformer.fit_transform(wines[["alcohol", "hue"]], cultivar).head(2)
            alcohol             hue
    0  (12.78, inf)  (0.975, 1.295]
    1  (12.78, inf)  (0.975, 1.295]
    """

    method: Cutting = "mdlp"
    _: KW_ONLY
    bins: int = 5
    encode: str = "ordinal"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = False
        tags.target_tags.required = self.method in BY_CLASS
        return tags

    def fit(self, X: pd.DataFrame | ArrayLike, y: ArrayLike | None = None) -> Self:
        """Choose cut points.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Numeric columns, which may contain missing values.
        y : (n,) array-like, optional
            Class of each row, without missing values.

        Returns
        -------
        MDLPDiscretizer
            The fitted transformer.
        """
        OneOf(("ordinal", "interval")).check("encode", self.encode)
        labels = target = None
        if self.method in BY_CLASS:
            labels = validate_data(self, y=checked_labels(y))
            check_classification_targets(labels)
        check_not_reordered(foreign_to_pandas(y), foreign_to_pandas(X))
        frame = self._frame_as_in_fit(X, reset=True)
        names = list(frame.columns)
        known = [name for name in names if frame[name].notna().any()]
        other = [name for name in known if value_type(frame[name]) not in NUMBERS]
        if other:
            raise TypeError(
                f"X must have numeric columns; got {listed(other)}. To discretize the others, use "
                "it in a ColumnTransformer(..., remainder='passthrough')."
            )
        if labels is not None:
            check_consistent_length(frame, labels)
            target = unused_class_name(None, frame.columns)
            frame[target] = pd.Categorical(pd.factorize(labels)[0])
        options: dict[str, Any] = {"method": self.method, "bins": self.bins, "columns": names}
        self.discretizer_ = discretize(frame, class_var=target, **options)[1]
        return self

    def _changed_columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = self.discretizer_(frame)
        if self.encode == "interval":
            return frame
        codes = {name: column.cat.codes.astype(float) for name, column in frame.items()}
        return pd.DataFrame(codes, frame.index).replace(-1.0, np.nan)


@dataclass(eq=False, repr=False)
class RareLevelMerger(_ColumnwiseTransformer):
    """Merge rare levels into one, as a transformer of scikit-learn.

    It calls `merge_rare`. `BNCClassifier` with ``min_count`` does the same
    after it discretizes numbers. Whole numbers are merged like categories, and
    become text. Columns without rare levels, ordered categories and numbers
    with fractions do not change.

    Parameters
    ----------
    min_count : int, default 10
        Levels in fewer rows are merged.
    label : str, default "other"
        Label of the merged levels, which also replaces levels that `fit` did
        not see.

    Attributes
    ----------
    merger_ : Merger
        The levels that are kept, ``merger_.kept``, by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify.sklearn import RareLevelMerger
    >>> visits = pd.DataFrame({"town": ["Aden"] * 4 + ["Bari"] * 3 + ["Cork", "Dover"]})
    >>> merger = RareLevelMerger(min_count=3).fit(visits)
    >>> merger.transform(pd.DataFrame({"town": ["Bari", "Cork", "Elba"]}))["town"].tolist()
    ['Bari', 'other', 'other']
    """

    min_count: int = 10
    _: KW_ONLY
    label: str = "other"

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Learn which levels are rare.

        Parameters
        ----------
        X : (n, features) DataFrame or array-like
            Columns of any type, which may contain missing values.
        y : ignored

        Returns
        -------
        RareLevelMerger
            The fitted transformer.
        """
        frame = self._frame_as_in_fit(X, reset=True)
        self.merger_ = merge_rare(frame, min_count=self.min_count, label=self.label)[1]
        return self

    def _changed_columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        if not self.merger_.columns:
            return frame
        merged = self.merger_(frame)
        for name in self.merger_.columns:  # encoders and polars refuse 1 and "other" in a column
            merged[name] = merged[name].cat.rename_categories(str)
        return merged
