"""Bootstrap samples of rows in memory, and of partitioned data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..frames.dataset import Dataset
from ..frames.partitions import Partitions
from ..frames.reading import Reading
from ..frames.training import TrainingData

Sampled = TrainingData | Partitions


def bootstrap_sampler(data: Sampled) -> Callable[[np.random.Generator], Sampled]:
    """Return a function that draws bootstrap samples of units; rows keep fractional weights.

    Rows in memory are drawn at once. Parts are read several times, so their
    rows are drawn block by block, by a hash of the block, so that drawn rows
    need not be kept.
    """
    if isinstance(data, Partitions):
        len(data)  # which reports rows without a class
        columns = data.reading.columns
        sizes: Counter[int] = data.source.reduce(
            _BlockSizes(_BlockSampler(columns), data.reading), _sum_of_counters, columns
        )
        return partial(_sample_parts, data, sizes)
    return partial(_sample_rows, data)


def _sample_rows(data: TrainingData, rng: np.random.Generator) -> TrainingData:
    weights = _bootstrap_weights(len(data), data.weights, None, rng)
    rows = np.nonzero(weights)[0]
    return replace(data.take_rows(rows), weights=weights[rows], with_unknown=None)


def _sample_parts(data: Partitions, sizes: Counter[int], rng: np.random.Generator) -> Partitions:
    """Draw the number of units of each block of rows, whose units are the same in each pass."""
    total = sum(sizes.values())
    drawn = rng.multinomial(total, [size / total for size in sizes.values()]).tolist()
    seed = int(rng.integers(2**63))
    return data.with_reading(
        draw=_BlockSampler(data.reading.columns, seed, dict(zip(sizes, drawn, strict=True)))
    )


def _bootstrap_weights(
    rows: int, weights: Array | None, units: int | None, rng: np.random.Generator
) -> Array:
    """Return the frequency of each row in the sample, times its weight if it is a fraction."""
    if weights is None or (weights % 1).any():
        drawn = np.bincount(
            rng.integers(rows, size=rows if units is None else units), minlength=rows
        )
        return drawn.astype(np.float64) if weights is None else drawn * weights
    total = int(weights.sum())
    return rng.multinomial(total if units is None else units, weights / total).astype(np.float64)


@dataclass(frozen=True)
class _BlockSampler:
    """Draws units from the rows of a block, identified by a hash of its values and index."""

    columns: tuple[Hashable, ...]
    seed: int = 0
    units: Mapping[int, int] = field(default_factory=dict)

    def hash_of_block(self, frame: pd.DataFrame) -> int:
        """Return the hash of a block of rows."""
        return int(pd.util.hash_pandas_object(frame[list(self.columns)]).sum())

    def __call__(self, frame: pd.DataFrame, data: Dataset) -> Dataset:
        """Return the rows drawn from a block."""
        key = self.hash_of_block(frame)
        units = self.units.get(key, 0)
        if not units:
            return data.take_rows(np.empty(0, dtype=np.intp))
        rng = np.random.default_rng([self.seed, key])
        weights = _bootstrap_weights(len(data), data.weights, units, rng)
        return replace(data, weights=weights).take_rows(weights > 0)


@dataclass(frozen=True)
class _BlockSizes:
    """Counts the units of each block, called by workers."""

    blocks: _BlockSampler
    reading: Reading

    def __call__(self, frame: pd.DataFrame) -> Counter[int]:
        data, _ = self.reading(frame)
        is_fraction = data.weights is not None and (data.weights % 1).any()
        size = len(data) if is_fraction else round(data.size)
        return Counter({self.blocks.hash_of_block(frame): size} if size else {})


def _sum_of_counters(sizes: Sequence[Counter[int]]) -> Counter[int]:
    return sum(sizes, Counter())
