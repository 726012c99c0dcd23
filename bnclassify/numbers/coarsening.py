"""Several discretizations of the same rows, as functions of one fine discretization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Codes
from ..base.immutable import Immutable
from ..base.records import record
from ..frames.schema import Levels, Schema
from ..frames.training import TrainingData
from .discretization import MovedCuts


@record
@dataclass(frozen=True, eq=False)
class Coarsening(Immutable):
    """One of several discretizations, as a map from fine to coarse intervals.

    ``levels`` are the labels of each feature in this discretization. ``maps`` has one array of (fine
    levels + 1,) coarse codes per feature, the last -1 for missing values, or None if it is not discretized.
    """

    levels: Levels
    maps: tuple[NDArray[np.int8] | None, ...]

    def changes(self, features: Sequence[int]) -> bool:
        """Whether a feature is discretized; the class, numbered after the features, is not."""
        return any(self.maps[f] is not None for f in features if f < len(self.maps))

    def __call__(self, codes: Codes) -> Codes:
        """Return the coarse codes for fine codes of the features, (features, rows)."""
        coarse = codes.copy()
        for row, fine, places in zip(coarse, codes, self.maps, strict=True):
            if places is not None:
                row[:] = places.take(fine, mode="wrap")
        return coarse


def coarsenings(cuts: MovedCuts, features: Schema) -> tuple[Coarsening, ...]:
    """Return each discretization of features with the union of all cut points."""
    fine = cuts.cuts
    result = []
    for time in cuts.at_times:
        coarse, intervals = time.cuts, time.intervals
        maps: list[NDArray[np.int8] | None] = []
        levels: list[tuple[Any, ...]] = []
        for name, labels in zip(features.columns, features.levels, strict=True):
            if name in coarse:
                places = np.searchsorted(coarse[name], fine[name], side="left")
                extra = labels[len(fine[name]) + 1 :]  # the level of missing values
                ends = range(len(coarse[name]), len(coarse[name]) + 1 + len(extra))
                maps.append(np.array([*places, *ends, -1], dtype=np.int8))
                levels.append((*intervals[name], *extra))
            else:
                maps.append(None)
                levels.append(labels)
        result.append(Coarsening(tuple(levels), tuple(maps)))
    return tuple(result)


@dataclass(frozen=True, eq=False, repr=False)
class FineData(TrainingData):
    """Training data whose numeric columns were discretized several times."""

    cuttings: tuple[Coarsening, ...] = ()

    @classmethod
    def of(cls, data: TrainingData, cuts: MovedCuts) -> FineData:
        """Return training data discretized at the union of all cut points."""
        cuttings = coarsenings(cuts, Schema(data.features, data.levels[:-1]))
        content = {field.name: getattr(data, field.name) for field in fields(data)}
        return cls(**content, cuttings=cuttings)

    @property
    def views(self) -> Iterator[TrainingData]:
        """The rows in each discretization."""
        for coarsen in self.cuttings:
            codes = np.concatenate([coarsen(self.codes[:-1]), self.codes[-1:]])
            schema = Schema(self.columns, (*coarsen.levels, self.levels[-1]))
            yield TrainingData(
                schema, codes, self.index, self.weights, targets=self.targets, order=self.order
            )
