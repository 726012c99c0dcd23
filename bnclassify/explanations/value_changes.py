"""Changes of single values of a row: which there are, to which value, and how large they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from numbers import Real
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..accessors import check_not_dropped
from ..dataset import MISSING, Dataset
from ..model import Model
from ..numbers import number_of_decimals
from ..tools.checks import Instance, OneOf, must_be
from ..tools.messages import listed, shown
from .explain import original_values

Range: TypeAlias = "tuple[float, float] | Sequence[Hashable]"
Direction: TypeAlias = Literal["increasing", "decreasing"]

WHOLE = 1000
"""The size of a change of a category, or of a number over all cut points."""


class ValueChange(NamedTuple):
    """The change of a feature to a code: its label, or a number of its interval, as ``value``."""

    feature: int
    code: int
    value: Hashable
    number: float | None
    size: int = WHOLE


class Wish(NamedTuple):
    """Which changes are possible: features that stay, ends of numbers, levels, and directions."""

    fixed: frozenset[Hashable]
    ends: Mapping[Hashable, tuple[float, float]]
    levels: Mapping[Hashable, frozenset[Hashable]]
    directions: Mapping[Hashable, Direction]


def check_possible_changes(
    x: Model,
    fixed: Sequence[Hashable],
    ranges: Mapping[Hashable, Range] | None,
    directions: Mapping[Hashable, Direction] | None,
) -> Wish:
    """Return what changes are possible, or raise an error that names what is not valid."""
    for argument, value in {"ranges": ranges or {}, "directions": directions or {}}.items():
        Instance(Mapping, f"a dict of {argument} by feature").check(argument, value)
        check_not_dropped(x, argument, value)
        for name in value:
            OneOf(x.features, "a feature of the model").check(argument, name)
    ends, levels = dict[Hashable, tuple[float, float]](), dict[Hashable, frozenset[Hashable]]()
    for name, values in (ranges or {}).items():
        found = _as_two_numbers(values)
        if found is None:
            levels[name] = _check_range_levels(x, name, values)
        else:
            ends[name] = _check_range_ends(x, name, found)
    for name, direction in (directions or {}).items():
        OneOf(("increasing", "decreasing")).check(f"directions[{name!r}]", direction)
        labels = _levels_without_missing(x, name)
        if not _is_numeric(x, name) and not all(isinstance(label, Real) for label in labels):
            raise ValueError(
                f"directions must name features that are numbers; got {shown(name)} with the "
                f"levels {listed(labels)}. Name the possible ones, with ranges={{{name!r}: [...]}}."
            )
    return Wish(frozenset(fixed), ends, levels, directions or {})


def _as_two_numbers(values: object) -> tuple[float, float] | None:
    if not isinstance(values, tuple) or len(values) != 2:
        return None
    low, high = values
    return (float(low), float(high)) if isinstance(low, Real) and isinstance(high, Real) else None


def _check_range_ends(x: Model, name: Hashable, ends: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a range, or raise an error if no value is within."""
    argument, labels = f"ranges[{name!r}]", _levels_without_missing(x, name)
    if not ends[0] <= ends[1]:
        raise ValueError(must_be(argument, "two numbers, the smaller one first", ends))
    if not _is_numeric(x, name) and not any(_is_number_within(label, ends) for label in labels):
        raise ValueError(
            must_be(argument, f"a range with one of the values {listed(labels)}", ends)
        )
    return ends


def _check_range_levels(x: Model, name: Hashable, values: object) -> frozenset[Hashable]:
    """Return the levels of a range, or raise an error if one is not known."""
    argument, labels = f"ranges[{name!r}]", _levels_without_missing(x, name)
    if _is_numeric(x, name) or not isinstance(values, list | tuple | set | frozenset):
        expected = "two numbers, (lowest, highest)" if _is_numeric(x, name) else "a list of levels"
        raise ValueError(must_be(argument, expected, values))
    if strange := [value for value in values if value not in labels]:
        raise ValueError(f"{argument} must be among {listed(labels)}; got {listed(strange)}.")
    return frozenset(values)


def _is_number_within(label: object, ends: tuple[float, float]) -> bool:
    return isinstance(label, Real) and ends[0] <= float(label) <= ends[1]


def _levels_without_missing(x: Model, name: Hashable) -> list[Hashable]:
    return [label for label in x.levels_by_name[name] if label != MISSING]


def _is_numeric(x: Model, name: Hashable) -> bool:
    return name in x.densities or bool(x.cuts.get(name))


def value_changes(x: Model, codes: Sequence[int], raw: Dataset, wish: Wish) -> list[ValueChange]:
    """Return all possible changes of single features, in the order of columns and levels."""
    moves = list[ValueChange]()
    for i, (name, labels) in enumerate(zip(x.features, x.known_levels, strict=False)):
        is_fixed = name in wish.fixed or name in x.densities
        if is_fixed or codes[i] < 0 or labels[codes[i]] == MISSING:
            continue
        before = original_values(raw, name)[0]
        if name in raw.numbers and name in x.cuts:
            ends = wish.ends.get(name, (-np.inf, np.inf))
            found = _changes_to_other_intervals(i, codes[i], x.cuts[name], float(before), ends)
        else:
            found = [
                ValueChange(i, code, label, None)
                for code, label in enumerate(labels)
                if code != codes[i] and label != MISSING and _is_level_in_range(label, name, wish)
            ]
        if name in wish.directions:
            direction = wish.directions[name]
            found = [move for move in found if _goes_in_direction(before, move.value, direction)]
        moves += found
    return moves


def _goes_in_direction(before: object, after: object, direction: Direction) -> bool:
    if not isinstance(before, Real) or not isinstance(after, Real):
        return False
    change = float(after) - float(before)
    return change > 0 if direction == "increasing" else change < 0


def _is_level_in_range(label: Hashable, name: Hashable, wish: Wish) -> bool:
    if name in wish.ends:
        return _is_number_within(label, wish.ends[name])
    return name not in wish.levels or label in wish.levels[name]


def _changes_to_other_intervals(
    feature: int, own: int, cuts: Sequence[float], before: float, ends: tuple[float, float]
) -> list[ValueChange]:
    """Return the changes of a number to the nearest value of other intervals within a range."""
    (least, most), places = ends, number_of_decimals(cuts, before)
    moves = []
    for code, (low, high) in enumerate(zip([-np.inf, *cuts], [*cuts, np.inf], strict=True)):
        if code == own:
            continue
        number = nearest_number_inside(low, high, code < own, places)
        number = min(number, most) if code < own else max(number, least)
        if low < number <= high and least <= number <= most:
            # across 2 of 4 cut points: 500 of 1,000
            size = max(1, int(WHOLE * abs(code - own) / len(cuts) + 0.5))
            value = int(number) if number.is_integer() and before.is_integer() else number
            moves.append(ValueChange(feature, code, value, number, size))
    return moves


def nearest_number_inside(low: float, high: float, is_below: bool, places: int | None) -> float:
    """Return an interval's largest number, or its smallest, with so many decimals if there is one.

    >>> nearest_number_inside(90.0, 115.5, True, 0), nearest_number_inside(115.5, 130.0, False, 0)
    (115.0, 116.0)
    """
    exact = high if is_below else float(np.nextafter(low, np.inf))
    if places is None or not np.isfinite(exact) or abs(exact) > 10.0 ** (15 - places):
        return exact
    unit, end = Decimal(1).scaleb(-places), Decimal(repr(high if is_below else low))
    number = float(end.quantize(unit, ROUND_FLOOR if is_below else ROUND_CEILING))
    if not is_below and number <= low:
        number = float(Decimal(repr(number)) + unit)
    return number if low < number <= high else exact
