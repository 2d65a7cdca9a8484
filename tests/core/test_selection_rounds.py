"""Rounds: logged chances are the true ones, streams are kept apart and mixed blind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elical_core.config import SelectionConfig
from elical_core.domain import Stream
from elical_core.errors import ConfigError, InputError, PoolTooSmall
from elical_core.selection import Pool, draw_round, selector
from elical_core.selection.checks import refuse_square
from elical_core.selection.drawing import even_walk
from elical_core.selection.rounds import audit_size
from elical_core.selection.strata import confidence_bin, embedding_cluster
from elical_core.selection.stratified import StratifiedSelector
from elical_core.selection.uniform import RandomSelector


def pool_of(n, seed=0, group=None):
    rng = np.random.default_rng(seed)
    return Pool(
        confidence=rng.beta(0.5, 2, n).round(2),
        embedding=rng.normal(size=(n, 4)).astype(np.float32),
        group=np.arange(n) if group is None else group,
        consistency=np.full(n, np.nan),
    )


@pytest.mark.parametrize(
    ("chosen", "rounds"), [(RandomSelector(), 4000), (StratifiedSelector(5, 3), 300), (StratifiedSelector(10, 1), 4000)]
)
def test_the_logged_chance_is_the_true_chance(chosen, rounds):
    # 24 questions in groups of 1, 2 and 3; the SE of a share p is sqrt(p (1 - p) / rounds)
    group = np.r_[np.arange(12), np.repeat([12, 13, 14], 2), np.repeat([15, 16], 3)]
    pool = pool_of(24, group=group)
    seen, logged = np.zeros(24), np.full(24, np.nan)
    for seed in range(rounds):
        drawn = chosen.draw(pool, 6, np.random.default_rng(seed))
        seen[drawn.index] += 1
        logged[drawn.index] = drawn.probability
    assert logged == pytest.approx(6 / 17 / np.bincount(group)[group])
    assert (np.abs(seen / rounds - logged) < 4.5 * np.sqrt(logged * (1 - logged) / rounds)).all()
    assert logged.sum() == pytest.approx(6)


def test_each_stratum_gets_its_share_rounded_down_or_up():
    rng = np.random.default_rng(0)
    strata = np.repeat(np.arange(5), [50, 30, 10, 7, 3])
    for _ in range(50):
        counts = np.bincount(strata[even_walk((strata,), 17, rng)], minlength=5)
        assert (np.abs(counts - 17 * np.array([0.5, 0.3, 0.1, 0.07, 0.03])) < 1).all()


def test_stratified_spreads_over_confidence_and_topics():
    pool = pool_of(1000)
    drawn = StratifiedSelector().draw(pool, 100, np.random.default_rng(0))
    level = confidence_bin(pool.confidence, 10)
    assert np.bincount(level[drawn.index], minlength=10) == pytest.approx(np.bincount(level, minlength=10) / 10, abs=1)
    topic = embedding_cluster(pool.embedding, 10)
    share = np.bincount(topic[drawn.index], minlength=10) - np.bincount(topic, minlength=10) / 10
    assert np.abs(share).max() < 5
    assert drawn.reason[0].startswith("confidence bin ")


def test_deciles_never_split_equal_confidences():
    assert confidence_bin(np.array([0.1, 0.1, 0.1, 0.9]), 4).tolist() == [0, 0, 0, 3]
    assert confidence_bin(np.full(7, 0.5), 10).tolist() == [0] * 7
    assert np.bincount(confidence_bin(np.linspace(0, 1, 100), 10)).tolist() == [10] * 10


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 8), max_size=40), st.integers(1, 12))
def test_a_bin_is_told_by_how_many_lie_strictly_below(drawn, bins):
    c = np.array(drawn, dtype=float) / 8
    slow = [bins * int((c < value).sum()) // len(c) for value in c]
    assert confidence_bin(c, bins).tolist() == slow


def test_clusters_are_the_same_every_time_and_refuse_nan():
    rows = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    assert embedding_cluster(rows, 6).tolist() == embedding_cluster(rows, 6).tolist()
    assert len(set(embedding_cluster(rows, 6).tolist())) == 6
    rows[7, 2] = np.nan
    with pytest.raises(InputError, match="first is row 7"):
        embedding_cluster(rows, 6)


def test_a_round_takes_a_quarter_for_the_audit_and_keeps_streams_apart():
    drawn = draw_round(pool_of(400), pool_of(100, 1), 40, config=SelectionConfig(), rng=np.random.default_rng(0))
    audit = [d for d in drawn if d.stream is Stream.AUDIT]
    assert (len(drawn), len(audit)) == (40, 10)
    assert all(d.probability == pytest.approx(0.1) for d in audit)
    assert all(d.probability == pytest.approx(30 / 400) for d in drawn if d.stream is Stream.TRAIN)
    assert len({(d.stream, d.index) for d in drawn}) == 40


def test_an_annotator_cannot_tell_the_streams_apart_by_position():
    counts = np.zeros(20)
    for seed in range(600):
        rng = np.random.default_rng(seed)
        drawn = draw_round(pool_of(60), pool_of(20, 1), 20, config=SelectionConfig(clusters=1), rng=rng)
        counts += [d.stream is Stream.AUDIT for d in drawn]
    assert counts / 600 == pytest.approx(0.25, abs=0.09)  # SE .018


def test_small_rounds_reach_the_audit_share_together():
    drawn = audit = 0
    for _ in range(40):
        part = audit_size(1, 0.25, train=100, audit=100, drawn=drawn, audit_drawn=audit)
        drawn, audit = drawn + 1, audit + part
    assert (drawn, audit) == (40, 10)


def test_one_pool_fills_up_for_the_other():
    rng = np.random.default_rng(0)
    streams = [d.stream for d in draw_round(pool_of(50), pool_of(2, 1), 40, config=SelectionConfig(), rng=rng)]
    assert streams.count(Stream.AUDIT) == 2
    streams = [d.stream for d in draw_round(pool_of(3), pool_of(50, 1), 40, config=SelectionConfig(), rng=rng)]
    assert streams.count(Stream.TRAIN) == 3
    with pytest.raises(PoolTooSmall, match="asked for 40 questions but 5 are unlabelled"):
        draw_round(pool_of(3), pool_of(2, 1), 40, config=SelectionConfig(), rng=rng)


def test_a_round_is_repeated_by_its_seed():
    first, again = (
        draw_round(pool_of(80), pool_of(20, 1), 12, config=SelectionConfig(), rng=np.random.default_rng(5))
        for _ in range(2)
    )
    assert first == again


def test_an_unknown_policy_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"no selector 'best'; known are .*random"):
        selector(SelectionConfig(policy="best"))


def test_nothing_square_is_allocated():
    refuse_square(1000, "distances")
    with pytest.raises(ConfigError, match=r"distances of 560,000 x 560,000 would need 2,336\.5 GiB"):
        refuse_square(560_000, "distances")
