"""Cross-validated scores of structures: one log joint of the tested rows per structure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from ...base.arrays import Array, first_best, log
from ...base.messages import shown
from ...counts.contingency import check_cells, flat_index
from ...metrics import ACCURACY, Metric
from ...network.elimination import add_missing
from ...network.factors import Factor
from ...network.priors import Prior, PseudoCounts
from .fold_tables import FoldedData
from .neighbours import Edit, Parents, Structure, apply

_KEPT_BYTES = 2**28
_FEW_CELLS = 2**12  # up to this number, all configurations are numbered


class CrossValidatedScore:
    """Score structures by the mean over folds of a metric (minus a loss), with tables of the other folds."""

    def __init__(self, data: FoldedData, prior: Prior, metric: Metric = ACCURACY) -> None:
        if not isinstance(prior, PseudoCounts):
            raise TypeError(
                f"prior must be one of smooth, ess and m for a search; got {shown(prior)}. Search with one "
                "of them, then estimate the parameters with another prior by lp."
            )
        self.data, self.prior, self.metric = data, prior, metric
        # Stands for log 0, so that contributions can be subtracted; lower than any possible log joint.
        self._floor = 8 * (len(data.cards) + 1) * data.lowest
        self._codes = np.maximum(data.grouped.codes, 0)
        kept = max(2, _KEPT_BYTES // max(1, 8 * data.n_tested * data.n_classes))
        self._added = lru_cache(kept)(self._add)
        counts = np.bincount(data.group, data.grouped.weights, data.n_groups)
        self._of_class = data.by_row(self._finite(log(prior(data.trained(counts), axis=1))).T).T

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        total = self._of_class + sum(self._added((v, *parents)) for v, parents in structure.items())
        return np.array([self._score(structure, edit, total) for edit in edits])

    def _score(self, structure: Structure, edit: Edit, total: Array) -> float:
        for v, parents in edit.items():
            total = total - self._added((v, *structure[v])) if v in structure else total
            total = total if parents is None else total + self._added((v, *parents))
        if self.data.partial:
            total = total + self._missing(apply(structure, edit))
        logs = total if self.prior.is_positive else np.where(total < self._floor / 2, -np.inf, total)
        data, weights = self.data, self.data.weights
        if self.metric == ACCURACY:  # needs no posteriors
            right = first_best(logs) == data.truth
            return float(np.mean([np.average(right[f], weights=_of(weights, f)) for f in data.folds]))
        values = [self.metric.of_rows(logs[f], data.truth[f], _of(weights, f)) for f in data.folds]
        return float(np.mean(values)) * (-1 if self.metric.is_loss else 1)

    def _finite(self, logs: Array) -> Array:
        return np.maximum(logs, self._floor)

    def _add(self, family: Parents) -> Array:
        """Return the contribution of a family, (tested rows, classes); 0 if a member is missing."""
        index, shape = self._number(family)
        logs = self._finite(self._logs(family, index, shape))
        tested = slice(self.data.n_tested)
        added = logs.reshape(-1, *logs.shape[2:])[index[tested], self.data.fold[tested]]
        observed = self.data.observed(family)
        return added if observed is None else added * observed[tested, None]

    def _number(self, family: Parents) -> tuple[Array, tuple[int, int]]:
        """Number the joint values of a family in rows; of many configurations, only those that occur."""
        variable, *parents = family
        cards = self.data.cards
        configuration, n = np.zeros(len(self.data.grouped), dtype=np.intp), 1
        for parent in parents:
            configuration, n = configuration * cards[parent] + self._codes[parent], n * cards[parent]
            if n > max(len(configuration), _FEW_CELLS) and self.data.partial.isdisjoint(family):
                occurring, configuration = np.unique(configuration, return_inverse=True)
                n = len(occurring)
        return self._codes[variable].astype(np.intp) * n + configuration, (cards[variable], n)

    def _logs(self, family: Parents, index: Array, shape: tuple[int, int]) -> Array:
        """Return the logs of a family's table, (levels, configurations, folds, classes)."""
        data, weights = self.data, self.data.grouped.weights
        cells = flat_index([index, data.group], [prod(shape), data.n_groups])
        if (observed := data.observed(family)) is not None:
            check_cells(data.grouped, (*family, -1))
            cells, weights = cells[observed], None if weights is None else weights[observed]
        counts = np.bincount(cells, weights, prod(shape) * data.n_groups).reshape(*shape, -1)
        trained = data.trained(counts)
        card, configurations = shape[0], prod(data.cards[p] for p in family[1:])
        return log(self.prior.shares(trained, trained.sum(axis=0), card, configurations * data.n_classes))

    def _missing(self, structure: Structure) -> Array:
        """Return the contribution of missing values to the log joint of tested rows, (rows, classes)."""
        data, added = self.data, np.zeros((self.data.n_tested, self.data.n_classes))
        features = sorted({*structure, *(p for parents in structure.values() for p in parents)})
        rows = np.flatnonzero((data.tested[features] < 0).any(axis=0))
        position = {u: i for i, u in enumerate(features)}
        factors = []
        for u in features:
            family = (u, *structure[u])
            logs = self._logs(family, *self._number(family))
            table = logs.reshape(*[data.cards[v] for v in family], *logs.shape[-2:])
            factors.append(Factor(tuple([position[v] for v in family]), table))
        factors.append(Factor((), np.zeros((data.n_folds, data.n_classes))))
        logs = np.zeros((len(rows), data.n_classes))
        add_missing(logs, factors, data.tested[features][:, rows], data.fold[rows])
        added[rows] = self._finite(logs)
        return added


def _of(weights: Array | None, rows: slice) -> Array | None:
    return None if weights is None else weights[rows]
