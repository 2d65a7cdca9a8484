"""Answers against reference answers: the cheapest label there is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from elical_core.config import ConsistencyConfig
from elical_core.consistency.cascade import Cascade
from elical_core.consistency.embedding import Embedder
from elical_core.consistency.pair import Aliases, AskedOf, Decision, Pair, Reading, different, same, unresolved
from elical_core.consistency.parse import Parsed, parse
from elical_core.consistency.vocabulary import NAME_PARTICLES, STOPWORDS
from elical_core.domain import AnswerClass, DecidingStep, Relation

_NO_ANSWER = {AnswerClass.REFUSAL: "a refusal", AnswerClass.EMPTY: "empty", AnswerClass.TRUNCATED: "cut off"}
_HEDGE = re.compile(r"\b(?:or|either|maybe|possibly|neither|nor|rather than|instead of|except)\b")
_UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"}
_UNSPACED_NEGATION = re.compile("不|没|沒|無|无|非|ない|ません|ไม่")


def judge(
    question: str,
    answers: Sequence[str],
    references: Sequence[str],
    *,
    embedder: Embedder | None = None,
    config: ConsistencyConfig | None = None,
    aliases: Aliases = (),
) -> list[Decision]:
    """One decision per answer: SAME when it matches any reference, DIFFERENT when it differs from all, else UNRESOLVED.

    References that normalise to nothing are passed over (``reference_problem`` refuses them at import); with none left
    everything is unresolved. A refusal or an empty answer is different: it gives no answer. Without ``embedder`` steps
    0 to 3 decide.
    """
    asked = AskedOf.read(question, aliases, config or ConsistencyConfig())
    usable = [Reading(asked, _as_answer(parse(r))) for r in dict.fromkeys(references) if not reference_problem(r)]
    given = [Reading(asked, parse(answer)) for answer in answers]
    if not usable:
        return [unresolved("there is no reference answer")] * len(given)
    cascade = Cascade.offline(embedder)
    verdicts: list[list[Decision]] = [[] for _ in given]
    waiting: list[tuple[int, Pair]] = []
    for row, reading in enumerate(given):
        if not reading.parsed.is_answer:
            why = f"the reply is {_NO_ANSWER[reading.parsed.answer_class]}"
            verdicts[row] = [different(DecidingStep.EXACT, why)]
            continue
        for reference in usable:
            pair = Pair(asked, reading, reference)
            if decision := _by_rule(pair, cascade):
                verdicts[row].append(decision)
            else:
                waiting.append((row, pair))
    settled = {row for row, found in enumerate(verdicts) if any(d.relation is Relation.SAME for d in found)}
    waiting = [(row, pair) for row, pair in waiting if row not in settled]
    for (row, _), decision in zip(waiting, cascade.by_step([pair for _, pair in waiting]), strict=True):
        verdicts[row].append(decision)
    return [_best(found) for found in verdicts]


def _by_rule(pair: Pair, cascade: Cascade) -> Decision | None:
    """The rules, but an answer that states the reference and more ("Rio de Janeiro, Brazil" for "Brazil") is not
    different for it, as it would be from another answer."""
    decision = cascade.by_rule(pair)
    if decision and decision.relation is Relation.SAME:
        return decision
    stated = contained(pair.a, pair.b) if pair.a.parsed.negations == pair.b.parsed.negations else None
    return stated or decision


def contained(answer: Reading, reference: Reading) -> Decision | None:
    """Whether the answer states the reference among other words ("It was signed in 1648", 1648).

    Unresolved when it also offers something else of the same kind: a hedge ("1648 or 1649"), a list of names, a
    negation. None when it does not hold the reference as whole words in order.
    """
    mine, wanted = answer.parsed, reference.parsed
    if len(wanted.words) == 1 and len(wanted.text) == 1 and wanted.text.isalpha():
        return None  # an option letter is not looked for inside a sentence
    rest = _without(mine, wanted)
    if rest is None:
        return None
    if mine.negations != wanted.negations:
        return unresolved("the answer holds the reference, but also a negation")
    if _HEDGE.search(mine.text) and not _HEDGE.search(wanted.text):
        return unresolved("the answer holds the reference, and an alternative")
    fresh = [w for w in rest if w not in answer.asked.words and w not in STOPWORDS]
    if wanted.numbers and any(w[0].isdigit() for w in fresh):
        return unresolved("the answer holds the reference, and another number")
    if not wanted.numbers and _lists_more(mine, wanted):
        return unresolved("the answer holds the reference, and another name")
    return same(DecidingStep.ENTITY, "the answer states the reference")


def reference_problem(text: str) -> str:
    """Why a text cannot serve as a reference answer; "" when it can. The option letter "A" and "The Who" can."""
    parsed = parse(text)
    if not text.strip():
        return "the reference answer is empty"
    if not parsed.words:
        shown = text.strip() if len(text.strip()) <= 40 else text.strip()[:40] + "..."
        return f"nothing is left of the reference answer {shown!r} once it is cleaned; give a word or a number"
    return ""


def _as_answer(parsed: Parsed) -> Parsed:
    """A reference is an answer by definition, even "unknown"."""
    return parsed if parsed.is_answer else replace(parsed, answer_class=AnswerClass.ANSWER)


def _without(mine: Parsed, wanted: Parsed) -> tuple[str, ...] | None:
    """The answer's words without the reference's, which must stand there together; None when they do not."""
    n = len(wanted.words)
    if 0 < n < len(mine.words):
        for start in range(len(mine.words) - n + 1):
            if mine.words[start : start + n] == wanted.words:
                return mine.words[:start] + mine.words[start + n :]
    if wanted.scripts & _UNSPACED and len(wanted.text) >= 2 and wanted.text in mine.text:
        rest = mine.text.replace(wanted.text, " ")
        return None if _UNSPACED_NEGATION.search(rest) else tuple(rest.split())
    return None


def _lists_more(mine: Parsed, wanted: Parsed) -> bool:
    """Whether the reference is one item of a list of names ("Rihanna and Lady Gaga")."""
    target = r"\W+".join(map(re.escape, wanted.words))
    beside = re.search(rf"(\w+),? (?:and|&) (?:the )?{target}\b|\b{target},? (?:and|&) (?:the )?(\w+)", mine.digitised)
    if beside is None:
        return False
    word = beside[1] or beside[2]
    return word in mine.proper or word in NAME_PARTICLES


def _best(found: Sequence[Decision]) -> Decision:
    """SAME before UNRESOLVED before DIFFERENT; the earliest of its kind."""
    order = (Relation.SAME, Relation.UNRESOLVED, Relation.DIFFERENT)
    return min(found, key=lambda decision: order.index(decision.relation))
