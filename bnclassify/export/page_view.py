"""What a page shows beside the model: titles, order of fields, ranges of data, points of a card."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..additive.scorecard import Scorecard
from ..model import Model
from ..prediction import effect_ranges
from ..scores import Rows
from ..tools.arrays import ArrayOf
from ..tools.checks import Instance, Names, Optional, check_columns
from ..tools.graphs import descending_order

_BYTES = 6  # of a number, which is exact to 4e-15 of the largest of its array
_DIGITS = (6, 8)  # of effects, and of covariances


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
        tables.append({"shape": feature_points.shape, "numbers": numbers_as_json(feature_points)})
    return {
        "target": card.known_levels[-1].index(card.target),
        "start": card.start,
        "tables": tables,
        "scopes": [list(scope) for scope in card.term_scopes],
        "neutral": neutral if card.unknown is not None else None,
        "rows": rows,
        "totals": [[int(total), float(p)] for total, p in some.itertuples(index=False)],
    }


def numbers_as_json(array: ArrayOf[Any], *, fixed: bool = False) -> dict[str, Any]:
    """Return the numbers of an array as text with all digits, or in fewer characters.

    Positions, decimals with few digits, and numbers of which the digits after
    14 of the largest do not matter (``fixed``), can be whole numbers of some
    bytes, the lowest byte first, in base 64, divided by the number ``per``.
    The smallest whole number stands for -inf.
    """
    numbers = array.ravel()
    is_whole = numbers.dtype.kind in "iu"
    as_text = {"text": " ".join(map(repr, numbers.tolist()))}
    finite = np.where(np.isneginf(numbers), 0.0, numbers)
    if not ((is_whole or fixed) and np.isfinite(finite).all()):
        return as_text
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    decimals = [10.0**digits for digits in _DIGITS if (finite.round(digits) == finite).all()]
    per = 1.0 if is_whole else min([*decimals, (256**_BYTES // 2 - 1) / largest])
    width = (int(largest * per).bit_length() + 8) // 8
    if len(as_text["text"]) < 4 * width * numbers.size / 3 + 40:  # 40: characters of keys and per
        return as_text
    whole = np.rint(finite * per).astype("<i8")
    whole[np.isneginf(numbers)] = -(256**width) // 2
    content = whole.view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    return {"bytes": b64encode(content).decode("ascii"), "width": width, "per": per}
