"""What every selector promises. A new entry of SELECTORS is tested here without another line."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elical_core.config import SelectionConfig
from elical_core.errors import ConfigError, InputError, PoolTooSmall
from elical_core.selection import SELECTORS, Pool, selector

pytestmark = pytest.mark.parametrize("name", sorted(SELECTORS))


def make(name):
    return SELECTORS[name](SelectionConfig(policy=name, clusters=4))


def pool_of(n, *, seed=0, d=6, confidence=None, group=None, consistency=None):
    rng = np.random.default_rng(seed)
    return Pool(
        confidence=rng.random(n) if confidence is None else np.asarray(confidence, dtype=float),
        embedding=rng.normal(size=(n, d)).astype(np.float32),
        group=np.arange(n) if group is None else np.asarray(group),
        consistency=rng.random(n) if consistency is None else np.asarray(consistency, dtype=float),
    )


def check(drawn, pool, n):
    assert len(drawn.index) == len(drawn.probability) == len(drawn.reason) == n
    assert len(set(drawn.index.tolist())) == n, "the same question twice"
    assert ((drawn.index >= 0) & (drawn.index < len(pool))).all()
    assert ((drawn.probability > 0) & (drawn.probability <= 1)).all()
    assert len(set(pool.group[drawn.index].tolist())) == n, "two near-duplicates"
    assert all(drawn.reason)


def test_name_is_the_key(name):
    assert make(name).name == name
    assert selector(SelectionConfig(policy=name)).name == name


@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 60), share=st.floats(0, 1), d=st.sampled_from([0, 1, 6]), seed=st.integers(0, 99))
def test_any_pool_and_any_number(name, size, share, d, seed):
    pool = pool_of(size, seed=seed, d=d)
    n = round(share * size)
    check(make(name).draw(pool, n, np.random.default_rng(seed)), pool, n)


def test_the_same_seed_draws_the_same(name):
    pool = pool_of(200)
    first, again, other = (make(name).draw(pool, 30, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.index.tolist() == again.index.tolist()
    assert first.probability.tolist() == again.probability.tolist()
    if first.representative:
        assert first.index.tolist() != other.index.tolist()


def test_the_whole_pool(name):
    pool = pool_of(17)
    drawn = make(name).draw(pool, 17, np.random.default_rng(0))
    check(drawn, pool, 17)
    if drawn.representative:
        assert drawn.probability == pytest.approx(1)


def test_a_pool_smaller_than_the_round_is_refused(name):
    with pytest.raises(PoolTooSmall, match="asked for 6 questions but 5"):
        make(name).draw(pool_of(5), 6, np.random.default_rng(0))
    with pytest.raises(PoolTooSmall):
        make(name).draw(pool_of(0), 1, np.random.default_rng(0))
    assert len(make(name).draw(pool_of(0), 0, np.random.default_rng(0)).index) == 0


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_all_scores_equal(name, value):
    pool = pool_of(50, confidence=np.full(50, value), consistency=np.full(50, value))
    check(make(name).draw(pool, 20, np.random.default_rng(0)), pool, 20)


def test_all_rows_identical(name):
    pool = Pool(
        confidence=np.full(40, 0.3),
        embedding=np.ones((40, 5), dtype=np.float32),
        group=np.arange(40),
        consistency=np.full(40, 0.3),
    )
    check(make(name).draw(pool, 12, np.random.default_rng(0)), pool, 12)


def test_features_a_posterior_and_earlier_labels_may_come_along(name):
    rng = np.random.default_rng(0)
    plain = pool_of(80, group=np.arange(80) // 2)
    pool = replace(
        plain,
        features=rng.normal(size=(80, 5)).astype(np.float32),
        stage1_logit=rng.normal(size=80),
        covariance=np.eye(7) * 0.1,
        dispersion=3.0,
        labelled=120,
        labelled_features=rng.normal(size=(120, 5)).astype(np.float32),
    )
    check(make(name).draw(pool, 25, np.random.default_rng(0)), pool, 25)
    bad = pool.features.copy()
    bad[4, 1] = np.nan
    with pytest.raises(InputError, match="features holds numbers that are not finite in 1 rows, the first is row 4"):
        make(name).draw(replace(pool, features=bad), 5, np.random.default_rng(0))
    with pytest.raises(InputError, match=r"pool\.features has 3 rows for 80"):
        make(name).draw(replace(pool, features=bad[:3]), 5, np.random.default_rng(0))


def test_near_duplicates_count_once(name):
    pool = pool_of(60, group=np.arange(60) // 3)
    check(make(name).draw(pool, 20, np.random.default_rng(0)), pool, 20)
    with pytest.raises(PoolTooSmall, match="20 of the 60"):
        make(name).draw(pool, 21, np.random.default_rng(0))


def test_a_missing_consistency_is_no_obstacle(name):
    some = pool_of(30).consistency.copy()
    some[::2] = np.nan
    for consistency in (some, np.full(30, np.nan)):
        pool = pool_of(30, consistency=consistency)
        check(make(name).draw(pool, 10, np.random.default_rng(0)), pool, 10)


def test_a_missing_confidence_or_a_crooked_pool_is_refused(name):
    confidence = np.full(5, 0.5)
    confidence[3] = np.nan
    with pytest.raises(InputError, match="first is row 3"):
        make(name).draw(pool_of(5, confidence=confidence), 2, np.random.default_rng(0))
    with pytest.raises(InputError, match=r"pool\.group has 4 rows for 5"):
        make(name).draw(pool_of(5, group=np.arange(4)), 2, np.random.default_rng(0))
    with pytest.raises(ConfigError, match="negative"):
        make(name).draw(pool_of(5), -1, np.random.default_rng(0))
