"""From prompts to one vector each: the adapted model's last layer, read at the question's last token.

The language model's output layer is never computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from elical_core.confidence.layout import Layout, Side, can_pack, pack, pad
from elical_core.confidence.lower import LowerHalf
from elical_core.confidence.packing import Row, packs

Pooling = Literal["last", "mean"]
Way = Literal["packed", "padded"]
PACK_TOKENS = {"cpu": 768}  # beyond this, attention between strangers that is masked away costs more than is saved
PASS_TOKENS = 4096
PROOF_FP32, PROOF_BF16 = 1e-3, 5e-2  # relative error that is rounding; a wrong mask is off by tens of percent


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads hidden states off ``decoder`` (the language model without its output layer).

    ``bf16`` runs under autocast. Rows alone, in any batch, packed or padded on either side agree within 1e-4 in fp32
    and within about 1% of the state's size in bf16.
    """

    decoder: Any
    pad_token: int
    pooling: Pooling = "last"
    bf16: bool = False
    way: Way = "packed"
    side: Side = "right"
    lower: LowerHalf | None = None

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.decoder.parameters()).device
        return device

    def passes(self, rows: Sequence[Row], max_rows: int) -> Iterator[list[int]]:
        """Row numbers of ``rows`` in groups of at most ``max_rows`` that fit into one pass, shortest first."""
        if self.way == "packed":
            return packs(rows, max_rows, PACK_TOKENS.get(self.device.type, PASS_TOKENS))
        return packs([Row(row.tokens, 0) for row in rows], max_rows, PASS_TOKENS)

    def read(self, rows: Sequence[Row]) -> torch.Tensor:
        """States (n, d) in fp32 of all rows in one pass, row-aligned; gradients flow when they are on."""
        layout = self.layout(rows)
        with nullcontext() if self.lower is None else self.lower.given(rows, self):
            return self.pool(self.run(layout), layout)

    def read_all(self, rows: Sequence[Row], max_rows: int, tick: Callable[[int], None] | None = None) -> torch.Tensor:
        """States (n, d) in fp32 on the CPU without gradients, in the order of ``rows``; (0, d) for none.

        ``tick`` hears how many rows are done after each pass.
        """
        states = torch.empty((len(rows), self.decoder.config.hidden_size))
        done = 0
        with torch.no_grad():
            for numbers in self.passes(rows, max_rows):
                states[numbers] = self.read([rows[n] for n in numbers]).cpu()
                done += len(numbers)
                if tick is not None:
                    tick(done)
        return states

    def layout(self, rows: Sequence[Row]) -> Layout:
        if self.way == "packed":
            return pack(rows, self.decoder.config, torch.bfloat16 if self.bf16 else torch.float32)
        return pad(rows, self.pad_token, self.side)

    def run(self, layout: Layout) -> torch.Tensor:
        """Last-layer states (B, T, d) of every token."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            states: torch.Tensor = self.decoder(
                input_ids=layout.input_ids.to(self.device),
                position_ids=layout.position_ids.to(self.device),
                attention_mask=_to(layout.attention_mask, self.device),
                use_cache=False,
            ).last_hidden_state
        return states

    def pool(self, states: torch.Tensor, layout: Layout) -> torch.Tensor:
        """(n, d) in fp32: the state of each row's last token, or the mean over its own tokens."""
        batch, first, last = (t.to(states.device) for t in (layout.batch, layout.first, layout.last))
        if self.pooling == "last":
            return states[batch, last].float()
        start = batch * states.shape[1]
        index = torch.arange(states.shape[0] * states.shape[1], device=states.device)[None]
        own = ((index >= (start + first)[:, None]) & (index <= (start + last)[:, None])).float()
        return (own / own.sum(1, keepdim=True)) @ states.flatten(0, 1).float()


def proven_way(reader: Reader, rows: Sequence[Row]) -> Way:
    """``packed`` when the model's own layers, asked with ``rows``, give the states of separate prompts; else
    ``padded``. Some models (ALiBi, state spaces) count tokens in a way that no mask can tell apart."""
    if not can_pack(reader.decoder.config):
        return "padded"
    with torch.no_grad():
        apart = replace(reader, way="padded").read(rows)
        try:
            together = replace(reader, way="packed").read(rows)
        except (RuntimeError, ValueError, TypeError, IndexError):  # the model takes no mask of this shape
            return "padded"
    wrong = float((together - apart).norm() / apart.norm().clamp(min=1e-12))
    return "packed" if wrong < (PROOF_BF16 if reader.bf16 else PROOF_FP32) else "padded"


def _to(mask: Any, device: torch.device) -> Any:
    if isinstance(mask, dict):
        return {kind: m.to(device) for kind, m in mask.items()}
    return mask.to(device)
