"""Step 2, answers that choose: option letters, yes and no, "X or Y?"."""

from __future__ import annotations

import re

from elical_core.consistency.pair import Decision, Pair, Reading, different, once_per_reading, same
from elical_core.consistency.questions import Asks
from elical_core.consistency.text import near_spelling
from elical_core.consistency.vocabulary import FALSE, NEGATIONS, NO, STOPWORDS, TRUE, WRAPPERS, YES, words_of
from elical_core.domain import DecidingStep

_STEP = DecidingStep.TYPED
_LETTER = re.compile(r"^(?:(?:option|choice|letter) )?\(?(?P<letter>[a-z])\)?(?:[).:]|$)\s*(?P<rest>.*)$")
_NOT_AFTER_NO = words_of("one body idea more longer country doubt")


def options(pair: Pair) -> Decision | None:
    """Letters of a multiple-choice question; without one, single letters."""
    a, b = _letter(pair.a), _letter(pair.b)
    if a is None or b is None:
        return None
    return same(_STEP, f"both choose option {a.upper()}") if a == b else different(_STEP, "different options")


def truth(pair: Pair) -> Decision | None:
    """Yes and no, true and false, correct and incorrect."""
    a, b = truth_of(pair.a), truth_of(pair.b)
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
    if {len(a), len(b)} == {1, len(pair.asked.question.choices)}:
        return different(_STEP, "one of them names all that the question offers")
    for picks, other in ((a, pair.b), (b, pair.a)):
        other_picks = b if picks is a else a
        if len(picks) == 1 and not other_picks and other.named and not _touches_choices(other):
            return different(_STEP, "only one of them picks a thing that the question offers")
    return None


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
def truth_of(reading: Reading) -> bool | None:
    words = reading.parsed.words
    first = words[0] if words else ""
    if reading.asked.question.asks is not Asks.YES_NO and len(words) > 2:
        return None
    if first in NEGATIONS and len(words) > 1 and words[1] in TRUE | FALSE:
        return words[1] in FALSE
    if reading.asked.question.asks is not Asks.YES_NO and len(words) > 1:
        return None
    if frozenset(words) & YES and frozenset(words) & NO:
        return None  # "yes and no"
    if first in YES or first in TRUE:
        return True
    if (first in NO and not (len(words) > 1 and words[1] in _NOT_AFTER_NO)) or first in FALSE:
        return False
    return None


def _choice_words(reading: Reading) -> frozenset[str]:
    return frozenset(w for choice in reading.asked.question.choices for w in re.findall(r"\w+", choice))


def _touches_choices(reading: Reading) -> bool:
    offered = _choice_words(reading)
    return any(w in offered or any(near_spelling(w, o) for o in offered) for w in reading.residue)


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
