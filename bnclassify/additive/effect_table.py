"""Tables of effects as models: the values of each feature, and what each adds to the log odds."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from ..accessors import encode_for_model, read_for_model
from ..classifiers import BNC
from ..counts import flat_index
from ..dataset import MISSING, Dataset
from ..frames import AnyTable
from ..model import (
    MISSING_RULE,
    NO_JOINT,
    BuiltOn,
    ClassProportions,
    Model,
    Recipe,
    forward_to_basis,
)
from ..numbers import (
    NO_CUTS,
    NO_PREPARATION,
    Discretizer,
    Merger,
    Preparation,
    cut_point_as_text,
    interval_labels,
)
from ..scores import (
    USUAL_ROWS,
    Completed,
    Formula,
    Rows,
    Sum,
    Table,
    UnknownEffects,
    main_effects,
    scores_at,
)
from ..tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    T,
    log,
    log_normalize,
    softmax,
)
from ..tools.immutable import (
    ANY_NUMBER,
    PROBABILITY,
    Immutable,
    cached_property,
    field_bounds,
    record,
)
from ..tools.messages import shown

UNSEEN = "(unseen)"
"""The value of the row for values of a feature that have no row of their own."""

RESERVED = ("feature", "value", "given", "given_value", "share", "observed")
"""The columns of a table that are not classes."""

LEAST_MASS = 1e-12
_EFFECT = (-1e9, 1e9)  # so that sums of effects are finite, also in damaged files
_SMALL = 1e-12  # difference of equal effects
_HALF = 0.5  # pseudo-count of each value, so that intervals without rows keep their effects


@record
@dataclass(frozen=True, eq=False)
class PairEffects(Immutable):
    """The effects of a pair of features, beyond those of each, in groups of their values.

    ``features`` are their positions, ascending, and ``groups`` has the number
    of the group of each value of each of them; that of a missing one is -1 if
    it has no effects. The ``table`` is (groups + 1, groups + 1, classes); its
    last entries are 0.
    """

    features: tuple[int, int]
    groups: tuple[Positions, Positions]
    table: Array

    bounds = field_bounds(table=ANY_NUMBER)

    @property
    def score_term(self) -> Table:
        """The table as a term of the scores; it belongs to the second feature."""
        return Table(self.features[1], self.features, self.table, self.groups)

    def fits(self, cards: Sequence[int], n_classes: int) -> bool:
        """Whether features with these numbers of values, one of them missing, can have it."""
        n_groups = [int(groups.max()) + 1 for groups in self.groups]
        shape = (n_groups[0] + 1, n_groups[1] + 1, n_classes)
        n_values = [len(groups) for groups in self.groups]
        return self.table.shape == shape and n_values == [cards[i] for i in self.features]


@record
@forward_to_basis("parents", "graph", "trace")
@dataclass(frozen=True, eq=False, repr=False)
class EffectTable(BuiltOn):
    """A model whose log odds are a sum of entries of tables, from `from_effects` or `monotonize`.

    Attributes
    ----------
    structure : BNC
        The class, the features with at most one feature parent each, and their
        levels, without tables.
    tables : tuple of read-only arrays
        The effects of the values of each feature, (values, classes), or
        (values, values of the parent, classes). The last entry of each axis of
        values is for a missing value.
    constant : (classes,) array
        The log odds of the classes before any feature is known, up to a
        constant.
    shares : tuple of read-only arrays
        The shares of the values of each feature in the training data; empty if
        they are unknown.
    preparation : Preparation
        The cut points of features with intervals, and the levels of features
        with other values.
    recipe : Recipe or None
        The steps that made it, which `cv` repeats. A given table is evaluated
        without a refit.
    learned : mapping
        Results of `monotonize`, by name.
    unknown : UnknownEffects or None
        The means and covariances of the effects in the training data; if None,
        unknown effects are 0.
    pairs : tuple of PairEffects
        The effects of pairs of features, beyond the effects of each.
    """

    structure: BNC
    tables: tuple[Array, ...]
    constant: Array
    shares: tuple[Array, ...] = ()
    preparation: Preparation = NO_PREPARATION
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    unknown: UnknownEffects | None = None
    pairs: tuple[PairEffects, ...] = ()

    bounds = field_bounds(tables=_EFFECT, constant=_EFFECT, shares=PROBABILITY)

    fitted = True
    no_joint = f"a table of effects {NO_JOINT}"

    def __post_init__(self) -> None:
        super().__post_init__()
        *levels, classes = self.known_levels
        cards = [len(labels) + 1 for labels in levels]  # the last value is a missing one
        n = len(classes)
        shapes = [(*[cards[i] for i in scope], n) for scope in self.term_scopes]
        fits = [table.shape for table in self.tables] == shapes and self.constant.shape == (n,)
        if not fits or [len(share) for share in self.shares] not in ([], cards):
            raise ValueError(
                "tables must have an effect of each value of each feature on each class."
            )
        n_effects = len(cards) + len(self.pairs)
        if self.unknown is not None and self.unknown.means.shape != (n_effects, n - 1):
            raise ValueError("unknown must have a mean of each effect on each class.")
        if not all(pair.fits(cards, n) for pair in self.pairs):
            raise ValueError(
                "pairs must have an effect of each pair of groups of values on each class."
            )

    @property
    def values_by_feature(self) -> dict[Hashable, Values]:
        """The values of each feature without missing ones."""
        return {
            name: Values(self.levels_by_name[name], self.discretizer.cuts.get(name))
            for name in self.features
        }

    @property
    def value_masses(self) -> list[Array]:
        """The shares of the values of each feature, above 0; equal ones if they are unknown."""
        equal = [np.ones(len(table)) for table in self.tables]
        return [np.maximum(share, LEAST_MASS) for share in self.shares or equal]

    @property
    def basis(self) -> BNC:
        """The network without tables."""
        return self.structure

    @property
    def members(self) -> tuple[Model, ...]:
        """The table itself."""
        return (self,)

    @property
    def parent_of_each_feature(self) -> tuple[int | None, ...]:
        """The position of the feature parent of each feature, or None."""
        return tuple([scope[1] if len(scope) > 1 else None for scope in self.term_scopes])

    def facts(self) -> dict[str, object]:
        """Return the size and form of the table, and the order that was asked of it."""
        has_parents = any(self.feature_parents.values())
        form = "effects of pairs" if has_parents else "one effect per feature"
        n = len(self.pairs)
        pairs = f", and of {n} pair{'s' * (n > 1)}" if n else ""
        return {
            "num. features": len(self.features),
            "form": f"sum of {form}{pairs}",
            "monotone": self._directions_in_words(),
            MISSING_RULE: self.missing_rule("effect"),
        }

    def _directions_in_words(self) -> str | None:
        """Return the directions of `monotonize` by target, and what they cost in log-loss."""
        texts: dict[Hashable, list[str]] = {}
        for name, (direction, target) in self.learned.get("monotone", {}).items():
            texts.setdefault(target, []).append(f"{name} {direction}")
        if not texts:
            return None
        of_targets = [f"{', '.join(own)} (log odds of {shown(t)})" for t, own in texts.items()]
        before, after = map(float, self.learned["log_loss"])
        return f"{'; '.join(of_targets)}: log-loss {after:.4f}, before {before:.4f}"

    def missing_rule(self, what: str) -> str:
        """Say how missing values in new rows are treated: given "(missing)", or unknown."""
        told, texts = self.unknown, list[str]()
        if told is not None and len(told.always):
            if told.always.all():
                return "unknown, which is not evidence"
            if told.always.any():
                rows = self.recipe and self.recipe.rows
                lacking = rows.incomplete if rows else ()
                pairs = zip(self.features, told.always, strict=True)
                is_omitted = any(name in lacking for name, always in pairs if always)
                omitted = " or missing_level omits" * is_omitted
                texts.append(f"in features that no training row lacks{omitted}")
            if np.count_nonzero(told.gaps) > told.most:
                number = f"{told.most:g} missing value{'s' * (told.most != 1)}"
                others = " in other features" if texts else ""
                texts.append(
                    f"in rows with more than {number}{others}, because fewer than "
                    f"{USUAL_ROWS} training rows have so many"
                )
        others = f", but unknown {', and '.join(texts)}" if texts else ""
        return f"given the {what} of (missing){others}"

    def effect_table_fields(self) -> dict[str, Any]:
        """Return the fields that every table of effects has, by name."""
        return {name: getattr(self, name) for name in EffectTable.__dataclass_fields__}

    @cached_property
    def term_scopes(self) -> list[tuple[int, ...]]:
        """The positions of each feature and of its feature parent, if it has one."""
        return [
            tuple([v for v in scope if v < len(self.features)])
            for scope in self.structure.scopes[:-1]
        ]

    def table_entries_at(self, codes: Codes, tables: Sequence[ArrayOf[T]]) -> Iterator[ArrayOf[T]]:
        """Yield the entries of a table per feature at rows, (rows, …)."""
        for scope, table in zip(self.term_scopes, tables, strict=True):
            yield table[tuple([codes[v, :] for v in scope])]

    @cached_property
    def formula(self) -> Sum | Completed:
        """The scores, with the posteriors' log odds: the constant, and one table per feature."""
        terms = [Table(-1, (), self.constant)]
        for i, (scope, table) in enumerate(zip(self.term_scopes, self.tables, strict=True)):
            terms.append(Table(i, scope, table))
        terms += [pair.score_term for pair in self.pairs]
        total = Sum(tuple(terms), marginalizes=False)
        if self.unknown is None or len(self.constant) < 2:
            return total
        return Completed(total, self.unknown)

    def with_class_proportions(self, given: ClassProportions | None) -> Self:
        """Return the table with class proportions; without unknown effects, its constant has them.

        Tables that are made of it, such as scorecards, then need not keep them.
        """
        x = super().with_class_proportions(given)
        if given is None or self.unknown is not None:
            return x
        return replace(self, constant=self.constant + x.class_shift)

    def learned_class_prior(self) -> Array:
        """Return the posteriors if nothing is known: the class shares, if these are known."""
        if self.unknown is not None and len(self.unknown.shares) and self.tables:
            return self.unknown.shares  # which the formula of unknown effects gives
        nothing = np.full((len(self.features), 1), -1)
        return softmax(scores_at(self.formula, Rows(nothing, unknown=nothing < 0))[0], axis=0)

    @cached_property
    def value_formulas(self) -> tuple[Formula, ...]:
        """The logs of P(value | class) of each feature alone, by Bayes' rule from shares."""
        tables, prior = list[Table](), log_normalize(self.constant)
        cards = [len(labels) for labels in self.known_levels[:-1]]
        pairs = zip(main_effects(self.score, cards), self.value_masses, strict=True)
        for i, (effects, mass) in enumerate(pairs):
            ratio = log_normalize(effects + prior) - prior  # ln P(class | value) / P(class)
            tables.append(Table(i, (i,), ratio + log(mass)[:, None]))
        return (Sum(tuple(tables), False),)

    def shown_values(self, name: Hashable) -> list[Hashable]:
        """Return the values of a feature: intervals or labels, and the last for missing values."""
        cuts = self.discretizer.cuts.get(name)
        values = self.levels_by_name[name] if cuts is None else intervals_between_cuts(cuts)
        return [*values, MISSING]


def intervals_between_cuts(cuts: Sequence[float]) -> list[Hashable]:
    """Return the intervals between cut points."""
    return [pd.Interval(low, high) for low, high in pairwise([-np.inf, *cuts, np.inf])]


class Values(NamedTuple):
    """The values of a feature without missing ones: labels, or the cut points between intervals."""

    labels: tuple[Hashable, ...]
    cuts: tuple[float, ...] | None = None

    @classmethod
    def from_cuts(cls, cuts: Sequence[float]) -> Values:
        return cls(interval_labels(map(cut_point_as_text, cuts)), tuple(cuts))


def build_effect_table(
    class_var: Hashable,
    classes: tuple[Hashable, ...],
    values: Mapping[Hashable, Values],
    parents: Mapping[Hashable, Sequence[Hashable]],
    like: Discretizer = NO_CUTS,
    **fields: Any,
) -> EffectTable:
    """Return a table with these values of features, which reads numbers ``like`` its model."""
    families = [(name, *parents[name], class_var) for name in values]
    levels = [own.labels for own in values.values()]
    structure = BNC(class_var, (*families, (class_var,)), (*levels, classes))
    cuts = {name: own.cuts for name, own in values.items() if own.cuts is not None}
    kept = {name: labels for name, labels in like.kept.items() if name in values}
    ranges: dict[Hashable, Any] = dict(zip(like.columns, like.ranges, strict=False))
    names = (*cuts, *kept)
    points = (*cuts.values(), *[()] * len(kept))
    labels = (*[()] * len(cuts), *kept.values())
    own_ranges = tuple([ranges.get(name, ()) for name in names])
    steps = Discretizer("steps", names, points, labels, own_ranges if any(own_ranges) else ())
    known = {n: own.labels[:-1] for n, own in values.items() if own.labels[-1:] == (UNSEEN,)}
    merger = Merger(1, UNSEEN, tuple(known), tuple(known.values())) if known else None
    prepares = Preparation(merger, steps if names else None)
    return EffectTable(structure, preparation=prepares, **fields)


def merge_similar_intervals(x: EffectTable, most: int | None = None) -> EffectTable:
    """Return a table with fewer intervals, whose effects are weighted means.

    Of each feature, the neighbors are merged that lose least of the variance of
    its effects, until there are at most so many, and equal ones in any case.
    """
    shares = x.value_masses
    values, groups = x.values_by_feature, list[Positions]()  # the group of each value, and missing
    for i, (name, own) in enumerate(values.items()):
        groups.append(np.arange(len(own.labels) + 1))
        if own.cuts is not None:
            # All effects that depend on the value of the feature: its own, and of its children.
            own_tables = [x.tables[i]]
            for j, parent in enumerate(x.parent_of_each_feature):
                own_tables += [np.moveaxis(x.tables[j], 1, 0)] * (parent == i)
            rows = np.hstack([table.reshape(len(table), -1) for table in own_tables])[:-1]
            ends = ends_of_merged_groups(rows, shares[i][:-1], most or np.inf)
            values[name] = Values.from_cuts([own.cuts[end - 1] for end in ends[:-1].tolist()])
            groups[i] = np.searchsorted(ends, groups[i], side="right")
    tables = list(x.tables)
    for i, scope in enumerate(x.term_scopes):
        for axis, v in enumerate(scope):
            along = np.moveaxis(tables[i], axis, 0)
            means = means_of_groups(along, groups[v], shares[v], int(groups[v].max()) + 1)
            tables[i] = np.moveaxis(means, 0, axis)
    sums = [np.bincount(group, share) for group, share in zip(groups, shares, strict=True)]
    return with_values(x, values, tables, [own / float(own.sum()) for own in sums], x.unknown)


def with_values(
    x: EffectTable,
    values: Mapping[Hashable, Values],
    tables: Sequence[Array],
    shares: Sequence[Array],
    unknown: UnknownEffects | None,
) -> EffectTable:
    """Return a table with other values of features, without pairs."""
    fields: dict[str, Any] = {name: getattr(x, name) for name in ("constant", "recipe", "learned")}
    fields |= {"tables": tuple(tables), "shares": tuple(shares), "unknown": unknown}
    return build_effect_table(
        x.class_var, x.known_levels[-1], values, x.feature_parents, x.discretizer, **fields
    )


def ends_of_merged_groups(rows: Array, shares: Array, most: float) -> Positions:
    """Return the ends of the groups into which neighboring rows are merged."""
    ends, means, total = np.arange(1, len(rows) + 1), rows.copy(), 0.0
    masses = shares / float(shares.sum())
    while len(ends) > 1:
        # merging two groups adds v w / (v + w) (difference of their means)² to the variance within
        # groups
        losses: Array = masses[:-1] * masses[1:] / (masses[:-1] + masses[1:])
        losses *= np.square(np.diff(means, axis=0)).sum(axis=1)
        i = int(losses.argmin())
        total += float(losses[i])
        if len(ends) <= most and total > _SMALL**2:
            break
        means[i] = np.average(means[i : i + 2], axis=0, weights=masses[i : i + 2])
        masses[i] += masses[i + 1]
        ends = np.delete(ends, i)
        means = np.delete(means, i + 1, 0)
        masses = np.delete(masses, i + 1)
    return ends


def means_of_groups(values: Array, groups: Positions, weights: Array, n: int) -> Array:
    """Return the weighted means of n groups along the first axis; 0 in a group without weight.

    Example: the values 1, 3 and 5, with weights 1, 3 and 1, of groups 0, 0 and
    1 have the means 2.5 and 5.
    """
    totals = np.bincount(groups, weights)
    shares = weights / np.where(totals > 0, totals, 1.0)[groups]
    means = np.zeros((n, *values.shape[1:]))
    np.add.at(means, groups, (values.T * shares).T)
    return means


def logs_less_reference(logs: Array) -> Array:
    """Return logs of two classes less those of the first, and of more classes less their mean."""
    with np.errstate(invalid="ignore"):
        return logs - (logs[..., :1] if logs.shape[-1] == 2 else logs.mean(axis=-1, keepdims=True))


def cell_weights(x: EffectTable, data: Dataset, rows: Mask | None = None) -> list[Array]:
    """Return the weight of the rows, or of some of them, in each cell of the tables of features."""
    codes, counts = x.rows_to_score(data, "missing").codes, list[Array]()
    weights = data.row_weights if rows is None else data.row_weights * rows
    for scope, table in zip(x.term_scopes, x.tables, strict=True):
        cards = table.shape[:-1]
        cells = flat_index([codes[v] % card for v, card in zip(scope, cards, strict=True)], cards)
        counts.append(np.bincount(cells, weights, prod(cards)).astype(float).reshape(cards))
    return counts


def training_rows(x: Model, dataset: AnyTable) -> Dataset:
    """Return the training rows as a model reads them: with a class, and a weight above 0."""
    data = read_for_model(x, dataset, argument="dataset").select(x.variables)
    used: Mask = data.codes[data.positions[x.class_var]] >= 0
    return data.take_rows(used & (data.row_weights > 0))


def with_value_shares(x: EffectTable, dataset: AnyTable) -> EffectTable:
    """Return a table with the shares of values in rows, and in half a row more per value."""
    counts = cell_weights(x, encode_for_model(x, dataset, x.features, "dataset"))
    masses: list[Array] = [count.reshape(len(count), -1).sum(axis=1) + _HALF for count in counts]
    return replace(x, shares=tuple([mass / float(mass.sum()) for mass in masses]))


def with_effect_moments(x: EffectTable, dataset: AnyTable) -> EffectTable:
    """Return a table with the moments of its effects in training rows, and the class shares.

    Missing values of features that no row lacks, and whose missing values have
    no effect, are unknown, and so are those of rows that lack more values than
    five rows do. A table that has moments keeps this rule.
    """
    data = encode_for_model(x, training_rows(x, dataset), argument="dataset")
    codes = x.rows_to_score(data, "missing").codes
    of_class: Codes = data.codes[data.positions[x.class_var]]
    weights = data.row_weights
    entries = list(x.table_entries_at(codes, x.tables))
    entries += [pair.score_term.entries_of_rows(codes) for pair in x.pairs]
    effects = np.array(entries).reshape(len(entries), len(data), len(x.constant))
    counts = np.maximum(np.bincount(of_class, weights, len(x.constant)), _HALF)
    is_evidence = np.array([bool(table[-1].any()) for table in x.tables], dtype=bool)
    missing = np.less(codes, 0)
    moments = UnknownEffects.from_rows(effects, missing, weights, counts / counts.sum())
    kept: dict[str, Any] = {"always": moments.always & ~is_evidence}
    if x.unknown is not None:
        kept = {name: getattr(x.unknown, name) for name in ("always", "gaps", "most")}
    return replace(x, unknown=replace(moments, **kept))
