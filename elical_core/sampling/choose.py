"""Takes the fast engine where it is proven, on the spot, to compute what the model computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch

from elical_core.models.load import LoadedModel
from elical_core.sampling.branching import BranchingEngine
from elical_core.sampling.engine import Branch, Engine, Room
from elical_core.sampling.plain import PlainEngine
from elical_core.sampling.vocabulary import SlicedHead

AGREEMENT = {torch.float32: 1e-3, torch.float16: 0.02}  # of the logits' standard deviation
BF16_AGREEMENT = 0.15


_tried: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # a model is tried once, however many samplers it gets


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one call may hold: chosen so that matrix products run at full rate and memory stays modest."""

    most: Room
    logit_bytes: int
    cache_bytes: int


CPU = Limits(most=Room(640, 128), logit_bytes=2**29, cache_bytes=2**31)
CUDA = Limits(most=Room(4096, 512), logit_bytes=2**32, cache_bytes=2**34)


@dataclass(frozen=True, kw_only=True)
class Engines:
    """``plain`` works for every model; ``fast`` is None, with ``why_not``, when the model's attention cannot branch.

    ``reach`` is the longest text, in tokens, that the fast engine may read (the sliding window), None = no limit.
    """

    plain: Callable[[], Engine]
    fast: Callable[[], Engine] | None
    why_not: str
    reach: int | None

    def for_length(self, tokens: int) -> Engine:
        """A fresh engine for texts of at most ``tokens``."""
        if self.fast is None or (self.reach is not None and tokens > self.reach):
            return self.plain()
        return self.fast()


def choose_engines(loaded: LoadedModel, limits: Limits | None = None) -> Engines:
    """Tries the fast engine, once per model, on a small forked text against a plain forward pass."""
    model = loaded.model
    output = model.get_output_embeddings()
    limits = limits or (CUDA if loaded.device.type == "cuda" else CPU)
    rows = limits.logit_bytes // (output.weight.shape[0] * output.weight.element_size())
    most = Room(max(64, min(rows, limits.most.branches)), limits.most.slots)

    def plain() -> Engine:
        return PlainEngine(model, most=most, cache_bytes=limits.cache_bytes)

    def fast() -> BranchingEngine:
        head = SlicedHead(output.weight, output.bias, _softcap(model))
        return BranchingEngine(model, head, most=most, cache_bytes=limits.cache_bytes)

    if model not in _tried:
        _tried[model] = _why_not(model, fast, SlicedHead(output.weight, output.bias, _softcap(model)))
    why_not = _tried[model]
    window = getattr(model.config.get_text_config(), "sliding_window", None)
    return Engines(plain=plain, fast=None if why_not else fast, why_not=why_not, reach=window)


def _why_not(model: Any, fast: Callable[[], Engine], head: SlicedHead) -> str:
    try:
        difference = disagreement(model, fast(), head)
    except (AttributeError, TypeError, ValueError, KeyError, NotImplementedError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    if difference > AGREEMENT.get(model.dtype, BF16_AGREEMENT):
        return f"logits differ by {difference:.2g} of their standard deviation"
    return ""


def disagreement(model: Any, fast: Engine, head: SlicedHead) -> float:
    """Largest difference of logits on a small forked text, fast engine against a plain forward pass, in units of the
    logits' standard deviation."""
    token = [int(x) % head.vocabulary for x in range(11, 11 + 37 * 12, 37)]
    common, rests, forks = token[:3], [token[3:5], token[5:9]], [[token[9], token[10]], [token[11]]]
    with torch.inference_mode():
        try:
            fast.start(common, 7, 4, 2)
            rows = [fast.forward([], [(0, rests[0])])]
            first = [Branch(slot=0, parent=-1, depth=1, token=fork[0]) for fork in forks]
            rows.append(fast.forward(first, [(1, rests[1])]))
            rows.append(fast.forward([Branch(slot=0, parent=0, depth=2, token=forks[0][1])], []))
            got = head.logits(torch.cat(rows)).float()
        finally:
            fast.stop()
        begun = common + rests[0]
        texts = [begun, begun + forks[0][:1], begun + forks[1], common + rests[1], begun + forks[0]]
        want = torch.stack([_last_logits(model, torch.tensor([text], device=head.device)) for text in texts]).float()
    return float(((got - want).abs().max() / want.std().clamp(min=1e-9)).item())


def _last_logits(model: Any, ids: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits
    return logits[0, -1]


def _softcap(model: Any) -> float | None:
    value = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    return None if value is None else float(value)
