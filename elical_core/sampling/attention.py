"""Attention of many short branches over shared text, without a copy of the shared part per branch.

A branch attends to three stretches: the text that all prompts begin with (one matrix for everybody), the rest of its
prompt (one per prompt) and its own tokens. Scores of the three are set side by side for one softmax. A usual batch
would read, and on every step re-write, the whole prompt once per branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

NAME = "elical_branches"
STEP = 32  # lengths grow in such steps: sums then run in the same order whatever else is in the batch


def rounded(length: int) -> int:
    """``length`` raised to the next multiple of STEP."""
    return -(-length // STEP) * STEP


@dataclass
class Layout:
    """Which rows of the current call are what; the same for all layers.

    The call has ``branches`` rows of one token, then the tokens of ``prompts`` prompts, then padding. Row r of the
    branches sits in place ``flat[r]`` of ``grid``, (slots x most) row numbers (row 0 where a place is empty); prompt
    token t sits in place ``prompt_flat[t]`` of (prompts x width).
    """

    branches: int
    depth: torch.Tensor  # (branches,) tokens of the branch before this one
    deepest: int
    grid: torch.Tensor  # (slots * most,)
    flat: torch.Tensor  # (branches,)
    slots: int
    bias: torch.Tensor  # (branches, 1, 1, common + stretch + deepest): 0 or -inf
    rows: torch.Tensor  # (branches,) 0, 1, 2, ...
    prompts: int
    width: int
    prompt_flat: torch.Tensor  # (prompt tokens,)
    into: torch.Tensor  # (prompts,) slot numbers
    prompt_mask: torch.Tensor | None  # (prompts, 1, width, common + width)


@dataclass
class Memory:
    """Keys and values of one layer; k and v are stacked in the first axis. Shapes: heads = key-value heads.

    ``common`` (2, heads, common, dim); ``stretch`` (2, slots, heads, longest rest of a prompt, dim); ``own``
    (2, branches, heads, max_new_tokens, dim).
    """

    common: torch.Tensor
    stretch: torch.Tensor
    own: torch.Tensor


@dataclass
class Tree:
    """Everything the attention of one engine needs; handed through the model's forward as a keyword."""

    layout: Layout | None = None
    layers: dict[int, Memory] = field(default_factory=dict)
    make: Callable[[torch.Tensor], Memory] | None = None


def attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    elical_tree: Tree | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """The attention function that transformers calls in every layer: (rows, heads, 1, dim) -> (rows, 1, heads, dim)."""
    if elical_tree is None or elical_tree.layout is None or elical_tree.make is None:
        raise ValueError(f"the attention {NAME} was called without its tree")
    if others.get("s_aux") is not None or others.get("position_bias") is not None:
        raise NotImplementedError("attention with sinks or position bias")
    layout, number = elical_tree.layout, int(module.layer_idx)
    if number not in elical_tree.layers:
        elical_tree.layers[number] = elical_tree.make(key)
    memory = elical_tree.layers[number]
    query = query.squeeze(2) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    key, value = key.squeeze(2), value.squeeze(2)
    n, end = layout.branches, layout.branches + len(layout.prompt_flat)
    parts = []
    if n:
        parts.append(_branches(query[:n], key[:n], value[:n], memory, layout, softcap))
    if layout.prompts:
        parts.append(_prompts(query[n:end], key[n:end], value[n:end], memory, layout, softcap))
    if end < len(query):
        parts.append(torch.zeros_like(query[end:]))
    out = parts[0] if len(parts) == 1 else torch.cat(parts)
    return out.unsqueeze(1), None


def _branches(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, memory: Memory, layout: Layout, softcap: float | None
) -> torch.Tensor:
    """(branches, heads, dim) for queries of that shape; stores the new keys and values."""
    n, heads, dim = query.shape
    kv = key.shape[1]
    group = heads // kv
    memory.own[0][layout.rows, :, layout.depth] = key
    memory.own[1][layout.rows, :, layout.depth] = value
    common_k, common_v = memory.common
    stretch_k, stretch_v = memory.stretch[:, : layout.slots]
    own_k, own_v = memory.own[:, :n, :, : layout.deepest]
    q = query.view(n, kv, group, dim)
    scores = []
    if common_k.shape[1]:
        together = q.transpose(0, 1).reshape(kv, n * group, dim) @ common_k.transpose(1, 2)
        scores.append(together.view(kv, n, group, -1).transpose(0, 1))
    in_grid = _to_grid(q, layout)
    scores.append(_from_grid(in_grid @ stretch_k.transpose(2, 3), layout, group))
    scores.append(q @ own_k.transpose(2, 3))
    lengths = [part.shape[-1] for part in scores]
    weights = torch.softmax(_capped(torch.cat(scores, dim=-1), softcap) + layout.bias, dim=-1).to(query.dtype)
    *first, on_stretch, on_own = torch.split(weights, lengths, dim=-1)
    out = on_own @ own_v
    out += _from_grid(_to_grid(on_stretch, layout) @ stretch_v, layout, group)
    if first:
        together = first[0].transpose(0, 1).reshape(kv, n * group, -1) @ common_v
        out += together.view(kv, n, group, dim).transpose(0, 1)
    return torch.reshape(out, (n, heads, dim))


def _capped(scores: torch.Tensor, softcap: float | None) -> torch.Tensor:
    scores = scores.float()
    return scores if softcap is None else torch.tanh(scores / softcap) * softcap


def _to_grid(per_row: torch.Tensor, layout: Layout) -> torch.Tensor:
    """(branches, kv, group, x) -> (slots, kv, most * group, x)."""
    _, kv, group, x = per_row.shape
    grid = per_row[layout.grid].view(layout.slots, -1, kv, group, x)
    return grid.transpose(1, 2).reshape(layout.slots, kv, -1, x)


def _from_grid(in_grid: torch.Tensor, layout: Layout, group: int) -> torch.Tensor:
    """(slots, kv, most * group, x) -> (branches, kv, group, x)."""
    slots, kv, _, x = in_grid.shape
    per_place = in_grid.view(slots, kv, -1, group, x).transpose(1, 2).reshape(-1, kv, group, x)
    return per_place[layout.flat]


def _prompts(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, memory: Memory, layout: Layout, softcap: float | None
) -> torch.Tensor:
    """(prompt tokens, heads, dim): each prompt reads the common text and itself; keys and values are stored."""
    heads, dim = query.shape[1:]
    p, width, kv = layout.prompts, layout.width, key.shape[1]
    query, key, value = (_padded(x, layout).view(p, width, -1, dim).transpose(1, 2) for x in (query, key, value))
    memory.stretch[0, layout.into, :, :width] = key
    memory.stretch[1, layout.into, :, :width] = value
    key, value = (
        torch.cat([shared.expand(p, *shared.shape), mine], dim=2).repeat_interleave(heads // kv, dim=1)
        for shared, mine in zip(memory.common, (key, value), strict=True)
    )
    assert layout.prompt_mask is not None
    if softcap is None:
        out = scaled_dot_product_attention(query, key, value, attn_mask=layout.prompt_mask.to(query.dtype), scale=1.0)
    else:
        scores = _capped(query @ key.transpose(2, 3), softcap) + layout.prompt_mask
        out = torch.softmax(scores, dim=-1).to(query.dtype) @ value
    return out.transpose(1, 2).reshape(p * width, heads, dim)[layout.prompt_flat]


def _padded(per_token: torch.Tensor, layout: Layout) -> torch.Tensor:
    """(prompt tokens, heads, dim) -> (prompts * width, heads, dim), zeros where a prompt is shorter."""
    grid = per_token.new_zeros(layout.prompts * layout.width, *per_token.shape[1:])
    grid[layout.prompt_flat] = per_token
    return grid
