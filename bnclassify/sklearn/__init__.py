"""Classifiers for scikit-learn: pipelines, grid searches, whatever takes its estimators."""

try:
    from .estimators import BNCClassifier
    from .outputs import BNCMultiClassifier
except ImportError as error:
    raise ImportError(
        "bnclassify.sklearn needs scikit-learn 1.6 or later: pip install 'pybnclassify[sklearn]'"
    ) from error

__all__ = ["BNCClassifier", "BNCMultiClassifier"]
