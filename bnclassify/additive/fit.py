"""The fit of the default: contrasts, their variances, the strongest pairs, one regression.

1. Equal rows become one; each feature becomes groups of values, and contrasts
   of these (`rows`, `contrasts`).
2. Prior variances of the contrasts maximize the likelihood of held-out rows,
   first of single effects and then of pairs, which are ranked without the
   held-out rows (`variances`). More rows choose the variance of pairs again.
3. A regression with these variances gives the weights of all contrasts
   (`regression`), and the contrasts times their weights are the tables.
4. Exact values, cells of pairs, and groups of numbers with sharp steps, whose
   effects raise the likelihood of held-out rows have tables of their own, which are
   added (`cells`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..classifiers import BNC
from ..counts import to_narrowest_type
from ..dataset import Dataset, as_floats
from ..model import Model, Step, TrainingRows
from ..numbers import Discretizer
from ..scores import UnknownEffects, number_of_usual_gaps
from ..structure import network
from ..tools.arrays import Array, Codes, Mask, Positions, one_thread
from ..tools.immutable import record
from ..tools.messages import listed, shown, warn
from .cells import Cells, possible_tables, tables_that_gain
from .contrasts import Feature, principal_contrasts, read_feature
from .effect_table import EffectTable, PairEffects, build_effect_table, logs_less_reference
from .regression import Regression, Term, covariances
from .rows import Pair, Rows
from .variances import Variances, choose_variances, power_of_all, scale_of_pairs

_MOST_PAIRS = 128
_CELLS, _NUMBERS = 2**14, 2**15  # maximum numbers of cells of all pairs, and of cells × classes
_MOST_TIMES = 3  # the numbers of 3,000 rows or more, divided by those; more are too long in SQL
_BASE = 700  # number of rows by which curvatures are approximated
_RANKED_ROWS = 2**16  # rows by which pairs are ranked
_SOME_ROWS = 2**14  # rows by which tables of cells are chosen, and moments of effects computed
_TABLE_NUMBERS = 2**19  # maximum number of these rows times classes, for tables of cells
_MOMENT_NUMBERS = 2**23  # maximum number of these rows times effects and classes, for moments
_LEAST_EFFECT = 0.003  # in nats, the least root mean square of the effects of a pair
_DIGITS = 6  # of effects, so that files and pages are small


@record
def sum_of_effects(class_var: Hashable, dataset: Dataset, **settings: Any) -> BNC:
    """Return the features of a sum of effects: those that differ between rows, if any do."""
    data, features = _with_class_last(dataset, class_var), []
    for name, codes in zip(data.columns[:-1], data.codes, strict=False):
        values = as_floats(data.numbers[name]) if name in data.numbers else codes
        known = values[~np.isnan(values) if name in data.numbers else values >= 0]
        if len(known) and (len(known) < len(values) or (known != known[0]).any()):
            features.append(name)
    none = dict.fromkeys(features or data.columns[:-1], ())
    return network(class_var, none, data.schema, Step("sum_of_effects", sum_of_effects, settings))


@record
def fit_effects(
    x: Model,
    dataset: Dataset,
    *,
    pairs: Any = "auto",
    missing_level: Any = True,
    min_count: int | None = None,
    draws: int = 0,
) -> EffectTable:
    """Fit the effects of the features of a structure, or the single effects and pairs of a sum."""
    import_module("scipy.linalg")  # slow to import; `one_thread` limits what is loaded
    data = _with_class_last(dataset.with_positive_weights(), x.class_var).select(x.variables)
    if isinstance(x, EffectTable):
        pairs = tuple([tuple([x.features[i] for i in pair.features]) for pair in x.pairs])
    counts = missing_level if isinstance(missing_level, Sequence) else x.features * missing_level
    rows = Rows.from_data(
        data,
        [
            read_feature(data, f, counts_missing=f in counts, min_count=min_count)
            for f in x.features
        ],
    )
    named: list[Pair] | None = None
    if not isinstance(pairs, str | int):
        kept = [pair for pair in pairs if set(pair) <= set(x.features)]
        if lost := [name for pair in pairs for name in pair if name not in x.features]:
            names = listed(dict.fromkeys(lost))
            warn(f"pairs of {names} have no effect, because all rows have the same value.")
        named = [(x.features.index(a), x.features.index(b)) for a, b in kept]
    with one_thread:  # two threads need four times the processor time for such small matrices
        fitted = _fit(rows, named, pairs)
        drawn = fitted.regression.draw(fitted.weights, draws) if draws else []
    table = _as_table(fitted, data, x.class_var)
    settings = {
        "pairs": pairs,
        "missing_level": missing_level,
        "min_count": min_count,
        "draws": draws,
    }
    usual = {"pairs": "auto", "missing_level": True, "min_count": None}
    given = [f"{name}={shown(settings[name])}" for name in usual if settings[name] != usual[name]]
    other = f" but {', '.join(given)}" if given else ""
    recipe = x.recipe and replace(
        x.recipe,
        parameters=Step(f"default settings{other}", fit_effects, settings),
        preparation=table.preparation,
        rows=TrainingRows.from_data(data, (x.class_var,)),
    )
    table = replace(table, recipe=recipe)
    if drawn:
        tables = [_as_table(replace(fitted, weights=own), data, x.class_var) for own in drawn]
        table = replace(table, learned={**table.learned, "draws": tuple(tables)})
    return table


def _with_class_last(data: Dataset, class_var: Hashable) -> Dataset:
    return data.select([*[name for name in data.columns if name != class_var], class_var])


class _Side(NamedTuple):
    """A feature in pairs: the coarser group of each of its groups and rows, and contrasts."""

    groups: Codes
    of_rows: Codes
    contrasts: Array


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A regression with its weights, pairs with their sides, and tables of exact values."""

    rows: Rows
    regression: Regression
    weights: Array
    pairs: Sequence[Pair]
    sides: dict[int, _Side]
    tables: Sequence[Cells]
    variances: Variances


def _fit(rows: Rows, named: Sequence[Pair] | None, pairs: Any) -> _Fitted:
    """Choose variances and pairs (named ones, a number, or "auto"), and fit all terms."""
    possible = list(combinations(rows.candidates, 2)) if named is None else list(named)
    most = _MOST_PAIRS if pairs == "auto" else pairs if isinstance(pairs, int) else len(possible)
    possible = possible if most else []
    variances = choose_variances(rows, possible, most, is_fixed=pairs != "auto")
    large, are_ranked = rows.large_sample(), len(possible) > most
    if are_ranked:
        held_out = large[0][large[1]] if large else np.zeros(0, dtype=np.intp)
        possible = _rank_pairs(rows, variances, held_out)[:most]
    chosen = possible if variances.of_types.get("pair") else []
    sides, terms = _terms(rows, chosen, variances)
    if chosen and large:
        scale, power = _scale_of_pairs(rows, terms, chosen, *large)
        terms = [
            t._replace(precision=t.precision / scale) if len(t.contrasts) == 2 else t for t in terms
        ]
        pair = float(f"{variances.of_types['pair'] * scale:.4g}")
        variances = variances._replace(of_types=variances.of_types | {"pair": pair})
        # Factors of many pairs fit the held-out rows, too, which then favor too large a power.
        if not are_ranked:
            power = power_of_all(rows, power, len(large[0]))
            variances = variances._replace(power=power)
    regression = _regression(rows, np.arange(len(rows.classes)), rows.weights, terms)
    weights = variances.power * regression.fit()
    some = rows.some(min(_SOME_ROWS, _TABLE_NUMBERS // len(rows.labels)))
    of_some = rows.weights[some]
    tables = list[Cells]()
    if len(rows.labels) > 1:
        tables = possible_tables(rows.features, possible, some, float(of_some.sum()))
    if tables:
        cases = None if rows.cases is None else rows.cases[some]
        left_out = regression.left_out_posteriors(weights, variances.power, some)
        tables = tables_that_gain(
            tables, some, *left_out, rows.classes[some], of_some, cases, len(rows.features)
        )
    return _Fitted(rows, regression, weights, chosen, sides, tables, variances)


def _regression(rows: Rows, at: Positions, weights: Array, terms: Sequence[Term]) -> Regression:
    """Return the regression of some rows, of which at most 700 give curvatures."""
    base = np.arange(0, len(at), -(-len(at) // _BASE))
    return Regression(terms, rows.classes[at], weights, np.log(rows.shares), base)


def _scale_of_pairs(
    rows: Rows,
    terms: Sequence[Term],
    pairs: Sequence[Pair],
    sample: Positions,
    is_held_out: Mask,
) -> tuple[float, float]:
    """Return the factor of the variance of pairs, and the power, that a larger sample favors."""
    order = sample[np.argsort(is_held_out, kind="stable")]
    n, places = int(np.count_nonzero(~is_held_out)), np.argsort(rows.order_of_features)
    # Sums in single precision depend on their order, which is therefore one by contents.
    single = [terms[i].at(order) for i in rows.order_of_features]
    of_pairs = list[tuple[int, int, Term]]()
    for pair, term in zip(pairs, terms[len(single) :], strict=True):
        first, second = places[list(pair)].tolist()
        if first > second:
            first, second = second, first
            term = term._replace(groups=term.groups[::-1], contrasts=term.contrasts[::-1])
        of_pairs.append((first, second, term.at(order)))
    of_pairs.sort(key=lambda own: own[:2])
    kernels = [covariances(own, n, "f") for own in (single, [term for *_, term in of_pairs])]
    return scale_of_pairs((kernels[0], kernels[1]), rows.classes[order], rows.shares)


def _rank_pairs(rows: Rows, variances: Variances, held_out: Positions) -> list[Pair]:
    """Return pairs, first those that explain most of what single effects leave unexplained.

    They are ranked without the held-out rows.
    """
    at = rows.some(_RANKED_ROWS)
    # The weight of a held-out row is less by 1, so that rows equal to it stay.
    held = np.bincount(held_out, minlength=len(rows.weights))
    weights = np.maximum(rows.weights - held, 0)[at]
    terms = [term.at(at) for term in _single_terms(rows, variances.alone, variances.factors)]
    regression = _regression(rows, at, weights, terms)
    residuals = -np.exp(regression.scores(regression.fit(tolerance=1e-4)))
    residuals[np.arange(len(at)), rows.classes[at]] += 1
    return rows.rank_pairs(at, weights, residuals)


def _terms(
    rows: Rows, chosen: Sequence[Pair], variances: Variances
) -> tuple[dict[int, _Side], list[Term]]:
    """Return the sides of pairs by feature, and the terms of single effects and of pairs."""
    terms = _single_terms(rows, variances.of_types, variances.factors)
    if not chosen:
        return {}, terms
    n, n_classes = float(rows.weights.sum()), len(rows.labels)
    numbers = _NUMBERS * float(np.clip(n / 1000, 1, _MOST_TIMES))
    sizes = [len(feature.mass) - 1 for feature in rows.features]
    most = _most_of_sides(sizes, chosen, min(_CELLS, numbers / n_classes))
    sides = {i: _side(rows.features[i], most) for i in {*np.ravel(chosen).tolist()}}
    factors = variances.factors_of_pairs(chosen)
    for pair, factor in zip(chosen, factors.tolist(), strict=True):
        _, of_rows, contrasts = zip(*[sides[i] for i in pair], strict=True)
        terms.append(Term(of_rows, contrasts, 1 / (variances.of_types["pair"] * factor)))
    return sides, terms


def _most_of_sides(sizes: Sequence[int], pairs: Sequence[Pair], most: float) -> int:
    """Return the largest size of sides with which all pairs have at most so many cells.

    Example: If a pair has the sizes 2 and 20 and at most 20 cells, its sides have at most 10.
    """
    first, second = np.array(sizes)[np.array(pairs).T]
    for size in range(max(*first, *second), 2, -1):
        if np.minimum(first, size) @ np.minimum(second, size) <= most:
            return size
    return 2


def _single_terms(
    rows: Rows, of_types: dict[str, float], factors: dict[tuple[str, int], float]
) -> list[Term]:
    """Return the terms of single effects, of contrasts times the root of their variance."""
    terms = []
    for i, feature in enumerate(rows.features):
        contrasts = [np.zeros((len(feature.mass), 0))]
        for name in ("line", "smooth"):
            variance = max(of_types.get(name, 0.0) * factors.get((name, i), 1.0), 1e-6)
            contrasts.append(getattr(feature, name) * np.sqrt(variance))
        terms.append(Term((feature.groups,), (np.hstack(contrasts),), 1.0))
    return terms


def _side(feature: Feature, most: int) -> _Side:
    """Return at most so many groups of a feature, one of missing values, and their contrasts."""
    known = feature.mass[:-1] / max(float(feature.mass[:-1].sum()), 1e-300)
    n = len(known)
    if n <= most:
        groups: Codes = np.arange(n)
    elif feature.values.cuts is not None:
        middles = known.cumsum() - known / 2
        _, groups = np.unique((middles * most).astype(int), return_inverse=True)
    else:  # the rarer levels are one group
        groups = np.full(n, most - 1)
        first = np.full(len(feature.mass), len(feature.groups))
        np.minimum.at(first, feature.groups, np.arange(len(feature.groups)))
        # Equally frequent levels are in the order of rows, which does not depend on their names.
        groups[np.lexsort((first[:-1], -known))[: most - 1]] = np.arange(most - 1)
    groups = to_narrowest_type(np.append(groups, groups.max(initial=0) + 1))
    mass = np.bincount(groups, feature.mass).astype(np.float64)
    contrasts = np.zeros((len(mass), feature.contrasts.shape[1]))
    np.add.at(contrasts, groups, feature.mass[:, None] * feature.contrasts)
    contrasts /= np.maximum(mass, 1e-300)[:, None]
    return _Side(groups, groups[feature.groups], principal_contrasts(contrasts, mass))


def _as_table(fitted: _Fitted, data: Dataset, class_var: Hashable) -> EffectTable:
    """Return the tables of a regression as a model."""
    rows, regression, features = fitted.rows, fitted.regression, [*fitted.rows.features]
    size = float(rows.weights.sum())
    # A feature with exact values gets one group per value: `before` are their groups in the fit,
    # and `places` the groups of the values that occur.
    before: list[Any] = [slice(None)] * len(features)
    places = dict[int, Positions]()
    for i in {i for own in fitted.tables if own.is_exact for i in own.features}:
        features[i], before[i], places[i] = features[i].by_exact_value(rows.weights)
    rows = replace(rows, features=features)
    of_terms = iter([t @ regression.class_contrasts.T for t in regression.tables(fitted.weights)])
    tables, pairs = [next(of_terms)[at] for at in before], list[PairEffects]()
    of_pairs: dict[Pair, tuple[list[Positions], Array]] = {}
    for pair in fitted.pairs:
        first, second = [fitted.sides[i] for i in pair]
        smooth = next(of_terms).reshape(len(first.contrasts), len(second.contrasts), -1)
        of_pairs[pair] = [fitted.sides[i].groups[before[i]] for i in pair], smooth
    for own in fitted.tables:
        sizes = [len(places[i]) if own.is_exact else own.size for i in own.features]
        added = own.effects.reshape(*sizes, -1)
        for axis, i in enumerate(own.features):
            if not features[i].counts_missing:
                np.moveaxis(added, axis, 0)[-1] = 0
        i, j = own.features[0], own.features[-1]
        if not own.is_exact:
            tables[i] += added[before[i]]
        elif i == j:
            tables[i][places[i]] += added
        else:
            cells = np.zeros((len(tables[i]), len(tables[j]), len(rows.labels)))
            if (i, j) in of_pairs:
                groups, of_smooth = of_pairs[i, j]
                cells += of_smooth[np.ix_(*groups)]
            cells[np.ix_(places[i], places[j])] += added
            of_pairs[i, j] = [np.arange(len(tables[i])), np.arange(len(tables[j]))], cells
    some = rows.some(_SOME_ROWS)
    for pair, (groups, of_cells) in of_pairs.items():
        at = [own[features[i].groups[some]] for i, own in zip(pair, groups, strict=True)]
        squares = np.square(of_cells[at[0], at[1]]).mean(axis=1)
        if float(np.average(squares, weights=rows.weights[some])) < _LEAST_EFFECT**2:
            continue
        effects = logs_less_reference(of_cells).round(_DIGITS)
        for axis, i in enumerate(pair):
            if not features[i].counts_missing:
                groups[axis] = np.append(groups[axis][:-1], -1)
                effects = np.delete(effects, -1, axis=axis)
        if effects.any():
            effects = np.pad(effects, ((0, 1), (0, 1), (0, 0)))  # of unknown values
            pairs.append(PairEffects(pair, (groups[0], groups[1]), effects))
    tables = [logs_less_reference(table).round(_DIGITS) for table in tables]
    constant = np.log(rows.shares) + regression.class_contrasts @ fitted.weights[0]
    numbers = [feature for feature in features if feature.name in data.numbers]
    points = tuple([feature.values.cuts or () for feature in numbers])
    ranges = tuple([feature.range for feature in numbers])
    # Numbers with two values have labels.
    labels = tuple([() if f.values.cuts is not None else f.values.labels for f in numbers])
    return build_effect_table(
        class_var,
        rows.labels,
        {feature.name: feature.values for feature in features},
        {feature.name: () for feature in features},
        Discretizer("steps", tuple([f.name for f in numbers]), points, labels, ranges),
        tables=tuple(tables),
        constant=logs_less_reference(constant).round(_DIGITS),
        # With half a row more per value, so that none is 0.
        shares=tuple([(f.mass * size + 0.5) / (size + 0.5 * len(f.mass)) for f in features]),
        pairs=tuple(pairs),
        unknown=_moments(rows, tables, pairs) if len(rows.labels) > 1 else None,
        learned={"variances": {"power": fitted.variances.power, **fitted.variances.of_types}},
    )


def _moments(rows: Rows, tables: Sequence[Array], pairs: Sequence[PairEffects]) -> UnknownEffects:
    """Return the means and covariances of effects in at most 16,384 rows, for unknown values."""
    n_effects = max((len(tables) + len(pairs)) * len(rows.labels), 1)
    some = rows.some(min(_SOME_ROWS, max(_MOMENT_NUMBERS // n_effects, 1)))
    groups: Codes = np.array([f.groups[some] for f in rows.features]).reshape(
        len(tables), len(some)
    )
    entries = [table[own] for table, own in zip(tables, groups, strict=True)]
    for pair in pairs:
        down, across = [own[groups[i]] for i, own in zip(pair.features, pair.groups, strict=True)]
        entries.append(pair.table[down, across])
    effects = np.array(entries).reshape(len(entries), len(some), len(rows.labels))
    missing = np.array(
        [own == len(f.mass) - 1 for f, own in zip(rows.features, groups, strict=True)]
    )
    is_evidence = np.array([bool(table[-1].any()) for table in tables], dtype=bool)
    missing = missing.reshape(groups.shape).astype(bool) & is_evidence[:, None]
    moments = UnknownEffects.from_rows(effects, missing, rows.weights[some], rows.shares)
    # Missing values are counted in all rows, not only in those of the moments.
    counts = np.zeros(len(rows.classes), dtype=np.intp)
    for i in np.flatnonzero(is_evidence).tolist():
        counts += rows.features[i].groups == len(rows.features[i].mass) - 1
    most = number_of_usual_gaps(counts, rows.weights)
    return replace(moments, always=~is_evidence, gaps=is_evidence, most=most)
