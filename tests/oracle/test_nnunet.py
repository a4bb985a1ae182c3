# SPDX-License-Identifier: Apache-2.0
"""nnU-Net itself writes what `index` and `apply` read, and reads what `apply` leaves.

Skipped where the package cannot be installed.
"""

import json
import os
import subprocess
from pathlib import Path

import nibabel
import numpy as np
import pytest
from nnunet_layout import (AFFINE, load_label_map, save_description, save_label_map, softmax_case,
                           trained_model)
from program import evaluate, fit, run

HERE = Path(__file__).parent
DATA = Path(os.environ.get("SEGCAL_SHARED_DATA", HERE.resolve().parents[2] / "shared" / "data"))
CASES = ["a", "b"]


@pytest.fixture(scope="session", name="nnunet")
def installed():
    """Runs nnU-Net's own code."""
    folder = Path(os.environ["SEGCAL_NNUNET"])
    made = subprocess.run([HERE / "nnunet_env.sh", folder], capture_output=True,
                          text=True, check=False)
    if made.returncode != 0:
        pytest.skip("nnU-Net cannot be installed: " + made.stderr.strip()[-200:])

    def call(*arguments):
        done = subprocess.run([folder / "env" / "bin" / "python", HERE / "nnunet_tools.py",
                               *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return call


@pytest.fixture(scope="module", name="predicted")
def exported(nnunet, tmp_path_factory):
    """Predictions that nnU-Net wrote: a folder, and the folder of true labels."""
    root = tmp_path_factory.mktemp("exported")
    folder = root / "predicted"
    configuration = {"spacing": [2.0, 3.0, 1.5], "resampling_fn_probabilities": "no_resampling_hack",
                     "resampling_fn_probabilities_kwargs": {},
                     "architecture": {"network_class_name": "", "arch_kwargs": {},
                                      "_kw_requires_import": []}}
    save_description(folder, configurations={"3d_fullres": configuration})
    rng = np.random.default_rng(3)
    arguments = []
    for case in CASES:
        probabilities, labels = softmax_case(rng)
        np.save(root / f"{case}.npy", np.log(probabilities[:, 1:]))
        nibabel.save(nibabel.Nifti1Image(np.zeros(labels.T.shape, np.float32), AFFINE),
                     root / f"{case}_0000.nii.gz")
        save_label_map(root / "labelsTs" / f"{case}.nii.gz", labels)
        arguments += [folder, case, root / f"{case}.npy", root / f"{case}_0000.nii.gz"]
    nnunet("export", *arguments)
    return folder, root / "labelsTs"


@pytest.fixture(scope="module", name="summary")
def evaluated(nnunet, predicted):
    """What nnU-Net's evaluation says of its own predictions."""
    folder, truth = predicted
    nnunet("evaluate", truth, folder)
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").unlink()
    return summary


@pytest.fixture(scope="module", name="calibrator", params=["ts(z)", "cms_ap(z)"])
def fitted(request, tmp_path_factory):
    """A calibrator that keeps the segmentation, fitted out of fold."""
    root = tmp_path_factory.mktemp("fitted")
    run("index", root / "data.json", "--nnunet", trained_model(root))
    fit(root / "data.json", request.param, root / "model.json", "--search", "0")
    return root / "model.json"


def probabilities_in(folder, case):
    """The array of a prediction."""
    with np.load(folder / f"{case}.npz") as archive:
        return archive["probabilities"]


def test_its_own_folder_is_indexed_and_evaluated(predicted, summary, tmp_path):
    folder, truth = predicted
    run("index", tmp_path / "data.json", "--nnunet", folder, "--labels", truth)
    ours = evaluate(tmp_path / "data.json", "-p", "none(z)")["pipelines"][0]
    for mine, other in zip(ours["metric_per_case"], summary["metric_per_case"], strict=True):
        assert mine["case"] in other["prediction_file"]
        dice = [other["metrics"][str(label)]["Dice"] for label in (1, 2)]
        assert np.allclose(mine["per_class"]["dsc"][1:], dice, atol=1e-9)


def test_its_tools_go_on_with_a_calibrated_folder(nnunet, predicted, summary, calibrator,
                                                  tmp_path):
    folder, truth = predicted
    out = tmp_path / "calibrated"
    run("apply", calibrator, "--nnunet", folder, out)
    nnunet("ensemble", tmp_path / "merged", out, folder)
    for case in CASES:
        before, after = (probabilities_in(at, case) for at in (folder, out))
        assert not np.allclose(before, after, atol=1e-3)
        merged = probabilities_in(tmp_path / "merged", case)
        assert np.allclose(merged, (before + after) / 2, atol=1e-6)
        labels, affine = load_label_map(tmp_path / "merged" / f"{case}.nii.gz")
        assert np.array_equal(affine, AFFINE) and labels.shape == before.shape[1:]
        theirs, ours = (load_label_map(at / f"{case}.nii.gz") for at in (folder, out))
        assert np.array_equal(ours[0], theirs[0])  # not one voxel changed its class
        assert np.array_equal(ours[1], theirs[1])
    nnunet("evaluate", truth, out)
    calibrated = json.loads((out / "summary.json").read_text())
    assert calibrated["foreground_mean"]["Dice"] == summary["foreground_mean"]["Dice"]


@pytest.mark.skipif(not (DATA / "hippocampus" / "nnunet_fold_0").is_dir(),
                    reason="the predictions of real networks are not here")
@pytest.mark.parametrize("pipeline", ["ts(p)", "cms_ap(p)"])
def test_real_predictions_in_both_situations(pipeline, tmp_path):
    source = DATA / "hippocampus"
    content = json.loads((source / "dataset.json").read_text())
    model = tmp_path / "results" / "Dataset004" / "Trainer__Plans__3d"
    save_description(model, {name: value for value, name in enumerate(content["classes"])})
    for k, case in enumerate(c for c in content["cases"] if c["split"] != "test"):
        logits = np.load(source / case["members"][0]).astype(np.float64)
        exponentials = np.exp(logits - logits.max(0))
        fold = model / f"fold_{k % 5}" / "validation"
        fold.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(fold / f"{case['id']}.npz", probabilities=(
            exponentials / exponentials.sum(0)).astype(np.float32))
    run("index", tmp_path / "data.json", "--nnunet", model, "--labels", source / "labels")
    report = fit(tmp_path / "data.json", pipeline, tmp_path / "model.json", "--search", "0")["fit"]
    assert report["nll_after"] < report["nll_before"]
    folders = [source / f"nnunet_fold_{k}" for k in range(2)]
    said = run("apply", tmp_path / "model.json", "--nnunet", *folders, "-o", tmp_path / "out").stderr
    assert "3 of 3 cases have no .pkl" in said and "3 of 3 cases is not known" in said
    for path in folders[0].glob("*.npz"):
        mean = sum(probabilities_in(at, path.stem).astype(np.float64) for at in folders)
        assert np.array_equal(probabilities_in(tmp_path / "out", path.stem).argmax(0),
                              mean.argmax(0))
        labels, _ = load_label_map(tmp_path / "out" / f"{path.stem}.nii.gz")
        assert np.array_equal(labels, mean.argmax(0))
