"""Which questions go through the model together. Pure: token lists and row numbers in, row numbers out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

BUCKET = 32  # batches whose questions are sorted by length together: little padding, still well mixed


@dataclass(frozen=True)
class Row:
    """The tokens of one prompt. The first ``shared`` of them are the prompt's opening, the same for every question;
    at least one token is the question's own."""

    tokens: tuple[int, ...]
    shared: int

    @property
    def own(self) -> int:
        return len(self.tokens) - self.shared


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Number of leading tokens that ``a`` and ``b`` share."""
    length = min(len(a), len(b))
    return next((i for i in range(length) if a[i] != b[i]), length)


def make_rows(token_rows: Sequence[Sequence[int]], opening: Sequence[int]) -> list[Row]:
    """Rows that know how much of the prompt's ``opening`` they begin with, but never all of a row."""
    return [Row(tuple(t), min(common_prefix(t, opening), len(t) - 1)) for t in token_rows]


def epoch_batches(lengths: Sequence[int], batch_size: int, rng: np.random.Generator) -> list[list[int]]:
    """Every row number once, in shuffled batches of ``batch_size`` rows of similar length (the last may be smaller).

    Rows are shuffled, cut into buckets of ``BUCKET`` batches, sorted by length inside a bucket and cut into batches,
    and the batches are shuffled: close to no padding without showing short questions first.
    """
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), BUCKET * batch_size):
        bucket = sorted(order[start : start + BUCKET * batch_size].tolist(), key=lambda row: lengths[row])
        batches += [bucket[i : i + batch_size] for i in range(0, len(bucket), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def packs(rows: Sequence[Row], max_rows: int, max_tokens: int) -> Iterator[list[int]]:
    """Row numbers of ``rows`` in packs of similar length, shortest first: at most ``max_rows`` rows, and at most
    ``max_tokens`` tokens counting the shared opening once (a longer row is a pack of its own)."""
    pack: list[int] = []
    shared = total = 0  # total counts every row in full
    for number in sorted(range(len(rows)), key=lambda n: len(rows[n].tokens)):
        row = rows[number]
        shared = min(shared, row.shared) if pack else row.shared
        total += len(row.tokens)
        if pack and (len(pack) == max_rows or total - shared * len(pack) > max_tokens):
            yield pack
            pack, shared, total = [], row.shared, len(row.tokens)
        pack.append(number)
    if pack:
        yield pack
