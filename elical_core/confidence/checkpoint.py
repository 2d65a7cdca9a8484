"""A checkpoint on disk: adapter (PEFT's format), head.safetensors, prompt.json, and manifest.json written last."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from elical_core.confidence.manifest import MANIFEST, Manifest, read_manifest, token_position
from elical_core.confidence.precision import Precision
from elical_core.confidence.reader import Way
from elical_core.config import ConfidenceConfig
from elical_core.errors import CheckpointError
from elical_core.models import Prompt, model_fingerprint

ADAPTER = "adapter/adapter_model.safetensors"
ADAPTER_CONFIG = "adapter/adapter_config.json"
HEAD = "head.safetensors"
PROMPT = "prompt.json"
FILES = (ADAPTER, ADAPTER_CONFIG, HEAD, PROMPT)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a folder holds, read and checked. ``adapter`` and ``head`` are weights by name, on the CPU."""

    manifest: Manifest
    prompt: Prompt
    adapter: Mapping[str, torch.Tensor]
    head: Mapping[str, torch.Tensor]

    @property
    def shape(self) -> ConfidenceConfig:
        return ConfidenceConfig.from_json(dict(self.manifest.shape))

    @property
    def precision(self) -> Precision:
        return "bf16" if self.manifest.precision == "bf16" else "fp32"

    @property
    def way(self) -> Way:
        return "packed" if self.manifest.way == "packed" else "padded"


def write_checkpoint(
    out: Path,
    *,
    prompt: Prompt,
    lora: Any,
    adapter: Mapping[str, torch.Tensor],
    head: Mapping[str, torch.Tensor],
    manifest: Callable[[Mapping[str, str]], Manifest],
) -> Manifest:
    """Writes the folder ``out``; it appears whole or not at all, and an older one of that name is replaced.

    ``manifest`` is called with the SHA-256 of every other file. Raises CheckpointError when ``out`` is something else
    than a checkpoint, or cannot be written.
    """
    from safetensors.torch import save_file

    _refuse_foreign(out)
    for left_over in (*out.parent.glob(f".{out.name}.*.tmp"), *out.parent.glob(f".{out.name}.*.old")):
        shutil.rmtree(left_over)  # of a process that was killed while it wrote
    scratch = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        (scratch / "adapter").mkdir(parents=True)
        save_file(dict(adapter), scratch / ADAPTER)
        save_file({name: t.detach().cpu().contiguous() for name, t in head.items()}, scratch / HEAD)
        lora.save_pretrained(scratch / "adapter")
        _write(scratch / PROMPT, json.dumps(prompt.to_json(), indent=1, ensure_ascii=False))
        made = manifest({name: _hash(scratch / name) for name in FILES})
        _write(scratch / MANIFEST, made.to_json())
        if out.exists():
            old = scratch.with_suffix(".old")
            os.replace(out, old)
            os.replace(scratch, out)
            shutil.rmtree(old)
        else:
            os.replace(scratch, out)
    except OSError as error:
        raise CheckpointError(
            f"cannot write the checkpoint {out}: {error.strerror or error}; free some space or name a writable folder"
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return made


def read_checkpoint(path: Path) -> Checkpoint:
    """Everything in the folder. Raises CheckpointError when a file is missing or changed, or the manifest's promises
    (prompt, token position) do not hold."""
    from safetensors.torch import load_file

    manifest = read_manifest(path)
    for name in FILES:
        if not (path / name).is_file():
            raise CheckpointError(
                f"the checkpoint {path} is incomplete: {name} is missing; copy it whole or train again"
            )
        if manifest.files.get(name) != _hash(path / name):
            raise CheckpointError(f"{name} of the checkpoint {path} was changed after it was written; train it again")
    prompt = Prompt.from_json(json.loads((path / PROMPT).read_text(encoding="utf-8")))
    weights = manifest.model["weights_fingerprint"] or ""
    if model_fingerprint(weights, prompt) != manifest.fingerprint:
        raise CheckpointError(f"the prompt of the checkpoint {path} is not the one it was trained with; train it again")
    read = Checkpoint(manifest=manifest, prompt=prompt, adapter=load_file(path / ADAPTER), head=load_file(path / HEAD))
    if (rule := token_position(read.shape.head)) != manifest.token_position:
        raise CheckpointError(
            f"the checkpoint {path} reads the {manifest.token_position}, this version reads the {rule}; train it again"
        )
    return read


def _refuse_foreign(out: Path) -> None:
    if out.exists() and not (out / MANIFEST).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise CheckpointError(f"{out} exists and is not a checkpoint; name another folder")


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
