"""Averaged one-dependence estimators (AODE): networks in which one feature is a parent of all others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from ..base.arrays import Array, ArrayOf, Codes, log
from ..base.immutable import PROBABILITY, bounded, cached_property, record
from ..counts.contingency import contingency_tables
from ..counts.pairs import check_all_pairs, count_pairs
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

T = TypeVar("T")

_SMALL = 2**20  # cells


@record
@dataclass(frozen=True, eq=False, repr=False)
class AODE(Average):
    """An ensemble of one-dependence estimators, one for each feature as the superparent.

    `members` returns the estimators as networks.

    Attributes
    ----------
    class_var : str
        The name of the class.
    features : tuple
        The names of the features. Each is the superparent of one estimator, a parent of all others.
    levels : tuple of tuple, or None
        The labels of each feature, and of the class at the end; None without data.
    cpts : tuple of read-only arrays, or None
        The tables of the first estimator, in the order of the features and then of the class, then those of
        the second, and so on, as in `BNC`; None before `lp`.
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

    bounds = bounded(cpts=PROBABILITY)

    class_var: Hashable
    features: tuple[Hashable, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.cpts is not None

    @cached_property
    def members(self) -> tuple[BNC, ...]:
        """The estimators, in the order of their superparents."""
        members = []
        for i, superparent in enumerate(self.features):
            families: list[Family] = [(f, superparent, self.class_var) for f in self.features]
            families[i] = superparent, self.class_var
            cpts = None if self.cpts is None else tuple(self._of_member(self.cpts, i))
            learned = {name: results[i] for name, results in self.learned.items() if name != "counts"}
            of_member = (*families, (self.class_var,)), self.levels, cpts, self.recipe
            members.append(BNC(self.class_var, *of_member, learned=learned))
        return tuple(members)

    def _of_member(self, tables: Sequence[T], i: int) -> Sequence[T]:
        """Return the tables or counts of an estimator, from those of all estimators."""
        size = len(self.features) + 1
        return tables[i * size : (i + 1) * size]

    @property
    def spans(self) -> tuple[slice, ...]:
        """The slice of the levels of each feature among all levels."""
        return spans_of([len(labels) for labels in (self.levels or ())[:-1]])

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
        counts = [tuple(self._of_member(tally.counts, i)) for i in range(len(self.features))]
        if is_nested(tally.prior):
            members = zip(self.members, counts, strict=True)
            made = [member.tabulate(Tally(own, tally.prior)) for member, own in members]
            return self._joined(made, counts=tally)
        cpts = tuple([table for own in counts for table in tabulate(own, tally.prior)])
        return replace(self, cpts=cpts, learned={"counts": tally})

    def _joined(self, members: Sequence[BNC], **learned: Any) -> AODE:
        """Return the ensemble of estimators that were learned one by one."""
        names = [name for name in members[0].learned if name != "counts"]
        learned |= {name: tuple([member.learned[name] for member in members]) for name in names}
        cpts = tuple([table for member in members for table in member.cpts or ()])
        return replace(self, levels=members[0].levels, cpts=cpts, learned=learned)

    def maximize(self, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
        check_all_pairs(data, range(len(self.features)), len(self.features))
        return self._joined([member.maximize(data, prior, em) for member in self.members])

    @cached_property
    def _look_up(self) -> LookUp:
        """Ln P(level | superparent's level, class); at the superparent's own level, ln P(level, class)."""
        spans, n_classes = self.spans, len(self.known_levels[-1])
        tables = np.ones((spans[-1].stop, spans[-1].stop + 1, n_classes))
        for i, own in enumerate(spans):
            *children, of_class = self._of_member(self.cpts or (), i)
            for span, child in zip(spans, children, strict=True):
                if span is own:
                    levels = np.arange(own.start, own.stop)
                    tables[levels, levels] = child * of_class
                else:
                    tables[own, span] = child.transpose(1, 0, 2)
        return LookUp(log(tables), spans)

    def log_joint(self, codes: Codes) -> Array:
        if self._has_square:
            return by_blocks(self._joint_by_look_up, codes, len(self.known_levels[-1]))
        return joint_in_blocks([member.terms for member in self.members], codes)

    def _joint_by_look_up(self, codes: Codes) -> Array:
        # A member with a missing superparent is the sum over the levels that the superparent can have.
        levels = number_levels(codes, self.spans)
        columns = self._look_up.columns(levels)
        total = self._look_up.total(columns, levels, np.zeros(len(levels)))
        for i, span in enumerate(self.spans):
            rows = np.flatnonzero(codes[i] < 0)
            if len(rows):
                over_levels = self._look_up.total_over(columns[:, rows], span)
                total[rows] = np.logaddexp(total[rows], over_levels)
        return total - float(np.log(len(levels)))
