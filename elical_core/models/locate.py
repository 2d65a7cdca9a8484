"""From what a user writes after ``--model`` to a folder of safetensors on this machine."""

from __future__ import annotations

import re
from pathlib import Path

from elical_core.errors import ModelError
from elical_core.models.gguf import Tell, gguf_source, packaged_source
from elical_core.models.hub import hub_source
from elical_core.models.source import PACKAGED, ModelSource, checked_folder

HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def _silent(message: str) -> None:
    """The default listener."""


def locate(spec: str, *, home: Path, revision: str | None = None, tell: Tell = _silent) -> ModelSource:
    """Finds a model: ``packaged``, a folder, a ``.gguf`` file or a hub id, tried in this order.

    The packaged model and GGUF files are converted once into ``home/models``; ``tell`` hears of such long steps. Only a
    hub id may use the network; ``revision`` is a hub commit, tag or branch and is refused for local models. Raises
    ModelError.
    """
    spec = spec.strip()
    if not spec:
        raise ModelError(f"no model was named; use {PACKAGED}, a hub id, a model folder or a .gguf file")
    path = Path(spec).expanduser()
    is_local = spec == PACKAGED or path.exists() or path.suffix.lower() == ".gguf"
    if is_local and revision:
        raise ModelError(f"{spec} is local and has no revisions; leave the revision ({revision}) out")
    if spec == PACKAGED:
        return packaged_source(spec, home, tell)
    if path.is_dir():
        folder = checked_folder(path, spec).resolve()
        return ModelSource(spec=spec, name=folder.name, folder=folder)
    if path.suffix.lower() == ".gguf":
        if not path.is_file():
            raise ModelError(f"there is no file {spec}; check the path, or use {PACKAGED}")
        return gguf_source(spec, path, home, tell)
    if path.is_file():
        raise ModelError(f"{spec} is a file of an unknown kind; name a .gguf file, a model folder or a hub id")
    if not HUB_ID.fullmatch(spec):
        raise ModelError(f"there is no folder {spec}, and it is not a hub id; check the path, or use {PACKAGED}")
    return hub_source(spec, revision)
