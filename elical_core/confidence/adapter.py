"""LoRA round a model that others use too: attached inside a block, gone after it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from elical_core.confidence.lower import top_half
from elical_core.config import ConfidenceConfig
from elical_core.errors import CheckpointError, ConfigError


def lora_config(shape: ConfidenceConfig, decoder: Any) -> Any:
    """PEFT's settings for ``shape``; a path or a name of the base model is never stored in them."""
    from peft import LoraConfig

    return LoraConfig(
        r=shape.lora_r,
        lora_alpha=shape.lora_alpha,
        lora_dropout=shape.lora_dropout,
        target_modules=list(shape.lora_targets),
        layers_to_transform=top_half(decoder) if shape.lora_layers == "top-half" else None,
        bias="none",
        task_type="CAUSAL_LM",
    )


@contextmanager
def attached(model: Any, shape: ConfidenceConfig, *, seed: int, bf16: bool) -> Iterator[Any]:
    """PEFT model round ``model`` with fresh LoRA weights drawn from ``seed`` (fp32, an exact identity at the start).

    After the block the modules, the gradient flags and the mode of ``model`` are what they were, and the global random
    state is untouched. Raises ConfigError when no layer of the model is called as in ``shape.lora_targets``.
    """
    from peft import get_peft_model

    flags = {name: parameter.requires_grad for name, parameter in model.named_parameters()}
    was_training = model.training
    with torch.random.fork_rng(devices=_cuda_devices(model)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
        torch.manual_seed(seed)
        try:
            peft_model = get_peft_model(model, lora_config(shape, model.get_decoder()))
        except ValueError as error:
            raise ConfigError(
                f"this model has no layers called {', '.join(shape.lora_targets)} to adapt; set lora_targets to names "
                f"of its linear layers"
            ) from error
    if bf16:  # autocast converts once; PEFT would convert to fp32 first
        for module in peft_model.modules():
            if hasattr(module, "cast_input_dtype_enabled"):
                module.cast_input_dtype_enabled = False
    peft_model.eval()
    try:
        yield peft_model
    finally:
        peft_model.unload()
        vars(model).pop("peft_config", None)
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(flags[name])
        model.train(was_training)


def adapter_state(peft_model: Any) -> dict[str, torch.Tensor]:
    """The LoRA weights under the names of PEFT's file format, on the CPU."""
    from peft import get_peft_model_state_dict

    state = get_peft_model_state_dict(peft_model, save_embedding_layers=False)
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in state.items()}


def put_adapter_state(peft_model: Any, state: Mapping[str, torch.Tensor]) -> None:
    """Overwrites the LoRA weights; CheckpointError unless exactly these weights exist in these shapes."""
    from peft import set_peft_model_state_dict

    expected = {name: tuple(t.shape) for name, t in adapter_state(peft_model).items()}
    found = {name: tuple(t.shape) for name, t in state.items()}
    if expected != found:
        wrong = sorted(set(expected.items()) ^ set(found.items()))
        raise CheckpointError(
            f"the adapter does not fit this model: {len(wrong)} weights differ, for example {wrong[0][0]}; use the "
            f"model that the manifest names"
        )
    set_peft_model_state_dict(peft_model, dict(state))


def _cuda_devices(model: Any) -> list[int]:
    return sorted({p.device.index or 0 for p in model.parameters() if p.device.type == "cuda"})
