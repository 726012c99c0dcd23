"""Completions of rows for multiple imputation, each with tables drawn from their posterior."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Codes
from ..frames.dataset import Dataset
from ..frames.schema import Schema
from ..model.counted import check_counted
from ..model.model import Model
from ..model.recipes import Tally
from ..network.priors import PseudoCounts
from ..reading.intervals import draw_tables, has_posterior_of_tables
from ..recipe.backoff_prior import PRIORS, find_prior


def draw_completions(
    x: Model, data: Dataset, labels: Codes, draws: int, rng: np.random.Generator, *, burn_in: int
) -> Codes:
    """Return completions, (variables, rows), of data whose classes are ``labels``, side by side."""
    rows = x.rows_to_score(data)
    if has_posterior_of_tables(x):
        found = []
        for _ in range(draws):
            drawn = x.map_parts(lambda part: draw_tables(part, rng))
            found.append(drawn.complete(rows, labels, rng, burn_in=burn_in))
        return np.concatenate(found, axis=1)
    prior = _prior_of_em(x, len(data))
    if prior is None or x.class_var not in data.columns:
        repeated = np.tile(np.arange(len(data)), draws)
        return x.complete(rows.subset(repeated), labels[repeated], rng, burn_in=burn_in)
    return _draws_by_augmentation(x, data, labels, draws, prior, rng, burn_in)


def _prior_of_em(x: Model, rows: int) -> PseudoCounts | None:
    """Return the prior of a model that EM fitted to so many rows, or None."""
    step = None if x.recipe is None else x.recipe.parameters
    fitted = x.trained_on
    if "em" not in x.learned or step is None or fitted is None or fitted.size != rows:
        return None
    prior = find_prior(**{name: step.settings.get(name) for name in PRIORS})
    return prior if isinstance(prior, PseudoCounts) and prior.is_positive else None


def _draws_by_augmentation(
    x: Model,
    data: Dataset,
    labels: Codes,
    draws: int,
    prior: PseudoCounts,
    rng: np.random.Generator,
    burn_in: int,
) -> Codes:
    """Draw completions given tables, and tables given a completion, in turn; return some."""
    rows = x.rows_to_score(data)
    schema = Schema(x.variables, tuple([x.levels_by_name[name] for name in x.variables]))
    # 0.2: sweeps between two draws of data augmentation, as a share of those before the first
    spacing = max(1, int(burn_in * 0.2))
    found = []
    for sweep in range(1, burn_in + draws * spacing + 1):
        completed = x.complete(rows, labels, rng)
        if sweep > burn_in and (sweep - burn_in) % spacing == 0:
            found.append(completed)
        counts = check_counted(x).count_all(Dataset(schema, completed, data.index), prior)
        x = check_counted(x).tabulate(Tally(counts, prior.with_drawn_tables(rng)))
    return np.concatenate(found, axis=1)
