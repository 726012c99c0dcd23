"""Models as SQL: one SELECT that scores the rows of a table, readable if it is a scorecard's."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from math import ceil, floor
from typing import Literal

import numpy as np

from ..accessors import check_fitted
from ..additive.scorecard import Scorecard
from ..dataset import MISSING
from ..model import Model
from ..prediction import check_costs
from ..scores import Mixture, Sum, sums_in_formula
from ..tools.arrays import Array, first_best
from ..tools.checks import Names, OneOf, Optional, must_be
from ..tools.messages import listed, repeated_items, shown
from .scorer import ColumnCoding, Scorer, features_of_largest_table, scorer_of_model
from .sql_scores import ScoreColumns
from .sql_text import (
    IMPOSSIBLE,
    MOST_CHARACTERS,
    MOST_ODDS,
    NEARLY,
    Query,
    TooLargeError,
    case_by_intervals,
    cleaned_column,
    column_as_text,
    column_of_maximum,
    conditions_of_numbers,
    exp_of_difference,
    has_boolean_labels,
    has_long_integers,
    is_compared_as_text,
    label_literals,
    levels_out_of_range,
    quoted_identifier,
    raw_column_value,
    sql_cut_point,
    sql_number,
    sql_sum,
    text_literal,
    texts_of_labels,
    typed_column_value,
)

_MOST_BYTES = 63
"""Number of bytes of a name beyond which PostgreSQL cuts it."""


def to_sql(
    x: Model,
    *,
    table: str | Sequence[str],
    key: str | Sequence[str] | None = None,
    numbers: Literal["text", "typed"] = "text",
) -> str:
    """Write a SELECT statement that predicts the rows of a table in a database.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model, or a fitted estimator, with its ``prior`` and ``costs``.
    table : str or (str, str)
        Name of the table or view with the rows, or the names of its schema and
        of the table. It has one column per feature of `x`, of the same name,
        with raw values as `predict` accepts them.
    key : str or list of str, optional
        Columns of the table to select with the predictions, such as its primary
        key.
    numbers : {"text", "typed"}, default "text"
        With "text", columns of numbers may be text in the database, which is
        checked. With "typed", they are numbers, and NULL where they are
        missing, so the statement is shorter and easier to review.

    Returns
    -------
    str
        The statement, without a semicolon. For each row of the table, it
        selects the columns `key`, then ``predicted``, the label, for a
        scorecard ``points``, the total, and one column ``prob_<label>`` per
        class with its posterior probability. For an estimator with ``costs``,
        the last column, ``decision``, is that of `predict` with these costs.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the scores of the model are not sums of tables, as with several class
        variables, kernel densities, `subsumption` and `ande` with ``n=2``, two
        columns of the result would have the same name, or the statement would
        have more than 1,000,000 characters.

    Notes
    -----
    SQLite (from 3.35, with its mathematical functions), DuckDB and PostgreSQL
    (from 12) run the statement. It predicts like `predict` with
    ``unseen="missing"``: it discretizes numbers, merges rare levels, and treats
    values that are not among the levels as missing. NULL, NaN, infinite numbers
    (for which `predict` raises an error) and, for numbers, text that does not
    represent a number are missing. Numbers beyond ±1e300 are not distinguished,
    nor are those nearer to 0 than 1e-199. A `DN` requires all features, so all
    results are NULL for other rows. They are also NULL if a sum of effects
    lacks a value that was never missing in training, or more than one value
    and more values than five training rows do; for `predict`, such values are
    unknown, which has no formula for all combinations. So a row of NULLs has
    NULL, and not the class shares, unless it lacks as many values as training
    rows do. Posteriors differ from `predict` by less than 1e-9.

    Values are compared with the levels as text or, if all levels are numbers,
    as numbers. Integers from 2**53 on, which floats merge, are compared digit
    by digit if the database has integers. Booleans may be stored as 0 and 1,
    and 0 and 1 as booleans. A boolean that a database made of a word, as DuckDB
    does when it reads a file, is the level that is such a word: true is yes, y,
    true, t or on, and false is no, n, false, f or off.
    DuckDB and PostgreSQL compare text by the collation of its column. Labels of
    several types are selected as text. Names are quoted, so their case matters
    in PostgreSQL, where ``standard_conforming_strings`` must be on, which is
    its default.

    The length of the statement is proportional to the number of entries of the
    tables: about 100,000 characters for a sum of effects of eight numbers with
    15 pairs, and 25,000 with ``pairs=0``.
    Marginalization needs products of tables, which are large if features have
    several parents; models that do not marginalize do not need them. PostgreSQL
    compiles long statements, which often takes longer than it saves;
    ``SET jit = off`` prevents it.

    Examples
    --------
    >>> import sqlite3
    >>> from bnclassify import load_car, lp, nb, to_sql
    >>> car = load_car()
    >>> model = lp(nb("class", car, features=["safety", "persons"]), car, smooth=1)
    >>> statement = to_sql(model, table="cars", key="id")
    >>> database = sqlite3.connect(":memory:")
    >>> car.astype(str).to_sql("cars", database, index_label="id")
    1728
    >>> query = f"SELECT id, predicted, prob_good FROM ({statement}) WHERE id > 1725"
    >>> for row in database.execute(query):
    ...     print(row[:2], round(row[2], 4))
    (1726, 'unacc') 0.0913
    (1727, 'acc') 0.0645
    >>> database.close()
    """
    parts = list(table) if isinstance(table, tuple | list) else [table]
    if not parts or not all(isinstance(name, str) and name for name in parts):
        error = ValueError if isinstance(table, str | tuple | list) else TypeError
        hint = "A table in a schema is a tuple of two names, (schema, table)."
        raise error(must_be("table", "the name of a table", table, hint))
    source = ".".join([quoted_identifier(str(name)) for name in parts])
    names = Optional(Names()).check("key", [key] if isinstance(key, str) else key) or ()
    keys = tuple([name for name in names if isinstance(name, str) and name])
    if len(keys) < len(names):
        raise TypeError(must_be("key", "the name of a column or a list of names", key))
    typed = OneOf(("text", "typed")).check("numbers", numbers) == "typed"
    costs = None if isinstance(x, Model) else getattr(x, "costs", None)
    if costs is not None:  # of an estimator, whose decisions are a column of their own
        x = copy(x)
        setattr(x, "costs", None)  # noqa: B010
    x = check_fitted(x)
    scorer = scorer_of_model(x)
    points = ["points"] * isinstance(x, Scorecard)
    probabilities = [f"prob_{label}" for label in scorer.labels]
    outputs = [*keys, "predicted", *points, *probabilities]
    decision = ["decision"] * (costs is not None)
    _check_characters([*source, *keys, *outputs], "key and the classes")
    for column in scorer.columns:
        _check_characters([column.name, *column.known], f"x: the levels of {shown(column.name)}")
    named = [*outputs, *decision]
    cut = [name.encode()[:_MOST_BYTES].decode(errors="ignore") for name in named]
    where = f"of at most {_MOST_BYTES} bytes in the result"
    _check_distinct_ignoring_case("key and the classes", cut, where)
    features = [str(column.name) for column in scorer.columns]
    if "" in features:
        raise ValueError(
            "x must have features with names other than '', which databases refuse. Rename the "
            "column before the fit."
        )
    _check_distinct_ignoring_case("x", features, "of features")
    for column in scorer.columns:
        if extreme := levels_out_of_range(column):
            raise ValueError(
                f"x must have levels between 1e-199 and 1e300 if they are numbers; got "
                f"{listed(extreme)} in {shown(column.name)}. Make them missing, or text."
            )
    for column in filter(is_compared_as_text, scorer.columns):
        if twice := repeated_items(
            word for words in texts_of_labels(column.known) for word in words
        ):
            raise ValueError(
                f"x must have levels that differ as text; got {listed(twice)} twice in "
                f"{shown(column.name)}. Rename these levels."
            )
    statement = ""
    with suppress(TooLargeError):
        write = partial(_card_statement, x) if isinstance(x, Scorecard) else _select_statement
        statement = write(scorer, source, keys, outputs, typed)
        if costs is not None:
            own = list(map(quoted_identifier, probabilities))
            case = _decision_as_case(*check_costs(costs, scorer.labels), own)
            statement = f"SELECT p.*, {case} AS decision\nFROM (\n{statement}) AS p\n"
    if not 0 < len(statement) <= MOST_CHARACTERS:
        is_network = isinstance(scorer.formula, Sum | Mixture)
        products = is_network and any(one.marginalizes for one in sums_in_formula(scorer.formula))
        remedy = (
            "Use fewer parents, levels (min_count= merges rare ones, bins= limits intervals) or "
            "features, or backoff=True and held_out='weights', which need no products."
            if products
            else "Use a single discretization such as discretize='mdlp', fewer pairs, or fewer "
            "parents."
        )
        raise ValueError(
            f"x must fit into a statement of at most {MOST_CHARACTERS:,} characters. Its largest "
            f"table is that of {features_of_largest_table(scorer)}. {remedy}"
        )
    return statement


def _decision_as_case(costs: Array, decisions: Sequence[Hashable], names: Sequence[str]) -> str:
    """Return the decision of the lowest expected cost, the first if tied, as `least_costly` does.

    ``names`` are the columns of the probabilities of the classes.
    """
    expected, sizes = list[str](), list[str]()
    for own in (costs / 4).T.tolist():
        pairs = list(zip(own, names, strict=True))
        expected.append(f"({sql_sum([f'{sql_number(c)}*{p}' for c, p in pairs])})")
        sizes.append(f"({sql_sum([f'{sql_number(abs(c))}*{p}' for c, p in pairs])})")
    *labels, last = label_literals(decisions)
    cases = []
    for i, label in enumerate(labels):
        is_least = [
            f"{expected[i]}-{expected[j]}<=1e-9*({sizes[i]}+{sizes[j]})/2"
            for j in range(len(expected))
            if j != i
        ]
        cases.append(f"WHEN {' AND '.join(is_least)} THEN {label}")
    return f"CASE WHEN {names[0]} IS NULL THEN NULL {' '.join(cases)} ELSE {last} END"


def _check_distinct_ignoring_case(argument: str, names: Sequence[str], what: str) -> None:
    """Raise a ValueError if names differ in case only, or not at all."""
    if twice := repeated_items(map(str.casefold, names)):
        raise ValueError(
            f"{argument} must have distinct names {what}; got {listed(twice)} twice. Rename them."
        )


def _check_characters(names: Sequence[object], argument: str) -> None:
    """Raise a ValueError if text contains characters that databases refuse."""
    for text in map(str, names):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError(
                f"{argument} must not contain NUL characters or lone surrogates, which databases "
                f"refuse; got {shown(text)}. Rename it."
            )


def _select_statement(
    scorer: Scorer, table: str, keys: Sequence[str], names: Sequence[str], typed: bool
) -> str:
    """Return the statement; ``names`` are those of the columns of the result."""
    query = Query(typed)
    pairs = [_code_and_number_columns(query, column) for column in scorer.columns]
    columns = ScoreColumns(query, scorer, [code for code, _ in pairs], [x for _, x in pairs])
    logs = []
    for score in columns.score_columns_of(scorer.formula):
        log = f"CASE WHEN {score}< {NEARLY} THEN {IMPOSSIBLE} ELSE {score} END"
        logs.append(query.add_column(log))
    # exp(log - largest log) is in proportion to the posterior, and 1 for the largest
    top = column_of_maximum(query, logs)
    masses = [query.add_column(exp_of_difference(log, top)) for log in logs]
    total = query.add_column(sql_sum(masses))
    *labels, last = label_literals(scorer.labels)
    cases = ""
    for log, label in zip(logs, labels, strict=False):  # the first of tied classes
        cases += f"WHEN {log}>={top}-1e-9 THEN {label} "
    predicted = f"CASE WHEN {top} IS NULL THEN NULL {cases}ELSE {last} END"
    posteriors = [f"{mass}/{total}" for mass in masses]
    kept = [f"k{i}" for i in range(len(keys))]
    outputs = _named_columns([*kept, predicted, *posteriors], names)
    chain, source = _chain_of_selects(query, table, keys, [*logs, top, *masses, total])
    return f"{chain}SELECT {', '.join(outputs)} FROM {source}\n"


def _named_columns(values: Sequence[str], names: Sequence[str]) -> list[str]:
    pairs = zip(values, names, strict=True)
    return [f"{value} AS {quoted_identifier(name)}" for value, name in pairs]


def _chain_of_selects(
    query: Query, table: str, keys: Sequence[str], needed: Sequence[str]
) -> tuple[str, str]:
    """Return the SELECTs of the needed columns, which keep the keys, and the name of the last."""
    source, chain = f"{table} AS r", []
    # A name that the table does not have.
    prefix = "stage" if '"step' in table.casefold() else "step"
    for i, select in enumerate(query.select_clauses(list(map(quoted_identifier, keys)), needed), 1):
        chain.append(f"{prefix}{i} AS MATERIALIZED (\n{select} FROM {source}\n)")
        source = f"{prefix}{i}"
    return "WITH " + ",\n".join(chain) + "\n", source


def _code_and_number_columns(query: Query, column: ColumnCoding) -> tuple[str, str]:
    """Return the names of the columns of the code and, if needed, of the number of a feature."""
    missing, other = ("NULL" if code < 0 else str(code) for code in (column.missing, column.other))
    if is_compared_as_text(column):
        cases = []
        for i, texts in enumerate(texts_of_labels(column.known)):
            cases += [f"WHEN {text_literal(text)} THEN {i}" for text in texts]
        if column.missing >= 0:
            cases.append(f"WHEN {text_literal(MISSING)} THEN {column.missing}")
        is_long = has_long_integers(column)
        value, raw = f"{column_as_text(column)}||''", raw_column_value(column)
        if is_long:
            value = raw = cleaned_column(query, column)
        code = f"CASE {value} {' '.join(cases)} ELSE {other} END" if cases else other
        code = _code_unless_missing(raw, missing, code, other)
        return query.add_column(code) if is_long else query.add_source_column(code), ""
    x = cleaned_column(query, column)
    if column.cuts is not None:
        code = case_by_intervals(x, column.cuts, list(map(str, range(len(column.cuts) + 1))))
        return query.add_column(_code_unless_missing(x, missing, code, "")), x
    conditions = conditions_of_numbers(x, column.known)
    cases = [f"WHEN {condition} THEN {i}" for i, condition in enumerate(conditions)]
    code = f"CASE {' '.join(cases)} ELSE {other} END"
    return query.add_column(_code_unless_missing(x, missing, code, other)), x


def _code_unless_missing(name: str, missing: str, code: str, of_null: str) -> str:
    """Return a code that is ``missing`` if the value is NULL, for which it would be ``of_null``."""
    if missing == of_null:
        return code
    return f"CASE WHEN {name} IS NULL THEN {missing} ELSE {code} END"


def _card_statement(
    card: Scorecard,
    scorer: Scorer,
    table: str,
    keys: Sequence[str],
    names: Sequence[str],
    typed: bool,
) -> str:
    """Return the statement, the least readable SELECT last; ``names`` are those of its columns."""
    query = Query(typed)
    tables = list(zip(card.term_scopes, card.feature_points, strict=True))
    pairs = [(scope, table) for scope, table in tables if table.any()]
    lacking, most = list[int](), 0  # features of which at most so many may be missing
    if card.unknown is not None:
        gaps = np.flatnonzero(card.unknown.gaps).tolist()
        if card.unknown.most < len(gaps):
            lacking, most = gaps, int(card.unknown.most)
    used = sorted({i for scope, _ in pairs for i in scope}.union(lacking))
    kept = [f"k{i}" for i in range(len(keys))]
    own = []
    for i, column in enumerate(scorer.columns):
        name = str(column.name)
        if not typed or re.fullmatch(r"k\d+|total", name.casefold()):  # another column has it
            name = f"{name.encode()[: _MOST_BYTES - 8].decode(errors='ignore')}_{i + 1}"
        own.append(quoted_identifier(name))
    is_plain = not any(has_boolean_labels(c) or has_long_integers(c) for c in scorer.columns)
    if typed and is_plain:
        found = [typed_column_value(scorer.columns[i]) for i in used]
        chain, source = "", f"{table} AS r"
        first = [f"r.{quoted_identifier(key)} AS k{i}" for i, key in enumerate(keys)]
    else:
        found = [cleaned_column(query, scorer.columns[i]) for i in used]
        chain, source = _chain_of_selects(query, table, keys, found)
        first = kept
    columns = [*first, *[f"{name} AS {own[i]}" for i, name in zip(used, found, strict=True)]]
    always = [] if card.unknown is None else list[bool](card.unknown.always.tolist())
    points = []
    for scope, own_points in pairs:
        feature, *parents = scope
        indent, cases = "\n      " if parents else "\n    ", []
        for row in own_points.reshape(len(own_points), -1).T.tolist():  # per value of the parent
            *texts, of_missing = map(str, row)
            of_missing = "NULL" if always and always[feature] else of_missing
            texts.append(of_missing)
            column = scorer.columns[feature]
            cases.append(_case_of_texts_by_code(column, own[feature], texts, indent))
        for parent in parents:  # at most one
            cases = [_case_of_texts_by_code(scorer.columns[parent], own[parent], cases)]
        points += cases
    total = f"CAST({' +'.join([str(card.start), *points])} AS DOUBLE PRECISION)"
    if lacking:
        count = " + ".join([f"CASE WHEN {own[i]} IS NULL THEN 1 ELSE 0 END" for i in lacking])
        total = f"CASE WHEN {count} <= {most} THEN {total} END"
    totals = card.probabilities["total"].to_numpy(dtype=np.int64)
    target = scorer.labels.index(card.target)
    at_zero, labels = card.intercept - card.unit * card.start, label_literals(scorer.labels)
    odds = np.zeros((len(totals), 2))
    odds[:, target] = at_zero + card.unit * totals
    wins = totals[np.flatnonzero(first_best(odds) == target)]
    least = int(wins.min() if len(wins) else totals.max() + 1)
    rest = "ELSE" if card.unknown is None else f"WHEN total < {least} THEN"
    result = [f"CASE WHEN total >= {least} THEN {labels[target]} {rest} {labels[1 - target]} END"]
    result.append("CAST(total AS BIGINT)")
    low, high = ceil((-MOST_ODDS - at_zero) / card.unit), floor((MOST_ODDS - at_zero) / card.unit)
    log_odds = f"{at_zero!r} + {card.unit!r} * total"
    is_safe = low <= totals.min() and high >= totals.max()  # if not, EXP would be out of range
    for i in range(2):
        exponent = f"-({log_odds})" if i == target else log_odds
        at_low, at_high = ("0e0", "1e0") if i == target else ("1e0", "0e0")
        text = f"1e0 / (1e0 + EXP({exponent}))"
        outside = f"WHEN total < {low} THEN {at_low} WHEN total > {high} THEN {at_high}"
        result.append(text if is_safe else f"CASE {outside} ELSE {text} END")
    outputs = _named_columns([*kept, *result], names)
    cleaned = f"{chain}SELECT{_indented_columns(columns or ['1'])}\nFROM {source}"
    summed = _indented_columns([*kept, f"{total} AS total"])
    scored = f"SELECT{summed}\nFROM (\n{cleaned}\n) AS cleaned"
    return f"SELECT{_indented_columns(outputs)}\nFROM (\n{scored}\n) AS scored\n"


def _indented_columns(columns: Sequence[str]) -> str:
    return "\n  " + ",\n  ".join(columns)


def _case_of_texts_by_code(
    column: ColumnCoding, name: str, texts: Sequence[str], indent: str = "\n    "
) -> str:
    """Return the text of each code of a column, and the last text for other values."""
    *of_codes, rest = texts
    cases = []
    if column.cuts is not None:
        pairs = zip(column.cuts, of_codes, strict=False)
        cases = [f"WHEN {name} <= {sql_cut_point(cut)} THEN {text}" for cut, text in pairs]
        cases.append(f"WHEN {name} IS NOT NULL THEN {of_codes[len(column.cuts)]}")
    else:
        if is_compared_as_text(column):
            conditions = []
            for texts_of_level in texts_of_labels(column.known):
                literals = list(map(text_literal, texts_of_level))
                is_one = len(literals) == 1
                equals = f"= {literals[0]}" if is_one else f"IN ({', '.join(literals)})"
                conditions.append(f"{name} {equals}")
            if column.other >= 0 and column.missing >= 0:
                cases.append(f"WHEN {name} = {text_literal(MISSING)} THEN {rest}")
        else:
            conditions = conditions_of_numbers(name, column.known)
        known = zip(conditions, of_codes, strict=False)
        cases += [f"WHEN {condition} THEN {text}" for condition, text in known]
        if column.other >= 0:
            cases.append(f"WHEN {name} IS NOT NULL THEN {of_codes[column.other]}")
    return f"{indent}CASE {(indent + '  ').join(cases)}{indent}  ELSE {rest} END"
