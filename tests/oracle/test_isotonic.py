# SPDX-License-Identifier: Apache-2.0
"""irm and irova against scikit-learn's isotonic regression on the same emitted probabilities."""

import numpy as np
import pytest
from calibration_case import CalibrationCase, renormalised
from sklearn.isotonic import IsotonicRegression


def pairs(case, pooled):
    """(p, t) of each map: one for all classes, or one for each."""
    p, labels = case.labelled(case.probs["calibration"]), case.labelled(case.labels["calibration"])
    hits = (np.arange(case.num_classes)[:, None] == labels).astype(np.float64)
    return [(p.ravel(), hits.ravel())] if pooled else list(zip(p, hits))


def predicted(maps, probs):
    """Every class through its map."""
    return np.stack([maps[c % len(maps)].predict(row) for c, row in enumerate(probs)])


@pytest.mark.parametrize("pooled", [True, False], ids=["irm", "irova"])
@pytest.mark.parametrize("num_classes", [2, 4])
def test_without_smoothing_equals_scikit_learn_on_seen_and_unseen_values(tmp_path, pooled,
                                                                         num_classes):
    case = CalibrationCase(tmp_path, num_classes)
    name = "irm" if pooled else "irova"
    model = case.fit(f"{name}(z, smoothing=0)", name)
    assert model["fit"]["solver"].endswith("every value apart")
    maps = [IsotonicRegression(out_of_bounds="clip").fit(p, t) for p, t in pairs(case, pooled)]
    emitted = case.emitted(name)
    for split in ("calibration", "test"):
        p = case.probs[split]
        values = predicted(maps, p) + (1e-6 * p if pooled else 0.0)
        assert np.abs(emitted[split] - renormalised(values, p)).max() < 3e-7


def smoothed_blocks(p, t):
    """Blocks of scikit-learn's fit as (lower, upper, value), smoothed and put in order."""
    order = np.argsort(p, kind="stable")
    p, t = p[order], t[order]
    value = IsotonicRegression().fit(p, t).predict(p)
    starts = np.flatnonzero(np.r_[True, np.diff(value) > 1e-12])
    ends = np.r_[starts[1:], p.size]
    blocks = []
    for first, last in zip(starts, ends):
        blocks.append([p[first], p[last - 1], t[first:last].sum(), last - first])
        while len(blocks) > 1 and mean(blocks[-2]) > mean(blocks[-1]):
            _, upper, hits, count = blocks.pop()
            blocks[-1] = [blocks[-1][0], upper, blocks[-1][2] + hits, blocks[-1][3] + count]
    return [(lower, upper, mean((lower, upper, hits, count)))
            for lower, upper, hits, count in blocks]


def mean(block):
    return (block[2] + 0.5) / (block[3] + 1.0)


@pytest.mark.parametrize("pooled", [True, False], ids=["irm", "irova"])
def test_smoothed_blocks_are_those_of_scikit_learn(tmp_path, pooled):
    case = CalibrationCase(tmp_path, 3)
    name = "irm" if pooled else "irova"
    case.fit(f"{name}(z)", name)
    maps = case.parameters(name)["maps"]
    for found, (p, t) in zip(maps, pairs(case, pooled)):
        expected = np.array(smoothed_blocks(p, t))
        assert len(found["values"]) == len(expected) > 5
        np.testing.assert_array_equal(found["lower"], expected[:, 0])
        np.testing.assert_array_equal(found["upper"], expected[:, 1])
        np.testing.assert_allclose(found["values"], expected[:, 2], rtol=1e-12)


def test_cells_cost_little(tmp_path):
    """A thousand cells for 32 000 values: the emitted probabilities move by a fraction of a step."""
    case = CalibrationCase(tmp_path, 4, size=(100, 90))
    case.fit("irm(z)", "exact")
    coarse = case.fit("irm(z, cells=1000)", "coarse")
    assert "values grouped to 2^-" in coarse["fit"]["solver"]
    exact, grouped = case.emitted("exact")["test"], case.emitted("coarse")["test"]
    assert 0.0 < np.abs(exact - grouped).mean() < 2e-3


def test_irm_keeps_the_order_of_every_voxel(tmp_path):
    case = CalibrationCase(tmp_path, 6)
    case.fit("irm(z)", "irm")
    emitted = case.emitted("irm")["test"]
    order = np.argsort(case.logits["test"], axis=0, kind="stable")
    ascending = np.take_along_axis(emitted, order, axis=0)
    assert (np.diff(ascending, axis=0) >= 0.0).all()
    assert (emitted.argmax(axis=0) == case.logits["test"].argmax(axis=0)).all()
