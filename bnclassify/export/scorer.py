"""Models as plain values for other languages: codes of raw values, and the formula of the scores.

Other languages evaluate a `Scorer` as follows. Each value of a row becomes a
code; see `ColumnCoding`. The formula of the codes, and of the numbers of
columns that are kept as numbers, gives one score per class; see
`bnclassify.scores`. The predicted label is the first whose score is
within 1e-9 of the largest. The posterior of a class is exp(score - largest)
divided by the sum of these, and uniform if all scores are -inf. The tests
evaluate all this in plain Python, one row at a time (`tests/test_scorer.py`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ..accessors import check_fitted
from ..dataset import MISSING
from ..scores import Formula, Table, as_plain_formula, no_formula_error, sums_in_formula
from ..tools.messages import listed


@dataclass(frozen=True)
class ColumnCoding:
    """How a raw value of a feature becomes a code.

    The code of a missing value is ``missing``. If ``cuts`` is not None, other
    values are numbers, and the code is the number of cut points below it, so
    that a cut point is in the interval below it. If ``cuts`` is None, the code
    is the position of the value among ``known``, and ``other`` if it is not
    there. A code of -1 is missing. If it ``is_number``, the number itself is
    needed.
    """

    name: Hashable
    known: tuple[Hashable, ...]
    cuts: tuple[float, ...] | None
    other: int
    missing: int
    is_number: bool


@dataclass(frozen=True)
class Scorer:
    """A model as plain values: the class, its labels, one column per feature, the score formula."""

    class_var: Hashable
    labels: tuple[Hashable, ...]
    columns: tuple[ColumnCoding, ...]
    formula: Formula


def scorer_of_model(x: object) -> Scorer:
    """Return the scorer of `predict` with ``unseen="missing"``, or raise a TypeError."""
    model = check_fitted(x)
    if not model.one_class:
        raise no_formula_error(model.type_in_words)
    formula, kept = as_plain_formula(model.score), model.merger.kept
    columns = []
    for name, levels in zip(model.features, model.known_levels, strict=False):
        has_level_of_missing = levels[-1:] == (MISSING,)
        observed = levels[:-1] if has_level_of_missing else levels
        missing = len(observed) if has_level_of_missing else -1
        # rare levels were merged into one more, which is also that of new labels
        known, other = (kept[name], len(kept[name])) if name in kept else (observed, -1)
        has_density = name in model.densities
        cuts = () if has_density else model.discretizer.cuts.get(name)
        columns.append(ColumnCoding(name, known, cuts, other, missing, has_density))
    return Scorer(model.class_var, model.known_levels[-1], tuple(columns), formula)


def tables_in_formula(scorer: Scorer) -> list[Table]:
    """Return the tables of a formula."""
    terms = [term for one in sums_in_formula(scorer.formula) for term in one.terms]
    return [term for term in terms if isinstance(term, Table)]


def features_of_largest_table(scorer: Scorer) -> str:
    """Return the features of the largest table of a formula, as text."""
    largest = max(tables_in_formula(scorer), key=lambda term: term.logs.size)
    return listed([scorer.columns[i].name for i in largest.scope]) or "the class"
