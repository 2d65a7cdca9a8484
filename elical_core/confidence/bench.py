"""How fast training is, against a plain loop on the same machine in the same run; and which head shape ranks best."""

from __future__ import annotations

import contextlib
import io
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from elical_core.confidence.adapter import attached
from elical_core.confidence.head import Head
from elical_core.confidence.items import TrainingItem, check_items
from elical_core.confidence.layout import pad
from elical_core.confidence.model import ConfidenceModel
from elical_core.confidence.packing import Row
from elical_core.confidence.precision import at_precision, resolve_precision
from elical_core.confidence.session import fresh, rows_for
from elical_core.confidence.stages import elicit
from elical_core.confidence.training import Lesson, train
from elical_core.config import ConfidenceConfig, ElicitationConfig
from elical_core.errors import InputError
from elical_core.metrics.auroc import auroc
from elical_core.models import LoadedModel, Prompt

SHAPES = tuple(
    ConfidenceConfig(head=head, lora_layers=layers)
    for layers in ("all", "top-half")
    for head in ("linear", "mlp", "mean-pool")
)


def bench_training(
    loaded: LoadedModel,
    prompt: Prompt,
    items: Sequence[TrainingItem],
    *,
    shape: ConfidenceConfig | None = None,
    config: ElicitationConfig | None = None,
    our_steps: int = 24,
    plain_steps: int = 6,
) -> dict[str, Any]:
    """Questions per second of our loop and of a plain padded fp32 ``transformers.Trainer`` with the same adapter, head,
    batch size and questions, in this process, ours measured before and after the plain one.

    The median step counts; the first step of each is left out (it allocates). Keys: ``ours``, ``plain`` (questions/s),
    ``ratio``, ``precision``, ``batch_size``, ``mean_prompt_tokens``, ``mean_own_tokens``, ``threads``, ``device``.
    """
    check_items(items)
    shape, config = shape or ConfidenceConfig(), config or ElicitationConfig()
    if len(items) < config.batch_size:
        raise InputError(
            f"{len(items)} questions do not fill a batch of {config.batch_size}; give more, or lower the batch size"
        )
    rows = rows_for(loaded.tokenizer, prompt, [i.text for i in items], [i.context for i in items], shape.max_tokens)
    lesson = Lesson(
        rows=rows,
        targets=torch.tensor([item.target for item in items], dtype=torch.float32),
        weights=torch.ones(len(items)),
    )
    ours = _time_ours(loaded, prompt, lesson, shape, config, our_steps // 2 + 1)
    plain = _time_plain(at_precision(loaded, "fp32"), lesson, shape, config, plain_steps + 1)
    ours += _time_ours(loaded, prompt, lesson, shape, config, our_steps // 2 + 1)
    our_rate, plain_rate = (config.batch_size / statistics.median(seconds) for seconds in (ours, plain))
    return {
        "ours": round(our_rate, 2),
        "plain": round(plain_rate, 2),
        "ratio": round(our_rate / plain_rate, 2),
        "precision": resolve_precision(config.precision, loaded),
        "batch_size": config.batch_size,
        "mean_prompt_tokens": round(float(np.mean([len(row.tokens) for row in rows])), 1),
        "mean_own_tokens": round(float(np.mean([row.own for row in rows])), 1),
        "threads": torch.get_num_threads(),
        "device": str(loaded.device),
    }


def compare_shapes(
    loaded: LoadedModel,
    prompt: Prompt,
    items: Sequence[TrainingItem],
    held_out: Sequence[TrainingItem],
    correct: ArrayLike,
    *,
    shapes: Sequence[ConfidenceConfig] = SHAPES,
    config: ElicitationConfig | None = None,
) -> list[dict[str, Any]]:
    """One row per shape: trained on ``items``, judged on ``held_out`` questions by ``correct`` (n,) 0/1 of the greedy
    answer. Keys: ``head``, ``lora_layers``, ``auroc``, ``mse`` (against the targets), ``questions_per_second``,
    ``scored_per_second``."""
    config = config or ElicitationConfig()
    texts, contexts = [item.text for item in held_out], [item.context for item in held_out]
    targets = np.array([item.target for item in held_out])
    table = []
    for shape in shapes:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "checkpoint"
            manifest = elicit(loaded, prompt, items, shape=shape, config=config, out=out)
            began = time.perf_counter()
            scores = ConfidenceModel.load(out, loaded=loaded).score(texts, contexts)
            seconds = time.perf_counter() - began
        table.append(
            {
                "head": shape.head,
                "lora_layers": shape.lora_layers,
                "auroc": auroc(scores, correct),
                "mse": float(((scores - targets) ** 2).mean()),
                "questions_per_second": manifest.questions_per_second,
                "scored_per_second": round(len(texts) / seconds, 1),
            }
        )
    return table


def _time_ours(
    loaded: LoadedModel, prompt: Prompt, lesson: Lesson, shape: ConfidenceConfig, config: ElicitationConfig, steps: int
) -> list[float]:
    """Seconds of every full-batch step but the first."""
    ticks = [time.perf_counter()]
    precision = resolve_precision(config.precision, loaded)
    full = lesson.take(range(len(lesson.rows) // config.batch_size * config.batch_size))
    with fresh(
        at_precision(loaded, precision), prompt, shape, bf16=precision == "bf16", seed=0, keep_lower=True
    ) as session:
        train(
            session.peft_model,
            session.head,
            session.reader,
            full,
            lesson.take([]),
            replace(config, steps=steps, looks=1),
            lambda *_: ticks.append(time.perf_counter()),
        )
    return [float(seconds) for seconds in np.diff(ticks)[1:]]


def _time_plain(
    loaded: LoadedModel, lesson: Lesson, shape: ConfidenceConfig, config: ElicitationConfig, steps: int
) -> list[float]:
    """The same with Trainer: shuffled batches, every prompt in full, padded to the longest of its batch, fp32."""
    from transformers import Trainer, TrainerCallback, TrainingArguments

    ticks: list[float] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *_: Any, **__: Any) -> None:
            ticks.append(time.perf_counter())

    def collate(batch: list[tuple[Row, float]]) -> Mapping[str, torch.Tensor]:
        layout = pad([row for row, _ in batch], loaded.tokenizer.pad_token_id)
        return {
            "input_ids": layout.input_ids,
            "attention_mask": layout.attention_mask,
            "labels": torch.tensor([target for _, target in batch]),
        }

    with (
        torch.random.fork_rng(devices=[]),
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(io.StringIO()),
        attached(loaded.model, shape, seed=0, bf16=False) as peft_model,
    ):
        settings = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=config.batch_size,
            max_steps=steps,
            learning_rate=config.learning_rate,
            use_cpu=loaded.device.type == "cpu",
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            remove_unused_columns=False,
            dataloader_pin_memory=False,
            dataloader_drop_last=True,
        )
        Trainer(
            model=_Plain(peft_model, Head(shape.head, loaded.model.get_decoder().config.hidden_size)),
            args=settings,
            train_dataset=list(zip(lesson.rows, lesson.targets.tolist(), strict=True)),
            data_collator=collate,
            callbacks=[Clock()],
        ).train()
    return [float(seconds) for seconds in np.diff(ticks)]


class _Plain(nn.Module):
    """The last token's state of a padded batch, the head, mean squared error."""

    def __init__(self, peft_model: Any, head: Head) -> None:
        super().__init__()
        self.peft_model = peft_model
        self.head = head

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor) -> Any:
        decoder = self.peft_model.base_model.model.get_decoder()
        states = decoder(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).last_hidden_state
        last = attention_mask.sum(1) - 1
        confidence = torch.sigmoid(self.head(states[torch.arange(len(last)), last]))
        return {"loss": ((confidence - labels) ** 2).mean(), "confidence": confidence}


def table_of(shapes: Sequence[Mapping[str, Any]]) -> str:
    """The rows of ``compare_shapes`` as aligned text."""
    lines = [f"{'head':10} {'layers':9} {'AUROC':>6} {'MSE':>7} {'train q/s':>9} {'score q/s':>9}"]
    lines += [
        f"{row['head']:10} {row['lora_layers']:9} {row['auroc']:6.3f} {row['mse']:7.4f} "
        f"{row['questions_per_second']:9.1f} {row['scored_per_second']:9.1f}"
        for row in shapes
    ]
    return "\n".join(lines)
