"""Processor time of jobs of this package beside other libraries, and the tables of pages that state it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd

from .data import SETS
from .jobs import Job, jobs
from .measure import Timing, peak_memory, time_alone, time_apart, time_pairs

HEAD = ("data", "job", "time, ms", "MB", "other library", "its time, ms", "ratio", "same result")
STORED = Path(__file__).with_name("speed.csv")
MEASURED = list(SETS)[:4]
"""The data sets of pages; on the others, another library takes minutes."""

LEARNERS = ("nb + lp", "tan_cl + lp", "chow_liu", "hc", "aode + lp", "ande + lp")
"""Jobs that a table compares with a fit of scikit-learn's naive Bayes."""


def measured(job: Job, budget: float, patience: float) -> tuple[Timing, str]:
    """Time a job, and check that the results agree."""
    if job.theirs is None or job.same is None:
        return time_alone(job.ours, budget), ""
    if job.apart:
        timing, result = time_apart(job.ours, job.theirs, budget, patience)
        return timing, job.same(job.ours(), result) if timing.ended else "did not end"
    agreement = job.same(job.ours(), job.theirs())
    return time_pairs(job.ours, job.theirs, budget), agreement


def rows(
    chosen: Iterable[str], which: str | Callable[[Job], bool], budget: float, patience: float
) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table, of jobs with a text in their name, or for which a function is true."""
    for name in chosen:
        for job in jobs(SETS[name]()):
            if (which not in job.name) if isinstance(which, str) else not which(job):
                continue
            timing, agreement = measured(job, budget, patience)
            yield (
                name,
                job.name,
                milliseconds(timing.ours),
                f"{peak_memory(job.ours) / 1e6:.0f}",
                job.peer,
                "" if timing.theirs is None or not timing.ended else milliseconds(timing.theirs),
                "" if timing.ratio is None else f"{timing.ratio:.2g}",
                agreement,
            )


def milliseconds(seconds: float) -> str:
    """Write a time with three digits.

    >>> milliseconds(0.00012345), milliseconds(12.345)
    ('0.123', '12,300')
    """
    return f"{float(f'{seconds * 1e3:.3g}'):,.10g}"


def read() -> pd.DataFrame:
    """Return the stored lines, as text."""
    return pd.read_csv(STORED, dtype=str, keep_default_na=False)


def measure() -> None:
    """Store the jobs that other libraries have, and the learners, of the data sets that the file lacks."""
    known = read()["data"].unique() if STORED.exists() else []
    for name in MEASURED:
        if name not in known:
            found = list(rows([name], lambda job: job.peer != "" or job.name in LEARNERS, 1, 600))
            table = pd.DataFrame(found, columns=list(HEAD))
            table.to_csv(STORED, mode="a", header=not STORED.exists(), index=False)


def numbers(column: pd.Series[str]) -> pd.Series[float]:
    """Return numbers that are written with commas."""
    return pd.to_numeric(column.str.replace(",", ""))


def beside(table: pd.DataFrame) -> str:
    """Write the ratios to other libraries, (jobs, data)."""
    table = table[table["other library"] != ""].set_index(["job", "other library", "data"])
    return in_markdown(table["ratio"].unstack(sort=False))  # noqa: PD010


def learners(table: pd.DataFrame) -> str:
    """Write the times of learners in units of a fit of scikit-learn's naive Bayes, (jobs, data)."""
    table = table.drop_duplicates(["data", "job"])
    unit = numbers(table[table["job"] == "nb + lp"].set_index("data")["its time, ms"])
    times = table.assign(ms=numbers(table["time, ms"])).set_index(["job", "data"])["ms"]
    found = times.unstack(sort=False).loc[list(LEARNERS)] / unit  # noqa: PD010
    return in_markdown(found.map("{:.2g}".format))


def in_markdown(table: pd.DataFrame) -> str:
    """Write a table, with the levels of its index as first columns."""
    names = [*table.index.names, *table.columns]
    lines = [names, ["---"] * len(names)]
    lines += [[*(key if isinstance(key, tuple) else (key,)), *row] for key, *row in table.itertuples()]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def summary(table: pd.DataFrame) -> str:
    """Write the ranges of ratios that the page begins with."""
    ratio = numbers(table["ratio"].where(table["ratio"] != ""))
    found = ratio.groupby([table["job"], table["other library"]], sort=False)

    def span(job: str, other: str) -> str:
        return f"{found.min()[job, other]:.2g} to {found.max()[job, other]:.2g}"

    naive = "CategoricalNB, given codes"
    incomplete = span("predict tan_cl, 1,000 rows, 10 % missing", "pyAgrum LazyPropagation")
    return "\n".join(
        [
            f"- Fitting a naive Bayes takes {span('nb + lp', naive)} times the processor time of",
            f"  `CategoricalNB` of scikit-learn, and prediction {span('predict nb', naive)} times.",
            f"- Learning a tree takes {span('tan_cl + lp', 'pyAgrum TAN')} times the time of pyAgrum,",
            f"  predicting incomplete rows {incomplete} times, and hill climbing",
            f"  {span('hc', 'pyAgrum hill climbing')} times, to a BIC that is not lower.",
        ]
    )
