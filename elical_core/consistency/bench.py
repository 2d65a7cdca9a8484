"""How well the cascade agrees with pairs that a person has judged, and what each step contributes."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elical_core.config import ConsistencyConfig
from elical_core.consistency.cascade import Cascade
from elical_core.consistency.cluster import Sampled, cluster_many
from elical_core.consistency.embedding import Embedder
from elical_core.consistency.pair import AskedOf, Decision, Pair, Reading
from elical_core.consistency.parse import parse
from elical_core.domain import DecidingStep, Relation
from elical_core.errors import InputError


class CountingEmbedder:
    """Counts the calls, texts and seconds of another embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.calls, self.texts, self.seconds = 0, 0, 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = time.perf_counter()
        rows = self._embedder.embed(texts)
        self.calls, self.texts = self.calls + 1, self.texts + len(texts)
        self.seconds += time.perf_counter() - start
        return rows


def read_pairs(path: Path) -> list[dict[str, Any]]:
    """Judged pairs (question, a, b, label), contestable and unsure ones left out. Raises InputError naming the line."""
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            pair = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}: not JSON ({error.msg}); one object a line is expected") from error
        if missing := [key for key in ("question", "a", "b", "label") if not isinstance(pair.get(key), str)]:
            raise InputError(
                f"{path}, line {number}: {', '.join(missing)} missing; a pair has question, a, b and label"
            )
        if pair["label"] in {Relation.SAME, Relation.DIFFERENT} and not pair.get("contestable"):
            pairs.append(pair)
    return pairs


def bench_equivalence(
    pairs_path: Path, *, embedder: Embedder | None = None, config: ConsistencyConfig | None = None
) -> dict[str, Any]:
    """Agreement with judged pairs: ``decided`` and ``agreement`` (of the decided) as shares, both None for no pairs;
    ``by_step`` the share of all pairs that each step decided and how often it agreed; ``embedded_texts_per_question``;
    ``errors`` the disagreements."""
    judged = read_pairs(pairs_path)
    counting = CountingEmbedder(embedder) if embedder else None
    decisions = decide_judged(judged, counting, config or ConsistencyConfig())
    decided = [(p, d) for p, d in zip(judged, decisions, strict=True) if d.is_decided]
    agreed = [p["label"] == d.relation for p, d in decided]
    steps = Counter(d.step for _, d in decided)
    right = Counter(d.step for (_, d), ok in zip(decided, agreed, strict=True) if ok)
    return {
        "pairs": len(judged),
        "decided": len(decided) / len(judged) if judged else None,
        "agreement": sum(agreed) / len(agreed) if agreed else None,
        "by_step": {
            step.value: {"share": steps[step] / len(judged), "agreement": right[step] / steps[step]}
            for step in DecidingStep
            if steps[step]
        },
        "same": _recall(judged, decisions, Relation.SAME),
        "different": _recall(judged, decisions, Relation.DIFFERENT),
        "embedded_texts_per_question": counting.texts / len(judged) if counting and judged else 0.0,
        "errors": [
            {key: p[key] for key in ("question", "a", "b", "label")} | {"step": d.step.value, "why": d.why}
            for (p, d), ok in zip(decided, agreed, strict=True)
            if not ok
        ],
    }


def bench_clusters(
    items: Sequence[Sampled], *, embedder: Embedder | None = None, config: ConsistencyConfig | None = None
) -> dict[str, Any]:
    """Clustering of sampled answers: seconds (``embedding_seconds`` within), clusters per question, embedded texts per
    question, shares of the samples that are same, different and unresolved against the greedy answer, and the share of
    questions with a target. The shares are None for no items."""
    counting = CountingEmbedder(embedder) if embedder else None
    start = time.perf_counter()
    results = cluster_many(items, embedder=counting, config=config)
    seconds = time.perf_counter() - start
    samples = sum(len(item.samples) for item in items)

    def share(count: float, of: int) -> float | None:
        return count / of if of else None

    return {
        "questions": len(items),
        "samples": samples,
        "seconds": seconds,
        "embedding_seconds": counting.seconds if counting else 0.0,
        "embedding_calls": counting.calls if counting else 0,
        "embedded_texts_per_question": share(counting.texts if counting else 0, len(items)),
        "clusters_per_question": share(sum(len(r.clusters) for r in results), len(items)),
        "same": share(sum(r.same for r in results), samples),
        "different": share(sum(r.different for r in results), samples),
        "unresolved": share(sum(r.unresolved for r in results), samples),
        "with_target": share(sum(r.target is not None for r in results), len(items)),
    }


def decide_judged(judged: list[dict[str, Any]], embedder: Embedder | None, config: ConsistencyConfig) -> list[Decision]:
    """The cascade's decisions, row-aligned with the judged pairs."""
    pairs = []
    for row in judged:
        asked = AskedOf.read(row["question"], (), config)
        pairs.append(Pair(asked, Reading(asked, parse(row["a"])), Reading(asked, parse(row["b"]))))
    return Cascade.offline(embedder).decide(pairs)


def _recall(judged: list[dict[str, Any]], decisions: list[Decision], label: Relation) -> dict[str, int]:
    """Of the pairs with this label: how many were decided so, otherwise, and not at all."""
    of_label = [d.relation for p, d in zip(judged, decisions, strict=True) if p["label"] == label]
    return {relation.value: of_label.count(relation) for relation in Relation}
