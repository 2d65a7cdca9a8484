"""The live chart's numbers in every state from no label to many."""

import numpy as np
import pytest
from scipy.special import expit

from elical_core.domain import Stream
from elical_core.errors import InputError
from elical_core.metrics.auroc import auroc
from elical_core.metrics.brier import brier
from elical_core.metrics.curve import instant_curve, spaced
from elical_core.metrics.ece import ece


def labels(n, seed=0):
    rng = np.random.default_rng(seed)
    z0 = rng.normal(0.5, 1.5, n)
    p = expit(0.7 * z0 - 1.2)
    stream = np.where(rng.random(n) < 0.25, Stream.AUDIT, Stream.TRAIN).tolist()
    return z0, rng.binomial(20, p) / 20, (rng.random(n) < p).astype(float), stream


def by_name(point):
    return {m.metric: m for m in point.measured}


def test_no_labels_is_one_point_that_says_why():
    points = instant_curve([], [], [], [])
    assert [(p.labels, p.train, p.audit) for p in points] == [(0, 0, 0)]
    assert all(m.value is None and "no audit labels" in m.reason for m in points[0].measured)


def test_train_labels_alone_have_nothing_to_measure_with():
    z0, y, g, _ = labels(5)
    points = instant_curve(z0, y, g, ["train"] * 5)
    assert [p.train for p in points] == [0, 1, 2, 3, 4, 5]
    assert all(m.value is None for p in points for m in p.measured)


def test_one_audit_label_has_a_value_and_no_interval():
    points = instant_curve([0.0], [1.0], [1.0], ["audit"])
    found = by_name(points[0])
    assert found["brier"].value == pytest.approx(0.25)
    assert (found["brier"].low, found["brier"].method) == (None, "no interval from one label")
    assert "only one class" in found["auroc"].reason


def test_the_left_end_is_stage_1():
    z0, y, g, stream = labels(200)
    points = instant_curve(z0, y, g, stream)
    first = by_name(points[0])
    audit = np.array(stream) == "audit"
    c = expit(z0[audit])
    assert first["auroc"].value == pytest.approx(auroc(c, g[audit]))
    assert first["brier"].value == pytest.approx(brier(c, g[audit]))
    assert first["ece"].value == pytest.approx(ece(c, g[audit], 5, mass=True))
    assert first["brier_gain"].value == 0
    assert all(m.low <= m.value <= m.high for m in first.values())
    for inner, outer in zip(points[0].measured, points[0].band, strict=True):
        assert outer.low <= inner.low
        assert outer.high >= inner.high
        assert "any look" in outer.method


def test_labels_repair_an_overconfident_stage_1():
    z0, y, g, stream = labels(400)
    points = instant_curve(z0, y, g, stream)
    first, last = by_name(points[0]), by_name(points[-1])
    assert last["brier"].value < first["brier"].value
    assert last["ece"].value < first["ece"].value
    assert last["brier_gain"].low > 0
    assert points[-1].labels <= 400
    assert points[-1].train + points[-1].audit == 400
    assert len(points) == 60


def test_points_count_labels_of_both_streams():
    z0, y, g, _ = labels(4)
    points = instant_curve(z0, y, g, ["audit", "train", "audit", "train"])
    assert [(p.labels, p.train, p.audit) for p in points] == [(0, 0, 2), (2, 1, 2), (4, 2, 2)]


def test_missing_labels_are_left_out_and_counted():
    z0, y, g, stream = labels(60)
    y[3], g[3], stream[3] = np.nan, np.nan, "train"
    g[4], stream[4] = np.nan, "audit"
    points = instant_curve(z0, y, g, stream)
    audit = stream.count("audit") - 1
    assert points[-1].audit == audit
    assert by_name(points[-1])["brier"].left_out == 1
    assert points[-1].train == stream.count("train") - 1


def test_a_hard_label_stands_in_for_a_missing_share():
    z0, _, g, stream = labels(80)
    assert instant_curve(z0, np.full(80, np.nan), g, stream) == instant_curve(z0, g, g, stream, samples=1)


def test_features_enter_when_given():
    z0, y, g, stream = labels(120)
    phi = np.random.default_rng(0).normal(size=(120, 3)).astype(np.float32)
    points = instant_curve(z0, y, g, stream, features=phi, points=[0, 50])
    assert [p.train for p in points] == [0, 50]


def test_crooked_columns_are_named():
    with pytest.raises(InputError, match="row-aligned"):
        instant_curve([0.0], [0.5], [1.0], [])
    with pytest.raises(InputError, match="stage1_logit is inf in row 1"):
        instant_curve([0.0, np.inf], [0.5, 0.5], [1.0, 1.0], ["train", "audit"])
    with pytest.raises(InputError, match=r"greedy is 0\.5 in row 0"):
        instant_curve([0.0], [0.5], [0.5], ["train"])


def test_spacing_keeps_both_ends():
    assert spaced(0) == [0]
    assert spaced(3) == [0, 1, 2, 3]
    assert (spaced(1000)[0], spaced(1000)[-1], len(spaced(1000))) == (0, 1000, 60)
