"""Formulas of scores as columns of SQL: a chain of SELECTs, of which each uses the one before.

Scores are DOUBLE PRECISION and never infinite: -1e300 stands for -inf, and NULL
for NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, log, pi, prod, sqrt
from typing import Any, TypeAlias

import numpy as np

from ..elimination import eliminate_variables, plan_elimination
from ..scores import (
    Blend,
    Choice,
    Coding,
    Completed,
    Formula,
    Mixture,
    Normal,
    Raised,
    Sum,
    Table,
    Term,
)
from ..tools.arrays import Array, ArrayOf, log_sum_exp
from .scorer import Scorer
from .sql_text import (
    FARTHEST,
    IMPOSSIBLE,
    MOST_CHARACTERS,
    NEARLY,
    ZERO,
    Query,
    TooLargeError,
    case_by_code,
    case_by_intervals,
    column_of_maximum,
    exp_of_difference,
    sql_entry,
    sql_number,
    sql_sum,
)

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
        return min(_nested_case_by_codes(codes, logs), _cut_from_text(codes, logs), key=len)

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

    def _code_of_feature(self, feature: int, coding: Coding) -> str:
        """Return the column of codes of a feature, in a coding.

        With the coding (0, 0, 1, 1, -1), codes up to 1 become 0, others 1, and
        NULL stays NULL. The last code is that of NULL, unless it is -1.
        """
        code = self.codes[feature]
        if coding is None:
            return code
        known: list[int] = coding[:-1].tolist()
        ends = [i for i in range(len(known) - 1) if known[i] != known[i + 1]]
        texts = [str(known[i]) for i in [*ends, len(known) - 1]]
        coded = case_by_intervals(code, ends, texts)
        missing = "NULL" if coding[-1] < 0 else str(coding[-1])
        return self.query.add_column(f"CASE WHEN {code} IS NULL THEN {missing} ELSE {coded} END")

    def _codes_of_table(self, term: Table) -> dict[int, str]:
        """Return the columns of codes of the features of a table, in its codings."""
        codings = term.codings or [None] * len(term.scope)
        return {
            v: self._code_of_feature(v, coding)
            for v, coding in zip(term.scope, codings, strict=True)
        }

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
