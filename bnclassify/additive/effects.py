"""What each value of each feature adds to the log odds of the classes, as a table."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

import numpy as np
import pandas as pd

from ..base.arrays import Array, Mask
from ..base.checks import Optional, Whole
from ..base.messages import listed, repeated_items, shown
from ..frames.dataset import Dataset, Opened, codes_by_levels
from ..frames.opening import InFull, open_rows
from ..inference.evidence import target_position
from ..model.arguments import check_fitted, encode_for_model
from ..model.model import Model
from .effect_table import RESERVED, EffectTable, row_weights_in_cells
from .pair_table import row_weights_of_pair, table_rows_of_pair
from .tabulate import check_no_missing_label, tabulate_effects

BASE = "(base)"
"""The value of the class in a table of several classes."""


def effects(
    x: Model,
    dataset: InFull | None = None,
    *,
    target: Hashable | None = None,
    steps: int | None = None,
    class_var: Hashable | None = None,
) -> pd.DataFrame:
    """Return the effect of each value of each feature on the log odds of the classes, as a table.

    For complete rows, the table is the whole model: their log odds are the sum of the entries for
    their values. After editing the table, `from_effects` turns it into a model again, which weighs
    unknown values as `x` does if it has the training data as its ``dataset``.

    Parameters
    ----------
    x : BNC or another model
        A fitted model that is a sum: `bnc` with ``additive=True``, naive Bayes with or without
        weights, or a tree (the effect of a feature can then depend on one other feature).
    dataset : pandas.DataFrame, Dataset or another frame, optional
        Data for the column ``share`` and, if they contain a class with two labels, ``observed``. By
        default, the table does not have these columns.
    target : optional
        With two classes, the class that the effects refer to. By default, the last one.
    steps : int, optional
        Maximum number of intervals per numeric feature, by default 32. If the model has more, or
        its effect is a curve, the neighboring intervals that differ least are merged. Choose fewer
        for a table to read. By default, a table of effects keeps its intervals.
    class_var : str, optional
        The class, if `x` has several.

    Returns
    -------
    pandas.DataFrame
        One row for the class, and one row per ``feature`` and ``value``: a label, an interval,
        ``"(missing)"``, or ``"(unseen)"`` for all other values. If the effect depends on another
        feature, ``given`` names it, with one row per ``given_value``. With two classes, the effects
        are in a column with the name of the target; with more, there is one column per class, and
        the effects of a value sum to 0. ``share`` is the proportion of rows in `dataset` with the
        value, and ``observed`` the proportion of the target among them, NaN without rows.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the log odds of `x` are not a sum, or are infinite, if a label is ``"(missing)"``, or if
        a target is given for more than two classes.

    Notes
    -----
    The table is exact if the effects of the model are steps. If an effect is a curve, the entry of
    an interval is its mean over the training data; 32 intervals usually cost less than .001 of
    log-loss. Intervals are merged so that the variance of the effect within intervals grows least.

    The effect of a missing value is 0 if the model ignores it. In a tree, a value whose parent is
    missing has its effect given the class alone. Posteriors of incomplete rows can therefore differ
    from the posteriors of `x` if it is a tree, or has a rule for incomplete rows.

    Correlated features share their effect on the class. An effect can therefore rise from one value
    to the next while ``observed`` falls, because other features explain the difference. This is
    correct for predictions, but misleading if the feature is read alone; `monotonize` can exclude
    it.

    Examples
    --------
    >>> from bnclassify import bnc, effects, load_voting
    >>> voting = load_voting()[["crime", "physician_fee_freeze", "Class"]]
    >>> model = bnc("nb", "Class", voting, smooth=1)
    >>> effects(model, voting).round(2)
                    feature      value  republican  share  observed
    0                 Class   democrat       -0.46   1.00      0.39
    1                 crime          n       -3.27   0.39      0.02
    2                 crime          y        1.02   0.57      0.64
    3                 crime  (missing)        0.00   0.04      0.41
    4  physician_fee_freeze          n       -3.96   0.57      0.01
    5  physician_fee_freeze          y        2.84   0.41      0.92
    6  physician_fee_freeze  (missing)        0.00   0.03      0.27
    """
    Optional(Whole(least=2, most=1000)).check("steps", steps)
    table = tabulate_effects(check_fitted(x).of_class(class_var), steps, dataset)
    names = table.known_levels[-1]
    if target is not None and len(names) > 2:
        raise ValueError(
            "target must be None for more than two classes, of which each has a column; "
            f"got {shown(target)}."
        )
    c = target_position(names, target)
    columns = list(names) if c is None else [names[c]]
    if twice := repeated_items([*RESERVED, *columns]):
        raise ValueError(f"x must have classes of other names than {listed(twice)}. Rename them.")
    check_no_missing_label(table)
    rows: list[tuple[Hashable, ...]] = [
        (table.class_var, BASE if c is None else names[1 - c], "", "")
    ]
    for name, j in zip(table.features, table.parent_positions, strict=True):
        parent = "" if j is None else table.features[j]
        others = [""] if j is None else table.shown_values(parent)
        rows += [
            (name, value, parent, other)
            for value, other in product(table.shown_values(name), others)
        ]
    frame = pd.DataFrame(rows, columns=["feature", "value", "given", "given_value"], dtype=object)
    cells = [table_rows_of_pair(table, pair) for pair in table.pairs]
    of_pairs = [row for table_rows_of_pair, _ in cells for row in table_rows_of_pair]
    frame = pd.concat(
        [frame, pd.DataFrame(of_pairs, columns=frame.columns, dtype=object)], ignore_index=True
    )
    if set(table.parent_positions) <= {None} and not cells:
        frame = frame.drop(columns=["given", "given_value"])
    entries = (table.constant, *table.tables, *[logs for _, logs in cells])
    logs = np.concatenate([each.reshape(-1, len(names)) for each in entries])
    logs = logs if c is None else logs[:, [c]] - logs[:, [1 - c]]
    for i, label in enumerate(columns):
        frame[label] = logs[:, i]
    if dataset is not None:
        frame = frame.assign(**_share_columns(table, open_rows(dataset, "dataset"), c))
    return frame


def _share_columns(x: EffectTable, rows: Opened[Dataset], c: int | None) -> dict[str, Array]:
    """Return the share of rows with each value and, of two classes, the share of one in these."""
    has_class = c is not None and x.class_var in rows.columns
    data = encode_for_model(x, rows, x.variables if has_class else x.features, "dataset")

    def weights_in_cells_and_pairs(at: Mask | None = None) -> list[Array]:
        return [
            *row_weights_in_cells(x, data, at),
            *[row_weights_of_pair(x, pair, data, at) for pair in x.pairs],
        ]

    counts = weights_in_cells_and_pairs()
    shares = {"share": np.concatenate([[1.0], *[n.ravel() / (n.sum() or 1.0) for n in counts]])}
    if has_class:
        labels = codes_by_levels(
            data, (x.class_var,), x.known_levels[-1:], unseen="missing"
        ).ravel()
        known, chosen = (weights_in_cells_and_pairs(at) for at in (labels >= 0, labels == c))
        weights = data.row_weights
        below = np.concatenate([[weights[labels >= 0].sum()], *map(np.ravel, known)])
        above = np.concatenate([[weights[labels == c].sum()], *map(np.ravel, chosen)])
        with np.errstate(invalid="ignore"):
            shares["observed"] = above / below
    return shares
