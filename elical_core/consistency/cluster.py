"""Clusters of answers that mean the same, and the Stage-1 target that follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from elical_core.config import ConsistencyConfig
from elical_core.consistency.cascade import Cascade
from elical_core.consistency.embedding import Embedder
from elical_core.consistency.pair import Aliases, AskedOf, Decision, Pair, Reading
from elical_core.consistency.parse import parse
from elical_core.consistency.questions import asks_for_any
from elical_core.consistency.target import count_and_explain
from elical_core.domain import Answer, AnswerClass, ClusterRecord, Consistency, DecidingStep, Relation

_Rows = tuple[int, int]  # numbers of two distinct texts, the smaller first


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """What one question drew from the model. ``several_valid``: many answers are right ("Name a ..."), so agreement
    says nothing; None = told from the wording."""

    question: str
    greedy: Answer
    samples: Sequence[Answer]
    aliases: Aliases = ()
    several_valid: bool | None = None


def cluster(
    question: str,
    greedy: Answer,
    samples: Sequence[Answer],
    *,
    config: ConsistencyConfig | None = None,
    embedder: Embedder | None = None,
    aliases: Aliases = (),
    several_valid: bool | None = None,
) -> Consistency:
    """Clusters of one question; see ``cluster_many``."""
    item = Sampled(question=question, greedy=greedy, samples=samples, aliases=aliases, several_valid=several_valid)
    return cluster_many([item], config=config, embedder=embedder)[0]


def cluster_many(
    items: Sequence[Sampled],
    *,
    config: ConsistencyConfig | None = None,
    embedder: Embedder | None = None,
    cascade: Cascade | None = None,
) -> list[Consistency]:
    """Clusters of many questions, row-aligned with ``items``; each model step runs once for all of them.

    Clusters are a partition of the samples and the greedy answer; the cluster of the greedy answer comes first, then
    by size. An answer joins the first cluster whose representative is the same and none of whose members is different.
    Equal texts are always together; refusals, empty and cut replies are grouped by their text only. The order of the
    samples does not matter. Without ``embedder`` step 5 is left out and more pairs stay unresolved.
    """
    config = config or ConsistencyConfig()
    cascade = cascade or Cascade.offline(embedder)
    open_items = [_Grouping.begin(item, config) for item in items]
    for grouping in open_items:
        grouping.decide_by_rule(cascade)
    waiting = [(g, rows) for g in open_items for rows in g.worth_a_model(all(s.needs_hint for s in cascade.steps))]
    for (grouping, rows), decision in zip(waiting, cascade.by_step([g.pair(r) for g, r in waiting]), strict=True):
        grouping.decisions[rows] = decision
    return [grouping.finish() for grouping in open_items]


@dataclass
class _Grouping:
    """The work on one question. ``texts`` are its distinct answers in the order in which they are placed: the greedy
    one first, then by frequency, then by text; ``decisions`` holds a decision for pairs of their numbers."""

    item: Sampled
    config: ConsistencyConfig
    key_of_sample: list[tuple[str, str]]
    key_of_greedy: tuple[str, str]
    keys: list[tuple[str, str]]
    shown: list[str]
    readings: list[Reading | None]
    decisions: dict[_Rows, Decision] = field(default_factory=dict)

    @classmethod
    def begin(cls, item: Sampled, config: ConsistencyConfig) -> _Grouping:
        asked = AskedOf.read(item.question, item.aliases, config)
        key_of_sample = [_key(answer) for answer in item.samples]
        key_of_greedy = _key(item.greedy)
        counts = Counter(key_of_sample)
        keys = sorted({*counts, key_of_greedy}, key=lambda key: (key != key_of_greedy, -counts[key], key))
        spellings: dict[tuple[str, str], Counter[str]] = {key: Counter() for key in keys}
        for answer, key in zip([*item.samples, item.greedy], [*key_of_sample, key_of_greedy], strict=True):
            spellings[key][parse(answer.text).shown or answer.text.strip()] += 1
        shown = [min(spellings[key], key=lambda text: (-spellings[key][text], text)) for key in keys]
        readings = [
            Reading(asked, parse(text)) if key[0] == AnswerClass.ANSWER else None
            for key, text in zip(keys, shown, strict=True)
        ]
        return cls(item, config, key_of_sample, key_of_greedy, keys, shown, readings)

    def pair(self, rows: _Rows) -> Pair:
        a, b = self.readings[rows[0]], self.readings[rows[1]]
        if a is None or b is None:
            raise ValueError("only answers are compared")
        return Pair(a.asked, a, b)

    def decide_by_rule(self, cascade: Cascade) -> None:
        self.hints: set[_Rows] = set()
        self.undecided: list[_Rows] = []
        rows_of_answers = [i for i, reading in enumerate(self.readings) if reading]
        for at, i in enumerate(rows_of_answers):
            for j in rows_of_answers[at + 1 :]:
                pair = self.pair((i, j))
                if decision := cascade.by_rule(pair):
                    self.decisions[i, j] = decision
                else:
                    self.undecided.append((i, j))
                    if pair.hint:
                        self.hints.add((i, j))

    def worth_a_model(self, needs_hint: bool) -> list[_Rows]:
        """Undecided pairs whose decision can change the result: those with the greedy answer, those that may turn out
        the same, and those inside a group that may come together."""
        if not needs_hint:
            return self.undecided
        group = list(range(len(self.keys)))
        for i, j in [*self.hints, *(r for r, d in self.decisions.items() if d.relation is Relation.SAME)]:
            kept, gone = sorted((group[i], group[j]))
            group = [kept if g == gone else g for g in group]
        greedy_is_answer = self.readings[0] is not None
        return [(i, j) for i, j in self.undecided if (i == 0 and greedy_is_answer) or group[i] == group[j]]

    def finish(self) -> Consistency:
        placed = self._place()
        members: list[list[int]] = [[] for _ in placed]
        cluster_of_key = {self.keys[row]: at for at, rows in enumerate(placed) for row in rows}
        for number, key in enumerate(self.key_of_sample):
            members[cluster_of_key[key]].append(number)
        records = [
            ClusterRecord(
                representative=self.shown[rows[0]],
                members=tuple(members[at]),
                holds_greedy=rows[0] == 0,
                step=self._last_step(rows),
            )
            for at, rows in enumerate(placed)
        ]
        records.sort(key=lambda record: (not record.holds_greedy, -len(record.members)))
        relations = [self._to_greedy(cluster_of_key[key], placed, key) for key in self.key_of_sample]
        several = self.item.several_valid
        return count_and_explain(
            tuple(records),
            relations,
            sample_classes=[AnswerClass(key[0]) for key in self.key_of_sample],
            greedy_class=AnswerClass(self.key_of_greedy[0]),
            several_valid=asks_for_any(self.item.question) if several is None else several,
            min_decided_share=self.config.min_decided_share,
        )

    def _place(self) -> list[list[int]]:
        """Numbers of the texts by cluster, the representative first."""
        placed: list[list[int]] = []
        for row, reading in enumerate(self.readings):
            home = next((rows for rows in placed if reading and self._fits(row, rows)), None)
            if home is None:
                placed.append([row])
            else:
                home.append(row)
        return placed

    def _fits(self, row: int, rows: list[int]) -> bool:
        if self._relation(rows[0], row) is not Relation.SAME:
            return False
        return all(self._relation(other, row) is not Relation.DIFFERENT for other in rows[1:])

    def _relation(self, i: int, j: int) -> Relation:
        decision = self.decisions.get((min(i, j), max(i, j)))
        return decision.relation if decision else Relation.UNRESOLVED

    def _last_step(self, rows: list[int]) -> DecidingStep:
        """The step that let the newest member in: EXACT for equal texts, NONE for what is not compared."""
        if len(rows) > 1:
            return self.decisions[rows[0], rows[-1]].step
        return DecidingStep.EXACT if self.readings[rows[0]] else DecidingStep.NONE

    def _to_greedy(self, at: int, placed: list[list[int]], key: tuple[str, str]) -> Relation:
        """Relation of a sample to the greedy answer: its cluster, its own decision, else that of its cluster's others
        (what means the same as a different answer is different)."""
        row = self.keys.index(key)
        if self.readings[row] is None or self.readings[0] is None:
            return Relation.UNRESOLVED
        if placed[at][0] == 0:
            return Relation.SAME
        own = self._relation(0, row)
        if own is not Relation.UNRESOLVED:
            return own if own is Relation.DIFFERENT else Relation.UNRESOLVED  # "same", but kept out by a member
        others = {self._relation(0, other) for other in placed[at]}
        return Relation.DIFFERENT if others == {Relation.DIFFERENT, Relation.UNRESOLVED} else Relation.UNRESOLVED


def _key(answer: Answer) -> tuple[str, str]:
    """Class and comparable text: answers with equal keys are one. A text that holds no answer is not one, whatever its
    class says."""
    parsed = parse(answer.text)
    if answer.answer_class is AnswerClass.ANSWER and not parsed.is_answer:
        return parsed.answer_class.value, parsed.text
    return answer.answer_class.value, parsed.text
