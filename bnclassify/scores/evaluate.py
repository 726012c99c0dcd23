"""The one evaluation of a fitted model: scores of rows, in sequence, by term, by feature.

`predict`, `explain`, `counterfactual`, `value_of_information` and `query`
evaluate the formula of a model by these functions. `to_sql` and `write_page`
write the same formula, so this module is also their specification.

- `scores_at` returns the scores of rows. A value can be *missing*, or
  *unknown*, which is not evidence. A sum that marginalizes does so for both. In
  other sums, the entry of a missing value is added. A term whose owner is
  unknown is not; an unknown parent has the entry of a missing one. `Completed`
  adds what the known effects say of the unknown ones.
- `scores_in_sequence` returns the scores of rows with the first 0, 1, 2 …
  features in an order, whose differences are the contributions that `explain`
  shows.
- `term_values_at` returns the terms of a sum, `effects_at` the parts of the
  scores that depend on some features alone, and `main_effects` their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from ..tools.arrays import BLOCK_ROWS, Array, Codes, Mask, log, log_sum_exp, slices
from .elimination import add_marginalized_terms, log_joint_of_network, posteriors_of_families
from .factors import DensityTerm, Factor, sum_terms
from .formulas import (
    Blend,
    Choice,
    Completed,
    Computed,
    Counted,
    Formula,
    Mixture,
    Normal,
    Numeric,
    Raised,
    Recoded,
    Sum,
    Table,
    formula_of_complete_rows,
    is_sum_of_tables,
)
from .rows import Rows
from .unknown import UNKNOWN

Effect: TypeAlias = tuple[int, tuple[int, ...], Array]
"""The owner of a part of the scores, the features it depends on, its (rows, classes) values."""


def scores_at(x: Formula, rows: Rows, *, adjusted: bool = True) -> Array:
    """Return the scores of rows, (rows, classes), NaN in rows to which the formula does not apply.

    Unless ``adjusted``, powers are those of complete rows and blends are their
    formulas alone.
    """
    if isinstance(x, Computed):
        return x.scores_of_rows(rows)
    if len(rows) <= BLOCK_ROWS:
        return _scores_of_block(x, rows, adjusted)
    blocks = map(rows.subset, slices(len(rows), most=BLOCK_ROWS))
    return np.concatenate([_scores_of_block(x, block, adjusted) for block in blocks])


def _scores_of_block(x: Formula, rows: Rows, adjusted: bool) -> Array:
    if isinstance(x, Sum):
        return _network_scores(x, rows) if x.marginalizes else _scores_of_sum(x, rows)
    if isinstance(x, Computed):
        return x.scores_of_rows(rows)
    if isinstance(x, Recoded):
        return _scores_of_block(x.formula, recoded_rows(x, rows), adjusted)
    if isinstance(x, Mixture):
        return _log_mixture(x, [_scores_of_block(each, rows, adjusted) for each in x.formulas])
    if isinstance(x, Choice):
        first, *others = [_scores_of_block(each, rows, adjusted) for each in x.formulas]
        for other in others:
            first = np.where(np.isnan(first), other, first)
        return first
    scores = _scores_of_block(x.formula, rows, adjusted)
    if isinstance(x, Completed):
        incomplete = np.flatnonzero(~rows.mask_of_complete_rows) if adjusted else ()
        if len(incomplete):
            start, parts = _completed_effects(x, rows.subset(incomplete))
            scores[incomplete] = start + parts.sum(axis=0)
    elif isinstance(x, Raised):
        scores = scores * (_power_per_row(x, rows) if adjusted else x.power)
    elif adjusted:
        _blend_incomplete_rows(x, scores, rows, scores_at)
    return scores if x.shift is None else scores + x.shift


def recoded_rows(x: Recoded, rows: Rows) -> Rows:
    """Return the rows at which the formula of `Recoded` is evaluated."""
    return Rows(x.change(rows.codes), rows.numbers, rows.unknown)


def _log_mixture(x: Mixture, scores: Sequence[Array]) -> Array:
    """Return the log of the weighted sum of the exponentials of the scores that apply."""
    logs = np.stack(scores) + x.log_weights[:, None, None]
    lacks = np.isnan(logs)
    if not lacks.any():
        return log_sum_exp(logs, axis=0)
    total = log_sum_exp(np.where(lacks, -np.inf, logs), axis=0)
    return np.where(lacks.all(axis=0), np.nan, total)


def _power_per_row(x: Raised, rows: Rows) -> Array:
    """Return power + (1 - power)·h, (rows, 1)."""
    h: Array = np.count_nonzero(rows.codes < 0, axis=0) / max(1, len(rows.codes))
    return np.asarray((x.power + (1 - x.power) * h)[:, None])


def _scores_of_sum(x: Sum, rows: Rows) -> Array:
    total = np.zeros((len(rows), 1))
    for _, values in term_values_at(x, rows):
        if values.shape[1] > total.shape[1]:
            total = np.repeat(total, values.shape[1], axis=1)
        total += values
    return total


def term_values_at(x: Sum, rows: Rows) -> Iterator[tuple[int, Array]]:
    """Yield owner and values, (rows or 1, classes), of each term of a sum without marginals.

    The values of a term whose owner is unknown are 0.
    """
    for owner, _, values in scopes_and_term_values(x, rows):
        yield owner, values


def scopes_and_term_values(x: Sum, rows: Rows) -> Iterator[Effect]:
    """Yield the owner of each term of such a sum, the features it depends on, and its values."""
    for term in x.terms:
        assert not isinstance(term, Numeric | Normal)  # which are only in sums that marginalize
        values = term.entries_of_rows(rows.codes)
        yield term.owner, term.scope, _zeros_if_unknown(term.owner, values, rows)


def _zeros_if_unknown(owner: int, values: Array, rows: Rows) -> Array:
    """Return the values of a term, 0 in the rows in which its owner is unknown."""
    if rows.unknown is None or owner < 0 or not rows.unknown[owner].any():
        return values
    return np.where(rows.unknown[owner][:, None], 0.0, values)


def numbers_of_feature(feature: int, rows: Rows) -> Array:
    """Return the numbers of a feature, NaN if they are not given."""
    values = rows.numbers.get(feature)
    return np.full(len(rows), np.nan) if values is None else values


def _network_scores(x: Sum, rows: Rows) -> Array:
    if x.densities_by_owner:
        return log_joint_of_network(*network_terms_and_codes(x, rows), cyclic=x.is_cyclic)
    codes = _codes_in_tables(x, rows)
    # 2**10: number of rows from which tables are looked up as fast one by one
    total = sum_terms(x.stacked_factors if len(rows) < 2**10 else x.factors_ordered_by_shape, codes)
    if codes.min(initial=0) < 0:
        add_marginalized_terms(
            total, x.factors, codes, np.zeros(len(rows), np.intp), cyclic=x.is_cyclic
        )
    return total


def _codes_in_tables(x: Sum, rows: Rows) -> Codes:
    codes = rows.codes
    if x.codings_by_feature:
        codes = codes.copy()
        for v, coding in x.codings_by_feature.items():
            codes[v] = coding[rows.codes[v]]
    return codes


def network_terms_and_codes(x: Sum, rows: Rows) -> tuple[Sequence[Factor | DensityTerm], Codes]:
    """Return the terms of a network as `elimination` combines them, and the codes of rows for them.

    The code of a number is its position among the rows.
    """
    codes = _codes_in_tables(x, rows)
    if not x.densities_by_owner:
        return x.factors, codes
    codes, terms = codes.astype(np.intp), list[Factor | DensityTerm](x.factors)
    for i, (scope, density) in x.densities_by_owner.items():
        numbers = numbers_of_feature(i, rows)
        codes[i] = np.where(np.isnan(numbers), -1, np.arange(len(rows)))
        terms.insert(i, DensityTerm(scope, density, numbers))
    return terms, codes


def _blend_incomplete_rows(
    x: Blend,
    scores: Array,
    rows: Rows,
    at: Callable[[Formula, Rows], Array],
) -> None:
    """Blend the scores of incomplete rows, (…, rows, classes), with the trees.

    ``at`` returns the scores of a tree at rows, maybe in sequence.
    """
    some = np.flatnonzero(~rows.mask_of_complete_rows)
    if not len(some):
        return
    known = rows.subset(some)
    trees: Array = sum((at(tree, known) for tree in x.trees), np.zeros(1)) / len(x.trees)
    kept, added = x.rule.kept_share_and_added_scores(known.codes, x.log_prior, trees)
    scores[..., some, :] = kept[:, None] * scores[..., some, :] + added


def scores_in_sequence(x: Formula, rows: Rows, order: Sequence[int]) -> Array:
    """Return the scores of rows with their first 0, 1, 2 … features, (1 + features, rows, classes).

    Each feature comes after the others in the scope of the terms that it owns,
    unless these form a cycle.
    """
    if isinstance(x, Raised | Blend | Completed) and x.shift is not None:
        return x.shift + scores_in_sequence(replace(x, shift=None), rows, order)
    if isinstance(x, Raised):
        return _power_per_row(x, rows) * scores_in_sequence(x.formula, rows, order)
    if isinstance(x, Recoded):
        return scores_in_sequence(x.formula, recoded_rows(x, rows), order)
    if isinstance(x, Blend):
        logs = scores_in_sequence(x.formula, rows, order)
        _blend_incomplete_rows(x, logs, rows, partial(scores_in_sequence, order=order))
        return logs
    if isinstance(x, Completed):
        start, parts = _completed_effects(x, rows)
        owners = [term.owner for term in tables_of_effects(x)]
        return _cumulative_scores([(-1, start), *zip(owners, parts, strict=True)], len(rows), order)
    if not isinstance(x, Sum) or _class_depends_on_features(x):
        return _scores_of_revealed_rows(x, rows, order)
    if not x.marginalizes:
        return _cumulative_scores(term_values_at(x, rows), len(rows), order)
    # If the class has no parents and features follow their parents, an unknown feature has no known
    # descendants, so its table sums to 1, and each step adds one term to the previous sum.
    complete = rows.mask_of_complete_rows
    if complete.all():
        return _cumulative_scores(_network_term_values_at(x, rows), len(rows), order)
    known = rows.subset(complete)
    sums = _cumulative_scores(_network_term_values_at(x, known), len(known), order)
    logs = np.empty((len(order) + 1, len(rows), sums.shape[2]))
    logs[:, complete] = sums
    logs[:, ~complete] = _scores_of_revealed_rows(x, rows.subset(~complete), order)
    return logs


def _completed_effects(x: Completed, rows: Rows) -> tuple[Array, Array]:
    """Return the parts of class and tables, with what known effects imply for unknown ones."""
    unknown = x.unknown.mask_of_unknown_values(rows.codes, rows.unknown)
    [constant] = [t.logs for t in x.formula.terms if isinstance(t, Table) and t.owner < 0]
    # 0 known, -1 missing, -2 unknown; an effect of a pair has the lower state of its two features.
    state_of_features = np.where(unknown, UNKNOWN, np.minimum(rows.codes, 0))
    tables = tables_of_effects(x)
    states = np.empty((len(tables), len(rows)), dtype=np.intp)
    parts = np.empty((*states.shape, len(constant)))
    for i, table in enumerate(tables):
        states[i] = state_of_features[list(table.scope)].min(axis=0)
        parts[i] = table.entries_of_rows(rows.codes)
    parts[states == UNKNOWN] = 0.0
    start = np.tile(constant, (len(rows), 1))
    some = np.flatnonzero((states == UNKNOWN).any(axis=0))
    if len(some):
        start[some], parts[:, some] = x.unknown.scores_of_class_and_effects(
            constant, parts[:, some], states[:, some]
        )
    return start, parts


def tables_of_effects(x: Completed) -> list[Table]:
    """Return the tables of features, and then of pairs."""
    return [term for term in x.formula.terms if isinstance(term, Table) and term.owner >= 0]


def _class_depends_on_features(x: Sum) -> bool:
    return any(term.scope for term in x.terms if term.owner < 0)


def _scores_of_revealed_rows(x: Formula, rows: Rows, order: Sequence[int]) -> Array:
    logs = scores_at(x, rows.revealed_in_sequence(order))
    return logs.reshape(len(order) + 1, len(rows), logs.shape[1])


def _cumulative_scores(values: Iterable[tuple[int, Array]], n: int, order: Sequence[int]) -> Array:
    """Return the sums of the values of the class and of the first 0, 1, 2 … features."""
    by_owner: dict[int, Array] = {}
    for owner, added in values:
        by_owner[owner] = by_owner.get(owner, 0.0) + added
    width = max(added.shape[1] for added in by_owner.values())
    steps = np.zeros((len(order) + 1, n, width))
    for step, owner in zip(steps, (-1, *order), strict=True):
        step += by_owner.get(owner, 0.0)
    return np.cumsum(steps, axis=0)


def _network_term_values_at(x: Sum, rows: Rows) -> Iterator[tuple[int, Array]]:
    """Yield the owner of each term of a network, and its values at complete rows."""
    terms, codes = network_terms_and_codes(x, rows)
    for i, term in enumerate(terms):
        values = np.zeros((len(rows), term.n_classes))
        term.add_to_sums(values, codes)
        yield -1 if i + 1 == len(terms) else i, values


def effects_at(x: Formula, rows: Rows, cards: Sequence[int]) -> Iterator[Effect]:
    """Yield parts of scores that depend on some features alone: effects, terms of several.

    ``cards`` are the numbers of levels of the features. What the parts do not
    explain are interactions.
    """
    if isinstance(x, Recoded):
        yield from effects_at(x.formula, recoded_rows(x, rows), cards)
    elif isinstance(x, Raised):
        for owner, scope, logs in effects_at(x.formula, rows, cards):
            yield owner, scope, x.power * logs
    elif isinstance(x, Completed):
        _, parts = _completed_effects(x, rows)
        for table, part in zip(tables_of_effects(x), parts, strict=True):
            yield table.owner, table.scope, part
    elif is_sum_of_tables(x):
        core: Sum = formula_of_complete_rows(x)
        effects = main_effects(x, cards)
        tables = _table_terms_of_features(core)
        wide = [table for table in tables if len(table.scope) > 1]
        if isinstance(x, Sum):  # of features with effects of their own, the pairs are terms
            owners_alone = {table.owner for table in tables if table.scope == (table.owner,)}
            wide = [table for table in wide if table.owner not in owners_alone]
        others = replace(core, terms=tuple([term for term in core.terms if term not in wide]))
        for i in sorted({term.owner for term in wide}):
            yield i, (i,), effects[i][rows.codes[i]]
        for i, scope, logs in scopes_and_term_values(others, rows):
            if i >= 0:
                yield i, scope, np.broadcast_to(logs, (len(rows), effects[i].shape[1]))
    else:
        for i, effect in enumerate(main_effects(x, cards)):
            if i in rows.numbers and not cards[i]:
                yield i, (i,), effect_of_feature_alone(x, i, rows)
            else:
                yield i, (i,), effect[rows.codes[i]]


def main_effects(x: Formula, cards: Sequence[int]) -> list[Array]:
    """Return each level's score less that of nothing known, (levels + 1, classes) per feature.

    The last entry is that of a missing value, and 0 unless the formula has
    entries for missing values. In a sum of tables, the table of a feature is
    the first that it owns, if all others are missing.
    """
    if isinstance(x, Raised):
        return [x.power * table for table in main_effects(x.formula, cards)]
    if is_sum_of_tables(x):
        n_classes = scores_at(x, _row_of_missing_values(len(cards))).shape[1]
        found: dict[int, Array] = {}
        for table in _table_terms_of_features(formula_of_complete_rows(x)):
            if table.owner not in found:  # the entries of others are not computed
                found[table.owner] = table.entries_if_parents_missing
        effects = [found.get(i, np.zeros((card + 1, 1))) for i, card in enumerate(cards)]
        return [np.broadcast_to(effect, (len(effect), n_classes)) for effect in effects]
    if isinstance(x, Sum) and not x.densities_by_owner and not x.is_cyclic:
        return _marginals_of_network(x, cards)
    tables = []
    for i, card in enumerate(cards):
        codes = np.full((len(cards), card + 1), -1, dtype=np.intp)
        codes[i, :-1] = np.arange(card)
        tables.append(effect_of_feature_alone(x, i, Rows(codes)))
        tables[-1][-1] = 0.0
    return tables


def _table_terms_of_features(x: Sum) -> list[Table | Counted]:
    """Return the terms of a sum that does not marginalize that are tables of features."""
    others = Numeric | Normal
    return [term for term in x.terms if not isinstance(term, others) and term.owner >= 0]


def _row_of_missing_values(n_features: int) -> Rows:
    return Rows(np.full((n_features, 1), -1))


def effect_of_feature_alone(x: Formula, feature: int, rows: Rows) -> Array:
    """Return the scores of rows in which only one feature is known, less that of nothing known."""
    hidden = np.full(rows.codes.shape, True)
    hidden[feature] = False
    with np.errstate(invalid="ignore"):  # a class of probability 0
        return scores_at(x, rows.with_values_missing(hidden)) - scores_at(
            x, _row_of_missing_values(len(hidden))
        )


def _marginals_of_network(x: Sum, cards: Sequence[int]) -> list[Array]:
    """Return ln P(level | class) of each feature alone, by one pass over the network."""
    n, classes = len(cards), x.factors[-1].n_classes
    tables = list[Array]([np.zeros((card + 1, classes)) for card in cards])  # 0 if missing
    for v, _, free, shares in posteriors_of_families(x.factors, np.full((n, 1), -1)):
        if v < n:
            others = tuple([1 + axis for axis, u in enumerate(free) if u != v])
            tables[v][:-1] = log(shares.sum(axis=others)[0])
    return tables


def shifts_of_missing(x: Formula) -> dict[int, Array]:
    """Return what a missing value of each feature adds to the scores, (classes,), if not 0."""
    if isinstance(x, Raised):
        return shifts_of_missing(x.formula)
    found: dict[int, Array] = {}
    if not is_sum_of_tables(x):
        return found
    for term in _table_terms_of_features(formula_of_complete_rows(x)):
        shift: Array = term.entries_if_parents_missing[-1]
        if shift.any():
            found[term.owner] = found.get(term.owner, 0.0) + shift
    return found


def mask_of_values_without_effect(x: Formula, rows: Rows) -> Mask:
    """Return which values, (features, rows), add nothing to scores: unknown, most missing."""
    if isinstance(x, Recoded):
        return mask_of_values_without_effect(x.formula, recoded_rows(x, rows))
    if isinstance(x, Completed):
        return x.unknown.mask_of_unknown_values(rows.codes, rows.unknown)
    silent: Mask = np.less(rows.codes, 0)
    for i in shifts_of_missing(x):
        silent[i] = False if rows.unknown is None else rows.unknown[i]
    return silent
