"""The facts of a model, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from textwrap import wrap

from ..accessors import variables_of_new_data
from ..model import MISSING_RULE, WRITERS, Model, Step
from ..scores import shifts_of_missing

_MOST, _FEW = 6, 3
"""Largest number of columns or classes that are named; of more, the number is shown."""


def facts_of(x: Model) -> dict[str, object]:
    """Return the facts of a model by name, in the order of display: numbers and text."""
    several, rows = len(x.targets) > 1, x.trained_on if x.fitted else None
    latent = " (latent)" if variables_of_new_data(x) == x.features else ""
    names = ", ".join(map(str, x.targets)) + latent
    facts: dict[str, object] = {f"class variable{'s' * several}": names}
    if rows is not None:
        if not rows.cases:
            size = rows.size
            facts["rows"] = int(size) if size == int(size) else f"{size:,g} (sum of weights)"
        else:
            groups = f"in {rows.cases:,} groups" if rows.cases != rows.given else ""
            weights = f"weights of {rows.size:,.0f} rows" if round(rows.size) != rows.given else ""
            how = ", ".join(filter(None, [groups, weights]))
            facts["rows"] = f"{rows.given:,} ({how})" if how else rows.given
        parts = rows.classes or [zip(x.levels_by_name[x.class_var], x.class_prior(), strict=True)]
        shares = dict(zip(x.targets, map(_shares_in_words, parts), strict=True))
        texts = [f"{name}: {text}" if several else text for name, text in shares.items()]
        facts["class proportions"] = _first_names(texts, "; ") or None
    if x.fitted and x.class_proportions is not None:
        given = zip(x.levels_by_name[x.class_var], x.class_proportions.shares, strict=True)
        learned = facts.get("class proportions")
        in_training = f"; in training {learned}" if learned else ""
        facts["class proportions"] = f"{_shares_in_words(given)} (given){in_training}"
    own = x.facts()
    rule = str(own.pop(MISSING_RULE, "marginalized over"))
    facts |= own
    if x.recipe is not None:
        facts["learning algorithm"] = x.recipe.structure.name
        facts["parameters"] = x.recipe.parameters and _estimation_in_words(x.recipe.parameters)
    facts |= _facts_of_preparation(x)
    if draws := x.learned.get("draws"):
        facts["intervals"] = f"by {len(draws)} draws of the effects"
    if x.fitted:
        if x.features:
            levels = x.preparation.missing
            texts = [f"a level of {_first_names(map(str, levels))}"] if levels else []
            if rows is not None:
                n = sum(name in rows.incomplete for name in x.features)
                by_em = x.network is not None and "em" in x.network.learned
                method = "EM" if by_em else "available cases"
                are_known = x.one_class and not rule.startswith("unknown")
                shifts = ", and evidence" if are_known and shifts_of_missing(x.score) else ""
                if n:
                    texts.append(f"in {n} feature{'s' * (n > 1)} ({method}{shifts})")
                elif not levels:
                    texts.append("none in training")
            where = "" if rule.startswith("the ") else f"{'others ' * bool(levels)}in new rows "
            facts["missing values"] = "; ".join([*texts, f"{where}{rule}"])
        facts["joint distribution"] = "no" if x.no_joint else "yes"
    return {name: value for name, value in facts.items() if value is not None}


def facts_as_text(x: Model) -> str:
    """Write the facts of a model, aligned."""
    facts = facts_of(x)
    title = "Sum of effects" if "form" in facts else "Bayesian network classifier"
    only = "" if x.fitted else " (only structure, no parameters)"
    return "\n".join(["", f"  {title}{only}", "", *aligned_lines(facts)])


def aligned_lines(facts: Mapping[str, object]) -> list[str]:
    """Write facts in lines of a limited width, with their texts below each other."""
    width, lines = max(map(len, facts), default=0) + 4, []
    for name, fact in facts.items():
        text = f"{fact:,}" if isinstance(fact, int) else str(fact)
        first, *more = wrap(text, 88 - width, break_long_words=False) or [""]
        lines += [f"  {name + ':':<{width - 2}}{first}", *[" " * width + line for line in more]]
    return lines


def facts_as_html(x: Model, picture: str = "") -> str:
    """Write the facts of a model as HTML, dark on white, below a picture."""
    cell = (
        '<td style="text-align:left;vertical-align:top;padding:1px 12px 1px '
        '0;background:#fff;color:#111">'
    )
    rows = []
    for name, fact in facts_of(x).items():
        text = f"{fact:,}" if isinstance(fact, int) else str(fact)
        rows.append(f"<tr>{cell}{escape(name)}</td>{cell}{escape(text)}</td></tr>")
    frame = '<div style="background:#fff;color:#111;padding:8px;overflow-x:auto">'
    return f'{frame}{picture}<table style="border:0;background:#fff">{"".join(rows)}</table></div>'


def _first_names(names: Iterable[str], separator: str = ", ") -> str:
    """Write the first of some names, and how many there are besides."""
    texts = list(names)
    more = [f"{len(texts) - _MOST} more"] if len(texts) > _MOST else []
    return separator.join([*texts[:_MOST], *more])


def _shares_in_words(weights: Iterable[tuple[object, float]]) -> str:
    pairs = list(weights)
    total = sum(weight for _, weight in pairs) or 1
    return _first_names(f"{label} {weight / total:.3f}" for label, weight in pairs)


def _estimation_in_words(step: Step) -> str:
    """Write how parameters were estimated, and what was made of them."""
    inner = step.settings.get("parameters")
    if isinstance(inner, Step):
        return f"{_estimation_in_words(inner)}, then {step.name}"
    return str(step)


def _facts_of_preparation(x: Model) -> dict[str, str | None]:
    """Say which columns were discretized, merged, kept as numbers and dropped."""
    facts: dict[str, str | None] = {}
    merger, discretizer = x.merger, x.discretizer
    cut = [str(name) for name in x.features if discretizer.cuts.get(name)]
    columns = ", ".join(cut) if len(cut) <= _FEW else f"{len(cut):,} numeric columns"
    how = " in steps" if discretizer.method == "steps" else f" ({discretizer.method})"
    facts["discretized"] = f"{columns}{how}" if cut else None
    if x.densities:
        kinds = sorted({type(density).__name__ for density in x.densities.values()})
        facts["kept as numbers"] = f"{_first_names(map(str, x.densities))} ({', '.join(kinds)})"
    if merger.columns:
        columns = _first_names(map(str, merger.columns))
        rare = f"levels in fewer than {merger.min_count:,} rows"
        facts["merged"] = f"{rare if merger.min_count > 1 else 'rare and new levels'} of {columns}"
    uncut = discretizer.uncut
    dropped = [name for name in x.training_columns if name not in x.variables]
    reasons = {"no cut point": [name for name in dropped if name in uncut]}
    other = "not selected" if x.trace else "at most one value or interval"
    reasons[other] = [name for name in dropped if name not in uncut]
    texts = []
    for reason, names in reasons.items():
        if names:
            texts.append(f"{_first_names(map(str, names))} ({reason})")
    return facts | {"dropped": "; ".join(texts) or None}


WRITERS.update(text=facts_as_text, html=facts_as_html)
