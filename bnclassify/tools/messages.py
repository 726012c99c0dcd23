"""Texts: parts shared by errors and warnings, parts shared by docstrings, the section See Also."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from inspect import cleandoc
from pathlib import Path
from reprlib import Repr
from textwrap import fill
from typing import Any, TypeVar

import numpy as np

from .foreign_words import MEANT, letters_and_digits

T = TypeVar("T", bound=Hashable)
V = TypeVar("V")

# Which computes cached properties.
_OURS = (str(Path(__file__).parents[1]) + os.sep, functools.__file__)

_TOOLS = ("sklearn", "joblib")
_TOLD: set[tuple[str, str, int]] = set()
"""Warnings that were given while scikit-learn ran, with file and line."""


_LONGEST_NAME = 200


_BRIEF = Repr()  # writes the first elements of a large or deeply nested list, not all
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxset = 20
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 10_000


def shown(value: object) -> str:
    """Write a value for a message, shortened if it is long.

    >>> shown("low"), shown(7)
    ("'low'", '7')
    >>> shown("x" * 1_000_000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    value = to_python_scalar(value)
    if isinstance(value, str):
        return repr(shorten_text(value))
    try:
        write = _BRIEF.repr if isinstance(value, list | tuple | dict | set | frozenset) else repr
        text = write(value)
        return shorten_text(text) if "\n" not in text else f"a value of type {type(value).__name__}"
    except Exception:  # repr can raise any error; Python raises one for huge integers
        return f"a value of type {type(value).__name__}"


def shorten_text(text: str, most: int = 40) -> str:
    """Return the start of a text that is too long, by default for a message."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Collection[Hashable], most: int = 40) -> str:
    """Write names for a message, shortened if there are many.

    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(100), most=2)
    '0, 1 and 98 more'
    """
    texts = [shown(name) for name, _ in zip(names, range(most), strict=False)]
    n_more = len(names) - len(texts)
    return (", ".join(texts) or "nothing") + (f" and {n_more} more" if n_more else "")


USUAL_SHARE = 0.1
"""Largest share of the known values of a column that are unlike the training data, unmentioned."""


def share_of_known_values(some: int, known: int) -> str:
    """Return which share of the known values of a column are meant, in words.

    >>> share_of_known_values(2, 3), share_of_known_values(3, 3)
    ('67 % of the known values', 'all of the known values')
    """
    share = f"{100 * some / known:.2g} %" if some < known else "all"
    return f"{share} of the known values"


def repeated_items(items: Iterable[T]) -> list[T]:
    return [item for item, times in Counter(items).items() if times > 1]


def to_python_scalar(value: Any) -> Any:
    """Return a scalar of NumPy as one of Python, and any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def similar_names(name: object, candidates: Collection[Hashable]) -> list[Hashable]:
    """Return the candidates that extend a name or are similar to it.

    >>> similar_names("tan", ["nb", "tan_cl", "tan_hc"]), similar_names("BIC", ["aic", "bic"])
    (['tan_cl', 'tan_hc'], ['bic'])
    """
    # A text that is much longer than a name is not similar to it, and comparison is quadratic in
    # length.
    text = (name if isinstance(name, str) else shown(name))[:_LONGEST_NAME].casefold()
    by_text = {str(candidate)[:_LONGEST_NAME].casefold(): candidate for candidate in candidates}
    letters = letters_and_digits(text)
    found = (
        [text] * (text in by_text)
        or [key for key in by_text if letters and letters == letters_and_digits(key)]
        or [key for key in MEANT.get(letters, ()) if key in by_text]
        or [key for key in by_text if len(text) > 1 and key.startswith(text)]
        or [key for key in by_text if len(key) > 3 and text in (f"{key}s", f"{key}ing")]
        or [
            key
            for key in by_text
            if len(key) > 2 and text.endswith(key) and _COUNT_OR_SIGN.fullmatch(text[: -len(key)])
        ]
        # Short names with a letter in common mean different things: aic and auc, mse and rmse.
        # 0.78: of ten letters, two may differ, but not in digits; at .65, 'average_precision'
        # would suggest 'precision'.
        or get_close_matches(
            text,
            [
                key
                for key in by_text
                if len(text) > 3
                and len(key) > 2
                and re.findall(r"\d", key) == re.findall(r"\d", text)
            ],
            n=1,
            cutoff=0.78,
        )
    )
    return [by_text[key] for key in found[:3]]


_COUNT_OR_SIGN = re.compile(r"(n|num|number_of|k|max|neg)_?")
"""What other libraries write before a name, as in ``n_bins``."""


def did_you_mean(
    name: object, candidates: Collection[Hashable], elsewhere: Mapping[str, str] | None = None
) -> str:
    """Return a question about similar names, or an empty text if there are none.

    If a name is one of other libraries, return the sentence on it instead.
    """
    if isinstance(name, str) and (found := (elsewhere or {}).get(letters_and_digits(name))):
        return found
    close = [shown(candidate) for candidate in similar_names(name, candidates)]
    if len(close) > 1:
        return f"Did you mean {', '.join(close[:-1])} or {close[-1]}?"
    return f"Did you mean {close[0]}?" if close else ""


WIDE = 10
"""Number of levels above which some can be rare."""


_IS_COUNT = re.compile(r"freq(?:uency)?|n|counts?|size|number|0", re.IGNORECASE)
"""Names of columns of counts; groupby(...).size().reset_index() of pandas calls it 0."""


def is_named_as_count(name: Hashable) -> bool:
    """Whether a column is called like one of a table of frequencies that counts equal rows."""
    return bool(_IS_COUNT.fullmatch(str(name)))


def how_to_weight_by_counts(name: Hashable) -> str:
    """Return code that names the column of counts of a table of frequencies."""
    return f"dataset = encode(dataset, weights={name!r}, weights_are='frequencies')"


def how_to_merge(columns: Iterable[tuple[Hashable, int]]) -> str:
    """Return advice on merging rare levels of the columns with the most, unless they are counts."""
    columns = list(columns)
    counts = [name for name, levels in columns if levels > WIDE and is_named_as_count(name)]
    if counts:
        return f"if {shown(counts[0])} counts equal rows, use {how_to_weight_by_counts(counts[0])}"
    widest = sorted(columns, key=lambda column: -column[1])[:3]
    wide = [column for column in widest if column[1] > WIDE] or widest[:1]
    told = ", ".join(f"{shown(name)} ({levels:,} levels)" for name, levels in wide)
    names = listed([name for name, _ in wide])
    return (
        f"merge rare levels of {told}, with dataset, merger = merge_rare(dataset, "
        f"columns=[{names}]), and those of new rows, with newdata = merger(newdata)"
    )


_SAMPLE = (
    "Use a sample, for example frame.sample(frac=0.01).compute() of a Dask DataFrame, or "
    "table.sample(0.01).to_pandas() of a table in a database"
)

_REMEDIES = {
    "newdata": (
        "Use one part at a time, as in: for chunk in chunks: predict(x, chunk). In a database, run "
        "the query of to_sql(x, table=name)."
    ),
    "frame": "Use one part at a time, as in: for chunk in chunks: impute(x, chunk).",
    "row": "Use a few rows, such as frame.head() of a Dask DataFrame.",
    "X": f"{_SAMPLE}.",
}
"""The remedy for data that stay where they are in calls that need rows in memory, by argument."""


def needs_rows_error(argument: str) -> TypeError:
    """Return the error about partitioned data in a call that needs rows in memory."""
    read = "or read all rows, with encode(source, in_memory=True), if their codes fit"
    remedy = _REMEDIES.get(argument, f"{_SAMPLE}, {read}.")
    return TypeError(f"{argument} must be in memory; got partitioned data. {remedy}")


def no_labels_error(targets: Sequence[Hashable]) -> ValueError:
    """Return the error about training data without a label of the class, or of any of several."""
    is_one = len(targets) == 1
    names = f"the class {shown(targets[0])} is" if is_one else f"all of {listed(targets)} are"
    return ValueError(
        f"dataset: {names} missing in every row. A class must have labels: use rows with "
        "labels, or another class."
    )


@contextmanager
def setting_variable(variable: ContextVar[Any], value: V) -> Iterator[V]:
    """Give a context variable a value, and its former value at the end."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


_SILENT = ContextVar("_SILENT", default=False)


def silencing_warnings() -> AbstractContextManager[bool]:
    """Let `warn` do nothing in this thread; the filters of the process stay as they are."""
    return setting_variable(_SILENT, True)


_KEPT: ContextVar[list[str] | None] = ContextVar("_KEPT", default=None)


def collecting_warnings() -> AbstractContextManager[list[str]]:
    """Let `warn` collect messages in this thread, for another thread or process to issue."""
    return setting_variable(_KEPT, [])


def warn(message: str) -> None:
    """Issue a UserWarning at the line that called into this package or into scikit-learn."""
    if _SILENT.get():
        return
    kept = _KEPT.get()
    if kept is not None:
        kept.append(message)
        return
    level, frame, from_tool = 1, sys._getframe(), False
    while frame.f_back is not None:
        is_tool = frame.f_globals.get("__name__", "").partition(".")[0] in _TOOLS
        if not (is_tool or frame.f_code.co_filename.startswith(_OURS)):
            break
        level, frame, from_tool = level + 1, frame.f_back, from_tool or is_tool
    # The subject is the message without parts that differ by fold.
    subject = re.sub(r"\d[\d,]*", "#", message).partition(",")[0]
    place = subject, frame.f_code.co_filename, frame.f_lineno
    if from_tool and place in _TOLD:
        module: str = frame.f_globals.get("__name__", "")
        fitting = (
            action
            for action, text, category, name, line in warnings.filters
            if (text is None or text.match(message)) and (name is None or name.match(module))
            if issubclass(UserWarning, category) and line in (0, frame.f_lineno)
        )
        if next(fitting, "default") in ("default", "module", "once"):
            return
    warnings.warn(message, UserWarning, stacklevel=level)
    if from_tool:
        _TOLD.add(place)


Function = TypeVar("Function", bound=Callable[..., Any])


def with_shared_text(parts: Mapping[str, str]) -> Callable[[Function], Function]:
    """Return a decorator that replaces marks, each on a separate line, by texts in a docstring."""

    def decorate(function: Function) -> Function:
        if function.__doc__ is not None:  # None if Python runs with -OO
            text = cleandoc(function.__doc__)
            for mark, part in parts.items():
                text = text.replace(mark, part)
            function.__doc__ = text
        return function

    return decorate


# Each of the names before a colon refers to the names after it, except itself.
RELATED = """
AIC BIC loglik cloglik: loglik cloglik AIC BIC nparams network_score
AODE ANDE Ensemble: aode ande members predict
BNC DN: tan_cl chisq_dn lp families cpt
MBC MAODE Chain ChainEnsemble: mbc maode chain predict
Dataset Partitions: encode
check_data: discretize merge_rare encode bnc
Discretizer Merger Preparation: discretize merge_rare bnc
accuracy confusion exact_match hamming: predict cv confusion accuracy exact_match hamming
ande spode aode: ande aode tan_cl spode lp
anb nb from_modelstring: lp tan_cl kdb_mi modelstring
averaged_network plot_strength: arc_strength averaged_network plot_strength
bnc: check_data lp tan_cl kdb_mi predict cv
fssj bsej tan_hc tan_hcsp kdb: search_steps plot_scores fssj bsej tan_hc tan_hcsp kdb kdb_mi
chisq_dn kdb_mi chow_liu tan_cl: lp tan_cl tan_hc kdb_mi kdb chow_liu hc
hc ban: hc ban tan_cl kdb network_score search_steps
lca: search_steps explain lp
learn_blanket: markov_blanket ci_test bsej
class_var classes features values vars: class_var classes features values vars families
cmi ci_test: cmi ci_test network_score
arc_strength: averaged_network plot_strength plot shd
calibration: plot_calibration cv cv_predict
compare compare_ranks: cv compare compare_ranks plot_ranks
concentrations feature_weights loo_summary: lp concentrations feature_weights loo_summary
counterfactual: predict explain value_of_information
cpt params: params cpt lp plot_cpt
cv cv_predict: compare cv cv_predict stratified_folds plot_cv
discretize merge_rare encode: bnc discretize merge_rare encode check_data
em_objectives search_steps: lp search_steps em_objectives plot_scores
explain: predict query plot_explanation plot
families feature_families modelstring: families modelstring markov_blanket narcs nparams plot
narcs nparams: families modelstring markov_blanket narcs nparams plot
from_tables with_table: cpt with_table from_tables sample
impute sample: query predict sample impute
is_anb is_nb is_ode is_semi_naive: families is_nb is_anb is_ode is_semi_naive
load save: save load read_bif write_bif
load_car load_voting load_pima load_solar_flare: load_car load_voting load_pima load_solar_flare
lp update pool: bnc lp update pool cpt predict save
manb_arc_posterior: lp feature_weights plot_weights
markov_blanket d_separated: families learn_blanket markov_blanket d_separated ci_test
mbc maode chain: mbc maode chain lp predict
members: aode ande predict
network_score: hc ban loglik BIC
plot: plot_cpt plot_explanation explain arc_strength
plot_calibration plot_confusion: calibration confusion predict cv_predict
plot_cpt plot_effect plot_explanation plot_importance: cpt explain plot plot_effect plot_importance
plot_cv plot_ranks: cv compare compare_ranks
plot_scores: search_steps
plot_weights: feature_weights plot_importance
predict: explain query accuracy cv_predict
preparation summary: summary preparation discretize merge_rare cv plot_importance
query: predict sample impute markov_blanket
read_bif write_bif: read_bif write_bif save load to_pgmpy
shd kl_divergence: shd kl_divergence arc_strength network_score
stratified_folds r_folds: cv cv_predict stratified_folds r_folds
drift: summary cv_predict predict effects check_data
effects from_effects: effects from_effects monotonize scorecard plot_effect explain
monotonize EffectTable: effects from_effects monotonize scorecard plot_effect explain
scorecard Scorecard: scorecard explain effects plot_nomogram to_sql cv
plot_nomogram: scorecard plot_explanation plot_effect
value_of_information: predict explain query
write_page: predict explain to_sql save
to_networkx to_pgmpy to_pyagrum: to_networkx to_pgmpy to_pyagrum write_bif
to_sql: predict save write_page
"""


# The sections about errors and warnings of functions that learn from data, if they have none of
# their own.
LEARNING = """
nb aode anb ande tan_cl chow_liu kdb_mi spode hc ban chisq_dn lca learn_blanket
mbc maode chain fssj bsej tan_hc tan_hcsp kdb
"""
ERRORS = """\
Raises
------
KeyError
    If the class or another name is not a column of `dataset`.
TypeError
    If a column that must be categorical contains numbers with fractions.
    Discretize it first, as `bnc` does.
ValueError
    If `dataset` has no rows, or an argument has a value that is not listed
    above."""
WARNINGS = """\
Warns
-----
UserWarning
    If all values of a column differ, as in a column of identifiers, or the
    class is missing in some rows. Rows without a class are ignored."""
SECTIONS = ("Raises", "Warns", "See Also", "Notes", "References", "Examples")


def insert_section(text: str, section: str) -> str:
    """Return a docstring with a section in its place, unless it has this one or is empty."""
    title = section.split("\n", 1)[0]
    if not text or f"\n{title}\n" in text:  # empty if Python runs with -OO
        return text
    following = "|".join(SECTIONS[SECTIONS.index(title) + 1 :])
    later = re.search(rf"^({following})\n-+\n", text, re.MULTILINE)
    end = later.start() if later else len(text)
    return f"{text[:end].rstrip()}\n\n{section}\n\n{text[end:]}"


def add_see_also(objects: Mapping[str, object]) -> None:
    """Add to docstrings the section, with the first sentence about each name, and shared ones."""
    entries: dict[str, str] = {}
    for line in RELATED.strip().splitlines():
        sources, targets = (part.split() for part in line.split(":"))
        for name in targets:
            if name not in entries:
                summary = (objects[name].__doc__ or "").strip().split("\n", 1)[0].split(". ")[0]
                text = f"{name} : {summary.removesuffix('.')}."
                entries[name] = fill(text, 84, subsequent_indent="    ")
        for name in sources:
            others = [entries[other] for other in targets if other != name]
            text = cleandoc(objects[name].__doc__ or "")
            section = "\n".join(["See Also", "--------", *others])
            objects[name].__doc__ = insert_section(text, section) or None
    for name in LEARNING.split():
        text = cleandoc(objects[name].__doc__ or "")
        objects[name].__doc__ = insert_section(insert_section(text, ERRORS), WARNINGS) or None
