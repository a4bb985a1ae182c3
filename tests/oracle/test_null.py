# SPDX-License-Identifier: Apache-2.0
"""Calibration errors of a simulated prediction whose truth is known: labels drawn from it again and again."""

import json

import numpy as np
import pytest
from program import describe, evaluate, run

# Every calibration error. The largest gap of any bin or patch (MCE) hangs on its emptiest one and
# need not grow with the error of the temperature.
GROWING = ["ece", "ace", "rms_ce", "debiased_ece", "sce_s2", "classwise_ece", "classwise_ece_sum",
           "sce", "classwise_ace", "brier_reliability", "adaptive_ece", "tace", "adaptive_ece_s2",
           "ks_ce", "ba_ece", "gap_0_3", "ece_boundary", "ece_all", "ece_local_avg", "ece_local_max"]
LARGEST = ["mce", "classwise_mce", "mce_boundary", "mce_all", "mce_local_avg", "mce_local_max"]
CENTRED = ["over_confidence"]
CLASSES, DRAWS, FRESH = 4, 240, 40


def drawn_cases(folder, count):
    """One calibrated prediction and `count` sets of labels drawn from it, voxel by voxel."""
    run("simulate", folder / "scene", "--preset", "street", "--cases", 1, "--classes", CLASSES, "--size",
        "50x60", "--temperature", 1, "--correlation", 0, "--ignore", 0, "--seed", 17, "--quiet")
    content = json.loads((folder / "scene" / "dataset.json").read_text())
    logits = np.load(folder / "scene" / content["cases"][0]["members"][0])
    (truth,) = (folder / "scene" / "truth").glob("*.npy")
    log_truth = np.log(np.load(truth).astype(np.float64))
    np.save(folder / "z.npy", logits)
    rng = np.random.default_rng(17)
    entries = []
    for k in range(count):
        labels = np.argmax(log_truth + rng.gumbel(size=log_truth.shape), axis=0)
        np.save(folder / f"y{k}.npy", labels.astype(np.uint8))
        entries.append({"id": f"{k}", "members": ["z.npy"], "labels": f"y{k}.npy"})
    return entries


def values_of(folder, entries):
    """Every error of every case."""
    dataset = describe(folder, entries, CLASSES, background=0)
    result = evaluate(dataset, "-p", "none(z)", "--metrics", "all", "--set", "patch=24")
    rows = result["pipelines"][0]["metric_per_case"]
    return {name: np.array([row["metrics"][name] for row in rows], float)
            for name in GROWING + LARGEST + CENTRED}


@pytest.fixture(name="null", scope="module")
def fixture_null(tmp_path_factory):
    """Errors of a calibrated prediction over draws of its labels."""
    folder = tmp_path_factory.mktemp("null")
    return values_of(folder, drawn_cases(folder, DRAWS + FRESH))


@pytest.mark.parametrize("name", GROWING + LARGEST + CENTRED)
def test_a_calibrated_prediction_lies_in_the_band_of_its_null_distribution(null, name):
    """Of 40 fresh draws, more than three outside a 99 % band have a chance below one in 500."""
    assert np.all(np.isfinite(null[name]))
    low, high = np.quantile(null[name][:DRAWS], [0.005, 0.995])
    fresh = null[name][DRAWS:]
    assert np.sum((fresh < low) | (fresh > high)) <= 3
    assert high > low


def test_the_debiased_error_is_centred_on_zero(null):
    """Squared gaps less their expectation are as often below zero, and then reported as zero."""
    assert 0.3 < np.mean(null["debiased_ece"] == 0.0) < 0.7
    assert np.all(null["rms_ce"] > 0.0)


def test_over_confidence_is_centred_on_zero(null):
    """Within four standard errors of its mean."""
    values = null["over_confidence"]
    assert abs(values.mean()) < 4.0 * values.std() / np.sqrt(values.size)


def test_errors_grow_with_the_error_of_the_temperature(tmp_path):
    entries = drawn_cases(tmp_path, 40)
    logits = np.load(tmp_path / "z.npy")
    means = []
    for factor in (1.0, 1.1, 1.3, 1.7, 2.5):
        np.save(tmp_path / "z.npy", (logits * factor).astype(np.float32))
        values = values_of(tmp_path, entries)
        means.append({name: values[name].mean() for name in GROWING})
    for name in GROWING:
        series = [each[name] for each in means]
        assert np.all(np.diff(series) > 0.0), (name, series)
