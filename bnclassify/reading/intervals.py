"""Intervals: quantiles of the probabilities of tables, and their columns in results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..model.counted import check_counted, how_tables_were_given
from ..model.recipes import A_NETWORK, Tally
from ..network.priors import Drawn, PseudoCounts
from ..tools import special
from ..tools.arrays import Array
from ..tools.checks import Optional, Real, Whole

if TYPE_CHECKING:
    from ..model.model import Model

BOUNDS = ("lower", "estimate", "upper")
"""Names of the columns that an interval adds."""

MOST_DRAWN = 2**25
"""Largest number of drawn probabilities in memory, 256 MiB."""


def check_interval(interval: object) -> float | None:
    """Return the probability of an interval, or None, or raise."""
    return Optional(Real(above=0, below=1)).check("interval", interval)


def check_draws(draws: object, cells: int = 1) -> int:
    """Return the number of draws, each of ``cells`` probabilities, or raise."""
    return Whole(least=1, most=MOST_DRAWN // cells).check("draws", draws)


def probabilities_of_interval_ends(interval: float) -> list[float]:
    """Return the probabilities of the quantiles at the ends of an equal-tailed interval."""
    return [(1 - interval) / 2, (1 + interval) / 2]


def bounds_of_table_entries(counts: Array, prior: PseudoCounts, interval: float) -> Array:
    """Return quantiles of a table's entries, (2, levels, parents' levels…), each a Beta."""
    levels, *parent_cards = counts.shape
    mass = prior.counts_plus_prior(counts, levels, prod(parent_cards))
    rest: Array = mass.sum(axis=0) - mass
    tails = np.reshape(probabilities_of_interval_ends(interval), (2, *[1] * mass.ndim))
    is_beta = (mass > 0) & (rest > 0)
    inside = special.betaincinv(np.where(is_beta, mass, 1.0), np.where(is_beta, rest, 1.0), tails)
    return np.where(is_beta, inside, np.where(mass > 0, 1.0, 0.0))


def bounds_from_posterior_draws(
    x: Model, probabilities: Callable[[Any], Array], interval: float, draws: int, seed: int
) -> Array:
    """Return the quantiles, (2, …), of a function of models with drawn tables."""
    rng = np.random.default_rng(seed)
    drawn = [probabilities(model_with_all_tables_drawn(x, rng)) for _ in range(draws)]
    return np.asarray(np.quantile(drawn, probabilities_of_interval_ends(interval), axis=0))


def _dirichlet_counts_or_none(x: Model) -> Tally | None:
    tally = x.learned.get("counts")
    is_known = isinstance(tally, Tally) and getattr(tally.prior, "is_positive", False)
    return tally if is_known and not x.densities else None


def has_posterior_of_tables(x: Model) -> bool:
    """Whether the posterior of all tables is a product of Dirichlet distributions."""
    parts: list[Model] = []

    def keep_part(part: Model) -> Model:
        parts.append(part)
        return part

    x.map_counted_parts(keep_part)
    return all(_dirichlet_counts_or_none(part) is not None for part in parts)


def dirichlet_counts_of(x: Model) -> Tally:
    """Return counts of tables whose posterior is a product of Dirichlet distributions, or raise."""
    tally = _dirichlet_counts_or_none(x)
    if tally is not None:
        return tally
    if how := how_tables_were_given(x):
        raise ValueError(f"interval must be None, because the tables of x were {how}.")
    raise ValueError(
        f"interval must be None for {x.type_in_words}, because no draws of it are kept. "
        "Fit with interval=True, as in bnc(class_var=..., dataset=..., interval=True), or fit a "
        f"network with a prior above 0: {A_NETWORK}."
    )


def model_with_drawn_tables(x: Model, rng: np.random.Generator) -> Model:
    """Return a model with tables that are drawn from their posterior distribution."""
    tally = dirichlet_counts_of(x)
    return check_counted(x).tabulate(Tally(tally.counts, Drawn(tally.prior, rng)))


def model_with_all_tables_drawn(x: Model, rng: np.random.Generator) -> Model:
    """Return a model, of which parts may have counts, with drawn tables; given ones are kept."""
    drawn = x.map_counted_parts(partial(model_with_drawn_tables, rng=rng))
    return drawn.with_class_proportions(x.class_proportions)


def with_interval_columns(frame: pd.DataFrame, bounds: Array) -> pd.DataFrame:
    """Return estimates and their bounds, (2, rows, columns), as a further level of columns."""
    values = np.stack([bounds[0], frame.to_numpy(), bounds[1]], axis=-1)
    columns = product_of_indexes(frame.columns, pd.Index(BOUNDS))
    return pd.DataFrame(values.reshape(len(frame), -1), index=frame.index, columns=columns)


def product_of_indexes(index: pd.Index[Any], level: pd.Index[Any]) -> pd.MultiIndex:
    """Return an index with a further level: each of its labels, or tuples, with all of these."""
    if isinstance(index, pd.MultiIndex):
        levels, codes = list[Any](index.levels), list[Any](index.codes)
    else:
        own_codes, labels = pd.factorize(index, use_na_sentinel=False)
        levels, codes = [labels], [own_codes]
    codes = [np.repeat(code, len(level)) for code in codes]
    codes.append(np.tile(np.arange(len(level)), len(index)))
    levels.append(level)
    return pd.MultiIndex(levels=levels, codes=codes, names=[*index.names, level.name])
