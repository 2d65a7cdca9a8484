"""How prompts are laid out for one forward pass, as tensors.

*Packed*: one row that holds the prompt's opening once and then every question after another, each seeing only the
opening and itself. Exactly the numbers of separate prompts, at about a fifth of the tokens of a few-shot prompt.
*Padded*: one row per prompt, for models whose layers cannot take such a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from elical_core.confidence.packing import Row

Side = Literal["right", "left"]


@dataclass(frozen=True)
class Layout:
    """Inputs of one pass: ``input_ids`` and ``position_ids`` (B, T), ``attention_mask`` as the model takes it, and for
    each of the n rows where its own tokens lie: ``batch`` (n,), ``first`` and ``last`` (n,), both inclusive."""

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    attention_mask: Any
    batch: torch.Tensor
    first: torch.Tensor
    last: torch.Tensor


def pack(rows: Sequence[Row], config: Any, dtype: torch.dtype) -> Layout:
    """All rows in one sequence (B = 1). ``config`` is the decoder's, ``dtype`` that of an additive mask."""
    shared = min(row.shared for row in rows)
    tokens, positions, owner, first, last = list(rows[0].tokens[:shared]), list(range(shared)), [0] * shared, [], []
    for number, row in enumerate(rows, start=1):
        first.append(len(tokens) + row.shared - shared)
        tokens += row.tokens[shared:]
        positions += range(shared, len(row.tokens))
        owner += [number] * (len(row.tokens) - shared)
        last.append(len(tokens) - 1)
    position_ids = torch.tensor(positions)
    return Layout(
        input_ids=torch.tensor([tokens]),
        position_ids=position_ids[None],
        attention_mask=_packed_masks(torch.tensor(owner), position_ids, config, dtype),
        batch=torch.zeros(len(rows), dtype=torch.long),
        first=torch.tensor(first),
        last=torch.tensor(last),
    )


def pad(rows: Sequence[Row], pad_token: int, side: Side = "right") -> Layout:
    """One row per prompt; positions and the last token are read off the attention mask, so the side does not matter."""
    length = max(len(row.tokens) for row in rows)
    ids = torch.full((len(rows), length), pad_token)
    mask = torch.zeros((len(rows), length), dtype=torch.long)
    for number, row in enumerate(rows):
        real = slice(0, len(row.tokens)) if side == "right" else slice(length - len(row.tokens), length)
        ids[number, real] = torch.tensor(row.tokens)
        mask[number, real] = 1
    last = last_real_token(mask)
    own = torch.tensor([row.own for row in rows])
    return Layout(ids, (mask.cumsum(1) - 1).clamp(min=0), mask, torch.arange(len(rows)), last - own + 1, last)


def last_real_token(mask: torch.Tensor) -> torch.Tensor:
    """(n,) index of the last 1 in each row of ``mask`` (n, T); never -1, whichever side is padded."""
    return (mask * torch.arange(1, mask.shape[1] + 1)).argmax(dim=1)


def can_pack(config: Any) -> bool:
    """Whether every layer is plain or sliding-window attention that takes a mask of ours."""
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    return config._attn_implementation in {"sdpa", "eager"} and kinds <= {"full_attention", "sliding_attention"}


def _packed_masks(owner: torch.Tensor, positions: torch.Tensor, config: Any, dtype: torch.dtype) -> Any:
    """Masks (1, 1, T, T) for tokens of ``owner`` (0 = everybody's opening): one, or one per kind of layer."""
    behind = positions[:, None] - positions[None]
    sees = ((owner[None] == 0) | (owner[None] == owner[:, None])) & (behind >= 0)
    kinds = getattr(config, "layer_types", None) or []
    window = getattr(config, "sliding_window", None)
    if "sliding_attention" in kinds and window is not None:
        return {
            "full_attention": _as_mask(sees, config, dtype),
            "sliding_attention": _as_mask(sees & (behind < window), config, dtype),
        }
    if window is not None and not kinds:  # one kind of layer, all with the window
        sees = sees & (behind < window)
    return _as_mask(sees, config, dtype)


def _as_mask(sees: torch.Tensor, config: Any, dtype: torch.dtype) -> torch.Tensor:
    if config._attn_implementation == "eager":
        return torch.zeros(sees.shape, dtype=dtype).masked_fill(~sees, torch.finfo(dtype).min)[None, None]
    return sees[None, None]
