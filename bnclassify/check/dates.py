"""Dates and times of day, as values or written as text, and code that makes features of them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from .texts import (
    WrittenNumbers,
    are_nearly_all,
    code_without_labels,
    replacement_code,
    split_by_match,
)

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
    prefix = f"{name}_" if f"{name}_".isidentifier() else ""
    named = ", ".join(f"{prefix}{part}={text}" for part, text in made.items())
    return (
        f"Make features of them, with\nwhen = {code}\n"
        f"{argument} = {argument}.drop(columns=[{name!r}]).assign({named})\n"
        f"or, in a pipeline of scikit-learn, with {encoders} of skrub"
    )
