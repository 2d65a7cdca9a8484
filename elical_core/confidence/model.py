"""The product: how likely is it that the model's answer will be correct, before it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from elical_core.confidence.checkpoint import Checkpoint, read_checkpoint
from elical_core.confidence.manifest import Manifest
from elical_core.confidence.packing import Row
from elical_core.confidence.precision import at_precision
from elical_core.confidence.session import Session, opened, require_same_model, rows_for
from elical_core.confidence.stages import load_for
from elical_core.confidence.training import SCORE_ROWS, confidence_of, confidences
from elical_core.models import LoadedModel

Tick = Callable[[int], None]


class ConfidenceModel:
    """A trained checkpoint over its language model.

        model = ConfidenceModel.load("checkpoints/calibrated")
        model.score(["What is the capital of Chad?"])   # array([0.73])

    A score is P(the greedy answer is correct) in [0, 1]. Scores do not depend on the order or the company of the
    questions beyond rounding: 1e-4 in fp32, about .01 in bf16; the same questions in one call give the same bits as
    the job that trained the checkpoint, on the same machine.
    """

    def __init__(self, checkpoint: Checkpoint, loaded: LoadedModel, *, shared: bool) -> None:
        """``shared``: the adapter is on ``loaded`` only while scores are computed, so that others can use it too."""
        require_same_model(checkpoint, loaded)
        self._checkpoint = checkpoint
        self._loaded = at_precision(loaded, checkpoint.precision)
        self._stack = ExitStack()
        self._kept: Session | None = None
        if not shared or self._loaded is not loaded:
            self._kept = self._stack.enter_context(opened(checkpoint, self._loaded))

    @classmethod
    def load(
        cls, path: str | Path, *, home: Path | None = None, loaded: LoadedModel | None = None, device: str = "auto"
    ) -> Self:
        """Reads a checkpoint folder; without ``loaded`` also its language model (``home`` is where converted models
        are kept). Raises CheckpointError when the folder is incomplete, damaged or of another model; ModelError."""
        checkpoint = read_checkpoint(Path(path))
        if loaded is not None:
            return cls(checkpoint, loaded, shared=True)
        return cls(checkpoint, load_for(checkpoint, home, device), shared=False)

    @property
    def manifest(self) -> Manifest:
        return self._checkpoint.manifest

    def score(
        self,
        questions: Sequence[str],
        contexts: Sequence[str] | None = None,
        batch_size: int | Literal["auto"] = "auto",
        tick: Tick | None = None,
    ) -> NDArray[np.float64]:
        """Confidence (n,) in [0, 1], in the order of ``questions``; shape (0,) for none.

        ``batch_size`` is the most questions in one pass; auto fills a pass by tokens. ``tick`` hears how many are done.
        Raises QuestionTooLong before any work; nothing is cut.
        """
        rows = self._rows(questions, contexts)
        with self._session() as session:
            return confidences(session.head, session.reader, rows, tick, _rows_in(batch_size))

    def features(
        self, questions: Sequence[str], contexts: Sequence[str] | None = None, tick: Tick | None = None
    ) -> NDArray[np.float32]:
        """The states (n, d) that the head reads: the adapted model's last layer. (0, d) for no questions."""
        return self.score_with_features(questions, contexts, tick)[1]

    def score_with_features(
        self, questions: Sequence[str], contexts: Sequence[str] | None = None, tick: Tick | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Both from one pass: ``score`` (n,) and ``features`` (n, d)."""
        rows = self._rows(questions, contexts)
        with self._session() as session:
            states = session.reader.read_all(rows, SCORE_ROWS, tick)
            features: NDArray[np.float32] = states.numpy()
            return confidence_of(session.head, states), features

    def _rows(self, questions: Sequence[str], contexts: Sequence[str] | None) -> list[Row]:
        limit = self._checkpoint.shape.max_tokens
        return rows_for(self._loaded.tokenizer, self._checkpoint.prompt, questions, contexts, limit)

    @contextmanager
    def _session(self) -> Iterator[Session]:
        if self._kept is not None:
            yield self._kept
            return
        with opened(self._checkpoint, self._loaded) as session:
            yield session


def _rows_in(batch_size: int | Literal["auto"]) -> int:
    if batch_size == "auto":
        return SCORE_ROWS
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1 or auto, got {batch_size}")
    return batch_size
