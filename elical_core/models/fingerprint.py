"""Short names for what answered: the weights, and the weights with their prompt."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from elical_core.models.prompt import Prompt

BLOCK = 2**22


def fingerprint_weights(folder: Path) -> str:
    """64 hex digits over the names and the whole content of the folder's safetensors files.

    Every byte counts, so a model that was trained further never passes for the old one; the path and the machine do
    not. About 1.5 GB/s, far below the time it takes to load the weights.
    """
    whole = sha256()
    for file in sorted(folder.glob("*.safetensors")):
        part = sha256()
        with file.open("rb") as handle:
            while block := handle.read(BLOCK):
                part.update(block)
        whole.update(f"{file.name}:{part.hexdigest()}\n".encode())
    return whole.hexdigest()


def model_fingerprint(weights_fingerprint: str, prompt: Prompt) -> str:
    """16 hex digits: changes with the weights or with any letter of the prompt."""
    stored = json.dumps(prompt.to_json(), sort_keys=True, ensure_ascii=False)
    return sha256(f"{weights_fingerprint}\n{stored}".encode()).hexdigest()[:16]
