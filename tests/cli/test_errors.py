# SPDX-License-Identifier: Apache-2.0
"""Mistakes end with the right exit code, a message naming file, found and required, no output."""

import json

import numpy as np
import pytest
from program import change, describe, fails, fit, run, save_case, small_dataset


@pytest.fixture
def data(tmp_path):
    """A data set a test may break: (its file, its folder)."""
    return small_dataset(tmp_path / "data"), tmp_path / "data"


WRONG_PIPELINES = {
    "tss(z)": ["unknown calibrator", '"tss"', "none, ts"],
    "ts(q)": ['"q"', "neither a pooling"],
    "ts(z7)": ["z7", "members 0 to 0"],
    "ts(z, p)": ["second pooling"],
    "ts(z": ["parentheses"],
    "ts(z, banana=3)": ["banana", "max_beta"],
    "ts(z, max_beta=-1)": ["max_beta", "-1", "at least"],
    "ts(z, max_beta=much)": ["max_beta", "much", "number"],
    "ts(z, max_beta=2, max_beta=3)": ["max_beta", "twice"],
    "ts+ts(z)": ["+", "base"],
    "": ["name is missing"],
}


@pytest.mark.parametrize("pipeline", WRONG_PIPELINES)
def test_wrong_pipelines_are_usage_errors(dataset, tmp_path, pipeline):
    message = fails(2, "fit", dataset, "-p", pipeline, "-o", tmp_path / "m.json", "--quiet")
    for part in WRONG_PIPELINES[pipeline]:
        assert part in message, message
    assert not list(tmp_path.iterdir())


def test_other_usage_errors(dataset, model, tmp_path):
    out = tmp_path / "x"
    wrong = {
        ("fit", dataset, "-o", out, "--memory", "1M"): ["1048576", "67108864"],
        ("fit", dataset, "-o", out, "--memory", "banana"): ["banana", "512M"],
        ("evaluate", dataset, "--split", "nope"): ["nope", "splits"],
        ("evaluate", dataset, "-p", "ts(z)"): ["segcal fit", "ts(z)"],
        ("evaluate", dataset, "--set", "bins=0"): ["bins", "0", "at least 1"],
        ("evaluate", dataset, "--set", "banana=0"): ["banana"],
        ("evaluate", dataset, "--set", "patch=banana"): ["patch", "banana"],
        ("evaluate", dataset, "--set", "patch=20"): ["patch=20", "local", "--metrics"],
        ("evaluate", dataset, "--set", "bins"): ["key=value"],
        ("evaluate", dataset, "--set", "absent=maybe"): ["absent", "maybe", "skip"],
        ("evaluate", dataset, "--picture", "nobody", "--figures", out): ["nobody"],
        ("apply", model, dataset, "-o", out, "--write", "banana"): ["banana", "entropy"],
        ("apply", model, dataset, "-o", out, "--write", "labels,labels"): ["labels", "twice"],
        ("apply", model, dataset, "-o", out, "--format", "tiff"): ["tiff", "nifti"],
        ("apply", model, dataset, "-o", out, "--format", "png"): ["probabilities", "png"],
        ("apply", model, dataset, "-o", out, "--dtype", "f64"): ["f64", "f16"],
        ("simulate", out, "--size", "20by30"): ["20by30", "HxW"],
        ("simulate", out, "--preset", "moon"): ["moon", "brain"],
        ("simulate", out, "--cases", 0): ["0"],
        ("simulate", out, "--temperature", -1): ["temperature", "-1"],
        ("simulate", out, "--images", "--members", 2): ["--members", "--images"],
        ("simulate", out, "--scanners", 2): ["--scanners", "--images"],
        ("simulate", out, "--images", "--preset", "candidates"): ["--images", "candidates"],
    }
    for command, parts in wrong.items():
        message = fails(2, *command)
        assert all(part in message for part in parts), message
    assert not out.exists() or not [path for path in out.rglob("*") if path.is_file()]


def test_a_fit_needs_the_calibration_split_where_there_are_splits(data, tmp_path):
    dataset, _ = data
    change(dataset, lambda d: [case.update(split="test") for case in d["cases"]])
    message = fails(2, "fit", dataset, "-o", tmp_path / "m.json")
    assert '"calibration"' in message and "test" in message


def test_missing_files_are_input_output_errors(data, model, tmp_path):
    dataset, folder = data
    assert "nowhere.json: cannot open" in fails(4, "inspect", tmp_path / "nowhere.json")
    assert "nowhere" in fails(4, "evaluate", dataset, "-m", tmp_path / "nowhere.json")
    (folder / "case1_m0.npy").unlink()
    for command in (["inspect", dataset], ["evaluate", dataset],
                    ["fit", dataset, "-o", tmp_path / "m.json"],
                    ["apply", model, dataset, "-o", tmp_path / "out"]):
        message = fails(4, *command)
        assert "case1_m0.npy" in message and "No such file" in message
    assert not (tmp_path / "m.json").exists()


def test_outputs_that_cannot_be_created_are_input_output_errors(dataset, model, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "file" in fails(4, "fit", dataset, "-o", tmp_path / "file" / "m.json")
    assert "file" in fails(4, "apply", model, dataset, "-o", tmp_path / "file")
    assert "file" in fails(4, "evaluate", dataset, "-o", tmp_path / "file" / "metrics.json")
    assert "file" in fails(4, "evaluate", dataset, "--figures", tmp_path / "file" / "f")
    assert (tmp_path / "file").read_text() == "in the way"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_error_leaves_an_older_output_untouched(data, tmp_path):
    dataset, folder = data
    fit(dataset, "ts(z)", tmp_path / "m.json")
    before = (tmp_path / "m.json").read_bytes()
    (folder / "case1_m0.npy").write_bytes(b"garbage")
    fails(3, "fit", dataset, "-o", tmp_path / "m.json")
    assert (tmp_path / "m.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "m.json"]


def test_a_bad_case_leaves_no_partial_file_of_apply(data, model, tmp_path):
    dataset, folder = data
    logits = np.load(folder / "case2_m0.npy")
    logits[1, -1, -1] = np.nan
    np.save(folder / "case2_m0.npy", logits)
    for file_format, extension in (("npy", "npy"), ("npz", "npz"), ("nifti", "nii.gz")):
        out = tmp_path / file_format
        message = fails(3, "apply", model, dataset, "-o", out, "--format", file_format)
        assert "case2_m0.npy" in message
        written = {path.name for path in out.iterdir()} if out.exists() else set()
        assert written <= {f"case0.{extension}", f"case1.{extension}"}


def break_member(edit):
    """Breaks the prediction of case1 by a function of its array."""
    def apply(folder):
        path = folder / "case1_m0.npy"
        np.save(path, edit(np.load(path).astype(np.float32)))
    return apply


def break_labels(edit):
    """Breaks the labels of case1 by a function of their array."""
    def apply(folder):
        path = folder / "case1_labels.npy"
        np.save(path, edit(np.load(path)))
    return apply


def put(index, value):
    def edit(array):
        array[index] = value
        return array
    return edit


def truncate(folder):
    path = folder / "case1_m0.npy"
    path.write_bytes(path.read_bytes()[:-10])


BAD_DATA = {
    "nan": (break_member(put((1, 3, 17), np.nan)), ["case1_m0.npy", "(3, 17)", "NaN"]),
    "infinite": (break_member(put((1, 3, 17), np.inf)), ["case1_m0.npy", "(3, 17)", "inf"]),
    "nothing possible": (break_member(put((slice(None), 3, 17), -np.inf)),
                         ["case1_m0.npy", "(3, 17)", "impossible"]),
    "channels": (break_member(lambda z: z[:3]), ["case1_m0.npy", "3 channels", "4 classes"]),
    "channels last": (break_member(lambda z: np.moveaxis(z, 0, -1)),
                      ["20 channels", "4 classes", "channels_last"]),
    "too few axes": (break_member(lambda z: z[0, 0]), ["case1_m0.npy", "shape (30)"]),
    "whole numbers": (break_member(lambda z: z.astype(np.int32)),
                      ["case1_m0.npy", "int32", "float16"]),
    "truncated": (truncate, ["case1_m0.npy"]),
    "empty file": (lambda folder: (folder / "case1_m0.npy").write_bytes(b""), ["case1_m0.npy"]),
    "not an array": (lambda folder: (folder / "case1_m0.npy").write_text("hello"),
                     ["case1_m0.npy"]),
    "no voxels": (break_member(lambda z: z[:, :0]), ["case1_m0.npy", "no voxels"]),
    "label": (break_labels(put((2, 5), 9)), ["case1_labels.npy", "label 9", "[0, 4)", "255"]),
    "label shape": (break_labels(lambda y: y[:, :-1]),
                    ["case1_labels.npy", "(20, 29)", "(20, 30)"]),
    "label fraction": (break_labels(lambda y: y.astype(np.float32) + 0.5),
                       ["case1_labels.npy", "whole numbers"]),
}


@pytest.mark.parametrize("breakage", BAD_DATA)
def test_bad_data_is_named(data, tmp_path, breakage):
    dataset, folder = data
    damage, parts = BAD_DATA[breakage]
    damage(folder)
    message = fails(3, "evaluate", dataset, "--quiet")
    assert all(part in message for part in parts), message
    # With --skip-bad the same case is listed and left out.
    done = run("evaluate", dataset, "--quiet", "--json", "--skip-bad")
    assert "skipped case1: " in done.stderr and all(part in done.stderr for part in parts)
    result = json.loads(done.stdout)
    assert [row["case"] for row in result["pipelines"][0]["metric_per_case"]] == ["case0", "case2"]
    assert result["skipped"] == ["case1"]


def test_skipping_bad_cases_works_for_every_command(data, model, tmp_path):
    dataset, folder = data
    truncate(folder)
    assert "skipped case1" in run("fit", dataset, "-o", tmp_path / "m.json", "--skip-bad").stderr
    assert json.loads((tmp_path / "m.json").read_text())["fit"]["data"]["cases"] == 2
    assert "skipped case1" in run("inspect", dataset, "--skip-bad").stderr
    run("apply", model, dataset, "-o", tmp_path / "out", "--skip-bad")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"case0.npy", "case2.npy"}
    # The picture is of a case that was evaluated.
    change(dataset, lambda d: d["cases"].reverse())
    change(dataset, lambda d: d["cases"].insert(0, d["cases"].pop(1)))
    run("evaluate", dataset, "--figures", tmp_path / "f", "--skip-bad")
    assert "case2" in (tmp_path / "f" / "case.svg").read_text()


def test_nothing_left_after_skipping_is_an_error(data):
    dataset, folder = data
    for path in folder.glob("*_m0.npy"):
        path.write_bytes(b"garbage")
    assert "case0" in fails(3, "evaluate", dataset, "--skip-bad")


def test_cases_without_labels_cannot_be_evaluated_but_applied(data, model, tmp_path):
    dataset, _ = data
    change(dataset, lambda d: d["cases"][1].pop("labels"))
    assert "case1 has no labels" in fails(3, "evaluate", dataset)
    assert "skipped case1: no labels" in run("evaluate", dataset, "--skip-bad").stderr
    apply = ["apply", model, dataset, "-o"]
    assert "log_label" in fails(3, *apply, tmp_path / "a", "--write", "log_label")
    run(*apply, tmp_path / "b")
    assert len(list((tmp_path / "b").iterdir())) == 3


def test_a_data_set_without_cases_is_refused(data, model, tmp_path):
    dataset, _ = data
    change(dataset, lambda d: d.update(cases=[]))
    for command in (["inspect", dataset], ["evaluate", dataset, "--figures", tmp_path / "f"],
                    ["fit", dataset, "-o", tmp_path / "m.json"],
                    ["apply", model, dataset, "-o", tmp_path / "o"]):
        assert "no cases" in fails(3, *command)


def test_input_of_another_kind_is_noticed(tmp_path):
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 2, (3, 30, 30)).astype(np.float32)
    probs = np.exp(logits) / np.exp(logits).sum(axis=0)
    labels = np.zeros((30, 30), np.uint8)
    sigmoids = 1.0 / (1.0 + np.exp(-logits)) + 0.3
    wrong = [(probs, "logits", "probabilities"), (logits, "probabilities", "negative"),
             (logits, "log_probabilities", "logits"), (sigmoids, "probabilities", "sigmoid")]
    for array, said, hint in wrong:
        dataset = describe(tmp_path, [save_case(tmp_path, "a", [array], labels)], 3, input=said)
        message = fails(3, "inspect", dataset, "--quiet")
        assert "a_m0.npy" in message and f'"{said}"' in message and hint in message


def test_a_model_is_refused_on_other_classes_or_input(data, model, tmp_path):
    dataset, _ = data
    apply = ["apply", model, dataset, "-o", tmp_path / "out"]
    original = dataset.read_text()
    change(dataset, lambda d: d["classes"].append("more"))
    message = fails(3, *apply)
    assert "4 classes" in message and "5" in message
    dataset.write_text(original)
    change(dataset, lambda d: d["classes"].reverse())
    assert '"c0"' in fails(3, *apply) and "class 0" in fails(3, "evaluate", dataset, "-m", model)
    dataset.write_text(original)
    change(dataset, lambda d: d.update(input="probabilities"))
    message = fails(3, *apply)
    assert "takes logits" in message and "probabilities" in message
    assert not (tmp_path / "out").exists()


BAD_MODELS = {
    "version": (lambda m: m.update(segcal_model=99), "99"),
    "field": (lambda m: m.update(colour="red"), "colour"),
    "missing": (lambda m: m.pop("classes"), "classes"),
    "parameter": (lambda m: m["parameters"].update(beta=-1), "beta"),
    "no parameter": (lambda m: m["parameters"].clear(), "beta"),
    "properties": (lambda m: m["properties"].update(preserves="none"), "properties"),
    "pipeline": (lambda m: m.update(pipeline="magic(z)"), "magic"),
    "floor": (lambda m: m.update(floor=-3), "floor"),
}


@pytest.mark.parametrize("breakage", BAD_MODELS)
def test_wrong_model_files_are_refused(dataset, model, tmp_path, breakage):
    damage, part = BAD_MODELS[breakage]
    content = json.loads(model.read_text())
    damage(content)
    (tmp_path / "bad.json").write_text(json.dumps(content))
    message = fails(3, "apply", tmp_path / "bad.json", dataset, "-o", tmp_path / "out")
    assert "bad.json" in message and part in message
