"""Reads what a judging model replied. Anything but a plain verdict leaves the pair unresolved, never "same"."""

from __future__ import annotations

import re

from elical_core.consistency.clean import clean
from elical_core.domain import Relation

_VERDICTS = {
    "same": Relation.SAME,
    "equivalent": Relation.SAME,
    "correct": Relation.SAME,
    "yes": Relation.SAME,
    "different": Relation.DIFFERENT,
    "not the same": Relation.DIFFERENT,
    "not equivalent": Relation.DIFFERENT,
    "incorrect": Relation.DIFFERENT,
    "not correct": Relation.DIFFERENT,
    "no": Relation.DIFFERENT,
}
_PLAIN = re.compile(rf"^(?:\{{\W*(?:verdict|answer|label)\W+)?(?P<verdict>{'|'.join(_VERDICTS)})\W*$", re.IGNORECASE)


def read_verdict(reply: str) -> Relation:
    """SAME or DIFFERENT when the cleaned reply is that word and nothing else (or ``{"verdict": "same"}``).

    Prose, "not certain", two words, an empty or cut reply: UNRESOLVED. Whole words only: "incorrect" holds "correct".
    """
    found = _PLAIN.match(clean(reply).casefold())
    return _VERDICTS[found["verdict"]] if found else Relation.UNRESOLVED
