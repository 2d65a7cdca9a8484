"""From logits to tokens: penalty, temperature, top-k, top-p, and chance that belongs to the question alone."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from elical_core.config import SamplingConfig
from elical_core.sampling.vocabulary import LOWEST, TopTokens

SPARE = 14  # tokens beyond top-k that are looked at, so that ties at its edge are all kept


class Distribution(NamedTuple):
    """What a row may say next: ``ids`` (rows, c) and the running sum of their probabilities ``upto`` (rows, c).

    ``upto`` is float64 and ends in 1. ``greedy`` (rows,) is the most probable token before any modification and
    ``greedy_logprob`` (rows,) its log-probability (NaN where it was not asked for).
    """

    ids: torch.Tensor
    upto: torch.Tensor
    greedy: torch.Tensor
    greedy_logprob: torch.Tensor


def uniforms(seed: int, key: str, k: int, steps: int) -> NDArray[np.float64]:
    """(k, steps) numbers in [0, 1): one per sample and token, the same on every machine and in every batch.

    Counter-based (Philox) and keyed by ``seed`` and the question's ``key``; the first rows do not depend on k.
    """
    words = sha256(f"{seed}\n{key}".encode()).digest()
    source = np.random.Generator(np.random.Philox(key=int.from_bytes(words[:16], "big")))
    return source.random((k, steps))


def looked_at(config: SamplingConfig) -> int:
    """How many best tokens of the vocabulary ``distribution`` needs."""
    return config.top_k + SPARE


def distribution(top: TopTokens, seen: torch.Tensor, config: SamplingConfig) -> Distribution:
    """Penalises the ``seen`` tokens (rows, s; -1 = none), then temperature, top-k and top-p.

    A positive logit of a seen token is divided by the penalty, a negative one multiplied (Keskar et al. 2019). Top-k
    keeps every token that is at least as good as the k-th; top-p keeps the smallest set whose probability reaches p.
    Both kept sets and the order of equal tokens (by id) depend on the logits alone.
    """
    there = seen >= 0
    ids = torch.cat([top.ids, seen.clamp(min=0)], dim=1)
    raw = torch.cat([top.values, top.seen_values.masked_fill(~there, LOWEST)], dim=1)
    ids, order = ids.sort(dim=1)
    raw = raw.gather(1, order)
    best = raw.argmax(dim=1, keepdim=True)

    penalty = config.repetition_penalty
    was_seen = (torch.cat([torch.zeros_like(top.ids, dtype=torch.bool), there], dim=1)).gather(1, order)
    logits = torch.where(was_seen, torch.where(raw > 0, raw / penalty, raw * penalty), raw)
    logits, order = logits.sort(dim=1, descending=True, stable=True)
    kept = min(config.top_k + SPARE, logits.shape[1])
    logits, ids_by_value = logits[:, :kept].double(), ids.gather(1, order)[:, :kept]
    edge = logits[:, min(config.top_k, kept) - 1].unsqueeze(1)
    probability = torch.softmax((logits / config.temperature).masked_fill(logits < edge, LOWEST), dim=1)
    before = probability.cumsum(dim=1) - probability
    probability = probability.masked_fill(before >= config.top_p, 0)
    upto = probability.cumsum(dim=1)
    return Distribution(
        ids_by_value,
        upto / upto[:, -1:],
        ids.gather(1, best).squeeze(1),
        raw.gather(1, best).squeeze(1) - top.log_total,
    )


def draw(choice: Distribution, rows: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """One token per entry: the first of row ``rows[i]`` whose running probability exceeds ``uniform[i]``."""
    position = (choice.upto[rows] <= uniform.unsqueeze(1)).sum(dim=1)
    return choice.ids[rows].gather(1, position.clamp(max=choice.ids.shape[1] - 1).unsqueeze(1)).squeeze(1)
