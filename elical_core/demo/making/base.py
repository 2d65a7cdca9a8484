"""What every family of questions yields, and how a name is folded before names are compared."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One question before it has an id.

    ``answers``: the canonical answer first, then other names of the same thing. ``subject``: facts of one kind about
    one subject (both directions of a pair) share it and stay in one split.
    """

    kind: str
    domain: str
    question: str
    answers: tuple[str, ...]
    subject: str


def fold(name: str) -> str:
    """Lower case, no accents, no punctuation but inner spaces: 'São Paulo' and 'Sao Paulo' fold alike."""
    if name.isascii() and name.isalpha():
        return name.lower()
    plain = unicodedata.normalize("NFKD", name.casefold())
    kept = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    return " ".join(kept.split())


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names in order, without empty ones and without a second spelling that folds to the same (Latin script)."""
    seen: dict[str, str] = {}
    for name in names:
        seen.setdefault(fold(name) or name, name.strip())
    return tuple(name for name in seen.values() if name)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())
