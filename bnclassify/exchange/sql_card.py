"""Scorecards as SQL that a person can read: the result, the points of each column, and cleaned columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.arrays import first_best
from ..model.formulas import Points, Table
from .scorer import Column, Scorer
from .sql_columns import (
    as_literal,
    as_text,
    is_text,
    kind_of,
    literal,
    literals,
    number_of,
    quoted,
    trimmed,
    unsigned,
    value_of,
    words_of,
)


def write_card(scorer: Scorer, table: str, keys: Sequence[str], names: Sequence[str]) -> str:
    """Return the statement; ``names`` are those of the columns of the result."""
    formula: Any = scorer.formula
    columns = [f"r.{quoted(key)} AS key_{i}_" for i, key in enumerate(keys)]
    numeric = [column for column in scorer.columns if not is_text(column)]
    for column in scorer.columns:
        if is_text(column):
            text = f"{as_text(column)}||''"  # without collation
        else:
            text = number_of(value_of(column), f"kind_{numeric.index(column)}_")
        columns.append(f"{text} AS {quoted(str(column.name))}")
    kept = [f"key_{i}_" for i in range(len(keys))]
    points = [str(formula.start), *[_points_of(term, scorer.columns) for term in formula.tables]]
    total = f"CAST({' +'.join(points)} AS DOUBLE PRECISION) AS total"
    values = [*kept, *_results(formula, scorer)]
    outputs = [f"{value} AS {quoted(name)}" for value, name in zip(values, names, strict=True)]
    source, chain = table, []
    for name, added in _kinds(numeric).items():
        chain.append(f"{name} AS (\nSELECT{_lines(['r.*', *added])}\nFROM {source} AS r\n)")
        source = name
    numbers = f"WITH {', '.join(chain)}\n" if chain else ""  # last, because it is the least readable
    cleaned = f"{numbers}SELECT{_lines(columns)}\nFROM {source} AS r"
    scored = f"SELECT{_lines([*kept, total])}\nFROM (\n{cleaned}\n) AS cleaned"
    return f"SELECT{_lines(outputs)}\nFROM (\n{scored}\n) AS scored\n"


def _kinds(numeric: Sequence[Column]) -> dict[str, list[str]]:
    """Return the columns of three SELECTs that tell which values represent numbers."""
    texts = [f"{trimmed(column)} AS text_{i}_" for i, column in enumerate(numeric)]
    digits = [f"{unsigned(f'text_{i}_')} AS digits_{i}_" for i in range(len(numeric))]
    kinds = [
        f"{kind_of(column, f'text_{i}_', f'digits_{i}_')} AS kind_{i}_" for i, column in enumerate(numeric)
    ]
    return {"texts": texts, "digits": digits, "kinds": kinds} if numeric else {}


def _lines(columns: Sequence[str]) -> str:
    return "\n  " + ",\n  ".join(columns)


def _results(formula: Points, scorer: Scorer) -> list[str]:
    """Return the predicted label and the probabilities of the classes, as functions of the total."""
    totals = np.array(formula.totals)
    scores = np.zeros((len(totals), 2))
    scores[:, formula.target] = formula.intercept + formula.unit * (totals - formula.start)
    wins = totals[first_best(scores) == formula.target]
    least = int(wins.min()) if len(wins) else int(totals.max()) + 1
    labels = literals(scorer.labels)
    predicted = (
        f"CASE WHEN total >= {least} THEN {labels[formula.target]} ELSE {labels[1 - formula.target]} END"
    )
    at_zero = formula.intercept - formula.unit * formula.start
    signs = ("-", "") if formula.target == 0 else ("", "-")
    odds = f"{at_zero!r} + {formula.unit!r} * total"
    return [predicted, *[f"1e0 / (1e0 + EXP({f'-({odds})' if sign else odds}))" for sign in signs]]


def _points_of(term: Table, columns: Sequence[Column]) -> str:
    """Return the points of a feature as a CASE, within one of its parent if it has one."""
    tables, (own, *parents) = term.logs[..., 0].astype(int), term.scope
    if not parents:
        return _case(columns[own], list(map(str, tables.tolist())))
    inside = [_case(columns[own], list(map(str, points)), "\n      ") for points in tables.T.tolist()]
    return _case(columns[parents[0]], inside)


def _case(column: Column, texts: Sequence[str], indent: str = "\n    ") -> str:
    """Return the text of each code of a column, and the last text for other values."""
    name, (*of_codes, rest) = quoted(str(column.name)), texts
    cases = []
    if column.missing >= 0:
        cases.append(f"WHEN {name} IS NULL THEN {of_codes[column.missing]}")
    if column.cuts is not None:
        cases += [
            f"WHEN {name} <= {cut!r} THEN {text}" for cut, text in zip(column.cuts, of_codes, strict=False)
        ]
        cases.append(f"WHEN {name} IS NOT NULL THEN {of_codes[len(column.cuts)]}")
    else:
        for label, text in zip(column.known, of_codes, strict=False):
            words = [literal(word) for word in words_of(label)] if is_text(column) else [as_literal(label)]
            equals = f"= {words[0]}" if len(words) == 1 else f"IN ({', '.join(words)})"
            cases.append(f"WHEN {name} {equals} THEN {text}")
        if column.other >= 0:
            cases.append(f"WHEN {name} IS NOT NULL THEN {of_codes[column.other]}")
    return f"{indent}CASE {(indent + '  ').join(cases)}{indent}  ELSE {rest} END"
