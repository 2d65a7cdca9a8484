"""The training loop that both stages share: mean squared error of the confidence, in steps."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from elical_core.confidence.head import Head
from elical_core.confidence.items import Progress
from elical_core.confidence.packing import Row, epoch_batches
from elical_core.confidence.reader import Reader
from elical_core.config import OptimisationConfig
from elical_core.errors import TrainingError

MAX_GRADIENT_NORM = 1.0
SCORE_ROWS = 64

log = logging.getLogger("elical_core.confidence")


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Prompts with their targets (n,) in [0, 1] and weights (n,), row-aligned."""

    rows: Sequence[Row]
    targets: torch.Tensor
    weights: torch.Tensor

    def take(self, numbers: Sequence[int]) -> Lesson:
        index = torch.tensor(list(numbers), dtype=torch.long)
        return Lesson(rows=[self.rows[n] for n in numbers], targets=self.targets[index], weights=self.weights[index])


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look at the training: ``loss`` is the mean over the steps since the last look, ``validation`` the weighted
    mean squared error on the validation share (None without one)."""

    step: int
    loss: float
    validation: float | None


@dataclass(kw_only=True)
class Outcome:
    """What training did. The best state by validation (the last one without validation) is in the model."""

    steps: int
    best_step: int
    seconds: float
    questions_per_second: float
    looks: list[Look] = field(default_factory=list)


def number_of_steps(config: OptimisationConfig, n: int) -> int:
    """``config.steps``, or what ``config.epochs`` passes over n questions need; at least 1."""
    return config.steps or max(1, math.ceil(config.epochs * n / config.batch_size))


def learning_rate_share(step: int, steps: int, warmup_share: float) -> float:
    """Share of the peak rate at ``step`` (0-based) of ``steps``: linear warm-up, then half a cosine down to near 0."""
    warmup = max(1, round(warmup_share * steps)) if warmup_share else 0
    if step < warmup:
        return (step + 1) / (warmup + 1)
    return 0.5 * (1 + math.cos(math.pi * (step - warmup + 0.5) / max(1, steps - warmup)))


def train(
    peft_model: Any,
    head: Head,
    reader: Reader,
    lesson: Lesson,
    validation: Lesson,
    config: OptimisationConfig,
    progress: Progress | None = None,
) -> Outcome:
    """Moves the adapter and the head to the targets; leaves the best state by validation in them.

    AdamW with decoupled weight decay, warm-up and cosine decay, and the penalty ``l2_to_start * |w - w_start|^2 / 2``
    on every trained weight. Stops early after ``patience`` looks without a better validation error. Deterministic on a
    CPU for one seed and number of threads. Raises TrainingError when there is nothing to train, the loss is not
    finite, or the weights did not move; whatever ``progress`` raises passes through.
    """
    parameters = [p for p in (*peft_model.parameters(), *head.parameters()) if p.requires_grad]
    in_adapter = sum(p.requires_grad for p in peft_model.parameters())
    if not in_adapter:
        raise TrainingError("no weight of the adapter can be trained; check lora_targets and lora_layers")
    start = [p.detach().clone() for p in parameters]
    optimiser = torch.optim.AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)
    steps = number_of_steps(config, len(lesson.rows))
    look_at = {max(1, round(steps * (i + 1) / config.looks)) for i in range(config.looks)}
    watch = _Best(parameters, head, reader, validation)
    outcome = Outcome(steps=0, best_step=0, seconds=0.0, questions_per_second=0.0)
    began, seen, losses, stale = time.perf_counter(), 0, [], 0
    _set_dropout(peft_model, on=True)
    for step, batch in enumerate(_batches(lesson, config, steps)):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * learning_rate_share(step, steps, config.warmup_share)
        optimiser.zero_grad(set_to_none=True)
        losses.append(_backward(head, reader, batch, float(lesson.weights.mean())))
        if not math.isfinite(losses[-1]):
            raise TrainingError(
                f"the loss became {losses[-1]} at step {step + 1} of {steps}; lower the learning rate "
                f"(now {config.learning_rate:g}) or set precision to fp32"
            )
        if config.l2_to_start:
            _pull_back(parameters, start, config.l2_to_start)
        torch.nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT_NORM)
        optimiser.step()
        seen += len(batch.rows)
        outcome.steps = step + 1
        outcome.questions_per_second = seen / (time.perf_counter() - began)
        if outcome.steps in look_at:
            _set_dropout(peft_model, on=False)
            better, error = watch.look(outcome.steps)
            _set_dropout(peft_model, on=True)
            outcome.looks.append(Look(step=outcome.steps, loss=float(np.mean(losses)), validation=error))
            log.info("step %d of %d: loss %.4f, validation %s", outcome.steps, steps, outcome.looks[-1].loss, error)
            losses, stale = [], 0 if better else stale + 1
        if progress is not None:
            progress(outcome.steps, steps, "training")
        if stale >= config.patience:
            break
    _set_dropout(peft_model, on=False)
    _check_moved(parameters, start, in_adapter, outcome.steps)
    outcome.best_step = watch.restore()
    outcome.seconds = time.perf_counter() - began
    return outcome


def confidences(
    head: Head,
    reader: Reader,
    rows: Sequence[Row],
    tick: Callable[[int], None] | None = None,
    max_rows: int = SCORE_ROWS,
) -> NDArray[np.float64]:
    """(n,) in [0, 1] for the rows, in their order; (0,) for none."""
    return confidence_of(head, reader.read_all(rows, max_rows, tick))


def confidence_of(head: Head, states: torch.Tensor) -> NDArray[np.float64]:
    """(n,) in [0, 1] of states (n, d)."""
    with torch.no_grad():
        found: NDArray[np.float64] = torch.sigmoid(head(states.to(head.mean.device)).double()).cpu().numpy()
    return found


def _set_dropout(peft_model: Any, *, on: bool) -> None:
    """Only the adapter's dropout; the frozen model stays in eval mode."""
    for name, module in peft_model.named_modules():
        if "lora_dropout" in name:
            module.train(on)


def _batches(lesson: Lesson, config: OptimisationConfig, steps: int) -> Iterator[Lesson]:
    """``steps`` batches: pass after pass over the questions, each in a new order."""
    rng = np.random.default_rng(config.seed)
    lengths = [len(row.tokens) for row in lesson.rows]
    given = 0
    while given < steps:
        for numbers in epoch_batches(lengths, config.batch_size, rng)[: steps - given]:
            given += 1
            yield lesson.take(numbers)


def _backward(head: Head, reader: Reader, batch: Lesson, mean_weight: float) -> float:
    """Adds the gradient of the batch's weighted mean squared error; returns that error. A batch that does not fit
    into one pass is read in several."""
    total = 0.0
    for numbers in reader.passes(batch.rows, len(batch.rows)):
        part = batch.take(numbers)
        states = reader.read(part.rows)
        error = (torch.sigmoid(head(states)) - part.targets.to(states.device)) ** 2
        loss = (part.weights.to(states.device) / mean_weight * error).sum() / len(batch.rows)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    return total


def _pull_back(parameters: Sequence[torch.Tensor], start: Sequence[torch.Tensor], strength: float) -> None:
    for parameter, origin in zip(parameters, start, strict=True):
        pull = strength * (parameter.detach() - origin)
        parameter.grad = pull if parameter.grad is None else parameter.grad + pull


def _check_moved(
    parameters: Sequence[torch.Tensor], start: Sequence[torch.Tensor], in_adapter: int, steps: int
) -> None:
    """The head starts flat, so the adapter feels its first gradient in the second step."""
    moved = [not torch.equal(p.detach(), origin) for p, origin in zip(parameters, start, strict=True)]
    if not any(moved[in_adapter:]) or (steps > 2 and not any(moved[:in_adapter])):
        raise TrainingError(
            "training moved no weight of the model; raise the learning rate, or report this as a fault of EliCal"
        )


class _Best:
    """Remembers the weights with the lowest validation error."""

    def __init__(self, parameters: Sequence[torch.Tensor], head: Head, reader: Reader, validation: Lesson) -> None:
        self._parameters = parameters
        self._head = head
        self._reader = reader
        self._validation = validation
        self._error = math.inf
        self._step = 0
        self._kept: list[torch.Tensor] | None = None

    def look(self, step: int) -> tuple[bool, float | None]:
        """Whether this state is better than all before, and its error; (True, None) without validation items."""
        if not self._validation.rows:
            self._step = step
            return True, None
        found = torch.from_numpy(confidences(self._head, self._reader, self._validation.rows))
        weights = self._validation.weights.double()
        error = float((weights * (found - self._validation.targets.double()) ** 2).sum() / weights.sum())
        if not error < self._error:
            return False, error
        self._error, self._step = error, step
        self._kept = [p.detach().clone() for p in self._parameters]
        return True, error

    def restore(self) -> int:
        """Puts the best state back; returns its step."""
        if self._kept is not None:
            with torch.no_grad():
                for parameter, kept in zip(self._parameters, self._kept, strict=True):
                    parameter.copy_(kept)
        return self._step
