"""The head: from one state to one logit."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from elical_core.errors import CheckpointError

MLP_WIDTH = 128
SCALE_FLOOR = 0.05  # of the median scale: a dimension that hardly moves is not blown up


class Head(nn.Module):
    """Standardised state -> logit, in fp32.

    The states of a language model have dimensions of very different size; ``mean`` and ``scale`` (d,) of the training
    questions under the unadapted model are part of the head, so that one learning rate fits all of them and the
    adapter. ``shift`` (1,) is added to every logit; it stays 0 while training. ``kind`` is linear (also on a
    mean-pooled state) or mlp (d -> 128 -> 1 with GELU).
    """

    mean: torch.Tensor
    scale: torch.Tensor
    shift: torch.Tensor

    def __init__(self, kind: str, width: int, seed: int = 0) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.register_buffer("shift", torch.zeros(1))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._build(kind, width)

    def _build(self, kind: str, width: int) -> None:
        self.inner: nn.Module | None = None
        if kind == "mlp":
            self.inner = nn.Sequential(nn.Linear(width, MLP_WIDTH), nn.GELU())
            width = MLP_WIDTH
        self.out = nn.Linear(width, 1)

    def standardise(self, states: torch.Tensor) -> None:
        """Takes ``mean`` and ``scale`` from states (n, d); with one row the scale stays 1."""
        self.mean.copy_(states.mean(0))
        if len(states) > 1:
            scale = states.std(0)
            self.scale.copy_(scale.clamp(min=max(SCALE_FLOOR * scale.median().item(), 1e-6)))

    def start_at(self, mean_target: float) -> None:
        """Every question starts at the mean target; the first step decides on a direction."""
        with torch.no_grad():
            self.out.weight.zero_()
            self.out.bias.fill_(torch.logit(torch.tensor(mean_target).clamp(0.01, 0.99)).item())

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Logits (n,) of states (n, d)."""
        x = (states - self.mean) / self.scale
        if self.inner is not None:
            x = self.inner(x)
        logits: torch.Tensor = self.out(x)[:, 0] + self.shift
        return logits


def load_head(kind: str, width: int, tensors: Mapping[str, torch.Tensor]) -> Head:
    """The head whose ``state_dict`` is ``tensors``; CheckpointError when it is of another kind or width."""
    head = Head(kind, width)
    expected = {name: tuple(t.shape) for name, t in head.state_dict().items()}
    if (found := {name: tuple(t.shape) for name, t in tensors.items()}) != expected:
        raise CheckpointError(f"the head holds {found}, a {kind} head of width {width} holds {expected}; train again")
    head.load_state_dict(dict(tensors))
    return head
