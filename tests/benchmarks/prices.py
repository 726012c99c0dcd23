"""What each part of the default costs and gains: ``python -m tests.benchmarks.prices [data sets]``.

Each line leaves out one part and shows the error, the log-loss and the processor time of fits relative to all
parts. A set is fitted to one half and evaluated on the other, as in `accuracy`. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from bnclassify.recipe.default import TERMS

import bnclassify as bn
from bnclassify.recipe import conditional_likelihood, held_out_terms
from bnclassify.recipe.leave_one_out import LeaveOneOut
from bnclassify.sklearn import BNCClassifier

from .accuracy import figures
from .public import load_public

SETS = (
    "australian", "chess", "contraceptive", "german", "led7digit", "magic", "marketing", "phoneme", "pima",
    "satimage", "segment", "spambase", "splice", "tic-tac-toe", "titanic", "vehicle", "vowel", "wdbc",
)  # fmt: skip
"""Sets of `public` that are neither the largest nor the easiest."""


def without_term(name: str) -> dict[str, Any]:
    """Return the arguments of `BNCClassifier` that leave out a term."""
    return {"lp_args": {"held_out_args": {"terms": tuple([term for term in TERMS if term != name])}}}


def fixed(*arguments: Any, **options: Any) -> Any:
    """Weigh blocks with their initial precisions."""
    return conditional_likelihood.fit_weights_and_ridges(*arguments, **{**options, "search": False})


PARTS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "all parts": ({}, []),
    "shifts of levels, and regression": (without_term("shifts"), []),
    "slopes of numbers, and regression": (without_term("slopes"), []),
    "Gaussian terms": (without_term("zscores"), []),
    "codings by MDLP and by own values": (without_term("codings"), []),
    "depths": (without_term("depths"), []),
    "shifts of missing values": (without_term("gaps"), []),
    "regression": ({}, [patch.object(LeaveOneOut, "allows_regression", property(lambda method: False))]),
    "searched precisions": ({}, [patch.object(held_out_terms, "fit_weights_and_ridges", fixed)]),
    "feature parents": ({"dag_args": {"kdbk": 0}}, []),
    "folds": ({"lp_args": {"held_out_args": {"folds": 10**9}}}, []),
}
"""The arguments of `BNCClassifier` and the patches that leave out each part."""


def halves(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the two halves of a set, stratified by class with seed 0."""
    frame = load_public(name)
    half = bn.stratified_folds(frame["class"], 2, rng=0)
    return frame[half == 1], frame[half == 0]


def measure(names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each set without each part; parts take turns, so that the load is the same."""
    for name in names:
        train, test = halves(name)
        labels = sorted(train["class"].unique())
        actual = np.searchsorted(labels, test["class"])
        for part, (arguments, patches) in PARTS.items():
            with ExitStack() as stack:
                for each in patches:
                    stack.enter_context(each)
                start = process_time()
                model = BNCClassifier(**arguments).fit(train.drop(columns="class"), train["class"])
                seconds = process_time() - start
            found = figures(model.predict_proba(test.drop(columns="class")), actual)
            yield {"data": name, "without": part, **found, "seconds": seconds}


def main() -> None:
    """Print a table in Markdown."""
    warnings.filterwarnings("ignore")
    rows = pd.DataFrame(measure(tuple(sys.argv[1:]) or SETS))
    mean = rows.groupby("without", sort=False)[["error", "log-loss", "calibration error", "seconds"]].mean()
    whole = mean.iloc[0]
    print("| without | error | log-loss | calibration error | time |\n|---|---|---|---|---|")
    for part, (error, loss, calibration, seconds) in mean.iterrows():
        share = seconds / whole["seconds"]
        print(f"| {part} | {error:.4f} | {loss:.4f} | {calibration:.4f} | {share:.0%} |")


if __name__ == "__main__":
    main()
