"""Asking a model: one greedy answer and k random ones per question. torch is loaded only by ``TransformersSampler``."""

from typing import TYPE_CHECKING, Any

from elical_core.sampling.base import Sampler, SamplingRequest
from elical_core.sampling.scripted import ScriptedSampler

if TYPE_CHECKING:
    from elical_core.sampling.bench import bench_sampling
    from elical_core.sampling.transformers import TransformersSampler

__all__ = ["Sampler", "SamplingRequest", "ScriptedSampler", "TransformersSampler", "bench_sampling"]


def __getattr__(name: str) -> Any:
    """Loads torch only when a model is asked."""
    if name == "TransformersSampler":
        from elical_core.sampling.transformers import TransformersSampler

        return TransformersSampler
    if name == "bench_sampling":
        from elical_core.sampling.bench import bench_sampling

        return bench_sampling
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
