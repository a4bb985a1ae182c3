# SPDX-License-Identifier: Apache-2.0
"""What people get wrong, and that the program tells them what to do instead."""

import json
import os
import pty
import resource
import subprocess
import zipfile

import numpy as np
import pytest
from program import PROGRAM, change, describe, fails, fit, inspect, random_case, run, save_case, small_dataset


def test_every_message_says_who_speaks(dataset):
    """Those of the parser of options, too."""
    for command in (["fit", dataset, "--banana"], ["fit"], ["evaluate", dataset, "--threads", "many"], ["--banana"], []):
        assert fails(2, *command).startswith("segcal: "), command


def test_an_unknown_option_is_named_wherever_it_stands(dataset):
    message = fails(2, "--banana", "fit", dataset)
    assert '"--banana"' in message and "after the command" in message
    assert "--banana" in fails(2, "fit", "--banana")


def test_numbers_outside_their_range(dataset, model, tmp_path):
    wrong = {
        ("fit", dataset, "-o", tmp_path / "m.json", "--seed", "-1"): ["--seed", "-1", "[0, 18446744073709551615]"],
        ("fit", dataset, "-o", tmp_path / "m.json", "--seed", "1e3"): ["--seed", "1e3"],
        ("simulate", tmp_path / "s", "--classes", 1): ["--classes", "1", "2 to 255"],
        ("verify", model, "--voxels", -1): ["--voxels", "-1", "0 to 1099511627776"],
    }
    for command, parts in wrong.items():
        message = fails(2, *command)
        assert all(part in message for part in parts), message
        assert len(message) < 300
    assert not list(tmp_path.iterdir())


def test_a_seed_is_decimal(tmp_path):
    """Zeros in front do not make it octal."""
    for seed in ("10", "010"):
        run("simulate", tmp_path / seed, "--cases", 1, "--size", "8x8", "--seed", seed, "--quiet")
    assert (tmp_path / "10/truth.json").read_bytes() == (tmp_path / "010/truth.json").read_bytes()


def test_a_picture_needs_a_folder(dataset):
    message = fails(2, "evaluate", dataset, "--picture", "case0")
    assert "--picture" in message and "--figures" in message


def test_several_names_after_one_option(dataset, tmp_path):
    """As a shell makes them of models/*.json; the data set may stand before or after them."""
    fit(dataset, "ts(z)", tmp_path / "a.json")
    fit(dataset, "ts(p)", tmp_path / "b.json")
    models = sorted(tmp_path.glob("*.json"))
    orders = (["evaluate", dataset, "-m", *models], ["evaluate", "-m", *models, dataset],
              ["evaluate", "--csv", tmp_path / "t.csv", "-m", *models, dataset, "--metrics", "nll"],
              ["evaluate", "-m", *models, "--metrics", "nll", dataset],
              ["evaluate", "-m", models[0], "-m", models[1], dataset],
              ["evaluate", f"--model={models[0]}", dataset, "-m", models[1]],
              ["evaluate", dataset, "-p", "none(z)", "none(p)", "-m", *models])
    for order in orders:
        out = json.loads(run(*order, "--json", "--quiet").stdout)
        assert [p["pipeline"] for p in out["pipelines"]][-2:] == ["ts(z)", "ts(p)"], order
    run("fit", dataset, "-p", "ts(z)", "none(z)", "-o", tmp_path / "many", "--quiet")
    assert len(list((tmp_path / "many").iterdir())) == 2
    assert "b.json" in fails(2, "evaluate", "-m", models[0], "--json", dataset, "--metrics", "nll", models[1])


def test_pipelines_separated_by_commas(dataset, tmp_path):
    run("fit", dataset, "-p", "ts(z),ms(p, kappa=0.1), none(z)", "-o", tmp_path / "m", "--quiet")
    names = {json.loads(path.read_text())["pipeline"] for path in (tmp_path / "m").iterdir()}
    assert names == {"ts(z)", "ms(p, kappa=0.1)", "none(z)"}
    assert '"banana"' in fails(2, "fit", dataset, "-p", "ts(z),banana", "-o", tmp_path / "n")


def test_an_unknown_metric_lists_the_known_ones(dataset):
    message = fails(2, "evaluate", dataset, "--metrics", "banana")
    assert '"banana"' in message
    for name in ("scores", "nll", "brier", "ece", "surface", "miou"):
        assert name in message


def test_a_label_that_is_no_class_tells_where_and_what_to_do(tmp_path):
    dataset = small_dataset(tmp_path, ignore_label=None)
    labels = np.zeros((20, 30), np.uint8)
    for file in tmp_path.glob("case*_labels.npy"):
        np.save(file, labels)  # no other case has a label that is no class
    labels[7, 11] = 9
    np.save(tmp_path / "case0_labels.npy", labels)
    message = fails(3, "fit", dataset, "-o", tmp_path / "m.json")
    for part in ("case0_labels.npy", "label 9", "(7, 11)", "[0, 4)", "segcal index --label-map", "--ignore-label"):
        assert part in message, message


def test_what_is_no_data_set_says_what_to_do(dataset, model, tmp_path):
    (tmp_path / "nnunet").mkdir()
    (tmp_path / "nnunet" / "dataset.json").write_text(json.dumps(
        {"channel_names": {"0": "MR"}, "labels": {"background": 0, "a": 1}, "numTraining": 3, "file_ending": ".nii.gz"}))
    message = fails(3, "inspect", tmp_path / "nnunet")
    assert "nnU-Net" in message and "segcal index --nnunet" in message
    message = fails(3, "fit", dataset.parent / "case0_m0.npy", "-o", tmp_path / "m.json")
    assert "an array" in message and "index" in message
    (tmp_path / "empty").mkdir()
    message = fails(4, "inspect", tmp_path / "empty")
    assert "holds no dataset.json" in message and "index" in message
    assert "a model" in fails(3, "fit", model, "-o", tmp_path / "m.json")


def test_an_empty_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w"):
        pass
    np.save(tmp_path / "y.npy", np.zeros((4, 4), np.uint8))
    dataset = describe(tmp_path, [{"id": "a", "members": ["x.npz"], "labels": "y.npy"}], 2)
    message = fails(3, "inspect", dataset)
    assert "x.npz" in message and "no array" in message


def test_classes_with_one_name(tmp_path):
    dataset = small_dataset(tmp_path)
    change(dataset, lambda d: d.update(classes=["road", "sky", "car", "sky"]))
    message = fails(3, "inspect", dataset)
    assert "1 and 3" in message and '"sky"' in message


def test_model_and_data_of_other_classes_name_both_files(tmp_path):
    fit(small_dataset(tmp_path / "four"), "ts(z)", tmp_path / "m.json")
    other = small_dataset(tmp_path / "three", num_classes=3)
    for command in (["evaluate", other, "-m", tmp_path / "m.json"], ["apply", tmp_path / "m.json", other, "-o", tmp_path / "o"],
                    ["verify", tmp_path / "m.json", other]):
        message = fails(3, *command)
        assert "m.json" in message and "three/dataset.json" in message and "4" in message and "3" in message


def test_the_library_speaks_of_options_and_the_program_of_flags(tmp_path):
    dataset = small_dataset(tmp_path)
    change(dataset, lambda d: d["cases"][1].pop("labels"))
    message = fails(3, "evaluate", dataset)
    assert "--skip-bad" in message and "skip_bad" not in message


def test_a_temperature_that_is_not_there_is_told_before_the_work(dataset, tmp_path):
    fit(dataset, "vs(z)", tmp_path / "vs.json")
    message = fails(2, "apply", tmp_path / "vs.json", dataset, "-o", tmp_path / "out", "--write", "probabilities,temperature")
    assert "vs(z" in message and "temperature" in message
    assert not (tmp_path / "out").exists()


def test_a_dumb_terminal_gets_lines(tmp_path):
    """No escape sequences where the terminal cannot understand them."""
    ours, theirs = pty.openpty()
    command = [str(PROGRAM), "simulate", str(tmp_path / "s"), "--cases", "6", "--size", "150x150"]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "dumb"})
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # the other end is closed
        pass
    assert process.wait() == 0
    os.close(ours)
    assert b"\x1b" not in text and b"6 cases" in text


@pytest.mark.parametrize("cases, files", [(60, 48), (2000, 256)])
def test_few_files_may_be_open(tmp_path, cases, files):
    """What is kept open between passes leaves room for the rest."""
    dataset = small_dataset(tmp_path, num_cases=cases, num_classes=3, shape=(4, 5))
    model = tmp_path / "m.json"
    index = ["index", tmp_path / "d.json", "--members", tmp_path / "case{case}_m0.npy", "--labels",
             tmp_path / "case{case}_labels.npy", "--input", "logits", "--ignore-label", 255]
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # noqa: E731
    for command in (index, ["inspect", dataset], ["fit", dataset, "-p", "ts(z)", "-o", model],
                    ["evaluate", dataset, "-m", model], ["verify", model, dataset],
                    ["apply", model, dataset, "-o", tmp_path / "out"],
                    ["compare", dataset, "-p", "ts(z)", "--repeats", 1, "--metrics", "nll", "--replicates", 10, "-o",
                     tmp_path / "study"]):
        done = subprocess.run([str(PROGRAM), *map(str, command)], capture_output=True, text=True, check=False,
                              preexec_fn=limit)
        assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").iterdir())) == cases


def test_a_file_that_may_not_grow_is_like_a_full_disk(dataset, model, tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
    done = subprocess.run([str(PROGRAM), "apply", str(model), str(dataset), "-o", str(tmp_path / "out")],
                          capture_output=True, text=True, check=False, preexec_fn=limit)
    assert done.returncode == 4 and "File too large" in done.stderr, (done.returncode, done.stderr)
    assert not (tmp_path / "out").exists()


def test_the_free_energy_of_probabilities_is_no_signal(tmp_path):
    """Their log-sum is zero up to rounding, which is nothing to draw."""
    rng = np.random.default_rng(5)
    members, labels = random_case(rng, 3, (16, 16))
    logits = members[0].astype(np.float64)
    probs = np.exp(logits) / np.exp(logits).sum(axis=0)
    entry = save_case(tmp_path, "a", [probs.astype(np.float32)], labels)
    dataset = describe(tmp_path, [entry], 3, input="probabilities")
    text = run("inspect", dataset).stdout
    assert "free energy of probabilities is zero" in text and "e-" not in text
    assert "nothing to draw" in fails(2, "inspect", dataset, "--figures", tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_splits_by_largest_remainder(tmp_path):
    small_dataset(tmp_path, num_cases=6)
    index = ["index", tmp_path / "d.json", "--members", str(tmp_path / "case{case}_m0.npy"), "--input", "logits"]
    done = run(*index, "--split", "calibration=0.4,validation=0.2,test=0.4")
    assert "splits: calibration 3, test 2, validation 1" in done.stdout
    done = run(*index, "--split", "calibration=0.9,validation=0.05,test=0.05")
    assert "splits: calibration 4, test 1, validation 1" in done.stdout
    done = run(*index, "--split", ",".join(f"s{k}=1" for k in range(7)))
    assert 'split "s6" has no case' in done.stderr


def test_cases_and_members_of_no_use_are_mentioned(tmp_path):
    dataset = small_dataset(tmp_path, num_members=2)
    np.save(tmp_path / "case1_labels.npy", np.full((20, 30), 255, np.uint8))
    np.save(tmp_path / "case2_m1.npy", np.zeros((4, 20, 30), np.float32))
    silent = "no voxel takes part of 1 case (case1)"
    constant = "member 1 predicts the same at every voxel of 1 case (case2)"
    for text in (run("fit", dataset, "-o", tmp_path / "m.json").stderr, run("evaluate", dataset).stderr,
                 run("inspect", dataset).stdout):
        assert silent in text and constant in text, text
    assert inspect(dataset)["warnings"][0].startswith(silent)
