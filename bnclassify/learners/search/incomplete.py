"""Exact marginalization over the missing features of tested rows.

Given the class and the observed features of a row, families with different missing features are
independent. Therefore families are grouped into components, and an edit changes the components of
its changed families.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ...base.arrays import Array
from ...base.graphs import components
from ...network.factors import Factor
from ...network.log_joints import add_missing
from .folded import Index
from .neighbours import Edit, Structure, apply
from .tables import FamilyTables, Kept


@dataclass(frozen=True, eq=False)
class Component:
    """Families that share incomplete features, and the contributions of missing values, (planes, rows)."""

    families: Structure
    rows: Index
    added: Array


class IncompleteRows:
    """The contributions of families with missing members to the log joint of tested rows."""

    def __init__(self, families: FamilyTables) -> None:
        self._data, self._planes, self._families = families.data, families.planes, families
        data = self._data
        self._hidden = {u: data.tested[u] < 0 for u in data.partial}
        self._changes = Kept[tuple[Index, Array]](lambda change: change[1].nbytes)
        self._components: dict[frozenset[object], Component] = {}
        self._structure: Structure = {}

    def infer(self, structure: Structure, total: Array) -> None:
        """Add the contributions of missing values to the log joint of a structure."""
        if structure != self._structure:
            self._structure = structure
            self._changes.turn()
        former, self._components = self._components, {}
        for families in connected_families(structure, self._data.partial):
            key = frozenset(families.items())
            component = self._components[key] = former.get(key) or self._make(families)
            total[:, component.rows] += component.added
        self._of_feature = {
            u: component for component in self._components.values() for u in _members(component.families)
        }

    def amend(self, edit: Edit, logs: Array) -> None:
        """Add the change by an edit of the structure to its log joint."""
        changed = {v: (v, *(parents or ()), *self._structure.get(v, ())) for v, parents in edit.items()}
        concerned = {
            u
            for v, members in changed.items()
            for u in self._incomplete(members)
            if u != v or self._has_children(v)
        }
        if concerned:
            members = set(self._incomplete(chain(*changed.values())))
            touched = frozenset(self._of_feature[u] for u in members if u in self._of_feature)
            key = frozenset(edit.items()), touched
            rows, change = self._changes.get(
                key, lambda: self._change(edit, touched, self._lacking(concerned))
            )
            logs[:, rows] += change

    def _has_children(self, feature: int) -> bool:
        """Whether a feature is a parent; if not, its family sums to 1 if it is missing."""
        component = self._of_feature.get(feature)
        return component is not None and any(feature in ps for ps in component.families.values())

    def _change(self, edit: Edit, touched: Iterable[Component], rows: Index) -> tuple[Index, Array]:
        """Return the change of the components of an edit in some rows."""
        before = np.zeros((self._planes.n_planes, self._data.n_tested))
        families: Structure = {}
        for component in touched:
            families = {**families, **component.families}
            before[:, component.rows] += component.added
        return rows, self._sum_out(apply(families, edit), rows) - before[:, rows]

    def _make(self, families: Structure) -> Component:
        rows = self._lacking(self._incomplete(_members(families)))
        return Component(families, rows, self._sum_out(families, rows))

    def _incomplete(self, features: Iterable[int]) -> list[int]:
        return [u for u in features if u in self._hidden]

    def _lacking(self, features: Iterable[int]) -> Index:
        """Return the tested rows in which one of these incomplete features is missing."""
        return np.nonzero(np.logical_or.reduce([self._hidden[u] for u in features]))[0]

    def _sum_out(self, families: Structure, rows: Index) -> Array:
        """Return the contributions of missing values of families in some rows, (planes, rows)."""
        families = {v: ps for v, ps in families.items() if self._incomplete((v, *ps))}
        features = sorted(_members(families))
        position = {u: i for i, u in enumerate(features)}
        factors = [self._factor(u, families.get(u), position) for u in features]
        # the class is part of the sum of the other families
        factors.append(Factor((), np.zeros((self._data.n_folds, self._data.n_classes))))
        added = np.zeros((len(rows), self._data.n_classes))
        codes, folds = self._data.tested[features].take(rows, axis=1), self._data.fold.take(rows)
        add_missing(added, factors, codes, folds)
        return self._planes.planes(added, axis=1)

    def _factor(self, feature: int, parents: Iterable[int] | None, position: dict[int, int]) -> Factor:
        """Return the family of a feature as a factor, empty if it is always observed here."""
        if parents is None:
            card = self._data.cards[feature]
            empty = np.zeros((card, self._data.n_folds, self._data.n_classes))
            return Factor((position[feature],), empty)
        family = (feature, *parents)
        logs = self._families.logs(family)
        table = logs.reshape(*[self._data.cards[u] for u in family], *logs.shape[-2:])
        return Factor(tuple([position[u] for u in family]), table)


def _members(families: Structure) -> set[int]:
    return set(chain(families, *families.values()))


def connected_families(structure: Structure, incomplete: frozenset[int]) -> list[Structure]:
    """Group families that share incomplete features.

    >>> connected_families({0: (1,), 1: (), 2: (3,), 3: (4,), 4: ()}, frozenset({0, 1, 3}))
    [{0: (1,), 1: ()}, {2: (3,), 3: (4,)}]
    """
    links: dict[int, list[int]] = {}
    firsts: dict[int, int] = {}
    for v, parents in structure.items():
        partial = [u for u in (v, *parents) if u in incomplete]
        if partial:
            firsts[v], *others = partial
            links.setdefault(partial[0], []).extend(others)
            for u in others:
                links.setdefault(u, [])
    return [
        {v: structure[v] for v, first in firsts.items() if first in together}
        for together in map(set, components(links))
    ]
