"""What the steps of the cascade share: a pair of answers to one question, and a decision about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Self, TypeVar

from elical_core.config import ConsistencyConfig
from elical_core.consistency.parse import Parsed, parse
from elical_core.consistency.questions import Asks, Question, read_question
from elical_core.consistency.vocabulary import CORPORATE, PLACE_TYPES, QUALIFIERS, STOPWORDS, WRAPPERS
from elical_core.domain import DecidingStep, Relation

Aliases = Sequence[Sequence[str]]  # groups of answers that mean the same in this project


@dataclass(frozen=True)
class Decision:
    """``why`` is one short clause for a screen; ``step`` is NONE for an unresolved pair."""

    relation: Relation
    step: DecidingStep
    why: str

    @property
    def is_decided(self) -> bool:
        return self.relation is not Relation.UNRESOLVED


def same(step: DecidingStep, why: str) -> Decision:
    return Decision(Relation.SAME, step, why)


def different(step: DecidingStep, why: str) -> Decision:
    return Decision(Relation.DIFFERENT, step, why)


def unresolved(why: str) -> Decision:
    return Decision(Relation.UNRESOLVED, DecidingStep.NONE, why)


@dataclass(frozen=True)
class AskedOf:
    """A question with its words, shared by all pairs of its answers."""

    question: Question
    words: frozenset[str]
    aliases: tuple[frozenset[str], ...]
    config: ConsistencyConfig

    @classmethod
    def read(cls, question: str, aliases: Aliases, config: ConsistencyConfig) -> Self:
        groups = tuple(frozenset(" ".join(parse(name).words) for name in group) for group in aliases)
        return cls(read_question(question), parse(question).bag, groups, config)


@dataclass(frozen=True)
class Reading:
    """One answer in the light of its question."""

    asked: AskedOf
    parsed: Parsed

    @cached_property
    def residue(self) -> frozenset[str]:
        """Content words that the question does not hold and that are not mere wrapping; empty for an echo."""
        return frozenset(
            w for w in self.parsed.bag if w not in STOPWORDS and w not in self.asked.words and not self._is_wrapping(w)
        )

    @cached_property
    def named(self) -> frozenset[str]:
        """Words of the residue that are names or numbers: a capital inside the text, or also at its start when the
        question asks for a person or place."""
        return frozenset(w for w in self.residue if w in self.parsed.proper or any(c.isdigit() for c in w))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers that the question does not hold."""
        return self.parsed.numbers - self.asked.words

    def _is_wrapping(self, word: str) -> bool:
        if word in CORPORATE:
            return word == self.parsed.words[-1]
        if word in self.parsed.proper:
            return False
        if word in PLACE_TYPES:
            words = self.parsed.words
            at = words.index(word)
            return at + 1 < len(words) and words[at + 1] == "of"
        return word in WRAPPERS


_Result = TypeVar("_Result")


def once_per_reading(function: Callable[[Reading], _Result]) -> Callable[[Reading], _Result]:
    """Keeps a function's result with the reading: an answer takes part in many pairs."""
    slot = f"{function.__module__}.{function.__name__}"

    @wraps(function)
    def kept(reading: Reading) -> _Result:
        results: dict[str, _Result] = reading.__dict__
        if slot not in results:
            results[slot] = function(reading)
        return results[slot]

    return kept


@dataclass(frozen=True)
class Pair:
    """Two answers; every step is symmetric in them. ``similarity``: cosine, None before it is computed."""

    asked: AskedOf
    a: Reading
    b: Reading
    similarity: float | None = None

    @cached_property
    def hint(self) -> str:
        """Why the two may well be the same: one is a subset of the other, with equal numbers, negations and qualifiers.

        "" without such a hint, and for answers of more than ``config.entity_max_tokens`` words.
        """
        a, b = self.a.parsed, self.b.parsed
        small, large = (a, b) if len(a.content) <= len(b.content) else (b, a)
        if not small.content or not small.content <= large.content:
            return ""
        if max(len(a.words), len(b.words)) > self.asked.config.entity_max_tokens:
            return ""
        if a.numbers != b.numbers or a.negations != b.negations:
            return ""
        extra = large.content - small.content
        if extra & (QUALIFIERS - self.asked.words) or any(len(w) == 1 for w in extra):
            return ""
        if large.bag & {"and", "or"} != small.bag & {"and", "or"} or bool(self.a.residue) != bool(self.b.residue):
            return ""  # a list, a hedge; or one of them only repeats the question
        if "," in large.digitised and extra & large.proper and self.asked.question.asks is not Asks.PLACE:
            return ""  # "Rihanna, Madonna"
        return f"one only adds {', '.join(sorted(extra))}" if extra else "the same words in another order"

    @property
    def both_latin(self) -> bool:
        return all("LATIN" in r.parsed.scripts or r.parsed.numbers for r in (self.a, self.b))

    @property
    def texts(self) -> tuple[str, str]:
        return self.a.parsed.shown, self.b.parsed.shown


Rule = Callable[[Pair], Decision | None]
