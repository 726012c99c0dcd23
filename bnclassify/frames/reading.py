"""How the frames of partitioned data are encoded, and facts about their rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from ..base.arrays import Array, ArrayOf, Mask
from .dataset import Dataset, Prepare
from .frame import Frame
from .labels import recode_column
from .numeric import check_weights
from .schema import Schema


class RowChoice(Protocol):
    """Selects or draws rows of a frame, by some of its columns."""

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The required columns."""

    __call__: Callable[..., Any]


class Facts(NamedTuple):
    """Facts that a pass over rows collects: their number, and how many are kept, with a class.

    Of these, ``size`` is the weight, ``gaps`` has the number of missing values
    by column, ``positive`` have a weight above 0, and ``fractional`` a weight
    that is not whole. ``unseen_counts`` has the number of values by column that
    are treated as missing, because they are not among the levels, and
    ``labels`` the weight of each label of the targets. ``checks`` are the sums
    of the codes by column.
    """

    rows: int
    kept: int
    size: float
    gaps: ArrayOf[np.int64]
    positive: int = 0
    fractional: int = 0
    unseen_counts: Any = 0
    labels: Any = ()
    checks: Any = 0


def known_rows_and_facts(data: Dataset, class_var: Hashable) -> tuple[Dataset, Facts]:
    """Return the rows with a class (all rows if no column is required), and their facts."""
    rows, data = len(data), data.rows_with_known(class_var)
    gaps = np.zeros(len(data.columns), dtype=np.int64)
    gaps[data.incomplete] = np.count_nonzero(data.codes[data.incomplete] < 0, axis=1)
    weights = np.empty(0) if data.weights is None else data.weights
    fractional = int(np.count_nonzero(weights != np.round(weights)))
    facts = Facts(rows, len(data), data.size, gaps, int(np.count_nonzero(weights)), fractional)
    return data, facts._replace(checks=data.codes.sum(axis=1, dtype=np.int64))


def weights_from_column(frame: pd.DataFrame, name: Hashable) -> Array | None:
    """Return the weights in a column of a frame; None without a name."""
    return None if name is None else check_weights(frame[name].array, frame.index)


@dataclass(frozen=True)
class Reading:
    """A function that encodes a frame, called by workers.

    Rows that lack the ``required`` column are dropped, ``weights`` names a
    column, ``prepare`` converts raw columns to categories, and unseen values of
    the ``lenient`` columns are missing. ``keep`` returns which rows of a frame
    are selected, or which part of their weights; ``draw`` returns a sample of
    its encoded rows, drawn with replacement.
    """

    schema: Schema
    required: Hashable = None
    weights: Hashable = None
    prepare: Prepare | None = None
    keep: RowChoice | None = None
    lenient: tuple[Hashable, ...] = ()
    draw: RowChoice | None = None

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns of frames that are read."""
        names = list(self.schema.columns)
        names += [] if self.weights is None else [self.weights]
        for choice in (self.keep, self.draw):
            names += [] if choice is None else choice.columns
        return tuple(dict.fromkeys(names))

    def __call__(self, frame: pd.DataFrame) -> tuple[Dataset, Facts]:
        """Return the rows of a frame, and their facts."""
        weights = weights_from_column(frame, self.weights)
        if self.keep is not None:
            kept: ArrayOf[Any] = self.keep(frame)
            rows = np.flatnonzero(kept)
            frame = frame.iloc[rows]
            if weights is not None:
                weights = (weights if kept.dtype == bool else kept.astype(np.float64))[rows]
        schema, opened = self.schema, Frame(frame, "dataset")
        if self.prepare is None:
            raw = opened.encode_columns(schema.columns, numeric=schema.numeric, whole_floats=True)
        else:
            raw = self.prepare.prepared_data(self.prepare.read(opened, schema.levels_of))
        coded, hidden = raw, np.zeros(len(schema.columns), dtype=np.int64)
        for name in self.lenient:
            i, new = raw.positions[name], schema.levels_of[name]
            codes = recode_column(raw.codes[i], raw.levels[i], new, name, -1)
            is_unseen: Mask = (codes < 0) & (raw.codes[i] >= 0)
            hidden[schema.positions[name]] = np.count_nonzero(is_unseen)
            coded = coded.with_codes({name: (new, codes)})
        data = replace(coded.coded_by_schema(schema), weights=weights)
        data, facts = known_rows_and_facts(data, self.required)
        if self.draw is not None:
            data, facts = known_rows_and_facts(self.draw(frame, data), None)
        return data, facts._replace(unseen_counts=hidden)
