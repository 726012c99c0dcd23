"""Classifiers for scikit-learn.

It imports `fitting`, `additive`, `several` and `judge`, whose functions the estimators call.
"""

from ..tools.signatures import show_public_types

try:
    from .estimators import (
        BNCClassifier,
        BNCMultiClassifier,
        MDLPDiscretizer,
        RareLevelMerger,
    )
except ImportError as error:
    raise ImportError(
        "bnclassify.sklearn requires scikit-learn 1.6 or later. Run pip install "
        "'scikit-learn>=1.6'."
    ) from error

__all__ = ["BNCClassifier", "BNCMultiClassifier", "MDLPDiscretizer", "RareLevelMerger"]

for _estimator in (BNCClassifier, BNCMultiClassifier, MDLPDiscretizer, RareLevelMerger):
    show_public_types(vars(_estimator).values())
