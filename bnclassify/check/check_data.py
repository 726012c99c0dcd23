"""What is odd about a table: listed before a model is fitted, and warned of by learners."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from textwrap import indent

import numpy as np
import pandas as pd

from ..dataset import MISSING, Dataset, Opened, Schema, as_floats
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
    open_data,
)
from ..numbers import how_to_label
from ..tools.calls import with_call_advice
from ..tools.checks import check_column_name, check_columns
from ..tools.messages import warn
from .findings import (
    MOST_COLUMNS,
    CodedColumn,
    Finding,
    can_only_copy_class,
    column_findings,
    columns_that_may_copy_class,
    drop_columns_code,
    equal_rows_beyond_chance,
    find_frequencies,
    find_missing_together,
    float_class_finding,
    sentences_about_findings,
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
        ``finding``, and ``remedy``, which contains code for a data frame called
        ``dataset``. Findings about rows have the column "(rows)".

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
    dull = {levels for levels in set(data.levels) if is_wide and can_only_copy_class(levels)}
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
