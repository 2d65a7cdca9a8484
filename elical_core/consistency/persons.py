"""Names of persons, compared part by part."""

from __future__ import annotations

from enum import Enum

from elical_core.consistency.pair import Reading, once_per_reading
from elical_core.consistency.text import near_spelling
from elical_core.consistency.vocabulary import NAME_PARTICLES, NICKNAMES, PERSON_TITLES, STOPWORDS

_FORMS: dict[str, frozenset[str]] = {}
for _group in NICKNAMES:
    for _name in _group:
        _FORMS[_name] = _FORMS.get(_name, frozenset()) | _group


class Names(Enum):
    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@once_per_reading
def person_names(reading: Reading) -> tuple[str, ...]:
    """The parts of the one personal name that an answer is, titles left out; () when it is anything else.

    A description after a comma goes ("Mikhail Gorbachev, Soviet leader"), also one before the name without capitals.
    """
    words = [w for w in reading.parsed.words if w not in {"is", "was", "by"} or w in reading.parsed.proper]
    if "," in reading.parsed.digitised:
        head = reading.parsed.digitised.split(",")[0]
        kept = [w for w in words if w in head.replace(".", " ").replace("-", " ").split()]
        rest = [w for w in words if w not in kept]
        if len(kept) >= 2 and any(w not in reading.parsed.proper and w not in STOPWORDS for w in rest):
            words = kept
    if "of" in words and words[words.index("of") - 1] in PERSON_TITLES:
        return ()  # "President of Iran" is an office
    words = [w for w in words if w not in PERSON_TITLES]
    if not 1 <= len(words) <= 6 or any(w in {"and", "or"} for w in words) or "/" in reading.parsed.shown:
        return ()
    cased = bool(reading.parsed.proper)
    if cased and any(w not in reading.parsed.proper and w not in NAME_PARTICLES and not w.isdigit() for w in words):
        return ()
    return tuple(w for w in words if not w.isdigit())


def compare_names(a: tuple[str, ...], b: tuple[str, ...]) -> Names:
    """SAME: the surname alone, initials for first names, middle names left out, one slip of spelling in a longer name.
    DIFFERENT: one surname, first names that cannot be the same. UNKNOWN: anything else, also a first name alone."""
    if a == b:
        return Names.SAME
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    if len(short) == 1:
        return Names.SAME if len(long) >= 2 and short[0] == long[-1] and len(short[0]) > 2 else Names.UNKNOWN
    middles = len(short) - 2, len(long) - 2
    if len(short) == len(long):
        off = [(x, y) for x, y in zip(short, long, strict=True) if x != y]
        if len(off) == 1 and near_spelling(*off[0]):
            return Names.SAME
    if short[-1] == long[-1]:
        if (_fits(short[0], long[0]) or are_nicknames(short[0], long[0])) and _in_order(short[1:-1], long[1:-1]):
            return Names.UNKNOWN if 0 < middles[0] < middles[1] else Names.SAME  # "George W. Bush", "George H. W. Bush"
        first_names = short[0] not in long and long[0] not in short and not _close(short[0], long[0])
        return Names.DIFFERENT if first_names and not _in_order(short[:-1], long[:-1]) else Names.UNKNOWN
    if short == long[: len(short)]:  # "Katherine Mansfield Beauchamp": married and double names
        return Names.SAME
    return Names.UNKNOWN


def _fits(x: str, y: str) -> bool:
    """Equal, or one is the initial of the other."""
    return x == y or (min(len(x), len(y)) == 1 and x[0] == y[0])


def _close(x: str, y: str) -> bool:
    """May be forms of one first name ("Bill", "William"; "Sándor", "Sandor")."""
    return are_nicknames(x, y) or _fits(x, y) or near_spelling(x, y) or x[:3] == y[:3]


def are_nicknames(x: str, y: str) -> bool:
    """Forms of one first name ("Bill", "William")."""
    return y in _FORMS.get(x, ())


def _in_order(some: tuple[str, ...], all_parts: tuple[str, ...]) -> bool:
    """Whether ``some`` fit into ``all_parts`` in order; spelled-out names on both sides must not clash."""
    rest = iter(all_parts)
    return all(any(_fits(x, y) for y in rest) for x in some)
