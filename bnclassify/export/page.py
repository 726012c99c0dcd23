"""Pages that predict and explain in a web browser."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib.resources import files
from math import hypot, sqrt
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np

from ..accessors import check_model
from ..additive.effect_table import EffectTable
from ..additive.scorecard import Scorecard
from ..draw.canvas import ORANGE
from ..draw.networks import choose_arcs_to_draw, plot, text_as_html
from ..elimination import density_grid
from ..files.storage import check_file_name, replace_file
from ..model import Model
from ..numbers import number_of_decimals
from ..prediction import cards_of_features, effect_ranges, positions_parents_first
from ..scores import (
    Blend,
    Completed,
    Raised,
    Rows,
    is_sum_of_tables,
    main_effects,
    shifts_of_missing,
)
from ..tools.arrays import Array, ArrayOf, log, log_normalize
from ..tools.checks import Instance, Names, Optional, check_columns
from ..tools.graphs import descending_order
from ..tools.messages import to_python_scalar
from .libraries import check_distinct_texts
from .scorer import Scorer, features_of_largest_table, scorer_of_model, tables_in_formula

_SMALL = 2**16  # cells of a table that is written within a moment
_MOST_ARCS = 500  # of a picture that Graphviz draws in seconds
_LONGEST = 2_000_000  # characters of the model on a page
_Arcs: TypeAlias = Sequence[tuple[Hashable, Hashable]]
_SVG = "http://www.w3.org/2000/svg"


def write_page(
    x: Model,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    labels: Mapping[Hashable, str] | None = None,
    note: str | None = None,
    order: Sequence[Hashable] | None = None,
) -> None:
    """Write a page for web browsers that predicts and explains, as one file.

    Readers of the page enter values, or leave them unknown, and see the
    posterior, the evidence of each known value for a class, which single
    changes would lead to another prediction, the points of a scorecard, and the
    network if features depend on each other. On request, the page suggests
    which values to find out next. It computes in the browser, works offline and
    sends no data.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model of one class variable.
    path : str or path
        Name of the file, such as "model.html". An existing file is replaced.
    title : str, optional
        Title of the page. By default, the name of the class.
    labels : dict, optional
        Titles of variables on the page, as in ``{"bili": "Bilirubin, mg/dl"}``.
    note : str, optional
        A line below the title, for example on the data. By default, the number
        of training rows.
    order : list of str, optional
        The features to show first. The others follow in the order of their
        effects, and features without effect are folded.

    Raises
    ------
    OSError, KeyError, TypeError, ValueError
        If `labels` or `order` name other variables, the scores of the model are
        not sums of tables, as with several class variables, kernel densities,
        `subsumption` and `ande` with n=2, or the tables need more than
        2,000,000 characters.

    Notes
    -----
    Programs can call JavaScript functions of the page. Their results equal the
    results of `predict`, `explain`, `value_of_information` and
    `counterfactual`, and they throw an error in the same cases:

    - ``model.predict(record)`` returns an object with the probability of each
      label as text; ``model.classes`` has the labels in order.
    - ``model.explain(record, {target, against, interactions})`` returns a list
      with one object per variable: variable, value, parents, log_odds,
      odds_ratio, target and against. With ``interactions: true``, variable and
      value of an interaction are lists.
    - ``model.value_of_information(record)`` returns a list of objects with
      feature and gain, the largest first.
    - ``model.single_changes(record)`` returns a list of objects with variable,
      from, to, target (the class that is then predicted) and probability: for
      each variable and target, the smallest change.

    A record is an object of values by name. Values that are null, infinite or
    not among the levels of the model are missing, as in
    ``predict(..., unseen="missing")``. Values that are omitted are unknown,
    like ``model.unknown``, which the page uses for all fields without an entry.

    The hint of a numeric field is the range of the training values, and values
    outside of it are marked. The bars of a scorecard are its points; those of
    other models are log odds.

    The page itself has about 60 kB. A sum of effects of 8 features adds about
    20 kB, and its 28 pairs add 70 kB. Tables with many parents are larger.
    Their entries are rounded to 14 digits.

    The picture of the network is drawn by Graphviz. If Graphviz is not
    installed or the network has more than 500 arcs, the picture is plain. The
    picture of an average has the arcs that more than half of the members have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bnclassify import load_car, lp, tan_cl, write_page
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "car.html")
    ...     write_page(model, path, title="Is this car acceptable?")
    ...     print(path.read_text(encoding="utf-8")[:15])
    <!DOCTYPE html>
    """
    file = check_file_name(path)
    Instance(str | None, "text or None").check("title", title)
    x = check_model(x)
    Instance(str | None, "text or None").check("note", note)
    scorer = scorer_of_model(x)
    Optional(Instance(Mapping, "a dict of titles by variable")).check("labels", labels)
    check_columns(list(labels or {}), x.variables, "labels")
    for name, text in (labels or {}).items():
        Instance(str, "text").check(f"labels[{name!r}]", text)
    titles = {name: (labels or {}).get(name, str(name)) for name in x.variables}
    view = fields_and_points_of_page(x, titles, order)
    drawn = choose_arcs_to_draw(x, class_arcs=True)
    backwards = [(head, tail) for tail, head in drawn.arcs if (tail, head) in drawn.mutual]
    arcs = [*drawn.arcs, *backwards]
    rows = x.trained_on
    if note is None and rows is not None:
        note = f"From {rows.given or rows.size:,.0f} rows."
    text, least = "", 0  # a lower bound of the characters of tables
    for term in tables_in_formula(scorer):
        cells = term.logs.reshape(-1, term.logs.shape[-1])
        if cells.size > _SMALL:  # repeated rows are written once
            # 8, 1: characters of a number, and of the position of a row
            least += 8 * np.unique(cells, axis=0).size + len(cells)
    if least <= _LONGEST:
        content = _data_of_page(x, scorer, arcs, titles) | {"page": view}
        text = json.dumps(content, separators=(",", ":"))  # in ASCII
    if not 0 < len(text) <= _LONGEST:
        raise ValueError(
            f"x must fit on a page of {_LONGEST:,} characters. Its largest table is that of "
            f"{features_of_largest_table(scorer)}. Use fewer parents, pairs or levels, or a single "
            "discretization such as discretize='mdlp'."
        )
    texts = {
        "title": text_as_html(scorer.class_var if title is None else title),
        "subtitle": f"<p>{text_as_html(note)}</p>" if note else "",
        # JSON that cannot end its element
        "data": re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", text),
        "network": _network_section(x, arcs, drawn.notes),
    }
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    page = re.sub(r"\{\{(\w+)\}\}", lambda found: texts[found[1]], template)
    replace_file(file, page.encode("utf-8"))


def _network_section(x: Model, arcs: _Arcs, notes: Sequence[str]) -> str:
    """Return the picture of a network, and nothing if features do not depend on each other."""
    if all(tail == x.class_var for tail, _ in arcs) and len(arcs) == len(x.features):
        return ""
    caption = text_as_html(" ".join(f"{note[0].upper()}{note[1:]}." for note in notes))
    text = _network_as_plain_svg(x, arcs)
    if len(arcs) <= _MOST_ARCS:
        picture = plot(x)
        picture.graph_attr["label"] = ""
        with suppress(RuntimeError):  # neither Graphviz nor graphviz-pure is installed
            text = picture.pipe(format="svg", encoding="utf-8")
    svg = ElementTree.fromstring(text)
    ElementTree.register_namespace("", _SVG)
    svg.set("role", "img")
    svg.set("aria-label", "Network of the class and the features")
    return f"""<section class="card picture" aria-labelledby="network-heading">
<h2 id="network-heading">Network</h2>
<p class="soft">Known features have the color of their contribution, and unknown ones are dashed.
{caption}</p>
<div class="scroll" id="network" role="region" aria-label="Picture of the network" tabindex="0">
{ElementTree.tostring(svg, encoding="unicode")}</div>
<details>
<summary>Arcs as a table</summary>
<div class="scroll" role="region" aria-label="Arcs" tabindex="0"><table id="arcs"></table></div>
</details>
</section>"""


def _data_of_page(
    x: Model, scorer: Scorer, arcs: _Arcs, titles: Mapping[Hashable, str]
) -> dict[str, Any]:
    position = {variable: i for i, variable in enumerate(x.variables)}
    names = check_distinct_texts(x.variables, "variables")
    # features whose missing values are evidence, because training rows have some
    lacking = set(shifts_of_missing(x.score))
    if isinstance(x.score, Completed):
        lacking = set(np.flatnonzero(x.score.unknown.gaps).tolist())
    features = []
    for i, column in enumerate(scorer.columns):
        # the points and widths of a grid
        numbers = density_grid(x.densities[column.name]) if column.name in x.densities else None
        own = {
            "name": names[position[column.name]],
            "title": titles[column.name],
            "parents": [position[parent] for parent in x.feature_parents[column.name]],
            "levels": list(map(str, x.written_levels(column.name))),
            "values": _labels_as_json(column.known) if column.cuts is None else [],
            "cuts": column.cuts,
            "places": number_of_decimals(column.cuts or ()),
            "range": x.training_ranges.get(column.name),
            "other": column.other,
            "missing": column.missing,
            "lacks": column.missing >= 0 or i in lacking,
            "numbers": _formula_as_json(numbers),
        }
        features.append(own)
    tables = list[Array | None]()  # main effects of features whose tables have other features
    if is_sum_of_tables(x.score) and not isinstance(x.score, Completed):
        wide = {term.owner for term in tables_in_formula(scorer) if {*term.scope} > {term.owner}}
        for i, table in enumerate(main_effects(x.score, cards_of_features(x))):
            tables.append(table if i in wide else None)
    # the formulas of values of features, None if the formula of scores contains them
    score = x.score.formula if isinstance(x.score, Raised) else x.score
    parts = score.trees if isinstance(score, Blend) else (score,)
    outcomes: object = None
    if isinstance(x, EffectTable) and set(x.parent_of_each_feature) == {None}:
        # by Bayes' rule from the effects, the prior and the shares
        prior, masses = log_normalize(x.constant), tuple(x.value_masses)
        outcomes = {"prior": _formula_as_json(prior), "shares": _formula_as_json(masses)}
    elif x.value_formulas != parts:
        outcomes = _formula_as_json(x.value_formulas)
    return {
        "classVar": names[-1],
        "labels": check_distinct_texts(scorer.labels, "labels of the class"),
        "values": _labels_as_json(scorer.labels),
        "features": features,
        "decisions": {  # the parts by which the page splits contributions and weighs unknown values
            "prior": _formula_as_json(log(x.class_prior())),
            "average": x.is_average,
            "pairs": bool(x.pairs),
            "missing": isinstance(x.score, Completed) or bool(shifts_of_missing(x.score)),
            "tables": _formula_as_json(tuple(tables)),
            "outcomes": outcomes,
        },
        "order": positions_parents_first(x),
        "parents": [[position[tail] for tail, head in arcs if head == v] for v in x.variables],
        "formula": _formula_as_json(scorer.formula),
    }


def _labels_as_json(labels: Sequence[Hashable]) -> list[str | float]:
    """Return labels as JSON has them: text, bools, and numbers that a browser tells from others."""
    floats = list[float | None]()  # to which numbers are rounded
    for label in labels:
        number = None
        with suppress(OverflowError):
            number = float(label) if isinstance(label, int | float) else None
        floats.append(number)
    times = Counter(floats)
    result: list[str | float] = []
    for label, number in zip(map(to_python_scalar, labels), floats, strict=True):
        # A browser rounds whole numbers, such as 2**53 + 1, to floats.
        is_exact = number is not None and number == label and times[number] == 1
        result.append(label if is_exact else str(label))
    return result


_FIXED = ("logs", "means", "covariances")
"""Arrays of which digits after 13 of the largest number do not matter, because they are summed."""


def _formula_as_json(value: object, *, fixed: bool = False) -> object:
    """Return a part of a formula as JSON has it: an array is its shape and its numbers."""
    if is_dataclass(value):
        content: dict[str, object] = {"kind": type(value).__name__}
        for field in fields(value):
            own = getattr(value, field.name)
            if field.name == "covariances" and own.ndim == 2:  # of which the lower triangle tells
                own = own[np.tril_indices(len(own))]
            content[field.name] = _formula_as_json(own, fixed=field.name in _FIXED)
        return content
    if isinstance(value, np.ndarray):
        array = value.astype(int) if value.dtype == bool else value
        if not array.size:
            return {"shape": array.shape, "numbers": {"text": ""}}
        cells = array.reshape(-1, array.shape[-1])
        rows, positions = np.unique(cells, axis=0, return_inverse=True)
        if 2 * len(rows) > len(cells):
            return {"shape": array.shape, "numbers": numbers_as_json(array, fixed=fixed)}
        numbers = numbers_as_json(rows, fixed=fixed)
        return {"shape": array.shape, "numbers": numbers, "rows": numbers_as_json(positions)}
    return list(map(_formula_as_json, value)) if isinstance(value, tuple) else value


def _network_as_plain_svg(x: Model, arcs: _Arcs) -> str:
    """Return the network as SVG: dots on a curve, the class on top, so that arcs cross no dot."""
    half = (len(x.features) + 1) // 2  # to the right of the class, downwards; others to the left
    high, beside = 40 * (half + 1), 20 + 9 * max(len(str(v)) for v in x.variables)
    wide = max(150, high // 2)
    at = {x.class_var: (float(beside + wide), 30.0)}
    for i, v in enumerate(x.features):
        row, side = (i, 1) if i < half else (len(x.features) - 1 - i, -1)
        share = (row + 1) / (half + 1)  # of the height of an ellipse, which is half as wide there
        at[v] = (beside + wide + side * wide * 2 * sqrt(share - share**2), 30 + high * share)
    tip = '<marker id="tip" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    tip += '<path d="M0,0 L8,4 L0,8 z"/></marker>'
    size = f'width="{2 * (beside + wide)}" height="{high + 10}"'
    lines = [f'<svg xmlns="{_SVG}" {size}><defs>{tip}</defs><g class="graph">']
    for tail, head in arcs:
        (x1, y1), (x2, y2) = at[tail], at[head]
        share = 10 / hypot(x2 - x1, y2 - y1)  # of the line that is within the dot
        end = f"L{x2 - share * (x2 - x1):.1f},{y2 - share * (y2 - y1):.1f}"
        color = "" if tail == x.class_var else f'stroke="{ORANGE}" '
        path = f'<path d="M{x1:.1f},{y1:.1f} {end}" {color}marker-end="url(#tip)"/>'
        lines.append(f'<g class="edge">{path}</g>')
    for i, v in enumerate(x.variables):
        left, top = at[v]
        anchor, dx, dy = ("middle", 0, -14) if v == x.class_var else ("start", 14, 5)
        if left < beside + wide:
            anchor, dx = "end", -14
        place = f'x="{left + dx:.1f}" y="{top + dy:.1f}" text-anchor="{anchor}"'
        text = f"<text {place}>{text_as_html(v)}</text>"
        dot = f'<circle cx="{left:.1f}" cy="{top:.1f}" r="8"/>'
        lines.append(f'<g class="node"><title>{i}</title>{dot}{text}</g>')
    return "".join([*lines, "</g></svg>"])


_BITS = 44  # of a number, which is exact to 3e-14 of the largest of its array
_DECIMALS = (6, 9)  # of effects, and of covariances
_BASE_64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


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
    tables = [{"shape": own.shape, "numbers": numbers_as_json(own)} for own in card.feature_points]
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
    13 of the largest do not matter (``fixed``), can be whole numbers, divided
    by the number ``per``. Twice the size of each, and 1 if it is negative, are
    digits in base 32, the lowest first, from 0 (A) to 31 (f); those from 32 (g)
    to 63 (/) have 32 more than their value, and another digit follows. The
    number 1, which is minus 0, stands for -inf.

    >>> numbers_as_json(np.array([0, -3, 40]))  # of 7 = 7 and of 80 = 16 + 2 · 32
    {'digits': 'AHwC', 'per': 1.0}
    """
    numbers = array.ravel()
    is_whole = numbers.dtype.kind in "iu"
    as_text = {"text": " ".join(map(repr, numbers.tolist()))}
    finite = np.where(np.isneginf(numbers), 0.0, numbers)
    if not ((is_whole or fixed) and np.isfinite(finite).all()):
        return as_text
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    decimals = [10.0**digits for digits in _DECIMALS if (finite.round(digits) == finite).all()]
    per = 1.0 if is_whole else min([*decimals, 2**_BITS / largest])
    whole = 2 * np.rint(np.abs(finite) * per).astype(np.int64)
    whole += (finite < 0) & (whole > 0)
    whole[np.isneginf(numbers)] = 1
    columns = list[ArrayOf[Any]]()  # of digits, -1 after the last of a number
    while not columns or (whole > 0).any():
        digits = np.where(whole >= 32, 32 + whole % 32, whole)
        columns.append(digits if not columns else np.where(whole > 0, digits, -1))
        whole = whole // 32
    digits = np.array(columns).T.ravel()
    text = np.frombuffer(_BASE_64, np.uint8)[digits[digits >= 0]].tobytes().decode("ascii")
    return {"digits": text, "per": per} if len(text) < len(as_text["text"]) else as_text
