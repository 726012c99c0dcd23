"""Powers of tables, numbers of parents and powers of posteriors, chosen by leave-one-out.

The tables of counts are exact for each left-out row; the structure, cut points and concentrations are those
of all rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, log
from ..base.checks import Flag
from ..base.records import record
from ..frames.schema import Dataset
from ..model.model import BuiltOn, Model, renewed
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..network.factors import Factor
from ..network.log_joints import network_joint
from ..network.methods import Method, check_positive
from ..network.priors import Prior
from .powers import (
    COMMON_PRECISION,
    Powers,
    best_powers,
    common_power,
    contrasts,
    log_likelihood,
    other_classes,
)
from .prior import check_prefix_prior
from .tables import LeftOut, PrefixTable
from .weighted import Stacks, Weighted, stack_network

_BLOCK_CELLS = 2**16  # of the log probabilities of a family at rows, which stay in cache
_MOST_CELLS = 2**25  # of the contrasts of all terms, 256 MiB
_TABLE_CELLS = 2**20  # of the tables of a family, one for each row with missing values


@record
@dataclass(frozen=True)
class LeaveOneOutSummary:
    """The results of leave-one-out.

    ``power`` is the best common power of all tables, ``objective`` the maximum of the objective,
    ``log_likelihood`` that of the classes of left-out rows, ``parents`` the largest number of feature parents
    that was kept, and ``rows`` the number of rows left out in turn.
    """

    power: float
    objective: float
    log_likelihood: float
    parents: int
    rows: int

    def __str__(self) -> str:
        return f"power {self.power:.3g}, up to {self.parents} parents, {self.rows:,} rows"


@record
@dataclass(frozen=True, eq=False, repr=False)
class Powered(BuiltOn):
    """A model whose posterior is raised to a power and normalized: P(c | x) ∝ P₀(c | x)^τ, P₀ of ``base``."""

    base: Model
    power: float
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "a model with a power provides P(class | features), but does not define a joint distribution. Use "
        "cloglik or cv, or refit the model with lp without leave-one-out."
    )

    @property
    def basis(self) -> Model:
        """The model whose posterior is P₀."""
        return self.base

    @property
    def members(self) -> tuple[Model, ...]:
        """The members of the model."""
        return self.base.members

    @property
    def fitted(self) -> bool:
        """Whether the model has parameters."""
        return self.base.fitted

    def _arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        return self.base._arc_shares()

    def _members_note(self) -> str:
        return self.base._members_note()

    def _weights(self) -> dict[Hashable, float] | None:
        return self.base._weights()

    def _feature_shares(self) -> tuple[dict[Hashable, float], str]:
        return self.base._feature_shares()

    def facts(self) -> dict[str, object]:
        """Return the facts of the model, and the result of leave-one-out."""
        return self.base.facts() | {"leave-one-out": self.learned.get("leave_one_out")}

    def _log_joint(self, codes: Codes) -> Array:
        return self.power * self.base._log_joint(codes)

    def _class_prior(self) -> Array:
        return self.base._class_prior()

    def _estimate(self, data: Any, prior: Any) -> Any:
        """Return the model without a power, with tables."""
        return renewed(self.base, recipe=self.recipe)._estimate(data, prior)


@record
@dataclass(frozen=True)
class LeaveOneOut(Method):
    """Choose powers of tables, the number of feature parents, or both by the classes of left-out rows."""

    weights: bool = True
    parents: bool = False

    argument = "loo_weights, loo_parents"

    def __post_init__(self) -> None:
        Flag().check("loo_weights", self.weights)
        Flag().check("loo_parents", self.parents)

    def settings(self) -> Mapping[str, Any]:
        """Return the arguments of `lp` that request this."""
        flags = {"loo_weights": self.weights, "loo_parents": self.parents}
        return {name: True for name, flag in flags.items() if flag}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the model has one structure, and the prior leaves no probability at 0."""
        name = next(iter(self.settings()))
        if not isinstance(x.graph, BNC):
            raise TypeError(
                f"{name}: is defined for a single Bayesian network, not for a {type(x).__name__}; of an "
                "ensemble, loo_power=True learns one power for all"
            )
        check_positive(prior, name)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with the chosen powers and feature parents."""
        network: Any = x.graph
        stack = getattr(x, "_stacks", None) or partial(stack_network, replace(network, recipe=x.recipe))
        stacks: Stacks = stack(data, prior)
        depth = stacks.structures[0].depth
        depths = range(depth + 1) if self.parents else [depth]
        rows, weights, left_out, n = _judged(data, len(depths) * len(stacks.families))
        by_depth = left_out_contrasts(stacks, rows, left_out, depths)
        found: list[Powers] = []
        for terms in by_depth:
            near = found[-1] if found else None
            if self.weights:
                found.append(best_powers(terms, weights, near))
            else:
                value = log_likelihood(terms.sum(axis=0), weights)
                found.append(Powers(1.0, np.ones(len(terms)), value, value))
        objectives = np.array([powers.objective for powers in found])
        best = int(np.nonzero(objectives >= objectives.max() - TOLERANCE)[0][0])
        powers = found[best]
        summary = LeaveOneOutSummary(powers.common, powers.objective, powers.log_likelihood, depths[best], n)
        result = stacks.model(powers.single.tolist(), depths[best])
        result = result if self.weights else result.unweighted()
        return renewed(result, learned={**result.learned, "leave_one_out": summary})


@record
@dataclass(frozen=True)
class LeaveOneOutPower(Method):
    """Raise the posterior of a model to the power that maximizes the likelihood of left-out rows' classes."""

    argument = "loo_power"

    def settings(self) -> Mapping[str, Any]:
        """Return the argument of `lp` that requests this."""
        return {"loo_power": True}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise if the prior leaves probabilities of 0."""
        check_positive(prior, self.argument)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with the power."""
        fitted = x._estimate(data, prior)
        rows, weights, left_out, n = _judged(data, 1)
        logs = fitted._left_out(data, prior, rows, left_out)
        row_contrasts = contrasts(logs, other_classes(left_out.classes, logs.shape[1]))
        power = common_power(row_contrasts, weights)
        value = log_likelihood(power * row_contrasts, weights)
        objective = value - COMMON_PRECISION / 2 * (power - 1) ** 2
        depth = max(0 if member.graph is None else member.graph.depth for member in fitted.members)
        summary = LeaveOneOutSummary(power, objective, value, depth, n)
        return Powered(fitted, power, x.recipe, {"leave_one_out": summary})


class JudgedRows(LeftOut):
    """Rows that are left out in turn."""

    def log_joint(self, x: BNC, data: Dataset, prior: Prior, rows: NDArray[np.intp]) -> Array:
        """Return ln P(features, class) of rows, each under the network of all other rows, (rows, classes)."""
        stacks = stack_network(x, data, prior)
        network: Weighted = stacks.model([1.0] * len(x.scopes), x.depth)
        codes = data.codes[:, rows]
        complete = codes.min(axis=0) >= 0
        result = np.empty((len(rows), data.cards[-1]))
        known = self.take(complete)
        result[complete] = sum(
            next(stacks.logs(family, rows[complete], known, [x.depth])) for family in range(len(x.scopes))
        )
        incomplete = np.nonzero(~complete)[0]
        rows_per_block = max(1, _TABLE_CELLS // max(table.cells for table in network.tables))
        for start in range(0, len(incomplete), rows_per_block):
            block = incomplete[start : start + rows_per_block]
            result[block] = _marginalize(network, codes[:, block], self.take(block))
        return result


def _judged(data: Dataset, terms: int) -> tuple[NDArray[np.intp], Array, JudgedRows, int]:
    """Return the rows to leave out in turn, how often each counts, and how many rows they stand for.

    Equal rows are left out together. These are all rows, or evenly spread ones if memory is short.
    """
    limit = max(1, _MOST_CELLS // max(1, terms * (data.cards[-1] - 1)))
    n, weights = len(data), np.ones(len(data)) if data.weights is None else data.weights
    rows, counts = _distinct_rows(data, weights)
    represented = n
    if len(rows) > limit:
        represented = min(n, limit)
        rows = np.linspace(0, n - 1, represented).astype(np.intp)
        counts = weights[rows]
    return rows, counts, JudgedRows(data.codes[-1, rows], np.minimum(weights[rows], 1.0)), represented


def _distinct_rows(data: Dataset, weights: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the first of equal rows and the sums of their weights, or all rows if a weight is below 1."""
    every = np.arange(len(data))
    if weights.min(initial=1.0) < 1:
        return every, weights
    factors = np.random.default_rng(0).integers(2**64 - 1, size=len(data.codes), dtype=np.uint64)
    keys = np.zeros(len(data), dtype=np.uint64)
    for codes, factor in zip(data.codes, factors, strict=True):
        keys += codes.astype(np.uint64) * factor
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(data) or any((codes[first][group] != codes).any() for codes in data.codes):
        return every, weights
    return first, np.bincount(group, weights).astype(np.float64)


def left_out_contrasts(x: Stacks, rows: NDArray[np.intp], left_out: LeftOut, depths: Sequence[int]) -> Array:
    """Return the log odds of each other class against a row's own by each family, with the row left out.

    They are a (depths, families, rows, classes − 1) array, for each largest number of feature parents.
    """
    n_families, n_classes = len(x.families), x.structures[0].cards[-1]
    result = np.zeros((len(depths), n_families, len(rows), n_classes - 1))
    rows_per_block = max(1, _BLOCK_CELLS // (n_classes * len(x.structures)))
    for start in range(0, len(rows), rows_per_block):
        block = slice(start, start + rows_per_block)
        judged = left_out.take(block)
        places = other_classes(judged.classes, n_classes)
        for family in range(n_families):
            for i, logs in enumerate(x.logs(family, rows[block], judged, depths)):
                if logs.shape[1] > 1:
                    result[i, family, block] = contrasts(logs, places)
    return result


def _marginalize(x: Weighted, codes: Codes, left_out: LeftOut) -> Array:
    """Return the log joint of incomplete rows, each of which has its own tables."""
    class_number = len(x.features)
    factors = []
    for scope, table in zip(x.structure.scopes, x.tables, strict=True):
        members = [v for v in scope if v != class_number or v == scope[0]]
        tables = log(_tables_without(table, [codes[v] for v in members], left_out))
        if scope[0] == class_number:  # (parents…, classes, rows, 1)
            factors.append(Factor(scope[1:], np.moveaxis(tables[..., 0], -2, -1)))
        else:  # (parents…, levels, rows, classes)
            factors.append(Factor(tuple(members), np.moveaxis(tables, len(members) - 1, 0)))
    return network_joint(factors, codes[:-1], np.arange(codes.shape[1]))


def _tables_without(table: PrefixTable, codes: Sequence[Codes], left_out: LeftOut) -> Array:
    """Return the full table for each row, the row left out of its counts.

    ``codes`` are those of the variable and its feature parents; the result has the shape (levels of each
    feature parent…, levels of the variable, rows, classes or 1).
    """
    rows = len(left_out.classes)
    levels, *parent_cards = table.cards
    *parents, variable = np.indices((*parent_cards, levels)).reshape(len(table.cards), -1, 1)
    all_codes = [np.repeat(values, rows) for values in (variable, *parents)]
    own_value = np.where(variable == codes[0], left_out.shares, 0.0)
    any_value = np.where(codes[0] >= 0, left_out.shares, 0.0)

    def deduct(i: int) -> tuple[Array, Array]:
        same = np.ones((len(variable), rows))
        for cells, code in zip(parents[: max(0, i - table.root)], codes[1:], strict=False):
            same = same * (cells == code)
        return (same * own_value).ravel(), (same * any_value).ravel()

    *_, values = table.at_rows(all_codes, np.tile(left_out.classes, len(variable)), deduct)
    return values.reshape(*parent_cards, levels, rows, values.shape[1])
