"""Refits of a model without each of several groups of rows, to see how sure predictions are."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from typing import Any, TypeVar

from ..base.calls import progress_bar
from ..base.checks import Seed, Whole
from ..base.messages import silencing_warnings
from ..frames.dataset import Dataset
from ..frames.frame import Frame
from ..frames.opening import open_data
from ..model.model import Model, replace_unchecked
from .rounds import plan_rounds

M = TypeVar("M", bound=Model)


def with_refits(
    x: M,
    dataset: Any,
    *,
    draws: int = 20,
    groups: Any = None,
    rng: Seed = 0,
    progress: bool | None = None,
) -> M:
    """Return a model with ``draws`` refits, each without a part of the cases, for `predict`."""
    most, rows, data = 1000, x.trained_on, open_data(dataset)
    if rows is not None and isinstance(data, Dataset | Frame):
        most = min(most, rows.cases or int(max(rows.size, len(data))))
    if most < 2:
        raise ValueError(
            "dataset must have at least 2 rows or groups with interval=True, because each refit "
            "leaves some out; got 1."
        )
    Whole(least=2, most=most).check("draws", draws)
    models: dict[Hashable, Model] = {0: x}
    with silencing_warnings():  # warnings of folds, which name arguments of cv
        plan = plan_rounds(models, dataset, k=draws, groups=groups, rng=rng)
    with progress_bar(progress, total=draws, desc="refits", unit=" models") as bar:
        rounds = plan.map_rounds(models, lambda *of_round: of_round[-1], dag=True, bar=bar)
        refits = list(chain.from_iterable(rounds))
    return replace_unchecked(x, learned={**x.learned, "refits": tuple(refits)})
