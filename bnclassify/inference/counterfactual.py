"""Counterfactuals: the smallest changes of a row that lead to another prediction."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import first_best
from ..base.calls import guided
from ..base.checks import Names, OneOf, Unseen, Whole
from ..frames.encoding import Row
from ..frames.numeric import as_floats
from ..frames.opening import InFull
from ..frames.schema import MISSING, Dataset, check_unseen
from ..model.arguments import check_fitted
from ..model.model import Model
from .changes import Changes, Move, smallest_changes
from .explain import own_values, read_one

_COLUMNS = ("alternative", "changes", "variable", "from", "to", "probability")


@guided("Pass options by name: counterfactual(x, row, target, fixed=names).")
def counterfactual(
    x: Model,
    row: InFull | Row,
    target: Any = None,
    *,
    fixed: Sequence[Hashable] = (),
    most: int = 3,
    alternatives: int = 5,
    unseen: Unseen = "error",
) -> pd.DataFrame:
    """Find the smallest changes of a row with which the model predicts another class.

    The changes describe the model. They do not tell which interventions would change the class.

    Parameters
    ----------
    x : BNC, AODE or another model
        With parameters.
    row : pandas.DataFrame, Series or dict
        One row. A Series or dict may omit features, which are then missing.
    target : optional
        The class to predict after the changes; by default, the second most probable class.
    fixed : list of str, optional
        Features that keep their values.
    most : int, default 3
        Maximum number of features to change.
    alternatives : int, default 5
        Maximum number of alternatives to return.
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        The changes of the fewest features with which `predict` returns the target. Of these, the alternatives
        with the largest posterior of the target, ties in column order and then in the order of levels.
        One row per changed feature, with the columns ``alternative`` (from 0), ``changes`` (the number of
        changed features), ``variable``, ``from``, ``to`` and ``probability`` (the posterior of the target).
        It is empty if the target is predicted already, or if no change of at most `most` features suffices.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `row` is not one row, a feature is missing and the model is a `DN`, or there are too many changes
        to try.

    Notes
    -----
    Missing features stay missing, and the model treats them as in `predict`. A number that the model
    discretizes changes to the nearest value of another interval, and one with a density stays as it is.

    The search is exact. In a network, and in models with weights, the log odds are sums of terms of few
    features, so the change of several features adds up from changes of features of the same term, which are
    computed once. Sets of changes are completed in descending order of a bound of their posterior, until no
    bound exceeds the alternatives found. Averages of networks are evaluated for all changes [1]_.

    References
    ----------
    .. [1] Wachter, S., Mittelstadt, B., Russell, C. (2018). Counterfactual explanations without opening the
       black box: automated decisions and the GDPR. Harvard Journal of Law & Technology 31.

    Examples
    --------
    >>> from bnclassify import counterfactual, load_car, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> counterfactual(model, car.iloc[1727], "unacc", fixed=["buying"], alternatives=2).round(2)
       alternative  changes variable  from   to  probability
    0            0        1  persons  more    2         0.98
    1            1        1   safety  high  low         0.95
    """
    model = check_fitted(x)
    check_unseen(unseen)
    Names(model.features, "features of the model").check("fixed", fixed)
    Whole(least=1).check("most", most)
    Whole(least=1).check("alternatives", alternatives)
    labels = model.known_levels[-1]
    wanted = None if target is None else labels.index(OneOf(labels).check("target", target))
    raw, data = read_one(model, row)
    placed, codes = model._place(data, unseen)
    logs = placed._log_joint(codes)[0]
    predicted = int(first_best(logs))
    if wanted is None:
        wanted = int(first_best(np.where(np.arange(len(logs)) == predicted, -np.inf, logs)))
    found = []
    if wanted != predicted:
        codes = codes[: len(model.features)]
        moves = _moves(placed, codes[:, 0].tolist(), raw, {*fixed})
        numbers = {name: as_floats(values) for name, values in data.numbers.items()}
        found = smallest_changes(Changes(placed, codes, numbers, moves, wanted), most, alternatives)
    return _table(model, raw, found)


def _moves(x: Model, codes: Sequence[int], raw: Dataset, fixed: set[Hashable]) -> list[Move]:
    """Return all changes of single features, in column order and in the order of levels."""
    discretizer = x.discretizer
    moves = []
    for i, (name, labels) in enumerate(zip(x.features, x.known_levels, strict=False)):
        known = codes[i] >= 0 and labels[codes[i]] != MISSING
        if not known or name in fixed or name in x.densities:
            continue
        cuts = None if discretizer is None or name not in raw.numbers else discretizer.cuts.get(name)
        for code, label in enumerate(labels):
            if code != codes[i] and label != MISSING:
                value = label if cuts is None else _nearest(cuts, codes[i], code)
                moves.append(Move(i, code, value, cuts is not None))
    return moves


def _nearest(cuts: Sequence[float], before: int, after: int) -> float:
    """Return the number of an interval that is nearest to another one; a cut point is in the lower one."""
    return float(cuts[after] if after < before else np.nextafter(cuts[after - 1], np.inf))


def _table(x: Model, raw: Dataset, found: Sequence[tuple[Sequence[Move], float]]) -> pd.DataFrame:
    """Return one row per changed feature."""
    rows = [
        (i, len(moves), x.features[m.feature], own_values(raw, x.features[m.feature])[0], m.value, p)
        for i, (moves, p) in enumerate(found)
        for m in moves
    ]
    table = pd.DataFrame(rows, columns=list(_COLUMNS), dtype=object)
    return table.astype({"alternative": int, "changes": int, "probability": float})
