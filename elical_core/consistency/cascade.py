"""The cascade: steps from cheap to dear, the first that decides a pair wins.

Rules look at one pair. Steps look at many pairs at once, so that a model can batch them; an NLI model, a judge or a
cache of human verdicts is one more Step in ``Cascade.steps``. A rule's "different" is final: later steps do not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from elical_core.config import ConsistencyConfig
from elical_core.consistency import entity, typed
from elical_core.consistency.choices import truth_of
from elical_core.consistency.embedding import Embedder
from elical_core.consistency.pair import Aliases, AskedOf, Decision, Pair, Reading, Rule, different, same, unresolved
from elical_core.consistency.parse import parse
from elical_core.domain import DecidingStep


class Step(Protocol):
    """Decides some of many pairs at once. ``needs_hint``: it never calls two answers the same without a hint of the
    entity rules, so pairs without one need not be shown to it."""

    @property
    def needs_hint(self) -> bool: ...

    def __call__(self, pairs: Sequence[Pair]) -> Sequence[Decision | None]:
        """Row-aligned with ``pairs``; None where it cannot tell."""
        ...


def exact(pair: Pair) -> Decision | None:
    """Step 1: equal once cleaned; what is no answer is not compared."""
    for reading in (pair.a, pair.b):
        if not reading.parsed.is_answer:
            return unresolved(f"not compared: one of them is {_NO_ANSWER[reading.parsed.answer_class.value]}")
    return same(DecidingStep.EXACT, "the same text") if pair.a.parsed.text == pair.b.parsed.text else None


def alias(pair: Pair) -> Decision | None:
    """Step 2: the project's own table of equal names."""
    if not pair.asked.aliases:
        return None
    a, b = " ".join(pair.a.parsed.words), " ".join(pair.b.parsed.words)
    if any(a in group and b in group for group in pair.asked.aliases):
        return same(DecidingStep.ALIAS, "the alias table calls them the same")
    return None


@dataclass(frozen=True)
class NamesDiffer:
    """The rules' last word, after any model that could know a pen name: two answers that name different things."""

    needs_hint: bool = True

    def __call__(self, pairs: Sequence[Pair]) -> list[Decision | None]:
        return [entity.names_differ(pair) for pair in pairs]


@dataclass(frozen=True)
class Embeddings:
    """Step 5: far apart is different; a hint and close together is the same. One call of the embedder for all pairs.

    Farther apart than ``embedding_conflict_below`` is different too when each also says something else: this decides a
    twentieth of real pairs more than the lower threshold alone, at no loss of agreement with judged pairs.
    """

    embedder: Embedder | None
    needs_hint: bool = True

    def __call__(self, pairs: Sequence[Pair]) -> list[Decision | None]:
        return [self._decide(pair) for pair in self._with_similarity(pairs)]

    def _with_similarity(self, pairs: Sequence[Pair]) -> list[Pair]:
        texts = sorted({text for pair in pairs if pair.similarity is None for text in pair.texts})
        if self.embedder is None or not texts:
            return list(pairs)
        row_of = {text: i for i, text in enumerate(texts)}
        rows = self.embedder.embed(texts)
        return [
            pair
            if pair.similarity is not None
            else replace(pair, similarity=float(rows[row_of[pair.texts[0]]] @ rows[row_of[pair.texts[1]]]))
            for pair in pairs
        ]

    @staticmethod
    def _decide(pair: Pair) -> Decision | None:
        if pair.similarity is None or not pair.both_latin:
            return None  # the packaged model reads English: other scripts and bare symbols are noise to it
        if (truth_of(pair.a) is None) != (truth_of(pair.b) is None):
            return None  # "yes" is far from every sentence that says yes
        similarity, config = round(pair.similarity, 4), pair.asked.config  # batches differ in the sixth decimal
        if pair.hint and similarity >= config.embedding_same_from:
            return same(DecidingStep.EMBEDDING, f"{pair.hint}; similarity {similarity:.2f}")
        if similarity < config.embedding_different_below:
            return different(DecidingStep.EMBEDDING, f"similarity {similarity:.2f}")
        if similarity < config.embedding_conflict_below and entity.conflict(pair):
            return different(DecidingStep.EMBEDDING, f"each says something else, similarity {similarity:.2f}")
        return None


@dataclass(frozen=True)
class Cascade:
    """Rules, then steps. ``offline`` is the default: nothing but the packaged embedding model."""

    rules: tuple[Rule, ...]
    steps: tuple[Step, ...]

    @classmethod
    def offline(cls, embedder: Embedder | None) -> Cascade:
        return cls(rules=(exact, alias, *typed.RULES, *entity.RULES), steps=(NamesDiffer(), Embeddings(embedder)))

    def by_rule(self, pair: Pair) -> Decision | None:
        """The first rule that decides the pair."""
        for rule in self.rules:
            if decision := rule(pair):
                return decision
        return None

    def by_step(self, pairs: Sequence[Pair]) -> list[Decision]:
        """Decides what the rules left over; pairs that no step decides are unresolved. Row-aligned with ``pairs``."""
        decisions: list[Decision | None] = [None] * len(pairs)
        open_rows = list(range(len(pairs)))
        for step in self.steps:
            for row, decision in zip(open_rows, step([pairs[row] for row in open_rows]), strict=True):
                decisions[row] = decision
            open_rows = [row for row in open_rows if decisions[row] is None]
        return [decision or unresolved("no step could tell") for decision in decisions]

    def decide(self, pairs: Sequence[Pair]) -> list[Decision]:
        """All steps for all pairs, row-aligned."""
        ruled = [self.by_rule(pair) for pair in pairs]
        rest = iter(self.by_step([pair for pair, decision in zip(pairs, ruled, strict=True) if decision is None]))
        return [decision or next(rest) for decision in ruled]


def compare(
    question: str,
    a: str,
    b: str,
    *,
    aliases: Aliases = (),
    config: ConsistencyConfig | None = None,
    similarity: float | None = None,
) -> Decision:
    """Whether ``a`` and ``b`` answer ``question`` in the same way; symmetric in them.

    ``similarity``: cosine of their embeddings in [-1, 1]; None leaves step 5 out. Refusals and empty texts are never
    compared: unresolved.
    """
    asked = AskedOf.read(question, aliases, config or ConsistencyConfig())
    pair = Pair(asked, Reading(asked, parse(a)), Reading(asked, parse(b)), similarity)
    return Cascade.offline(None).decide([pair])[0]


_NO_ANSWER = {"refusal": "a refusal", "empty": "empty", "truncated": "cut off"}
