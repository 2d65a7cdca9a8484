"""Which questions travel together: pure bookkeeping, by hand and for any input."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elical_core.confidence.items import MIN_VALIDATION, TrainingItem, split_validation
from elical_core.confidence.packing import Row, common_prefix, epoch_batches, make_rows, packs
from elical_core.confidence.training import learning_rate_share, number_of_steps
from elical_core.config import ElicitationConfig

LENGTHS = st.lists(st.integers(1, 60), max_size=80)


def test_common_prefix_by_hand() -> None:
    assert common_prefix([1, 2, 3], [1, 2, 4, 5]) == 2
    assert common_prefix([1, 2], [1, 2, 3]) == 2
    assert common_prefix([], [1]) == 0


def test_a_row_keeps_at_least_its_last_token() -> None:
    assert [row.shared for row in make_rows([[1, 2, 9], [1, 2], [1], [5, 2, 9]], [1, 2])] == [2, 1, 0, 0]


def test_packs_by_hand() -> None:
    """Opening of 10, own 2, 3 and 9 tokens: 10 + 2 + 3 = 15 fit into 16, 10 + 2 + 3 + 9 = 24 do not."""
    rows = [Row(tuple(range(10 + own)), 10) for own in (9, 2, 3)]
    assert list(packs(rows, 64, 16)) == [[1, 2], [0]]
    assert list(packs(rows, 1, 1000)) == [[1], [2], [0]]
    assert list(packs(rows, 64, 1)) == [[1], [2], [0]]  # too long for any pack: one of its own
    assert list(packs([], 64, 16)) == []


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 20)), max_size=60), st.integers(1, 9), st.integers(1, 200))
def test_packs_are_a_partition_within_the_limits(sizes: list[tuple[int, int]], max_rows: int, max_tokens: int) -> None:
    rows = [Row(tuple(range(own + shared)), shared) for own, shared in sizes]
    made = list(packs(rows, max_rows, max_tokens))
    assert sorted(n for pack in made for n in pack) == list(range(len(rows)))
    for pack in made:
        assert 0 < len(pack) <= max_rows
        shared = min(rows[n].shared for n in pack)
        tokens = shared + sum(len(rows[n].tokens) - shared for n in pack)
        assert tokens <= max_tokens or len(pack) == 1


@given(LENGTHS, st.integers(1, 20), st.integers(0, 5))
def test_an_epoch_shows_every_question_once(lengths: list[int], batch_size: int, seed: int) -> None:
    batches = epoch_batches(lengths, batch_size, np.random.default_rng(seed))
    assert sorted(n for batch in batches for n in batch) == list(range(len(lengths)))
    assert all(len(batch) <= batch_size for batch in batches)
    assert batches == epoch_batches(lengths, batch_size, np.random.default_rng(seed))


def test_batches_hold_questions_of_similar_length() -> None:
    lengths = np.random.default_rng(0).integers(5, 60, 512).tolist()
    batches = epoch_batches(lengths, 16, np.random.default_rng(1))
    padded = sum(max(lengths[n] for n in batch) * len(batch) for batch in batches)
    assert padded < 1.08 * sum(lengths)
    assert [max(lengths[n] for n in batch) for batch in batches] != sorted(max(lengths[n] for n in b) for b in batches)


def items(n: int, group_of: dict[int, str]) -> list[TrainingItem]:
    return [TrainingItem(key=f"q{i}", text="?", target=0.5, group=group_of.get(i, "")) for i in range(n)]


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 3), st.floats(0.0, 0.5))
def test_validation_never_splits_a_group(n: int, groups: int, seed: int, share: float) -> None:
    made = items(n, {i: f"g{i % groups}" for i in range(0, n, 2)})
    train, validation = split_validation(made, share, seed)
    assert sorted(train + validation) == list(range(n))
    assert not {made[i].group for i in train} & {made[i].group for i in validation} - {""}
    assert train
    assert not validation or len(validation) >= MIN_VALIDATION


def test_validation_does_not_depend_on_the_order() -> None:
    made = items(200, {3: "a", 4: "a"})
    shuffled = [made[i] for i in np.random.default_rng(0).permutation(200)]
    first = {made[i].key for i in split_validation(made, 0.2, 7)[1]}
    assert first == {shuffled[i].key for i in split_validation(shuffled, 0.2, 7)[1]}
    assert first != {made[i].key for i in split_validation(made, 0.2, 8)[1]}
    assert len(first) == 40


def test_one_giant_group_stays_in_training() -> None:
    made = items(100, dict.fromkeys(range(90), "giant"))
    train, validation = split_validation(made, 0.3, 0)
    assert (len(train), validation) == (100, [])  # 10 others are too few to validate on


def test_steps_and_learning_rate_by_hand() -> None:
    assert number_of_steps(ElicitationConfig(epochs=3, batch_size=16), 100) == 19  # 300 / 16 = 18.75
    assert number_of_steps(ElicitationConfig(steps=7), 100) == 7
    assert number_of_steps(ElicitationConfig(epochs=0.01), 1) == 1
    shares = [learning_rate_share(step, 10, 0.2) for step in range(10)]
    assert shares[:2] == [1 / 3, 2 / 3]
    assert max(shares[2:]) == shares[2] < 1
    assert shares[2:] == sorted(shares[2:], reverse=True)
    assert 0 < shares[-1] < 0.02
    assert learning_rate_share(0, 1, 0.1) == 0.5  # one step: warm-up of 1, half the peak
