"""Models as SQL: one SELECT that scores the rows of a table, readable if it is a scorecard's.

A formula becomes a chain of SELECTs, each of which uses the one before. Scores
are DOUBLE PRECISION and never infinite: -1e300 stands for -inf, and NULL for
NaN. Text that does not represent a number is NULL in every database; SQLite
would read it as 0 or by its first digits, and other databases refuse it. Each
function of numbers returns an expression, which the next one uses by its name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from math import ceil, exp, floor, isfinite, isnan, log, pi, prod, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np

from ..accessors import check_fitted
from ..additive.scorecard import Scorecard
from ..dataset import MISSING, rounding_of_numbers
from ..elimination import eliminate_variables, plan_elimination
from ..model import Model
from ..numbers import cut_point_as_text
from ..prediction import check_costs
from ..scores import (
    Blend,
    Choice,
    Completed,
    Formula,
    Mixture,
    Normal,
    Raised,
    Sum,
    Table,
    Term,
    sums_in_formula,
)
from ..tools.arrays import Array, ArrayOf, first_best, log_sum_exp
from ..tools.checks import Names, OneOf, Optional, must_be
from ..tools.messages import listed, repeated_items, shown
from .scorer import ColumnCoding, Scorer, features_of_largest_table, scorer_of_model

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
        levels = [v for v in column.known if isinstance(v, int | float) and v != 0]
        if extreme := [v for v in levels if not _LEAST < abs(v) < float(_HUGE)]:
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
    missing, other = map(_code_or_null, (column.missing, column.other))
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


def _code_or_null(code: int) -> str:
    return "NULL" if code < 0 else str(code)


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


Cells: TypeAlias = ArrayOf[np.object_]
Factor: TypeAlias = tuple[tuple[int, ...], Cells]
"""Features, and a float or text per combination of their codes and per class."""


class ScoreColumns:
    """Makes the columns of scores. ``codes`` and ``numbers`` are columns by feature position."""

    def __init__(
        self, query: Query, scorer: Scorer, codes: Sequence[str], numbers: Sequence[str]
    ) -> None:
        self.query, self.codes, self.numbers, self.columns = query, codes, numbers, scorer.columns
        self.n_classes = len(scorer.labels)
        self.makers: dict[type, Callable[[Any, bool], list[str]]] = {
            Sum: self._scores_of_sum,
            Mixture: self._scores_of_mixture,
            Choice: self._scores_of_choice,
            Raised: self._scores_of_raised,
            Blend: self._scores_of_blend,
            Completed: self._scores_of_completed,
        }

    def score_columns_of(self, formula: Formula, relative: bool = True) -> list[str]:
        """Return the names of columns of scores, one per class; ``relative`` up to a constant."""
        texts = self.makers[type(formula)](formula, relative)
        shift = getattr(formula, "shift", None)
        if shift is not None:
            texts = [f"{text}+{sql_number(own)}" for text, own in zip(texts, shift, strict=True)]
        return list(map(self.query.add_column, texts))

    def _scores_of_mixture(self, formula: Mixture, relative: bool) -> list[str]:
        # ln Σ_i exp(log_weight_i + score_i) per class; -2e300 stands for a formula without score
        weighted: list[list[str]] = [[] for _ in range(self.n_classes)]
        for one, weight in zip(formula.formulas, formula.log_weights.tolist(), strict=True):
            for texts, score in zip(
                weighted, self.score_columns_of(one, relative=False), strict=True
            ):
                texts.append(
                    f"CASE WHEN {score} IS NULL THEN -2e300 WHEN {score}< {NEARLY} "
                    f"THEN {IMPOSSIBLE} ELSE {score}+{sql_number(weight)} END"
                )
        result = []
        for texts in weighted:
            names = [self.query.add_column(text) for text in texts]
            top = column_of_maximum(self.query, names)
            total = sql_sum([exp_of_difference(name, top) for name in names])
            result.append(
                f"CASE WHEN {top}<-1.5e300 THEN NULL WHEN {top}< {NEARLY} THEN {IMPOSSIBLE} "
                f"ELSE {top}+LN({total}) END"
            )
        return result

    def _scores_of_choice(self, formula: Choice, relative: bool) -> list[str]:
        by_formula = [self.score_columns_of(one, relative) for one in formula.formulas]
        return [f"COALESCE({', '.join(names)}, NULL)" for names in zip(*by_formula, strict=True)]

    def _scores_of_raised(self, formula: Raised, relative: bool) -> list[str]:
        # power + (1 - power) · the share of missing features
        slope = (1 - formula.power) / max(1, len(self.codes))
        n_missing = self._null_count_column(self.codes)
        text = f"{ZERO}+{sql_number(formula.power)}+{sql_number(slope)}*{n_missing}"
        power = self.query.add_column(text)
        return [f"{power}*{score}" for score in self.score_columns_of(formula.formula, relative)]

    def _scores_of_blend(self, formula: Blend, relative: bool) -> list[str]:
        """Return the score or, if features are missing, (1 - h) terms + h trees; see `Fading`."""
        rule = formula.rule
        usual = list(zip(self.codes, list[float](rule.usual.tolist()), strict=True))
        total = float(rule.usual.sum()) or 1.0
        shares = [
            f"CASE WHEN {code} IS NULL THEN {sql_number(share / total)} ELSE 0e0 END"
            for code, share in usual
        ]
        h = self.query.add_column(sql_sum([ZERO, *shares]))
        kept = self.query.add_column(f"1-{h}")  # the weight of the terms
        base, rest = sql_number(rule.power), sql_number(1 - rule.power)
        # the weight of each tree
        power = self.query.add_column(f"(1-{kept})*({base}+{rest}*{h})/{len(formula.trees)}")
        by_tree = [self.score_columns_of(tree) for tree in formula.trees]
        scores = self.score_columns_of(formula.formula, relative)
        n_missing = self._null_count_column(self.codes)
        texts = []
        for c, score in enumerate(scores):
            prior = f"(1-{kept})*{sql_number(formula.log_prior[c])}"
            of_trees = f"{power}*{sql_sum([tree_scores[c] for tree_scores in by_tree])}"
            blended = sql_sum([f"{kept}*{score}", prior, of_trees])
            texts.append(f"CASE WHEN {n_missing}=0 THEN {score} ELSE {blended} END")
        return texts

    def _scores_of_completed(self, formula: Completed, relative: bool) -> list[str]:
        """Return the sum, or NULL if a value is missing of which training says nothing."""
        read = list(self.codes)
        if self.n_classes == 2:  # without columns for the codes of numbers
            for i, column in enumerate(self.columns):
                read[i] = read[i] if column.cuts is None else self.numbers[i]
        others = [read[i] for i in np.flatnonzero(formula.unknown.gaps).tolist()]
        told = [f"{read[i]} IS NULL" for i in np.flatnonzero(formula.unknown.always).tolist()]
        if formula.unknown.most < len(others):
            told.append(f"{self._null_count_column(others)}>{formula.unknown.most:g}")
        if not told:
            return self.score_columns_of(formula.formula, relative)
        null = self.query.add_column(f"CASE WHEN {' OR '.join(told)} THEN NULL ELSE 0e0 END")
        return [f"{score}+{null}" for score in self.score_columns_of(formula.formula, relative)]

    def _null_count_column(self, codes: Sequence[str]) -> str:
        ones = [f"CASE WHEN {code} IS NULL THEN 1 ELSE 0 END" for code in codes]
        return self.query.add_column(sql_sum(["0", *ones]))

    def _scores_of_sum(self, formula: Sum, relative: bool) -> list[str]:
        if formula.marginalizes:
            return self._marginalized_scores(formula.terms)
        contributions: list[list[str]] = [[] for _ in range(self.n_classes)]
        for term in formula.terms:
            own: Any = term
            if relative and isinstance(term, Table) and np.isfinite(term.logs).all():
                own = replace(term, logs=term.logs - term.logs[..., :1])
            for c, texts in enumerate(contributions):
                text = self._contribution_of_table(own, c)
                if text not in ("0", ZERO):
                    texts.append(text)
        return list(map(sql_sum, contributions))

    def _contribution_of_table(self, term: Any, c: int) -> str:
        """Return the entry of a table for a class at a row; codes may mean a missing value."""
        codes = list(self._codes_of_table(term).values())
        logs = term.logs[..., c % term.logs.shape[-1]]
        is_plain = len(term.scope) == 1 and not term.codings
        cuts = self.columns[term.scope[0]].cuts if is_plain else None
        if cuts and self.n_classes == 2:  # without a column for the code
            return self._value_by_interval(term.scope[0], cuts, logs)
        if term.owner >= 0:  # the feature comes last, so that fewer parents need fewer branches
            codes, logs = [*codes[1:], codes[0]], np.moveaxis(logs, 0, -1)
        nested = _nested_case_by_codes(codes, logs)
        # SQLite reads the text NULL as 0, and other databases refuse it.
        return nested if np.isnan(logs).any() else min(nested, _cut_from_text(codes, logs), key=len)

    def _value_by_interval(self, feature: int, cuts: Sequence[float], logs: Array) -> str:
        """Return the look-up of a value by the interval that contains a number."""
        logs = logs.round(10)  # digits of the many entries of an effect in steps
        *texts, last = map(sql_entry, logs[: len(cuts) + 1].tolist())
        missing = sql_entry(logs[self.columns[feature].missing])
        if not any(text != "0" for text in (*texts, last, missing)):
            return "0"
        x = self.numbers[feature]
        of_intervals = case_by_intervals(x, cuts, [*texts, f"{ZERO}+{last}"])
        return f"CASE WHEN {x} IS NULL THEN {missing} {of_intervals.removeprefix('CASE ')}"

    def _codes_of_table(self, term: Table) -> dict[int, str]:
        """Return the columns of codes of the features of a table, in its codings.

        With the coding (0, 0, 1, 1, -1), codes up to 1 become 0, others 1, and
        NULL stays NULL. The last code is that of NULL, unless it is -1.
        """
        codes = {v: self.codes[v] for v in term.scope}
        for (v, code), coding in zip(codes.items(), term.codings, strict=False):
            if coding is not None:
                known: list[int] = coding[:-1].tolist()
                ends = [i for i in range(len(known) - 1) if known[i] != known[i + 1]]
                texts = [str(known[i]) for i in [*ends, len(known) - 1]]
                coded, missing = case_by_intervals(code, ends, texts), _code_or_null(coding[-1])
                text = f"CASE WHEN {code} IS NULL THEN {missing} ELSE {coded} END"
                codes[v] = self.query.add_column(text)
        return codes

    def _factor_of_term(self, term: Term) -> Factor:
        """Return a term of a network as a factor: a table, or a density at the row's number."""
        if isinstance(term, Table):
            return term.scope, term.logs.astype(object)
        assert isinstance(term, Normal)
        x = self.numbers[term.owner]
        rests = np.zeros(term.mean.shape) if term.rest is None else term.rest
        moments = zip(*[a.ravel().tolist() for a in (term.mean, term.variance, rests)], strict=True)
        texts = []
        for mean, variance, rest in moments:
            from_mean = f"({x}+{-mean!r})"
            # 1e-12: part of a standard deviation that changes no score by more than rounding does
            if abs(rest) > 1e-12 * sqrt(variance):
                from_mean = f"({from_mean}+{-rest!r})"
            texts.append(
                f"CASE WHEN {x} IS NULL THEN 0e0 WHEN ABS({x})>{FARTHEST} THEN {IMPOSSIBLE} "
                f"ELSE {sql_number(-log(2 * pi * variance) / 2)}"
                f"+{sql_number(-0.5 / variance)}*{from_mean}*{from_mean} END"
            )
        return term.scope, np.array(texts, dtype=object).reshape(term.mean.shape)

    def _marginalized_scores(self, terms: Sequence[Term]) -> list[str]:
        """Return the scores, all features being eliminated, whether they are missing or not."""
        factors = [self._factor_of_term(term) for term in terms]
        codes: dict[int, str] = {}  # in the coding that the tables of a network share
        for term in terms:
            codes |= self._codes_of_table(term) if isinstance(term, Table) else {}
        cards = {v: r for scope, cells in factors for v, r in zip(scope, cells.shape, strict=False)}

        def without_feature(v: int, touching: list[Factor]) -> Factor:
            scope = tuple(sorted({u for s, _ in touching for u in s} - {v}))
            if prod(cards[u] for u in (v, *scope)) * self.n_classes > MOST_CHARACTERS // 20:
                raise TooLargeError
            aligned = []  # cells with one axis per feature, of length 1 if it is not in the factor
            for own, cells in touching:
                axes = sorted(range(len(own)), key=lambda i: (v, *scope).index(own[i]))
                places = [i for i, u in enumerate((v, *scope)) if u not in own]
                aligned.append(np.expand_dims(cells.transpose(*axes, len(own)), places))
            return scope, self._factor_without_feature(codes[v], aligned)

        order, _ = plan_elimination(list(cards), [scope for scope, _ in factors], cards)
        factors = eliminate_variables(order, factors, without_feature)
        result = []
        for c in range(self.n_classes):  # each factor that is left has one cell per class, or one
            texts = []
            for _, cells in factors:
                cell = cells.ravel()[c % cells.size]
                if cell != "0e0":
                    texts.append(cell if isinstance(cell, str) else sql_number(cell))
            result.append(sql_sum(texts))
        return result

    def _factor_without_feature(self, code: str, factors: list[Cells]) -> Cells:
        """Return the factor over the others, with all axes: at the code or, if NULL, the sum."""
        # Cells are numbers, of tables, or texts, of factors from which a feature was eliminated.
        tables = [cells.astype(np.float64) for cells in factors if isinstance(cells.flat[0], float)]
        others = [cells for cells in factors if not isinstance(cells.flat[0], float)]
        shape = np.broadcast_shapes(*[cells.shape for cells in factors])
        logs = sum(tables, np.zeros(shape))
        result = np.empty(shape[1:], dtype=object)
        if not others:
            sums = log_sum_exp(logs, axis=0)
            for at in np.ndindex(result.shape):
                texts = list(map(sql_entry, list[float](logs[(slice(None), *at)].tolist())))
                result[at] = case_by_code(code, texts, sql_entry(float(sums[at])))
            return result
        # ln Σ_v exp(log_v + evidence_v) = top + ln Σ_v exp(log_v) exp(evidence_v - top)
        evidence = np.empty(np.broadcast_shapes(*[cells.shape for cells in others]), dtype=object)
        add = np.frompyfunc(self.query.add_column, 1, 1)
        # a text that occurs in several sums gets its own column
        once = [cells if cells.size == evidence.size else add(cells) for cells in others]
        broadcast = np.broadcast_arrays(*once)
        for at in np.ndindex(evidence.shape):
            texts = [str(cells[at]) for cells in broadcast if cells[at] != ZERO]
            evidence[at] = self.query.add_column(sql_sum(texts))
        tops = np.empty((1, *evidence.shape[1:]), dtype=object)
        for at in np.ndindex(tops.shape[1:]):
            names: list[str] = evidence[(slice(None), *at)].tolist()
            tops[0][at] = column_of_maximum(self.query, names, f"{code} IS NOT NULL")
        differences = np.frompyfunc(exp_of_difference, 2, 1)(evidence, tops)
        shares = add(differences)
        evidence, tops, shares, _ = np.broadcast_arrays(evidence, tops, shares, logs)
        for at in np.ndindex(result.shape):
            column = (slice(None), *at)
            masses, observed, top = list[str](), list[str](), tops[column][0]
            of_levels = zip(logs[column].tolist(), evidence[column], shares[column], strict=True)
            for log_v, name, share in of_levels:
                observed.append(f"{name}+{sql_entry(log_v)}" if log_v else name)
                if exp(log_v):
                    masses.append(f"{sql_number(exp(log_v))}*{share}")
            mass = self.query.add_column(sql_sum(masses))
            total = f"CASE WHEN {mass}>0 THEN {top}+LN({mass}) ELSE {IMPOSSIBLE} END"
            result[at] = case_by_code(code, observed, total)
        return result


def _nested_case_by_codes(codes: Sequence[str], values: Array) -> str:
    """Return the look-up of values by codes, one per axis, of which the last entry is for NULL."""
    if not codes:
        return sql_entry(values.item())
    *texts, default = [_nested_case_by_codes(codes[1:], values[i, ...]) for i in range(len(values))]
    return case_by_code(codes[0], texts, default)


def _cut_from_text(codes: Sequence[str], values: Array) -> str:
    """Return the look-up of values as above, of which each is a part of a text.

    Example: of the values [[.5, 1], [-2, 0]], the one at the codes (i, j) has 2
    characters of ' .5 1-2 0' from the position 1 + 2 (2i + j). If all values for
    NULL are 0, they are not in the text.
    """
    default = ""
    if not any(np.moveaxis(values, axis, 0)[-1].any() for axis in range(values.ndim)):
        values, default = values[(slice(-1),) * values.ndim], ZERO
    entries = list(map(sql_entry, values.ravel().tolist()))
    width = max(map(len, entries), default=1)
    at = "0"
    for code, size in zip(codes, values.shape, strict=True):
        known = code if default else f"COALESCE({code},{size - 1})"
        at = f"({at})*{size}+{known}".removeprefix(f"(0)*{size}+")
    text = "".join([entry.rjust(width) for entry in entries])
    cut = f"CAST(SUBSTR('{text}',1+{width}*({at}),{width}) AS DOUBLE PRECISION)"
    return f"COALESCE({cut},{default})" if default else cut


MOST_CHARACTERS = 1_000_000
"""Largest number of characters of a statement; the default of SQLite is the same."""

ZERO = "v1"
"""The column of zeros of type DOUBLE PRECISION."""

IMPOSSIBLE = "-1e300"
NEARLY = "-1e250"  # scores below are impossible
FARTHEST = "1e120"  # numbers beyond are impossible: PostgreSQL refuses squares that are infinite
MOST_ODDS = 600  # difference of logs from which EXP is 0, so that products do not underflow
_BRANCHES = 8
_NAME = re.compile(r"\bv\d+\b")
_PLAIN = re.compile(r"-?[\d.]+")


class TooLargeError(Exception):
    """The statement would have too many characters."""


class Query:
    """Columns by name, each with its text and the number of the SELECT that computes it.

    If it is ``typed``, columns of numbers in the table are numbers.
    """

    def __init__(self, typed: bool = False) -> None:
        self.typed = typed
        self.columns: dict[str, str] = {}
        self.stages: dict[str, int] = {}
        self.size = 0
        self.add_source_column("CAST(0 AS DOUBLE PRECISION)")  # the column ZERO

    def add_source_column(self, text: str) -> str:
        """Return the name of a column that is computed from the columns of the table."""
        return self._add_column_at_stage(text, 1)

    def add_column(self, text: str) -> str:
        """Return the name of a column that is computed from other columns."""
        if text in self.stages:  # the name of a column
            return text
        stages = [self.stages[name] for name in _NAME.findall(text)]
        return self._add_column_at_stage(text, 1 + max(stages, default=1))

    def _add_column_at_stage(self, text: str, stage: int) -> str:
        if text not in self.columns:
            self.size += len(text)
            if self.size > MOST_CHARACTERS:
                raise TooLargeError
            name = f"v{len(self.columns) + 1}"
            self.columns[text], self.stages[name] = name, stage
        return self.columns[text]

    def select_clauses(self, keys: Sequence[str], outputs: Sequence[str]) -> list[str]:
        """Return the beginnings of the SELECTs of the chain, of which the last has the outputs."""
        stages, end = self.stages, max([self.stages[name] for name in outputs], default=1)
        # The last stage that uses each column; columns that no output needs have none.
        last = dict.fromkeys(outputs, 1 + end)
        for text, name in reversed(self.columns.items()):
            if stages[name] > 1 and name in last:
                for used in _NAME.findall(text):
                    last[used] = max(last.get(used, 0), stages[name])
        columns = [(text, name) for text, name in self.columns.items() if name in last]
        result = []
        for stage in range(1, 1 + end):
            texts = [f"{text} AS {name}" for text, name in columns if stages[name] == stage]
            kept = [name for _, name in columns if stages[name] < stage < last[name]]
            chosen = [f"r.{key} AS k{i}" if stage == 1 else f"k{i}" for i, key in enumerate(keys)]
            chosen += [*kept, *texts]
            if len(chosen) > 1600:  # maximum number of columns of a SELECT in PostgreSQL, less some
                raise TooLargeError
            result.append(f"SELECT {', '.join(chosen or ['1 AS v0'])}")
        return result


def sql_number(value: float) -> str:
    """Return a number as SQL, of type double in DuckDB."""
    if isnan(value):
        return "NULL"
    text = IMPOSSIBLE if value == -np.inf else f"{value:.14g}"
    return text if "e" in text else f"{text}e0"


def sql_entry(value: float) -> str:
    """Return an entry of a table as SQL, briefly; `case_by_code` sets the type of all entries."""
    if not isfinite(value):
        return sql_number(value)
    text = f"{value:.12f}".rstrip("0").rstrip(".").replace("0.", ".", 1 if abs(value) < 1 else 0)
    return "0" if text in ("-0", "") else text


def sql_sum(texts: Sequence[str]) -> str:
    """Return a sum, in parentheses so that it is not nested deeply."""
    texts = list(texts) or ["0e0"]
    while len(texts) > 1:
        texts = ["+".join(texts[i : i + _BRANCHES]) for i in range(0, len(texts), _BRANCHES)]
        texts = [f"({text})" for text in texts]
    return texts[0]


def case_by_code(code: str, texts: Sequence[str], default: str) -> str:
    """Return the text at the position of a code, and the default if it is NULL or none of them."""
    cases = [f"WHEN {i} THEN {text} " for i, text in enumerate(texts) if text != default]
    if _PLAIN.fullmatch(default):  # so that all entries are read as DOUBLE PRECISION
        default = ZERO if default == "0" else f"{ZERO}+{default}"
    return f"CASE {code} {''.join(cases)}ELSE {default} END" if cases else default


def sql_cut_point(point: float) -> str:
    """Return a cut point as SQL, clipped like numbers; DuckDB 1.3 rounds decimals otherwise."""
    text = cut_point_as_text(min(max(point, -_MOST), _MOST))
    # 15: number of characters of a number that any database reads exactly
    return f"{text}e0" if len(text) > 15 and "e" not in text else text


def case_by_intervals(name: str, points: Sequence[float], texts: Sequence[str]) -> str:
    """Return the text of the interval of a number; there is one more than points between."""
    size = ceil(len(texts) / _BRANCHES)  # of the texts of a branch, with size - 1 points between
    parts = list(texts)
    if size > 1:
        parts = []
        for i in range(0, len(texts), size):
            inner = points[i : i + size - 1]
            parts.append(case_by_intervals(name, inner, texts[i : i + size]))
    cases = zip(points[size - 1 :: size], parts, strict=False)
    text = "".join(f"WHEN {name}<={sql_cut_point(point)} THEN {part} " for point, part in cases)
    return f"CASE {text}ELSE {parts[-1]} END" if text else parts[-1]


def column_of_maximum(query: Query, names: Sequence[str], unless: str = "") -> str:
    """Return the name of a column with the largest of several columns, NULL under a condition."""
    while len(names) > _BRANCHES:
        groups = [names[i : i + _BRANCHES] for i in range(0, len(names), _BRANCHES)]
        names = [column_of_maximum(query, group, unless) for group in groups]
    cases = [f"WHEN {unless} THEN NULL "] if unless else []
    for i, name in enumerate(names[:-1]):
        is_largest = " AND ".join([f"{name}>={other}" for other in names[i + 1 :]])
        cases.append(f"WHEN {is_largest} THEN {name} ")
    return query.add_column(f"CASE {''.join(cases)}ELSE {names[-1]} END" if cases else names[-1])


def exp_of_difference(name: str, top: str) -> str:
    """Return exp(name - top), for a difference of at most 0."""
    return f"CASE WHEN {name}-{top}< -{MOST_ODDS} THEN 0e0 ELSE EXP({name}-{top}) END"


def is_compared_as_text(column: ColumnCoding) -> bool:
    """Whether the values of a column are compared as text."""
    if column.cuts is not None or column.is_number:
        return False
    known = column.known  # numbers and bools are compared as numbers, of any type in the database
    are_flags = all(isinstance(label, bool) for label in known)
    return not known or not (are_flags or (are_numbers(known) and not _has_long(known)))


def raw_column_value(column: ColumnCoding) -> str:
    """Return the value of a column as it is in the table."""
    return f"r.{quoted_identifier(str(column.name))}"


def column_as_text(column: ColumnCoding) -> str:
    """Return the value of a column as text."""
    return f"CAST({raw_column_value(column)} AS VARCHAR)"


def are_numbers(labels: Sequence[Hashable]) -> bool:
    """Whether all labels are numbers."""
    return all(type(label) in (int, float) for label in labels)


def has_long_integers(column: ColumnCoding) -> bool:
    """Whether a column has numbers as levels, some of them integers that floats merge."""
    is_label = column.cuts is None and not column.is_number
    return is_label and are_numbers(column.known) and _has_long(column.known)


def _has_long(labels: Sequence[Hashable]) -> bool:
    return any(isinstance(label, int) and abs(label) >= 2**53 for label in labels)


def conditions_of_numbers(name: str, labels: Sequence[Any]) -> list[str]:
    """Return for each label whether a number equals it; rounding of fractions is tolerated."""
    if not any(type(label) is float for label in labels):
        return [f"{name} = {int(label)!r}" for label in labels]
    margin = rounding_of_numbers(labels)
    ends = [[sql_cut_point(x - margin), sql_cut_point(x + margin)] for x in labels]
    return [f"{name} BETWEEN {low} AND {high}" for low, high in ends]


_FLAGS = (
    (["true", "True", "t", "1"], ("yes", "y", "true", "t", "on")),
    (["false", "False", "f", "0"], ("no", "n", "false", "f", "off")),
)
"""How databases write true and false, and the words of which they make them."""


def texts_of_labels(labels: Sequence[Hashable]) -> list[list[str]]:
    """Return how databases write each label as text, a word such as yes also as a boolean.

    >>> texts_of_labels(["no", "yes"])
    [['no', 'false', 'False', '0'], ['yes', 'true', 'True', '1']]
    """
    result = [_FLAGS[not x][0] if isinstance(x, bool) else [str(x)] for x in labels]
    own = {text for texts in result for text in texts}
    for texts, words in _FLAGS:
        found = [i for i, x in enumerate(labels) if str(x).strip().casefold() in words]
        if len(found) == 1:
            added = [text for text in texts if text not in own and text not in "tf"]
            result[found[0]] = result[found[0]] + added
    return result


def label_literals(labels: Sequence[Hashable]) -> list[str]:
    """Return labels as constants of one type."""
    if all(isinstance(label, bool) for label in labels):
        return [str(label).upper() for label in labels]
    if all(type(label) is int and abs(label) < 2**63 for label in labels):
        return list(map(str, labels))
    if are_numbers(labels) and not _has_long(labels):
        return [f"CAST({label!r} AS DOUBLE PRECISION)" for label in labels]
    return [text_literal(str(label)) for label in labels]


def text_literal(text: str) -> str:
    """Return text as a constant."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def quoted_identifier(name: str) -> str:
    """Return a name as an identifier."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


_HUGE, _MOST, _TINY = "1e300", 9e299, "1e-120"  # no cut point is beyond a huge number
_LEAST = 1e-199
_LARGEST = repr(sys.float_info.max)
# Of digits up to 300, each replaced by one 0.
_RUNS = ("0" * 16, "0" * 16, "0" * 4, "0" * 4, "00", "00")
_MANTISSAS, _EXPONENTS = ("0", "0.", "0.0", ".0"), ("", "e0", "e+0", "e-0")
_FORMS = ",".join(f"'{mantissa}{exponent}'" for mantissa in _MANTISSAS for exponent in _EXPONENTS)
_MANY_DIGITS = (
    "LENGTH({0})>100 OR {0} LIKE '%e____%' OR {0} LIKE '%e___' AND "
    "SUBSTR({0},LENGTH({0})-2,1) >= '0'"
)
"""Whether a number has many digits, or three in its exponent."""
_ENDS = " OR ".join(f"{{0}} LIKE '%e{sign}{digit}__'" for digit in "01" for sign in ("", "+", "-"))
_LARGE = "({0} LIKE '_.%' OR {0} LIKE '_e%') AND ({0} LIKE '%e2__' OR {0} LIKE '%e+2__')"
_FEW_DIGITS = f"LENGTH({{0}})<=100 AND ({_ENDS} OR {_LARGE})"


def cleaned_column(query: Query, column: ColumnCoding) -> str:
    """Return a feature's column as text, or as a number that is NULL for other text, by name."""
    is_long = has_long_integers(column)
    if is_compared_as_text(column) and not is_long:
        # without collation in SQLite
        return query.add_source_column(f"{column_as_text(column)}||''")
    if query.typed and not is_long and not has_boolean_labels(column):
        return query.add_source_column(typed_column_value(column))
    text = query.add_source_column(f"LOWER(TRIM({column_as_text(column)},' \t\n\r\f\v'))")
    unsigned = f"CASE WHEN SUBSTR({text},1,1) IN ('+','-') THEN SUBSTR({text},2) ELSE {text} END"
    digits = query.add_column(unsigned)
    kind = query.add_column(sql_kind_of_text(column, text, digits))
    # PostgreSQL needs text of flags.
    has_flags = _may_hold_booleans(column)
    value = query.add_source_column(
        column_as_text(column) if has_flags else raw_column_value(column)
    )
    # Numbers from 1e300 are 1e300, and those nearer to 0 than 1e-199 are 1e-120, because PostgreSQL
    # raises an error for numbers out of range.
    huge = f"CASE WHEN {text} LIKE '-%' THEN -{_HUGE} ELSE {_HUGE} END"
    of_kinds = [f"CAST({value} AS DOUBLE PRECISION)", _TINY, huge, "1e0", "0e0"]
    numbers = [f"WHEN {i} THEN {own}" for i, own in enumerate(of_kinds, 1) if i != 4 or has_flags]
    number = query.add_column(f"CASE {kind} {' '.join(numbers)} END")
    if not is_long:
        return number
    # A long integer, which floats merge with others, is compared as text: 2**53 + 1 is not
    # 9.007199254740992e15. Others are compared as numbers: 1.0 is 1, and 1e20 is
    # 100000000000000000000. Other values equal no level.
    is_exact = f"LENGTH({text})>15 AND {text} NOT LIKE '%.%' AND {text} NOT LIKE '%e%'"
    levels = [x for x in column.known if isinstance(x, int | float) and float(x) == x]
    cases = [f"WHEN {x if abs(x) < 2**63 else float(x)!r} THEN '{x}' " for x in levels]
    of_number = f"CASE {number} {''.join(cases)}ELSE '' END" if cases else "''"
    return query.add_column(
        f"CASE WHEN {number} IS NULL THEN NULL WHEN {is_exact} THEN {text} ELSE {of_number} END"
    )


def has_boolean_labels(column: ColumnCoding) -> bool:
    """Whether a column has booleans, which databases write in several forms."""
    return any(isinstance(label, bool) for label in column.known)


def typed_column_value(column: ColumnCoding) -> str:
    """Return the value of a column that has the type of its levels; NaN and infinity are NULL."""
    if is_compared_as_text(column):
        return raw_column_value(column)
    number = f"CAST({raw_column_value(column)} AS DOUBLE PRECISION)"
    # NaN is above all numbers in DuckDB and PostgreSQL. A level is never infinite.
    is_level = column.cuts is None and not column.is_number
    return number if is_level else f"CASE WHEN ABS({number}) <= {_LARGEST} THEN {number} END"


def sql_kind_of_text(column: ColumnCoding, text: str, digits: str) -> str:
    """Return what a text and its unsigned form represent, for `cleaned_column`, or NULL.

    A text represents a number if its digits, as zeros, make one of a few forms.
    """
    form = digits
    for old in (*"123456789", *_RUNS):
        form = f"REPLACE({form},'{old}','0')"
    many, few = _MANY_DIGITS.format(digits), _FEW_DIGITS.format(digits)
    cases = [
        f"NOT ({many}) OR {few} OR {digits} NOT LIKE '%e%' THEN 1",
        f"{digits} LIKE '%e-___' AND SUBSTR({digits},LENGTH({digits})-2)<'325' THEN 2",
        f"{digits} LIKE '%e-%' THEN 5",
    ]
    of_number = f"CASE WHEN {' WHEN '.join(cases)} ELSE 3 END"
    kinds = [f"LENGTH({digits})<=300 AND {form} IN ({_FORMS}) THEN {of_number}"]
    if has_boolean_labels(column):
        one, zero = ([text_literal(word) for word in words] for _, words in _FLAGS)
        kinds.append(f"{text} IN ({','.join(one)}) THEN 4 WHEN {text} IN ({','.join(zero)}) THEN 5")
    elif _may_hold_booleans(column):
        kinds.append(f"{text} IN ('true','t') THEN 4 WHEN {text} IN ('false','f') THEN 5")
    return f"CASE WHEN {' WHEN '.join(kinds)} END"


def _may_hold_booleans(column: ColumnCoding) -> bool:
    return bool(column.known) and {*column.known} <= {0, 1}
