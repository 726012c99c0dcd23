"""Growth of times if rows, features, levels or classes are doubled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import bnclassify as bn

from .data import tree_augmented
from .jobs import learn
from .measure import time_alone

START = {"rows": 4_000, "features": 16, "levels": 2, "classes": 2}
DOUBLINGS = 5


def growth_jobs(**size: int) -> dict[str, Callable[[], Any]]:
    """Return jobs on a data set of this size, encoded beforehand."""
    data = bn.encode(tree_augmented(size["rows"], size["features"], size["levels"], size["classes"]))
    tan, ensemble = learn(bn.tan_cl, data), learn(bn.aode, data)
    return {
        "nb + lp": partial(learn, bn.nb, data),
        "tan_cl + lp": partial(learn, bn.tan_cl, data),
        "aode + lp": partial(learn, bn.aode, data),
        "predict tan_cl": partial(bn.predict, tan, data),
        "predict aode": partial(bn.predict, ensemble, data),
    }


def draw_growth(path: str) -> None:
    """Time the jobs at each size, and print and draw the times, with one panel per quantity."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(START), figsize=(13, 3.6), sharey=True, layout="constrained")
    for quantity, panel in zip(START, panels, strict=True):
        times: dict[str, list[float]] = {}
        sizes = [START[quantity] * 2**i for i in range(DOUBLINGS)]
        for size in sizes:
            for name, job in growth_jobs(**{**START, quantity: size}).items():
                times.setdefault(name, []).append(time_alone(job, 0.5).ours * 1e3)
        for name, line in times.items():
            panel.loglog(sizes, line, marker="o", markersize=3, label=name)
            print(quantity, name, *(f"{t:.2f}" for t in line), flush=True)
        panel.set(xlabel=quantity, xticks=sizes, xticklabels=[f"{s:,}" for s in sizes])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("milliseconds")
    panels[-1].legend(fontsize="small")
    figure.suptitle(
        "Other sizes: " + ", ".join(f"{n:,} {quantity}" for quantity, n in START.items()), fontsize="medium"
    )
    figure.savefig(path, metadata={"Date": None})
