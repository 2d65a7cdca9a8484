"""Shared by tests that need a language model: a tiny one made here, and the packaged one converted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from elical_core.models import PACKAGED, LoadedModel, Prompt, load_model, locate
from elical_core.models.source import ModelSource

WORDS = [
    *("who", "wrote", "what", "is", "the", "capital", "of", "where", "river", "year", "did", "start", "end", "name"),
    *("first", "last", "Q", "A", ":", "?", ".", "0", "1", "2", "3"),
]
TINY_PROMPT = Prompt(kind="few-shot", text="Q: what is the first river ?\nA: name\n\nQ: {question}\nA:")


def write_tiny_model(folder: Path, family: str = "gemma3", sliding_window: int = 512, seed: int = 0) -> Path:
    """A random two-dozen-kilobyte causal LM of ``family`` (gemma3 or llama) with a word tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import (
        Gemma3ForCausalLM,
        Gemma3TextConfig,
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    vocabulary = {word: i for i, word in enumerate(["<pad>", "<bos>", "<eos>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 1)])  # type: ignore[assignment]
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", unk_token="<unk>", pad_token="<pad>"
    ).save_pretrained(folder)
    size = {
        "vocab_size": len(vocabulary),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 4096,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "initializer_range": 0.3,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if family == "gemma3":
            kinds = ["sliding_attention", "full_attention"] * 2
            config = Gemma3TextConfig(**size, sliding_window=sliding_window, layer_types=kinds, query_pre_attn_scalar=8)
            Gemma3ForCausalLM(config).save_pretrained(folder)
        else:
            LlamaForCausalLM(LlamaConfig(**size)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., LoadedModel]:
    """``tiny(family="gemma3", sliding_window=512, seed=0, dtype="fp32")``: a freshly loaded tiny model."""
    made: dict[tuple[str, int, int], Path] = {}

    def load(family: str = "gemma3", sliding_window: int = 512, seed: int = 0, dtype: str = "fp32") -> LoadedModel:
        key = (family, sliding_window, seed)
        if key not in made:
            made[key] = write_tiny_model(tmp_path_factory.mktemp("tiny"), *key)
        folder = made[key]
        return load_model(
            ModelSource(spec=str(folder), name="tiny", folder=folder),
            device="cpu",
            dtype=dtype,  # type: ignore[arg-type]
        )

    return load


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """For tiny models: on a busy machine several threads wait for each other longer than they work."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def packaged(packaged_home: Path) -> LoadedModel:
    """The packaged model on the CPU, shared: whoever uses it leaves it as it was."""
    return load_model(locate(PACKAGED, home=packaged_home), device="cpu")
