"""The Stage-1 target, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from elical_core.domain import AnswerClass, ClusterRecord, Consistency, Relation

_PLURAL = {AnswerClass.REFUSAL: "refusals", AnswerClass.EMPTY: "empty", AnswerClass.TRUNCATED: "cut off"}
_SINGULAR = {AnswerClass.REFUSAL: "a refusal", AnswerClass.EMPTY: "empty", AnswerClass.TRUNCATED: "cut off"}


def count_and_explain(
    clusters: tuple[ClusterRecord, ...],
    relations: Sequence[Relation],
    *,
    sample_classes: Sequence[AnswerClass],
    greedy_class: AnswerClass,
    several_valid: bool,
    min_decided_share: float,
) -> Consistency:
    """``relations`` and ``sample_classes`` are row-aligned with the k samples.

    target = same / (same + different) when same + different >= min_decided_share * k, in [0, 1]; otherwise None with
    the first reason that applies. No samples: None.
    """
    same, different = relations.count(Relation.SAME), relations.count(Relation.DIFFERENT)
    unresolved = len(relations) - same - different
    reason = _reason(
        same + different,
        sample_classes=sample_classes,
        greedy_class=greedy_class,
        several_valid=several_valid,
        min_decided_share=min_decided_share,
    )
    return Consistency(
        clusters=clusters,
        target=None if reason else same / (same + different),
        reason=reason,
        same=same,
        different=different,
        unresolved=unresolved,
    )


def _reason(
    decided: int,
    *,
    sample_classes: Sequence[AnswerClass],
    greedy_class: AnswerClass,
    several_valid: bool,
    min_decided_share: float,
) -> str:
    """Why there is no target; "" when there is one."""
    k = len(sample_classes)
    if not k:
        return "there are no samples"
    for kind, words in _PLURAL.items():
        if all(c is kind for c in sample_classes):
            return f"all answers are {words}"
    if AnswerClass.ANSWER not in sample_classes:
        return "no sample is an answer: all are refusals, empty or cut off"
    if greedy_class is not AnswerClass.ANSWER:
        return f"the greedy reply is {_SINGULAR[greedy_class]}"
    if several_valid:
        return "many answers are right to this question, so that disagreement says nothing"
    if decided < min_decided_share * k or not decided:
        return f"only {decided} of {k} samples could be compared with the greedy answer"
    return ""
