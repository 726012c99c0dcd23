"""Probability tables of a file in the Interchange Format, from lines of numbers to arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import prod

import numpy as np

from ..base.arrays import TOLERANCE, Array
from ..base.messages import cut, listed, shown, suggestion
from ..counts.contingency import MAX_CELLS
from .grammar import Declared, Entry, Table, fail, read_list, readings

_ROUNDING = 0.011
"""How far from 1 the sum of rounded probabilities may be; bnlearn's reader allows as much."""


def read_table(
    table: Table, variables: Mapping[Hashable, Declared], source: str
) -> tuple[tuple[str, ...], Array]:
    """Return the family that a table is of and its array, axes in the order of the family."""
    family = _read_family(table, variables, source)
    labels = [variables[name].labels for name in family]
    shape = [len(levels) for levels in labels]
    if prod(shape) > MAX_CELLS:
        message = f"the table of {shown(family[0])} would have {prod(shape):,} cells, more than {MAX_CELLS:,}"
        fail(source, table.line, message)
    codes = [{label: code for code, label in enumerate(levels)} for levels in labels[1:]]
    rows = np.full((prod(shape[1:]), shape[0]), np.nan)  # NaN where nothing is given yet
    default = None
    for entry in table.entries:
        expected = prod(shape) if entry.kind == "table" else shape[0]
        if len(entry.numbers) != expected:
            fail(source, entry.line, f"expected {expected} probabilities, got {len(entry.numbers)}")
        if entry.kind == "table":
            if not np.isnan(rows).all():
                fail(source, entry.line, f"probabilities of {shown(family[0])} were given already")
            rows[:] = np.reshape(entry.numbers, (shape[0], -1)).T
        elif entry.kind == "default":
            if default is not None:
                fail(source, entry.line, f"the default of {shown(family[0])} was given already")
            default = entry.numbers
        else:
            position = _position(entry, family, codes, source)
            if not np.isnan(rows[position, 0]):
                configuration = cut(entry.labels.strip())
                fail(source, entry.line, f"the probabilities for ({configuration}) were given already")
            rows[position] = entry.numbers
    if default is not None:
        rows[np.isnan(rows[:, 0])] = default
    return family, _checked(rows, table, family, labels, source).T.reshape(shape)


def _read_family(table: Table, variables: Mapping[Hashable, Declared], source: str) -> tuple[str, ...]:
    """Return the names in the header: the variable, then its parents; | is one more separator."""
    header = table.header.replace("|", ",")
    family = read_list(header, lambda names: bool(names) and variables.keys() >= set(names))
    if family is None:
        strange = [name for name in next(readings(header)) if name not in variables] or [header.strip()]
        advice = suggestion(strange[0], variables)
        fail(source, table.line, f"expected declared variables, got {shown(strange[0])}; {advice}")
    if len(set(family)) < len(family):
        fail(source, table.line, f"expected each variable once, got {listed(family)}")
    return tuple(family)


def _position(entry: Entry, family: tuple[str, ...], codes: list[dict[str, int]], source: str) -> int:
    """Number the configuration of parents that an entry is for, the last parent changing fastest."""
    labels = read_list(
        entry.labels,
        lambda items: len(items) == len(codes) and all(a in b for a, b in zip(items, codes, strict=True)),
    )
    if labels is None:
        expected = f"a label of each of {listed(family[1:])}" if codes else "no labels, for want of parents"
        fail(source, entry.line, f"expected {expected}, got ({cut(entry.labels.strip())})")
    position = 0
    for label, code in zip(labels, codes, strict=True):
        position = position * len(code) + code[label]
    return position


def _checked(
    rows: Array, table: Table, family: tuple[str, ...], labels: list[tuple[str, ...]], source: str
) -> Array:
    """Make good what rounding took from the sums of distributions, in place, or raise for one."""
    sums = rows.sum(axis=1, keepdims=True)
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= _ROUNDING))
    if len(wrong):
        parent_labels = labels[1:]
        codes = np.unravel_index(wrong[0], [len(levels) for levels in parent_labels]) if parent_labels else ()
        configuration = [levels[code] for levels, code in zip(parent_labels, codes, strict=True)]
        condition = f" for ({cut(', '.join(configuration))})" if configuration else ""
        got = "none" if np.isnan(sums[wrong[0], 0]) else f"a sum of {sums[wrong[0], 0]:g}"
        fail(
            source,
            table.line,
            f"expected probabilities of {shown(family[0])}{condition} that sum to 1, got {got}",
        )
    np.divide(rows, sums, out=rows, where=np.abs(sums - 1) > TOLERANCE)
    return rows
