# SPDX-License-Identifier: Apache-2.0
"""Temperature scaling finds the true temperature, and the minimiser that SciPy finds."""

import json

import numpy as np
import pytest
import reference
from program import describe, evaluate, fails, fit, save_case
from voxels import calibration_voxels, simulate


RECOVERY = {
    "street": ["--preset", "street", "--cases", 4, "--size", "500x520"],
    "roads": ["--preset", "roads", "--cases", 4, "--size", "512x512", "--temperature", 1.3],
    "brain_half": ["--preset", "brain", "--cases", 2, "--size", "80x80x80", "--dtype", "float16"],
}


@pytest.mark.parametrize("options", RECOVERY.values(), ids=RECOVERY.keys())
def test_recovers_the_true_temperature_and_not_less_likelihood(tmp_path, options):
    folder = simulate(tmp_path / "data", *options)
    model = fit(folder, "ts(z)", tmp_path / "ts.json")
    logits, labels, truth = calibration_voxels(folder)
    assert labels.size > 9e5
    true = json.loads((folder / "truth.json").read_text())["map"]["parameters"]["temperature"]
    beta = model["parameters"]["beta"]
    assert 1.0 / beta == pytest.approx(true, rel=0.01)

    report = model["fit"]
    assert report["status"] == "converged"
    assert report["data"]["labelled"] == labels.size
    assert report["certificates"][0]["gradient"] <= 1e-6
    true_nll = -np.log(truth[labels, np.arange(labels.size)]).mean()
    # One parameter: half a chi-square with one degree of freedom over n, which is below 10/n.
    assert -10.0 / labels.size < report["nll_after"] - true_nll <= 1e-9
    assert report["nll_after"] == pytest.approx(
        reference.temperature_nll(logits, labels, beta), rel=1e-7)
    assert report["nll_before"] == pytest.approx(
        reference.temperature_nll(logits, labels, 1.0), rel=1e-7)


def test_agrees_with_the_bounded_minimiser_at_a_million_voxels(tmp_path):
    folder = simulate(tmp_path / "data", *RECOVERY["roads"])
    beta = fit(folder, "ts(z)", tmp_path / "ts.json")["parameters"]["beta"]
    logits, labels, _ = calibration_voxels(folder)
    assert 1.0 / beta == pytest.approx(1.0 / reference.minimise_nll(logits, labels, beta), abs=1e-6)


POOLED = {
    "z": ("z", []),
    "p": ("p", []),
    "z1": ("z1", []),
    "half": ("z", ["--dtype", "float16"]),
    "probabilities_z": ("z", ["--input", "probabilities"]),
    "probabilities_p": ("p", ["--input", "probabilities"]),
    "probabilities_half": ("p", ["--input", "probabilities", "--dtype", "float16"]),
}


@pytest.mark.parametrize("pooling,options", POOLED.values(), ids=POOLED.keys())
def test_agrees_with_both_searches_for_every_pooling_and_input(tmp_path, pooling, options):
    folder = simulate(tmp_path / "data", "--preset", "street", "--classes", 6, "--cases", 2,
                      "--size", "120x130", "--members", 3, *options)
    model = fit(folder, f"ts({pooling})", tmp_path / "ts.json")
    beta = model["parameters"]["beta"]
    logits, labels, _ = calibration_voxels(folder, pooling)
    # Logits and exponentials are float32 in the program; sums are not. Their errors hardly add up.
    assert beta == pytest.approx(reference.stationary_beta(logits, labels, beta), rel=1e-7)
    assert 1.0 / beta == pytest.approx(1.0 / reference.minimise_nll(logits, labels, beta), abs=1e-6)
    assert abs(reference.slope(logits, labels, beta)) <= 1e-6
    assert model["fit"]["certificates"][0]["gradient"] <= 1e-6


def test_at_the_optimum_likelihood_equals_entropy(tmp_path):
    folder = simulate(tmp_path / "data", "--preset", "roads", "--cases", 2, "--size", "128x128")
    fit(folder, "ts(z)", tmp_path / "ts.json")
    pooled = evaluate(folder, "-m", tmp_path / "ts.json")["pipelines"][0]["pooled"]
    assert pooled["nll"] == pytest.approx(pooled["entropy"], abs=1e-7)


def one_case(folder, logits, labels, **fields):
    """A data set of one case."""
    labels = np.asarray(labels, np.uint8)
    return describe(folder, [save_case(folder, "only", [logits], labels)], logits.shape[0],
                    **fields)


def test_all_correct_labels_end_at_the_cap_and_say_so(tmp_path):
    logits = np.random.default_rng(3).normal(size=(4, 30, 30)).astype(np.float32)
    dataset = one_case(tmp_path, logits, logits.argmax(axis=0))
    model = fit(dataset, "ts(z)", tmp_path / "ts.json")
    assert model["parameters"]["beta"] == 1e6
    assert model["fit"]["status"] == "at_bound"
    assert model["fit"]["certificates"][0]["bounded"] is False
    assert model["fit"]["warnings"]


def test_all_wrong_labels_end_at_infinite_temperature_and_keep_the_decision(tmp_path):
    logits = np.random.default_rng(3).normal(size=(4, 30, 30)).astype(np.float32)
    dataset = one_case(tmp_path, logits, logits.argmin(axis=0))
    model = fit(dataset, "ts(z)", tmp_path / "ts.json")
    assert model["parameters"]["beta"] == 0.0
    assert model["fit"]["status"] == "at_bound"
    pooled = evaluate(dataset, "-m", tmp_path / "ts.json")["pipelines"][0]["pooled"]
    assert pooled["nll"] == pytest.approx(np.log(4.0), rel=1e-6)
    assert pooled["flip_rate"] == 0.0
    assert pooled["accuracy"] == 0.0


def test_one_class_and_equal_logits_leave_nothing_to_fit(tmp_path):
    for classes, name in ((1, "one"), (3, "equal")):
        folder = tmp_path / name
        folder.mkdir()
        logits = np.full((classes, 8, 9), 2.5, np.float32)
        model = fit(one_case(folder, logits, np.zeros((8, 9))), "ts(z)", folder / "ts.json")
        assert model["parameters"]["beta"] == 1.0
        assert model["fit"]["status"] == "nothing_to_fit"
        assert model["fit"]["nll_after"] == pytest.approx(np.log(classes), abs=1e-7)


def test_a_fit_without_any_labelled_voxel_is_refused(tmp_path):
    logits = np.zeros((2, 8, 9), np.float32)
    dataset = one_case(tmp_path, logits, np.full((8, 9), 255))
    message = fails(3, "fit", dataset, "-o", tmp_path / "ts.json", "--quiet")
    assert "no labelled voxel" in message and "72 voxels" in message
    assert not (tmp_path / "ts.json").exists()


def test_options_of_the_pipeline_reach_the_fit(tmp_path):
    logits = np.random.default_rng(3).normal(size=(4, 30, 30)).astype(np.float32)
    dataset = one_case(tmp_path, logits, logits.argmax(axis=0))
    model = fit(dataset, "ts(max_beta=50, z)", tmp_path / "ts.json")
    assert model["parameters"]["beta"] == 50.0
    assert model["pipeline"] == "ts(z, max_beta=50)"
