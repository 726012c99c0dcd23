"""Lazy elimination: values of features that other values of the row imply are treated as missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise
from typing import Any

import numpy as np

from ..base.arrays import TOLERANCE, Array, Codes, Mask, Positions
from ..base.checks import Whole
from ..base.immutable import record
from ..counts.contingency import check_number, count_families
from ..frames.schema import Countable
from ..model.model import Choose, Derived, Model
from ..model.recipes import Recipe
from .classifiers import BNC
from .priors import Method, Prior, check_augmented


@record
@dataclass(frozen=True, eq=False, repr=False)
class Lazy(Derived):
    """A network that ignores the first value of a row if the second of a pair of values implies it."""

    base: BNC
    implications: Positions
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    called = "a model with subsumption"

    no_joint = (
        "a model with subsumption resolution ignores values row by row, so it does not define a joint "
        "distribution. Use cloglik or cv, or refit the model with lp without subsumption."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs, n = self.implications, sum(self.base.cards[:-1])
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not ((pairs >= 0) & (pairs < n)).all():
            raise ValueError(f"the implications must be pairs of values from 0 to {n - 1}")

    @property
    def members(self) -> tuple[Model, ...]:
        """The network."""
        return (self.base,)

    @property
    def network(self) -> Any:
        """The network."""
        return self.base

    def facts(self) -> dict[str, object]:
        """Return the facts of the network, and the number of implications."""
        return self.base.facts() | {"num. implications": len(self.implications)}

    def _hide(self, codes: Codes) -> Codes:
        return hide_implied(codes, self.base.cards[:-1], self.implications)

    def _log_joint(self, codes: Codes) -> Array:
        return self.base._log_joint(self._hide(codes))

    def _log_joints_in_sequence(self, codes: Codes, order: Sequence[int]) -> Array:
        return self.base._log_joints_in_sequence(self._hide(codes), order)

    def _weigh_evidence(
        self, codes: Codes, order: Sequence[int], choose: Choose
    ) -> tuple[Array, Positions, Mask, Array]:
        return self.base._weigh_evidence(self._hide(codes), order, choose)

    def _effects(self, codes: Codes) -> Iterator[tuple[int, tuple[int, ...], Array]]:
        return self.base._effects(self._hide(codes))


@record
@dataclass(frozen=True)
class Subsumption(Method):
    """Finds implied values, in at least ``rows`` rows."""

    rows: int

    argument = "subsumption"
    counts_alone = True

    def __post_init__(self) -> None:
        Whole(least=1).check("subsumption", self.rows)

    def settings(self) -> Mapping[str, Any]:
        """Return the argument of `lp` that requests this."""
        return {"subsumption": self.rows}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the model is an augmented naive Bayes."""
        check_augmented(x if x.graph is None else x.graph, self.argument)

    def __call__(self, x: Model, data: Any, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the network with its tables and implications."""
        fitted = x._estimate(data, prior)
        return Lazy(fitted, _implications(data, len(x.features), self.rows), fitted.recipe)


def _implications(data: Countable, n_features: int, rows: int) -> Positions:
    """Return pairs of values, (pairs, 2), the second of which implies the first."""
    cards = data.cards[:n_features]
    check_number(data, range(n_features), sum(cards) ** 2, "omit subsumption")
    both = np.zeros((sum(cards), sum(cards)))
    spans = [slice(start, end) for start, end in pairwise(accumulate((0, *cards)))]
    alone, pairs = [(i,) for i in range(n_features)], list(combinations(range(n_features), 2))
    tables = count_families(data, [*alone, *pairs])
    for span, table in zip(spans, tables, strict=False):
        both[span, span] = np.diag(table)
    for (i, j), table in zip(pairs, tables[n_features:], strict=True):
        both[spans[i], spans[j]], both[spans[j], spans[i]] = table, table.T
    return implied_values(both, _number_values(cards)[0], np.diagonal(both) >= rows - TOLERANCE)


def implied_values(both: Array, feature: Positions, is_frequent: Mask) -> Positions:
    """Return pairs of values, (pairs, 2), the second of which is frequent and implies the first.

    ``both`` has the number of rows with two values. Of two values with the same rows, that of the earlier
    feature is kept.
    """
    counts = np.diagonal(both)
    implies = is_frequent & (both >= counts - TOLERANCE * np.maximum(counts, 1))
    same_rows = implies & implies.T
    implies &= (feature[:, None] != feature) & ~(same_rows & (feature[:, None] < feature))
    return np.argwhere(implies)


def hide_implied(codes: Codes, cards: Sequence[int], implications: Positions) -> Codes:
    """Return the codes of rows, (features, rows), with -1 for implied values."""
    feature, level = _number_values(cards)
    hidden = codes.copy()
    implied, implying = implications.T
    for value in np.unique(implied):
        others = implying[implied == value]
        present = (codes[feature[others]] == level[others, None]).any(axis=0)
        hidden[feature[value], present & (codes[feature[value]] == level[value])] = -1
    return hidden


def _number_values(cards: Sequence[int]) -> tuple[Positions, Positions]:
    """Return the feature and the code of each value of all features, which are numbered consecutively."""
    feature = np.repeat(np.arange(len(cards)), cards)
    return feature, np.arange(len(feature)) - np.repeat(np.cumsum(cards) - cards, cards)
