"""Which questions are set apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elical_core.datasets import assign_split
from elical_core.datasets.splits import hash_share
from elical_core.domain import Split
from elical_core.errors import ConfigError


def test_about_a_fifth_is_audit_and_a_second_look_agrees() -> None:
    groups = [f"group {i}" for i in range(10_000)]
    first = [assign_split(group, seed=3) for group in groups]
    assert first == [assign_split(group, seed=3) for group in groups]
    assert 1800 < first.count(Split.AUDIT) < 2200  # 2,000 +- 5 standard deviations of 40
    assert set(first) == {Split.POOL, Split.AUDIT}


def test_another_seed_is_another_draw() -> None:
    groups = [f"group {i}" for i in range(1000)]
    both = sum(assign_split(g, 0) is assign_split(g, 1) is Split.AUDIT for g in groups)
    assert 10 < both < 80  # independent: 40 expected


@given(group=st.text(), seed=st.integers(0, 2**31), share=st.floats(0, 1))
def test_shares_nest(group: str, seed: int, share: float) -> None:
    """A larger share only adds groups."""
    if assign_split(group, seed, share) is Split.AUDIT:
        assert assign_split(group, seed, min(1.0, share + 0.1)) is Split.AUDIT
    assert assign_split(group, seed, 0) is Split.POOL
    assert 0 <= hash_share(group, seed, "audit") < 1


def test_share_out_of_range() -> None:
    with pytest.raises(ConfigError, match=r"between 0 and 1, got 1\.5"):
        assign_split("g", 0, 1.5)
