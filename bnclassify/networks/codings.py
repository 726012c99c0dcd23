"""Several discretizations of the same rows, each a coding of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..dataset import Levels, Schema
from ..frames import TrainingData
from ..numbers import MovedCuts
from ..tools.arrays import Codes, code_type
from ..tools.immutable import Immutable, is_within_bounds, record


@record
@dataclass(frozen=True, eq=False)
class Coarsening(Immutable):
    """One of several discretizations, as a map from fine to coarse intervals.

    ``levels`` are the labels of each feature in this discretization. ``maps``
    has one array of (fine levels + 1,) coarse codes per feature, the last -1
    for missing values, or None if it is not discretized.
    """

    levels: Levels
    maps: tuple[Codes | None, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = zip(self.maps, self.levels, strict=True)
        if not all(
            codes is None or is_within_bounds(codes, -1, len(labels) - 1) for codes, labels in pairs
        ):
            raise ValueError("maps must contain the codes of levels.")

    def discretizes_any(self, features: Sequence[int]) -> bool:
        """Whether a feature is discretized; the class, numbered after the features, is not."""
        return any(self.maps[f] is not None for f in features if f < len(self.maps))

    def __call__(self, codes: Codes) -> Codes:
        """Return the coarse codes for fine codes of the features, (features, rows)."""
        coarse = codes.copy()
        for row, fine, places in zip(coarse, codes, self.maps, strict=True):
            if places is not None:
                row[:] = places.take(fine, mode="wrap")
        return coarse


@dataclass(frozen=True, eq=False, repr=False)
class FineData(TrainingData):
    """Training data whose numeric columns were discretized several times."""

    cuttings: tuple[Coarsening, ...] = ()

    @classmethod
    def from_cuts(cls, data: TrainingData, cuts: MovedCuts) -> FineData:
        """Return training data discretized at the union of all cut points."""
        fine = {name: np.array(points) for name, points in cuts.cuts.items()}
        cuttings = []
        for time in cuts.discretizers_by_time:
            maps: list[Codes | None] = []
            levels: list[tuple[Any, ...]] = []
            for name, labels in zip(data.features, data.levels, strict=False):
                if name in time.cuts:
                    extra = labels[len(fine[name]) + 1 :]  # the level of missing values
                    # Of the fine intervals that end at 1, 2, 3 and ∞, cut at 2 alone: 0, 0, 1 and
                    # 1; then the codes of other levels, and -1.
                    points = np.array(time.cuts[name])
                    last = range(len(points), len(points) + 1 + len(extra))
                    codes = [*np.searchsorted(points, fine[name]), *last, -1]
                    maps.append(np.array(codes, dtype=code_type(last.stop)))
                    levels.append((*time.intervals[name], *extra))
                else:
                    maps.append(None)
                    levels.append(labels)
            cuttings.append(Coarsening(tuple(levels), tuple(maps)))
        content = {field.name: getattr(data, field.name) for field in fields(data)}
        return cls(**content, cuttings=tuple(cuttings))

    @property
    def codings(self) -> Iterator[TrainingData]:
        """The rows in each discretization."""
        for coarsen in self.cuttings:
            codes = np.concatenate([coarsen(self.codes[:-1]), self.codes[-1:]])
            schema = Schema(self.columns, (*coarsen.levels, self.levels[-1]), self.schema.ordered)
            yield TrainingData(
                schema,
                codes,
                self.index,
                self.weights,
                targets=self.targets,
                order=self.order,
                cases=self.cases,
            )
