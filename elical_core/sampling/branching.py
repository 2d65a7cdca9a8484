"""The fast engine: shared prompts, branches that are computed once, prompts and branches in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import torch
from transformers import AttentionInterface

from elical_core.sampling.attention import NAME, Layout, Memory, Tree, attend, rounded
from elical_core.sampling.engine import Branch, Room, cache_bytes_per_token
from elical_core.sampling.vocabulary import LOWEST, MIN_ROWS, SlicedHead, TopTokens

AttentionInterface.register(NAME, attend)


class BranchingEngine:
    """Any model of transformers whose attention goes through its attention interface.

    Every token is a row of its own, (rows, 1): prompts and branches share all matrix products, and the attention sorts
    out who sees what. The model's settings are as before between calls, whatever happens inside one.
    """

    joins = True

    def __init__(self, model: Any, head: SlicedHead, *, most: Room, cache_bytes: int) -> None:
        """``most`` bounds the room whatever the memory; ``cache_bytes`` is the memory for keys and values."""
        self._decoder = model.get_decoder()
        self._head = head
        self._device = head.device
        self._most, self._tokens = most, cache_bytes // cache_bytes_per_token(model)
        self._tree = Tree()

    def start(self, common: Sequence[int], longest_prompt: int, max_new_tokens: int, at_least: int) -> Room:
        self._common, self._most_new = len(common), rounded(max_new_tokens)
        longest = self._longest = rounded(max(longest_prompt - len(common), 1))
        branches = max(at_least, min(self._most.branches, self._tokens // 2 // self._most_new))
        slots = max(1, min(self._most.slots, self._tokens // 2 // longest))
        self._lengths = [0] * slots  # of the prompts' rests
        self._row_of: list[int] = []  # of the previous call's branches
        room = rounded(max(len(common), 1))
        self._tree = Tree(make=lambda key: self._memory(key, 0, 1, room, 0))
        first = []
        if common:
            self._common, self._longest = 0, room
            with torch.inference_mode():
                self.forward([], [(0, common)])
            self._common, self._longest = len(common), longest
            first = [(number, m.stretch[:, 0, :, : len(common)]) for number, m in self._tree.layers.items()]
        self._tree = Tree(make=lambda key: self._memory(key, 0, slots, longest, branches))
        for number, shared in first:
            memory = self._memory(shared[0].transpose(0, 1).unsqueeze(2), 0, slots, longest, branches)
            memory.common = shared.clone()
            self._tree.layers[number] = memory
        return Room(branches, slots)

    def stop(self) -> None:
        self._tree = Tree()
        self._head.forget()

    def forward(self, branches: Sequence[Branch], prompts: Sequence[tuple[int, Sequence[int]]]) -> torch.Tensor:
        rows = self._place(branches)
        width = self._longest  # always the same, so that a prompt's sums do not depend on its neighbours
        for slot, tokens in prompts:
            self._lengths[slot] = len(tokens)
        self._tree.layout = self._layout(branches, rows, prompts, width)
        ids = [0] * len(branches)
        positions = [0] * len(branches)
        for row, branch in zip(rows, branches, strict=True):
            ids[row] = branch.token
            positions[row] = self._common + self._lengths[branch.slot] + branch.depth - 1
        for _, tokens in prompts:
            ids += tokens
            positions += range(self._common, self._common + len(tokens))
        hidden = self._decode(ids, positions)
        ends = accumulate(len(tokens) for _, tokens in prompts)
        wanted = rows + [len(branches) + end - 1 for end in ends]
        self._row_of = rows
        return hidden[torch.tensor(wanted, device=self._device)]

    def best(self, rows: torch.Tensor, m: int, seen: torch.Tensor, total_rows: torch.Tensor) -> TopTokens:
        return self._head.best(rows, m, seen, total_rows)

    def _memory(self, like: torch.Tensor, common: int, slots: int, longest: int, branches: int) -> Memory:
        """``like`` is a layer's key, (rows, kv heads, 1, dim)."""
        heads, dim = like.shape[1], like.shape[3]
        return Memory(
            like.new_zeros(2, heads, common, dim),
            like.new_zeros(2, slots, heads, longest, dim),
            like.new_zeros(2, branches, heads, self._most_new, dim),
        )

    def _place(self, branches: Sequence[Branch]) -> list[int]:
        """A row for every branch; a branch stays in its parent's row where it can, the others' memory is copied."""
        parents = [self._row_of[branch.parent] if branch.parent >= 0 else -1 for branch in branches]
        rows, taken = [-1] * len(branches), [False] * len(branches)
        for i, parent in enumerate(parents):
            if 0 <= parent < len(branches) and not taken[parent]:
                rows[i], taken[parent] = parent, True
        free = iter([row for row, used in enumerate(taken) if not used])
        source, target = [], []
        for i, parent in enumerate(parents):
            if rows[i] < 0:
                rows[i] = next(free)
                if parent >= 0:
                    source.append(parent)
                    target.append(rows[i])
        if source:
            deepest = max(branch.depth for branch in branches) - 1
            old, new = torch.tensor(source, device=self._device), torch.tensor(target, device=self._device)
            for memory in self._tree.layers.values():
                memory.own[:, new, :, :deepest] = memory.own[:, old, :, :deepest]
        return rows

    def _layout(
        self,
        branches: Sequence[Branch],
        rows: Sequence[int],
        prompts: Sequence[tuple[int, Sequence[int]]],
        width: int,
    ) -> Layout:
        n = len(branches)
        slot, depth = [0] * n, [0] * n
        for row, branch in zip(rows, branches, strict=True):
            slot[row], depth[row] = branch.slot, branch.depth - 1
        slots = max(slot, default=-1) + 1
        filled = [0] * slots
        place = []
        for row in range(n):
            place.append(filled[slot[row]])
            filled[slot[row]] += 1
        most = max(filled, default=1)
        device = self._device
        flat = torch.tensor([s * most + p for s, p in zip(slot, place, strict=True)], dtype=torch.long, device=device)
        grid = torch.zeros(slots * most, dtype=torch.long, device=device)
        every = torch.arange(n, device=device)
        grid[flat] = every
        deepest = rounded(max(depth, default=0) + 1)
        longest = next((memory.stretch.shape[3] for memory in self._tree.layers.values()), 0)
        length = torch.tensor(self._lengths, device=device)[torch.tensor(slot, dtype=torch.long, device=device)]
        depths = torch.tensor(depth, dtype=torch.long, device=device)
        seen = torch.cat(
            [
                torch.ones(n, self._common, dtype=torch.bool, device=device),
                torch.arange(longest, device=device) < length[:, None],
                torch.arange(deepest, device=device) <= depths[:, None],
            ],
            dim=1,
        )
        return Layout(
            branches=n,
            depth=depths,
            deepest=deepest,
            grid=grid,
            flat=flat,
            slots=slots,
            bias=torch.zeros(seen.shape, device=device).masked_fill(~seen, LOWEST)[:, None, None],
            rows=every,
            prompts=len(prompts),
            width=width,
            prompt_flat=torch.tensor(
                [i * width + at for i, (_, tokens) in enumerate(prompts) for at in range(len(tokens))],
                dtype=torch.long,
                device=device,
            ),
            into=torch.tensor([slot for slot, _ in prompts], dtype=torch.long, device=device),
            prompt_mask=self._causal(len(prompts), width) if prompts else None,
        )

    def _causal(self, prompts: int, width: int) -> torch.Tensor:
        mask = torch.full((width, width), LOWEST, device=self._device).triu(1)
        mask = torch.cat([torch.zeros(width, self._common, device=self._device), mask], dim=1)
        return mask.expand(prompts, 1, width, self._common + width)

    def _decode(self, ids: list[int], positions: list[int]) -> torch.Tensor:
        """Last hidden states (at least MIN_ROWS, width) of one token per row; rows beyond ``ids`` are padding."""
        missing = max(0, MIN_ROWS - len(ids))
        ids, positions = ids + ids[-1:] * missing, positions + [0] * missing
        with self._own_attention():
            out = self._decoder(
                input_ids=torch.tensor(ids, device=self._device).unsqueeze(1),
                position_ids=torch.tensor(positions, device=self._device).unsqueeze(1),
                use_cache=False,
                elical_tree=self._tree,
            )
        last: torch.Tensor = out.last_hidden_state.squeeze(1)
        return last

    @contextmanager
    def _own_attention(self) -> Iterator[None]:
        config = self._decoder.config
        before = config._attn_implementation_internal
        config._attn_implementation_internal = NAME
        try:
            yield
        finally:
            config._attn_implementation_internal = before
