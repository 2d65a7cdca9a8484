"""Loads a causal language model and its tokenizer for inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch

from elical_core.errors import ModelError
from elical_core.models.fingerprint import fingerprint_weights
from elical_core.models.quiet import one_line, quiet_transformers
from elical_core.models.source import ModelSource

DTypeName = Literal["auto", "fp32", "bf16"]


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A transformers causal LM in eval mode and its tokenizer, which always has a pad token and an end token."""

    model: Any
    tokenizer: Any
    source: ModelSource
    device: torch.device
    weights_fingerprint: str


def pick_device(device: str = "auto") -> torch.device:
    """``auto`` is CUDA where there is a GPU, else the CPU. Raises ModelError for a device that is not there."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        picked = torch.device(device)
    except RuntimeError as error:
        raise ModelError(f"unknown device {device!r}; use auto, cpu, cuda or cuda:N") from error
    if picked.type == "cuda" and (not torch.cuda.is_available() or (picked.index or 0) >= torch.cuda.device_count()):
        raise ModelError(f"device {device} is not there ({torch.cuda.device_count()} GPUs found); use auto or cpu")
    return picked


def pick_dtype(dtype: DTypeName, device: torch.device) -> torch.dtype:
    """``auto`` is bf16 where the device multiplies it natively (bf16 units on the CPU or GPU), else fp32."""
    if dtype == "auto":
        return torch.bfloat16 if has_fast_bf16(device) else torch.float32
    if dtype not in {"fp32", "bf16"}:
        raise ModelError(f"unknown dtype {dtype!r}; use auto, fp32 or bf16")
    return torch.bfloat16 if dtype == "bf16" else torch.float32


def has_fast_bf16(device: torch.device) -> bool:
    """Whether bf16 matrix products are faster than fp32 there: 4.6x on a CPU with avx512_bf16, slower without."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        features = torch.cpu.get_capabilities()
        return any(bool(features.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return False


def load_model(source: ModelSource, *, device: str = "auto", dtype: DTypeName = "auto") -> LoadedModel:
    """Reads the folder of ``source``; never uses the network, never runs code that came with the model.

    The model is in eval mode and its weights need no gradients. A tokenizer without pad token pads with its end token.
    Raises ModelError in one sentence when the files cannot be used.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = pick_device(device)
    with quiet_transformers():
        try:
            tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True)
            model = AutoModelForCausalLM.from_pretrained(
                source.folder, dtype=pick_dtype(dtype, place), local_files_only=True
            )
            model.to(place)
        except torch.OutOfMemoryError as error:
            raise ModelError(f"{source.spec} does not fit into the memory of {place}; use --device cpu") from error
        except Exception as error:  # transformers raises a dozen unrelated types for unusable files
            raise ModelError(
                f"{source.spec} cannot be loaded from {source.folder}: {one_line(error)}; name another model or folder"
            ) from error
    if tokenizer.eos_token_id is None:
        raise ModelError(f"the tokenizer of {source.spec} names no end-of-text token; set eos_token in its files")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.eval().requires_grad_(False)
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        source=source,
        device=place,
        weights_fingerprint=fingerprint_weights(source.folder),
    )
