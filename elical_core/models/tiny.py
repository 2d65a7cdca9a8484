"""Random models of a few thousand weights with a letter tokenizer, public so that tests need no network and no wait."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import torch

from elical_core.models.load import LoadedModel
from elical_core.models.source import ModelSource

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
LETTERS = SPECIAL + tuple("\n" + string.ascii_letters + string.digits + string.punctuation + " ")
SIZES = {
    "vocab_size": len(LETTERS),
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
FAMILIES = ("llama", "gemma3", "qwen3", "gemma2", "gpt2")


def tiny_tokenizer(chat_template: str | None = None, *, adds_bos: bool = True, pad: bool = True) -> Any:
    """One token per ASCII letter, <unk> for others; <bos> is put first by the tokenizer itself."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = Tokenizer(models.WordLevel({letter: i for i, letter in enumerate(LETTERS)}, unk_token="<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    letters.decoder = decoders.Fuse()
    if adds_bos:
        letters.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters,
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        **({"pad_token": "<pad>"} if pad else {}),
    )
    tokenizer.chat_template = chat_template
    return tokenizer


def tiny_model(family: str = "llama", *, seed: int = 0, sharpness: float = 6.0, **settings: Any) -> LoadedModel:
    """A random model of one of FAMILIES, on the CPU in fp32, with ``tiny_tokenizer()``.

    ``sharpness`` multiplies the output weights: higher makes some tokens much more probable than others. ``settings``
    go to the configuration. The same seed gives the same weights.
    """
    from transformers import AutoModelForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(_config(family, settings)).float()
        torch.nn.init.normal_(model.get_output_embeddings().weight, std=sharpness / SIZES["hidden_size"] ** 0.5)
        with torch.no_grad():
            model.get_output_embeddings().weight[:2] = 0  # <pad> and <bos> are rarely said
    return LoadedModel(
        model=model.eval().requires_grad_(False),
        tokenizer=tiny_tokenizer(),
        source=ModelSource(spec=f"tiny-{family}", name=f"tiny-{family}", folder=Path(f"tiny-{family}-{seed}")),
        device=torch.device("cpu"),
        weights_fingerprint=f"tiny-{family}-{seed}",
    )


def save_tiny(loaded: LoadedModel, folder: Path) -> Path:
    """The model as a folder that ``locate`` accepts."""
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    return folder


def _config(family: str, settings: dict[str, Any]) -> Any:
    from transformers import Gemma2Config, Gemma3TextConfig, GPT2Config, LlamaConfig, Qwen3Config

    if family == "llama":
        return LlamaConfig(**{**SIZES, **settings})
    if family == "qwen3":
        return Qwen3Config(**{**SIZES, "head_dim": 8, **settings})
    if family == "gemma3":
        return Gemma3TextConfig(
            **{**SIZES, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 256, "tie_word_embeddings": False}
            | settings
        )
    if family == "gemma2":
        return Gemma2Config(
            **{**SIZES, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 256, "tie_word_embeddings": False}
            | settings
        )
    if family == "gpt2":
        return GPT2Config(
            vocab_size=SIZES["vocab_size"],
            n_embd=32,
            n_layer=3,
            n_head=4,
            n_positions=1024,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            tie_word_embeddings=False,
            **settings,
        )
    raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
