"""Classifiers for scikit-learn."""

try:
    from .estimators import BNCClassifier
    from .outputs import BNCMultiClassifier
    from .transformers import MDLPDiscretizer, RareLevelMerger
except ImportError as error:
    raise ImportError(
        "bnclassify.sklearn requires scikit-learn 1.6 or later. Run pip install 'pybnclassify[sklearn]'."
    ) from error

__all__ = ["BNCClassifier", "BNCMultiClassifier", "MDLPDiscretizer", "RareLevelMerger"]
