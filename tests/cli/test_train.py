# SPDX-License-Identifier: Apache-2.0
"""segcal train and predict: what they write, and what they say to wrong input."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image
from program import PROGRAM, evaluate, fails, run
from training import SMALL, make_photos, needs_torch, train_networks  # noqa: F401, fixtures

def test_without_the_program_it_says_how_to_get_it(tmp_path):
    """A copy of segcal alone, on a path without the other."""
    alone = tmp_path / "segcal"
    shutil.copy(PROGRAM, alone)
    library = next(iter(PROGRAM.parent.glob("libsegcal.so*")), None)
    done = subprocess.run([alone, "train", "x", "-o", "y"], capture_output=True, text=True, check=False,
                          env={"PATH": str(tmp_path), "LD_LIBRARY_PATH": str(library.parent if library else "")})
    assert done.returncode == 3, done.stderr
    assert "segcal-train" in done.stderr and "libtorch-dev" in done.stderr


@needs_torch
@pytest.mark.parametrize("command", ["train", "predict", "export-networks"])
def test_help_is_complete_and_has_examples(command):
    text = run(command, "--help").stdout
    assert f"  segcal {command} " in text.split("Example", 1)[1]
    assert len(re.findall(r"^  (?:-\w,)?--[\w-]+", text, re.MULTILINE)) >= (2 if "-" in command else 8)


@needs_torch
def test_it_learns_and_its_predictions_can_be_calibrated(photos, networks, tmp_path):
    folder, result = networks
    assert [m["epochs"] for m in result["members"]] == [12, 12]
    assert (folder / "loss.svg").read_text().startswith("<svg")
    assert (folder / "dice.svg").exists()
    run("predict", folder, photos, "-o", tmp_path / "out", "--quiet")
    dataset = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert [c["split"] for c in dataset["cases"]] == \
        [c["split"] for c in json.loads((photos / "dataset.json").read_text())["cases"]]
    assert all(len(c["members"]) == 2 for c in dataset["cases"])
    run("fit", tmp_path / "out", "-p", "ts(z)", "-o", tmp_path / "m.json", "--quiet")
    metrics = evaluate(tmp_path / "out", "-p", "none(z)", "--split", "test")["pipelines"][0]
    means = {k: v for k, v in metrics["mean"].items() if isinstance(v, (int, float))}
    labels = np.concatenate([np.array(Image.open(photos / "labels" / f"{c['id']}.png")).ravel()
                             for c in dataset["cases"] if c["split"] == "test"])
    shares = np.bincount(labels[labels != 255]) / np.sum(labels != 255)
    # Better than a constant prediction can be: by its likelihood, and by its decisions.
    assert means["nll"] < 0.8 * -np.sum(shares * np.log(shares))
    assert means["accuracy"] > shares.max() + 0.1


@needs_torch
def test_members_differ_and_the_seed_decides(photos, networks, tmp_path):
    folder, _ = networks
    first, second = ((folder / f"member{m}" / "best.net").read_bytes() for m in (0, 1))
    assert first != second
    options = ["--epochs", 1, "--quiet", *SMALL]
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        run("train", photos, "-o", tmp_path / name, "--seed", seed, *options)
    a, b, c = ((tmp_path / name / "member0" / "last.net").read_bytes() for name in "abc")
    assert a == b != c


@needs_torch
def test_the_network_of_the_paper_learns_volumes_plane_by_plane(tmp_path):
    scans = tmp_path / "scans"
    run("simulate", scans, "--images", "--preset", "brain", "--cases", 10, "--size", "2x16x16", "--quiet")
    run("train", scans, "--preset", "s4", "-o", tmp_path / "run", "--epochs", 1, "--patch", "16x16", "--quiet")
    network = json.loads((tmp_path / "run" / "training.json").read_text())["network"]
    assert (network["axes"], network["width"], network["depth"]) == (2, 32, 5)
    run("predict", tmp_path / "run", scans, "--split", "test", "-o", tmp_path / "out", "--quiet")
    assert {np.load(path).shape for path in (tmp_path / "out" / "logits" / "m0").iterdir()} == {(5, 2, 16, 16)}
    assert "--preset" in fails(2, "train", scans, "--preset", "s4", "--width", 8, "-o", tmp_path / "other")


@needs_torch
def test_corruption_on_the_way_is_that_of_corrupt(photos, networks, tmp_path):
    folder, _ = networks
    run("corrupt", photos, "-o", tmp_path / "images", "--severity", "strong", "--seed", 3, "--quiet")
    run("predict", folder, tmp_path / "images", "-o", tmp_path / "a", "--threads", 1, "--quiet")
    run("predict", folder, photos, "-o", tmp_path / "b", "--corrupt", "strong", "--seed", 3, "--threads", 1, "--quiet")
    for path in sorted((tmp_path / "a" / "logits").rglob("*.npy")):
        other = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == other.read_bytes(), path
    assert "image" not in json.loads((tmp_path / "b" / "dataset.json").read_text())["cases"][0]


@needs_torch
def test_predict_writes_halves_splits_and_cases_without_labels(photos, networks, tmp_path):
    folder, _ = networks
    bare = photos / "bare.json"
    data = json.loads((photos / "dataset.json").read_text())
    for case in data["cases"]:
        case.pop("labels")
    bare.write_text(json.dumps(data))
    run("predict", folder, bare, "-o", tmp_path / "out", "--split", "test", "--dtype", "float16", "--quiet")
    files = sorted((tmp_path / "out" / "logits" / "m0").iterdir())
    assert len(files) == 2
    assert np.load(files[0]).dtype == np.float16 and np.load(files[0]).shape == (3, 40, 48)


@needs_torch
def test_wrong_input_ends_before_the_first_epoch(photos, tmp_path):
    out = tmp_path / "run"

    def changed(name, edit):
        data = json.loads((photos / "dataset.json").read_text())
        edit(data)
        path = photos / name
        path.write_text(json.dumps(data))
        return path

    def first_train(data):
        return next(c for c in data["cases"] if c["split"] == "train")

    Image.fromarray(np.zeros((40, 47, 3), np.uint8)).save(photos / "narrow.png")
    Image.fromarray(np.zeros((40, 48), np.uint8)).save(photos / "gray.png")
    Image.fromarray(np.full((40, 48), 7, np.uint8)).save(photos / "seven.png")
    Image.fromarray(np.full((40, 48), 255, np.uint8)).save(photos / "void.png")
    wrong = {
        ("size", 3): (changed("a.json", lambda d: first_train(d).update(image="narrow.png")),
                      ["narrow.png", "(40, 47, 3)", "(40, 48)"]),
        ("channels", 3): (changed("b.json", lambda d: [c for c in d["cases"] if c["split"] == "train"][1]
                                  .update(image="gray.png")), ["gray.png", "1 channels", "3"]),
        ("image", 3): (changed("c.json", lambda d: first_train(d).pop("image")), ["image"]),
        ("labels", 3): (changed("d.json", lambda d: first_train(d).update(labels="seven.png")),
                        ["seven.png", "7"]),
        ("unlabelled", 3): (changed("e.json", lambda d: first_train(d).pop("labels")), ["labels"]),
        ("split", 2): (changed("f.json", lambda d: [c.update(split="test") for c in d["cases"]]),
                       ["train", "test"]),
        ("validation", 2): (changed("g.json", lambda d: [c.update(split="train") for c in d["cases"]]),
                            ["validation", "train"]),
        ("void", 3): (changed("h.json", lambda d: [c.update(labels="void.png") for c in d["cases"]]),
                      ["no voxel", "train"]),
    }
    for (name, code), (dataset, parts) in wrong.items():
        message = fails(code, "train", dataset, "-o", out, "--quiet")
        assert all(part in message for part in parts), (name, message)
        assert not out.exists(), name
    options = {("--patch", "30x40"): ["30", "multiple of 8"], ("--memory", "1M"): ["batch of 16", "1 MiB"],
               ("--set", "lam=1"): ["lam"], ("--loss", "dice"): ["dice"], ("--epochs", 0): ["epochs", "0"],
               ("--axes", 3): ["axes", "3"], ("--class-weights", "1,2"): ["2 numbers for 3"],
               ("--folds", 1): ["folds", "1"], ("--folds", 50): ["folds 50", "4 training cases", "at most 4"]}
    for option, parts in options.items():
        message = fails(2, "train", photos, "-o", out, "--quiet", *option)
        assert all(part in message for part in parts), message
        assert not out.exists()


@needs_torch
def test_of_too_large_a_batch_it_says_which_fits(photos, tmp_path):
    train = ["train", photos, "-o", tmp_path / "run", "--epochs", 1, "--width", 8, "--quiet"]
    message = fails(2, *train, "--batch", 500, "--memory", "40M")
    largest = int(re.search(r"a batch of (\d+) fits", message)[1])
    assert 1 <= largest < 500
    assert f"a batch of {largest} fits" in fails(2, *train, "--batch", largest + 1, "--memory", "40M")
    run(*train, "--batch", largest, "--memory", "40M")


@needs_torch
def test_a_loss_that_is_no_number_ends_it_and_says_where(photos, tmp_path):
    message = fails(3, "train", photos, "-o", tmp_path / "run", "--learning-rate", 1e30, "--epochs", 50, *SMALL,
                    "--quiet")
    assert re.search(r"became (nan|inf) (in step \d+ of|after) epoch 1; no epoch was complete", message), message
    assert "learning rate" in message
    assert not list((tmp_path / "run").rglob("*.net"))


@needs_torch
def test_predict_names_what_does_not_fit(photos, networks, tmp_path):
    folder, _ = networks
    assert "training.json" in fails(4, "predict", tmp_path, photos, "-o", tmp_path / "out", "--quiet")
    data = json.loads((photos / "dataset.json").read_text())
    data["classes"] = ["water", "land", "air"]
    (photos / "water.json").write_text(json.dumps(data))
    message = fails(3, "predict", folder, photos / "water.json", "-o", tmp_path / "out", "--quiet")
    assert "water" in message and "road" in message
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "member1" / "best.net").write_bytes(b"segcal network state 1\n{}\n1234")
    assert "member1/best.net" in fails(3, "predict", broken, photos, "-o", tmp_path / "out", "--quiet")
    (broken / "member1" / "best.net").unlink()
    assert "member 1" in fails(4, "predict", broken, photos, "-o", tmp_path / "out", "--quiet")
    assert not (tmp_path / "out").exists()
