"""WANBIA: weights of features that maximize the conditional log-likelihood.

The tables of the returned model are θ^w, normalized, and the objective and its gradient refer to this
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Array, Codes, log, log_normalize
from ..base.immutable import record
from ..base.messages import warn
from ..base.progress import advance
from ..counts.contingency import flat_index
from ..frames.schema import Dataset
from ..model.arguments import check_size
from ..model.model import Model
from ..model.questions import is_nb
from ..network.classifiers import BNC
from ..network.estimates import Scope
from ..network.priors import Method, Prior, check_augmented, check_positive

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FLAT = 1e-6  # nats per row and weight; smaller slopes count as 0
_OPTIONS = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-7}


class Objective:
    """Minus the conditional log-likelihood as a function of weights, with its gradient.

    Rows with the same features are counted together. The distinct values of a feature and its parents are the
    columns of a sparse matrix, in which a distinct row has a 1 for every family that is observed in it. A
    product with this matrix sums the log tables.
    """

    def __init__(self, x: BNC, data: Dataset) -> None:
        *cpts, prior = x.cpts or ()
        distinct, row = np.unique(data.codes[:-1].T, axis=0, return_inverse=True)
        n_classes = len(prior)
        check_size(len(distinct), n_classes)
        cells = row.ravel() * n_classes + data.codes[-1]
        counts = np.bincount(cells, data.weights, minlength=len(distinct) * n_classes)
        self.counts = counts.reshape(len(distinct), n_classes).astype(np.float64)
        self.log_prior = log(prior)
        shapes: dict[tuple[int, ...], list[int]] = {}
        for i, cpt in enumerate(cpts):
            shapes.setdefault(cpt.shape, []).append(i)
        self.groups = [
            (np.array(group), log(np.stack([cpts[i] for i in group]))) for group in shapes.values()
        ]
        order = [i for group in shapes.values() for i in group]
        self.position = np.argsort(order)
        self.sizes = [int(np.prod(cpts[i].shape[:-1])) for i in order]
        families = [(x.scopes[i][:-1], cpts[i].shape[:-1]) for i in order]
        self.member = self._membership(distinct.T, families)
        self.observed = self.member.T @ self.counts

    def _membership(self, codes: Codes, families: Sequence[tuple[Scope, Scope]]) -> csr_array:
        """Make the sparse matrix from the scope and the shape of each family without the class."""
        from scipy.sparse import csr_array

        starts = np.cumsum([0, *self.sizes])
        # small types, because there is one entry per row and family
        columns = np.full((codes.shape[1], len(families)), -1, dtype=np.min_scalar_type(-starts[-1]))
        for column, (scope, shape), start in zip(columns.T, families, starts, strict=False):
            members = codes[list(scope)]
            observed = (members >= 0).all(axis=0)
            column[observed] = start + flat_index(list(members[:, observed]), shape).astype(np.intp)
        present = columns >= 0
        ends = np.concatenate([[0], np.cumsum(np.count_nonzero(present, axis=1))])
        return csr_array((np.ones(ends[-1]), columns[present], ends), shape=(len(columns), int(starts[-1])))

    def __call__(self, weights: Array) -> tuple[float, Array]:
        """Return the value and the gradient at weights."""
        advance()
        tables = [_weighted_log(logs, weights[group]) for group, logs in self.groups]
        logs, slopes = zip(*tables, strict=True)
        posterior = log_normalize(self.member @ np.concatenate(logs) + self.log_prior)
        value = -float((self.counts * posterior).sum())
        expected = self.member.T @ (self.counts.sum(axis=1, keepdims=True) * np.exp(posterior))
        per_cell = ((expected - self.observed) * np.concatenate(slopes)).sum(axis=1)
        return value, np.add.reduceat(per_cell, np.cumsum([0, *self.sizes[:-1]]))[self.position]


def _weighted_log(logs: Array, weights: Array) -> tuple[Array, Array]:
    """Return ln of θ^w normalized, and its derivative by w, as (cells, classes), from ln θ of several tables.

    d/dw [w ln θ_k − ln Σ_l θ_l^w] = ln θ_k − Σ_l θ_l^w ln θ_l / Σ_l θ_l^w.
    """
    weighted = logs * weights.reshape(-1, *[1] * (logs.ndim - 1))
    weighted = np.moveaxis(log_normalize(np.moveaxis(weighted, 1, -1)), -1, 1)
    slope = logs - (np.exp(weighted) * logs).sum(axis=1, keepdims=True)
    return weighted.reshape(-1, logs.shape[-1]), slope.reshape(-1, logs.shape[-1])


@record
@dataclass(frozen=True)
class WANBIA(Method):
    """Weight the features of a network to maximize the conditional log-likelihood."""

    argument = "wanbia"

    def settings(self) -> Mapping[str, Any]:
        """Return the argument of `lp` that requests this."""
        return {"wanbia": True}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the class is a parent of every feature and no probability can be 0."""
        check_augmented(x, self.argument)
        check_positive(prior, self.argument)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> BNC:
        """Return the network with its tables weighted; a missing feature must not be a parent."""
        if not is_nb(x) and data.incomplete[:-1].any():
            raise ValueError(
                "wanbia must be False if values are missing and features have feature parents. Drop "
                "incomplete rows with .dropna(), or learn the structure with nb."
            )
        return _weigh(check_augmented(x, self.argument)._estimate(data, prior), data)


def _weigh(x: BNC, data: Dataset) -> BNC:
    """Weight the features of a fitted network by L-BFGS-B, from all ones and from all halves (WANBIA)."""
    from scipy.optimize import minimize

    n = len(x.families) - 1
    if not n:
        return with_weights(x, np.empty(0))
    objective = Objective(x, data)
    options: dict[str, Any] = {"method": "L-BFGS-B", "jac": True, "bounds": [(0, 1)] * n, "options": _OPTIONS}
    runs = [minimize(objective, np.full(n, start), **options) for start in (1.0, 0.5)]
    best = min(runs, key=lambda run: run.fun)
    # at an optimum, the line search can fail because of rounding
    way_down = np.abs(np.clip(best.x - objective(best.x)[1], 0, 1) - best.x).max()
    if not best.success and way_down > _FLAT * data.size:
        warn(f"wanbia: the weights may not be optimal, because the optimizer stopped early ({best.message})")
    informative = np.array([card > 1 for card in x.cards[:-1]])
    return with_weights(x, np.where(informative, np.clip(best.x, 0, 1), 0.0))


def with_weights(x: BNC, weights: Array) -> BNC:
    """Return a fitted network with the table of each feature raised to its weight."""
    *tables, prior = x.cpts or ()
    changed = tuple(powered(table, float(w)) for table, w in zip(tables, weights, strict=True))
    return replace(x, cpts=(*changed, prior), learned={**x.learned, "weights": tuple(map(float, weights))})


def powered(cpt: Array, weight: float) -> Array:
    """Return θ^weight, normalized over the values of the variable; 0⁰ is 1.

    >>> import numpy as np
    >>> powered(np.array([[0.8], [0.2]]), 0.5).round(3).tolist()
    [[0.667], [0.333]]
    >>> powered(np.array([[1.0], [0.0]]), 0).tolist()
    [[0.5], [0.5]]
    """
    if weight == 1:
        return cpt
    logs = log(cpt) * weight if weight else np.zeros_like(cpt)
    return np.exp(np.moveaxis(log_normalize(np.moveaxis(logs, 0, -1)), -1, 0))
