"""The frozen lower half of the layers: its states depend on no trained weight, so they are computed once and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from elical_core.confidence.packing import Row
from elical_core.errors import ConfigError

if TYPE_CHECKING:
    from elical_core.confidence.reader import Reader

KEPT_BYTES = 2 * 2**30  # what does not fit is computed again each time


def layers_of(decoder: Any) -> nn.ModuleList:
    """The decoder's layers, first to last. Raises ConfigError for a model that does not list them as ``layers``."""
    layers = getattr(decoder, "layers", None)
    if not isinstance(layers, nn.ModuleList) or len(layers) < 2:
        raise ConfigError(f"lora_layers=top-half is not available for {type(decoder).__name__}; use lora_layers=all")
    return layers


def top_half(decoder: Any) -> list[int]:
    """Numbers of the layers that are adapted: of 18, the last 9; of 3, the last 2."""
    depth = len(layers_of(decoder))
    return list(range(depth // 2, depth))


class LowerHalf:
    """Keeps the states that enter layer ``depth``, per row without the prompt's opening, and the opening's own.

    Exact: a state depends only on the tokens before it, so the opening's states are those of every row. Rows are laid
    out as in ``layout.pack``.
    """

    def __init__(self, decoder: Any, opening: Sequence[int], kept_bytes: int = KEPT_BYTES) -> None:
        self._layers = layers_of(decoder)
        self._decoder = decoder
        self._depth = len(self._layers) // 2
        self._opening_tokens = tuple(opening)
        self._opening: torch.Tensor | None = None
        self._kept: dict[tuple[int, ...], torch.Tensor] = {}
        self._free = kept_bytes

    @contextmanager
    def given(self, rows: Sequence[Row], reader: Reader) -> Iterator[None]:
        """Inside the block a forward pass over ``pack(rows)`` starts at layer ``depth`` with the kept states."""
        entering = self._entering(rows, reader)
        stand_ins = [_Give(entering), *(_Pass() for _ in range(self._depth - 1))]
        with self._swapped(nn.ModuleList([*stand_ins, *self._layers[self._depth :]])):
            yield

    def _entering(self, rows: Sequence[Row], reader: Reader) -> torch.Tensor:
        """(1, T, d): the opening once, then each row's own states."""
        if self._opening is None:
            self._opening = self._compute([Row(self._opening_tokens, 0)], reader)[0] if self._opening_tokens else None
        found = {row.tokens: self._kept[row.tokens] for row in rows if row.tokens in self._kept}
        missing = [row for row in rows if row.tokens not in found]
        if missing:
            for row, own in zip(missing, self._compute(missing, reader), strict=True):
                found[row.tokens] = own
                size = own.numel() * own.element_size()
                if size <= self._free:
                    self._kept[row.tokens] = own
                    self._free -= size
        shared = min(row.shared for row in rows)
        parts = [] if self._opening is None else [self._opening[:shared]]
        for row in rows:
            if self._opening is not None:
                parts.append(self._opening[shared : row.shared])
            parts.append(found[row.tokens])
        return torch.cat(parts)[None]

    def _compute(self, rows: Sequence[Row], reader: Reader) -> list[torch.Tensor]:
        """Per row the states (own tokens, d) that enter layer ``depth``."""
        layout = reader.layout(rows)
        last = _Pass()
        upper = [last, *(_Pass() for _ in range(len(self._layers) - self._depth - 1))]
        with torch.no_grad(), self._swapped(nn.ModuleList([*self._layers[: self._depth], *upper])):
            reader.run(layout)
        assert last.seen is not None
        states = last.seen[0]
        return [states[a : b + 1].clone() for a, b in zip(layout.first.tolist(), layout.last.tolist(), strict=True)]

    @contextmanager
    def _swapped(self, layers: nn.ModuleList) -> Iterator[None]:
        self._decoder.layers = layers
        try:
            yield
        finally:
            self._decoder.layers = self._layers


class _Pass(nn.Module):
    """A layer that does nothing but note what came in."""

    seen: torch.Tensor | None = None

    def forward(self, hidden_states: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        self.seen = hidden_states
        return hidden_states


class _Give(nn.Module):
    """A layer that returns kept states whatever comes in."""

    def __init__(self, states: torch.Tensor) -> None:
        super().__init__()
        self._states = states

    def forward(self, *_: Any, **__: Any) -> torch.Tensor:
        return self._states
