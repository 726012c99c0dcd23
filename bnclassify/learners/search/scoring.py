"""Cross-validated scores of structures, by the families that an edit changes.

Missing features of tested rows are marginalized over. Given the class and the observed features of a row,
families with different missing features are independent, so families are grouped into components, and an
edit changes the components of its changed families.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array
from ...base.graphs import components
from ...base.messages import shown
from ...metrics import ACCURACY, Metric
from ...network.factors import Factor
from ...network.log_joints import add_missing
from ...network.priors import Prior, PseudoCounts
from .fold_tables import FamilyTables, FoldedData, Index, Kept, LogOddsPlanes
from .neighbours import Edit, Parents, Structure, apply


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


_FEW = 4  # maximum number of edits of a family that are scored in all rows


class CrossValidatedScore:
    """Score structures by the mean over folds of a metric (minus a loss), with tables of the other folds."""

    def __init__(self, data: FoldedData, prior: Prior, metric: Metric = ACCURACY) -> None:
        if not isinstance(prior, PseudoCounts):
            raise TypeError(
                f"prior must be one of smooth, ess and m for a search; got {shown(prior)}. Search with one "
                "of them, then estimate the parameters with another prior by lp."
            )
        self.data, self.metric = data, metric
        n_variables = len(data.cards) + 1
        self.planes = LogOddsPlanes(data.n_classes, n_variables, data.lowest, positive=prior.is_positive)
        self.tables = FamilyTables(data, prior, self.planes)
        self.incomplete = IncompleteRows(self.tables) if data.partial else None
        self._structure: Structure | None = None

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        if structure != self._structure:
            self._structure = structure
            self.tables.turn()
        total = self.tables.of_class.copy()
        for v, parents in structure.items():
            total += self.tables.added((v, *parents))
        if self.incomplete is not None:
            self.incomplete.infer(structure, total)
        scores = np.empty(len(edits))
        # edits of the same families are adjacent, so that the other families are summed once
        order = sorted(range(len(edits)), key=lambda number: tuple(edits[number]))
        for changed, numbers in groupby(order, key=lambda number: tuple(edits[number])):
            rest = total
            for v in set(changed).intersection(structure):
                rest = rest - self.tables.added((v, *structure[v]))
            alike = list(numbers)
            scores[alike] = self._score([edits[number] for number in alike], rest)
        return scores

    def _score(self, edits: Sequence[Edit], rest: Array) -> list[float]:
        """Score edits of the same families from the log joint of the others, (planes, tested rows)."""
        families = [(v, *parents) for edit in edits for v, parents in edit.items() if parents is not None]
        is_single = len(families) == len(edits) >= _FEW and len(edits[0]) == 1
        if self.metric == ACCURACY and is_single and self.data.partial.isdisjoint(chain(*families)):
            values = self._accuracies_of(families, rest)
        else:
            values = (self._values(self._after(edit, rest)) for edit in edits)
        return [float(np.mean(by_fold)) * (-1 if self.metric.is_loss else 1) for by_fold in values]

    def _after(self, edit: Edit, rest: Array) -> Array:
        """Return the log joint after an edit, (planes, tested rows), from the other families."""
        logs = rest
        for v, parents in edit.items():
            if parents is not None:
                logs = logs + self.tables.added((v, *parents))
        if self.incomplete is not None:
            logs = logs.copy() if logs is rest else logs
            self.incomplete.amend(edit, logs)
        return logs

    def _values(self, logs: Array) -> list[float]:
        """Return the metric in each fold."""
        data, weights = self.data, self.data.weights
        if self.metric == ACCURACY:
            return self._accuracies(self.planes.best(logs) == data.truth)
        return [
            self.metric.of_rows(
                self.planes.joint(logs[:, fold]), data.truth[fold], None if weights is None else weights[fold]
            )
            for fold in data.folds
        ]

    def _accuracies(self, right: NDArray[np.bool_]) -> list[float]:
        """Return the accuracy in each fold, without posteriors."""
        weights = self.data.weights
        if weights is None:
            return [np.count_nonzero(right[fold]) / len(right[fold]) for fold in self.data.folds]
        return [float(weights[fold] @ right[fold] / weights[fold].sum()) for fold in self.data.folds]

    def _accuracies_of(self, families: Sequence[Parents], rest: Array) -> Iterator[list[float]]:
        """Yield the accuracy by fold with each of these families; rows with wide margins are settled."""
        low, high = self.tables.bounds(families)
        low += rest
        high += rest
        right = self.planes.best(low) == self.data.truth
        rows = np.flatnonzero(~self.planes.are_settled(low, high))
        truth, rest = self.data.truth[rows], rest[:, rows]
        for family in families:
            right[rows] = self.planes.best(rest + self.tables.added_in(family, rows)) == truth
            yield self._accuracies(right)
