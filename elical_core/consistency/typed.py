"""Step 2: answers of a known type. Says same and different; a "different" here is final.

Every rule takes a pair and returns None when it has nothing to say.
"""

from __future__ import annotations

import re

from elical_core.consistency.dates import Grain, PartialDate, dates_agree
from elical_core.consistency.numbers import Quantity
from elical_core.consistency.pair import Decision, Pair, Reading, Rule, different, once_per_reading, same
from elical_core.consistency.questions import Asks
from elical_core.consistency.vocabulary import (
    APPROXIMATIONS,
    FALSE,
    NEGATING_PREFIXES,
    NEGATIONS,
    NO,
    OPPOSITES,
    STOPWORDS,
    TRUE,
    VAGUE_AMOUNTS,
    WRAPPERS,
    YES,
    words_of,
)
from elical_core.domain import DecidingStep

_STEP = DecidingStep.TYPED
_LETTER = re.compile(r"^(?:(?:option|choice|letter) )?\(?(?P<letter>[a-z])\)?(?:[).:]|$)\s*(?P<rest>.*)$")
_NOT_AFTER_NO = words_of("one body idea more longer country doubt")
_OPERATOR = re.compile(r"[*/^=×÷·+<>]|(?<=[\w)]) ?- ?(?=[\w(])")


def options(pair: Pair) -> Decision | None:
    """Letters of a multiple-choice question; without one, single letters."""
    a, b = _letter(pair.a), _letter(pair.b)
    if a is None or b is None:
        return None
    return same(_STEP, f"both choose option {a.upper()}") if a == b else different(_STEP, "different options")


def truth(pair: Pair) -> Decision | None:
    """Yes and no, true and false, correct and incorrect."""
    a, b = _truth(pair.a), _truth(pair.b)
    if a is None or b is None:
        return None
    return same(_STEP, f"both say {'yes' if a else 'no'}") if a == b else different(_STEP, "yes against no")


def choices(pair: Pair) -> Decision | None:
    """ "Which came first, X or Y?": which of them each answer picks, also as "the former"."""
    if pair.asked.question.asks is not Asks.CHOICE:
        return None
    a, b = _picks(pair.a), _picks(pair.b)
    if len(a) == 1 and len(b) == 1:
        return same(_STEP, "both pick the same") if a == b else different(_STEP, "they pick different ones")
    for picks, other in ((a, pair.b), (b, pair.a)):
        other_picks = b if picks is a else a
        if len(picks) == 1 and not other_picks and (other.named and not other.residue & _choice_words(other)):
            return different(_STEP, "only one of them picks a thing that the question offers")
    return None


def times(pair: Pair) -> Decision | None:
    """Dates, at the granularity of the question ("what year": 1939 is November 1939)."""
    asks = pair.asked.question.asks
    if asks is Asks.NUMBER:
        return None
    grain, a, b = _grain(pair.a), _dates(pair.a), _dates(pair.b)
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
    rest_a, rest_b = pair.a.residue - a, pair.b.residue - b
    if rest_a == rest_b and not ("(" in pair.a.parsed.shown and "(" in pair.b.parsed.shown):
        return different(_STEP, "different numbers")
    if rest_a <= rest_b or rest_b <= rest_a:
        return different(_STEP, "different numbers") if not (rest_a and rest_b) else None
    return different(_STEP, "different numbers")


def opposites(pair: Pair) -> Decision | None:
    """Negation on one side only ("not Paris"), opposite words ("larger", "smaller"), negating prefixes."""
    a, b = pair.a.parsed, pair.b.parsed
    if a.negations % 2 != b.negations % 2:
        rest_a, rest_b = (p.bag - NEGATIONS - STOPWORDS for p in (a, b))
        if rest_a and rest_b and (rest_a <= rest_b or rest_b <= rest_a):
            return different(_STEP, "one of them is negated")
    only_a, only_b = a.bag - b.bag, b.bag - a.bag
    if len(only_a) == len(only_b) == 1:
        (x,), (y,) = only_a, only_b
        if frozenset((x, y)) in OPPOSITES or _negates(x, y) or _negates(y, x):
            return different(_STEP, f"{x} is the opposite of {y}")
    return None


def formulas(pair: Pair) -> Decision | None:
    """The same symbols with other operators (m/a, m*a)."""
    a, b = pair.a.parsed, pair.b.parsed
    if a.bag != b.bag or not (_is_formula(a.text) or _is_formula(b.text)):
        return None
    mine, theirs = (re.sub(r"[\s*×·]", "", p.text) for p in (a, b))
    if mine == theirs:
        return same(_STEP, "the same formula")
    return different(_STEP, "different formulas")


RULES: tuple[Rule, ...] = (options, truth, choices, times, amounts, formulas, opposites, number_guard)


@once_per_reading
def _letter(reading: Reading) -> str | None:
    offered = dict(reading.asked.question.options)
    found = _LETTER.match(reading.parsed.text)
    if found and (offered.get(found["letter"]) if offered else not found["rest"]):
        return found["letter"]
    text = " ".join(reading.parsed.words)
    for letter, words in offered.items():
        if text and text == " ".join(w for w in re.findall(r"\w+", words) if w not in {"the", "a", "an"}):
            return letter
    return None


@once_per_reading
def _truth(reading: Reading) -> bool | None:
    words = reading.parsed.words
    first = words[0] if words else ""
    if reading.asked.question.asks is not Asks.YES_NO and len(words) > 2:
        return None
    if first in NEGATIONS and len(words) > 1 and words[1] in TRUE | FALSE:
        return words[1] in FALSE
    if reading.asked.question.asks is not Asks.YES_NO and len(words) > 1:
        return None
    if first in YES or first in TRUE:
        return True
    if (first in NO and not (len(words) > 1 and words[1] in _NOT_AFTER_NO)) or first in FALSE:
        return False
    return None


def _choice_words(reading: Reading) -> frozenset[str]:
    return frozenset(w for choice in reading.asked.question.choices for w in re.findall(r"\w+", choice))


@once_per_reading
def _picks(reading: Reading) -> frozenset[int]:
    """Numbers of the choices that the answer names."""
    offered = [[w for w in re.findall(r"\w+", c) if w not in STOPWORDS] for c in reading.asked.question.choices]
    bag = frozenset(w for word in reading.parsed.words for w in re.findall(r"\w+", word))
    whole = frozenset(i for i, words in enumerate(offered) if words and bag.issuperset(words))
    if len(whole) == 1:
        others = frozenset(w for i, words in enumerate(offered) if i not in whole for w in words)
        return whole if not (bag & others - frozenset(offered[next(iter(whole))])) else frozenset(range(len(offered)))
    if whole:
        return whole
    rest = bag - STOPWORDS - WRAPPERS
    position = {"1": 0, "former": 0, "2": 1, "latter": 1}
    if len(rest) == 1 and next(iter(rest)) in position:
        return frozenset({position[next(iter(rest))]})
    if not rest:
        return frozenset()
    return frozenset(i for i, words in enumerate(offered) if rest.issubset(words))


@once_per_reading
def _dates(reading: Reading) -> list[PartialDate]:
    """Its dates, those of the question left out unless they are all there is."""
    grain = _grain(reading)
    spans = reading.parsed.small_years if grain is Grain.YEAR else reading.parsed.dates
    fresh = [s.date for s in spans if reading.parsed.digitised[s.start : s.end] not in reading.asked.question.folded]
    return fresh or [s.date for s in spans]


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
    return bool(reading.parsed.quantities) and not left - STOPWORDS - APPROXIMATIONS - reading.asked.words


def _negates(longer: str, shorter: str) -> bool:
    return len(shorter) >= 4 and any(longer == prefix + shorter for prefix in NEGATING_PREFIXES if prefix != "a")


def _is_formula(text: str) -> bool:
    if re.search(r"[=*×÷^]", text):
        return True
    return bool(_OPERATOR.search(text)) and all(len(w) == 1 for w in re.findall(r"[^\W\d_]+", text))
