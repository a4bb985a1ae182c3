# SPDX-License-Identifier: Apache-2.0
"""Predictions of real networks, where they are: SEGCAL_SHARED_DATA, or ../shared/data."""

import json
import os
from pathlib import Path

import nibabel
import numpy as np
import pytest
import reference
from agreement import agree
from PIL import Image
from program import apply, evaluate, fit, inspect, run

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("SEGCAL_SHARED_DATA", BESIDE))
SETS = ["camvid", "hippocampus", "membrane"]

pytestmark = pytest.mark.skipif(not DATA.is_dir(),
                                reason="the predictions of real networks are not here")


def labels_of(path):
    """Labels in C order; 255 becomes -1."""
    if path.suffix == ".png":
        labels = np.asarray(Image.open(path)).astype(np.int64)
    else:
        labels = np.asarray(nibabel.load(path).dataobj).T.astype(np.int64)
    return np.where(labels == 255, -1, labels)


def cases_of(name, split):
    """(id, members, labels) of every case of a split."""
    content, folder = reference.load_dataset(DATA / name)
    for case in content["cases"]:
        if case["split"] == split:
            members = [np.load(folder / member) for member in case["members"]]
            yield case["id"], members, labels_of(folder / case["labels"])


def voxels_of(name, split, pooling):
    """Pooled logits (C, n) and labels (n,) of the labelled voxels of a split."""
    logits, labels = [], []
    for _, members, truth in cases_of(name, split):
        own = truth >= 0
        logits.append(reference.pool(members, pooling)[0][:, own])
        labels.append(truth[own])
    return np.concatenate(logits, axis=1), np.concatenate(labels)


@pytest.mark.parametrize("name", SETS)
def test_inspect_counts_what_is_there(name):
    content, folder = reference.load_dataset(DATA / name)
    summary = inspect(DATA / name)
    assert len(summary["cases"]) == len(content["cases"])
    counts = np.zeros(len(content["classes"]), np.int64)
    for case in content["cases"]:
        labels = labels_of(folder / case["labels"])
        counts += np.bincount(labels[labels >= 0], minlength=counts.size)
    assert summary["label_counts"] == counts.tolist()
    assert summary["cases"][0]["dtype"] == "float16"
    first = [np.load(folder / m) for m in content["cases"][0]["members"]]
    free_energy = reference.free_energy_of(reference.pool(first, "z")[0])
    assert summary["cases"][0]["free_energy_mean"] == pytest.approx(free_energy.mean(), rel=1e-9)
    assert summary["cases"][0]["free_energy_std"] == pytest.approx(free_energy.std(), rel=1e-8)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("pooling", ["z", "p", "z1"])
def test_temperature_agrees_with_the_oracle(tmp_path, name, pooling):
    model = fit(DATA / name, f"ts({pooling})", tmp_path / "ts.json")
    beta, report = model["parameters"]["beta"], model["fit"]
    logits, labels = voxels_of(name, "calibration", pooling)
    assert report["data"]["labelled"] == labels.size
    assert report["status"] == "converged" and report["certificates"][0]["gradient"] <= 1e-6
    root = reference.stationary_beta(logits, labels, beta)
    assert 1.0 / beta == pytest.approx(1.0 / root, abs=1e-6)
    before, after = (reference.temperature_nll(logits, labels, b) for b in (1.0, root))
    assert report["nll_before"] == pytest.approx(before, rel=1e-6)
    assert report["nll_after"] == pytest.approx(after, rel=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_metrics_agree_with_the_oracle(tmp_path, name):
    fit(DATA / name, "ts(p)", tmp_path / "ts.json")
    content, _ = reference.load_dataset(DATA / name)
    emitted = apply(tmp_path / "ts.json", DATA / name, tmp_path / "out", "probabilities,log_label",
                    "npy", "--split", "test")
    result = evaluate(DATA / name, "-m", tmp_path / "ts.json", "--split", "test")["pipelines"][0]
    means = {}
    for row, (case_id, members, labels) in zip(result["metric_per_case"], cases_of(name, "test"),
                                               strict=True):
        assert row["case"] == case_id
        decision = reference.pool(members, "p")[1]
        probs = np.load(emitted / "probabilities" / f"{case_id}.npy")
        probs = probs.reshape(probs.shape[0], -1)
        log_label = np.load(emitted / "log_label" / f"{case_id}.npy").ravel()
        expected, _ = reference.metrics(probs, log_label, labels.ravel(), decision.ravel(),
                                        np.zeros(labels.size), reference.boundary(labels).ravel(),
                                        content["background"])
        for metric, value in expected.items():
            if metric.startswith("free_energy"):
                continue
            agree(row["metrics"][metric], value, (case_id, metric))
            means.setdefault(metric, []).append(value)
    for metric in set(means) - {"ace"}:
        agree(result["mean"][metric], reference.mean(means[metric]), metric)


def test_calibration_helps_and_keeps_every_decision(tmp_path):
    for name in SETS:
        for pooling in ("z", "p"):
            fit(DATA / name, f"ts({pooling})", tmp_path / f"{pooling}.json")
            pipelines = ["-p", f"none({pooling})", "-m", tmp_path / f"{pooling}.json"]
            before, after = evaluate(DATA / name, *pipelines, "--split", "test")["pipelines"]
            assert after["pooled"]["nll"] < before["pooled"]["nll"], (name, pooling)
            assert after["pooled"]["flip_rate"] == 0.0
            for metric in ("accuracy", "dsc", "miou"):
                assert after["pooled"][metric] == before["pooled"][metric]


def test_camvid_is_near_the_numbers_of_its_whole_test_set():
    """The folder's README: accuracy and NLL of 233 images, of which 14 are here."""
    pipelines = " ".join(f"-p none({pooling})" for pooling in ("z0", "z1", "z2", "z", "p")).split()
    rows = evaluate(DATA / "camvid", *pipelines, "--split", "test")["pipelines"]
    accuracy = [row["pooled"]["accuracy"] for row in rows]
    nll = [row["pooled"]["nll"] for row in rows]
    # So few images vary, and these are harder than most.
    np.testing.assert_allclose(accuracy[:3], [0.820, 0.843, 0.854], atol=0.04)
    np.testing.assert_allclose(nll[:3], [0.598, 0.511, 0.497], rtol=0.3)
    assert nll[0] > nll[1] > nll[2]
    # Averaging helps, and mixing probabilities is less over-confident than multiplying them.
    assert nll[4] < nll[3] < min(nll[:3])
    assert rows[4]["pooled"]["ece"] < rows[3]["pooled"]["ece"]


def test_hippocampus_is_near_the_numbers_of_its_readme():
    result = evaluate(DATA / "hippocampus", "-p", "none(z0)", "--split", "test")
    pooled = result["pipelines"][0]["pooled"]
    assert pooled["accuracy"] == pytest.approx(0.988, abs=0.004)
    assert pooled["dsc"] == pytest.approx(0.88, abs=0.03)


def test_index_finds_the_files_that_the_data_set_lists(tmp_path):
    source = DATA / "camvid"
    run("index", tmp_path / "dataset.json", "--members", source / "logits/{member}/{case}.npy",
        "--labels", source / "labels/{case}.png", "--images", source / "images/{case}.png",
        "--input", "logits", "--ignore-label", 255)
    found, _ = reference.load_dataset(tmp_path / "dataset.json")
    listed, _ = reference.load_dataset(source)
    by_id = {case["id"]: case for case in found["cases"]}
    assert set(by_id) == {case["id"] for case in listed["cases"]}
    for case in listed["cases"]:
        paths = [*by_id[case["id"]]["members"], by_id[case["id"]]["labels"]]
        wanted = [*case["members"], case["labels"]]
        for path, want in zip(paths, wanted, strict=True):
            assert (tmp_path / path).resolve() == (source / want).resolve()
    assert inspect(tmp_path)["label_counts"] == inspect(source)["label_counts"]


def test_nnunet_archives_give_what_the_logits_give(tmp_path):
    """Indexed from file names; the two folds are softmax outputs of members 0 and 1."""
    source = DATA / "hippocampus"
    (tmp_path / "nnunet.json").write_text(json.dumps(
        {"labels": {"background": 0, "anterior": 1, "posterior": 2}}))
    run("index", tmp_path / "dataset.json", "--members", source / "nnunet_fold_{member}/{case}.npz",
        "--labels", source / "labels/{case}.nii.gz", "--input", "probabilities",
        "--nnunet", tmp_path / "nnunet.json", cwd=tmp_path)
    content, _ = reference.load_dataset(tmp_path / "dataset.json")
    assert content["classes"] == ["background", "anterior", "posterior"]
    assert content["background"] == 0
    assert [len(case["members"]) for case in content["cases"]] == [2, 2, 2]
    beta = fit(tmp_path / "dataset.json", "ts(p)", tmp_path / "ts.json")["parameters"]["beta"]
    logits, labels = [], []
    for case in content["cases"]:
        members = [np.load(source / f"logits/m{k}/{case['id']}.npy") for k in (0, 1)]
        logits.append(reference.pool(members, "p")[0].reshape(3, -1))
        labels.append(labels_of(source / "labels" / f"{case['id']}.nii.gz").ravel())
    logits, labels = np.concatenate(logits, axis=1), np.concatenate(labels)
    # The floor of probabilities (1e-8) is all that differs from the logits' own.
    floored = np.maximum(logits, np.log(1e-8))
    assert beta == pytest.approx(reference.stationary_beta(floored, labels, beta), rel=2e-5)
    found = evaluate(tmp_path / "dataset.json", "-p", "none(p)")["pipelines"][0]["pooled"]
    assert found["nll"] == pytest.approx(reference.temperature_nll(logits, labels, 1.0), rel=1e-4)
    assert found["accuracy"] == pytest.approx(np.mean(logits.argmax(axis=0) == labels), abs=1e-6)
