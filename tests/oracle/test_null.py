# SPDX-License-Identifier: Apache-2.0
"""Calibration errors of predictions whose truth is known: labels drawn from them again and again."""

import numpy as np
import pytest
from program import describe, evaluate
from scipy.special import log_softmax

ERRORS = ["ece", "ace", "rms_ce", "debiased_ece", "sce_s2", "classwise_ece", "classwise_ace",
          "ks_ce", "adaptive_ece", "tace", "adaptive_ece_s2", "brier_reliability"]
SHAPE, CLASSES, DRAWS, FRESH = (50, 60), 4, 240, 40


def drawn_cases(folder, count):
    """One prediction and `count` sets of labels drawn from it; entries of a data set file."""
    rng = np.random.default_rng(17)
    logits = rng.normal(0.0, 2.0, (CLASSES, *SHAPE)).astype(np.float32)
    np.save(folder / "z.npy", logits)
    log_probs = log_softmax(logits.astype(np.float64), axis=0)
    entries = []
    for k in range(count):
        labels = np.argmax(log_probs + rng.gumbel(size=log_probs.shape), axis=0)
        np.save(folder / f"y{k}.npy", labels.astype(np.uint8))
        entries.append({"id": f"{k}", "members": ["z.npy"], "labels": f"y{k}.npy"})
    return entries


def values_of(folder, entries):
    """Every error of every case."""
    dataset = describe(folder, entries, CLASSES)
    rows = evaluate(dataset, "-p", "none(z)", "--metrics", "all")["pipelines"][0]["metric_per_case"]
    return {name: np.array([row["metrics"][name] for row in rows]) for name in ERRORS + ["mce"]}


@pytest.fixture(name="null", scope="module")
def fixture_null(tmp_path_factory):
    """Errors of a calibrated prediction over draws of its labels."""
    folder = tmp_path_factory.mktemp("null")
    return values_of(folder, drawn_cases(folder, DRAWS + FRESH))


@pytest.mark.parametrize("name", ERRORS + ["mce"])
def test_a_calibrated_prediction_lies_in_the_band_of_its_null_distribution(null, name):
    """Of 40 fresh draws, more than three outside a 99 % band have a chance below one in 500."""
    low, high = np.quantile(null[name][:DRAWS], [0.005, 0.995])
    fresh = null[name][DRAWS:]
    assert np.sum((fresh < low) | (fresh > high)) <= 3
    assert high > low


def test_the_debiased_error_is_centred_on_zero(null):
    """Squared gaps less their expectation are as often below zero, and then reported as zero."""
    assert 0.3 < np.mean(null["debiased_ece"] == 0.0) < 0.7
    assert np.all(null["rms_ce"] > 0.0)


def test_errors_grow_with_the_error_of_the_temperature(tmp_path):
    entries = drawn_cases(tmp_path, 12)
    logits = np.load(tmp_path / "z.npy")
    means = []
    for factor in (1.0, 1.1, 1.3, 1.7, 2.5):
        np.save(tmp_path / "z.npy", (logits * factor).astype(np.float32))
        values = values_of(tmp_path, entries)
        means.append({name: values[name].mean() for name in ERRORS})
    for name in ERRORS:
        series = [each[name] for each in means]
        assert series == sorted(series) and series[-1] > 2.0 * series[0], (name, series)
