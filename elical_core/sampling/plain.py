"""The engine for every other model: transformers' own attention and cache, one wave of prompts at a time."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

from elical_core.sampling.engine import Branch, Room, cache_bytes_per_token
from elical_core.sampling.vocabulary import FullLogits, TopTokens


class PlainEngine:
    """Prompts are padded on the left and read once; branches share the prompt's computation, not its memory.

    New prompts wait until all branches of the wave have ended. Rows of ``forward`` are whole logits.
    """

    joins = False

    def __init__(self, model: Any, *, most: Room, cache_bytes: int) -> None:
        """As BranchingEngine."""
        self._most, self._tokens = most, cache_bytes // cache_bytes_per_token(model)
        self._model = model
        self._device = model.device
        self._full = FullLogits(int(model.get_output_embeddings().weight.shape[0]))
        names = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"
        self._keep = {"logits_to_keep": 1} if "logits_to_keep" in names else {}
        self._takes_positions = "position_ids" in names
        self._prefix: list[int] = []
        self.stop()

    def start(self, common: Sequence[int], longest_prompt: int, max_new_tokens: int, at_least: int) -> Room:
        self._prefix = list(common)
        branches = max(at_least, min(self._most.branches, self._tokens // (longest_prompt + max_new_tokens)))
        return Room(branches, max(1, branches // at_least))

    def stop(self) -> None:
        self._cache: Any = None
        self._mask = torch.zeros(0, 0, dtype=torch.long, device=self._device)
        self._row_of_slot: dict[int, int] = {}

    def forward(self, branches: Sequence[Branch], prompts: Sequence[tuple[int, Sequence[int]]]) -> torch.Tensor:
        return self._read(prompts) if prompts else self._lengthen(branches)

    def best(self, rows: torch.Tensor, m: int, seen: torch.Tensor, total_rows: torch.Tensor) -> TopTokens:
        return self._full.best(rows, m, seen, total_rows)

    def _read(self, prompts: Sequence[tuple[int, Sequence[int]]]) -> torch.Tensor:
        texts = [[*self._prefix, *tokens] for _, tokens in prompts]
        width = max(len(text) for text in texts)
        ids = torch.tensor([[0] * (width - len(text)) + text for text in texts], device=self._device)
        self._mask = torch.tensor([[0] * (width - len(t)) + [1] * len(t) for t in texts], device=self._device)
        self._cache = DynamicCache(config=self._model.config)
        self._row_of_slot = {slot: row for row, (slot, _) in enumerate(prompts)}
        return self._run(ids, (self._mask.cumsum(1) - 1).clamp(min=0))

    def _lengthen(self, branches: Sequence[Branch]) -> torch.Tensor:
        parents = torch.tensor(
            [branch.parent if branch.parent >= 0 else self._row_of_slot[branch.slot] for branch in branches],
            device=self._device,
        )
        self._cache.reorder_cache(parents)
        self._mask = torch.cat([self._mask[parents], self._mask.new_ones(len(branches), 1)], dim=1)
        ids = torch.tensor([[branch.token] for branch in branches], device=self._device)
        return self._run(ids, self._mask.sum(1, keepdim=True) - 1)

    def _run(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        out = self._model(
            input_ids=ids,
            attention_mask=self._mask,
            use_cache=True,
            **{self._cache_name: self._cache},
            **({"position_ids": positions} if self._takes_positions else {}),
            **self._keep,
        )
        last: torch.Tensor = out.logits[:, -1]
        return last
