# SPDX-License-Identifier: Apache-2.0
"""Data set files are read strictly, and `inspect` tells what is in them."""

import json
import re
import xml.dom.minidom

import numpy as np
import pytest
from program import (apply, change, describe, evaluate, fails, fit, inspect, random_case, run,
                     save_case, small_dataset)

BAD_FILES = {
    "version": (lambda d: d.update(segcal_dataset=2), ["2", "1"]),
    "no version": (lambda d: d.pop("segcal_dataset"), ["segcal_dataset"]),
    "unknown field": (lambda d: d.update(colour="red"), ["colour"]),
    "unknown field of a case": (lambda d: d["cases"][1].update(lables="x"), ["cases[1]", "lables"]),
    "input": (lambda d: d.update(input="scores"), ["scores", "log_probabilities"]),
    "layout": (lambda d: d.update(layout="sideways"), ["sideways", "channels_last"]),
    "no classes": (lambda d: d.update(classes=[]), ["0 classes"]),
    "classes of another type": (lambda d: d.update(classes="abc"), ["classes"]),
    "ignore label is a class": (lambda d: d.update(ignore_label=2), ["ignore_label 2", "[0, 4)"]),
    "background": (lambda d: d.update(background=4), ["background 4", "[0, 4)"]),
    "label map": (lambda d: d.update(label_map={"7": 9}), ["7", "9"]),
    "label map key": (lambda d: d.update(label_map={"x": 0}), ['"x"']),
    "no members": (lambda d: d["cases"][1].update(members=[]), ["cases[1]", "member"]),
    "other number of members": (lambda d: d["cases"][1]["members"].append("x.npy"),
                                ["cases[1]", "2 members"]),
    "same id": (lambda d: d["cases"][2].update(id="case0"), ["cases[2]", '"case0"']),
    "spacing": (lambda d: d["cases"][1].update(spacing=[1.0, -1.0]), ["spacing", "-1"]),
    "spacing of other axes": (lambda d: d["cases"][1].update(spacing=[1.0]),
                              ["case1", "spacing", "2"]),
    "members of another type": (lambda d: d["cases"][1].update(members=[3]),
                                ["cases[1]", "members"]),
}


@pytest.mark.parametrize("breakage", BAD_FILES)
def test_wrong_data_set_files_are_refused(tmp_path, breakage):
    damage, parts = BAD_FILES[breakage]
    message = fails(3, "inspect", change(small_dataset(tmp_path), damage))
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("case_id", ["", ".", "..", "a/b", "../../etc/passwd", "/abs", "a\0b"])
def test_ids_that_would_leave_the_output_folder_are_refused(tmp_path, case_id):
    dataset = change(small_dataset(tmp_path), lambda d: d["cases"][0].update(id=case_id))
    assert "cases[0]" in fails(3, "inspect", dataset)


NO_DATA_SETS = [b"", b"not json", b"[1, 2]", b"3", b"{", b'{"a": 1, "a": 2}', b"[" * 100000,
                b"\xff", b'{"segcal_dataset": 1e400}', b"\xef\xbb\xbf{}",
                b'{"segcal_dataset": "1"}']


@pytest.mark.parametrize("content", NO_DATA_SETS, ids=range(len(NO_DATA_SETS)))
def test_files_that_are_no_data_set_are_refused(tmp_path, content):
    (tmp_path / "d.json").write_bytes(content)
    assert "d.json" in fails(3, "inspect", tmp_path / "d.json")
    assert "d.json" in fails(3, "evaluate", tmp_path / "d.json")


def test_a_folder_stands_for_its_data_set_file(tmp_path):
    small_dataset(tmp_path)
    assert inspect(tmp_path) == inspect(tmp_path / "dataset.json")
    (tmp_path / "empty").mkdir()
    assert "empty: the folder holds no dataset.json" in fails(4, "inspect", tmp_path / "empty")


def test_a_split_is_chosen_by_name(tmp_path):
    dataset = small_dataset(tmp_path)
    change(dataset, lambda d: [case.update(split=f"s{k}") for k, case in enumerate(d["cases"])])
    assert [case["id"] for case in inspect(dataset, "--split", "s1")["cases"]] == ["case1"]
    change(dataset, lambda d: d["cases"][2].update(split="calibration"))
    run("fit", dataset, "-o", tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["fit"]["data"]["cases"] == 1
    run("apply", tmp_path / "m.json", dataset, "-o", tmp_path / "out", "--split", "s0")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["case0.npy"]
    result = json.loads(run("evaluate", dataset, "--split", "s1", "--json").stdout)
    assert result["split"] == "s1" and len(result["pipelines"][0]["metric_per_case"]) == 1


def test_a_constant_fill_is_noticed(tmp_path):
    """nnU-Net fills (1, 0, 0) outside its crop; taken for logits that ruins a fit."""
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 2, (3, 40, 40)).astype(np.float32)
    labels = rng.integers(0, 3, (40, 40)).astype(np.uint8)
    dataset = describe(tmp_path, [save_case(tmp_path, "a", [logits], labels)], 3)
    assert inspect(dataset)["repeated"] == 0
    assert "warning" not in run("inspect", dataset).stdout
    logits[:, :20] = np.float32([1, 0, 0])[:, None, None]
    np.save(tmp_path / "a_m0.npy", logits)
    summary = inspect(dataset)
    assert summary["repeated"] == 800 and summary["repeated_example"] == [1.0, 0.0, 0.0]
    text = run("inspect", dataset).stdout
    assert "warning: 50.00 % of the voxels" in text and "(1, 0, 0)" in text and "mask" in text
    assert "mask" in run("fit", dataset, "-o", tmp_path / "m.json").stderr


def test_class_balance_and_shapes_are_shown(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=2, shape=(3, 8, 9))
    summary = inspect(dataset)
    labels = np.concatenate([np.load(path).ravel()
                             for path in sorted(tmp_path.glob("*_labels.npy"))])
    decisions = np.concatenate([np.load(path).argmax(axis=0).ravel()
                                for path in sorted(tmp_path.glob("*_m0.npy"))])
    assert summary["label_counts"] == np.bincount(labels[labels != 255], minlength=4).tolist()
    assert summary["decision_counts"] == np.bincount(decisions, minlength=4).tolist()
    assert summary["voxels"] == 2 * 3 * 8 * 9 and summary["cases"][1]["shape"] == [3, 8, 9]
    text = run("inspect", dataset).stdout
    assert "3x8x9" in text and "float16" in text and "Free energy" in text


def test_figures_are_pictures(tmp_path):
    dataset = small_dataset(tmp_path)
    run("evaluate", dataset, "-p", "none(z)", "--figures", tmp_path / "f", "--picture", "case1")
    names = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert names == ["case.svg", "confusion.svg", "reliability.svg", "reliability_classes.svg",
                     "reliability_regions.svg", "risk_coverage.svg"]
    for path in (tmp_path / "f").iterdir():
        assert xml.dom.minidom.parse(str(path)).documentElement.tagName == "svg"


def test_inspect_draws_the_free_energy(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=8, num_members=2)
    text = run("inspect", dataset, "--figures", tmp_path / "f").stdout
    assert "free_energy.svg" in text
    page = (tmp_path / "f" / "free_energy.svg").read_text()
    assert xml.dom.minidom.parseString(page).documentElement.tagName == "svg"
    assert "8 cases" in page and "M = 2" in page
    assert [f"case{k}" in page for k in range(8)] == [True] * 6 + [False] * 2
    run("inspect", dataset, "--json", "--figures", tmp_path / "g", "--picture", "case7")
    page = (tmp_path / "g" / "free_energy.svg").read_text()
    assert "case7" in page and "case0" not in page
    assert "nine" in fails(2, "inspect", dataset, "--figures", tmp_path / "h", "--picture", "nine")
    assert not (tmp_path / "h").exists()


def test_a_model_has_no_free_energy_to_draw(model, tmp_path):
    assert "is a model" in fails(2, "inspect", model, "--figures", tmp_path / "f")


def test_inspect_counts_the_parameters_of_every_method(dataset):
    methods = {m["name"]: m for m in inspect(dataset)["methods"]}
    assert methods["ts"] == {"name": "ts", "optimised": 1, "identifiable": 1,
                             "translation_invariant": True, "preserves": "order"}
    text = run("inspect", dataset).stdout
    assert "Parameters of each method for 4 classes" in text
    for name, method in methods.items():
        assert re.search(rf"^{re.escape(name)} +{method['optimised']} ", text, re.MULTILINE), name


def test_a_set_of_pipelines_is_fitted_into_a_folder(dataset, tmp_path):
    folder = tmp_path / "models"
    shown = run("fit", dataset, "-p", "fast", "-p", "vs(p, lambda=0.1)", "-o", folder, "--search", 0).stdout
    pipelines = {json.loads(path.read_text())["pipeline"] for path in folder.iterdir()}
    assert {"none(z0)", "ts(p)", "ts(z)", "ets(z)", "vs(p, lambda=0.1)"} <= pipelines
    assert (folder / "ts_z.json").exists() and (folder / "vs_p_lambda=0.1.json").exists()
    assert shown.count("wrote ") == len(pipelines)


def test_simulate_refuses_a_folder_that_is_in_use(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    message = fails(4, "simulate", tmp_path, "--cases", 1, "--size", "10x10")
    assert "empty" in message
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def dataset_with(folder, mask_row, ignore_row, labels=True):
    """A case with such predictions at a masked voxel and at one with the ignore label."""
    folder.mkdir()
    rng = np.random.default_rng(11)
    (logits,), truth = random_case(rng, 3, (40, 50), dtype=np.float32, ignored=0)
    mask = np.ones((40, 50), np.uint8)
    mask[3, 4] = 0
    truth[5, 6] = 255
    logits[:, 3, 4] = mask_row
    logits[:, 5, 6] = ignore_row
    entries = [save_case(folder, f"case{k}", [logits], truth if labels else None, mask, split=split)
               for k, split in enumerate(["calibration", "validation"])]
    return describe(folder, entries, 3)


@pytest.mark.parametrize("row", [[np.nan, 0, 0], [np.inf, 0, 0], [-np.inf] * 3])
def test_predictions_that_take_no_part_may_be_anything(tmp_path, row):
    plain = dataset_with(tmp_path / "plain", [1, 2, 3], [3, 2, 1])
    broken = dataset_with(tmp_path / "broken", row, row)
    models = [fit(data, "ts(z)", tmp_path / "m.json") for data in (plain, broken)]
    assert models[0]["parameters"] == models[1]["parameters"]
    assert models[0]["fit"]["nll_after"] == models[1]["fit"]["nll_after"]
    pooled = [evaluate(data, "-m", tmp_path / "m.json")["pipelines"][0]["pooled"]
              for data in (plain, broken)]
    assert pooled[0] == pooled[1]
    assert inspect(broken)["labelled"] == inspect(plain)["labelled"]
    run("verify", tmp_path / "m.json", broken, "--quiet")


def test_apply_writes_equal_probabilities_where_a_masked_voxel_has_no_prediction(tmp_path):
    plain = dataset_with(tmp_path / "plain", [1, 2, 3], [3, 2, 1])
    broken = dataset_with(tmp_path / "broken", [np.nan, 0, 0], [3, 2, 1])
    fit(plain, "ts(z)", tmp_path / "m.json")
    before, after = (np.load(apply(tmp_path / "m.json", data, tmp_path / f"out{k}") / "case0.npy")
                     for k, data in enumerate((plain, broken)))
    np.testing.assert_allclose(after[:, 3, 4], 1 / 3, rtol=1e-6)
    after[:, 3, 4] = before[:, 3, 4]
    np.testing.assert_array_equal(after, before)


def test_apply_needs_a_prediction_where_it_writes_one(tmp_path):
    plain = dataset_with(tmp_path / "plain", [1, 2, 3], [3, 2, 1])
    fit(plain, "ts(z)", tmp_path / "m.json")
    ignored = dataset_with(tmp_path / "ignored", [1, 2, 3], [np.nan, 2, 1])
    command = ("apply", tmp_path / "m.json", ignored, "-o", tmp_path / "out", "--quiet")
    assert "voxel (5, 6)" in fails(3, *command)
    assert "voxel (5, 6)" in fails(3, *command, "--skip-bad")
    unlabelled = dataset_with(tmp_path / "bare", [1, 2, 3], [np.nan, 2, 1], labels=False)
    assert "voxel (5, 6)" in fails(3, "inspect", unlabelled, "--quiet")
