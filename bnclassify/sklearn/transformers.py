"""Transformers for pipelines of scikit-learn: numbers discretized, rare levels merged."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..frames import NUMBERS, check_not_reordered, foreign_to_pandas, value_type
from ..numbers import BY_CLASS, discretize, merge_rare
from ..tools.arrays import ArrayOf
from ..tools.checks import Cutting, OneOf, Unseen
from ..tools.messages import listed
from .classifier import CategoricalInput, checked_labels, unused_class_name


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
    after it discretizes numbers. Whole numbers are merged like categories.
    Columns without rare levels, ordered categories and numbers with fractions
    do not change.

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
        return self.merger_(frame) if self.merger_.columns else frame
