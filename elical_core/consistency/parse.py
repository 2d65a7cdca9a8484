"""One answer, read once: words, numbers, dates, negations. All rules work on this."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from elical_core.consistency.clean import classify, clean
from elical_core.consistency.date_text import DateSpan, find_dates
from elical_core.consistency.numbers import Quantity, clock_times, digitise, quantities, roman
from elical_core.consistency.text import comparable, expand_contractions, fold, scripts
from elical_core.consistency.vocabulary import (
    ABBREVIATIONS,
    ARTICLES,
    COUNTRY_NAMES,
    NEGATIONS,
    STOPWORDS,
    WHOLE_COUNTRY_NAMES,
)
from elical_core.domain import AnswerClass

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|%|[^\s\w.,;:!?'\"()\[\]{}<>|/\\&*+=^~#@$€£-]")
_INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]\. ?){2,}(?![\w])|(?<![\w.])(?:[^\W\d_]\.){1,}[^\W\d_]\.?(?![\w.])")
_COUNTRY_CODE = re.compile(r"\b(?:U\. ?S\. ?A\.?|U\. ?S\.|USA|US|U\.S)(?![\w])(?! of\b)|(?<!\w)'?Merica\b")
_UNITED_KINGDOM = re.compile(r"\b(?:U\. ?K\.|U\.K|UK)(?!\w)")
_ROMAN_AFTER_NAME = re.compile(r"(?<=[^\W\d_] )([IVXL]+)\b(?!\.|')")
_ROMAN_FOLDED = re.compile(r"(?<=\w )(ii|iii|iv|vii|viii|ix|xii|xiii|xiv|xv|xvi|xvii|xviii|xix|xx)\b")
_AMERICA = re.compile(
    r"(?<!\bnorth )(?<!\bsouth )(?<!\blatin )(?<!\bcentral )(?<!\bof )(?<!\bnative )(?<!\bafrican )\bamericans?\b"
)
_CAPITAL_A = re.compile(r"(?<=[^\s.!?] )A\b|\bA\.")  # an initial or a name ("hepatitis A"), not the article
_COUNTRY = re.compile(r"\b(?:{})\b".format("|".join(sorted(map(re.escape, COUNTRY_NAMES), key=len, reverse=True))))


@dataclass(frozen=True)
class Parsed:
    """``text``: comparable form; ``words``: its words in order without articles, numbers as digits; ``proper``: which
    of them began with a capital letter. Everything is empty for an empty answer."""

    shown: str
    answer_class: AnswerClass
    text: str
    digitised: str
    words: tuple[str, ...]
    proper: frozenset[str]
    quantities: tuple[Quantity, ...]
    negations: int

    @cached_property
    def bag(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        """The words that carry the answer; all words when there are only stop words ("The Who")."""
        return self.bag - STOPWORDS or self.bag

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(w for w in self.words if any(c.isdigit() for c in w))

    @cached_property
    def dates(self) -> tuple[DateSpan, ...]:
        """Dates as "when" would take them: years need four digits unless an era stands beside them."""
        return tuple(find_dates(self.digitised))

    @cached_property
    def small_years(self) -> tuple[DateSpan, ...]:
        """Dates as "in what year" would take them: any number up to 2199 is a year."""
        return tuple(find_dates(self.digitised, small_years=True))

    @cached_property
    def scripts(self) -> frozenset[str]:
        return scripts(self.text)

    @cached_property
    def umlauts(self) -> frozenset[str]:
        """The text with ö as o and as oe; empty without such letters, which decide nothing then."""
        if self.shown.isascii():
            return frozenset({self.text})
        return frozenset({self.text, fold(self.shown, umlauts=True)})

    @property
    def is_answer(self) -> bool:
        return self.answer_class is AnswerClass.ANSWER


@lru_cache(maxsize=100_000)
def parse(answer: str) -> Parsed:
    """Reads an answer as it came from a model or a person."""
    shown = clean(answer)
    text = comparable(answer)
    cased = _COUNTRY_CODE.sub("United States", shown)
    cased = _UNITED_KINGDOM.sub("United Kingdom", cased)
    cased = _ROMAN_AFTER_NAME.sub(_arabic, cased)
    folded = expand_contractions(comparable(cased))
    folded = _ROMAN_FOLDED.sub(lambda m: str(roman(m[1].upper())), folded)
    folded = WHOLE_COUNTRY_NAMES.get(folded.removeprefix("the "), folded)
    folded = _AMERICA.sub("united states", _COUNTRY.sub(lambda m: COUNTRY_NAMES[m[0]], folded))
    digitised = clock_times(digitise(folded))
    found = tuple(quantities(digitised))
    words = _words(digitised, found, ARTICLES - {"a"} if _CAPITAL_A.search(shown) else ARTICLES)
    negations = sum(w in NEGATIONS for w in words)
    return Parsed(
        shown=shown,
        answer_class=classify(answer),
        text=text,
        digitised=digitised,
        words=words,
        proper=_proper(shown) & frozenset(words),
        quantities=found,
        negations=negations,
    )


def plain_number(value: object) -> str:
    """A number as a word: "5", "-5", "3.14", "1/3" (a Fraction as it prints, decimals where they end)."""
    text = str(value)
    if "/" not in text:
        return text
    over, under = map(int, text.split("/"))
    rest, twos_fives = under, 0
    while rest % 2 == 0 or rest % 5 == 0:
        rest //= 2 if rest % 2 == 0 else 5
        twos_fives += 1
    if rest != 1 or twos_fives > 40:
        return text
    shifted = over * 10**twos_fives // under
    digits = f"{abs(shifted):0{twos_fives + 1}d}"
    return ("-" if over < 0 else "") + f"{digits[:-twos_fives]}.{digits[-twos_fives:]}".rstrip("0").rstrip(".")


def _words(text: str, found: tuple[Quantity, ...] = (), articles: frozenset[str] = ARTICLES) -> tuple[str, ...]:
    """Words of a text, numbers in one spelling; articles go unless they are all there is or end it ("vitamin a")."""
    words: list[str] = []
    position = 0
    for quantity in found:
        words += _plain_words(text[position : quantity.start])
        words.append(plain_number(quantity.value / quantity.factor))
        position = quantity.bare_end
    words += _plain_words(text[position:])
    kept = tuple(w for i, w in enumerate(words) if w not in articles or i + 1 == len(words))
    return kept or tuple(words)


def _plain_words(text: str) -> list[str]:
    text = _INITIALS.sub(lambda m: " ".join(c for c in m[0] if c.isalnum()) + " ", text)
    return [ABBREVIATIONS.get(w, w) for w in _WORD.findall(text.replace(" & ", " and "))]


def _proper(shown: str) -> frozenset[str]:
    words = (fold(w).removesuffix("'s") for w in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", shown) if w[0].isupper())
    return frozenset(ABBREVIATIONS.get(w, w) for w in words)


def _arabic(match: re.Match[str]) -> str:
    value = roman(match[1])
    return match[0] if value is None else str(value)
