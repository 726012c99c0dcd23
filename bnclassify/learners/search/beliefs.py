"""What is known of missing values in a part of a structure, by exact inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array, Codes
from ...base.graphs import components, layers
from ...network import elimination, forests
from ...network.factors import Belief, Factor
from .folded import FoldedData, Index
from .neighbours import Parents, Structure

Family = tuple[int, ...]
FactorOf = Callable[[Family], Factor]

_BLOCK_ROWS = 2**12  # messages about so many stay in the cache


def connected_families(structure: Structure, incomplete: frozenset[int]) -> list[dict[int, Parents]]:
    """Gather the families that have incomplete features, those together that share any.

    Given the class and what a row shows, one gathering says nothing of another.

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


class Part:
    """Families and the features in them, numbered anew, as inference takes them.

    Parameters
    ----------
    families : mapping
        A variable to its feature parents. Of features without a family here no value is missing.
    factor_of : callable
        Gives the factor of a family, its contexts the folds.
    data : FoldedData
    """

    def __init__(self, families: Mapping[int, Parents], factor_of: FactorOf, data: FoldedData) -> None:
        self.data = data
        self.features = sorted(set(chain(families, *families.values())))
        self.position = {u: i for i, u in enumerate(self.features)}
        self.parents = {
            i: [self.position[p] for p in families.get(u, ())] for i, u in enumerate(self.features)
        }
        self.factors = [
            Factor((self.position[u], *self.parents[self.position[u]]), factor_of((u, *families[u])).table)
            if u in families
            else Factor((self.position[u],), np.zeros((data.cards[u], data.n_folds, data.n_classes)))
            for u in self.features
        ]
        # What the class itself says stands elsewhere.
        self.factors.append(Factor((), np.zeros((data.n_folds, data.n_classes))))

    def sum_out(self, rows: Index) -> Array:
        """Return what missing features add to the log joint of tested rows, (rows, classes)."""
        added = np.zeros((len(rows), self.data.n_classes))
        engine = forests if forests.is_forest(self.factors) else elimination
        engine.add_missing(added, self.factors, self.codes(rows), self.data.fold.take(rows))
        return added

    def infer(self, rows: Index, added: Array) -> list[Belief]:
        """Return how likely missing values are in tested rows, and what they add, in ``added``."""
        codes, folds = self.codes(rows), self.data.fold.take(rows)
        if forests.is_forest(self.factors):
            messages = list(forests.ascend(added, self.factors, codes, folds, leaves=True))
            return list(forests.descend(messages, self.factors, codes, folds))
        elimination.add_missing(added, self.factors, codes, folds)
        return list(elimination.beliefs(self.factors, codes, folds))

    def codes(self, rows: Index) -> Codes:
        """Return the codes of the features at tested rows, (features, rows)."""
        return self.data.tested[self.features].take(rows, axis=1)


class Inference:
    """What families that share incomplete features say of the rows that lack some of these.

    Parameters
    ----------
    families, factor_of, data
        As for `Part`; all families are here that have one of the incomplete features.

    Attributes
    ----------
    rows : (rows,) array of int
        The tested rows that lack a feature.
    added : (rows, classes) array
        What missing features add to their log joint: the log of a sum over values.
    """

    def __init__(self, families: Mapping[int, Parents], factor_of: FactorOf, data: FoldedData) -> None:
        self.families = families
        self._part = Part(families, factor_of, data)
        partial = [u for u in self._part.features if u in data.partial]
        self.rows = np.nonzero((data.tested[partial] < 0).any(axis=0))[0]
        self.added = np.zeros((len(self.rows), data.n_classes))
        self._beliefs = self._infer()
        self._single: dict[int, tuple[Index, Array]] = {}

    @cached_property
    def key(self) -> frozenset[tuple[int, Parents]]:
        """What tells it from other inferences about the same data."""
        return frozenset(self.families.items())

    def idle(self, feature: int) -> Index:
        """Return the tested rows in which a feature is missing and has no descendant that is observed."""
        return self.rows[~self._matters[self._part.position[feature]]]

    def posterior(self, features: Family, rows: Index) -> Array | None:
        """Return how likely the values of features are in tested rows in which they are missing.

        Returns
        -------
        (rows, classes, levels of each feature…) array
            None if no family has all of these features.
        """
        if len(features) == 1:
            where, shares = self._alone(*features)
            places = np.searchsorted(where, rows)
            if len(places) and places[-1] - places[0] == len(places) - 1:
                return shares[places[0] : places[-1] + 1]  # one after the other: no copy needed
            return shares.take(places, axis=0)
        having = (v for v, parents in self.families.items() if set(features).issubset((v, *parents)))
        family = next(having, None)
        if family is None:
            return None
        posterior = np.empty((0,))
        for free, (where, shares) in self._beliefs[family].items():
            if set(features).issubset(free):
                places = np.minimum(np.searchsorted(where, rows), len(where) - 1)
                lacking = where[places] == rows
                marginal = _marginal(shares.take(places[lacking], axis=0), free, features)
                posterior = posterior if posterior.size else np.empty((len(rows), *marginal.shape[1:]))
                posterior[lacking] = marginal
        return posterior

    def _alone(self, feature: int) -> tuple[Index, Array]:
        """Return the rows that lack a feature, and how likely its values are in them."""
        if feature not in self._single:
            known = [(free, *of) for free, of in self._beliefs[feature].items() if feature in free]
            self._single[feature] = _gather(
                [(where, _marginal(shares, free, (feature,))) for free, where, shares in known]
            )
        return self._single[feature]

    def _infer(self) -> dict[int, dict[Family, tuple[Index, Array]]]:
        """Return what is known of the values that each family lacks, by the members that are missing.

        It is given as rows and (rows, classes, levels of these members…) arrays.
        """
        beliefs: dict[int, dict[Family, list[tuple[Index, Array]]]] = {v: {} for v in self.families}
        for start in range(0, len(self.rows), _BLOCK_ROWS):
            rows = self.rows[start : start + _BLOCK_ROWS]
            for belief in self._part.infer(rows, self.added[start : start + _BLOCK_ROWS]):
                v, *free = (self._part.features[u] for u in (belief.factor, *belief.free))
                if v in free or len(free) > 1:  # else the same is said of the family of that feature
                    known = rows[belief.rows], np.moveaxis(belief.shares, -1, 1)
                    beliefs[v].setdefault(tuple(free), []).append(known)
        return {
            v: {free: _gather(blocks) for free, blocks in by_free.items()} for v, by_free in beliefs.items()
        }

    @cached_property
    def _matters(self) -> NDArray[np.bool_]:
        """Which features matter in each row: those that are observed, or have such a descendant."""
        matters = self._part.codes(self.rows) >= 0
        for v in (v for layer in reversed(layers(self._part.parents)) for v in layer):
            for p in self._part.parents[v]:
                matters[p] |= matters[v]
        return matters


def _gather(blocks: Sequence[tuple[Index, Array]]) -> tuple[Index, Array]:
    """Put blocks of rows together, the rows ascending."""
    rows = np.concatenate([rows for rows, _ in blocks])
    shares = np.concatenate([shares for _, shares in blocks])
    if (np.diff(rows) > 0).all():
        return rows, shares
    order = np.argsort(rows)
    return rows[order], shares[order]


def _marginal(shares: Array, free: Family, features: Family) -> Array:
    """Sum shares, (rows, classes, levels of free features…), over those not asked for, and reorder."""
    kept = [u for u in free if u in features]
    others = tuple(2 + i for i, u in enumerate(free) if u not in features)
    summed = shares.sum(axis=others) if others else shares
    return summed.transpose(0, 1, *(2 + kept.index(u) for u in features))
