"""The estimators for scikit-learn; without it, a test that calls one is skipped."""

from importlib.util import find_spec

import pytest

if find_spec("sklearn"):
    from bnclassify.sklearn import BNCClassifier as BNCClassifier
    from bnclassify.sklearn import BNCMultiClassifier as BNCMultiClassifier
else:

    def BNCClassifier(*args, **options):
        """Skip the test."""
        pytest.skip("scikit-learn is not installed; the extra sklearn has it")

    BNCMultiClassifier = BNCClassifier
