"""Step 2, numbers and dates."""

from __future__ import annotations

import re

from elical_core.consistency.date_text import DateSpan
from elical_core.consistency.dates import Grain, PartialDate, dates_agree
from elical_core.consistency.numbers import Quantity
from elical_core.consistency.pair import Decision, Pair, Reading, different, once_per_reading, same
from elical_core.consistency.questions import Asks
from elical_core.consistency.vocabulary import APPROXIMATIONS, NEGATIONS, STOPWORDS, VAGUE_AMOUNTS
from elical_core.domain import DecidingStep

_STEP = DecidingStep.TYPED


def times(pair: Pair) -> Decision | None:
    """Dates, at the granularity of the question ("what year": 1939 is November 1939)."""
    asks = pair.asked.question.asks
    if asks is Asks.NUMBER:
        return None
    grain, a, b = _grain(pair.a), _dates(pair.a), _dates(pair.b)
    if not a and not b:
        a, b = _all_dates(pair.a), _all_dates(pair.b)
    if not a or not b or (asks is not Asks.TIME and not (_is_only_date(pair.a) and _is_only_date(pair.b))):
        return None
    agree = dates_agree(a, b, grain)
    if agree is None:
        return None
    return same(_STEP, "the same date") if agree else different(_STEP, "different dates")


def amounts(pair: Pair) -> Decision | None:
    """Numbers with their units, when the answers are numbers or the question asks for one."""
    a, b = _amounts(pair.a), _amounts(pair.b)
    asked = pair.asked.question.asks is Asks.NUMBER
    if asked and bool(a) != bool(b):
        without = pair.b if a else pair.a
        if not without.parsed.bag & (VAGUE_AMOUNTS | NEGATIONS) and not without.parsed.quantities:
            return different(_STEP, "only one of them gives a number")
        return None
    if not a or not b or not (asked or (_is_only_number(pair.a) and _is_only_number(pair.b))):
        return None
    table = [[x.agrees(y) for y in b] for x in a]
    if len(a) == len(b) and all(table[i][i] for i in range(len(a))):
        return same(_STEP, "the same number" if len(a) == 1 else "the same numbers")
    if all(agree is False for row in table for agree in row):
        return different(_STEP, "different numbers")
    if len(a) == len(b) and any(table[i][i] is False for i in range(len(a))) and not asked:
        return different(_STEP, "different numbers")
    return None


def number_guard(pair: Pair) -> Decision | None:
    """Named things with different numbers ("Apollo 11", "Apollo 12"; "Henry VII", "Henry VIII")."""
    a, b = pair.a.numbers, pair.b.numbers
    if not a or not b or a & b:
        return None
    if all(_is_only_date(r) or _is_only_number(r) for r in (pair.a, pair.b)):
        return None  # compared as such, and not told apart
    rest_a, rest_b = pair.a.residue - a, pair.b.residue - b
    if rest_a == rest_b and not ("(" in pair.a.parsed.shown and "(" in pair.b.parsed.shown):
        return different(_STEP, "different numbers")
    if rest_a <= rest_b or rest_b <= rest_a:
        return different(_STEP, "different numbers") if not (rest_a and rest_b) else None
    return different(_STEP, "different numbers")


@once_per_reading
def _dates(reading: Reading) -> list[PartialDate]:
    """Its dates without those of the question."""
    text, asked = reading.parsed.digitised, reading.asked.question.folded
    return [s.date for s in _spans(reading) if text[s.start : s.end] not in asked]


def _all_dates(reading: Reading) -> list[PartialDate]:
    return [span.date for span in _spans(reading)]


def _spans(reading: Reading) -> tuple[DateSpan, ...]:
    return reading.parsed.small_years if _grain(reading) is Grain.YEAR else reading.parsed.dates


def _grain(reading: Reading) -> Grain:
    question = reading.asked.question
    return question.grain if question.asks is Asks.TIME else Grain.ANY


@once_per_reading
def _is_only_date(reading: Reading) -> bool:
    text = reading.parsed.digitised
    for span in reversed(reading.parsed.dates):
        text = text[: span.start] + " " + text[span.end :]
    return not frozenset(re.findall(r"\w+", text)) - STOPWORDS - APPROXIMATIONS - {"early", "late", "mid", "year"}


@once_per_reading
def _amounts(reading: Reading) -> list[Quantity]:
    """Its quantities, those of the question left out unless they are all there is."""
    text, asked = reading.parsed.digitised, reading.asked.words
    fresh = [q for q in reading.parsed.quantities if text[q.start : q.bare_end].strip() not in asked]
    return fresh or list(reading.parsed.quantities)


@once_per_reading
def _is_only_number(reading: Reading) -> bool:
    text = reading.parsed.digitised
    for quantity in reversed(reading.parsed.quantities):
        text = text[: quantity.start] + " " + text[quantity.end :]
    left = frozenset(re.findall(r"\w+", text))
    if reading.asked.question.asks is Asks.NUMBER:
        left -= reading.asked.words
    return bool(reading.parsed.quantities) and not left - STOPWORDS - APPROXIMATIONS
