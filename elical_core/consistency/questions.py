"""What a question asks for, as far as its wording tells: this sets the granularity at which answers are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from elical_core.consistency.clean import clean
from elical_core.consistency.dates import Grain
from elical_core.consistency.numbers import digitise
from elical_core.consistency.text import expand_contractions, fold


class Asks(StrEnum):
    TIME = "time"
    NUMBER = "number"
    YES_NO = "yes-no"
    OPTION = "option"
    CHOICE = "choice"  # "Which came first, X or Y?"
    PERSON = "person"
    PLACE = "place"
    OTHER = "other"


@dataclass(frozen=True)
class Question:
    """``options``: letter -> folded text, of a multiple-choice question; ``choices``: the folded things on offer."""

    text: str
    folded: str
    asks: Asks
    grain: Grain
    options: tuple[tuple[str, str], ...]
    choices: tuple[str, ...]
    several: bool  # the wording asks for more than one thing


_WHAT = r"(?:what|which)"
_BE = r"(?:is|was|are)"
_TIME = re.compile(
    r"^when\b|\bwhen (?:was|did|is|were|does|do|will|are|has|had)\b|^(?:[a-z]+ )?when's\b|\bwhat time\b|^since when"
    r"|\bwhat (?:is|was) the date\b|\bdate of (?:birth|death)\b|\bbirthday\b|\b(?:year|date)(?: \w+){0,3}$"
    r"|(?:^|[^\w])(?:what|which|whose|in what|in which|on what|on which|at what|name the|give the)"
    r"(?: [\w'-]+){0,3}? (?:years?|dates?|months?|days?|decades?|centur(?:y|ies)|birthday)\b"
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|old|tall|long|far|high|big|large|deep|fast|heavy|wide|often|hot|cold)\b"
    rf"|\bwhat {_BE} the (?:[\w-]+ ){{0,4}}(?:population|number|amount|percentage|percent|height|length"
    r"|distance|area|age"
    r"|speed|price|cost|value|weight|temperature|score|total|sum|rate|ratio|size|average|result of|boiling point"
    r"|melting point|atomic number)\b"
    rf"|\b{_WHAT} (?:number|percentage|percent|size|age)\b|\bcalculate\b|\bcompute\b|\bsolve\b|\d ?[+*×÷] ?\d"
)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|shall|may|might|must|isn't|aren't"
    r"|don't|doesn't|didn't|wasn't|weren't|true or false|yes or no)\b"
)
_PERSON = re.compile(
    rf"\b(?:who|whom|whose)\b|\b{_WHAT} (?:is|was) the name of (?:the|a) (?:person|man|woman|actor|actress"
    r"|singer|author"
    rf"|director|president|king|queen)|\b{_WHAT} (?:[\w-]+ ){{0,2}}(?:actor|actress|singer|author|director"
    r"|president|king"
    r"|queen|person|man|woman|player|writer|scientist|composer|artist|poet|emperor|musician|politician|physicist"
    r"|philosopher|monarch|rappers?|painter|prime minister)\b"
)
_PLACE = re.compile(
    rf"\bwhere\b|\b{_WHAT} (?:[\w'-]+ ){{0,2}}(?:city|town|country|countries|state|region|place|location"
    r"|continent|county"
    r"|province|village|capital|island|district|nation|municipality|borough|cities)\b|\bcapital of\b"
    r"|\bplace of (?:birth|death|burial)\b"
)
_MARK = r"\(?{}(?:\)|\.|:)\s"  # "A) ", "(A) ", "A. ", "A: "
_OPTION = re.compile(
    rf"(?:^|[\s;,(\[]){_MARK.format('([A-Ja-j])')}+(.+?)(?=(?:[\s;,(\[]{_MARK.format('[A-Ja-j]')})|$)", re.DOTALL
)
_CHOICE = re.compile(r"[,:]\s+(?:either )?(.+?),? or (?!.* or )(.+?)\s*\??$")
_CHOICE_CUE = re.compile(r"\b(?:which|who|what|whose|whom)\b")
_SEVERAL = re.compile(
    rf"\b{_WHAT} (?:\w+ ){{0,2}}(?:are|were|two|three|four|five)\b|\bwho (?:are|were|all)\b"
    r"|\b(?:list|name (?:two|three|four|five|all|some))\b"
    rf"|\b{_WHAT} \w+(?:ies|[^su]s) (?:are|were|do|did|have|border)\b"
)
_GRAIN = re.compile(r"\b(?:what|which|of the)(?: [\w'-]+){0,3}? (year|date|month|day|decade|century|birthday)\b")
# "Name a Nobel physicist": many answers are right, so that disagreement says nothing (see ``asks_for_any``).
_ANY = re.compile(
    r"^(?:please )?(?:(?:name|give|list|tell me|mention|state|suggest|write|provide|think of|cite)(?: me)? (?:us )?"
    r"(?:an?|one|any|some|two|three|four|five|\d+) (?!(?:name|answer|date|year)\b)"
    r"|(?:what|which|who) (?:is|are|was|were) (?:an|a|one|some) (?:example|instance|possible|of the)"
    r"|what(?:'s| is| are) (?:some|one of|an example)|can you (?:name|give|list)(?: me)? (?:an?|one|any"
    r"|some|two|three) )"
)


@lru_cache(maxsize=50_000)
def read_question(text: str) -> Question:
    """Reads a question of any wording; an empty one asks ``OTHER``."""
    cleaned = clean(text)
    folded = digitise(fold(cleaned))
    options = tuple((m[1].lower(), fold(clean(m[2]))) for m in _OPTION.finditer(text))
    if len(options) < 2 or [letter for letter, _ in options] != list("abcdefghij"[: len(options)]):
        options = ()
    choices = _choices(fold(cleaned))
    asks = _asks(folded, bool(options), bool(choices))
    return Question(
        text=text,
        folded=expand_contractions(folded),
        asks=asks,
        grain=_grain(folded),
        options=options,
        choices=choices,
        several=bool(_SEVERAL.search(folded)),
    )


def asks_for_any(question: str) -> bool:
    """Whether many different answers would be right ("Name a ...", "Give an example of ...").

    Samples that disagree say nothing about knowledge then, so no Stage-1 target is made of them.
    """
    return _ANY.match(fold(clean(question))) is not None


def _asks(folded: str, options: bool, choices: bool) -> Asks:
    if options:
        return Asks.OPTION
    if choices and not _TIME.match(folded):
        return Asks.CHOICE
    if _YES_NO.match(folded):
        return Asks.YES_NO
    place, person, time = _PLACE.search(folded), _PERSON.search(folded), _TIME.search(folded)
    if time and not re.match(r"(?:who|whom|whose|where|how many|how much)\b", folded):
        return Asks.TIME
    if _NUMBER.search(folded) and not re.match(r"(?:who|where)\b", folded):
        return Asks.NUMBER
    if person and (not place or person.start() <= place.start()):
        return Asks.PERSON
    return Asks.PLACE if place else Asks.OTHER


def _grain(folded: str) -> Grain:
    found = re.search(
        r"\b(?:what|which|of the)(?: [\w'-]+){0,3}? (year|date|month|day|decade|century|birthday)\b", folded
    )
    if found is None:
        found = re.search(r"\b(birthday|date of (?:birth|death))\b|\b(?<!this )(?<!next )(?<!last )(year)$", folded)
    word = next(filter(None, found.groups()), "") if found else ""
    if word == "year":
        return Grain.YEAR
    if word in {"month", "decade", "century"}:
        return {"month": Grain.MONTH, "decade": Grain.DECADE, "century": Grain.CENTURY}[word]
    return Grain.DAY if word and word != "date" else Grain.ANY


def _choices(folded: str) -> tuple[str, ...]:
    if " or " not in folded or not _CHOICE_CUE.search(folded):
        return ()
    found = _CHOICE.search(folded)
    if not found:
        return ()
    return tuple(part.strip(" '\"") for part in [*found[1].split(", "), found[2]] if part.strip(" '\""))
