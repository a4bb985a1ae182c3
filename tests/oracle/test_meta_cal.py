# SPDX-License-Identifier: Apache-2.0
"""Meta-Cal written again in NumPy: the voxels held aside, the threshold, the temperature."""

import numpy as np
import pytest
import reference
from calibration_case import CalibrationCase
from scipy.special import softmax
from scipy.stats import entropy
from sklearn.isotonic import IsotonicRegression

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
HELD_STREAM = np.uint64(0x4D45544143414C00)


def mix(x):
    """The finaliser of the counter-based generator (src/core/rng.h)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def priorities(seed, count):
    """Random numbers of the voxels of the first case."""
    with np.errstate(over="ignore"):
        key = mix(np.uint64(seed) ^ mix(HELD_STREAM + GOLDEN))
        return mix(key + mix(np.arange(count, dtype=np.uint64) * GOLDEN + GOLDEN))


def hold_aside(eligible):
    """Indices of the min(n / 10, 500) eligible voxels with the lowest random numbers."""
    indices = np.flatnonzero(eligible)
    order = indices[np.argsort(priorities(0, eligible.size)[indices])]
    return order[:min(order.size // 10, 500)]


def check(case, name, gamma, held):
    """The model's threshold, its temperature on the rest below it, and what it emits."""
    logits, labels = case.logits["calibration"], case.labels["calibration"]
    found = case.parameters(name)
    assert found["gamma"] == pytest.approx(gamma, rel=1e-6)
    own = (labels >= 0) & (entropy(softmax(logits, axis=0)) < found["gamma"] * (1.0 - 1e-6))
    own[held] = False
    assert found["beta"] == pytest.approx(
        reference.stationary_beta(logits[:, own], labels[own], found["beta"]), rel=1e-6)
    emitted = case.emitted(name)["test"]
    certain = entropy(softmax(case.logits["test"], axis=0))
    clear = np.abs(certain - found["gamma"]) > 1e-6
    expected = np.where(certain > found["gamma"], 1.0 / case.num_classes,
                        softmax(found["beta"] * case.logits["test"], axis=0))
    assert np.abs(emitted - expected)[:, clear].max() < 2e-6
    decided = case.logits["test"].argmax(axis=0)
    if name == "meta_star":
        assert (emitted.argmax(axis=0) == decided).all()
    else:
        assert (emitted.argmax(axis=0)[clear & (certain > found["gamma"])] == 0).all()


@pytest.mark.parametrize("name", ["meta", "meta_star"])
@pytest.mark.parametrize("alpha,size", [(0.05, (50, 60)), (0.25, (100, 110))])
def test_miscoverage_equals_numpy(tmp_path, name, alpha, size):
    case = CalibrationCase(tmp_path, 4, size=size)
    case.fit(f"{name}(z, alpha={alpha})", name)
    logits, labels = case.logits["calibration"], case.labels["calibration"]
    held = hold_aside(logits.argmax(axis=0) == labels)
    certain = entropy(softmax(logits, axis=0))
    check(case, name, np.quantile(certain[held], 1.0 - alpha, method="higher"), held)


def test_coverage_accuracy_equals_numpy_and_scikit_learn(tmp_path):
    wanted = 0.93
    case = CalibrationCase(tmp_path, 4, size=(100, 90))
    case.fit(f"meta(z, mode=accuracy, accuracy={wanted})", "meta")
    logits, labels = case.logits["calibration"], case.labels["calibration"]
    held = hold_aside(labels >= 0)
    certain = entropy(softmax(logits[:, held], axis=0))
    correct = logits[:, held].argmax(axis=0) == labels[held]
    edges = np.quantile(certain, np.arange(1, 20) / 20.0)
    which = np.searchsorted(edges, certain, side="left")
    count, hits = np.bincount(which), np.bincount(which, weights=correct)
    assert len(count) == 20 and count.min() > 0 and correct.mean() < wanted
    accuracy = np.cumsum(hits) / np.cumsum(count)
    means = np.bincount(which, weights=certain) / count
    curve = IsotonicRegression(increasing=False).fit(accuracy, means)
    check(case, "meta", curve.predict([wanted])[0], held)
