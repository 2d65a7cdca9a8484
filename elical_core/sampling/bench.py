"""How fast questions are answered, against the usual way, and against what the machine's matrix units could do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch

from elical_core.config import SamplingConfig
from elical_core.models import Prompt, encode
from elical_core.models.load import LoadedModel
from elical_core.models.quiet import quiet_transformers
from elical_core.sampling.answers import end_tokens
from elical_core.sampling.base import SamplingRequest
from elical_core.sampling.transformers import TransformersSampler


def bench_sampling(
    loaded: LoadedModel,
    prompt: Prompt,
    questions: Sequence[str],
    *,
    config: SamplingConfig | None = None,
    baseline_questions: int = 10,
) -> dict[str, Any]:
    """Times this sampler on ``questions`` and ``generate(num_return_sequences=k)`` on the first ``baseline_questions``.

    The sampler gives the greedy answer as well, ``generate`` only the k samples; it may stop at every token that holds
    a stop string. Both in the loaded model's dtype, with the same settings, in the same run, each after one unmeasured
    question. Keys: ``questions_per_second``, ``baseline_questions_per_second``, ``ratio``, ``tokens_per_second``
    (tokens of all answers), ``rows_per_second`` (logits really computed: equal beginnings once), ``matmul_gflops``
    (measured rate of the model's own matrix shapes at a full batch), ``matmul_share`` (2 x weights x computed rows /
    time / that rate), ``answer_share`` (the same as if every token of every answer had been computed: it may exceed 1,
    where equal beginnings save more than is lost elsewhere) and what it was measured on.
    """
    config = config or SamplingConfig()
    sampler = TransformersSampler(loaded, prompt)
    requests = [SamplingRequest(question_id=i, key=str(i), text=text) for i, text in enumerate(questions)]
    list(sampler.sample(requests[:1], config))
    sampler.head_rows = sampler.body_rows = sampler.answer_tokens = 0
    start = time.perf_counter()
    answered = sum(1 for _ in sampler.sample(requests, config))
    seconds = time.perf_counter() - start

    first = list(questions[:baseline_questions])
    ends = ending_tokens(loaded, prompt)
    usual_way(loaded, prompt, first[:1], config, ends)
    start = time.perf_counter()
    usual_way(loaded, prompt, first, config, ends)
    baseline_seconds = time.perf_counter() - start

    rate = matmul_rate(loaded, rows=512)
    every = 2.0 * sum(a * b for a, b in matrix_shapes(loaded.model))
    head = 2.0 * loaded.model.get_output_embeddings().weight.numel()
    done = (every - head) * sampler.body_rows + head * sampler.head_rows
    ours, usual = answered / seconds, len(first) / baseline_seconds
    return {
        "questions": answered,
        "k": config.k,
        "max_new_tokens": config.max_new_tokens,
        "questions_per_second": ours,
        "baseline": f"generate(num_return_sequences={config.k})",
        "baseline_questions": len(first),
        "baseline_questions_per_second": usual,
        "ratio": ours / usual,
        "tokens_per_second": sampler.answer_tokens / seconds,
        "rows_per_second": sampler.head_rows / seconds,
        "matmul_gflops": rate / 1e9,
        "matmul_share": done / seconds / rate,
        "answer_share": every * sampler.answer_tokens / seconds / rate,
        "engine": sampler.slow_because or "shared prompts and branches",
        "model": loaded.source.spec,
        "dtype": str(loaded.model.dtype).removeprefix("torch."),
        "device": hardware(loaded.device),
        "threads": torch.get_num_threads(),
    }


def ending_tokens(loaded: LoadedModel, prompt: Prompt) -> list[int]:
    """The model's end tokens and every token with a stop string in it, so that ``generate`` stops early."""
    ends = end_tokens(loaded.model, loaded.tokenizer, prompt)
    if prompt.stop:
        pieces = loaded.tokenizer.batch_decode([[i] for i in range(len(loaded.tokenizer))])
        ends.update(i for i, piece in enumerate(pieces) if any(string in piece for string in prompt.stop))
    return sorted(ends)


def usual_way(
    loaded: LoadedModel, prompt: Prompt, questions: Sequence[str], config: SamplingConfig, ends: Sequence[int]
) -> None:
    """One ``generate`` with k returned sequences per question: what most scripts do."""
    with quiet_transformers(), torch.inference_mode():
        for row in encode(loaded.tokenizer, prompt, questions, None, config.max_prompt_tokens):
            ids = torch.tensor([row], device=loaded.device)
            loaded.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                num_return_sequences=config.k,
                max_new_tokens=config.max_new_tokens,
                temperature=config.temperature,
                top_p=config.top_p,
                top_k=config.top_k,
                repetition_penalty=config.repetition_penalty,
                eos_token_id=list(ends),
                pad_token_id=loaded.tokenizer.pad_token_id,
            )


def matrix_shapes(model: Any) -> list[tuple[int, int]]:
    """(inputs, outputs) of every matrix that a token is multiplied with: all linear layers, the output layer included,
    the embedding look-up not."""
    return [
        (module.in_features, module.out_features)
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module.weight.ndim == 2
    ]


def matmul_rate(loaded: LoadedModel, rows: int, rounds: int = 7) -> float:
    """Floating-point operations per second of the model's own linear layers at ``rows`` rows, weighted by their work.

    Per distinct shape the fastest of ``rounds`` rounds, into a kept output: the rate the machine can hold, not the
    average of a busy machine. 0 for a model without linear layers.
    """
    counts: dict[tuple[int, int], int] = {}
    for shape in matrix_shapes(loaded.model):
        counts[shape] = counts.get(shape, 0) + 1
    work = spent = 0.0
    for (inputs, outputs), count in counts.items():
        width = min(outputs, 16_384)  # a slice that stays in the cache, as the sampler computes the vocabulary
        x = torch.randn(rows, inputs, dtype=loaded.model.dtype, device=loaded.device)
        w = torch.randn(width, inputs, dtype=loaded.model.dtype, device=loaded.device)
        out = torch.empty(rows, width, dtype=loaded.model.dtype, device=loaded.device)
        best = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            torch.mm(x, w.T, out=out)
            if loaded.device.type == "cuda":
                torch.cuda.synchronize(loaded.device)
            best = min(best, time.perf_counter() - start)
        work += count * 2.0 * rows * inputs * outputs
        spent += count * best * outputs / width
    return work / spent if spent else 0.0


def hardware(device: torch.device) -> str:
    """The GPU's or the processor's name, with the number of cores."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    features = torch.cpu.get_capabilities()
    return f"{features.get('cpu_name', 'CPU')}, {features.get('num_physical_cores', '?')} cores"
