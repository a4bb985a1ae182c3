# SPDX-License-Identifier: Apache-2.0
"""Jobs in parts: the bytes of one process, and a name for every part that is missing, doubled, foreign or damaged."""

import json
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from nnunet_layout import new_predictions, trained_model
from program import PROGRAM, describe, fails, fit, random_case, run, save_case, small_dataset


@pytest.fixture(scope="module", name="study")
def make_study(tmp_path_factory):
    """Seven cases of different sizes, some in groups, and two models."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(2)
    entries = []
    for k in range(7):
        members, labels = random_case(rng, 4, (12 + 3 * (k % 3), 20 + k), num_members=2)
        fields = {"group": f"g{k // 2}"} if k < 5 else {}
        entries.append(save_case(folder, f"case{k}", members, labels, **fields))
    dataset = describe(folder, entries, 4, background=0)
    fit(dataset, "ts(z)", folder / "ts.json")
    fit(dataset, "vs(p)", folder / "vs.json")
    return folder


def evaluate_options(study):
    return [study, "-p", "none(z)", "-m", study / "ts.json", "-m", study / "vs.json", "--metrics", "all"]


def parts_of(command, folder, count, *options):
    """Runs all parts of a command, with other threads each, and returns their files in no order."""
    files = []
    for part in range(1, count + 1):
        files.append(folder / f"{part}.part")
        text = run(*command, "--part", f"{part}/{count}", "--state", files[-1], "--threads", part % 3 + 1, "--quiet",
                   *options).stdout
        assert f"part {part}/{count} of {command[0]}: " in text and f"wrote {files[-1]}" in text
    random.Random(count).shuffle(files)
    return files


@pytest.mark.parametrize("count", [1, 3, 9])
def test_evaluate_gives_the_bytes_of_one_process(study, tmp_path, count):
    outputs = ["-o", "m.json", "--csv", "m.csv", "--cells", "c.csv", "--statistics", "--replicates", "50"]
    command = ["evaluate", *evaluate_options(study)]
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    whole = run(*command, *outputs, "--quiet", cwd=tmp_path / "whole").stdout
    files = parts_of(command, tmp_path, count, "--keep-cells")
    merged = run("merge", *files, *outputs, cwd=tmp_path / "parts").stdout
    assert merged == whole
    for name in ("m.json", "m.csv", "c.csv"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert run("merge", *files, "--json").stdout == run(*command, "--json", "--cells", tmp_path / "c.csv", "--quiet").stdout
    assert run("merge", *files, "--sort", "nll", "--table", "latex").stdout == \
        run(*command, "--sort", "nll", "--table", "latex", "--quiet").stdout


def test_inspect_gives_the_bytes_of_one_process(study, tmp_path):
    files = parts_of(["inspect", study], tmp_path, 3)
    for options in ([], ["--json"]):
        assert run("merge", *files, *options).stdout == run("inspect", study, *options, "--quiet").stdout
    assert "printed, with --json" in fails(2, "merge", *files, "-o", tmp_path / "x.json")


def test_apply_writes_the_files_of_one_process(study, tmp_path):
    command = ["apply", study / "ts.json", study, "--write", "probabilities,labels", "--format", "nifti"]
    whole = json.loads(run(*command, "-o", tmp_path / "out", "--json", "--quiet").stdout)
    expected = {file: Path(file).read_bytes() for file in whole["files"]}
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "states").mkdir()
    files = parts_of([*command, "-o", tmp_path / "out"], tmp_path / "states", 4)
    assert json.loads(run("merge", *files, "--json").stdout) == whole
    assert {file: Path(file).read_bytes() for file in expected} == expected
    assert "wrote 14 files" in run("merge", *files).stdout


def test_folders_of_nnunet_are_filled_as_by_one_process(tmp_path):
    predictions = new_predictions(tmp_path, num_cases=5)
    (predictions[0] / "new_3.pkl").unlink()
    run("index", tmp_path / "d.json", "--nnunet", trained_model(tmp_path / "train"))
    fit(tmp_path / "d.json", "ts(p)", tmp_path / "m.json")
    command = ["apply", tmp_path / "m.json", "--nnunet", *predictions, "-o", tmp_path / "out"]
    whole = run(*command, "--json", "--quiet")
    expected = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert len(expected) >= 16
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "states").mkdir()
    files = parts_of(command, tmp_path / "states", 3)
    merged = run("merge", *files, "--json")
    assert merged.stdout == whole.stdout and merged.stderr == whole.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == expected
    (tmp_path / "out" / "other.npz").write_bytes(b"")
    message = fails(2, *command, "--part", "1/3", "--state", tmp_path / "x.part", "--quiet")
    assert "is not empty" in message and not (tmp_path / "x.part").exists()


def test_bad_cases_are_left_out_and_listed_as_by_one_process(tmp_path):
    dataset = small_dataset(tmp_path / "data", num_cases=6)
    (tmp_path / "data/case1_m0.npy").write_bytes(b"no array")
    (tmp_path / "data/case4_m0.npy").unlink()
    command = ["evaluate", dataset, "--skip-bad"]
    whole = run(*command, "--json", "--quiet")
    merged = run("merge", *parts_of(command, tmp_path, 4), "--json")
    assert merged.stdout == whole.stdout and merged.stderr == whole.stderr
    assert "case1_m0.npy" in fails(3, "evaluate", dataset, "--part", "1/1", "--state", tmp_path / "x.part", "--quiet")
    assert not (tmp_path / "x.part").exists()


def test_a_part_that_was_killed_is_run_again(tmp_path):
    """Nothing is left of it, or what is left is complete; the others stay."""
    dataset = small_dataset(tmp_path / "data", num_cases=4, shape=(500, 500), num_classes=8)
    command = ["evaluate", dataset, "--metrics", "all"]
    state = tmp_path / "2.part"
    arguments = [str(PROGRAM), *map(str, command), "--part", "2/2", "--state", str(state), "--quiet", "--threads", "1"]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL and not state.exists()
    assert list(tmp_path.glob("*part*")) == []
    first = tmp_path / "1.part"
    run(*command, "--part", "1/2", "--state", first, "--quiet")
    assert "1 of 2 parts is missing: 2" in fails(2, "merge", first)
    run(*arguments[1:])
    assert run("merge", state, first, "--json").stdout == run(*command, "--json", "--quiet").stdout


def test_compare_gives_the_study_of_one_process(tmp_path):
    """Parts at the same time, in one folder; one of them is killed and run again."""
    dataset = small_dataset(tmp_path / "data", num_cases=6, num_members=2, shape=(40, 50))
    command = ["compare", dataset, "-p", "ts(z)", "-p", "vs(z)", "-p", "dc(p)", "--repeats", "2", "--replicates", "50", "--search",
               "2", "--quiet"]
    run(*command, "-o", tmp_path / "one")
    parts = [[str(PROGRAM), *map(str, command), "-o", str(tmp_path / "study"), "--part", f"{part}/3"] for part in (1, 2, 3)]
    running = [subprocess.Popen(part, stdout=subprocess.PIPE, text=True) for part in parts]  # pylint: disable=consider-using-with
    running[1].kill()
    for part, process in enumerate(running, 1):
        text = process.communicate(timeout=120)[0]
        assert part == 2 or (process.returncode == 0 and f"part {part}/3 of compare" in text and "--resume" in text)
    run(*parts[1][1:])
    run(*command, "-o", tmp_path / "study", "--resume")
    names = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*")
                   if path.is_file() and path.parent.name != "units" and path.name not in ("run.json", "timing.json"))
    assert Path("study.json") in names and Path("recommended.json") in names
    for name in names:
        assert (tmp_path / "study" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name
    assert "--resume" in fails(2, *parts[0][1:], "--json")
    assert "3/10" in fails(2, *parts[0][1:-1], "4/3")


def test_parts_that_do_not_belong_together_are_named(study, tmp_path):
    command = ["evaluate", study, "-m", study / "ts.json", "--metrics", "scores"]
    files = sorted(parts_of(command, tmp_path, 3))
    assert "2 of 3 parts are missing: 1, 3" in fails(2, "merge", files[1])
    message = fails(2, "merge", *files, files[0])
    assert f"{files[0]}: is part 1 of 3" in message and "required once" in message
    other = tmp_path / "other.part"

    def foreign(why, *arguments):
        run(*arguments, "--state", other, "--quiet")
        message = fails(2, "merge", files[0], files[1], other)
        assert f"{other}: does not belong to {files[0]}" in message and why in message

    foreign("other options", *command[:4], "--metrics", "scores,overlap", "--part", "3/3")
    foreign("other models", "evaluate", study, "-m", study / "vs.json", "--metrics", "scores", "--part", "3/3")
    foreign("one of 4 parts, not of 3", *command, "--part", "3/4")
    foreign("part of inspect, not of evaluate", "inspect", study, "--part", "3/3")
    copy = shutil.copytree(study, tmp_path / "copy")
    run("merge", files[0], files[1], files[2], "--json")
    np.save(copy / "case0_m1.npy", np.zeros((4, 12, 21), np.float16))  # of another size
    foreign("another data set", "evaluate", copy, *command[2:], "--part", "3/3")


def test_damaged_parts_are_named(study, tmp_path):
    files = parts_of(["evaluate", study, "--metrics", "nll"], tmp_path, 2)
    content = files[0].read_bytes()
    for damaged, why in ((content[:-100], "is cut short"), (content[:30], "damaged"), (b"", "not the state of a part"),
                         (content.replace(b"case3", b"case4"), "checksum"), (content + b"x", "is damaged")):
        files[0].write_bytes(damaged)
        message = fails(3, "merge", *files)
        assert str(files[0]) in message and why in message
    assert "nowhere.part" in fails(4, "merge", tmp_path / "nowhere.part")


def test_what_does_not_go_with_a_part_is_told(study, tmp_path):
    state = ["--state", tmp_path / "x.part"]
    for options in (["-o", "m.json"], ["--csv", "m.csv"], ["--figures", "f"], ["--json"], ["--statistics"]):
        assert "segcal merge" in fails(2, "evaluate", study, *options, "--part", "1/2", *state)
    assert "segcal merge" in fails(2, "apply", study / "ts.json", study, "-o", tmp_path / "o", "--json", "--part", "1/2", *state)
    assert "--state" in fails(2, "inspect", study, "--part", "1/2")
    assert "--part" in fails(2, "inspect", study, *state)
    for part in ("0/2", "3/2", "1", "a/b", "-1/2"):
        assert "3/10" in fails(2, "inspect", study, "--part", part, *state)
    assert "is a model" in fails(2, "inspect", study / "ts.json", "--part", "1/2", *state)
    assert not (tmp_path / "x.part").exists()


def test_files_that_are_no_parts_are_not_written_over(study, tmp_path):
    assert "is not the state of a part" in fails(2, "inspect", study, "--part", "1/2", "--state", study / "ts.json")
    files = parts_of(["evaluate", study, "--metrics", "nll"], tmp_path, 2)
    assert "is read" in fails(2, "merge", *files, "-o", files[0])
    assert "did not keep" in fails(2, "merge", *files, "--cells", tmp_path / "c.csv")
    run("evaluate", study, "--metrics", "nll", "--part", "1/2", "--state", tmp_path / "1.part", "--quiet")
