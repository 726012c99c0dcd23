"""Formulas of scores evaluated in plain Python, as other languages do, beside `predict`."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.export.scorer import scorer_of_model
from bnclassify.scores import (
    Blend,
    Choice,
    Completed,
    Mixture,
    Raised,
    Rows,
    Sum,
    Table,
    averaged_formulas,
    scores_at,
)

from .zoo import CASES, case


def code_of(column, value):
    """Return the code of a raw value."""
    if pd.isna(value):
        return column.missing
    if column.cuts is not None:
        return sum(cut < value for cut in column.cuts)
    return column.known.index(value) if value in column.known else column.other


def log_total(logs):
    top = max(logs)
    return top if math.isinf(top) else top + math.log(sum(math.exp(log - top) for log in logs))


class Row:
    """A row of codes and numbers, at which formulas are evaluated."""

    def __init__(self, scorer, values):
        self.n_classes = len(scorer.labels)
        self.codes = [code_of(*pair) for pair in zip(scorer.columns, values, strict=True)]
        self.numbers = [
            float(value) if column.is_number and not pd.isna(value) else math.nan
            for column, value in zip(scorer.columns, values, strict=True)
        ]
        self.share = sum(code < 0 for code in self.codes) / max(1, len(self.codes))

    def scores(self, formula):
        shift = getattr(formula, "shift", None)
        if shift is not None:  # of given class proportions
            scores = self.scores(replace(formula, shift=None))
            return [score + own for score, own in zip(scores, shift.tolist(), strict=True)]
        if isinstance(formula, Sum):
            return self.marginal(formula) if formula.marginalizes else self.sum(formula)
        if isinstance(formula, Mixture):
            pairs = zip(formula.formulas, formula.log_weights.tolist(), strict=True)
            found = [[score + weight for score in self.scores(part)] for part, weight in pairs]
            found = [scores for scores in found if not math.isnan(scores[0])]
            return [log_total(list(logs)) for logs in zip(*found, strict=True)] or [math.nan] * self.n_classes
        if isinstance(formula, Choice):
            found = [self.scores(part) for part in formula.formulas]
            return next(scores for scores in found if not math.isnan(scores[0]))
        if isinstance(formula, Completed):
            return self.completed(formula)
        scores = self.scores(formula.formula)
        if isinstance(formula, Raised):
            return [(formula.power + (1 - formula.power) * self.share) * score for score in scores]
        assert isinstance(formula, Blend)
        lacks = [code < 0 for code in self.codes]
        if not any(lacks):
            return scores
        rule, usual = formula.rule, formula.rule.usual.tolist()
        h = sum(u for u, lack in zip(usual, lacks, strict=True) if lack) / (sum(usual) or 1)
        power = (rule.power + (1 - rule.power) * h) / len(formula.trees)
        trees = [sum(logs) for logs in zip(*map(self.scores, formula.trees), strict=True)]
        blended = zip(scores, formula.log_prior.tolist(), trees, strict=True)
        return [(1 - h) * score + h * (prior + power * tree) for score, prior, tree in blended]

    def sum(self, formula):
        """Add up terms whose tables have an entry for missing values."""
        total = [0.0] * self.n_classes
        for term in formula.terms:
            values = self.look_up(term.logs, self.places(term))
            total = [a + b for a, b in zip(total, values, strict=True)]
        return total

    def completed(self, formula):
        """Complete a sum by the moments of effects, as jointly normal numbers."""
        told, q = formula.unknown, self.n_classes - 1
        lacks = [code < 0 for code in self.codes]
        too_many = sum(lack and gap for lack, gap in zip(lacks, told.gaps, strict=True)) > told.most
        hidden = [
            lack and (always or (gap and too_many))
            for lack, always, gap in zip(lacks, told.always, told.gaps, strict=True)
        ]
        scopes = [term.scope for term in formula.formula.terms if term.owner >= 0]
        unknown = [i for i, scope in enumerate(scopes) if any(hidden[v] for v in scope)]
        known = [i for i, scope in enumerate(scopes) if not any(lacks[v] for v in scope)]
        rows = {
            i - 1: self.look_up(term.logs, self.places(term)) for i, term in enumerate(formula.formula.terms)
        }
        effects = {i: [x - logs[0] for x in logs[1:]] for i, logs in rows.items()}
        at, of = ([i * q + c for i in some for c in range(q)] for some in (known, unknown))
        s = told.covariances
        weights = (
            np.linalg.inv(s[np.ix_(at, at)]) @ s[np.ix_(at, of)]
            if at and of
            else np.zeros((len(at), len(of)))
        )
        rest = s[np.ix_(of, of)] - s[np.ix_(of, at)] @ weights
        away = [effects[i][c] - told.means[i, c] for i in known for c in range(q)]
        means = np.array([told.means[i, c] for i in unknown for c in range(q)]) + np.array(away) @ weights
        total = [sum(e[c] for i, e in effects.items() if i not in unknown) for c in range(q)]

        def shrunk(odds, covariances):
            n = len(covariances) // q
            v = sum(covariances[a * q + c, b * q + c] for a in range(n) for b in range(n) for c in range(q))
            v = 2 / q * (v - covariances.sum() / (q + 1))
            return [x / math.sqrt(1 + math.pi / 8 * v) for x in odds], v

        start = [sum(told.means[:, c]) + effects[-1][c] for c in range(q)]
        first, whole = shrunk(start, s)
        found, v = shrunk([x + means[c::q].sum() for c, x in enumerate(total)], rest)
        logs = np.log(told.shares)
        steps = [(logs[c + 1] - logs[0] - first[c]) * v / whole for c in range(q)]
        return [0.0, *[x + step for x, step in zip(found, steps, strict=True)]]

    def places(self, term, codes=None):
        given = [self.codes[v] if codes is None or v not in codes else codes[v] for v in term.scope]
        codings = getattr(term, "codings", ()) or [None] * len(given)
        return [
            int(coding[code]) if coding is not None and (codes is None or v not in codes) else code
            for v, code, coding in zip(term.scope, given, codings, strict=True)
        ]

    def look_up(self, table, places):
        """Return one number per class; the place -1 is the last."""
        values = table[tuple(places)].tolist()
        return values if len(values) == self.n_classes else values * self.n_classes

    def marginal(self, formula):
        """Eliminate missing features one by one; a factor maps their codes to one number per class."""
        factors = [self.factor(term) for term in formula.terms]
        missing = [v for v, code in enumerate(self.codes) if code < 0]
        while missing:
            sizes = {v: len({u for scope, _ in factors if v in scope for u in scope}) for v in missing}
            v = min(missing, key=sizes.__getitem__)  # few others are left to be combined with it
            missing.remove(v)
            touching = [factor for factor in factors if v in factor[0]]
            if touching:
                factors = [factor for factor in factors if v not in factor[0]]
                factors.append(eliminate(v, touching, self.n_classes))
        return [sum(logs) for logs in zip(*[table[()] for _, table in factors], strict=True)]

    def factor(self, term):
        """Return the missing features in the scope of a term, and its values at the codes of these."""
        table = term.logs if isinstance(term, Table) else term.mean
        cards = dict(zip(term.scope, table.shape, strict=False))
        free = [v for v in term.scope if self.codes[v] < 0]
        values = {}
        for codes in product(*[range(cards[v]) for v in free]):
            places = self.places(term, dict(zip(free, codes, strict=True)))
            if isinstance(term, Table):
                values[codes] = self.look_up(term.logs, places)
            else:
                pairs = zip(
                    term.mean[tuple(places)].tolist(), term.variance[tuple(places)].tolist(), strict=True
                )
                x = self.numbers[term.owner]
                values[codes] = [
                    0.0 if math.isnan(x) else -(math.log(2 * math.pi * v) + (x - m) * (x - m) / v) / 2
                    for m, v in pairs
                ]
        return free, values


def eliminate(v, factors, n_classes):
    """Sum the product of factors over the values of a feature."""
    scope = sorted({u for s, _ in factors for u in s} - {v})
    cards = {u: 1 + max(codes[i] for codes in t) for s, t in factors for i, u in enumerate(s)}
    result = {}
    for codes in product(*[range(cards[u]) for u in scope]):
        given, logs = dict(zip(scope, codes, strict=True)), []
        for value in range(cards[v]):
            given[v] = value
            found = [table[tuple(given[u] for u in s)] for s, table in factors]
            logs.append([sum(f[c] for f in found) for c in range(n_classes)])
        result[codes] = [log_total(list(by_value)) for by_value in zip(*logs, strict=True)]
    return scope, result


def posteriors(scorer, frame):
    rows = []
    for values in zip(*[frame[column.name].tolist() for column in scorer.columns], strict=True):
        scores = Row(scorer, list(values)).scores(scorer.formula)
        top = max(scores)
        masses = [1.0 if math.isinf(top) else math.exp(score - top) for score in scores]
        rows.append([mass / sum(masses) for mass in masses])
    return np.array(rows)


@pytest.mark.parametrize("name", CASES)
def test_formula_predicts_as_the_model(name):
    model, frame = case(name)
    expected = bn.predict(model, frame, prob=True, unseen="missing").to_numpy()
    np.testing.assert_allclose(posteriors(scorer_of_model(model), frame), expected, rtol=0, atol=1e-9)


def test_a_mixture_and_a_choice_leave_out_what_does_not_apply():
    logs = np.array([[0.0, 0.0], [np.nan, np.nan], [0.0, 0.0]])
    rare = Sum((Table(0, (0,), logs),), marginalizes=False)
    always = Sum((Table(0, (0,), np.log([[1.0, 3.0], [2.0, 5.0], [1.0, 1.0]])),), marginalizes=False)
    x = Mixture((rare, always), np.log([0.5, 0.5]))
    scores = np.exp(scores_at(x, Rows(np.array([[0, 1]]))))
    np.testing.assert_allclose(scores, [[1.0, 2.0], [1.0, 2.5]])
    nothing = Mixture((rare,), np.zeros(1))
    assert np.isnan(scores_at(nothing, Rows(np.array([[1]])))).all()
    assert averaged_formulas(x) == (rare, always)
    first = np.exp(scores_at(Choice((rare, always)), Rows(np.array([[0, 1]]))))  # as in the SQL of ANDE
    np.testing.assert_allclose(first, [[1.0, 1.0], [2.0, 5.0]])
