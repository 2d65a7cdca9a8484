"""Text made comparable: case, accents, digits of every script, contractions, words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from elical_core.consistency.clean import clean

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t", "’": "'"}
    | {"‘": "'", "ʼ": "'", "`": "'", "ʻ": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "ـ": "", "ک": "ك", "ی": "ي"}
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "ñ": "ny"})
_MARKS = re.compile(r"[\u0300-\u036f\u064b-\u0652\u0670]")
_SOFT_LEAD_IN = re.compile(
    r"^(?:(?:well|so|okay|ok|hmm|i (?:think|believe|guess|would say)(?: that)?|perhaps|maybe|probably|of course)[, ]+)?"
    r"(?:(?:it|that|this|there|he|she|they|these|those)(?:'s|'re| (?:is|was|are|were|would be|has been|had been))"
    r"(?: (?:called|named|known as|probably|likely))? )",
)
_CONTRACTIONS = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<=\w)'s\b"), ""),  # possessive or "is"; neither carries the answer
    (re.compile(r"\bo'clock\b"), ""),
)


@lru_cache(maxsize=200_000)
def fold(text: str, *, umlauts: bool = False) -> str:
    """Case-folded, accents off, ASCII digits, straight apostrophes. Marks that are vowels in their script stay.

    ``umlauts``: ö becomes oe (the other usual spelling) instead of o.
    """
    text = text.casefold()
    if text.isascii():
        return text
    if umlauts:
        text = unicodedata.normalize("NFC", text).translate(_UMLAUTS)
    text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    text = unicodedata.normalize("NFC", text).translate(_LETTERS)
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in text)


@lru_cache(maxsize=200_000)
def comparable(text: str) -> str:
    """What two answers are compared by first: clean, folded, without soft lead-ins ("It's Paris" -> "paris").

    Empty when nothing is left; idempotent.
    """
    folded = fold(clean(text))
    while (shorter := clean(_SOFT_LEAD_IN.sub("", folded))) != folded and shorter:
        folded = fold(shorter)
    return folded


def expand_contractions(folded: str) -> str:
    """ "isn't" -> "is not"; possessive endings go."""
    if "'" not in folded and "cannot" not in folded:
        return folded
    for pattern, replacement in _CONTRACTIONS:
        folded = pattern.sub(replacement, folded)
    return folded


def scripts(text: str) -> frozenset[str]:
    """Scripts of the letters, by the first word of their Unicode names ("LATIN", "CJK"); empty without letters."""
    if text.isascii():
        return frozenset({"LATIN"}) if any(c.isalpha() for c in text) else frozenset()
    return frozenset(unicodedata.name(c, "UNKNOWN").split()[0] for c in text if c.isalpha())


def near_spelling(a: str, b: str) -> bool:
    """Whether one letter was added, dropped, changed or swapped with its neighbour. Words of five letters and more."""
    if a == b or min(len(a), len(b)) < 5 or abs(len(a) - len(b)) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) == len(b):
        swapped = a[start : start + 2] == b[start : start + 2][::-1]
        return a[start + 1 :] == b[start + 1 :] or (swapped and a[start + 2 :] == b[start + 2 :])
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[start + 1 :] == shorter[start:]
