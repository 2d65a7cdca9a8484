"""What a checkpoint says of itself. Plain data: nothing here loads torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from elical_core.domain import Stage
from elical_core.errors import CheckpointError

FORMAT = 1
MANIFEST = "manifest.json"
TOKEN_POSITION = "last real token by attention mask"
MEAN_POSITION = "mean over the question's own tokens"


def token_position(head: str) -> str:
    """Where a head reads the states, in the words that the manifest keeps."""
    return MEAN_POSITION if head == "mean-pool" else TOKEN_POSITION


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The story of one checkpoint, written last.

    ``model`` has spec, name, revision and weights_fingerprint; ``fingerprint`` names these weights with this prompt.
    ``parent`` (Stage 2) has the Stage-1 folder's name, its manifest's SHA-256 and its seed. ``curve`` has one entry per
    look: step, loss, validation. ``metrics`` are of the validation share, where there is one (mse, mean_confidence,
    mean_target, correlation); Stage 2 adds greedy_verdicts and the greedy_shift fitted to them. ``files`` maps every
    other file of the folder to its SHA-256.
    """

    stage: Stage
    model: Mapping[str, str | None]
    fingerprint: str
    token_position: str
    width: int
    precision: str
    way: str
    shape: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    n_items: int
    n_train: int
    n_validation: int
    target_mean: float
    steps: int
    best_step: int
    trainable_weights: int
    seconds: float
    questions_per_second: float
    device: str
    threads: int
    files: Mapping[str, str]
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    curve: tuple[Mapping[str, float | int | None], ...] = ()
    warnings: tuple[str, ...] = ()
    label_set_hash: str = ""
    parent: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, where: str) -> Self:
        """Raises CheckpointError when ``text`` is no manifest or one of another version."""
        try:
            stored = json.loads(text)
        except json.JSONDecodeError as error:
            raise CheckpointError(f"the manifest of {where} is damaged ({error}); train it again") from error
        if not isinstance(stored, dict) or stored.get("format") != FORMAT:
            found = stored.get("format") if isinstance(stored, dict) else type(stored).__name__
            raise CheckpointError(
                f"{where} has checkpoint format {found}, this version reads {FORMAT}; train it again, or use the "
                f"version of EliCal that wrote it"
            )
        names = {f.name for f in fields(cls)}
        if set(stored) != names:
            wrong = ", ".join(sorted(set(stored) ^ names))
            raise CheckpointError(f"the manifest of {where} does not fit its format ({wrong}); train it again")
        stored |= {name: tuple(stored[name]) for name in ("curve", "warnings")}
        return cls(**(stored | {"stage": Stage(stored["stage"])}))


def read_manifest(path: Path) -> Manifest:
    """The manifest alone. Raises CheckpointError when ``path`` holds no complete checkpoint."""
    if not path.is_dir():
        raise CheckpointError(f"there is no checkpoint folder {path}; train one, or check the path")
    if not (path / MANIFEST).is_file():
        raise CheckpointError(f"{path} is not a complete checkpoint (no {MANIFEST}); train it again")
    return Manifest.from_json((path / MANIFEST).read_text(encoding="utf-8"), str(path))
