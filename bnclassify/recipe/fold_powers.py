"""Powers of models by held-out folds of the training rows, for which everything is learned again.

Leave-one-out evaluates a model on rows from which structure, cut points and
concentrations were learned. Therefore, models are overconfident for few rows or
many features. Here, each fold of the rows is predicted by a model for which
everything was learned from the other folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arrays import Codes
from ..base.messages import silencing_warnings
from ..base.parallel import run_tasks
from ..frames.dataset import Dataset
from ..model.arguments import encode_opened_rows
from ..model.model import Model, replace_unchecked
from ..scores.evaluate import scores_at
from .blend import FoldLogOdds, number_of_cases
from .conditional_likelihood import COMMON_PRECISION, log_odds_of_scores
from .leave_one_out import LeaveOneOutSummary
from .log_linear import LogLinear
from .posterior_power import Powered
from .row_folds import split_rows_into_folds

Learn = Callable[[Model, Dataset], Model]
"""Learns a model from a structure and data."""


def fit_power_by_folds(
    x: Model,
    raw_rows: Callable[[], Dataset],
    rows: Dataset,
    number: int,
    learn: Learn,
    rng: np.random.Generator | None = None,
) -> Model:
    """Return the model with a power by folds of the raw rows, which its recipe prepares."""
    several_classes = len(rows) > 0 and np.ptp(rows.codes[-1]) > 0
    fitted = learn(x, rows)
    if min(number_of_cases(rows) / 2, len(rows)) < number or not several_classes:
        return _raised_to_best_power(fitted, None)
    data = rows if x.recipe is None else raw_rows().with_positive_weights()
    if rng is not None:
        data = data.take_rows(rng.permutation(len(data)))

    def odds_of_fold(fold: Any) -> FoldLogOdds:
        train, test = fold.split(data)
        recipe = x.recipe and replace(x.recipe, parameters=None)
        return _log_odds_by_model(learn(x if recipe is None else recipe.fit(train), train), test)

    with silencing_warnings():  # settings for all rows
        folds = list(run_tasks(odds_of_fold, split_rows_into_folds(data, number, by_content=False)))
    return _raised_to_best_power(fitted, FoldLogOdds.from_folds(folds))


def _log_odds_by_model(x: Model, test: Dataset) -> FoldLogOdds:
    encoded = encode_opened_rows(x, test, x.variables)
    rows = x.rows_to_score(encoded, unseen="missing")
    own: Codes = encoded.codes[encoded.positions[x.class_var]]
    weights = test.row_weights
    total = log_odds_of_scores(scores_at(x.score, rows))
    if isinstance(x, LogLinear):  # whose power leaves the trees of incomplete rows alone
        half = log_odds_of_scores(scores_at(x.raised_to(0.5).score, rows))
        return FoldLogOdds(2 * (total - half)[None], 2 * half - total, own, weights)
    return FoldLogOdds(total[None], np.zeros(total.shape), own, weights)


def _raised_to_best_power(x: Model, found: FoldLogOdds | None) -> Model:
    """Return a model raised to the power that is best for held-out rows."""
    power, size = (1.0, 0) if found is None else (found.best_power_of_only_member(), found.size)
    if isinstance(x, LogLinear):
        summary = replace(x.learned["leave_one_out"], fold_power=power, fold_rows=size)
        return replace_unchecked(
            x.raised_to(power), learned={**x.learned, "leave_one_out": summary}
        )
    value = 0.0 if found is None else found.log_likelihood(power)
    depth = max(0 if member.graph is None else member.graph.depth for member in x.members)
    penalty = COMMON_PRECISION / 2 * (power - 1) ** 2
    summary = LeaveOneOutSummary(power, value - penalty, value, depth, size, {}, power, size)
    if power == 1:
        return replace_unchecked(x, learned={**x.learned, "leave_one_out": summary})
    return Powered(x, power, x.recipe, {"leave_one_out": summary})
