"""The same numbers from other people's libraries, where these are installed: ppi-python and bmdal-reg."""

import numpy as np
import pytest

from elical_core.metrics.audit import Audit, Linear, mean_of
from elical_core.metrics.crossfit import CrossFit
from elical_core.metrics.intervals import normal_quantile
from elical_core.selection.rio import PoolDesign, gain, with_information


def test_the_control_variate_is_prediction_powered_inference():
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    rng = np.random.default_rng(0)
    size, n = 20_000, 300
    m = rng.beta(1, 2, size)
    y = (rng.random(size) < 0.1 + 0.7 * m).astype(float)
    fixed = CrossFit(np.arange(n) % 5, np.tile(m, (5, 1)))  # a calibrator that needs no fit
    audit = Audit(size, np.arange(n), y[:n], np.full(n, 1 / n), np.zeros(n, dtype=np.int64), np.ones(1), fixed)
    mine = mean_of(audit, Linear(np.zeros(size), np.ones(size)), caution=0)
    low, high = (np.ravel(end)[0] for end in ppi.ppi_mean_ci(y[:n], m[:n], m[n:], alpha=0.05))
    assert mine.value == pytest.approx((low + high) / 2, abs=0.1 * mine.se)
    assert mine.se == pytest.approx((high - low) / 2 / normal_quantile(), rel=0.05)


def test_the_gain_picks_what_bait_picks(monkeypatch):
    pytest.importorskip("bmdal_reg", reason="bmdal-reg is not installed")
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(np, "Inf", np.inf, raising=False)  # it was written for numpy 1
    from bmdal_reg.bmdal.feature_data import TensorFeatureData
    from bmdal_reg.bmdal.feature_maps import IdentityFeatureMap
    from bmdal_reg.bmdal.features import Features
    from bmdal_reg.bmdal.selection import BaitFeatureSpaceSelectionMethod

    x = np.random.default_rng(0).normal(size=(80, 5))
    noise = 0.7
    data = TensorFeatureData(torch.tensor(x))
    pool = Features(IdentityFeatureMap(n_features=5), data)
    train = Features(IdentityFeatureMap(n_features=5), TensorFeatureData(torch.zeros(1, 5, dtype=torch.float64)))
    theirs = BaitFeatureSpaceSelectionMethod(pool, train, noise_sigma=noise)
    picked = []
    for _ in range(10):
        picked.append(theirs.get_next_idx())
        theirs.selected_idxs.append(picked[-1])
        theirs.add(picked[-1])

    design = PoolDesign(x.astype(np.float32), np.ones(80), np.full(80, noise**-2))
    c, m, mine = np.eye(5), design.moment(np.ones(80)), []
    for _ in range(10):
        d = gain(design, c, m)
        d[mine] = -1
        mine.append(int(d.argmax()))
        c = with_information(c, noise**-2 * np.outer(x[mine[-1]], x[mine[-1]]))
    assert mine == picked
