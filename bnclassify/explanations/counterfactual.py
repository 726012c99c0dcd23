"""Counterfactuals: the smallest changes of a row that lead to another prediction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from ..accessors import check_fitted
from ..dataset import check_unseen
from ..frames import AnyTable, Row
from ..model import Model
from ..scores import scores_at
from ..tools.arrays import first_best, second_best
from ..tools.calls import with_call_advice
from ..tools.checks import Names, OneOf, Unseen, Whole
from ..tools.messages import shown, warn
from .change_search import (
    Changes,
    Direction,
    Range,
    check_possible_changes,
    smallest_changes,
    value_changes,
)
from .explain import original_values, read_one_row


@with_call_advice("Pass options by name: counterfactual(x, row, target, fixed=names).")
def counterfactual(
    x: Model,
    row: AnyTable | Row,
    target: Hashable | None = None,
    *,
    fixed: Sequence[Hashable] = (),
    ranges: Mapping[Hashable, Range] | None = None,
    directions: Mapping[Hashable, Direction] | None = None,
    most: int = 3,
    alternatives: int = 5,
    unseen: Unseen = "error",
) -> pd.DataFrame:
    """Find the smallest changes of a row that change its prediction.

    The changes describe the model, and not what would happen if somebody made
    them.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    row : pandas.DataFrame, Series or dict
        One row. Features that a Series or dict omits are unknown.
    target : optional
        The class to predict after the changes; by default, the second most
        probable class.
    fixed : list of str, optional
        Features that keep their values.
    ranges : dict, optional
        Possible values of features: the lowest and the highest number, as in
        ``{"bmi": (25, 34)}``, or a list of levels, as in
        ``{"job": ["part", "full"]}``.
    directions : dict, optional
        Features that can only rise or fall, as in ``{"age": "increasing"}``.
        They must be numbers.
    most : int, default 3
        Maximum number of features to change.
    alternatives : int, default 5
        Maximum number of alternatives to return.
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        One row per changed feature, with the columns ``alternative`` (from 0),
        ``changes`` (the number of changed features), ``variable``, ``from``,
        ``to`` and ``probability`` (the posterior of the target). Alternatives
        change as few features as possible, and each changes other features. The
        smallest changes come first and, of equal ones, the most probable
        target. The table is empty if the target is predicted already, which
        causes a warning, or if no possible change of at most `most` features
        suffices.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `row` has not exactly one row, `ranges` or `directions` are not
        valid, a feature is missing and the model is a `DN`, or there are too
        many changes to try.

    Notes
    -----
    Missing features stay missing. A number that the model discretizes changes
    to the nearest value of another interval, with the decimals of the cut
    points. A number with a density does not change. The size of a change of a
    number is the share of the cut points of its feature that it crosses; as
    these are quantiles in many models, it is about the share of the training
    rows between the values. The size of a change of a level is 1. For each set
    of features, the smallest sum that suffices is returned. The search is exact
    [1]_. It takes seconds for averages of 60 networks, such as an AODE of 60
    features.

    References
    ----------
    .. [1] Wachter, S., Mittelstadt, B., Russell, C. (2018). Counterfactual
       explanations without opening the black box: automated decisions and the
       GDPR. Harvard Journal of Law & Technology 31.

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
    wish = check_possible_changes(model, fixed, ranges, directions)
    Whole(least=1).check("most", most)
    Whole(least=1).check("alternatives", alternatives)
    labels = model.known_levels[-1]
    wanted = None if target is None else labels.index(OneOf(labels).check("target", target))
    raw, data = read_one_row(model, row)
    placed = model.rows_to_score(data, unseen)
    logs = scores_at(model.score, placed)
    predicted = first_best(logs)
    if wanted is None:
        wanted = int(second_best(logs, predicted)[0]) if len(labels) > 1 else 0
    elif wanted == predicted[0]:
        warn(
            f"{shown(target)} is predicted for the row already, so the table is empty. Pass "
            "another class as the target, or none for the second most probable class."
        )
    rows = []
    if wanted != predicted[0]:
        moves = value_changes(model, placed.codes[:, 0].tolist(), raw, wish)
        found = smallest_changes(Changes(model.score, placed, moves, wanted), most, alternatives)
        for i, (changes, probability) in enumerate(found):
            for change in changes:
                name = model.features[change.feature]
                before = original_values(raw, name)[0]
                rows.append((i, len(changes), name, before, change.value, probability))
    columns = ["alternative", "changes", "variable", "from", "to", "probability"]
    table = pd.DataFrame(rows, columns=columns, dtype=object)
    return table.astype({"alternative": int, "changes": int, "probability": float})
