"""Step 2, lists: compared as sets of items."""

from __future__ import annotations

import re

from elical_core.consistency.pair import Decision, Pair, Reading, different, once_per_reading, same
from elical_core.consistency.parse import Parsed, parse
from elical_core.consistency.questions import Asks
from elical_core.domain import DecidingStep

_STEP = DecidingStep.TYPED
_MAX_ITEM_WORDS = 5
_SPLIT = re.compile(
    r"\s*(?:,? (?:and|&|und|et|y|e|и) |;|\n|(?:^|\s)[-•*]\s|,(?!\d)|(?<=\w\w) ?/ ?(?=[^\W\d_]{2,} \w))\s*",
    re.IGNORECASE,
)
_ENDING = re.compile(r",? ?\b(?:etc|and others|and so on|among others)\.?$", re.IGNORECASE)


def lists(pair: Pair) -> Decision | None:
    """ "A and B" is "B, A"; a list is not one of its items. None when an item may be another spelling."""
    a, b = _items(pair.a), _items(pair.b)
    if len(a) < 2 and len(b) < 2:
        return None
    if a == b:
        return same(_STEP, "the same list")
    only_a, only_b = a - b, b - a
    if any(_akin(x, y) for x in only_a for y in only_b):
        return None
    if not a or not b or not (a & b):
        return None  # a list against a sentence, or nothing in common: later steps
    return different(_STEP, "the lists differ")


@once_per_reading
def _items(reading: Reading) -> frozenset[frozenset[str]]:
    """Items as word sets; one item for a plain answer; none for a sentence."""
    return _split(reading.parsed, reading.asked.question.asks, reading.asked.question.several)


def _split(parsed: Parsed, asks: Asks, several: bool) -> frozenset[frozenset[str]]:
    shown = _ENDING.sub("", parsed.shown)
    parts = [part for part in _SPLIT.split(shown) if part.strip()]
    joined = bool(re.search(r"(?:\s(?:and|&)\s|;|/)", shown, re.IGNORECASE))
    is_list = len(parts) >= 3 or (
        len(parts) == 2 and (joined or several or (asks is Asks.PERSON and _are_names(parts)))
    )
    if asks is Asks.PLACE and not joined and not several:
        is_list = False  # "Paris, Île-de-France, France"
    items = frozenset(parse(part).bag for part in parts) if is_list else frozenset({parsed.bag})
    return items if all(0 < len(item) <= _MAX_ITEM_WORDS for item in items) else frozenset()


def _are_names(parts: list[str]) -> bool:
    return all(len(words := part.split()) >= 2 and all(w[0].isupper() for w in words) for part in parts)


def _akin(x: frozenset[str], y: frozenset[str]) -> bool:
    return x <= y or y <= x
