"""The best tokens of a large vocabulary, without sorting it.

The output matrix is multiplied in slices that stay in the processor's cache. Of every slice only the maximum of each
block of 64 tokens is looked at: the m best tokens lie in the m blocks with the largest maxima, so a top-m over the
block maxima and then over the members of the m winners is exact. For Gemma's 262,144 tokens this costs a tenth of the
matrix product; a softmax or sort over the vocabulary costs more than the product itself.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

SLICE = 16_384
BLOCK = 64
MIN_ROWS = 16  # smaller matrix products take other code paths, which round differently
LOWEST = float("-inf")


class TopTokens(NamedTuple):
    """Per row: the best tokens outside ``seen``, the logits of ``seen``, and the log of the softmax denominator.

    ``ids`` and ``values`` are (rows, m), best first; ``seen_values`` (rows, s) row-aligned with the ids that were asked
    for; ``log_total`` (rows,) over the whole vocabulary, NaN for rows where it was not asked for. All values float32
    and unmodified.
    """

    ids: torch.Tensor
    values: torch.Tensor
    seen_values: torch.Tensor
    log_total: torch.Tensor


class SlicedHead:
    """Multiplies hidden states with the output matrix slice by slice into one buffer that is kept between calls."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None, softcap: float | None = None) -> None:
        """``weight`` is (vocabulary, width), ``bias`` (vocabulary,), ``softcap`` c means c * tanh(logit / c)."""
        self._weight, self._bias, self._softcap = weight, bias, softcap
        self.vocabulary = weight.shape[0]
        self.device = weight.device
        self._buffer = weight.new_empty(0)

    def forget(self) -> None:
        """Frees the buffer."""
        self._buffer = self._weight.new_empty(0)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """All logits (rows, vocabulary) of ``hidden`` (rows, width); for checks, not for speed."""
        slices = range(-(-self.vocabulary // SLICE))
        parts = [self._multiply(hidden, i, hidden.new_empty(hidden.shape[0], SLICE)) for i in slices]
        return torch.cat(parts, dim=1)[:, : self.vocabulary]

    def best(self, hidden: torch.Tensor, m: int, seen: torch.Tensor, total_rows: torch.Tensor) -> TopTokens:
        """The ``m`` best tokens of every row of ``hidden`` (rows, width) that are not in its row of ``seen``.

        ``seen`` is (rows, s) token ids, -1 where a row has fewer, no id twice in a row. ``total_rows`` are the row
        numbers whose ``log_total`` is wanted.
        """
        asked, m = hidden.shape[0], min(m, self.vocabulary)
        if asked < MIN_ROWS:
            hidden = torch.cat([hidden, hidden.new_zeros(MIN_ROWS - asked, hidden.shape[1])])
            seen = torch.cat([seen, seen.new_full((MIN_ROWS - asked, seen.shape[1]), -1)])
        rows = hidden.shape[0]
        slices = -(-self.vocabulary // SLICE)
        size = slices * rows * SLICE
        if self._buffer.numel() < size:
            self._buffer = hidden.new_empty(size)
        logits = self._buffer[:size].view(slices, rows, SLICE)
        maxima = hidden.new_empty(rows, slices, SLICE // BLOCK)
        totals = hidden.new_empty((slices, len(total_rows)), dtype=torch.float32)
        hide = _BySlice(seen, rows)
        for number in range(slices):
            part = self._multiply(hidden, number, logits[number])
            if len(total_rows):
                torch.logsumexp(part.index_select(0, total_rows).float(), 1, out=totals[number])
            hide.read_and_hide(number, part)
            maxima[:, number] = part.view(rows, BLOCK, SLICE // BLOCK).amax(1)
        ids, values = _top_of_blocks(logits, maxima.flatten(1), m)
        log_total = hidden.new_full((rows,), float("nan"), dtype=torch.float32)
        log_total[total_rows] = torch.logsumexp(totals, 0)
        return TopTokens(ids[:asked], values[:asked], hide.values[:asked], log_total[:asked])

    def _multiply(self, hidden: torch.Tensor, number: int, out: torch.Tensor) -> torch.Tensor:
        """Logits of one slice, written into ``out`` (rows, SLICE); tokens past the vocabulary are -inf."""
        weight = self._weight[number * SLICE : (number + 1) * SLICE]
        width = weight.shape[0]
        if width == SLICE:
            torch.mm(hidden, weight.T, out=out)
        else:
            out[:, :width] = hidden @ weight.T
            out[:, width:] = LOWEST
        if self._bias is not None:
            out[:, :width] += self._bias[number * SLICE : (number + 1) * SLICE]
        if self._softcap:
            out[:, :width] = torch.tanh(out[:, :width] / self._softcap) * self._softcap
        return out


class FullLogits:
    """The same for backends that only give whole rows of logits."""

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary

    def best(self, logits: torch.Tensor, m: int, seen: torch.Tensor, total_rows: torch.Tensor) -> TopTokens:
        """As SlicedHead.best, for ``logits`` (rows, vocabulary)."""
        full = logits.float()
        log_total = full.new_full((full.shape[0],), float("nan"))
        log_total[total_rows] = torch.logsumexp(full.index_select(0, total_rows), 1)
        there = seen >= 0
        seen_values = full.gather(1, seen.clamp(min=0)).masked_fill(~there, LOWEST)
        row, column = there.nonzero(as_tuple=True)
        full = full.clone()
        full[row, seen[row, column]] = LOWEST
        values, ids = full.topk(min(m, self.vocabulary), dim=1)
        return TopTokens(ids, values, seen_values, log_total)


class _BySlice:
    """Reads the logits of the seen tokens and puts -inf in their place, slice by slice."""

    def __init__(self, seen: torch.Tensor, rows: int) -> None:
        self.values = torch.full(seen.shape, LOWEST, dtype=torch.float32, device=seen.device)
        row, column = (seen >= 0).nonzero(as_tuple=True)
        token = seen[row, column]
        order = torch.argsort(token // SLICE, stable=True)
        row, column, token = row[order], column[order], token[order]
        self._place = row * SLICE + token % SLICE
        self._target = row * seen.shape[1] + column
        counts = torch.bincount(token // SLICE, minlength=1)
        self._ends = [0, *counts.cumsum(0).tolist()]

    def read_and_hide(self, number: int, part: torch.Tensor) -> None:
        if number + 1 >= len(self._ends) or self._ends[number] == self._ends[number + 1]:
            return
        mine = slice(self._ends[number], self._ends[number + 1])
        flat = part.view(-1)
        self.values.view(-1)[self._target[mine]] = flat[self._place[mine]].float()
        flat[self._place[mine]] = LOWEST


def _top_of_blocks(logits: torch.Tensor, maxima: torch.Tensor, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and values (rows, m), best first, of ``logits`` (slices, rows, SLICE), given its block ``maxima``.

    Block b = slice * (SLICE / BLOCK) + j holds the tokens j, j + SLICE/BLOCK, j + 2 SLICE/BLOCK, ... of its slice.
    """
    per_slice = SLICE // BLOCK
    rows = logits.shape[1]
    blocks = maxima.topk(min(m, maxima.shape[1]), dim=1, sorted=False).indices
    inside = torch.arange(BLOCK, device=logits.device) * per_slice + (blocks % per_slice)[:, :, None]
    number = (blocks // per_slice)[:, :, None]
    row = torch.arange(rows, device=logits.device)[:, None, None]
    members = logits.view(-1)[((number * rows + row) * SLICE + inside).flatten(1)].float()
    values, chosen = members.topk(m, dim=1)
    return (number * SLICE + inside).flatten(1).gather(1, chosen), values
