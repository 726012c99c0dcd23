"""Averaged one-dependence estimators (AODE): networks in which one feature is a parent of all others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np

from ..base.arrays import Array, ArrayOf, Codes, log
from ..base.immutable import PROBABILITY, bounded, cached_property, record
from ..counts.contingency import check_all_pairs, contingency_tables, count_pairs
from ..frames.dataset import Dataset
from ..frames.schema import Levels
from ..model.recipes import Recipe, Tally
from ..network.classifiers import BNC
from ..network.elimination import joint_in_blocks
from ..network.em import EM
from ..network.ensemble import Average
from ..network.families import Family
from ..network.priors import Prior, PseudoCounts, is_nested, tabulate
from .look_up import LookUp, by_blocks, number_levels, spans_of

_SMALL = 2**20  # cells


@record
@dataclass(frozen=True, eq=False, repr=False)
class AODE(Average):
    """An ensemble of one-dependence estimators, one for each feature as the superparent.

    The tables of all estimators are stacked in three arrays, in which the levels of all features are
    numbered consecutively. `members` returns the estimators as networks.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features. Each is the superparent of one estimator, a parent of all others.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end; None without data.
    priors : (features, classes) read-only array, or None
        P(class) in each estimator; None before `lp`, like the next two.
    superparents : (levels of all features, classes) read-only array, or None
        P(level | class), in the estimator whose superparent has the level.
    children : tuple of read-only arrays, or None
        P(level | level of the superparent, class) in each estimator, (levels of all other
        features, levels of the superparent, classes).
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of a method of `lp`, by name: tuples with one value per estimator.

    Examples
    --------
    >>> from bnclassify import aode, load_car, lp, members, modelstring
    >>> car = load_car()
    >>> model = lp(aode("class", car, features=["doors", "safety"]), car, smooth=1)
    >>> [modelstring(member) for member in members(model)]
    ['[class] [doors|class] [safety|doors:class]', '[class] [safety|class] [doors|safety:class]']
    """

    default_steps = "power"

    bounds = bounded(priors=PROBABILITY, superparents=PROBABILITY, children=PROBABILITY)

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    priors: Array | None = None
    superparents: Array | None = None
    children: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.children is not None

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators, in the order of their superparents."""
        return tuple([self._member(i) for i in range(len(self.features))])

    @property
    def spans(self) -> tuple[slice, ...]:
        """The slice of the levels of each feature among all levels."""
        return spans_of([len(labels) for labels in (self.levels or ())[:-1]])

    @property
    def _tables(self) -> tuple[Array, Array, tuple[Array, ...]]:
        """`priors`, `superparents` and `children` of a fitted model."""
        assert self.priors is not None
        assert self.superparents is not None
        return self.priors, self.superparents, self.children or ()

    def _member(self, i: int) -> BNC:
        superparent = self.features[i]
        families: list[Family] = [(f, superparent, self.class_var) for f in self.features]
        families[i] = superparent, self.class_var
        cpts = None
        if self.fitted:
            priors, superparents, children = self._tables
            ends = accumulate(span.stop - span.start for j, span in enumerate(self.spans) if j != i)
            *tables, _ = np.split(children[i], list(ends))
            tables.insert(i, superparents[self.spans[i]])
            cpts = (*tables, priors[i, :])
        learned = {name: results[i] for name, results in self.learned.items() if name != "counts"}
        all_families = (*families, (self.class_var,))
        return BNC(self.class_var, all_families, self.levels, cpts, self.recipe, learned=learned)

    @property
    def _counted_families(self) -> tuple[Family, ...]:
        return tuple([family for member in self.members for family in member.families])

    def count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        """Count the tables of all estimators, one after the other."""
        n = len(self.features)
        check_all_pairs(data, range(n), n)
        if is_nested(prior) or not self._has_square:
            return tuple([table for member in self.members for table in member.count(data, prior)])
        classes, pairs = contingency_tables(data, [(n,)])[0], count_pairs(data)
        counts: list[ArrayOf[Any]] = []
        for i, own in enumerate(self.spans):
            levels = np.arange(own.start, own.stop)
            tables = [pairs[own, :, span].transpose(2, 0, 1) for span in self.spans]
            tables[i] = pairs[levels, :, levels]
            counts += [*tables, classes]
        return tuple(counts)

    def distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member.distributions()]

    @property
    def _has_square(self) -> bool:
        """Whether most pairs of levels belong to two features, so that an array of all pairs is efficient."""
        *cards, n_classes = map(len, self.levels or ())
        square = sum(cards) ** 2
        return square * n_classes <= _SMALL or 2 * sum(card**2 for card in cards) <= square

    def tabulate(self, tally: Tally) -> AODE:
        size = len(self.features) + 1
        starts = range(0, len(tally.counts), size)
        if not is_nested(tally.prior):
            tables = tabulate(tally.counts, tally.prior)
            return self._stacked([tables[i : i + size] for i in starts], {"counts": tally})
        counts = [Tally(tally.counts[i : i + size], tally.prior) for i in starts]
        made = [member.tabulate(own) for member, own in zip(self.members, counts, strict=True)]
        return self._stacked([member.cpts or () for member in made], _by_member(made) | {"counts": tally})

    def _stacked(self, tables: Sequence[Sequence[Array]], learned: Mapping[str, Any]) -> AODE:
        """Return the ensemble with the tables of its estimators."""
        return replace(
            self,
            priors=np.stack([cpts[-1] for cpts in tables]),
            superparents=np.concatenate([cpts[i] for i, cpts in enumerate(tables)]),
            children=tuple([np.concatenate([*cpts[:i], *cpts[i + 1 : -1]]) for i, cpts in enumerate(tables)]),
            learned=learned,
        )

    def maximize(self, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
        check_all_pairs(data, range(len(self.features)), len(self.features))
        made = [member.maximize(data, prior, em) for member in self.members]
        with_levels = replace(self, levels=made[0].levels)
        return with_levels._stacked([member.cpts or () for member in made], _by_member(made))

    @cached_property
    def _look_up(self) -> LookUp:
        """Ln P(level | superparent's level, class); at the superparent's own level, ln P(level, class)."""
        priors, superparents, all_children = self._tables
        n_levels, n_classes = superparents.shape
        tables = np.ones((n_levels, n_levels + 1, n_classes))
        for i, (span, children) in enumerate(zip(self.spans, all_children, strict=True)):
            by_superparent = children.transpose(1, 0, 2)
            tables[span, : span.start] = by_superparent[:, : span.start]
            tables[span, span.stop : -1] = by_superparent[:, span.start :]
            own = np.arange(span.start, span.stop)
            tables[own, own] = superparents[span] * priors[i, :]
        return LookUp(log(tables), self.spans)

    def log_joint(self, codes: Codes) -> Array:
        if self._has_square:
            return by_blocks(self._joint_by_look_up, codes, len(self.known_levels[-1]))
        return joint_in_blocks([member.terms for member in self.members], codes)

    def _joint_by_look_up(self, codes: Codes) -> Array:
        # A member with a missing superparent is the sum over the levels that the superparent can have.
        levels = number_levels(codes, self.spans)
        columns = self._look_up.columns(levels)
        total = self._look_up.total(columns, levels, np.zeros((len(levels), 1)))
        for i, span in enumerate(self.spans):
            rows = np.flatnonzero(codes[i] < 0)
            if len(rows):
                own = np.arange(span.start, span.stop)
                each = np.broadcast_to(own[:, None], (len(own), len(rows)))
                others = self._look_up.total(columns[:, rows], each, self._look_up.logs[own, own])
                total[rows] = np.logaddexp(total[rows], others)
        return total - float(np.log(len(levels)))


def _by_member(members: Sequence[BNC]) -> dict[str, Any]:
    """Return results of learning, tuples with one value per member."""
    names = [name for name in members[0].learned if name != "counts"]
    return {name: tuple([member.learned[name] for member in members]) for name in names}
