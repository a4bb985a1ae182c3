# SPDX-License-Identifier: Apache-2.0
"""`index` finds what a person's patterns mean, and says what is missing."""

import json

import numpy as np
import pytest
from program import change, fails, inspect, run, small_dataset


def touch(folder, *names, shape=(3, 4, 5)):
    """Small predictions and labels under these names."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_label = name.startswith("gt")
        np.save(path, np.zeros(shape[1:], np.uint8) if is_label else np.zeros(shape, np.float32))


def index(folder, *options, code=0):
    """Runs index in `folder`; returns the file's content, or the message."""
    arguments = ["index", "dataset.json", "--input", "logits", *options]
    if code:
        message = fails(code, *arguments, cwd=folder)
        assert not (folder / "dataset.json").exists()
        return message
    run(*arguments, cwd=folder)
    return json.loads((folder / "dataset.json").read_text())


def test_members_and_cases_are_ordered_as_numbers(tmp_path):
    names = [f"preds/m{m}/{case}.npy" for m in (0, 2, 10) for case in ("s1", "s2", "s10")]
    touch(tmp_path, *names, *[f"gt/{case}.npy" for case in ("s1", "s2", "s10")])
    content = index(tmp_path, "--members", "preds/{member}/{case}.npy", "--labels", "gt/{case}.npy",
                    "--classes", "a,b,c")
    assert [case["id"] for case in content["cases"]] == ["s1", "s2", "s10"]
    assert content["cases"][2]["members"] == [f"preds/m{m}/s10.npy" for m in (0, 2, 10)]
    assert content["cases"][0]["labels"] == "gt/s1.npy"
    assert content["classes"] == ["a", "b", "c"] and content["input"] == "logits"
    assert inspect(tmp_path)["labelled"] == 3 * 20


def test_one_pattern_per_member_and_paths_relative_to_the_file(tmp_path):
    touch(tmp_path, "x/one/a.npy", "x/two/a.npy")
    run("index", tmp_path / "sets" / "d.json", "--members", tmp_path / "x/one/{case}.npy",
        "--members", tmp_path / "x/two/{case}.npy", "--input", "logits")
    content = json.loads((tmp_path / "sets" / "d.json").read_text())
    assert content["cases"][0]["members"] == ["../x/one/a.npy", "../x/two/a.npy"]
    assert content["classes"] == ["class_0", "class_1", "class_2"]
    assert len(inspect(tmp_path / "sets" / "d.json")["cases"]) == 1


def test_stars_groups_and_repeated_fields(tmp_path):
    touch(tmp_path, "run/p1/p1_s1_x.npy", "run/p1/p1_s2_y.npy", "run/p2/p2_s3_z.npy",
          "run/p2/p1_s4_z.npy")
    content = index(tmp_path, "--members", "run/{group}/{group}_{case}_*.npy")
    found = [(case["id"], case["group"]) for case in content["cases"]]
    assert found == [("s1", "p1"), ("s2", "p1"), ("s3", "p2")]


def test_groups_stay_on_one_side_of_a_split(tmp_path):
    touch(tmp_path, *[f"p{g}/s{g}{k}.npy" for g in range(6) for k in range(3)])
    options = ["--members", "{group}/{case}.npy", "--split", "calibration=0.5,test=0.5"]
    content = index(tmp_path, *options)
    splits = {}
    for case in content["cases"]:
        splits.setdefault(case["group"], set()).add(case["split"])
    assert all(len(split) == 1 for split in splits.values())
    counts = [case["split"] for case in content["cases"]]
    assert counts.count("calibration") == counts.count("test") == 9
    assert index(tmp_path, *options) == content
    assert any(index(tmp_path, *options, "--seed", seed) != content for seed in range(1, 6))


def test_exact_counts_of_cases(tmp_path):
    touch(tmp_path, *[f"p/s{k}.npy" for k in range(9)])
    content = index(tmp_path, "--members", "p/{case}.npy", "--split",
                    "calibration=2,validation=3,test=4")
    splits = [case["split"] for case in content["cases"]]
    assert [splits.count(name) for name in ("calibration", "validation", "test")] == [2, 3, 4]


def test_what_is_missing_is_named(tmp_path):
    touch(tmp_path, "p/m0/a.npy", "p/m0/b.npy", "p/m1/a.npy", "gt/a.npy")
    assert "nothing/{case}.npy" in index(tmp_path, "--members", "nothing/{case}.npy", code=4)
    message = index(tmp_path, "--members", "p/{member}/{case}.npy", code=4)
    assert '"b"' in message and "m1" in message and "out of fold" in message
    message = index(tmp_path, "--members", "p/m0/{case}.npy", "--labels", "gt/{case}.npy", code=4)
    assert '"b"' in message and "--allow-missing" in message
    content = index(tmp_path, "--members", "p/m0/{case}.npy", "--labels", "gt/{case}.npy",
                    "--allow-missing")
    assert ["labels" in case for case in content["cases"]] == [True, False]


def test_wrong_patterns_and_options(tmp_path):
    touch(tmp_path, "p/m0/a.npy", "p/m1/a.npy")
    assert "{case}" in index(tmp_path, "--members", "p/m0/a.npy", code=2)
    assert "{patient}" in index(tmp_path, "--members", "p/m0/{patient}.npy", code=2)
    assert "two files" in index(tmp_path, "--members", "p/*/{case}.npy", code=2)
    assert "share" in index(tmp_path, "--members", "p/m0/{case}.npy", "--split", "test", code=2)
    assert "test" in index(tmp_path, "--members", "p/m0/{case}.npy", "--split", "test=-1", code=2)
    assert "--input" in fails(2, "index", tmp_path / "d.json", "--members", "p/m0/{case}.npy")
    assert "scores" in fails(2, "index", tmp_path / "d.json", "--members", "p/m0/{case}.npy",
                             "--input", "scores")


def nnunet(folder, labels):
    content = {"channel_names": {"0": "T1"}, "labels": labels}
    (folder / "nnunet.json").write_text(json.dumps(content))
    touch(folder, "p/a.npy")
    return ["--members", "p/{case}.npy", "--nnunet", "nnunet.json"]


def test_labels_of_nnunet(tmp_path):
    content = index(tmp_path,
                    *nnunet(tmp_path, {"background": 0, "liver": 1, "tumour": 2, "ignore": 3}))
    assert content["classes"] == ["background", "liver", "tumour"]
    assert content["ignore_label"] == 3 and content["background"] == 0


@pytest.mark.parametrize("labels,part", [({"background": 0, "whole": [1, 2]}, "sigmoid"),
                                         ({"background": 0, "x": 2}, "2"),
                                         ({"background": "0"}, "background")])
def test_labels_of_nnunet_that_are_no_softmax_are_refused(tmp_path, labels, part):
    message = index(tmp_path, *nnunet(tmp_path, labels), code=3)
    assert "nnunet.json" in message and part in message


def test_case_names_with_odd_characters(tmp_path):
    odd = ["a b", "ü", "x'y\"z", "$(touch pwned)", "-o", "a.b.c", "new\nline", "50%", "{brace}"]
    touch(tmp_path, *[f"p/{name}.npy" for name in odd], *[f"gt/{name}.npy" for name in odd])
    content = index(tmp_path, "--members", "p/{case}.npy", "--labels", "gt/{case}.npy", "--classes",
                    "a,b,c")
    assert sorted(case["id"] for case in content["cases"]) == sorted(odd)
    run("fit", tmp_path, "-p", "none(z)", "-o", tmp_path / "m.json")
    run("apply", tmp_path / "m.json", tmp_path, "-o", tmp_path / "out")
    assert {path.stem for path in (tmp_path / "out").iterdir()} == {*odd}
    run("evaluate", tmp_path, "--figures", tmp_path / "f", "--picture", "x'y\"z")
    assert not list(tmp_path.rglob("pwned"))


def test_the_first_case_is_looked_at(tmp_path):
    touch(tmp_path, "m/a.npy", "gt/a.npy")
    patterns = ("--members", "m/{case}.npy", "--labels", "gt/{case}.npy")
    assert "a.npy" in index(tmp_path, *patterns, "--classes", "a,b,c,d", code=3)
    message = index(tmp_path, *patterns, "--layout", "channels_last", code=3)
    assert "gt/a.npy" in message or "labels" in message


def test_splits_and_missing_labels_are_counted(tmp_path):
    touch(tmp_path, *[f"m/{case}.npy" for case in "abcd"], "gt/a.npy", "gt/b.npy", "gt/c.npy")
    printed = run("index", "dataset.json", "--input", "logits", "--members", "m/{case}.npy",
                  "--labels", "gt/{case}.npy", "--allow-missing", "--classes", "a,b,c", "--split",
                  "calibration=0.5,test=0.5", cwd=tmp_path).stdout
    assert "splits: calibration 2, test 2" in printed
    assert "without labels: 1 of 4 cases" in printed


def test_batches_have_a_case_per_item(tmp_path):
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 3, (4, 3, 5, 6)).astype(np.float32)
    np.save(tmp_path / "logits.npy", logits)
    np.save(tmp_path / "labels.npy", logits.argmax(1).astype(np.uint8))
    for name, save in (("a", np.savez_compressed), ("b", np.savez)):
        save(tmp_path / f"z_{name}.npz", logits=logits)
        save(tmp_path / f"y_{name}.npz", logits.argmax(1).astype(np.int64))
    content = index(tmp_path, "--batch", "--members", "logits.npy", "--labels", "labels.npy")
    assert [case["id"] for case in content["cases"]] == ["0", "1", "2", "3"]
    assert content["cases"][2]["members"] == [{"file": "logits.npy", "item": 2}]
    content = index(tmp_path, "--batch", "--members", "z_{case}.npz", "--labels", "y_{case}.npz")
    assert [case["id"] for case in content["cases"]] == [f"{b}_{k}" for b in "ab" for k in range(4)]
    run("fit", tmp_path, "-p", "ts(z)", "-o", tmp_path / "m.json")
    run("apply", tmp_path / "m.json", tmp_path, "-o", tmp_path / "out", "--write", "labels")
    for case in content["cases"]:
        labels = np.load(tmp_path / "out" / f"{case['id']}.npy")
        assert np.array_equal(labels, logits[int(case["id"][2:])].argmax(0))
    np.save(tmp_path / "labels.npy", np.zeros((3, 5, 6), np.uint8))
    message = fails(3, "index", "x.json", "--input", "logits", "--batch", "--members", "logits.npy",
                    "--labels", "labels.npy", cwd=tmp_path)
    assert "labels.npy" in message and "3 items" in message
    change(tmp_path / "dataset.json", lambda d: d["cases"][0]["members"][0].update(item=4))
    assert "no item 4" in fails(3, "inspect", tmp_path)


def test_one_file_per_class(tmp_path):
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 3, (2, 3, 5, 6)).astype(np.float32)
    for k, case in enumerate(("a", "b")):
        (tmp_path / case).mkdir()
        for c, name in enumerate(("sky", "road", "car")):
            np.save(tmp_path / case / f"{case}_{name}.npy", logits[k, c])
    options = ("--members", "{case}/{case}_{class}.npy")
    assert index(tmp_path, *options)["classes"] == ["car", "road", "sky"]
    content = index(tmp_path, *options, "--classes", "sky,road,car")
    assert content["cases"][1]["members"] == [
        {"per_class": ["b/b_sky.npy", "b/b_road.npy", "b/b_car.npy"]}]
    model = small_dataset(tmp_path / "fit", num_classes=3)
    change(model, lambda d: d.update(classes=["sky", "road", "car"]))
    run("fit", model, "-p", "ts(z)", "-o", tmp_path / "m.json")
    run("apply", tmp_path / "m.json", tmp_path, "-o", tmp_path / "out", "--write", "labels")
    assert np.array_equal(np.load(tmp_path / "out" / "b.npy"), logits[1].argmax(0))
    np.save(tmp_path / "b" / "b_sky.npy", logits[0, 0, :4])
    assert "alike" in fails(3, "apply", tmp_path / "m.json", tmp_path, "-o", tmp_path / "x")
    (tmp_path / "b" / "b_sky.npy").unlink()
    assert "class sky" in fails(4, "index", "x.json", "--input", "logits", *options, cwd=tmp_path)


def test_a_label_set_brings_names_colours_and_values(tmp_path):
    """Label ids of Cityscapes: 7 is road, 0 takes no part."""
    touch(tmp_path, "p/a.npy", shape=(19, 4, 5))
    (tmp_path / "gt").mkdir()
    labels = np.full((4, 5), 7, np.uint8)
    labels[0] = 0
    np.save(tmp_path / "gt" / "a.npy", labels)
    patterns = ["--members", "p/{case}.npy", "--labels", "gt/{case}.npy"]
    content = index(tmp_path, *patterns, "--label-set", "cityscapes")
    assert content["classes"][0] == "road" and content["colors"][0] == "#804080"
    assert content["ignore_label"] == 255 and content["label_map"]["7"] == 0
    found = inspect(tmp_path)
    assert found["labelled"] == 15 and found["label_counts"][0] == 15
    (tmp_path / "dataset.json").unlink()
    assert "cityscapes_train_ids" in index(tmp_path, *patterns, "--label-set", "kitti", code=2)
    assert "give one" in index(tmp_path, *patterns, "--label-set", "voc", "--classes", "a,b", code=2)


def test_colours_are_read_strictly(tmp_path):
    touch(tmp_path, "p/a.npy", "gt/a.npy")
    content = index(tmp_path, "--members", "p/{case}.npy", "--labels", "gt/{case}.npy")
    for colors, message in ((["#000000"], "1 colors for 3 classes"),
                            (["#000000", "#00ff00", "red"], 'colors[2] is "red"')):
        (tmp_path / "dataset.json").write_text(json.dumps({**content, "colors": colors}))
        assert message in fails(3, "inspect", tmp_path)
