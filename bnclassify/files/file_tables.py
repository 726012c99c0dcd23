"""Tables in files of other programs: their size, and the sums of rounded probabilities."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Sequence
from itertools import islice, product
from math import prod
from typing import NoReturn, TypeAlias

import numpy as np

from ..tools.arrays import TOLERANCE, Array
from ..tools.messages import shorten_text, shown

Variables: TypeAlias = dict[Hashable, tuple[str, ...]]
"""The labels of each variable."""

Families: TypeAlias = dict[Hashable, tuple[tuple[str, ...], Array]]
"""The family of each variable, and its table with axes in this order."""

Fail: TypeAlias = Callable[[str], NoReturn]
"""A function that raises an error with a message and the place in the file."""


_MOST_CELLS = 2**24
"""Maximum number of cells of all tables of a file, which a few words can describe."""

_MOST_AXES = 32
"""Maximum number of axes of an array in all supported versions of NumPy."""

_MOST_BYTES = 100_000_000
"""Maximum size of the content of a packed file."""


def unpack_gzip(content: bytes, source: str) -> bytes:
    """Return the content of a file, unpacked if it was packed with gzip."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    unpack = zlib.decompressobj(wbits=31)
    try:
        text = unpack.decompress(content, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"{source} must be a complete file of gzip; got {error}.") from error
    if not unpack.eof:
        raise ValueError(
            f"{source} must be a complete file of gzip with at most {_MOST_BYTES:,} bytes of text; "
            "got one that ends early or is larger."
        )
    return text


def checked_sum_of_cells(
    cells: int, family: Sequence[Hashable], variables: Variables, fail: Fail
) -> int:
    """Return the number of cells of tables up to that of a family; fail if they are too many."""
    own = prod(len(variables[name]) for name in family)
    if cells + own > _MOST_CELLS:
        fail(
            f"the table of {shown(family[0])} would have {own:,} cells. All tables of a file can "
            f"have at most {_MOST_CELLS:,} together."
        )
    if len(family) > _MOST_AXES:
        fail(
            f"{shown(family[0])} must have at most {_MOST_AXES - 1} parents; got {len(family) - 1}."
        )
    return cells + own


def normalize_distributions(
    rows: Array, family: Sequence[Hashable], labels: Sequence[tuple[str, ...]], fail: Fail
) -> None:
    """Normalize distributions, (configurations, labels), with sums that are 1 but for rounding."""
    sums: Array = rows.sum(axis=1, keepdims=True)
    # 0.011: largest difference from 1 of the sum of rounded probabilities, as in bnlearn's reader
    for wrong in np.flatnonzero(~(np.abs(sums - 1) <= 0.011)):
        configuration = next(islice(product(*labels[1:]), int(wrong), None))
        condition = f" for ({shorten_text(', '.join(configuration))})" if configuration else ""
        got = "none" if np.isnan(sums[wrong, 0]) else f"a sum of {sums[wrong, 0]:g}"
        fail(f"must be probabilities of {shown(family[0])}{condition} that sum to 1; got {got}.")
    np.divide(rows, sums, out=rows, where=np.abs(sums - 1) > TOLERANCE)
