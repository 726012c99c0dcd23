"""Averaged n-dependence estimators: in each, one feature or two are parents of all the others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, Protocol

import numpy as np

from ..base.arrays import Array, normalize
from ..base.checks import check_whole
from ..base.immutable import Immutable
from ..base.messages import listed
from ..base.records import record
from ..frames.schema import Levels
from ..model.recipes import Recipe
from ..network.bnc import BNC, Family
from ..network.ensemble import Average
from .cooccurrence import Cooccurrence, PairCounts, Positions

_RARE = 1e-6  # probabilities that the weights leave out, as WAODE does
_ROUNDING = 1e-14  # information that is nothing else


class Smoothing(Protocol):
    """A prior that adds the same pseudo-count to every cell of a table."""

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Return a table that sums to 1 over an axis."""

    def per_cell(self, levels: Any, configurations: Any) -> Any:
        """Return the pseudo-count for so many levels of a variable and configurations of its parents."""

    def side_by_side(self, counts: Any, variable: Any, cards: Any) -> Array:
        """Return the tables of variables whose levels follow one another along the last axis."""


@dataclass(frozen=True, eq=False)
class LevelTables(Immutable):
    """The probabilities that follow from counts of levels by a prior, made when they are asked for."""

    counts: Cooccurrence
    prior: Smoothing

    @cached_property
    def single(self) -> Array:
        """P(level, class), (levels, classes)."""
        spans = self.counts.spans
        tables = [self.prior(self.counts.single[span].reshape(-1)) for span in spans]
        return np.concatenate([np.empty(0), *tables]).reshape(-1, len(self.counts.classes))

    def beside(self, level: int, others: Positions) -> Array:
        """P(level, other, class) for levels of other features, (levels, classes)."""
        counts = self.counts
        owner, feature = counts.feature[level], counts.feature[others]
        cells = counts.cards[owner] * np.array(counts.cards)[feature] * len(counts.classes)
        pseudo = np.zeros(cells.shape) + self.prior.per_cell(cells, 1)
        totals = counts.pair_rows[owner, feature] + cells * pseudo
        return (counts.beside(level)[:, others].T + pseudo[:, None]) / totals[:, None]

    def conditional(self, pairs: PairCounts, feature: Positions) -> Array:
        """P(level | owner, class) from counts of pairs, given the feature of each level counted."""
        return self.prior.side_by_side(pairs.counts, feature[pairs.levels], np.array(self.counts.cards))


@record
@dataclass(frozen=True, eq=False, repr=False)
class ANDE(Average):
    """Averaged n-dependence estimators, one for each n features as the superparents of all others.

    The value keeps counts, and makes probabilities of them when it is asked for some. Which of its
    members take part in a prediction depends on the row.

    Attributes
    ----------
    class_var : str
    features : tuple
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end.
    n : int
        The number of superparents of each member: 0, 1 or 2.
    min_count : int
        The rows that the superparents' values of a row must have in training for the member to vote.
    subsumption : int or None
        A value that follows from another one of the row, seen in more rows than this, is left out;
        None leaves out nothing.
    weighting : str or None
        "mi" if members weigh by what their superparents tell of the class; None if all weigh the same.
    counts : Cooccurrence or None
        Of levels alone, in pairs and in triples; None until `lp`, as the next.
    prior : pseudo-counts, or None
    recipe : Recipe or None
        How it was learned; `cv` runs it again.
    learned : mapping
        What a method of `lp` left behind, by name.
    """

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    n: int = 1
    min_count: float = 1
    subsumption: float | None = None
    weighting: str | None = None
    counts: Cooccurrence | None = None
    prior: Smoothing | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "averaged n-dependence estimators have no joint distribution, as a missing feature neither votes nor "
        "is a child; ask aode, whose estimators are networks, or a single network"
    )

    def __post_init__(self) -> None:
        check_whole("n", self.n, 0, 2)
        if self.counts is not None:
            _check_counts(self.counts, self.levels, self.n)
        super().__post_init__()

    @property
    def most_counted(self) -> int:
        """How many levels are counted together at most."""
        return max(self.n + 1, 1 if self.subsumption is None else 2)

    @property
    def fitted(self) -> bool:
        """Whether it has parameters."""
        return self.counts is not None

    def facts(self) -> dict[str, object]:
        """Return what the ensemble is made of, and what its members must show to vote."""
        return {
            "num. features": len(self.features),
            "num. members": comb(len(self.features), self.n),
            "superparents": self.n,
            "min_count": self.min_count,
            "subsumption": self.subsumption,
            "weights": self.weighting,
        }

    @cached_property
    def tables(self) -> LevelTables:
        """The probabilities that the members are made of."""
        if self.counts is None or self.prior is None:
            raise ValueError("structure only, no parameters: call lp(x, dataset, smooth=...) first")
        return LevelTables(self.counts, self.prior)

    @property
    def superparents(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of each member's superparents."""
        return tuple(combinations(range(len(self.features)), self.n))

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators as networks, in the order of `superparents`."""
        return tuple([self.member(s) for s in self.superparents])

    def member(self, superparents: tuple[int, ...]) -> BNC:
        """Return an estimator with these superparents, which may be fewer than those of the members.

        Of two superparents, the first is a parent of the second.
        """
        earlier = {s: superparents[:i] for i, s in enumerate(superparents)}
        scopes = [(f, *earlier.get(f, superparents)) for f in range(len(self.features))]
        families: tuple[Family, ...] = (
            *[(*[self.features[v] for v in scope], self.class_var) for scope in scopes],
            (self.class_var,),
        )
        if not self.fitted:
            return BNC(self.class_var, families, self.levels, recipe=self.recipe)
        counts, prior = self.tables.counts, self.tables.prior
        cells = counts.table(*superparents)
        joint = prior(cells.reshape(-1)).reshape(cells.shape)
        tables = {s: _next_factor(joint, i) for i, s in enumerate(superparents)}
        tables |= {scope[0]: prior(counts.table(*scope)) for scope in scopes if scope[0] not in tables}
        cpts = (*[tables[f] for f in range(len(self.features))], _next_factor(joint, None))
        return BNC(self.class_var, families, self.levels, cpts, self.recipe)

    @cached_property
    def information(self) -> Array:
        """The mutual information of each feature and the class, in nats."""
        counts = self.tables.counts
        return np.array([_information(counts.single[span]) for span in counts.spans])

    @property
    def weights(self) -> Array:
        """The weight of each member where all vote; they sum to 1."""
        if self.weighting is None or self.n == 0 or not self.fitted:
            return normalize(np.ones(comb(len(self.features), self.n)))
        return normalize(np.array([self.information[list(s)].sum() for s in self.superparents]))

    @property
    def shares(self) -> Array:
        """How much of the weights of all members each feature has as a superparent; they sum to 1."""
        shares = np.zeros(len(self.features))
        for superparents, weight in zip(self.superparents, self.weights, strict=True):
            shares[list(superparents)] += weight / self.n
        return shares


def _check_counts(counts: Cooccurrence, levels: Levels | None, n: int) -> None:
    """Raise a ValueError unless there are the counts that members need, of the levels that there are."""
    *cards, n_classes = [len(labels) for labels in levels or ((),)]
    single = (sum(cards), n_classes)
    if counts.cards != tuple(cards) or counts.single.shape != single or len(counts.classes) != n_classes:
        raise ValueError(f"counts: expected those of {listed(cards)} levels and {n_classes} classes")
    owners = [level for pairs in counts.pairs for level in pairs.owners.tolist()]
    if n and sorted(owners) != list(range(sum(cards))):
        raise ValueError("counts: expected those of all pairs of levels")


def _next_factor(joint: Array, i: int | None) -> Array:
    """Return P(superparent i | those before it, class) from their joint distribution; P(class) for None."""
    n_kept = 0 if i is None else i + 1
    margin = joint.sum(axis=tuple(range(n_kept, joint.ndim - 1)))
    return margin if i is None else normalize(np.moveaxis(margin, i, 0))


def _information(counts: Array) -> Array:
    """Return I(feature; class) from counts, (levels, classes), as WAODE has it.

    Cells that are rarer than 1e-6, or would be if the two were independent, are left out.
    """
    joint = counts / max(counts.sum(), 1.0)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    is_common = (joint >= _RARE) & (independent >= _RARE)
    information = np.sum(joint[is_common] * np.log(joint[is_common] / independent[is_common]))
    return np.where(information > _ROUNDING, information, 0.0)
