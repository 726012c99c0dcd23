"""The argument `pairs` of the default."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ..tools.checks import OneOf, Whole, must_be
from ..tools.messages import listed, shown

Pairs: TypeAlias = "int | Literal['auto'] | Iterable[tuple[Hashable, Hashable]] | None"


def check_pairs(pairs: Pairs, features: Sequence[Hashable], class_var: Hashable) -> Any:
    """Return None, "auto", a number of pairs or a tuple of pairs of names, or raise."""
    if pairs is None or (isinstance(pairs, str) and pairs == "auto"):
        return pairs
    most = len(features) * (len(features) - 1) // 2
    if isinstance(pairs, int | np.integer) and not isinstance(pairs, bool):
        return int(Whole(least=0, most=most).check("pairs", pairs))
    if isinstance(pairs, str | bool) or not isinstance(pairs, Iterable):
        expected = "None, a number, 'auto' or a list of pairs of features"
        raise TypeError(must_be("pairs", expected, pairs))
    found: list[tuple[Hashable, Hashable]] = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            remedy = "An example is [('age', 'sex')]."
            raise TypeError(must_be("pairs", "pairs of two features", pair, remedy))
        for name in pair:
            if name == class_var:
                raise ValueError(f"pairs must be pairs of features; got the class {shown(name)}.")
            OneOf(features, "features of the data").check("pairs", name)
        first, second = sorted(pair, key=list(features).index)
        if first == second:
            raise ValueError(f"pairs must be of two different features; got {shown(first)} twice.")
        if (first, second) in found:
            raise ValueError(f"pairs must be distinct; got {listed([first, second])} twice.")
        found.append((first, second))
    return tuple(found)
