"""Finds dates in text.

Own patterns instead of a date library: those fill missing fields from today, and read "may" or "sat" as dates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from elical_core.consistency.dates import PartialDate

_MONTHS = {
    word: number
    for number, words in enumerate(
        (
            "january jan janvier januar enero gennaio janeiro januari",
            "february feb fevrier februar febrero febbraio fevereiro februari",
            "march mar mars marz marzo marco maart",
            "april apr avril abril aprile",
            "may mai mayo maggio maio mei",
            "june jun juin juni junio giugno junho",
            "july jul juillet juli julio luglio julho",
            "august aug aout agosto augustus",
            "september sep sept septembre septiembre settembre setembro",
            "october oct octobre oktober octubre ottobre outubro okt",
            "november nov novembre noviembre novembro",
            "december dec decembre dezember diciembre dicembre dezembro dez",
        ),
        1,
    )
    for word in words.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?:3[01]|[12]?\d|0[1-9])(?:st|nd|rd|th|er|º)?\.?"
_ERA = r"(?: ?(?P<{0}>b\.?c\.?e?\.?|a\.?d\.?|c\.?e\.?)(?![\w]))"
_NAMED_MONTH = re.compile(
    rf"(?:(?<!\d)(?P<day>{_DAY})(?: of| de| di)?[ -]+(?:the )?)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:,?[ -]+(?:the )?(?P<day2>{_DAY})(?![\d:]))?"
    rf"(?:,?[ -]+(?:of |de |del )?(?P<year>\d{{3,4}})(?!\d){_ERA.format('era')}?)?"
)
_ISO = re.compile(r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)")
_CJK = re.compile(r"(?<!\d)(?P<year>\d{3,4}) ?[年년](?: ?(?P<month>\d{1,2}) ?[月월](?: ?(?P<day>\d{1,2}) ?[日일])?)?")
_SLASHED = re.compile(r"(?<!\d)(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4})(?!\d)")
_CENTURY = re.compile(rf"(?<!\d)(?P<number>\d{{1,2}})(?:st|nd|rd|th)?[ -]centur(?:y|ies){_ERA.format('era')}?")
_DECADE = re.compile(rf"(?<!\d)(?P<year>\d{{3}}0)'?s\b{_ERA.format('era')}?")
_YEAR_ERA = re.compile(
    rf"(?<![\d.,])(?:(?P<before>a\.?d\.?|b\.?c\.?e?\.?) ?)?(?P<year>\d{{1,4}}){_ERA.format('era')}?(?![\d%])"
)
_YEAR = re.compile(
    r"(?<![\d.,$€£#/:-])(?P<year>1\d{3}|20\d{2}|21\d{2})"
    r"(?![\d%/:]|[.,]\d|[a-z]| ?(?:km|miles|feet|meters|metres|people)\b)"
)
_RANGE = re.compile(r"(?<![\d.,])(?P<low>\d{3,4}) ?(?:-|–|—|to|until|till|through) ?(?P<high>\d{4}|\d{2})(?!\d)")


@dataclass(frozen=True)
class DateSpan:
    """A date and where it stands in the text."""

    date: PartialDate
    start: int
    end: int


def find_dates(digitised: str, *, bare_years: bool = True, small_years: bool = False) -> list[DateSpan]:
    """Dates of a folded, digitised text in order, not overlapping.

    ``bare_years``: take 1000..2199 standing alone as years. ``small_years``: take any number up to 2199 (the question
    asked for a year). A word that is a month only by chance ("may", "mars") counts when a number stands beside it.
    """
    found: list[DateSpan] = []

    def add(match: re.Match[str], date: PartialDate | None) -> None:
        if date and all(match.end() <= span.start or match.start() >= span.end for span in found):
            found.append(DateSpan(date, match.start(), match.end()))

    if not any(c.isdigit() for c in digitised) and not re.search(rf"\b(?:{_MONTH})\b", digitised):
        return []
    for m in _ISO.finditer(digitised):
        add(m, _day(int(m["year"]), int(m["month"]), int(m["day"])))
    for m in _CJK.finditer(digitised):
        add(m, _day(int(m["year"]), _number(m["month"]), _number(m["day"])))
    for m in _SLASHED.finditer(digitised):
        add(m, _slashed(int(m["first"]), int(m["second"]), int(m["year"])))
    for m in _NAMED_MONTH.finditer(digitised):
        day, year = _number(m["day"]) or _number(m["day2"]), _number(m["year"])
        if not (day or year) and _is_month_by_chance(m["month"], digitised):
            continue
        add(m, _day(_signed(year, m["era"]), _MONTHS[m["month"]], day))
    for m in _CENTURY.finditer(digitised):
        last = 100 * int(m["number"])
        add(m, PartialDate(-last, -last + 99) if _is_bc(m["era"]) else PartialDate(last - 100, last - 1))
    for m in _DECADE.finditer(digitised):
        low = int(m["year"])
        add(m, PartialDate(-low - 9, -low) if _is_bc(m["era"]) else PartialDate(low, low + 9))
    for m in _RANGE.finditer(digitised):
        low, high = int(m["low"]), int(m["high"])
        high = high if high >= 100 else low // 100 * 100 + high
        if low < high <= 2199:
            add(m, PartialDate(low, high))
    for m in _YEAR_ERA.finditer(digitised):
        if m["before"] or m["era"]:
            year = _signed(int(m["year"]), m["before"] or m["era"])
            add(m, PartialDate(year, year))
    if bare_years:
        for m in _YEAR.finditer(digitised):
            add(m, PartialDate(int(m["year"]), int(m["year"])))
    if small_years:
        for m in re.finditer(r"(?<![\d.,\w-])(?P<year>\d{1,4})(?![\d%\w]|[.,]\d)", digitised):
            add(m, PartialDate(int(m["year"]), int(m["year"])) if int(m["year"]) <= 2199 else None)
    return sorted(found, key=lambda span: span.start)


def _is_month_by_chance(word: str, text: str) -> bool:
    """A word that is more than a month, and nothing beside it says so ("in may" does)."""
    other_senses = {"may", "mai", "mars", "mar", "march", "mei", "sep", "dec", "jan", "juni"}
    return word in other_senses and text.strip(" .") not in _MONTHS and not re.search(rf"\bin {word}\b", text)


def _day(year: int | None, month: int | None, day: int | None) -> PartialDate | None:
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and not 1 <= day <= 31:
        return None
    return PartialDate(year, year, month, day)


def _slashed(first: int, second: int, year: int) -> PartialDate | None:
    if first > 12:
        return _day(year, second, first)
    if second > 12:
        return _day(year, first, second)
    return PartialDate(year, year, min(first, second), max(first, second), swapped=first != second)


def _number(text: str | None) -> int | None:
    digits = re.sub(r"\D", "", text or "")
    return int(digits) if digits else None


def _is_bc(era: str | None) -> bool:
    return bool(era) and str(era).startswith("b")


def _signed(year: int | None, era: str | None) -> int | None:
    return -year if year is not None and _is_bc(era) else year
