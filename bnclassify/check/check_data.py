"""What is odd about a table: listed before a model is fitted, and warned of by learners.

Columns are codes or numbers, with the class. Some findings are about a column,
and others about rows: counts in place of rows, copies, values missing together.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, product
from math import comb, exp, lgamma, log, sqrt
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..dataset import MISSING, MOST_CODES, Dataset, Opened, Schema, as_floats
from ..frames import (
    COLUMN_WARNINGS,
    EITHER,
    FLOATS,
    MAKE_FINITE,
    TIMES,
    AnyTable,
    Frame,
    arrays_and_types,
    conversion_advice,
    make_mark_missing,
    number_as_label,
    open_data,
)
from ..numbers import how_to_label, label_dtype
from ..tools.arrays import Array, ArrayOf, Codes, Mask, Positions, weights_at
from ..tools.calls import with_call_advice
from ..tools.checks import check_column_name, check_columns
from ..tools.messages import how_to_weight_by_counts, is_named_as_count, listed, shown, warn
from .written import (
    IS_PART_OF_DATE,
    MARKERS,
    WrittenDates,
    find_date_format,
    find_number_format,
    is_missing_marker,
    look_alike_labels_and_code,
)

_READABLE = (*FLOATS, "string", "boolean", "integer", "categorical", "empty")
"""Inferred types of columns that are categories or numbers."""

_COLUMNS = ["column", "finding", "remedy"]

_ROWS = "(rows)"
"""The entry of a finding about rows in place of the name of a column."""


@with_call_advice("Pass the class by name: check_data(dataset, class_var=name).")
def check_data(dataset: AnyTable, class_var: Hashable = None) -> pd.DataFrame:
    """List what is odd about a table, and what to do about it.

    Parameters
    ----------
    dataset : pandas.DataFrame or another frame, or Dataset
        Data to learn from, with rows in memory.
    class_var : str, optional
        Name of the class. Without it, no column is reported because it predicts
        the class.

    Returns
    -------
    pandas.DataFrame
        One row per finding, in the order of the columns: ``column``,
        ``finding``, and ``remedy``, which contains code for a data frame of
        pandas called ``dataset``; for another one, first call
        ``dataset = dataset.to_pandas()``. Findings about rows have the column
        "(rows)".

    Raises
    ------
    KeyError
        If `class_var` is not a column.
    TypeError
        If the data are not a table, or stay where they are.

    Notes
    -----
    These are reported: amounts, dates, months, quarters, weeks or times that
    are written as text, possibly with a unit, or with labels such as "?", and
    dates that are written as whole numbers; numbers in a column of type
    category, some possibly with labels, as in files of SPSS and Stata; labels
    that are one for a person, because they differ only in white space, case,
    punctuation, or the form of characters and numbers; labels that can stand
    for missing values, and numbers far from the others that repeat, such as -8
    or 97, 98 and 99; columns that alone predict the class in all rows, as a
    copy of the class does, or separate the classes with an AUC of at least
    0.98; identifiers of rows, or of persons with several rows each; columns
    with one value; three to five whole numbers, which can be codes; columns
    with too many distinct values; a class with fewer than two labels, with a
    label in a single row, or with labels of type float; infinite numbers;
    values that are not categories or numbers; counts in a table of frequencies;
    values that are missing in the same rows; and equal rows. ``print`` writes
    each finding above its remedy, or that nothing was found.

    "Alone" means that no value occurs with two classes, or that numbers are
    divided into one interval per class. Whole numbers are identifiers if all
    differ, and their column is called like one (``id``, ``CustomerId``) or has
    a range so small that measurements would repeat. An identifier of persons
    has at least ten values with at most twenty rows each, and rows with equal
    values have the same class more often than by chance. A column counts equal
    rows if without it no two rows are equal, although some rows in so many
    would be equal by chance, and its name (``Freq``, ``n``, ``count``) confirms
    this.

    Examples
    --------
    A file in which one age is "?", one sex has a blank at its end, and
    "treated" repeats the class:

    >>> import pandas as pd
    >>> from bnclassify import check_data
    >>> patients = pd.DataFrame({
    ...     "number": range(101, 131), "age": [*map(str, range(40, 69)), "?"],
    ...     "sex": ["f", "m"] * 14 + ["m ", "f"],
    ...     "treated": ["early", "late", "never"] * 10, "ill": ["yes", "yes", "no"] * 10})
    >>> found = check_data(patients, "ill").set_index("column")
    >>> for column, finding in found["finding"].items():
    ...     print(f"{column}: {finding}")
    number: numbers of the rows, which predict the class only if rows are sorted
    age: numbers written as text, but for '?'
    sex: labels that differ only in white space or case, such as 'm', 'm '
    treated: alone predicts the class in all rows
    >>> found.loc["sex", "remedy"]
    "Make them equal, with dataset['sex'] = dataset['sex'].astype('string').str.strip()"

    Apply the remedies, and check again:

    >>> patients = patients.drop(columns=["number", "treated"])
    >>> patients["age"] = pd.to_numeric(patients["age"].mask(patients["age"] == "?"))
    >>> patients["sex"] = patients["sex"].str.strip()
    >>> len(check_data(patients, "ill"))
    0
    """
    rows = open_data(dataset).check_in_memory("dataset")
    if class_var is not None:
        check_column_name(class_var)
        check_columns([class_var], rows.columns, "class_var")
    found = {name: list[Finding]() for name in rows.columns}
    read: dict[Hashable, Dataset] = {}
    for name in rows.columns:
        data = _read_for_findings(rows, name, found[name], name == class_var)
        if data is not None:
            read[name] = data
    if read and not any(map(len, read.values())):
        remedy = "Check how the table was read, and which rows previous steps dropped"
        return _Findings([(_ROWS, "the table has no rows", remedy)], columns=_COLUMNS, dtype=object)
    classes = None
    if class_var in read:
        for name, labels in read[class_var].numbers.items():
            codes, values = pd.factorize(as_floats(labels))
            read[class_var] = read[class_var].with_codes({name: (tuple(values.tolist()), codes)})
        classes = read[class_var].codes[0]
    columns = list[CodedColumn]()
    for name, data in read.items():
        own = CodedColumn(name, data.levels[0], data.codes[0], weights=data.weights)
        own = own._replace(is_category=rows.types.get(name) == "categorical")
        if name == class_var:  # whose numbers are labels
            columns.append(own._replace(is_class=True))
        else:
            columns.append(own._replace(numbers=data.numbers.get(name), classes=classes))
    counts = find_frequencies(columns)
    for column in columns:
        is_float = column.is_class and rows.types.get(column.name) in FLOATS
        if counts is not None and counts.column == column.name:
            found[column.name].append(counts)
        elif is_float and column.levels:
            found[column.name].append(float_class_finding(column.name, column.levels))
        else:
            found[column.name] += column_findings(column)
    for finding in find_missing_together(columns):
        found[finding.column].append(finding)
    findings = list(chain(*found.values()))
    numbers = {name: x for data in read.values() for name, x in data.numbers.items()}
    equal = equal_rows_beyond_chance([data.codes[0] for data in read.values()], numbers, classes)
    if equal:
        text = f"{max(equal.values()):,} rows equal an earlier row, but not by chance"
        copies = "If they are copies, use dataset.drop_duplicates()"
        remedy = f"{copies}, and if rows belong to persons, groups="
        findings.append(Finding(_ROWS, text, remedy))
    table = [
        (f.column, f.finding, f.remedy or f"Drop it, with {drop_columns_code([f.column])}")
        for f in findings
    ]
    return _Findings(table, columns=_COLUMNS, dtype=object)


class _Findings(pd.DataFrame):
    """A table that prints each finding whole, above its remedy, or that there are none."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def __repr__(self) -> str:
        if not len(self):
            return "check_data found nothing odd about the table."
        if list(self.columns) != _COLUMNS:
            return super().__repr__()
        paragraphs = []
        for name, text, remedy in self.itertuples(index=False, name=None):
            paragraphs.append(f"{name}: {text}\n{indent(remedy, '    ')}")
        return "\n".join(paragraphs)

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            return self.to_html() if len(self) else f"<p>{self!r}</p>"


def _read_for_findings(
    rows: Opened[Dataset], name: Hashable, found: list[Finding], is_class: bool
) -> Dataset | None:
    """Return a column as numbers or categories, or None with a finding if it is of another type."""
    if isinstance(rows, Dataset):
        return rows.select([name])
    assert isinstance(rows, Frame)
    part = Frame(rows.frame[[name]], rows.argument)
    kind = part.types[name]
    if kind in FLOATS and part.frame[name].isin([np.inf, -np.inf]).any():
        found.append(Finding(name, "infinite numbers", MAKE_FINITE, serious=True))
        part = Frame(part.frame.replace([np.inf, -np.inf], np.nan), rows.argument)
    values = part.frame[name]
    declared = isinstance(values.dtype, pd.CategoricalDtype)
    labels = values.cat.categories if declared else values
    if kind in ("string", "categorical") and MISSING in set(labels):
        text = f"the label {MISSING!r}, by which models call missing values"
        found.append(Finding(name, text, make_mark_missing(f"dataset[{name!r}]"), serious=True))
        values = values.astype(object)
        part = Frame(values.mask(values == MISSING).to_frame(), rows.argument)
    if kind not in _READABLE:
        advice = how_to_label(name)
        if not (is_class and kind in TIMES):
            advice = conversion_advice(kind, EITHER, name, arrays_and_types(part.frame)[0][0])
        found.append(Finding(name, f"{kind} values", advice.rstrip("."), serious=True))
        return None
    return part.encode_raw(None, [name])


def warn_of_columns(data: Dataset, class_var: Hashable, raw: Dataset | None = None) -> None:
    """Warn of serious findings about columns; numbers of ``raw`` data are read unprepared."""
    numbers = set((data if raw is None else raw).numbers).difference([class_var])
    is_wide = len(data.columns) > MOST_COLUMNS  # then, no column counts equal rows
    # with these levels, it can only be found that a column copies the class
    short = [one for one in set(data.levels) if len(one) < min(_FEWEST_GROUPS, _FEWEST_ROWS // 2)]
    dull = {levels for levels in short if is_wide and _are_few_ordinary_texts(levels)}
    classes, tested = None, set(numbers)
    if class_var in data.positions:
        classes = data.codes[data.positions[class_var]]
        may_copy = columns_that_may_copy_class(data.codes, classes)
        tested.update(data.columns[i] for i in may_copy.tolist())
    columns = list[CodedColumn]()
    for (name, levels), codes in zip(data.schema.levels_of.items(), data.codes, strict=True):
        is_class = name == class_var
        if name in numbers or (levels in dull and name not in tested and not is_class):
            continue
        own = CodedColumn(name, levels, codes, None, data.weights, None if is_class else classes)
        is_apart = name in data.schema.ordered  # perhaps intervals that were chosen by the class
        columns.append(own._replace(is_class=is_class, is_apart=is_apart, can_copy=name in tested))
    if numbers:
        rows = data if raw is None else raw.rows_with_known(class_var)
        labels = rows.codes[rows.positions[class_var]] if class_var in rows.positions else None
        for name in filter(numbers.__contains__, rows.numbers):
            codes, values = rows.codes[rows.positions[name]], rows.numbers[name]
            columns.append(CodedColumn(name, (), codes, values, rows.weights, labels))
    _warn_of_findings(columns, None if is_wide else find_frequencies(columns))


def warn_of_labels(schema: Schema) -> None:
    """Warn of serious findings about labels of data that stay where they are."""
    none = np.empty(0, dtype=np.int8)
    columns = zip(schema.columns, schema.levels, strict=True)
    _warn_of_findings([CodedColumn(name, labels, none) for name, labels in columns])


def _warn_of_findings(columns: Sequence[CodedColumn], counts: Finding | None = None) -> None:
    found = list[Finding]()
    for column in columns:
        if counts is None or column.name != counts.column:
            found += column_findings(column, only_serious=True)
    found += [] if counts is None else [counts]
    for sentence in sentences_about_findings(finding for finding in found if finding.serious):
        warn(sentence)


COLUMN_WARNINGS.update(columns=warn_of_columns, labels=warn_of_labels)


CHANCE = -14.0
"""Log of the probability, one in a million, below which chance does not explain what is found."""

BEGINNING = 200
"""Number of rows that are searched first for a value with two classes."""


class Finding(NamedTuple):
    """What is odd about a column, and what to do; an empty remedy is to drop the column."""

    column: Hashable
    finding: str
    remedy: str = ""
    serious: bool = False


class CodedColumn(NamedTuple):
    """A column as codes of levels, as numbers, or both; ``classes`` are the codes of the class.

    A column that ``is_apart`` is not compared with the class, and one that
    cannot copy it only for groups. The labels of one that ``is_category`` are
    declared.
    """

    name: Hashable
    levels: tuple[Hashable, ...]
    codes: Codes
    numbers: ArrayOf[np.generic] | None = None
    weights: Array | None = None
    classes: Codes | None = None
    is_class: bool = False
    is_apart: bool = False
    is_category: bool = False
    can_copy: bool = True

    def take_rows(self, rows: slice) -> CodedColumn:
        """Return the column in some of the rows."""
        numbers = None if self.numbers is None else self.numbers[rows]
        classes = None if self.classes is None else self.classes[rows]
        return self._replace(codes=self.codes[rows], numbers=numbers, classes=classes)

    @property
    def value_positions(self) -> Positions:
        """The position of each row's value among the distinct numbers or levels; -1 is missing."""
        if self.numbers is None:
            return self.codes.astype(np.intp)
        return pd.factorize(as_floats(self.numbers), sort=True)[0]


_FEWEST_ROWS = 20
"""With fewer rows, all values of a column can differ by chance."""

_LONGEST = 300
"""Number of characters of the longest list of columns in code."""

_ROW_NAMES = (
    "rownames",
    "row.names",
    "rowname",
    "row",
    "rowid",
    "row_id",
    "index",
    "unnamed: 0",
    "level_0",
)
"""Names that R and pandas give to numbers of rows in files."""


_MOST_LEVELS = 50
"""Number of levels from which those of a few rows are reported."""

_COPIES = "alone predicts the class in all rows"

_FEW = 20
"""Of so many rows, one can have a value that does not repeat, if values predict the class."""


_IS_ID = re.compile(r"(?:^|[\W_])(?:[iI][dD]|uuid|key|nr)(?:$|[\W_])|[a-z]I[dD]$")
"""Names of identifiers, such as id, enrollee_id and CustomerId."""

_IS_PERSON = re.compile(
    r"(?:patient|subject|person|participant|respondent|pupil|student|child|family|household)"
    r"[\W_]*(?:id|nr|no|number|code)?",
    re.IGNORECASE,
)
"""Names of persons, or of groups of them, that have several rows each."""

_FEWEST_GROUPS, _LARGEST_GROUP = 10, 20
"""Least number of levels, and largest mean number of their rows, of a repeating identifier."""


def drop_columns_code(names: Sequence[Hashable]) -> str:
    """Return code that drops columns, which names all of them unless it would be long."""
    text = ", ".join(map(repr, names))
    return f"dataset.drop(columns=[{text if len(text) <= _LONGEST else '...'}])"


def sentences_about_findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a sentence for all columns with the same finding, and the remedy."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.finding, []).append(finding)
    for text, group in groups.items():
        names = [finding.column for finding in group]
        if text == _COPIES and len(names) > 1:
            yield f"{listed(names)}: each {text}. {_how_to_drop_copies(names)}."
            continue
        remedy = group[0].remedy or f"Drop such columns, with {drop_columns_code(names)}"
        first = f"For {shown(names[0])}: " if len(names) > 1 and group[0].remedy else ""
        yield f"{listed(names)}: {text}. {first}{remedy}."


def column_findings(column: CodedColumn, *, only_serious: bool = False) -> Iterator[Finding]:
    """Yield what is odd about a column; with ``only_serious``, other findings may be omitted."""
    if not _are_few_ordinary_texts(column.levels):
        texts = [label for label in column.levels if isinstance(label, str) and label != MISSING]
        if not column.is_class and (written := _find_numbers_as_text(column.name, texts)):
            yield written
            if written.serious:
                return
        if labeled := _find_labeled_numbers(column, texts):
            yield labeled
            if labeled.serious:
                return
        yield from _find_in_text_labels(column, texts, only_serious)
    if not column.is_class and (dates := _find_dates_as_numbers(column)):
        yield dates
        return
    group = _find_groups(column)
    if group is not None:
        yield group
    elif not only_serious:
        yield from _findings_on_number_of_values(column)
    elif column.numbers is not None:
        yield from _find_row_numbers(column.name, as_floats(column.numbers))
    elif len(column.levels) >= _FEWEST_ROWS // 2 and (
        column.is_class
        or column.weights is not None
        or 2 * len(column.levels) > np.count_nonzero(column.codes >= 0)
    ):
        yield from _findings_on_number_of_values(column)
    if column.can_copy and not column.is_apart and group is None:
        copies = list(_find_copy_of_class(column))
        yield from copies or ([] if only_serious else _find_separation_of_classes(column))


def _are_few_ordinary_texts(levels: tuple[Hashable, ...]) -> bool:
    """Whether labels are a few texts in which nothing is odd, whatever the column."""
    are_few_texts = len(levels) <= _MOST_LEVELS and set(map(type, levels)) == {str}
    return are_few_texts and _are_ordinary_texts(levels)


@lru_cache(2**10)  # because many columns of a table have the same labels
def _are_ordinary_texts(levels: tuple[str, ...]) -> bool:
    texts = [label for label in levels if label != MISSING]
    column = CodedColumn("", levels, np.empty(0, dtype=np.int8), is_class=True)
    return not (_find_numbers_as_text("", texts) or any(_find_in_text_labels(column, texts, False)))


def _find_numbers_as_text(name: Hashable, texts: list[str]) -> Finding | None:
    """Return the finding that labels are numbers or dates."""
    few = len(texts) <= MOST_CODES
    for kind, written in (
        ("dates or times", find_date_format(texts)),
        ("numbers", find_number_format(texts, few=few)),
    ):
        if written is not None and len(written.found) > (1 if few else MOST_CODES):
            if few and written.are_codes:
                continue
            detail = f", but for {listed(written.others, most=8)}" if written.others else ""
            detail = detail or f", such as {shown(written.found[0])}"
            told, serious = f"{kind} written as text{detail}", not (few or written.are_codes)
            return Finding(name, told, written.remedy(name), serious)
    return None


def _find_dates_as_numbers(column: CodedColumn) -> Finding | None:
    """Return the finding that whole numbers are months or days, such as 195006 or 19500601."""
    values = column.levels
    if column.numbers is not None:
        some = column.numbers[:BEGINNING]
        if not (as_floats(some[~pd.isna(some)]) > 180_000).all():
            return None
        values = np.unique(as_floats(column.numbers[~pd.isna(column.numbers)])).tolist()
    # 4: number of months from which other numbers of six digits would rarely end in 01 to 12
    if len(values) < 4 or not all(isinstance(x, int | float) and x % 1 == 0 for x in values):
        return None
    written = find_date_format([f"{x:.0f}" for x in values])
    if not isinstance(written, WrittenDates) or written.others:
        return None
    text = f"dates written as numbers, such as {written.found[0]}"
    whole = "{0}.astype('Int64')"
    remedy = written._replace(code=written.code.replace("{0}", whole)).remedy(column.name)
    return Finding(column.name, text, remedy, serious=True)


def _find_labeled_numbers(column: CodedColumn, texts: list[str]) -> Finding | None:
    """Return the finding that levels are numbers, some with labels, as in files of SPSS."""
    numbers = [x for x in column.levels if isinstance(x, int | float) and not isinstance(x, bool)]
    if column.is_class or column.numbers is not None or len(numbers) <= max(MOST_CODES, len(texts)):
        return None
    if not (texts or column.is_category):
        return None
    name, but, lost = f"dataset[{column.name!r}]", "", ""
    if texts:
        but, lost = (
            f", but for {listed(texts, most=8)}",
            f", which makes {listed(texts, most=8)} missing",
        )
    code = f"{name} = pd.to_numeric({name}.astype('string'), errors='coerce')"
    return Finding(
        column.name,
        f"numbers in a column of type category{but}",
        f"If they are measurements, convert them, with {code}{lost}",
        serious=bool(texts),
    )


def _find_in_text_labels(
    column: CodedColumn, texts: list[str], only_serious: bool
) -> Iterator[Finding]:
    name = f"dataset[{column.name!r}]"
    as_text = f"{name} = {name}.astype('string')"
    same, what, code = look_alike_labels_and_code([x for x in column.levels if x != MISSING])
    if same:
        yield Finding(
            column.name,
            f"labels that differ only in {what}, such as {listed(same, most=8)}",
            f"Make them equal, with {name} = {name}{code}",
            serious=True,
        )
    if only_serious and not column.is_class:
        return
    if not same and any(text != text.strip() for text in texts):
        yield Finding(
            column.name,
            "labels with white space at an end",
            f"Remove it, with {as_text}.str.strip()",
        )
    if markers := [text for text in texts if is_missing_marker(text)]:
        which, them = ("the label", "it") if len(markers) == 1 else ("the labels", "them")
        serious = column.is_class and any(text.strip().casefold() in MARKERS for text in markers)
        yield Finding(
            column.name,
            f"{which} {listed(markers, most=8)}, which can stand for a missing value",
            f"If so, make {them} missing, with {as_text}.mask({name}.isin({markers!r}))",
            serious,
        )


def _findings_on_number_of_values(column: CodedColumn) -> Iterator[Finding]:
    rows: float
    if column.numbers is not None:
        values = as_floats(column.numbers)
        known = values[~np.isnan(values)]
        rows, levels = len(known), len(np.unique(known))
    else:
        counts = _row_counts(column)
        rows, levels = counts.sum(), int(np.count_nonzero(counts))
    name, labels = column.name, column.levels
    few = rows < _FEWEST_ROWS
    if column.is_class:
        # 20: number of labels from which a numeric class is probably a measurement
        is_number = len(labels) > 20 and all(isinstance(label, int | float) for label in labels)
        if levels < 2:
            remedy = "Use rows with labels of at least two classes, or another column as the class"
            yield Finding(name, f"the class has {('no', 'one')[levels]} label", remedy)
        elif is_number:
            yield Finding(
                name,
                f"the class has {len(labels):,} numbers as labels, each of which is a class",
                "If they are measurements, divide them into a few classes, with "
                f"dataset[{name!r}] = pd.cut(dataset[{name!r}], 3)",
                serious=True,
            )
        elif not few and 2 * levels > rows:
            yield Finding(
                name,
                f"the class has {levels:,} labels in {rows:,g} rows",
                "If it identifies rows, use another column",
                serious=True,
            )
        elif single := [labels[i] for i in np.flatnonzero(_row_counts(column) == 1)]:
            what = "label" if len(single) == 1 else "labels"
            yield Finding(
                name,
                f"the class has a single row with the {what} {listed(single, most=8)}",
                "Merge rare labels with others, or add rows: a label with one row cannot be "
                "both learned and tested",
            )
    elif not levels:
        yield Finding(name, "all values are missing")
    elif levels == 1:
        yield Finding(name, "all known values are equal")
    elif column.numbers is not None:
        yield from _find_row_numbers(name, as_floats(column.numbers))
        yield from _find_numbers_meaning_missing(name, as_floats(column.numbers))
        is_whole = not (as_floats(column.numbers) % 1 > 0).any()
        if 3 <= levels <= 5 and is_whole and not IS_PART_OF_DATE.search(str(name)):
            yield Finding(
                name,
                f"{levels} whole numbers, which can be codes or counts",
                f"If they are codes, make them text, with dataset[{name!r}] = "
                f"dataset[{name!r}].astype('Int64').astype('string'); if not, keep them",
            )
    elif not few and levels == rows:
        text = "all values differ, as in a column of identifiers"
        yield Finding(name, text, _how_to_read_digits(labels), serious=True)
    elif not few and 2 * levels > rows:
        yield Finding(
            name,
            "more levels than half of the known values",
            _how_to_read_digits(labels) or _how_to_merge_levels(name),
            serious=True,
        )
    elif levels > _MOST_LEVELS and 10 * levels > rows:
        remedy = _how_to_read_digits(labels) or _how_to_merge_levels(name)
        yield Finding(name, f"{levels:,} levels in {rows:,g} rows", remedy)


def _how_to_read_digits(labels: Sequence[Hashable]) -> str:
    """Return what to do about many labels that are mostly digits; empty for others, as of id17."""
    texts = [text for label in labels[:BEGINNING] if (text := str(label).strip())]
    text = "".join("".join(texts).split())
    begins_with_letter = sum(text[0].isalpha() for text in texts)
    if 2 * sum(map(str.isdigit, text)) <= len(text) or 2 * begins_with_letter > len(texts):
        return ""
    return (
        "If they are amounts, measurements or dates, convert them to numbers; if they identify "
        "rows, they cannot predict other rows"
    )


def float_class_finding(name: Hashable, labels: Sequence[Any]) -> Finding:
    """Return the finding that a class has numbers of type float, which learners refuse."""
    column = f"dataset[{name!r}]"
    return Finding(
        name,
        "the class has numbers of type float, which are not labels",
        f"If they are codes, use {column} = {column}.astype('{label_dtype(labels)}'); if they "
        f"are measurements, divide them into a few classes, with {column} = pd.cut({column}, 3)",
        serious=True,
    )


def _how_to_merge_levels(name: Hashable) -> str:
    return (
        "Merge rare levels, with min_count=3 in bnc or BNCClassifier, which also merges those of "
        f"new rows, or drop the column, with {drop_columns_code([name])}"
    )


def _row_counts(column: CodedColumn) -> ArrayOf[Any]:
    """Return the number of rows of each level, by weight."""
    is_known = column.codes >= 0
    weights = weights_at(column.weights, is_known)
    return np.bincount(column.codes[is_known], weights, len(column.levels))


def _find_row_numbers(name: Hashable, values: Array) -> Iterator[Finding]:
    """Yield whether numbers identify rows.

    Measurements in whole numbers repeat: of n numbers in a range of r, all
    differ with a probability of at most (1 − 1/r)(1 − 2/r) … (1 − (n − 1)/r).
    """
    n = len(values)
    some = values[:BEGINNING]
    if IS_PART_OF_DATE.search(str(name)):  # sorted days look like numbers of rows
        return
    if n < _FEWEST_ROWS or (some % 1).any() or len(np.unique(some)) < len(some):
        return
    if np.isnan(values).any() or (values % 1).any() or len(np.unique(values)) < n:
        return
    span = float(np.ptp(values)) + 1
    if span == n or str(name).casefold() in _ROW_NAMES:
        text = "numbers of the rows, which predict the class only if rows are sorted"
        yield Finding(name, text, serious=True)
    elif _IS_ID.search(str(name)) or float(np.log1p(-np.arange(1, n) / span).sum()) < CHANCE:
        text = "whole numbers that all differ, as in a column of identifiers"
        yield Finding(name, text, serious=True)


def _find_numbers_meaning_missing(name: Hashable, values: Array) -> Iterator[Finding]:
    """Yield whether a few numbers are so far from others that they can mean missing values."""
    known, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    # the most numbers at the ends that repeat and are far from all others
    # 4: maximum number of codes for missing values at an end of a column, such as 96, 97, 98 and 99
    most, found = range(min(4, len(known) - 1) + 1), list[float]()
    for low, high in product(most, most):
        others, last = known[low : len(known) - high], len(known) - high
        rows = np.r_[counts[:low], counts[last:]]
        if not len(found) < low + high < len(known) or rows.min() == 1:
            continue
        # 4: number of rows from which numbers far from the others are codes, and not just outliers
        if not 4 <= rows.sum() <= counts.sum() / 2:
            continue
        is_low = not low or _are_distant_codes(-known[:low][::-1], -others[::-1], is_low=True)
        if is_low and (not high or _are_distant_codes(known[last:], others, is_low=False)):
            found = [*known[:low].tolist(), *known[last:].tolist()]
    if codes := list(map(number_as_label, found)):
        column = f"dataset[{name!r}]"
        which, what = f"{column}.isin({codes!r})", "the numbers"
        if len(codes) == 1:
            which, what = f"{column} == {codes[0]!r}", "the number"
        yield Finding(
            name,
            f"{what} {listed(codes, most=8)}, which can stand for a missing value",
            f"If so, make it missing, with {column} = {column}.mask({which})",
        )


def _are_distant_codes(tail: Array, others: Array, *, is_low: bool) -> bool:
    """Whether the largest numbers of a column are whole, and too far from others for measurements.

    In both ascending arrays, numbers are negated if the codes are below the
    others. The gap exceeds the range of the others if digits are nines or the
    codes are consecutive; nine of ten steps of the others, if only the codes
    are negative; and if not, three times the range and size of the others.
    These are not just a few doses. A code of 0 is as far from positive numbers
    as a tenth of their range: 0 beside 18 to 90, and not beside amounts.
    """
    gap, span = float(tail[0] - others[-1]), float(np.ptp(others))
    is_scale = len(others) > 3 and 2 * len(others) > span and not (others % 1).any()
    # 20: number of distinct values from which a column of numbers is not a list of doses or dates
    if (tail % 1).any() or not (is_scale or len(others) >= 20):
        return False
    if not tail.all():
        is_alone = is_low and len(tail) == 1 and gap > 0 and len(others) >= 20
        return bool(is_alone and gap >= span / 10 and gap > 5 * np.quantile(np.diff(others), 0.9))
    if gap > span and all(set(f"{abs(code):g}") == {"9"} for code in tail):
        return True
    if is_low and tail[0] > 0 and others[-1] <= 0:
        return bool(gap > np.quantile(np.diff(others), 0.9))
    is_run = len(tail) > 1 and np.all(np.diff(tail) == 1)
    return bool(gap > (span if is_run else 3 * max(span, np.abs(others).max())))


def _find_groups(column: CodedColumn) -> Finding | None:
    """Return the finding that a column identifies persons, or other groups of rows of one class.

    Rows with equal values have the class of the row before them with a
    probability of Σ p² by chance. If the column is not called like an
    identifier, they must have it more often than rows with neighboring values,
    as measurements have not, and the values must occur more evenly than drawn
    values do.
    """
    if column.is_apart or column.is_class or column.classes is None or column.weights is not None:
        return None
    if not _can_label_groups(column):
        return None
    positions = column.value_positions
    is_known: Mask = (positions >= 0) & (column.classes >= 0)
    values, classes = positions[is_known], column.classes[is_known]
    sizes = np.bincount(values)
    sizes, n = sizes[sizes > 0], len(values)
    if len(sizes) < _FEWEST_GROUPS or not 1.5 * len(sizes) <= n <= _LARGEST_GROUP * len(sizes):
        return None
    order = np.argsort(values, kind="stable")
    is_same: Mask = np.diff(values[order]) == 0
    agrees: Mask = np.diff(classes[order]) == 0
    share = float(np.square(np.bincount(classes) / n).sum())
    hits, rows = int(np.count_nonzero(is_same & agrees)), int(np.count_nonzero(is_same))
    name = str(column.name)
    if _IS_ID.search(name) or _IS_PERSON.fullmatch(name):
        chance = _log_chance_of_hits(hits, rows, share)
        # -3.0: log of one in twenty, below which chance does not explain what names suggest
        is_group, serious = chance < -3.0, chance < CHANCE
    else:
        near = np.count_nonzero(~is_same & agrees) / max(1, len(sizes) - 1)
        chance = _log_chance_of_hits(hits, rows, max(share, near))
        is_group = serious = chance < CHANCE and _are_evenly_sized(sizes)
    if not is_group:
        return None
    return Finding(
        column.name,
        f"{len(sizes):,} values in {n:,} rows, as of persons with several rows each: rows with "
        "equal values have the same class more often than by chance",
        f"If such rows belong together, pass groups={column.name!r} to bnc and to cv, so that "
        "rows of the same group are held out together, and the groups are not a feature",
        serious,
    )


def _can_label_groups(column: CodedColumn) -> bool:
    """Whether a column can have enough values with few rows each; a quick test without sorting."""
    if column.numbers is None:
        return len(column.levels) >= max(_FEWEST_GROUPS, len(column.codes) / _LARGEST_GROUP)
    values = as_floats(column.numbers)
    if np.isnan(values).all() or (values[:BEGINNING] % 1 > 0).any():
        return False
    span = np.nanmax(values) - np.nanmin(values) + 1
    return bool(span >= len(values) / _LARGEST_GROUP and not (values % 1 > 0).any())


def _log_chance_of_hits(hits: int, rows: int, share: float) -> float:
    """Return Chernoff's bound on the log probability of so many hits of the given probabilities."""
    observed = hits / rows if rows else 0.0
    if observed <= share:
        return 0.0
    rest = (1 - observed) * log((1 - observed) / (1 - share)) if observed < 1 else 0.0
    return -rows * (observed * log(observed / share) + rest)


def _are_evenly_sized(sizes: Positions) -> bool:
    """Whether groups have more equal sizes than drawn values, of which each occurs at least once.

    Their sizes would have a Poisson distribution without 0, with mean m = λ /
    (1 − exp(−λ)), and a variance of m (1 + λ − m), whose estimate has a
    relative standard deviation of √(2 / (n − 1)).
    """
    mean = rate = float(sizes.mean())
    for _ in range(50):
        rate = mean * (1 - exp(-rate))
    ratio = float(sizes.var()) / (mean * (1 + rate - mean))
    return 2 * ratio < 1 and (1 - ratio) * sqrt((len(sizes) - 1) / 2) > 4


def columns_that_may_copy_class(codes: Codes, classes: Codes) -> Positions:
    """Return which columns of (columns, rows) codes predict the class alone, by some rows."""
    rows = np.flatnonzero(classes >= 0)
    some = rows[:: max(1, len(rows) // BEGINNING)]
    some = some[np.argsort(classes[some], kind="stable")]
    # Rows of the classes a a b b c are compared from both ends: a with c, and a with b.
    first, last = some[: len(some) // 2], some[::-1][: len(some) // 2]
    differ: Mask = classes[first] != classes[last]
    if not differ.any():
        return np.empty(0, dtype=np.intp)
    is_same: Mask = codes[:, first[differ]] == codes[:, last[differ]]
    return np.flatnonzero(~is_same.any(axis=1))


def _find_copy_of_class(column: CodedColumn) -> Iterator[Finding]:
    """Yield whether each value, or each of as many intervals as classes, has one class only.

    Missing values are one more value, and nearly all rows have a value that
    repeats. By chance, a value that repeats has the class of its first row with
    a probability of Σ p². With two classes of 12 rows each, 22 repeats have a
    chance of 2^−22, which is below one in a million.
    """
    if column.classes is None:
        return
    for rows in (slice(BEGINNING), slice(None)):
        classes, values = column.classes[rows], column.codes[rows]
        if column.numbers is not None:
            values = np.nan_to_num(as_floats(column.numbers[rows]), nan=np.inf)
        classes, values = classes[classes >= 0], values[classes >= 0]
        order = np.lexsort((classes, values))
        in_order, sorted_values = classes[order], values[order]
        is_same: Mask = sorted_values[1:] == sorted_values[:-1]
        changes: Mask = in_order[1:] != in_order[:-1]
        if (is_same & changes).any():
            return
        counts = np.bincount(classes)
        counts = counts[counts > 0]
        separates = column.numbers is not None and np.count_nonzero(changes) < len(counts)
        if not (separates or is_same.any()):
            return
    is_first, is_last = np.append(True, ~is_same), np.append(~is_same, True)
    once = np.count_nonzero(is_first & is_last)
    chance = float(np.square(counts / len(classes)).sum())
    repeats = np.count_nonzero(is_same) * log(chance) < CHANCE
    # Of the N!/Π n! orders of numbers, C! separate the classes: of two classes of 12 rows each, 2
    # of 2.7 million.
    log_orders = lgamma(len(classes) + 1) - sum(lgamma(int(n) + 1) for n in counts)
    is_no_chance = separates and lgamma(len(counts) + 1) - log_orders < CHANCE
    if is_no_chance or (repeats and _FEW * once <= len(values)):
        remedy = _how_to_drop_copies([column.name])
        # Measurements can separate classes, unless all but one class have a single value.
        has_several = np.bincount(in_order[is_first]) > 1
        serious = bool(repeats) and not (separates and np.count_nonzero(has_several) > 1)
        yield Finding(column.name, _COPIES, remedy, serious)


def _find_separation_of_classes(column: CodedColumn) -> Iterator[Finding]:
    """Yield whether a column alone separates classes in rows that its shares do not count.

    Each row is scored by the shares of the classes in the other rows with its
    value, or with a number in the same twentieth.
    """
    if column.classes is None or column.weights is not None:
        return
    values = column.value_positions
    if column.numbers is not None:
        numbers = as_floats(column.numbers)
        known = numbers[np.isfinite(numbers)]
        cuts = np.unique(np.quantile(known, np.arange(1, 20) / 20)) if len(known) else known
        values = np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers))
    rows = column.classes >= 0
    classes, values = column.classes[rows].astype(np.intp), values[rows] + 1
    n_classes = int(classes.max(initial=0)) + 1
    counts = np.zeros((int(values.max(initial=0)) + 1, n_classes))
    np.add.at(counts, (values, classes), 1)
    totals = counts.sum(axis=0)
    # 50, 10: numbers of rows, and of rows of a class, below which the area can be large by chance
    if len(classes) < 50 or np.count_nonzero(totals) < 2 or totals[totals > 0].min() < 10:
        return
    areas = []
    for c in np.flatnonzero(totals)[1 if np.count_nonzero(totals) == 2 else 0 :]:
        is_class = classes == c
        others = counts[values].sum(axis=1) - 1
        shares = (counts[values, c] - is_class + totals[c] / len(classes)) / (others + 1)
        middle = pd.Series(shares.round(12)).rank().to_numpy()
        n, m = totals[c], len(classes) - totals[c]
        areas.append((middle[is_class].sum() - n * (n + 1) / 2) / (n * m))
    # 0.98: area under the curve from which a column is rather known with the class than before it
    if (area := float(np.mean(areas))) >= 0.98:
        text = f"alone separates the classes with an AUC of {min(area, 0.999):.3f}"
        yield Finding(column.name, text, _how_to_drop_copies([column.name]))


def _how_to_drop_copies(names: Sequence[Hashable]) -> str:
    they_are, them = ("it is", "it") if len(names) == 1 else ("they are", "them")
    code = drop_columns_code(names)
    return f"If {they_are} known only when the class is known, drop {them}, with {code}"


MOST_COLUMNS = 20
"""Maximum number of columns of a table of frequencies."""

_NATURAL = 20
"""A value of more than one row in so many is natural, and so are missing values in fewer."""


_LARGEST_COUNT = 2**53  # whole numbers beyond are not exact as floats


def find_frequencies(columns: Sequence[CodedColumn]) -> Finding | None:
    """Return the finding that a column counts equal rows, as in a table of frequencies.

    Without such a column, no two rows are equal. Of n drawn rows, this has a
    probability of at most (1 − 1/c)(1 − 2/c) … (1 − (n − 1)/c), where c is the
    number of cells, that is, of all combinations of values. Columns that follow
    from others do not count. At least a quarter of the cells occur and, unless
    the column is called like a count, nearly all cells of four columns with the
    class.
    """
    n = len(columns[0].codes) if columns else 0
    is_weighted = any(column.weights is not None for column in columns)
    if n < 6 or len(columns) > MOST_COLUMNS or is_weighted:
        return None
    counts = [column for column in columns if not column.is_class and _can_be_counts(column)]
    counts.sort(key=lambda column: not is_named_as_count(column.name))
    # 1000: number of rows, evenly spaced, that are looked at first
    some = slice(None, None, max(1, n // 1000))
    sample = {column.name: column.take_rows(some) for column in columns} if counts else {}
    fine = []  # measurements, most of which differ, but not all, as row numbers do
    for name, column in sample.items():
        size, values = len(column.codes), int(column.value_positions.max()) + 1
        if size / 2 < values < size:
            fine.append(name)
    for column in counts:
        if any(name != column.name for name in fine):
            continue
        others = [other for other in columns if other is not column]
        crossed, cells = _dividing_columns_and_cells([sample[other.name] for other in others])
        if len(crossed) < 2 or not 0 < cells <= 4 * n:
            continue
        # would so many rows without the column be equal by chance, and are not?
        crossed, cells = _dividing_columns_and_cells(others)
        chance = float(np.log1p(-np.arange(1, n) / cells).sum()) if cells >= n else 0.0
        # -4.0: log probability below which chance does not explain different rows
        if chance >= -4.0 or n < cells / 4 or len(crossed) < 2:
            continue
        with_class = any(other.is_class for other in crossed)
        is_full = chance < CHANCE and len(crossed) >= 4 and with_class and n > 0.9 * cells
        if is_full or is_named_as_count(column.name):
            return Finding(
                column.name,
                "numbers of equal rows, as in a table of frequencies: no two rows are "
                "equal without them",
                f"If so, use {how_to_weight_by_counts(column.name)}",
                serious=True,
            )
    return None


def _can_be_counts(column: CodedColumn) -> bool:
    """Whether a column has whole numbers from 0 on, some of which exceed codes of a category."""
    if column.numbers is not None:
        numbers = as_floats(column.numbers)
    else:
        labels = [x for x in column.levels if isinstance(x, int) and not isinstance(x, bool)]
        if not labels or len(labels) < len(column.levels) or (column.codes < 0).any():
            return False
        if max(map(abs, labels)) >= _LARGEST_COUNT:
            return False
        numbers = np.array(labels, dtype=np.float64)
    is_count = np.isfinite(numbers).all() and numbers.min() >= 0 and not (numbers % 1).any()
    return bool(is_count and numbers.max() > MOST_CODES)


def _dividing_columns_and_cells(columns: Sequence[CodedColumn]) -> tuple[list[CodedColumn], float]:
    """Return the columns that divide the rows, and their number of cells; 0 if two rows are equal.

    The column with the most values comes first, because others can follow from
    it. Columns in which all values differ identify rows, and are ignored.
    """
    n = len(columns[0].codes) if columns else 0
    dividing, cells = list[CodedColumn](), 1.0
    group, n_groups = np.zeros(n, dtype=np.intp), 1  # of the rows that these columns do not divide
    positions = [column.value_positions + 1 for column in columns]
    for at in sorted(range(len(columns)), key=lambda i: -positions[i].max()):
        own: Positions = positions[at]
        if own.max() >= n:
            continue
        divided, found = pd.factorize(group * (own.max() + 1) + own)
        if len(found) > n_groups:
            dividing.append(columns[at])
            group, n_groups = divided, len(found)
            cells *= len(np.unique(own))
    return dividing, cells if n_groups == n else 0.0


def find_missing_together(columns: Sequence[CodedColumn]) -> Iterator[Finding]:
    """Yield which columns are missing in the same rows, and rarely in others."""
    masks = {column.name: column.value_positions < 0 for column in columns if not column.is_class}
    # 10: number of rows from which values that are missing together are reported
    masks = {name: mask for name, mask in masks.items() if np.count_nonzero(mask) >= 10}
    distinct = {mask.tobytes(): mask for mask in masks.values()}
    shared = []  # masks with the columns that are missing there, and in less than a tenth elsewhere
    for mask in distinct.values():
        most = np.count_nonzero(~mask) / 10
        names = [v for v, own in masks.items() if own[mask].all() and (own & ~mask).sum() < most]
        shared.append((mask, names))
    told = set[Hashable]()
    for mask, names in sorted(shared, key=lambda pair: -len(pair[1])):
        n = np.count_nonzero(mask)
        together = [name for name in names if name not in told]
        if len(together) > 1 and n * _NATURAL >= len(mask) > n:
            told.update(together)
            yield Finding(
                together[0],
                f"missing in the same {n:,} rows as {listed(together[1:])}",
                "Find out why, because such rows can be of another kind; to learn without them, "
                f"use dataset.dropna(subset=[{together[0]!r}])",
            )


def equal_rows_beyond_chance(
    codes: Iterable[Codes], numbers: Mapping[Hashable, ArrayOf[Any]], classes: Codes | None = None
) -> dict[Hashable, int]:
    """Return how many rows equal earlier ones, by column of numbers that chance does not explain.

    Rows are compared within classes, because a class that follows from the
    numbers does not make equal rows rarer. If rows of different classes have m
    pairs of equal values in a column of numbers, of all p pairs, chance explains
    at most the share (m + 1)/p of the pairs of rows that are equal. The
    different rows of a class have another such share, and numbers that are
    spread evenly in steps a third one: ages from 20 to 69 are equal in one of
    50 pairs. The largest counts. Missing values, and a value of more than one
    row in 20, such as 0 in a column of amounts, are natural.
    """
    columns = {name: as_floats(values) for name, values in numbers.items()}
    repeats = pd.DataFrame(dict(enumerate([*codes, *columns.values()]))).duplicated().to_numpy()
    labels = np.zeros(len(repeats), dtype=np.int8) if classes is None else classes
    found: dict[Hashable, int] = {}
    for name, values in columns.items() if repeats.any() else ():
        counts = pd.Series(values).map(pd.Series(values).value_counts())
        some = (counts * _NATURAL <= len(values)).to_numpy()  # False for missing values
        n, different = int(np.count_nonzero(some & repeats)), some & ~repeats
        if not n or np.count_nonzero(different) < 2:
            continue
        of_class = [labels == c for c in np.unique(labels[some])]
        within = [_equal_and_all_pairs(values[different & rows]) for rows in of_class]
        among = np.subtract(_equal_and_all_pairs(values[different]), np.sum(within, axis=0))
        expected = 0.0
        for rows, (equal, pairs) in zip(of_class, within, strict=True):
            shares = [(m + 1) / p for m, p in ((equal, pairs), among) if p]
            share = max(*shares, 0.0, _share_of_equal_pairs(values[different & rows]))
            expected += min(share, 1.0) * comb(int(np.count_nonzero(some & rows)), 2)
        # the bound of Chernoff on the probability of n or more
        if n > expected > 0 and n - expected + n * log(expected / n) <= CHANCE:
            found[name] = n
    return found


def _equal_and_all_pairs(values: Array) -> tuple[int, int]:
    """Return the number of pairs of equal values, and of all pairs."""
    sizes = np.unique(values, return_counts=True)[1].tolist()
    return sum(comb(size, 2) for size in sizes), comb(len(values), 2)


def _share_of_equal_pairs(values: Array) -> float:
    """Return the least share of equal pairs if nine tenths of the numbers lie on a grid."""
    low, high = np.quantile(values, [0.05, 0.95]) if len(values) else (0.0, 0.0)
    if high <= low:
        return 0.0
    distinct = np.unique(((values - low) / (high - low)).round(9))
    steps = 1 / max(float(np.diff(distinct).min(initial=1.0)), 1e-9)
    return 0.81 / (steps + 1)
