"""An adapted model inside a block: adapter, head and reader over a language model that others use too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from elical_core.confidence.adapter import attached, put_adapter_state
from elical_core.confidence.checkpoint import Checkpoint
from elical_core.confidence.head import Head, load_head
from elical_core.confidence.lower import LowerHalf
from elical_core.confidence.packing import Row, common_prefix, make_rows
from elical_core.confidence.reader import Reader, Way, proven_way
from elical_core.config import ConfidenceConfig
from elical_core.errors import CheckpointError, ConfigError
from elical_core.models import LoadedModel, Prompt, encode

PROBES = ("0", "Who?")  # two questions with nothing in common: what their prompts share is the prompt's opening


@dataclass(frozen=True, kw_only=True)
class Session:
    """``peft_model`` is trained, ``head`` beside it, ``reader`` gives the states that the head reads."""

    peft_model: Any
    head: Head
    reader: Reader


def opening_of(tokenizer: Any, prompt: Prompt, max_tokens: int) -> list[int]:
    """The tokens that every prompt without a context begins with."""
    first, second = encode(tokenizer, prompt, PROBES, None, max_tokens)
    return first[: common_prefix(first, second)]


def rows_for(
    tokenizer: Any, prompt: Prompt, questions: Sequence[str], contexts: Sequence[str] | None, max_tokens: int
) -> list[Row]:
    """One row per question. Raises QuestionTooLong; ``[]`` for no questions."""
    encoded = encode(tokenizer, prompt, questions, contexts, max_tokens)
    return make_rows(encoded, opening_of(tokenizer, prompt, max_tokens)) if encoded else []


@contextmanager
def fresh(
    loaded: LoadedModel,
    prompt: Prompt,
    shape: ConfidenceConfig,
    *,
    bf16: bool,
    seed: int,
    keep_lower: bool,
    way: Way | None = None,
) -> Iterator[Session]:
    """A new adapter and head round ``loaded``, which is as it was after the block.

    ``keep_lower``: for a top-half adapter, keep the frozen lower half's states between passes (for training).
    """
    decoder = loaded.model.get_decoder()
    with attached(loaded.model, shape, seed=seed, bf16=bf16) as peft_model:
        reader = Reader(
            decoder=decoder,
            pad_token=loaded.tokenizer.pad_token_id,
            pooling="mean" if shape.head == "mean-pool" else "last",
            bf16=bf16,
        )
        probes = rows_for(loaded.tokenizer, prompt, PROBES, None, shape.max_tokens)
        reader = replace(reader, way=way or proven_way(reader, probes))
        if shape.lora_layers == "top-half":
            if reader.way != "packed":
                raise ConfigError(
                    f"lora_layers=top-half is not available for {type(decoder).__name__}; use lora_layers=all"
                )
            if keep_lower:
                reader = replace(reader, lower=LowerHalf(decoder, probes[0].tokens[: probes[0].shared]))
        head = Head(shape.head, decoder.config.hidden_size, seed=seed).to(loaded.device)
        yield Session(peft_model=peft_model, head=head, reader=reader)


@contextmanager
def opened(checkpoint: Checkpoint, loaded: LoadedModel, *, keep_lower: bool = False) -> Iterator[Session]:
    """The checkpoint's adapter and head round ``loaded``, which is as it was after the block."""
    manifest = checkpoint.manifest
    bf16, shape = checkpoint.precision == "bf16", checkpoint.shape
    with fresh(
        loaded, checkpoint.prompt, shape, bf16=bf16, seed=0, keep_lower=keep_lower, way=checkpoint.way
    ) as session:
        put_adapter_state(session.peft_model, checkpoint.adapter)
        head = load_head(shape.head, manifest.width, checkpoint.head).to(loaded.device)
        yield Session(peft_model=session.peft_model, head=head, reader=session.reader)


def require_same_model(checkpoint: Checkpoint, loaded: LoadedModel) -> None:
    """Raises CheckpointError unless ``loaded`` has the very weights that the checkpoint was trained on."""
    wanted = checkpoint.manifest.model
    if wanted["weights_fingerprint"] != loaded.weights_fingerprint:
        raise CheckpointError(
            f"the checkpoint was trained on {wanted['spec']} (weights {str(wanted['weights_fingerprint'])[:8]}) but "
            f"{loaded.source.spec} (weights {loaded.weights_fingerprint[:8]}) was loaded; load {wanted['spec']}, or "
            f"train again on this model"
        )
