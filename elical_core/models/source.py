"""Where a model's files lie, once they have been found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elical_core.errors import ModelError

PACKAGED = "packaged"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json")


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """A model that can be loaded without any network.

    ``spec`` is what the user wrote, ``name`` a short name for screens, ``folder`` holds config.json, safetensors
    weights and the tokenizer, ``revision`` is the hub's commit (None for local files).
    """

    spec: str
    name: str
    folder: Path
    revision: str | None = None


def checked_folder(folder: Path, spec: str) -> Path:
    """``folder`` itself when it holds a complete causal language model; else ModelError says what is missing."""
    if not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():
            raise ModelError(f"{spec} is an adapter, not a model; name the model that it was trained on")
        raise ModelError(
            f"{spec} has no config.json, so it is not a model folder; name a folder written by save_pretrained, "
            f"a .gguf file, a hub id, or {PACKAGED}"
        )
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{spec} has no *.safetensors weights (pickled .bin weights are not read); save it again with "
            f"save_pretrained, or name another model, for example {PACKAGED}"
        )
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        raise ModelError(f"{spec} has no tokenizer files; save the tokenizer into the same folder with save_pretrained")
    return folder
