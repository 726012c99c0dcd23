"""Text that means numbers, dates or missing values, labels written in two ways, and their code."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from numbers import Real
from typing import Any, NamedTuple

import pandas as pd

from ..dataset import MOST_CODES, label_as_read
from ..frames import (
    CATEGORICAL,
    CONVERSIONS,
    DATES,
    EITHER,
    NUMERIC,
    TIMES,
    ArrayLike,
    decimal_as_number,
)
from ..tools.messages import listed

MARKERS = frozenset(("", "?", "na", "n/a", "#n/a", "nan", "null"))
"""Labels, in lower case, that stand for missing values in files, also as labels of a class."""

_ALL_MARKERS = MARKERS | {"-", "--", ".", "*", "none", "unknown", "missing", "not available"}
"""Labels that stand for missing values among numbers, but can be labels elsewhere."""


_BEGINNING = 100
"""Number of labels that are searched first."""

_SIGNS = (
    "%\u2030~\u2248$\u00a2\u00a3\u00a5\u0e3f\u20a0-\u20cf\uffe0-\uffe6"  # of shares, about, money
)
_WORDS = (
    "[A-Z]{1,2}[$]|USD|EUR|GBP|JPY|CNY|CHF|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|RUB|UAH|TRY|"
    "INR|PKR|BDT|LKR|IDR|MYR|SGD|THB|PHP|VND|KRW|HKD|TWD|BRL|MXN|ARS|CLP|COP|PEN|ZAR|NGN|KES|EGP|"
    "MAD|ILS|SAR|AED|QAR|Rs[.]?|kr[.]?|Fr[.]|Euros?|euros?|ca[.]?|approx[.]?|circa|about"
)
_AROUND = re.compile(f"[{_SIGNS}]|(?<![A-Za-z])(?:{_WORDS})(?![A-Za-z])")
"""What is written before or behind a number and does not change it."""

_MINUS = re.compile("[\u2010-\u2013\u2212]")
_QUOTES, _SPACES = "'\u2019`", " \u00a0\u2009\u202f"
_NEGATIVE = ((r"^\((.*)\)$", r"-\1"), ("^(.*)-$", r"-\1"))
"""How (5) and 5- become -5."""

_NUMBER = {
    mark: re.compile(rf"[+-]?(?:{digits})(?:[eE][+-]?[0-9]+)?")
    for mark, digits in (
        (
            ".",
            rf"(?:[0-9]{{1,3}}(?:[,{_QUOTES}{_SPACES}][0-9]{{3}})+|[0-9]{{1,2}}(?:,[0-9]{{2}})+,[0-9]{{3}}"
            r"|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+",
        ),
        (",", rf"(?:[0-9]{{1,3}}(?:[.{_QUOTES}{_SPACES}][0-9]{{3}})+|[0-9]+)(?:,[0-9]*)?"),
    )
}
"""How numbers are written, by decimal mark: 1163.5, 1,163.5 or 12,34,567; 1.163,5 or 1'163,5."""

_A_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")

_UNIT = re.compile(r"[0-9.]\s?([^\W\d_][^0-9()-]*)[)-]?$")
"""A unit after a number."""

_POWERS = {
    **dict.fromkeys(["k", "K", "tsd", "Tsd."], 3),
    **dict.fromkeys(["lakh", "lac", "lakhs"], 5),
    **dict.fromkeys(["m", "M", "MM", "mn", "mio", "Mio", "Mio.", "million"], 6),
    **dict.fromkeys(["crore", "crores", "Cr"], 7),
    **dict.fromkeys(["b", "B", "bn", "Bn", "Mrd", "Mrd.", "billion"], 9),
    **dict.fromkeys(["T", "tn", "trillion"], 12),
}
"""The powers of ten of units, as in 300K and 0.5M."""


class WrittenNumbers(NamedTuple):
    """Numbers that are written as text, as `find_number_format` finds them.

    ``code`` is an expression that converts a column, in which ``{0}`` stands
    for the column. The ``others`` are not numbers. Whole numbers without other
    signs can be codes.
    """

    code: str
    found: tuple[str, ...]
    others: tuple[str, ...]
    are_codes: bool = False

    def conversion_code(self, name: Hashable, argument: str = "dataset") -> str:
        """Return code that converts a column of a data frame."""
        column = f"{argument}[{name!r}]"
        code = code_without_labels(self.others, column)
        return f"{column} = {self.code.replace('{0}', code)}"

    def remedy(self, name: Hashable) -> str:
        """Return what to do about a column of a data frame called dataset."""
        return f"Convert them, with {self.conversion_code(name)}"


def code_without_labels(others: Sequence[str], column: str) -> str:
    """Return code for a column in which some labels are made missing."""
    return f"{column}.mask({column}.isin({list(others)!r}))" if others else column


def find_number_format(texts: Sequence[str], *, few: bool = False) -> WrittenNumbers | None:
    """Return how numbers are written as text, if nearly all texts are, except codes like 007.

    If there are ``few`` texts, all must be numbers or missing, and have no unit.
    """
    units = [_unit_of_text(text) for text in texts[:_BEGINNING] if not is_missing_marker(text)]
    unit, powers = max(units, key=units.count, default=""), dict[str, int]()
    unit = unit if 2 * units.count(unit) > len(units) and not few else ""
    if len({*units}) > 1 and {*units} <= {"", *_POWERS} and not {*units} <= {"", "m", "b"}:
        unit, powers = "", _POWERS

    @cache
    def digits(text: str) -> str:
        """Return the digits of a number, with a minus before them and an exponent behind them."""
        text = text.strip()
        if _A_NUMBER.fullmatch(text):
            return text
        text = _MINUS.sub("-", _AROUND.sub(" ", text)).strip().lstrip(_QUOTES)
        for pattern, replacement in _NEGATIVE:
            text = re.sub(pattern, replacement, text).strip()
        own = _unit_of_text(text)
        if own and (own == unit or own in powers):
            text = text.removesuffix(own).rstrip() + (f"e{powers[own]}" if powers else "")
        return re.sub(r"^([-+])\s+", r"\1", text)

    def fits(mark: str, text: str) -> object:
        return _NUMBER[mark].fullmatch(digits(text))

    ways = [(mark, *split_by_match(texts, partial(fits, mark))) for mark in _NUMBER]
    mark, found, others = max(ways, key=lambda way: len(way[1]))  # the first of equals
    if not are_nearly_all(found, others) or (few and not all(map(is_missing_marker, others))):
        return None
    stripped = [text.strip() for text in found]
    # the patterns that occur in texts, and the replacements that make digits of them
    together = "\n".join(stripped)
    around, characters = {*_AROUND.findall(together)}, {*together} - {"\n"}
    groups = {"." if mark == "," else ",", *_QUOTES, *_SPACES}
    single = sorted({word for word in around if len(word) == 1} | (characters & groups))
    words = sorted(
        [word for word in (*around, unit) if len(word) > 1 or word == unit], reverse=True
    )
    removed = [f"[{''.join(single)}]"] * bool(single) + [re.escape(word) for word in words if word]
    own = {_unit_of_text(text) for text in stripped} & powers.keys()
    possible = [("|".join(removed), "")] if removed else []
    possible += [("[\u2010-\u2013\u2212]", "-"), *_NEGATIVE]
    possible += [(f"{re.escape(name)}$", f"e{powers[name]}") for name in sorted(own, reverse=True)]
    possible += [(",", ".")] * (mark == ",")
    steps, replaced = [], stripped
    for step in possible:
        changed = [re.sub(*step, text) for text in replaced]
        if changed != replaced:
            steps.append(step)
        replaced = changed
    if not steps and any(re.fullmatch(r"0[0-9]+", text) for text in stripped):
        return None
    are_codes = not (steps or others) and all(map(str.isdecimal, stripped))
    code = "{0}.astype('string').str.strip()" if steps else "{0}"
    code += "".join([replacement_code(*step) for step in steps])
    return WrittenNumbers(f"pd.to_numeric({code})", tuple(found), tuple(others), are_codes)


def replacement_code(pattern: str, replacement: str) -> str:
    """Return code that replaces a pattern in a column of text."""
    written = [f"r'{text}'" if "\\" in text else repr(text) for text in (pattern, replacement)]
    return f".str.replace({', '.join(written)}, regex=True)"


def _unit_of_text(text: str) -> str:
    """Return the unit at the end of a text, such as mg; empty without one."""
    match = _UNIT.search(_AROUND.sub(" ", text).strip())
    return match[1].strip() if match else ""


def split_by_match(
    texts: Sequence[str], fits: Callable[[str], object]
) -> tuple[list[str], list[str]]:
    """Return the texts that fit, and the others; none fit if most of the first do not."""
    beginning = texts[:_BEGINNING]
    if 2 * sum(fits(text.strip()) is not None for text in beginning) < len(beginning):
        return [], list(texts)
    found, others = list[str](), list[str]()
    for text in texts:
        (others if fits(text.strip()) is None else found).append(text)
    return found, others


def are_nearly_all(found: Sequence[str], others: Sequence[str]) -> bool:
    """Whether nearly all texts fit, apart from labels that stand for missing values."""
    # 2: number of further labels among numbers or dates: the lines of a header, for example
    return len(found) > len(others) and sum(not is_missing_marker(text) for text in others) <= 2


def is_missing_marker(text: str) -> bool:
    """Whether a label among numbers stands for a missing value."""
    return text.strip().casefold() in _ALL_MARKERS


def look_alike_labels_and_code(
    labels: Sequence[Hashable],
) -> tuple[tuple[Hashable, ...], str, str]:
    """Return the first labels that a person reads as one, in what they differ, and code.

    >>> look_alike_labels_and_code(["ckd", "notckd", "ckd "])
    (('ckd', 'ckd '), 'white space or case', ".astype('string').str.strip()")
    """
    # 10,000: number of labels from which only white space and case are compared, for speed
    read = (
        label_as_read if len(labels) <= 10_000 else (lambda x: " ".join(str(x).split()).casefold())
    )
    groups: dict[Hashable, list[Hashable]] = {}
    for label in labels:
        groups.setdefault(read(label), []).append(label)
    alike = [group for group in groups.values() if len(group) > 1]
    if not alike:
        return (), "", ""
    texts = [label for label in labels if isinstance(label, str)]
    one_space = r".str.replace(r'\s+', ' ', regex=True).str.strip()"
    steps: tuple[tuple[str, Callable[[str], str]], ...] = (
        (".str.strip()", str.strip),
        (one_space, lambda text: " ".join(text.split())),
        (one_space + ".str.casefold()", lambda text: " ".join(text.split()).casefold()),
    )
    for code, clean in steps:
        if len(texts) == len(labels) and len({*map(clean, texts)}) == len(groups):
            same = next(group for group in alike if len({*map(clean, map(str, group))}) == 1)
            return tuple(same), "white space or case", f".astype('string'){code}"
    shortest = {x: min(group, key=lambda y: len(str(y))) for group in alike for x in group}
    renamed = {label: name for label, name in shortest.items() if label != name}
    text = ".astype('string')" if len(texts) == len(labels) else ".astype(object)"
    what = "punctuation, white space, case or the form of characters and numbers"
    return tuple(alike[0]), what, f"{text}.replace({renamed!r})"


_TIME = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[AaPp][Mm])?"
_ZONE = r" ?(?:Z|UTC|[+-][0-9]{2}:?(?:[0-9]{2})?)"
_YEAR_FIRST = re.compile(
    rf"[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}(?:[ T]{_TIME}(?P<zone>{_ZONE})?)?"
)
_YEAR_LAST = re.compile(
    rf"([0-9]{{1,2}})[-/.]([0-9]{{1,2}})[-/.](?:[0-9]{{2}}|[0-9]{{4}})(?: {_TIME})?"
)
_MONTH_BY_NAME = re.compile(
    r"[0-9]{1,2}[-. /]+[A-Za-z]{3,9}[-., /]+[0-9]{2,4}|[A-Za-z]{3,9}\.? [0-9]{1,2},? [0-9]{4}"
)
_HOUR = re.compile(_TIME)

_MONTH = "([A-Za-z]{3})[a-z]*[.]?"
_WEEK = "(?:[Ww]|KW|CW|[Ww]eek)"
_PERIODS = tuple(
    (re.compile(pattern), replacement, form)
    for pattern, replacement, form in (
        (f"^{_MONTH}[-/., ']*([0-9]{{4}})$", r"\1 \2", "%b %Y"),
        (f"^{_MONTH}[-/., ']*([0-9]{{2}})$", r"\1 \2", "%b %y"),
        (f"^([0-9]{{4}})[-/., ]*{_MONTH}$", r"\2 \1", "%b %Y"),
        (f"^([0-9]{{2}})[-/., ]*{_MONTH}$", r"\2 \1", "%b %y"),
        ("^([0-9]{4})-?[Mm./ -]([0-9]{1,2})$", r"\1-\2", "%Y-%m"),
        ("^([0-9]{4})([0-9]{2})$", r"\1-\2", "%Y-%m"),
        ("^([0-9]{1,2})[-/ ]([0-9]{4})$", r"\2-\1", "%Y-%m"),
        ("^([0-9]{2})[.]([0-9]{4})$", r"\2-\1", "%Y-%m"),
        ("^([0-9]{4})([0-9]{2})([0-9]{2})$", r"\1-\2-\3", "%Y-%m-%d"),
        ("^([0-9]{4})[-/.: ]*[Qq]([1-4])$", r"\1Q\2", "quarter"),
        ("^(?:[Qq]|Quarter |quarter )([1-4])[-/., ']*([0-9]{4})$", r"\2Q\1", "quarter"),
        ("^(?:[Qq])([1-4])[-/., ']*([0-9]{2})$", r"20\2Q\1", "quarter"),
        ("^([1-4])[Qq][-/., ']*([0-9]{4})$", r"\2Q\1", "quarter"),
        ("^([1-4])[Qq][-/., ']*([0-9]{2})$", r"20\2Q\1", "quarter"),
        (f"^([0-9]{{4}})[-/., ]*{_WEEK}[-/., ]*([0-9]{{1,2}})$", r"\1-\2-1", "%G-%V-%u"),
        (f"^([0-9]{{4}})[-]?{_WEEK}([0-9]{{2}})-([1-7])$", r"\1-\2-\3", "%G-%V-%u"),
        (f"^{_WEEK}[-/., ]*([0-9]{{1,2}})[-/., ]+([0-9]{{4}})$", r"\2-\1-1", "%G-%V-%u"),
        ("^([0-9]{4})([0-9]{2})$", r"\1-\2-1", "%G-%V-%u"),
    )
)
"""How months, days, quarters and weeks are written, as patterns, and the dates that they become."""

IS_PART_OF_DATE = re.compile(r"(?:^|_)(?:days|month|weekday|hour)$")
"""How features of dates are called, of which the days are counted from a fixed day."""

_WITHOUT_ZONE = ".dt.tz_localize(None)"


class WrittenDates(NamedTuple):
    """Dates, or times of day, that are written as text, as `find_date_format` finds them.

    The ``code`` reads a column, ``{0}``, as ``when``. The ``others`` are
    neither.
    """

    found: tuple[str, ...]
    others: tuple[str, ...]
    when: pd.Series[Any]
    code: str
    are_times: bool = False
    are_codes: bool = False

    def remedy(self, name: Hashable) -> str:
        """Return what to do about a column of a data frame called dataset."""
        column = f"dataset[{name!r}]"
        code = self.code.replace("{0}", code_without_labels(self.others, column))
        if self.are_times:
            minutes = f"{column} = 60 * when.dt.hour + when.dt.minute"
            minutes += " + when.dt.second / 60" if self.when.dt.second.any() else ""
            return f"Convert them to minutes since midnight, with\nwhen = {code}\n{minutes}"
        encoders = "ToDatetime and DatetimeEncoder"
        return _how_to_split_parsed_dates(name, self.when, code, "dataset", encoders)


def find_date_format(texts: Sequence[str]) -> WrittenDates | WrittenNumbers | None:
    """Return how dates, or times of day, are written as text, if nearly all texts are either."""
    for pattern in (_YEAR_FIRST, _YEAR_LAST, _MONTH_BY_NAME, _HOUR):
        found, others = split_by_match(texts, pattern.fullmatch)
        if not are_nearly_all(found, others):
            continue
        is_day_first = False
        if pattern is _YEAR_LAST:  # 01.02.2020 is in February by numbers above 12, or by the points
            matches = [match for text in found if (match := pattern.fullmatch(text.strip()))]
            days, months = (max(int(match[k]) for match in matches) for k in (1, 2))
            is_day_first = days > 12 or ("." in found[0] and months <= 12)
        when = pd.to_datetime(
            pd.Series(found), format="mixed", dayfirst=is_day_first, errors="coerce", utc=True
        ).dt.tz_localize(None)
        if when.isna().any():  # such as a 13th month, or an hour after 23
            if pattern is _HOUR:
                # spans of time that can exceed a day, such as 30:15
                end = "" if all(text.count(":") == 2 for text in found) else ":00"
                if pd.to_timedelta(pd.Series(found) + end, errors="coerce").isna().any():
                    return None
                code = "{0}.astype('string')" + (f" + {end!r}" if end else "")
                code = f"pd.to_timedelta({code}).dt.total_seconds()"
                return WrittenNumbers(code, tuple(found), tuple(others))
            continue
        options = f", dayfirst={is_day_first})" if pattern is _YEAR_LAST else ")"
        if any((match := _YEAR_FIRST.fullmatch(text.strip())) and match["zone"] for text in found):
            options = f", utc=True){_WITHOUT_ZONE}"
        code = f"pd.to_datetime({{0}}, format='mixed'{options}"
        return WrittenDates(tuple(found), tuple(others), when, code, pattern is _HOUR)
    return _find_period_format(texts)


def _find_period_format(texts: Sequence[str]) -> WrittenDates | None:
    """Return how months, quarters, weeks, or days without separators, are written as text."""
    for pattern, replacement, form in _PERIODS:
        found, others = split_by_match(texts, pattern.fullmatch)
        # Weeks can be written like months. Among 20 weeks, one is probably above 12.
        if not are_nearly_all(found, others) or (
            form[:2] == "%G" and "[-" not in pattern.pattern and len(found) < 20
        ):
            continue
        dates = [pattern.sub(replacement, text.strip()) for text in found]
        code = "{0}.astype('string').str.strip()" + replacement_code(pattern.pattern, replacement)
        if form == "quarter":
            when = pd.Series([pd.Period(date).to_timestamp() for date in dates])
            read = f"{code}.map(lambda q: pd.Period(q).to_timestamp(), na_action='ignore')"
            code = f"pd.to_datetime({read})"
        else:
            when = pd.to_datetime(pd.Series(dates), format=form, errors="coerce")
            code = f"pd.to_datetime({code}, format={form!r})"
        if when.isna().any() or not when.dt.year.between(1800, 2199).all():
            continue
        if "%y" in form and (is_future := when > pd.Timestamp.now()).any():
            code += "\nwhen = when.mask(when > pd.Timestamp.now(), when - pd.DateOffset(years=100))"
            when = when.mask(is_future, when - pd.DateOffset(years=100))
        return WrittenDates(tuple(found), tuple(others), when, code)
    return None


def how_to_split_dates(name: Hashable, values: Any, argument: str, *, is_whole: bool) -> str:
    """Return code that makes features of a column of dates, and of type integer if ``is_whole``."""
    column = f"{argument}[{name!r}]"
    # A list, because categories of dates are dates only one by one.
    dates: pd.Series[Any] = pd.Series(list(values)).dropna()
    if isinstance(dates.dtype, pd.PeriodDtype):
        code = f"{column}.astype('{dates.dtype}').dt.to_timestamp()"
        when = dates.dt.to_timestamp()
    else:
        code, when = f"pd.to_datetime({column})", pd.to_datetime(dates)
    if when.dt.tz is not None:
        code = f"pd.to_datetime({column}, utc=True){_WITHOUT_ZONE}"
        when = pd.to_datetime(dates, utc=True).dt.tz_localize(None)
    return _how_to_split_parsed_dates(name, when, code, argument, is_whole=is_whole)


def _how_to_split_parsed_dates(
    name: Hashable,
    when: pd.Series[Any],
    code: str,
    argument: str,
    encoders: str = "DatetimeEncoder",
    *,
    is_whole: bool = False,
) -> str:
    """Return two lines of pandas that make features of dates, of the parts that differ."""
    whole = ".astype('Int64')" if is_whole else ""
    parts = {"month": "month", "weekday": "day_of_week", "hour": "hour"}
    if (when.dt.day == 1).all():
        del parts["weekday"]  # months
    varying = {part: of for part, of in parts.items() if len(getattr(when.dt, of).unique()) > 1}
    made = {part: f"when.dt.{of}{whole}" for part, of in varying.items()}
    made = {"days": f"(when - pd.Timestamp('{when.min().date()}')).dt.days{whole}"} | made
    named = ", ".join(f"{name}_{part}={text}" for part, text in made.items())
    if not f"{name}_".isidentifier():
        pairs = [f"{f'{name}_{part}'!r}: {text}" for part, text in made.items()]
        named = f"**{{{', '.join(pairs)}}}"
    return (
        f"Make features of them, with\nwhen = {code}\n"
        f"{argument} = {argument}.drop(columns=[{name!r}]).assign({named})\n"
        f"or, in a pipeline of scikit-learn, with {encoders} of skrub"
    )


_MINUTES = "{0}.map(lambda t: 60 * t.hour + t.minute, na_action='ignore').astype('Int64')"
_SECONDS = "pd.to_timedelta({0}).dt.total_seconds()"
_DECODED = "{0}.map(bytes.decode, na_action='ignore')"  # .str is not available for bytes of Arrow
_AS_FLOATS = "{0}.map(float, na_action='ignore')"
_AS_INTEGERS = "{0}.map(int, na_action='ignore').astype('Int64')"


_CODE = {
    "time": (_MINUTES, "{0}.map(lambda t: t.hour, na_action='ignore').astype('Int64')"),
    **dict.fromkeys(
        ["timedelta64", "timedelta"], (_SECONDS, f"pd.cut({_SECONDS}, 5).astype('string')")
    ),
    "bytes": (f"pd.to_numeric({_DECODED})", _DECODED),
    "categorical": ("{0}.astype(float)", ""),
    "boolean": (_AS_FLOATS, ""),
}
"""Code that converts a column, {0}, of another type to numbers, and to categories."""


def how_to_convert_column(
    kind: str, expected: int, name: Hashable, array: ArrayLike, argument: str = "dataset"
) -> str:
    """Return a sentence on how to convert a column of another type to numbers, or to categories.

    If it can be either, times and spans become numbers, and all others
    categories.
    """
    column = f"{argument}[{name!r}]"
    known = [decimal_as_number(value) for value in array[pd.notna(array)]]
    labels = [value for value in known if isinstance(value, str | Real)]
    texts = list(dict.fromkeys(map(str, labels)))
    written = find_number_format(texts)
    if expected == NUMERIC and kind in ("categorical", "interval") and written is None:
        return "Pass the numbers, not their intervals."
    if any(isinstance(label, str) for label in labels) and (
        expected == NUMERIC or (written is not None and len(texts) > MOST_CODES)
    ):
        if written is not None:
            return f"Convert it, with {written.conversion_code(name, argument)}."
        lost = [text for text in texts if not _A_NUMBER.fullmatch(text)]
        loss = f", which makes {listed(lost, most=8)} missing" if lost else ""
        return f"Convert it, with {column} = pd.to_numeric({column}, errors='coerce'){loss}."
    if kind in DATES:
        is_whole = expected == CATEGORICAL and len(known) < len(array)
        return f"{how_to_split_dates(name, array, argument, is_whole=is_whole)}."
    others: tuple[str, str] = "", "{0}.map(str, na_action='ignore')"
    if all(isinstance(value, Real) for value in known):  # such as fractions, or flags and numbers
        others = (_AS_FLOATS if any(value % 1 for value in known) else _AS_INTEGERS,) * 2
    if expected == EITHER:
        expected = NUMERIC if kind in TIMES else CATEGORICAL
    code = _CODE.get(kind, others)[expected].format(column)
    if not code:
        return "Convert them to numbers."
    is_part = kind == "time" and expected == CATEGORICAL
    part = "Extract a part that repeats, for example" if is_part else "Convert them,"
    return f"{part} with {column} = {code}."


CONVERSIONS.append(how_to_convert_column)
