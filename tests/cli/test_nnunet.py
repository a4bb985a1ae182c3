# SPDX-License-Identifier: Apache-2.0
"""Folders of nnU-Net in and out: out-of-fold predictions, ensembles, what its tools go on with."""

import json
import os

import numpy as np
import pytest
from nnunet_layout import (AFFINE, LABELS, load_label_map, new_predictions, save_description,
                           save_label_map, save_prediction, softmax_case, trained_model)
from program import evaluate, fails, fit, run

NO_NNUNET = {"nnUNet_raw": "", "nnUNet_preprocessed": ""}


def index(folder, *arguments, **options):
    """Runs `segcal index data.json --nnunet ...` in a folder and returns the data set."""
    done = run("index", "data.json", "--nnunet", *arguments, cwd=folder, **options)
    return json.loads((folder / "data.json").read_text()), done


def probabilities_of(path):
    """The array of a prediction."""
    with np.load(path) as archive:
        assert archive.files == ["probabilities"]
        return archive["probabilities"]


@pytest.fixture(scope="module", name="calibrated")
def fitted(tmp_path_factory):
    """A trained model's folder, and a calibrator fitted on its out-of-fold predictions."""
    root = tmp_path_factory.mktemp("nnunet")
    model = trained_model(root)
    index(root, model)
    fit(root / "data.json", "ts(z)", root / "ts.json")
    return root, model, root / "ts.json"


def test_out_of_fold_predictions_are_a_calibration_set(tmp_path):
    model = trained_model(tmp_path)
    content, done = index(tmp_path, model.relative_to(tmp_path), "--split", "calibration=4,test=2")
    assert content["classes"] == list(LABELS)
    assert content["background"] == 0 and content["input"] == "probabilities"
    assert [case["id"] for case in content["cases"]] == [f"hippocampus_{k:03}" for k in range(6)]
    for k, case in enumerate(content["cases"]):
        assert [f"fold_{k % 3}/validation/" in member for member in case["members"]] == [True]
        assert case["labels"] == f"nnUNet_raw/Dataset004_Hippocampus/labelsTr/{case['id']}.nii.gz"
        assert "group" not in case
    assert "6 cases out of fold" in done.stderr and "labelsTr" in done.stderr
    assert "splits: calibration 4, test 2" in done.stdout
    fit(tmp_path / "data.json", "ts(z)", tmp_path / "ts.json")
    before, after = evaluate(tmp_path / "data.json", "-p", "none(z)", "-m", tmp_path / "ts.json",
                             "--split", "test")["pipelines"]
    assert after["mean"]["nll"] < before["mean"]["nll"]
    assert after["mean"]["accuracy"] == before["mean"]["accuracy"]


def test_labels_are_found_where_nnunet_keeps_them(tmp_path):
    model = trained_model(tmp_path / "a")
    raw = tmp_path / "a" / "nnUNet_raw"
    raw.rename(tmp_path / "elsewhere")
    message = fails(4, "index", tmp_path / "d.json", "--nnunet", model, env=NO_NNUNET)
    assert "nnUNet_raw/Dataset004_Hippocampus/labelsTr" in message and "--labels" in message
    content, _ = index(tmp_path, model, env={"nnUNet_raw": str(tmp_path / "elsewhere")})
    assert content["cases"][0]["labels"].startswith("elsewhere/")
    labels = tmp_path / "elsewhere" / "Dataset004_Hippocampus" / "labelsTr"
    content, _ = index(tmp_path, model, "--labels", labels, env=NO_NNUNET)
    assert content["cases"][0]["labels"].startswith("elsewhere/")


def test_folds_can_be_groups(tmp_path):
    content, _ = index(tmp_path, trained_model(tmp_path), "--group-by-fold")
    assert [case["group"] for case in content["cases"]] == [f"fold_{k % 3}" for k in range(6)]


def test_predictions_of_several_folds_are_members(tmp_path):
    folders = new_predictions(tmp_path)
    content, done = index(tmp_path, *folders)
    assert [len(case["members"]) for case in content["cases"]] == [2, 2, 2]
    assert content["cases"][1]["members"] == ["fold_0/new_1.npz", "fold_1/new_1.npz"]
    assert "without labels: 3 of 3 cases" in done.stdout
    save_label_map(tmp_path / "labelsTs" / "new_0.nii.gz", np.zeros((5, 6, 7)))
    message = fails(4, "index", "d.json", "--nnunet", *folders, "--labels", "labelsTs",
                    cwd=tmp_path)
    assert '"new_1"' in message and "labelsTs" in message


def test_regions_are_explained(tmp_path):
    folder, = new_predictions(tmp_path, ["predicted"])
    save_description(folder, {"background": 0, "whole": [1, 2], "core": 2},
                     regions_class_order=[1, 2])
    message = fails(3, "index", tmp_path / "d.json", "--nnunet", folder)
    assert '"whole"' in message and "sigmoid" in message
    model = fit_on(tmp_path)
    message = fails(3, "apply", model, "--nnunet", folder, tmp_path / "out")
    assert '"whole"' in message and not (tmp_path / "out").exists()


def fit_on(folder):
    """A temperature for three classes, fitted on a few random cases."""
    trained_model(folder / "train")
    run("index", folder / "train.json", "--nnunet",
        next((folder / "train" / "nnUNet_results").glob("*/*")))
    fit(folder / "train.json", "ts(z)", folder / "ts.json")
    return folder / "ts.json"


def test_apply_leaves_a_folder_that_nnunet_reads(calibrated, tmp_path):
    model = calibrated[2]
    folder, = new_predictions(tmp_path, ["predicted"])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    printed = run("apply", model, "--nnunet", folder, tmp_path / "out")
    assert "warning" not in printed.stderr
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == set(before)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in ("dataset.json", "plans.json", "new_0.pkl", "new_2.pkl"):
        assert (out / name).read_bytes() == before[name]
    for k in range(3):
        given, made = (probabilities_of(at / f"new_{k}.npz") for at in (folder, out))
        assert made.dtype == np.float32 and made.shape == given.shape
        assert np.allclose(made.sum(0), 1.0, atol=1e-5)
        assert not np.allclose(made, given, atol=1e-3)
        labels, affine = load_label_map(out / f"new_{k}.nii.gz")
        assert np.array_equal(labels, made.argmax(0))
        assert np.array_equal(labels, given.argmax(0))  # the segmentation stays
        assert np.array_equal(affine, AFFINE)
    # Deflated, as nnU-Net writes it.
    assert b"probabilities.npy" in (out / "new_0.npz").read_bytes()[:60]
    assert (out / "new_0.npz").read_bytes()[8:10] == b"\x08\x00"


def test_apply_takes_members_and_folds(calibrated, tmp_path):
    _, model, calibrator = calibrated
    folders = new_predictions(tmp_path)
    run("apply", calibrator, "--nnunet", *folders, "-o", tmp_path / "both")
    mean = sum(np.log(probabilities_of(folder / "new_0.npz").astype(float)) for folder in folders)
    labels, _ = load_label_map(tmp_path / "both" / "new_0.nii.gz")
    assert np.array_equal(labels, mean.argmax(0))
    run("apply", calibrator, "--nnunet", model, tmp_path / "all_folds")
    assert len(list((tmp_path / "all_folds").glob("*.npz"))) == 6


def test_output_folders_are_checked_before_any_work(calibrated, tmp_path):
    calibrator = calibrated[2]
    folder, = new_predictions(tmp_path, ["predicted"])
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    for out in (folder, str(folder) + "/", tmp_path / "predicted" / ".." / "predicted"):
        for force in ([], ["--force"]):
            assert "is a folder that is read" in fails(2, "apply", calibrator, *force, "--nnunet",
                                                       folder, out)
    os.symlink(folder, tmp_path / "link")
    assert "is read" in fails(2, "apply", calibrator, "--nnunet", folder, tmp_path / "link")
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "other.npz").write_text("")
    message = fails(2, "apply", calibrator, "--nnunet", folder, tmp_path / "full")
    assert "not empty" in message and "--force" in message
    assert len(list((tmp_path / "full").iterdir())) == 1
    run("apply", calibrator, "--force", "--nnunet", folder, tmp_path / "full")
    (tmp_path / "file").write_text("")
    assert "no folder" in fails(4, "apply", calibrator, "--nnunet", folder, tmp_path / "file")
    assert "IN and OUT" in fails(2, "apply", calibrator, "--nnunet", folder)
    assert "--write" in fails(2, "apply", calibrator, "--write", "labels", "--nnunet", folder, "x")
    assert "--nnunet" in fails(2, "apply", calibrator, "d.json", "-o", "x", "--images", "y")


def test_what_is_missing_is_said(calibrated, tmp_path):
    calibrator = calibrated[2]
    folder, = new_predictions(tmp_path, ["predicted"])
    (folder / "new_1.pkl").unlink()
    (folder / "plans.json").unlink()
    (folder / "new_2.nii.gz").unlink()
    said = run("apply", calibrator, "--nnunet", folder, tmp_path / "out").stderr
    assert "1 of 3 cases have no .pkl" in said and "new_1.pkl" in said
    assert "no plans.json" in said
    assert "1 of 3 cases is not known (first new_2)" in said
    assert not (tmp_path / "out" / "new_1.pkl").exists()


def test_broken_predictions_are_named(calibrated, tmp_path):
    calibrator = calibrated[2]
    folder, = new_predictions(tmp_path, ["predicted"])
    whole = (folder / "new_1.npz").read_bytes()
    (folder / "new_1.npz").write_bytes(whole[:len(whole) // 2])
    message = fails(3, "apply", calibrator, "--nnunet", folder, tmp_path / "out")
    assert "new_1.npz" in message
    assert not (tmp_path / "out" / "new_1.npz").exists()
    said = run("apply", calibrator, "--nnunet", folder, tmp_path / "most", "--skip-bad").stderr
    assert "skipped" in said and "new_1" in said
    assert not (tmp_path / "most" / "new_1.pkl").exists()
    save_label_map(folder / "new_0.nii.gz", np.zeros((5, 6, 8)))
    message = fails(2, "apply", calibrator, "--nnunet", folder, tmp_path / "other", "--skip-bad")
    assert "new_0.nii.gz" in message and "7" in message and "8" in message


def test_an_image_of_two_dimensions_gets_a_png(calibrated, tmp_path):
    calibrator = calibrated[2]
    folder = tmp_path / "predicted"
    save_description(folder, file_ending=".png")
    probabilities, _ = softmax_case(np.random.default_rng(5), (1, 6, 7))
    save_prediction(folder, "a", probabilities)
    (folder / "a.nii.gz").unlink()
    run("apply", calibrator, "--nnunet", folder, tmp_path / "out")
    made = run("inspect", tmp_path / "out" / "a.png", code=3).stderr  # not a data set
    assert made
    from PIL import Image  # pylint: disable=import-outside-toplevel
    labels = np.asarray(Image.open(tmp_path / "out" / "a.png"))
    assert np.array_equal(labels, probabilities.argmax(0)[0])


def test_formats_that_cannot_be_written_are_left_out(calibrated, tmp_path):
    folder = tmp_path / "predicted"
    save_description(folder, file_ending=".tif")
    save_prediction(folder, "a", softmax_case(np.random.default_rng(5))[0])
    said = run("apply", calibrated[2], "--nnunet", folder, tmp_path / "out").stderr
    assert "label maps are not written" in said and ".tif" in said
    assert (tmp_path / "out" / "a.npz").exists()


def test_other_classes_are_refused(calibrated, tmp_path):
    folder, = new_predictions(tmp_path, ["predicted"])
    save_description(folder, {"background": 0, "liver": 1, "tumour": 2})
    message = fails(3, "apply", calibrated[2], "--nnunet", folder, tmp_path / "out")
    assert "liver" in message and "anterior" in message


def test_nifti_of_unlabelled_cases_keeps_its_geometry(calibrated, tmp_path):
    calibrator = calibrated[2]
    folders = new_predictions(tmp_path, ["p"])
    index(tmp_path, *folders)
    done = run("apply", calibrator, "data.json", "-o", "beside", "--write",
               "probabilities:npz,labels:nifti", cwd=tmp_path)
    assert "warning" not in done.stderr
    made = load_label_map(tmp_path / "beside" / "labels" / "new_0.nii.gz")
    assert np.array_equal(made[1], AFFINE)
    assert (tmp_path / "beside" / "probabilities" / "new_0.npz").exists()
    for path in (tmp_path / "p").glob("*.nii.gz"):
        path.rename(tmp_path / path.name)
    done = run("apply", calibrator, "data.json", "-o", "none", "--format", "nifti", cwd=tmp_path)
    assert "3 of 3 cases is not known" in done.stderr
    index(tmp_path, *folders, "--images", "{case}.nii.gz")
    done = run("apply", calibrator, "data.json", "-o", "image", "--format", "nifti", cwd=tmp_path)
    assert "warning" not in done.stderr
    assert np.array_equal(load_label_map(tmp_path / "image" / "new_0.nii.gz")[1], AFFINE)


def test_outputs_have_formats_of_their_own(dataset, model, tmp_path):
    run("apply", model, dataset, "-o", tmp_path / "out", "--write",
        "probabilities:npz,labels:png,confidence", "--compress")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in tmp_path.rglob("case0*")}
    assert names == {"probabilities/case0.npz", "labels/case0.png", "confidence/case0.npy"}
    assert "there are" in fails(2, "apply", model, dataset, "-o", tmp_path / "x", "--write",
                                "labels:gif")
    assert "twice" in fails(2, "apply", model, dataset, "-o", tmp_path / "x", "--write",
                            "labels:png,labels:npy")


def test_names_that_lead_nowhere_are_errors(calibrated, tmp_path):
    calibrator = calibrated[2]
    folder, = new_predictions(tmp_path, ["predicted"])
    os.symlink("loop", tmp_path / "loop")
    for name in (tmp_path / "loop", tmp_path / ("a" * 300), tmp_path / "nothing", ""):
        assert "not a folder" in fails(4, "index", tmp_path / "d.json", "--nnunet", name)
        assert "not a folder" in fails(4, "index", tmp_path / "d.json", "--nnunet", folder,
                                       "--labels", name or "nothing")
        assert "not a folder" in fails(4, "apply", calibrator, "--nnunet", name, tmp_path / "out")
    for name in (tmp_path / "loop", tmp_path / "loop" / "x", tmp_path / ("a" * 300)):
        fails(4, "apply", calibrator, "--nnunet", folder, name)
    assert "empty name" in fails(2, "apply", calibrator, "--nnunet", folder, "")
    (folder / "dataset.json").write_text("{")
    assert "dataset.json" in fails(3, "index", tmp_path / "d.json", "--nnunet", folder)
