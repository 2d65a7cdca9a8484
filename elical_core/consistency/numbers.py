"""Numbers in answers: digits, words, signs, separators, powers, fractions, units. Exact arithmetic throughout."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from elical_core.consistency.units import CURRENCIES, UNIT_AFTER, UNITS


def _listed(words: str) -> list[str]:
    return words.split()


_UNITS_WORDS = _listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_WORDS = _listed("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL = {word: value for value, word in enumerate(_UNITS_WORDS)} | {
    word: 10 * value for value, word in enumerate(_TENS_WORDS, 2)
}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12} | {
    (word[:-1] + "ieth" if word.endswith("y") else word + "th"): value for word, value in _SMALL.items() if value > 3
}
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}
_SCALE_ORDINALS = {f"{word}th": value for word, value in _SCALES.items() if value != 12}
_SIMPLE = "|".join(sorted([*_SMALL, *_ORDINALS, *_SCALE_ORDINALS], key=len, reverse=True))
_SCALE = "|".join(f"{word}s?" for word in _SCALES)
_NUMBER_WORD = re.compile(  # a scale begins one only after "a": "1.5 million" and "Million Dollar Baby" stay
    rf"\b(?:an? (?:{_SCALE})|{_SIMPLE})\b(?:(?:[ -]+(?:and +)?|-)(?:{_SIMPLE}|{_SCALE})\b)*"
    rf"(?: +point(?: +(?:{'|'.join(_UNITS_WORDS)})\b)+)?"
)
# "one of them", "no one" and "the one" are not numbers.
_PRONOUN_ONE = re.compile(r"\b(?:no|any|every|some|each|the|this|that|which)[ -]one\b|\bone (?=of\b|another\b|day\b)")

_VALUE = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+"
    r"|\d{1,3}(?:[ '’]\d{3})+(?![\d,])"
    r"|\d+\.\d+(?![.\d])|\d+,\d{1,2}(?![\d,])|\d+|\.\d+)"
)
NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>(?:(?<![\w)])[-+]|\b(?:minus|negative) )?)(?P<currency>(?:us)?\$|[€£¥₹₩₽])?[ ]?"
    rf"(?P<value>{_VALUE})"
    r"(?:(?P<over>/\d{1,3})(?![\d/])|[ ](?P<part>\d{1,2}/\d{1,2})(?![\d/]))?"
    r"(?P<power>e[+-]?\d{1,3}(?!\w)|[ ]?[x×*·][ ]?10[ ]?\^[ ]?[+-]?\d{1,3}|\^[+-]?\d{1,3})?"
    r"(?P<ordinal>st|nd|rd|th)?(?![\d])"
)
_CLOCK = re.compile(
    r"(?<![\d.:])(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap]\.?m)\b\.?", re.IGNORECASE
)
_SCALE_AFTER = re.compile(r"[ -]?(hundred|thousand|million|billion|trillion|dozen)s?\b|(k|mn|mio|bn|tn|m|b)\b(?![/²^])")

_ROMAN = re.compile(r"^(?=[IVXLC]{2,}$|[IV]$)(?:X{0,3})(?:IX|IV|V?I{0,3})$")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}


@dataclass(frozen=True)
class Quantity:
    """``value`` in the unit's base; ``unit`` is its dimension ("" = a bare number); ``converted``: the unit was not the
    base, so a rounded conversion may stand behind it. ``start``, ``end``: where it stands in the digitised text."""

    value: Fraction
    unit: str
    factor: Fraction
    start: int
    end: int
    bare_end: int

    def agrees(self, other: Quantity) -> bool | None:
        """Same amount; None when it cannot be told (a share against a bare number, rounded decimals)."""
        if self.unit != other.unit and self.unit and other.unit:
            return False
        if self.unit == other.unit and self.factor != other.factor:  # 5 miles, 8 km: conversions are rounded
            larger = max(abs(self.value), abs(other.value))
            return abs(self.value - other.value) <= larger / 100
        mine, theirs = self.value, other.value
        if self.unit != other.unit:  # one of them is bare: as written, or a share against its decimal
            if "share" in {self.unit, other.unit} and mine == theirs:
                return True
            mine, theirs = mine / self.factor, theirs / other.factor
        if mine == theirs:
            return True
        return None if _rounded(mine, theirs) else False


def digitise(folded: str) -> str:
    """Number words as digits ("twenty-five" -> "25", "twenty-first" -> "21st"); the rest stays."""
    if not _NUMBER_WORD.search(folded):
        return folded
    keep = _PRONOUN_ONE.sub(lambda found: found[0].replace("one", "\x00"), folded)
    return _NUMBER_WORD.sub(_digits_of, keep).replace("\x00", "one")


def clock_times(folded: str) -> str:
    """Twelve-hour times in 24 hours ("10 pm" -> "22:00"); the rest stays."""
    return _CLOCK.sub(_in_24_hours, folded)


def _in_24_hours(match: re.Match[str]) -> str:
    hour = int(match["hour"]) % 12 + (12 if match["half"].startswith("p") else 0)
    return f"{hour}:{match['minute'] or '00'}"


def quantities(digitised: str) -> list[Quantity]:
    """Every number of a digitised text, in order. Digits inside a word ("G650") are no number."""
    found = []
    position = 0
    while match := NUMBER.search(digitised, position):
        position = match.end()
        value = _value_of(match)
        end = bare_end = match.end()
        if scale := _SCALE_AFTER.match(digitised, end):
            value *= (_SCALES | _SHORT_SCALES)[scale[1] or scale[2]]
            end = bare_end = scale.end()
        unit, factor = "", Fraction(1)
        if match["currency"]:
            unit = CURRENCIES[match["currency"]]
        elif not match["ordinal"] and (after := UNIT_AFTER.match(digitised, end)) and after[0] != "s":
            unit, factor = UNITS[after["unit"]]
            end = after.end()
        if end < len(digitised) and digitised[end].isalnum() and digitised[end - 1].isalnum():
            continue  # "9k720", "4matic", "1970s": a word, or a decade
        found.append(Quantity(value * factor, unit, factor, match.start(), end, bare_end))
        position = end
    return found


def roman(word: str) -> int | None:
    """Value of a Roman numeral in capitals, up to 39; of single letters only I and V count."""
    if not _ROMAN.match(word):
        return None
    values = [_ROMAN_VALUES[c] for c in word]
    return sum(-v if v < following else v for v, following in zip(values, [*values[1:], 0], strict=True))


def _value_of(match: re.Match[str]) -> Fraction:
    text = match["value"]
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+", text):
        text = text.replace(".", "").replace(",", ".")  # 1.234.567,8
    elif re.fullmatch(r"\d+,\d{1,2}", text):
        text = text.replace(",", ".")  # 3,14
    value = Fraction(re.sub(r"[, '’]", "", text))
    if match["over"] and (under := int(match["over"][1:])):
        value /= under
    if match["part"] and not match["part"].endswith("/0"):
        value += Fraction(match["part"])
    if power := match["power"]:
        exponent = int(re.sub(r"^.*(?:\^|e)[ ]?", "", power))
        if not power.startswith("^"):
            value *= Fraction(10) ** exponent
        elif value and abs(exponent) <= 99:
            value **= exponent
    return -value if match["sign"] and match["sign"] != "+" else value


def _rounded(a: Fraction, b: Fraction) -> bool:
    """One is the other at fewer decimals (3.14 and 3.14159, 0.333 and 1/3); three figures at least, one behind the
    point."""
    for short, exact in ((a, b), (b, a)):
        decimals = next((d for d in range(1, 12) if (short * 10**d).denominator == 1), None)
        if short.denominator > 1 and decimals and abs(short) * 10**decimals >= 100 and round(exact, decimals) == short:
            return True
    return False


def _digits_of(match: re.Match[str]) -> str:
    """The digits of one run of number words; the run itself when it is no number ("a" alone, "second" alone is 2nd)."""
    words = [w for w in re.split(r"[ -]+", match[0]) if w not in {"and", "a", "an", ""}]
    decimals = ""
    if "point" in words:
        cut = words.index("point")
        decimals = "." + "".join(str(_SMALL[w]) for w in words[cut + 1 :])
        words = words[:cut]
    groups: list[int] = []  # finished numbers, for "nineteen forty five" and lists
    total = current = 0
    last = 10**15
    ordinal = ""
    for word in words:
        singular = word.rstrip("s") if word.rstrip("s") in _SCALES else word
        if singular in _SCALES or word in _SCALE_ORDINALS:
            scale = _SCALES.get(singular) or _SCALE_ORDINALS[word]
            ordinal = "th" if word in _SCALE_ORDINALS else ""
            current = max(current, 1) * scale
            if scale >= 1000:
                total, current = total + current, 0
            last = scale
        else:
            value = _SMALL.get(word, _ORDINALS.get(word, 0))
            ordinal = _suffix(value) if word in _ORDINALS else ""
            size = 10 if value >= 20 else 1
            if last <= size or (last == 10 and value >= 10):  # "five six", "nineteen forty": a new number begins
                groups.append(total + current)
                total = current = 0
            current += value
            last = size
    groups.append(total + current)
    if len(groups) == 2 and 10 <= groups[0] <= 99 and 10 <= groups[1] <= 99 and not decimals:
        return f"{groups[0]}{groups[1]:02d}{ordinal}"  # a year as it is spoken
    tail = f"{groups[-1]}{decimals}{ordinal}"
    return " ".join([*map(str, groups[:-1]), tail])


def _suffix(value: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10 if value not in {11, 12, 13} else 0, "th")
