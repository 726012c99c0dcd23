"""The power of a model, estimated on held-out parts of its training rows.

Leave-one-out evaluates weights on rows from which structure, cut points and concentrations were learned.
Therefore, models are overconfident for few rows or many features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, log_normalize
from ..base.messages import silently
from ..frames.schema import Dataset
from ..frames.training import TrainingData
from ..model.arguments import encode_for
from ..model.model import Model, renewed
from ..recipe.leave_one_out import LeaveOneOut, LeaveOneOutSummary, Powered
from ..recipe.powers import COMMON_PRECISION, common_power, log_likelihood, odds
from ..recipe.weighted import with_at_most
from .rounds import RowFold, raw_rows

_MOST_CELLS = 90_000  # maximum rows x features x classes of data that are not wide
_LEAST_POWER = 0.01  # the minimum power, which keeps the order of the classes
_MOST_PAIRS = 2e8  # maximum rows x pairs of features of wide data with parents
_MOST_PAIRS_OF_TERMS = 2e7  # maximum of wide data with additional terms


@dataclass(frozen=True, eq=False)
class Judged:
    """The best method by parts of the rows, the power of the scores, and its sources."""

    method: Any
    power: float = 1.0
    objective: float = 0.0
    log_likelihood: float = 0.0
    rows: int = 0

    def apply(self, fitted: Any) -> Model:
        """Return the model fitted by the method, with the power unless it is applied already."""
        summary, depth = fitted.learned.get("leave_one_out"), getattr(fitted.graph, "depth", 0)
        found = summary or LeaveOneOutSummary(1.0, self.objective, self.log_likelihood, depth, self.rows)
        found = replace(found, honest_power=self.power, honest_rows=self.rows)
        if self.power == 1 or getattr(self.method, "power", 1) != 1:
            return renewed(fitted, learned={**fitted.learned, "leave_one_out": found})
        found = replace(found, power=self.power)
        return Powered(fitted, self.power, fitted.recipe, {"leave_one_out": found})


def judge_by_parts(
    x: Model, dataset: Any, rows: Dataset, method: Any, parts: int, learn: Callable[..., Model]
) -> Judged:
    """Return the best power and, for wide data, the best number of parents and terms, by `_Trial`."""
    n, d, n_classes = len(rows), len(x.features), rows.cards[-1]
    size = rows.size if rows.weights is None or not (rows.weights % 1).any() else n
    wide = _is_wide(size, d)
    if min(size / 2, n) < parts or n_classes < 2 or not (wide or size * d * n_classes <= _MOST_CELLS):
        return Judged(method)
    data: Any = rows
    if x.recipe is not None:
        raw = dataset.raw if isinstance(dataset, TrainingData) and dataset.raw is not None else dataset
        data = raw_rows(x, raw).counting()
    trial = _Trial(x, data, _folds(data, parts), learn, bool(rows.incomplete[:-1].any()))
    with silently():  # about settings for all rows
        best = trial.best(method, _candidates(method, x.graph, size, d) if wide else [])
    return replace(best, method=replace(best.method, power=best.power)) if weighs(best.method) else best


def weighs(method: Any) -> bool:
    """Whether a method learns weights, which include the power."""
    return isinstance(method, LeaveOneOut) and method.weights


def _is_wide(rows: float, features: int) -> bool:
    return features >= rows / 2


def has_many_pairs(rows: float, features: int) -> bool:
    """Whether data are so wide that only models without feature parents are tried."""
    return _is_wide(rows, features) and rows * features**2 > _MOST_PAIRS


def _candidates(method: Any, graph: Any, rows: float, features: int) -> list[dict[str, Any]]:
    """Return candidate settings of leave-one-out for wide data, each added to the best previous one."""
    if not (isinstance(method, LeaveOneOut) and (method.parents or method.terms)):
        return []
    tried = {0} if has_many_pairs(rows, features) else {0, 1, graph.depth}
    depths = sorted(k for k in tried if k <= graph.depth) if method.parents else [graph.depth]
    settings: list[dict[str, Any]] = [{"depth": k, "parents": False, "terms": ()} for k in depths]
    return settings + [{"terms": method.terms}] * bool(
        method.terms and rows * features**2 <= _MOST_PAIRS_OF_TERMS
    )


@dataclass(frozen=True, eq=False)
class _Trial:
    """Data in parts, maybe ``incomplete``, and structures learned without each, by part and parents."""

    x: Model
    data: Any
    folds: list[RowFold]
    learn: Callable[..., Model]
    incomplete: bool
    structures: dict[tuple[int, bool], Model] = field(default_factory=dict)

    def best(self, method: Any, candidates: Sequence[Mapping[str, Any]]) -> Judged:
        """Return the best setting of a method; settings that are worse after a part are dropped."""
        if not candidates:
            *_, judged = self.run(method)
            return judged
        most, lost = list[float](), False
        for settings in candidates:
            if lost and "depth" in settings:
                continue
            values = []
            for judged in self.run(replace(method, **settings)):
                values.append(judged.objective)
                if most and values[-1] < most[len(values) - 1]:
                    lost = True
                    break
            else:
                method, most, found = judged.method, values, judged
        return found

    def run(self, method: Any) -> Iterator[Judged]:
        """Yield the best power by the first part, the first two, …."""
        scores, classes, units = list[Array](), list[Codes](), list[Array]()
        for number, fold in enumerate(self.folds):
            train, test = fold.split(self.data)
            structure = self._structure(number, train, getattr(method, "depth", None) != 0)
            tried = replace(method, incomplete=self.incomplete, trial=True) if weighs(method) else method
            model = self.learn(structure, train, method=tried)
            encoded = encode_for(model, test, model.variables)
            logs = model._log_joint(model._code(encoded, unseen="missing"))
            scores.append(odds(log_normalize(logs)))
            classes.append(encoded.codes[encoded.positions[model.class_var]])
            units.append(np.ones(len(test)) if test.weights is None else test.weights)
            total, own = np.concatenate(scores, axis=1), np.concatenate(classes)
            counts = np.concatenate(units)
            power = max(common_power(total, own, counts), _LEAST_POWER)
            value = log_likelihood(power * total, own, counts)
            penalty = COMMON_PRECISION / 2 * (power - 1) ** 2
            yield Judged(method, power, value - penalty, value, int(counts.sum()))

    def _structure(self, number: int, train: Any, parents: bool) -> Any:
        """Return the structure that the recipe learns without a part; without a recipe, of all rows."""
        recipe = self.x.recipe
        if recipe is None:
            return self.x
        key = number, parents
        if key not in self.structures:
            if parents or not getattr(self.x.graph, "is_augmented", False):
                self.structures[key] = replace(recipe, parameters=None).fit(train)
            elif recipe.preparation is None:
                self.structures[key] = with_at_most(self.x, 0)
            else:  # only the preparation is learned again
                options = recipe.structure.settings
                features = options["dag_args"].get("features")
                settings = {**options, "learner": "nb", "dag_args": {"features": features}}
                step = replace(recipe.structure, settings=settings)
                self.structures[key] = replace(recipe, parameters=None, structure=step).fit(train)
        return self.structures[key]


def _folds(data: Any, parts: int) -> list[RowFold]:
    """Return the rows, or the units of whole weights, of each part: unit i of class c is in (i + c) mod V."""
    classes, weights = data.codes[-1], data.weights
    whole = weights is not None and not (weights % 1).any()
    units = weights.astype(np.int64) if whole else np.ones(len(data), dtype=np.int64)
    order = np.argsort(classes, kind="stable")
    ends = np.cumsum(units[order])
    first = np.searchsorted(classes[order], classes[order])
    starts = np.empty(len(data), dtype=np.int64)
    starts[order] = ends - units[order] - (ends - units[order])[first]
    result = []
    for part in range(parts):
        before = [(end - (part - classes) % parts + parts - 1) // parts for end in (starts, starts + units)]
        counts = before[1] - before[0]
        rows = np.flatnonzero(counts)
        if len(rows):
            result.append(RowFold(rows, counts[rows].astype(np.float64) if whole else None))
    return result
