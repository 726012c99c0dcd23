"""What a page shows beside the model: titles, order of fields, ranges of data, points of a card."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..additive.scorecard import Scorecard
from ..base.arrays import ArrayOf
from ..base.checks import Instance, Names, Optional, check_columns
from ..base.graphs import descending_order
from ..inference.evidence import effect_ranges
from ..inference.value_changes import number_of_decimals
from ..model.model import Model
from ..scores.rows import Rows


def titles_of_variables(x: Model, labels: Mapping[Hashable, str] | None) -> dict[Hashable, str]:
    """Return the title of each variable, or raise an error."""
    Optional(Instance(Mapping, "a dict of titles by variable")).check("labels", labels)
    check_columns(list(labels or {}), x.variables, "labels")
    for name, text in (labels or {}).items():
        Instance(str, "text").check(f"labels[{name!r}]", text)
    return {name: (labels or {}).get(name, str(name)) for name in x.variables}


def fields_and_points_of_page(
    x: Model, titles: Mapping[Hashable, str], order: Sequence[Hashable] | None
) -> dict[str, Any]:
    """Return what the page shows, as JSON has it; ``order`` names the first fields."""
    first = list(Optional(Names(x.features, "features of the model")).check("order", order) or ())
    strengths = effect_ranges(x)
    chosen = [x.features.index(name) for name in first]
    rest = [i for i in descending_order(strengths).tolist() if i not in chosen]
    # 0.01: range of the log odds of a feature without effect
    idle = [i for i in rest if strengths[i] < 0.01]
    idle = idle if len(idle) < len(x.features) else []
    return {
        "classTitle": titles[x.class_var],
        "order": [*chosen, *[i for i in rest if i not in idle]],
        "idle": idle,
        "start": "start" if x.no_joint else "prior",
        "card": _points_of_card(x, titles) if isinstance(x, Scorecard) else None,
    }


def training_range(x: Model, name: Hashable) -> list[float] | None:
    """Return the smallest and the largest training value of a number, if the model has them."""
    if name not in x.training_ranges:
        return None
    places = number_of_decimals(x.cuts.get(name, ()))
    return [round(end, 6 if places is None else places) for end in x.training_ranges[name]]


def _points_of_card(card: Scorecard, titles: Mapping[Hashable, str]) -> dict[str, Any]:
    """Return the points of a card: as tables by codes, and as lines to read."""
    table, totals = card.points, card.probabilities
    nothing = np.full((len(card.features), 1), -1)
    neutral = card.points_at_rows(Rows(nothing, unknown=nothing < 0)).ravel().tolist()
    parents = dict(zip(card.features, card.parent_of_each_feature, strict=True))
    rows = []
    for name, value, given, points in table.itertuples(index=False):
        parent = parents.get(name)
        condition = "" if parent is None else f"{titles[card.features[parent]]} = {given}"
        rows.append([str(name), str(value), condition, int(points)])
    places = np.linspace(0, len(totals) - 1, 25).round()  # of at most 25 totals
    some = totals.iloc[np.unique(places.astype(int))]
    tables = []
    for feature_points in card.feature_points:
        tables.append({"shape": feature_points.shape, "text": numbers_as_text(feature_points)})
    return {
        "target": card.known_levels[-1].index(card.target),
        "start": card.start,
        "tables": tables,
        "scopes": [list(scope) for scope in card.term_scopes],
        "neutral": neutral if card.unknown is not None else None,
        "rows": rows,
        "totals": [[int(total), float(p)] for total, p in some.itertuples(index=False)],
    }


def numbers_as_text(array: ArrayOf[Any]) -> str:
    """Return the numbers of an array, with all digits, as text."""
    return " ".join(map(repr, array.ravel().tolist()))
