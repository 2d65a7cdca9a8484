"""The decoding loop: questions come in, their branches grow together, finished questions go out."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import torch

from elical_core.config import SamplingConfig
from elical_core.sampling.answers import AnswerReader
from elical_core.sampling.engine import Branch, Engine, Room
from elical_core.sampling.pick import Distribution, distribution, draw, looked_at, uniforms
from elical_core.sampling.tree import Growing, Node

PROMPT_TOKENS = 8192  # read in one pass at most, unless one prompt alone is longer: bounds the memory of a pass

Waiting = deque[tuple[int, list[int], str]]  # index of the request, prompt tokens after the common ones, key


class Decoder:
    """Runs one call of a sampler on one engine. ``busy`` while answers grow."""

    def __init__(self, engine: Engine, reader: AnswerReader, config: SamplingConfig, device: torch.device) -> None:
        self._engine, self._reader, self._config, self._device = engine, reader, config, device
        self._nodes: list[Node] = []
        self._branches: list[Branch] = []
        self._free: list[int] = []
        self._room = Room(0, 0)
        self._common: list[int] = []
        self._growing: dict[int, Growing] = {}  # by slot
        self.head_rows = 0
        self.body_rows = 0

    @property
    def busy(self) -> bool:
        return bool(self._growing)

    def start(self, common: list[int], longest: int) -> None:
        """``longest`` prompt that may come, in tokens, ``common`` included."""
        with torch.inference_mode():
            self._room = self._engine.start(common, longest, self._config.max_new_tokens, self._config.k + 1)
        self._common = common
        self._free = list(range(self._room.slots - 1, -1, -1))

    def step(self, waiting: Waiting) -> list[Growing]:
        """One pass of the model: takes new questions from ``waiting`` where there is room, lengthens every branch by
        one token, and returns the questions that are finished."""
        new = self._admit(waiting)
        prompts = [(growing.slot, tokens) for growing, tokens in new]
        self._nodes += [Node(growing, list(range(len(growing.tokens))), [], -1) for growing, _ in new]
        with torch.inference_mode():
            rows = self._engine.forward(self._branches, prompts)
            choice = self._choose(rows)
            tokens = self._draw(choice)
        self.head_rows += len(self._nodes)
        self.body_rows += len(self._branches) + sum(len(tokens) for _, tokens in new)
        return self._grow(tokens, choice)

    def _admit(self, waiting: Waiting) -> list[tuple[Growing, list[int]]]:
        """New questions while all their answers, were they all different, would still fit."""
        if self._branches and not self._engine.joins:
            return []
        members = self._config.k + 1
        alive = sum(growing.alive for growing in self._growing.values())
        new: list[tuple[Growing, list[int]]] = []
        to_read = 0
        while waiting and self._free and alive + members <= self._room.branches:
            to_read += len(waiting[0][1])
            if new and to_read > PROMPT_TOKENS:
                break
            index, tokens, key = waiting.popleft()
            chance = uniforms(self._config.seed, key, self._config.k, self._config.max_new_tokens)
            growing = Growing(index, self._free.pop(), chance, sorted({*self._common, *tokens}))
            self._growing[growing.slot] = growing
            alive += members
            new.append((growing, tokens))
        return new

    def _choose(self, rows: torch.Tensor) -> Distribution:
        seen = self._seen()
        greedy = torch.tensor([i for i, node in enumerate(self._nodes) if node.members[0] == 0], device=self._device)
        top = self._engine.best(rows, looked_at(self._config), seen, greedy.long())
        return distribution(top, seen, self._config)

    def _seen(self) -> torch.Tensor:
        """(nodes, s) distinct tokens of prompt and branch, -1 where there are fewer; s = 0 without a penalty."""
        if self._config.repetition_penalty == 1:
            return torch.zeros(len(self._nodes), 0, dtype=torch.long, device=self._device)
        lists = [[*node.growing.prompt_tokens, *node.fresh] for node in self._nodes]
        width = max(map(len, lists))
        return torch.tensor([row + [-1] * (width - len(row)) for row in lists], device=self._device)

    def _draw(self, choice: Distribution) -> list[list[int]]:
        """Per node the next token of each of its members."""
        where, chance = [], []
        for i, node in enumerate(self._nodes):
            step = len(node.said)
            for member in node.members:
                where.append(i)
                chance.append(node.growing.chance[member - 1, step] if member else 0.0)
        drawn = draw(
            choice,
            torch.tensor(where, device=self._device),
            torch.tensor(chance, dtype=torch.float64, device=self._device),
        ).tolist()
        greedy = choice.greedy.tolist()
        tokens: list[list[int]] = []
        at = 0
        for i, node in enumerate(self._nodes):
            mine = drawn[at : at + len(node.members)]
            if node.members[0] == 0:
                mine[0] = greedy[i]
            tokens.append(mine)
            at += len(node.members)
        return tokens

    def _grow(self, tokens: Sequence[Sequence[int]], choice: Distribution) -> list[Growing]:
        logprobs = choice.greedy_logprob.tolist()
        nodes: list[Node] = []
        branches: list[Branch] = []
        for i, (node, mine) in enumerate(zip(self._nodes, tokens, strict=True)):
            growing = node.growing
            if node.members[0] == 0 and mine[0] not in self._reader.end_ids:
                growing.greedy_logprobs.append(logprobs[i])
            together: dict[int, list[int]] = {}
            for member, token in zip(node.members, mine, strict=True):
                together.setdefault(token, []).append(member)
            for token, members in together.items():
                if token in self._reader.end_ids:
                    self._close(growing, members, node.said, True)
                    continue
                said = [*node.said, token]
                if (ended := self._reader.ends(said)) or len(said) == self._config.max_new_tokens:
                    self._close(growing, members, said, ended)
                    continue
                branches.append(Branch(slot=growing.slot, parent=node.row, depth=len(said), token=token))
                fresh = node.fresh if growing.has(token) or token in node.fresh else [*node.fresh, token]
                nodes.append(Node(growing, members, said, len(nodes), fresh))
        self._nodes, self._branches = nodes, branches
        done = [growing for growing in self._growing.values() if not growing.alive]
        for growing in done:
            del self._growing[growing.slot]
            self._free.append(growing.slot)
        return done

    @staticmethod
    def _close(growing: Growing, members: Sequence[int], said: list[int], ended: bool) -> None:
        for member in members:
            growing.tokens[member], growing.ended[member] = said, ended
        growing.alive -= len(members)
