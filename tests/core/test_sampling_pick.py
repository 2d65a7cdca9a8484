"""Choosing tokens: exact top-k in blocks, and the arithmetic of penalty, temperature, top-k and top-p."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elical_core.config import SamplingConfig
from elical_core.sampling.pick import Distribution, distribution, draw, uniforms
from elical_core.sampling.vocabulary import SLICE, FullLogits, SlicedHead, TopTokens

NOBODY = torch.zeros(0, dtype=torch.long)
PLAIN = SamplingConfig(temperature=1, top_p=1, top_k=50, repetition_penalty=1)


def head_of(logits: torch.Tensor, softcap: float | None = None) -> tuple[SlicedHead, torch.Tensor]:
    """A head and hidden states whose product is exactly ``logits`` (rows, vocabulary)."""
    return SlicedHead(logits.T.contiguous(), softcap=softcap), torch.eye(len(logits))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    vocabulary=st.sampled_from([60, 1000, SLICE, SLICE + 1, 2 * SLICE + 777]),
    rows=st.integers(1, 20),
    m=st.integers(1, 70),
    levels=st.sampled_from([3, 200, 10**6]),
)
def test_top_tokens_equal_a_full_sort(seed: int, vocabulary: int, rows: int, m: int, levels: int) -> None:
    rng = torch.Generator().manual_seed(seed)
    logits = torch.randint(-levels, levels, (rows, vocabulary), generator=rng).float() / 16
    seen = torch.stack([torch.randperm(vocabulary, generator=rng)[:8] for _ in range(rows)])
    seen[:, 5:] = -1
    totals = torch.arange(0, rows, 2)
    head, hidden = head_of(logits)
    got = head.best(hidden, m, seen, totals)
    want = FullLogits(vocabulary).best(logits, m, seen, totals)
    kept = min(m, vocabulary - 5)
    assert torch.equal(got.values[:, :kept], want.values[:, :kept])
    assert torch.equal(got.seen_values, want.seen_values)
    torch.testing.assert_close(got.log_total, want.log_total, equal_nan=True, rtol=1e-5, atol=1e-5)
    hidden_away = logits.scatter(1, seen.clamp(min=0)[:, :5], float("-inf"))
    assert torch.equal(hidden_away.gather(1, got.ids[:, :kept]), got.values[:, :kept])
    assert all(len(set(row[:kept].tolist())) == kept for row in got.ids)


def test_bias_and_soft_capping_are_part_of_the_logits() -> None:
    weight, bias = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0.0, 5.0, 0.0])
    got = SlicedHead(weight, bias, softcap=2.0).best(torch.ones(1, 1), 3, torch.zeros(1, 0, dtype=torch.long), NOBODY)
    # logits 1, 2 + 5, 3 -> 2 tanh(x / 2)
    assert got.ids.tolist() == [[1, 2, 0]]
    assert got.values[0].tolist() == pytest.approx([2 * math.tanh(3.5), 2 * math.tanh(1.5), 2 * math.tanh(0.5)])


def top_of(values: list[float], seen: list[int] | None = None, seen_values: list[float] | None = None) -> TopTokens:
    """Tokens 10, 11, ... with these logits."""
    return TopTokens(
        torch.arange(10, 10 + len(values)).unsqueeze(0),
        torch.tensor([values]),
        torch.tensor([seen_values or []]),
        torch.tensor([math.log(sum(math.exp(v) for v in values + (seen_values or [])))]),
    )


def chances(choice: Distribution) -> dict[int, float]:
    steps = np.diff(choice.upto[0].numpy(), prepend=0.0)
    return {int(token): float(p) for token, p in zip(choice.ids[0], steps, strict=True) if p > 0}


NONE_SEEN = torch.zeros(1, 0, dtype=torch.long)


def test_plain_sampling_is_the_softmax() -> None:
    # e^ln3 = 3, e^0 = 1 -> 3/4 and 1/4
    choice = distribution(top_of([math.log(3), 0.0]), NONE_SEEN, PLAIN)
    assert chances(choice) == pytest.approx({10: 0.75, 11: 0.25})
    assert choice.greedy.tolist() == [10]
    assert choice.greedy_logprob.tolist() == pytest.approx([math.log(0.75)])


def test_temperature_divides_the_logits() -> None:
    # T = 2: e^(ln9/2) = 3 -> 3/4
    config = SamplingConfig(temperature=2, top_p=1, repetition_penalty=1)
    choice = distribution(top_of([math.log(9), 0.0]), NONE_SEEN, config)
    assert chances(choice) == pytest.approx({10: 0.75, 11: 0.25})
    assert choice.greedy_logprob.tolist() == pytest.approx([math.log(0.9)])  # unmodified: 9 / 10


def test_top_k_keeps_all_ties_at_its_edge() -> None:
    config = SamplingConfig(top_k=2, top_p=1, repetition_penalty=1)
    choice = distribution(top_of([2.0, 1.0, 1.0, 0.5]), NONE_SEEN, config)
    assert sorted(chances(choice)) == [10, 11, 12]


def test_top_p_keeps_the_smallest_set_that_reaches_p() -> None:
    logits = [math.log(p) for p in (0.5, 0.3, 0.15, 0.05)]
    config = SamplingConfig(top_p=0.8, repetition_penalty=1)
    assert chances(distribution(top_of(logits), NONE_SEEN, config)) == pytest.approx({10: 0.625, 11: 0.375})
    tight = SamplingConfig(top_p=0.01, repetition_penalty=1)
    assert chances(distribution(top_of(logits), NONE_SEEN, tight)) == {10: 1.0}


def test_the_penalty_divides_positive_and_multiplies_negative_logits() -> None:
    # seen: 7 has logit 2 -> 2/2 = 1, 8 has -1 -> -2; new: 10 has 1. Order 7 = 10 (by id), 8
    config = SamplingConfig(top_p=1, repetition_penalty=2)
    choice = distribution(top_of([1.0], [7, 8], [2.0, -1.0]), torch.tensor([[7, 8]]), config)
    total = 2 * math.e + math.exp(-2)
    assert chances(choice) == pytest.approx({7: math.e / total, 10: math.e / total, 8: math.exp(-2) / total})
    assert choice.ids[0].tolist() == [7, 10, 8]
    assert choice.greedy.tolist() == [7]  # greedy knows no penalty


def test_equal_tokens_are_ordered_by_id_however_they_arrive() -> None:
    top = TopTokens(torch.tensor([[30, 5, 17]]), torch.zeros(1, 3), torch.zeros(1, 0), torch.zeros(1))
    choice = distribution(top, NONE_SEEN, PLAIN)
    assert choice.ids[0].tolist() == [5, 17, 30]
    assert choice.greedy.tolist() == [5]


def test_draw_is_the_inverse_of_the_running_sum() -> None:
    choice = Distribution(
        torch.tensor([[4, 9, 2]]), torch.tensor([[0.5, 0.75, 1.0]]).double(), torch.tensor([4]), torch.zeros(1)
    )
    uniform = torch.tensor([0.0, 0.49, 0.5, 0.74, 0.75, 0.999999]).double()
    assert draw(choice, torch.zeros(6, dtype=torch.long), uniform).tolist() == [4, 4, 9, 9, 2, 2]


def test_chance_belongs_to_seed_and_key_and_not_to_k() -> None:
    a = uniforms(1, "q1", 20, 16)
    assert a.shape == (20, 16)
    assert 0 <= a.min() <= a.max() < 1
    assert np.array_equal(a[:5], uniforms(1, "q1", 5, 16))
    assert not np.array_equal(a, uniforms(2, "q1", 20, 16))
    assert not np.array_equal(a, uniforms(1, "q2", 20, 16))
    assert a[0, 0] == 0.0 or a[0, :2].tolist() == uniforms(1, "q1", 1, 2)[0].tolist()
