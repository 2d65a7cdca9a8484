"""One training from questions to a checkpoint folder, with everything that its manifest tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from elical_core.confidence.adapter import adapter_state, lora_config
from elical_core.confidence.checkpoint import write_checkpoint
from elical_core.confidence.greedy import greedy_shift
from elical_core.confidence.items import Progress, TrainingItem, split_validation
from elical_core.confidence.manifest import Manifest, token_position
from elical_core.confidence.packing import Row
from elical_core.confidence.precision import Precision
from elical_core.confidence.session import Session, rows_for
from elical_core.confidence.training import SCORE_ROWS, Lesson, Outcome, confidences, train
from elical_core.config import ConfidenceConfig, OptimisationConfig
from elical_core.domain import Stage
from elical_core.models import LoadedModel, Prompt, model_fingerprint

LIBRARIES = ("torch", "transformers", "peft", "safetensors", "numpy")


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What is trained on what. ``items`` are checked; ``loaded`` has the weights in ``precision``."""

    loaded: LoadedModel
    prompt: Prompt
    shape: ConfidenceConfig
    config: OptimisationConfig
    precision: Precision
    items: Sequence[TrainingItem]

    def rows(self) -> list[Row]:
        """The items as prompts. Raises QuestionTooLong."""
        texts, contexts = [item.text for item in self.items], [item.context for item in self.items]
        return rows_for(self.loaded.tokenizer, self.prompt, texts, contexts, self.shape.max_tokens)

    def run(
        self,
        session: Session,
        rows: Sequence[Row],
        stage: Stage,
        out: Path,
        progress: Progress | None,
        origin: Mapping[str, Any] | None = None,
    ) -> Manifest:
        """Trains ``session`` and writes it to ``out``; ``origin`` is what the manifest says of labels and parent."""
        session.head.shift.zero_()
        training, validation = split_validation(self.items, self.config.validation_share, self.config.seed)
        everything = Lesson(
            rows=rows,
            targets=torch.tensor([item.target for item in self.items], dtype=torch.float32),
            weights=torch.tensor([item.weight for item in self.items], dtype=torch.float32),
        )
        watched = everything.take(validation)
        outcome = train(
            session.peft_model, session.head, session.reader, everything.take(training), watched, self.config, progress
        )
        metrics = _fit_of(confidences(session.head, session.reader, watched.rows), watched) if validation else {}
        if stage is Stage.CALIBRATION:
            metrics |= self._fit_level(session, rows)

        def manifest(files: Mapping[str, str]) -> Manifest:
            return Manifest(
                stage=stage,
                n_train=len(training),
                n_validation=len(validation),
                metrics=metrics,
                warnings=self._warnings(len(validation)),
                files=files,
                **self._facts(session),
                **_course(outcome),
                **(origin or {}),
            )

        return write_checkpoint(
            out,
            prompt=self.prompt,
            lora=lora_config(self.shape, session.reader.decoder),
            adapter=adapter_state(session.peft_model),
            head=session.head.state_dict(),
            manifest=manifest,
        )

    def _fit_level(self, session: Session, rows: Sequence[Row]) -> dict[str, float | None]:
        """Sets the head's shift from the greedy verdicts among the items, and tells it."""
        judged = [(n, item.greedy) for n, item in enumerate(self.items) if item.greedy is not None]
        states = session.reader.read_all([rows[n] for n, _ in judged], SCORE_ROWS)
        with torch.no_grad():
            logits = session.head(states.to(session.head.shift.device)).double().cpu().numpy()
        shift = greedy_shift(logits, np.array([float(greedy) for _, greedy in judged]))
        session.head.shift.fill_(shift)
        return {"greedy_verdicts": float(len(judged)), "greedy_shift": shift}

    def _facts(self, session: Session) -> dict[str, Any]:
        source, weights = self.loaded.source, self.loaded.weights_fingerprint
        trained = (*session.peft_model.parameters(), *session.head.parameters())
        return {
            "model": {
                "spec": source.spec,
                "name": source.name,
                "revision": source.revision,
                "weights_fingerprint": weights,
            },
            "fingerprint": model_fingerprint(weights, self.prompt),
            "token_position": token_position(self.shape.head),
            "width": len(session.head.mean),
            "precision": self.precision,
            "way": session.reader.way,
            "shape": self.shape.to_json(),
            "settings": self.config.to_json(),
            "seed": self.config.seed,
            "n_items": len(self.items),
            "target_mean": mean_target(self.items),
            "trainable_weights": sum(p.numel() for p in trained if p.requires_grad),
            "versions": {name: version(name) for name in LIBRARIES},
            "device": str(self.loaded.device),
            "threads": torch.get_num_threads(),
        }

    def _warnings(self, n_validation: int) -> tuple[str, ...]:
        n, found = len(self.items), []
        if len({item.target for item in self.items}) == 1:
            found.append(f"all {n} targets are {self.items[0].target:g}: the model learns this constant, no ranking")
        if self.config.validation_share and not n_validation:
            found.append(f"{n} questions are too few for a validation share: no early stopping")
        return tuple(found)


def mean_target(items: Sequence[TrainingItem]) -> float:
    """Weighted mean of the targets, in [0, 1]."""
    return float(np.average([item.target for item in items], weights=[item.weight for item in items]))


def _fit_of(found: NDArray[np.float64], watched: Lesson) -> dict[str, float | None]:
    """How confidences (n,) fit the targets: weighted mean squared error, both means, correlation (None if constant)."""
    targets = watched.targets.double().numpy()
    varies = len(found) > 1 and bool(found.std() and targets.std())
    return {
        "mse": float(np.average((found - targets) ** 2, weights=watched.weights.numpy())),
        "mean_confidence": float(found.mean()),
        "mean_target": float(targets.mean()),
        "correlation": float(np.corrcoef(found, targets)[0, 1]) if varies else None,
    }


def _course(outcome: Outcome) -> dict[str, Any]:
    return {
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "seconds": round(outcome.seconds, 3),
        "questions_per_second": round(outcome.questions_per_second, 2),
        "curve": tuple({"step": k.step, "loss": k.loss, "validation": k.validation} for k in outcome.looks),
    }
