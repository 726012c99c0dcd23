"""Families whose tables are learned together in several discretizations of the rows, and their network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log
from ..base.immutable import cached_property
from ..frames.schema import Dataset
from ..model.model import renewed
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..network.elimination import BLOCK_ROWS
from ..network.estimates import Scope
from .codings import Coarsening, recode
from .counts import count_prefixes, without_class
from .incomplete import Fading
from .log_linear import LogLinear, shortened
from .prior import concentrations_of, make_stacks
from .tables import LeftOut, PrefixTable, Stack, class_probabilities, feature_probabilities
from .terms import Power, by_depth

if TYPE_CHECKING:
    from .weighted import Weighted

_GROUP_CELLS = 2**16  # rows x tables of a group, unless a family has more


@dataclass(frozen=True, eq=False)
class Group:
    """Families with equally many feature parents, (families, members), and their tables by coding."""

    families: Sequence[int]
    members: NDArray[np.intp]
    stack: Stack

    @property
    def codings(self) -> int:
        """The number of codings."""
        return len(self.stack.cards) // len(self.families)

    def logs(
        self, codes: Codes, left_out: LeftOut | None = None, rows: Any = slice(None), further: int = 0
    ) -> Iterator[Array]:
        """Yield logs of families by 0, 1, … parents, (1 + further, families, rows, classes or 1).

        The first are means over codings, without the ``further`` last ones, which follow. Families that are
        the same in all codings have the first alone.
        """
        n = len(self.stack.cards)
        members = _joined(codes, self.members, self.codings, rows)
        if left_out is not None and n > 1:
            left_out = LeftOut(np.tile(left_out.classes, n), np.tile(left_out.shares, n))
        values = (
            feature_probabilities(self.stack, members, left_out)
            if len(members) == self.stack.cards.shape[1]
            else class_probabilities(self.stack, members, codes[0][..., rows].shape[-1] * n, left_out)
        )
        for value in values:
            logs = log(value).reshape(len(self.families), self.codings, -1, value.shape[1]).swapaxes(0, 1)
            kept = max(1, self.codings - further)
            mean = logs[:1] if kept == 1 else logs[:kept].sum(axis=0, keepdims=True) / kept
            yield np.concatenate([mean, logs[kept:]]) if len(logs) > kept else mean

    def tables(self, parents: int) -> Iterator[tuple[int, list[PrefixTable]]]:
        """Yield each family and its tables with a maximum number of feature parents."""
        tables, n = self.stack.tables(parents), self.codings
        for i, family in enumerate(self.families):
            yield family, tables[i * n : (i + 1) * n]


def _joined(codes: Codes, members: NDArray[np.intp], codings: int, rows: Any = slice(None)) -> list[Codes]:
    """Return the codes of each member at rows, those of the first family in all codings first."""
    return [codes[:codings, columns][..., rows].swapaxes(0, 1).reshape(-1) for columns in members.T]


def learn_groups(
    scopes: Sequence[Scope],
    cards: NDArray[np.intp],
    codes: Codes,
    data: Dataset,
    prior: Any,
    varies: Callable[[Scope], bool],
) -> list[Group]:
    """Count families, the class last, in (codings, variables, rows) codes, and learn their tables."""
    class_number, alike = len(scopes) - 1, dict[tuple[int, int, bool], list[int]]()
    for family, scope in enumerate(scopes):
        kind = len(cards) if varies(scope) else 1, len(scope), scope[-1] == class_number
        alike.setdefault(kind if family < class_number else (0, 0, False), []).append(family)
    found, counts, all_cards = [], [], []
    for families in alike.values():
        n = len(cards) if varies(scopes[families[0]]) else 1
        most = max(1, _GROUP_CELLS // max(1, len(data) * n))
        for start in range(0, len(families), most):
            block = families[start : start + most]
            members = np.array([without_class(scopes[f], class_number) for f in block])
            by_class = members.shape[1] < len(scopes[block[0]])
            tables, levels = n * len(block), cards[:n, members].swapaxes(0, 1).reshape(-1, members.shape[1])
            prefixes = count_prefixes(
                _joined(codes, members, n),
                levels.max(axis=0).tolist(),
                np.tile(data.codes[-1], tables) if by_class else None,
                data.cards[-1],
                None if data.weights is None else np.tile(data.weights, tables),
                tables,
            )
            found.append((block, members))
            counts.append(prefixes)
            all_cards.append(levels)
    of_class = [block[0] == class_number for block, _ in found]
    stacks = make_stacks(counts, all_cards, of_class, prior)
    return [
        Group(block, members[:, 1:] if own else members, stack)
        for (block, members), own, stack in zip(found, of_class, stacks, strict=True)
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Stacked(LogLinear):
    """A network whose tables, in all codings of the rows, are together, as they were learned.

    ``origin`` is the model that `split` gives the tables. ``codes`` are those of the training rows, (codings,
    variables, rows). The tables have at most ``most_parents`` feature parents.
    """

    origin: Weighted
    codes: Codes
    groups: Sequence[Group]
    powers: tuple[Power, ...]
    most_parents: int
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None
    further: tuple[tuple[Power, ...], ...] = ()

    @classmethod
    def learn(cls, x: Weighted, data: Dataset, prior: Any) -> Stacked:
        """Count the families in codings of the same rows, and learn their tables; all powers are 1."""
        structure = replace(x.structure, levels=data.levels, cpts=None, learned={})
        origin = renewed(x, structure=structure, tables=(), powers=(), learned={}, fading=None)
        coded = recode(data.codes[:-1], x.coarsenings)
        codes = np.concatenate([coded, np.broadcast_to(data.codes[-1], (len(coded), 1, len(data)))], axis=1)
        cards = np.array([origin._in_coding(i).cards for i in range(len(codes))])
        varies = x.coarsenings[0].changes if x.coarsenings else lambda scope: False
        groups = learn_groups(structure.scopes, cards, codes, data, prior, varies)
        return cls(origin, codes, groups, (1.0,) * len(structure.scopes), structure.depth, x.recipe)

    @cached_property
    def structure(self) -> BNC:
        """The network without tables."""
        return shortened(self.origin.structure, self.most_parents)

    @property
    def coarsenings(self) -> tuple[Coarsening, ...]:
        """The discretizations that are averaged."""
        return self.origin.coarsenings

    @cached_property
    def tables(self) -> tuple[tuple[PrefixTable, ...], ...]:
        """The table of each family in each coding."""
        found = dict(pair for group in self.groups for pair in group.tables(self.most_parents))
        families = [found[family] for family in range(len(found))]
        return tuple([tuple([each[i % len(each)] for each in families]) for i in range(len(self.codes))])

    @property
    def apart(self) -> int:
        """Number of the last discretizations that do not belong to the average."""
        return self.origin.apart

    def _class_prior(self) -> Array:
        """Return the smoothed shares of the classes in training."""
        *_, stack = [group.stack for group in self.groups if group.families[0] == len(self.features)]
        parents = [np.zeros(1, dtype=np.intp)] * (stack.cards.shape[1] - 1)
        return next(class_probabilities(stack, parents, 1))[0]

    def split(self) -> Weighted:
        """Return the same model for long use, with the tables of each coding apart."""
        learned = {} if self.coarsenings else concentrations_of(self.tables[0])
        return replace(
            self.origin,
            structure=self.structure,
            tables=self.tables,
            powers=self.powers,
            learned=learned,
            fading=self.fading,
            further=self.further,
        )

    def _logs(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        coded = recode(codes[: len(self.features)], self.coarsenings)
        for group in self.groups:
            n = min(1 + self.most_parents, group.stack.cards.shape[1])
            of_groups = (self.powers, *self.further) if group.codings > 1 else (self.powers,)
            powers = np.array([[by_depth(p[f], n) for f in group.families] for p in of_groups])
            if not powers.any():
                continue
            logs = group.logs(coded, left_out, further=self.apart)
            terms = [
                (power[..., None, None] * each[: len(power)]).sum(axis=0)
                for power, each in zip(powers.transpose(2, 0, 1), logs, strict=False)
                if power.any()
            ]
            yield from zip(group.families, sum(terms), strict=True)

    def plus(self, other: Stacked) -> Stacked:
        """Return the sum of this model and of one with the same tables and at least as many parents."""
        powers = added(self._by_depth(self.powers), other._by_depth(other.powers))
        further = [x._by_depth(powers) for x in (self, other) for powers in x.further]
        if self.further and other.further:
            n = len(self.further)
            further = [added(a, b) for a, b in zip(further[:n], further[n:], strict=True)]
        return renewed(other, powers=powers, further=tuple(further))

    def _by_depth(self, powers: Sequence[Power]) -> tuple[Power, ...]:
        """Return powers with one number for each number of feature parents."""
        class_number = len(self.features)
        sizes = [len(without_class(scope, class_number)) for scope in self.structure.scopes[:-1]]
        sizes.append(len(self.structure.scopes[-1]))
        return tuple([tuple(by_depth(p, n).tolist()) for p, n in zip(powers, sizes, strict=True)])

    def left_out(self, codes: Codes, left_out: LeftOut) -> Array:
        """Return the sums of terms at training rows, (rows, classes), each without the row."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for _, logs in self._logs(codes[:, block], left_out.take(block)):
                total[block] += logs
        return total


def added(first: Sequence[Any], second: Sequence[Any]) -> tuple[Power, ...]:
    """Return the sums of powers by number of feature parents, of which one model can have fewer."""
    sums = []
    for a, b in zip(first, second, strict=True):
        padded = [(*p, *[0.0] * (max(len(a), len(b)) - len(p))) for p in (a, b)]
        sums.append(tuple([x + y for x, y in zip(*padded, strict=True)]))
    return tuple(sums)
