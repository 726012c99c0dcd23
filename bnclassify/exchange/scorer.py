"""Scorers of raw rows: the codes of values and the formula of scores, as plain values.

Other languages evaluate a `Scorer` as follows. Each value of a row becomes a code; see `Column`. The formula
of the codes, and of the numbers of columns that are kept as numbers, gives one score per class; see
`bnclassify.model.formulas`. The predicted label is the first whose score is within 1e-9 of the largest. The
posterior of a class is exp(score - largest) divided by the sum of these, and uniform if all scores are -inf.
The tests evaluate all this in plain Python, one row at a time (`tests/test_scorer.py`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ..frames.schema import MISSING
from ..model.arguments import check_fitted
from ..model.formulas import Formula, sums_in
from ..numbers.preparation import Preparation


@dataclass(frozen=True)
class Column:
    """How a raw value of a feature becomes a code.

    The code of a missing value is ``missing``. If ``cuts`` is not None, other values are numbers, and the
    code is the number of cut points below it, so that a cut point is in the interval below it. If ``cuts`` is
    None, the code is the position of the value among ``known``, and ``other`` if it is not there. A code of
    -1 is missing. If it ``is_number``, the number itself is needed.
    """

    name: Hashable
    known: tuple[Any, ...]
    cuts: tuple[float, ...] | None
    other: int
    missing: int
    is_number: bool


@dataclass(frozen=True)
class Scorer:
    """A model as plain values: the class, its labels, one column per feature, and the formula of scores."""

    class_var: Hashable
    labels: tuple[Any, ...]
    columns: tuple[Column, ...]
    formula: Formula


def scorer_of(x: Any) -> Scorer:
    """Return the scorer of `predict` with ``unseen="missing"``, or raise a TypeError."""
    model = check_fitted(x)
    formula = model._formula()
    preparation = model.preparation or Preparation()
    cuts = {} if preparation.discretizer is None else preparation.discretizer.cuts
    kept = {} if preparation.merger is None else preparation.merger.kept
    numbers = {scale.feature for part in sums_in(formula) for scale in part.scales}
    columns = []
    for i, (name, levels) in enumerate(zip(model.features, model.known_levels, strict=False)):
        n = len(levels) - (levels[-1:] == (MISSING,))
        missing, is_number = (n if n < len(levels) else -1), i in numbers or name in model.densities
        points = () if name in model.densities else cuts.get(name)
        other = len(kept[name]) if name in kept else -1
        columns.append(Column(name, kept.get(name, levels[:n]), points, other, missing, is_number))
    return Scorer(model.class_var, model.known_levels[-1], tuple(columns), formula)
