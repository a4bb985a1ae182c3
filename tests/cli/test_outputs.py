# SPDX-License-Identifier: Apache-2.0
"""No command writes over what it reads, or over files of another kind; nothing empty stays behind."""

import json
import os

import numpy as np
import pytest
from program import fails, fit, run, small_dataset

NNUNET = {"channel_names": {"0": "MR"}, "labels": {"background": 0, "a": 1, "b": 2, "c": 3},
          "numTraining": 3, "file_ending": ".npy"}


@pytest.fixture(name="home")
def make_home(tmp_path):
    """A folder as a user has it: a data set, a model, metrics, and files of other programs."""
    small_dataset(tmp_path)
    fit(tmp_path / "dataset.json", "ts(z)", tmp_path / "model.json")
    (tmp_path / "nnunet.json").write_text(json.dumps(NNUNET))
    (tmp_path / "package.json").write_text('{"name": "something else"}')
    (tmp_path / "notes.csv").write_text("day,weather\n1,rain\n")
    (tmp_path / "index.html").write_text("<!doctype html>\n<title>My page</title>\n")
    run("export", tmp_path / "model.json", "-o", tmp_path / "segmenter.onnx", "--prefix", "a_")
    (tmp_path / "drawings").mkdir()
    (tmp_path / "drawings" / "reliability.svg").write_text("<svg><circle r='1'/></svg>")
    (tmp_path / "drawings" / "free_energy.svg").write_text("<svg><circle r='2'/></svg>")
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "case1.npy").write_text("not an array at all")
    os.symlink("dataset.json", tmp_path / "link.json")
    os.link(tmp_path / "case0_m0.npy", tmp_path / "hard.npy")
    return tmp_path


INDEX = ["--members", "case{case}_m{member}.npy", "--labels", "case{case}_labels.npy", "--input", "logits",
         "--ignore-label", "255"]
REFUSED = {
    "index over nnunet": (["index", "nnunet.json", *INDEX, "--nnunet", "nnunet.json"], "nnunet.json"),
    "index over a stranger": (["index", "package.json", *INDEX], "package.json"),
    "index over a member": (["index", "case1_m0.npy", *INDEX], "case1_m0.npy"),
    "index over a model": (["index", "model.json", *INDEX], "model.json"),
    "fit over the data set": (["fit", "dataset.json", "-o", "dataset.json"], "dataset.json"),
    "fit over it in other words": (["fit", ".", "-o", "drawings/../dataset.json"], "dataset.json"),
    "fit over it by a link": (["fit", "dataset.json", "-o", "link.json"], "link.json"),
    "fit over a member": (["fit", "dataset.json", "-o", "case1_m0.npy"], "case1_m0.npy"),
    "fit over labels": (["fit", "dataset.json", "-o", "case1_labels.npy"], "case1_labels.npy"),
    "fit over a hard link": (["fit", "dataset.json", "-o", "hard.npy"], "hard.npy"),
    "fit over a stranger": (["fit", "dataset.json", "-o", "package.json"], "package.json"),
    "evaluate over the model": (["evaluate", "dataset.json", "-m", "model.json", "-o", "model.json"], "model.json"),
    "evaluate over the data set": (["evaluate", "dataset.json", "--csv", "dataset.json"], "dataset.json"),
    "cells over labels": (["evaluate", "dataset.json", "--cells", "case0_labels.npy"], "case0_labels.npy"),
    "table over a stranger": (["evaluate", "dataset.json", "--csv", "notes.csv"], "notes.csv"),
    "two outputs in one": (["evaluate", "dataset.json", "--csv", "t.csv", "--cells", "./t.csv"], "t.csv"),
    "figure over a drawing": (["evaluate", "dataset.json", "--figures", "drawings"], "reliability.svg"),
    "free energy over a drawing": (["inspect", "dataset.json", "--figures", "drawings"], "free_energy.svg"),
    "export over the model": (["export", "model.json", "-o", "model.json"], "model.json"),
    "export over the data set": (["export", "model.json", "-o", "dataset.json"], "dataset.json"),
    "export over the segmenter": (["export", "model.json", "--append-to", "segmenter.onnx", "--output-name",
                                   "a_probabilities", "-o", "segmenter.onnx"], "segmenter.onnx"),
    "report over a stranger": (["report", "nothing", "-o", "index.html"], "index.html"),
    "apply over a text": (["apply", "model.json", "dataset.json", "-o", "maps"], "case1.npy"),
}


def snapshot(folder):
    """Every file with its content, every folder."""
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_read_or_foreign_is_not_written_over(home, name):
    command, file = REFUSED[name]
    before = snapshot(home)
    message = fails(2, *command, cwd=home)
    assert file in message
    assert "--force" in message or "twice" in message
    assert snapshot(home) == before, "a refused command changed something"


def test_force_writes_over_it(home):
    run("fit", "dataset.json", "-o", "package.json", "--force", cwd=home)
    assert "segcal_model" in json.loads((home / "package.json").read_text())
    run("evaluate", "dataset.json", "--figures", "drawings", "--force", cwd=home)
    assert "role=" in (home / "drawings" / "reliability.svg").read_text()
    run("export", "model.json", "-o", "notes.csv", "--force", cwd=home)
    assert b"segcal.pipeline" in (home / "notes.csv").read_bytes()
    run("apply", "model.json", "dataset.json", "-o", "maps", "--force", cwd=home)
    assert np.load(home / "maps" / "case1.npy").shape == (4, 20, 30)
    run("index", "nnunet.json", *INDEX, "--nnunet", "nnunet.json", "--force", cwd=home)
    assert "segcal_dataset" in json.loads((home / "nnunet.json").read_text())


def test_files_of_the_same_kind_are_written_again(home):
    """A second run of every command, and an empty file, need no word."""
    (home / "empty.json").touch()
    for _ in range(2):
        run("index", "new.json", *INDEX, cwd=home)
        run("fit", "dataset.json", "-p", "ts(p)", "-o", "model.json", cwd=home)
        run("evaluate", "dataset.json", "-m", "model.json", "-o", "metrics.json", "--csv", "t.csv", "--cells",
            "cells.csv", "--figures", "figures", cwd=home)
        run("inspect", "dataset.json", "--figures", "figures", cwd=home)
        run("apply", "model.json", "dataset.json", "-o", "out", cwd=home)
        run("export", "model.json", "-o", "graph.onnx", cwd=home)
        run("export", "model.json", "--append-to", "segmenter.onnx", "--output-name", "a_probabilities", "-o", "whole.onnx",
            cwd=home)
    run("fit", "dataset.json", "-o", "empty.json", cwd=home)


def test_outputs_are_checked_before_the_work(home):
    """A case that cannot be read would be found first if the work came first."""
    (home / "case2_m0.npy").write_bytes(b"broken")
    for command in (["fit", "dataset.json", "-o", "package.json"],
                    ["evaluate", "dataset.json", "-o", "package.json"],
                    ["evaluate", "dataset.json", "--figures", "drawings"],
                    ["apply", "model.json", "dataset.json", "-o", "maps", "--skip-bad"]):
        assert "--force" in fails(2, *command, cwd=home)
    assert "package.json" in fails(4, "evaluate", "dataset.json", "-o", "package.json/x.json", cwd=home)
    assert "package.json" in fails(4, "apply", "model.json", "dataset.json", "-o", "package.json/x", cwd=home)


def test_a_folder_as_output(home):
    """A model goes into it, under the name of its pipeline; a data set as dataset.json; metrics need a name."""
    (home / "models").mkdir()
    for output in ("models", "models/", "new/"):
        run("fit", "dataset.json", "-p", "ts(z)", "-o", output, cwd=home)
        assert (home / output / "ts_z.json").exists()
    (home / "sub").mkdir()
    run("index", "sub", *INDEX, cwd=home)
    assert (home / "sub" / "dataset.json").exists()
    for output in ("models", "models/", "newer/"):
        assert "folder" in fails(2, "evaluate", "dataset.json", "-o", output, cwd=home)


def test_refused_and_failed_commands_leave_no_folders(home):
    for case in range(3):
        (home / f"case{case}_m0.npy").write_bytes(b"broken")
    before = snapshot(home)
    for command in (["fit", "dataset.json", "-o", "a/b/m.json"],
                    ["fit", "dataset.json", "-p", "fast", "-o", "a/b"],
                    ["evaluate", "dataset.json", "-o", "a/b/m.json", "--figures", "c/d"],
                    ["apply", "model.json", "dataset.json", "-o", "a/b"],
                    ["apply", "model.json", "dataset.json", "-o", "a/b", "--write", "labels,entropy"]):
        fails(3, *command, cwd=home)
        assert snapshot(home) == before, command
    fails(2, "simulate", "a/b", "--classes", 1, cwd=home)
    fails(4, "index", "a/b/d.json", "--members", "nothing_{case}.npy", "--input", "logits", cwd=home)
    assert snapshot(home) == before


def test_a_kept_training_is_not_thrown_away(home):
    """Whoever forgets --resume is told of it; nothing is lost before --force."""
    part = home / "m.json.part"
    part.write_text('{"segcal_checkpoint": 1, "problem": "0123456789abcdef", "parts": {}}')
    for pipeline in ("ts(z)", "selective(z, epochs=2)"):
        message = fails(2, "fit", "dataset.json", "-p", pipeline, "-o", "m.json", cwd=home)
        assert "m.json.part" in message and "--resume" in message and "--force" in message
        assert part.exists()
    run("fit", "dataset.json", "-p", "ts(z)", "-o", "m.json", "--force", cwd=home)
    assert not part.exists()


def test_outputs_may_lie_beside_what_is_read(home):
    """case0.npy is not case0_m0.npy."""
    before = snapshot(home)
    run("apply", "model.json", "dataset.json", "-o", ".", cwd=home)
    after = snapshot(home)
    assert len(after) == len(before) + 3 and before.items() <= after.items()
