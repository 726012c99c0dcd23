"""Functions in place of the methods of models, until all families have these."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, singledispatch
from typing import Any

import numpy as np

from ..base.arrays import Array, added
from ..counts.contingency import narrow
from ..frames.schema import Countable, Dataset
from ..model.model import Model, count_rows
from ..model.sufficient_statistics import Tally
from .families import tabulate as tabulate_families
from .priors import Prior


def estimate(x: Model, data: Countable, prior: Prior) -> Any:
    """Call the method."""
    return x._estimate(data, prior)


def add_rows(x: Model, data: Countable, tally: Tally) -> Any:
    """Give a model the tables of the rows in its tally and of more; the rest as in `estimate`."""
    counts = added([tally.counts, data.add_up(partial(count_rows, x, tally.prior))])
    return tabulate(x, Tally(counts, tally.prior))


@singledispatch
def count(x: Model, data: Dataset, prior: Prior) -> tuple[Any, ...]:
    """Call the method."""
    return x._count(data, prior)


@singledispatch
def tabulate(x: Model, tally: Tally) -> Any:
    """Call the method."""
    return x._tabulate(tally)


def with_tally(x: Model, tally: Tally, **learned: Any) -> dict[str, Any]:
    """Return what a model has learned, its tally in as little memory as holds it."""
    counts = [narrow(table) if isinstance(table, np.ndarray) else table for table in tally.counts]
    return {**x.learned, **learned, "counts": Tally(tuple(counts), tally.prior)}


def make_tables(counts: Sequence[Array], prior: Prior) -> list[Array]:
    """Make tables of counts, of those that have the same shape together."""
    return tabulate_families(counts, prior)[0]
