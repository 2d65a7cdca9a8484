"""Step 3: short entities. Same words in another dress, names of persons and places."""

from __future__ import annotations

import re

from elical_core.consistency.pair import Decision, Pair, Reading, Rule, different, once_per_reading, same
from elical_core.consistency.parse import Parsed
from elical_core.consistency.persons import Names, are_nicknames, compare_names, person_names
from elical_core.consistency.questions import Asks
from elical_core.consistency.text import near_spelling
from elical_core.consistency.vocabulary import ACRONYM_SKIPS, NEGATIONS, STOPWORDS, words_of
from elical_core.domain import DecidingStep

_STEP = DecidingStep.ENTITY
_ORDER_MATTERS = words_of("to from than vs versus over beat defeats against before after minus divided")


def same_words(pair: Pair) -> Decision | None:
    """Equal after folding accents, articles, small words, spaces and hyphens."""
    a, b = pair.a.parsed, pair.b.parsed
    if a.words == b.words:
        return same(_STEP, "the same words")
    if a.negations != b.negations or a.numbers != b.numbers:
        return None
    if not a.numbers and ("".join(a.words) == "".join(b.words) or a.umlauts & b.umlauts):
        return same(_STEP, "the same letters")
    if "and" in a.bag ^ b.bag or (a.bag | b.bag) & _ORDER_MATTERS:
        return None
    if a.content == b.content and len(a.words) <= 12:
        return same(_STEP, "the same words")
    return None


def same_residue(pair: Pair) -> Decision | None:
    """Equal once the words of the question and mere wrapping are gone ("red color", "red")."""
    a, b = pair.a, pair.b
    if a.parsed.negations != b.parsed.negations or a.parsed.numbers - a.asked.words != b.parsed.numbers - b.asked.words:
        return None
    if a.residue and a.residue == b.residue and len(a.residue) <= pair.asked.config.entity_max_tokens:
        return same(_STEP, "the same words apart from those of the question")
    return None


def acronym(pair: Pair) -> Decision | None:
    """ "NBA" is "National Basketball Association": three letters or more, all initials. "A.I.S." is not "A.S.S."."""
    mine, theirs = pair.a.parsed.words, pair.b.parsed.words
    if mine != theirs and all(len(w) == 1 and w.isalpha() and w.isascii() for w in mine + theirs):
        return different(_STEP, "different initials")
    for short, long in ((pair.a, pair.b), (pair.b, pair.a)):
        letters, words = _capitals(short), _initials(long)
        if letters and len(words) >= 3:
            person = pair.asked.question.asks is Asks.PERSON
            if words == letters or (person and words.endswith(letters)):
                return same(_STEP, "one is the initials of the other")
    return None


@once_per_reading
def _capitals(reading: Reading) -> str:
    """The letters of an answer that is one acronym of three to six letters, folded; "" for any other."""
    letters = re.sub(r"[^\w]", "", re.sub(r"^(?:the|The) ", "", reading.parsed.shown))
    return letters.lower() if 3 <= len(letters) <= 6 and letters.isupper() and letters.isalpha() else ""


@once_per_reading
def _initials(reading: Reading) -> str:
    return "".join(w[0] for w in reading.parsed.words if w not in ACRONYM_SKIPS)


def persons(pair: Pair) -> Decision | None:
    """Names of persons: surname alone, initials, middle names, titles, one slip of spelling."""
    if pair.asked.question.asks is not Asks.PERSON:
        return None
    a, b = person_names(pair.a), person_names(pair.b)
    if not a or not b or pair.a.parsed.numbers != pair.b.parsed.numbers:
        return None
    if min(len(a), len(b)) == 1 and {a[-1], b[-1]} & pair.asked.words:
        return None  # the surname of a family that the question names
    verdict = compare_names(a, b)
    if verdict is Names.SAME:
        return same(_STEP, "forms of one name")
    return different(_STEP, "different first names") if verdict is Names.DIFFERENT else None


def places(pair: Pair) -> Decision | None:
    """ "Paris" is "Paris, France"; "Egypt" is not "Cairo, Egypt" unless the question asks for the country."""
    if pair.asked.question.asks is not Asks.PLACE:
        return None
    a, b = _place_parts(pair.a), _place_parts(pair.b)
    if not a or not b or (len(a) == 1) == (len(b) == 1):
        return None
    one, several = (a, b) if len(a) == 1 else (b, a)
    if one[0] <= pair.asked.words and not frozenset().union(*several) <= pair.asked.words:
        return None  # only the question's own words on one side
    if one[0] == several[0]:
        return same(_STEP, "the same place, one with its region")
    if one[0] == several[-1]:
        if re.search(r"\b(?:country|nation|state)\b", pair.asked.question.folded):
            return same(_STEP, "the same country")
        return different(_STEP, "a place is not the region around it")
    return None


RULES: tuple[Rule, ...] = (acronym, same_words, places, persons, same_residue)


def names_differ(pair: Pair) -> Decision | None:
    """Two answers that name things, and not the same ones. Runs after the models: a pen name would be missed here."""
    a, b = pair.a, pair.b
    if pair.hint or not a.parsed.scripts & b.parsed.scripts:
        return None
    if _one_word_apart(a.parsed, b.parsed):
        return different(_STEP, "one word differs, a name in both")
    if a.residue <= b.residue or b.residue <= a.residue:
        return _echo(a, b)
    only_a, only_b = a.residue - b.residue, b.residue - a.residue
    if any(_akin(x, y) for x in only_a for y in only_b) or acronym(pair):
        return None
    if not (only_a & a.named and only_b & b.named):
        return None
    return different(_STEP, "they name different things")


def conflict(pair: Pair) -> bool:
    """Whether each says something that the other does not, in words that are not forms of one word. The words of the
    question count only where an answer has no others."""
    a, b = (r.residue or r.parsed.content for r in (pair.a, pair.b))
    only_a, only_b = a - b, b - a
    return bool(only_a and only_b) and not any(_akin(x, y) for x in only_a for y in only_b)


def _echo(a: Reading, b: Reading) -> Decision | None:
    """One answer only repeats the question, the other says something."""
    if bool(a.residue) == bool(b.residue):
        return None
    echo, claim = (b, a) if a.residue else (a, b)
    if echo.parsed.content <= claim.parsed.content or not claim.named:
        return None
    return different(_STEP, "one only repeats the question")


def _one_word_apart(a: Parsed, b: Parsed) -> bool:
    """ "Mughal Empire", "British Empire": the same words but for one, which is a name on both sides."""
    if len(a.words) != len(b.words) or len(a.words) < 2:
        return False
    off = [(x, y) for x, y in zip(a.words, b.words, strict=True) if x != y]
    return len(off) == 1 and off[0][0] in a.proper and off[0][1] in b.proper and not _akin(*off[0])


def _akin(x: str, y: str) -> bool:
    """Forms of one word: a slip of spelling, a common stem ("German", "Germany"), an initial."""
    if near_spelling(x, y) or are_nicknames(x, y) or (min(len(x), len(y)) == 1 and x[0] == y[0]):
        return True
    stem = min(len(x), len(y))
    return stem >= 4 and x[: max(4, stem - 2)] == y[: max(4, stem - 2)]


@once_per_reading
def _place_parts(reading: Reading) -> list[frozenset[str]]:
    """Comma-separated parts as word sets, the question's own words and prepositions gone; [] for long answers."""
    parts = [p for p in reading.parsed.digitised.split(",") if p.strip()]
    sets = [frozenset(re.findall(r"\w+", p)) - STOPWORDS - NEGATIONS for p in parts]
    if reading.parsed.negations or len(reading.parsed.words) > 8 or len(parts) > 3 or " and " in reading.parsed.text:
        return []
    return sets if all(sets) else []
