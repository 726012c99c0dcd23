"""Warnings about columns of training data, which learners issue through `COLUMN_WARNINGS`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..dataset import Dataset, Schema
from ..frames import COLUMN_WARNINGS
from ..tools.messages import warn
from .coded_columns import CodedColumn, Finding
from .findings import (
    can_only_copy_class,
    column_findings,
    columns_that_may_copy_class,
    sentences_about_findings,
)
from .row_findings import MOST_COLUMNS, find_frequencies


def warn_of_columns(data: Dataset, class_var: Hashable, raw: Dataset | None = None) -> None:
    """Warn of serious findings about columns; numbers of ``raw`` data are read unprepared."""
    numbers = set((data if raw is None else raw).numbers).difference([class_var])
    is_wide = len(data.columns) > MOST_COLUMNS  # then, no column counts equal rows
    dull = {levels for levels in set(data.levels) if is_wide and can_only_copy_class(levels)}
    classes, tested = None, set(numbers)
    if class_var in data.positions:
        classes = data.codes[data.positions[class_var]]
        may_copy = columns_that_may_copy_class(data.codes, classes)
        tested.update(data.columns[i] for i in may_copy.tolist())
    columns = list[CodedColumn]()
    for (name, levels), codes in zip(data.schema.levels_of.items(), data.codes, strict=True):
        is_class = name == class_var
        if name in numbers or (levels in dull and name not in tested and not is_class):
            continue
        own = CodedColumn(name, levels, codes, None, data.weights, None if is_class else classes)
        is_apart = name in data.schema.ordered  # perhaps intervals that were chosen by the class
        columns.append(own._replace(is_class=is_class, is_apart=is_apart, can_copy=name in tested))
    if numbers:
        rows = data if raw is None else raw.rows_with_known(class_var)
        labels = rows.codes[rows.positions[class_var]] if class_var in rows.positions else None
        for name in filter(numbers.__contains__, rows.numbers):
            codes, values = rows.codes[rows.positions[name]], rows.numbers[name]
            columns.append(CodedColumn(name, (), codes, values, rows.weights, labels))
    _warn_of_findings(columns, None if is_wide else find_frequencies(columns))


def warn_of_labels(schema: Schema) -> None:
    """Warn of serious findings about labels of data that stay where they are."""
    none = np.empty(0, dtype=np.int8)
    columns = zip(schema.columns, schema.levels, strict=True)
    _warn_of_findings([CodedColumn(name, labels, none) for name, labels in columns])


def _warn_of_findings(columns: Sequence[CodedColumn], counts: Finding | None = None) -> None:
    found = list[Finding]()
    for column in columns:
        if counts is None or column.name != counts.column:
            found += column_findings(column, only_serious=True)
    found += [] if counts is None else [counts]
    for sentence in sentences_about_findings(finding for finding in found if finding.serious):
        warn(sentence)


COLUMN_WARNINGS.update(columns=warn_of_columns, labels=warn_of_labels)
