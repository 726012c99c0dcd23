"""What a model says of the classes of training rows, learned from all rows but the one it judges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log
from .conditionals import LeftOut, class_probabilities, feature_probabilities
from .joint import repeated
from .powers import contrasts
from .weighted import Weighted

_BLOCK_ROWS = 2**14
_MOST_CELLS = 2**25  # of the contrasts of all terms, 256 MiB


def judged_rows(rows: int, terms: int, classes: int) -> NDArray[np.intp]:
    """Return the rows to judge: all, or as many as memory is meant for, evenly over the data."""
    limit = max(1, _MOST_CELLS // max(1, terms * (classes - 1)))
    return np.arange(rows) if rows <= limit else np.linspace(0, rows - 1, limit).astype(np.intp)


def left_out_contrasts(
    networks: Sequence[tuple[Weighted, Codes]], left_out: LeftOut, depths: Sequence[int]
) -> Array:
    """Return what each family says of each other class against the row's own, with the row left out.

    Parameters
    ----------
    networks : sequence of (Weighted, (features, rows) array of int)
        Models whose terms are averaged, each with the rows in its own codes.
    left_out : LeftOut
    depths : sequence of int
        Numbers of feature parents.

    Returns
    -------
    (depths, families, rows, classes − 1) array
        In the order of the families.
    """
    rows, n_families = len(left_out.classes), len(networks[0][0].tables)
    distinct = [repeated([x.tables[family] for x, _ in networks]) for family in range(n_families)]
    n_classes = networks[0][0].tables[-1].cards[0]
    result = np.empty((len(depths), n_families, rows, n_classes - 1))
    for start in range(0, rows, _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        judged = LeftOut(left_out.classes[block], left_out.shares[block])
        for family in range(n_families):
            total = np.zeros((len(depths), len(judged.classes), n_classes))
            for view, times in distinct[family].items():
                x, codes = networks[view]
                total += times * family_logs(x, family, codes[:, block], judged, depths)
            result[:, family, block] = contrasts(total / len(networks), judged.classes)
    return result


def family_logs(x: Weighted, family: int, codes: Codes, left_out: LeftOut, depths: Sequence[int]) -> Array:
    """Return the log probabilities of one family, (depths, rows, classes)."""
    class_number = len(x.features)
    members = [codes[v] for v in x.structure.scopes[family] if v != class_number]
    table = x.tables[family].shortened(max(depths))
    if family == class_number:
        by_depth = class_probabilities(table, members, len(left_out.classes), left_out)
    else:
        by_depth = feature_probabilities(table, members, left_out)
    logs = [log(values) for values in by_depth]
    shape = (len(left_out.classes), x.tables[-1].cards[0])
    return np.stack([np.broadcast_to(logs[min(depth, len(logs) - 1)], shape) for depth in depths])
