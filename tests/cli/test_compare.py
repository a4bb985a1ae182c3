# SPDX-License-Identifier: Apache-2.0
"""`segcal compare`: the files it leaves, killed studies, and what it says."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

from program import PROGRAM, fails, run, small_dataset

PIPELINES = ["-p", "ts(z)", "-p", "ts(p)", "-p", "ms(z)", "-p", "cms_ap(p)"]
SMALL = ["--split", "4,2,3", "--repeats", "2", "--search", "3", "--replicates", "50", "--quiet"]


def data(folder, **fields):
    """Nine cases with two members."""
    return small_dataset(folder, num_cases=9, num_members=2, **fields)


def contents(folder):
    """What a study gives, by path: all but how it was made."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*"))
            if path.is_file() and path.parent.name != "units" and path.name not in ("run.json", "timing.json")}


def test_leaves_tables_models_and_a_recommendation(tmp_path):
    dataset = data(tmp_path / "data")
    done = run("compare", dataset, *PIPELINES, *SMALL, "-o", tmp_path / "study", "--pair", "ts(z)=ms(z)")
    assert "Recommended: " in done.stdout
    study = json.loads((tmp_path / "study" / "study.json").read_text())
    assert [p["pipeline"] for p in study["pipelines"]][:3] == ["none(z0)", "none(p)", "none(z)"]
    assert len(study["repeats"]) == 2
    pairs = [(p["first"], p["second"]) for p in study["statistics"]["pairs"]]
    assert pairs == [("ts(z)", "ts(p)"), ("ts(z)", "ms(z)")]
    files = contents(tmp_path / "study")
    for name in ("cases.csv", "recommended.json", "models/repeat1/cms_ap_p.json", "tables/results.md",
                 "tables/results_intervals.tex", "tables/pairs.csv", "tables/candidates.md"):
        assert name in files, name
    rows = files["cases.csv"].decode().splitlines()
    assert len(rows) == 1 + 2 * 7 * 3
    where = json.loads((tmp_path / "study" / "run.json").read_text())
    assert where["dataset"] == str(dataset) and "compare" in where["command"]
    run("apply", tmp_path / "study" / "recommended.json", dataset, "-o", tmp_path / "out", "--quiet")


def test_killed_at_any_moment_it_resumes_to_the_same_bytes(tmp_path):
    dataset = data(tmp_path / "data")
    command = ["compare", dataset, *PIPELINES, "-p", "selective+ts(p, selective.epochs=5)", *SMALL]
    began = time.monotonic()
    run(*command, "-o", tmp_path / "whole")
    whole_takes = time.monotonic() - began
    moments = random.Random(7)
    # Each is killed three or four times before it may end: nine kills, twenty in scripts/verify-long.
    for k, kills in enumerate([4, 4, 4, 4, 4] if os.environ.get("SEGCAL_LONG_TESTS") else [3, 3, 3]):
        folder = tmp_path / f"study{k}"
        for _ in range(kills):
            process = subprocess.Popen([str(PROGRAM), *map(str, command), "-o", str(folder), "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0.0, whole_takes))
            process.send_signal(signal.SIGKILL)
            process.wait()
        run(*command, "-o", folder, "--resume")
        assert contents(folder) == contents(tmp_path / "whole")


def test_stopped_it_says_how_to_go_on(tmp_path):
    dataset = data(tmp_path / "data", shape=(90, 80))
    folder = tmp_path / "study"
    process = subprocess.Popen([str(PROGRAM), "compare", str(dataset), *PIPELINES, *SMALL, "-o", str(folder)],
                               stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(folder.glob("units/*.unit")) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.count("\n") == 1 and "--resume" in said and "units" in said


def test_does_not_write_over_a_study(tmp_path):
    dataset = data(tmp_path / "data")
    run("compare", dataset, "-p", "ts(z)", *SMALL, "-o", tmp_path / "study")
    said = fails(2, "compare", dataset, "-p", "ts(z)", *SMALL, "-o", tmp_path / "study")
    assert "holds a study" in said and "--resume" in said


def test_what_others_have_in_the_folder_is_not_written_over(tmp_path):
    """Names of a study's own files and folders, which somebody else has used; all else may be there."""
    dataset = data(tmp_path / "data")
    command = ["compare", dataset, "-p", "ts(z)", *SMALL, "-o", tmp_path / "study"]
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "slurm-1.out").write_text("a log")
    for name in ("cases.csv", "study.json", "tables/results.md", "models/readme.txt"):
        file = tmp_path / "study" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
        said = fails(2, *command)
        assert name.split("/", maxsplit=1)[0] in said and "--force" in said
        assert file.read_text() == "mine" and not (tmp_path / "study" / "units").exists()
        file.unlink()
        if file.parent.name != "study":
            file.parent.rmdir()
    run(*command)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "cases.csv").write_text("mine")
    run("compare", dataset, "-p", "ts(z)", *SMALL, "-o", tmp_path / "other", "--force")
    assert (tmp_path / "other" / "cases.csv").read_bytes() == (tmp_path / "study" / "cases.csv").read_bytes()


def test_wrong_arguments_are_told_before_the_work(tmp_path):
    dataset = data(tmp_path / "data")
    for arguments, part in ((["--split", "1,2"], "three are required"), (["--split", "1,x,2"], "--split 1,x,2"),
                            (["--pair", "ts(z)"], "FIRST=SECOND"), (["--shift", "mild"], "NAME=DATASET"),
                            (["--pair", "ts(z)=dc(z)"], "none of the study's pipelines")):
        said = fails(2, "compare", dataset, "-p", "ts(z)", "-o", tmp_path / "study", "--quiet", *arguments)
        assert part in said
        assert not list(tmp_path.glob("study/units/*.unit"))


def test_a_failed_unit_is_told_and_the_rest_is_done(tmp_path):
    dataset = data(tmp_path / "data")
    done = run("compare", dataset, "-p", "ts(z)", "-p", "lts_image(z)", *SMALL, "-o", tmp_path / "study")
    assert "lts_image(z) failed" in done.stderr and "no image" in done.stderr
    assert "ts(z)" in done.stdout and "lts_image" not in done.stdout


def test_the_commands_it_prints_run_as_printed(tmp_path):
    """From where it was run, also where names need quotes."""
    data(tmp_path / "street's data")
    done = run("compare", "street's data", "-p", "ts(z)", "-p", "cms_op(p)", *SMALL, "-o", "my studies/first", cwd=tmp_path)
    commands = [line.strip()[2:] for line in done.stdout.splitlines() if line.strip().startswith("$ ")]
    assert [command.split()[1] for command in commands] == ["apply", "verify", "export"]
    environment = dict(os.environ, PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}")
    for command in commands:
        subprocess.run(command, shell=True, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    study = tmp_path / "my studies" / "first"
    assert len(list((study / "calibrated").glob("*.npy"))) == 9
    assert (study / "recommended.onnx").stat().st_size > 100
    # What is stored does not depend on the folder.
    stored = json.loads((study / "study.json").read_text())["recommendation"]["commands"]
    assert stored[0] == "segcal apply recommended.json DATASET -o calibrated"


def test_fit_auto_says_what_it_chose_and_why(tmp_path):
    dataset = data(tmp_path / "data")
    done = run("fit", dataset, "-p", "auto", "-o", tmp_path / "model.json", "--quiet", "--search", "3")
    assert "On the validation cases the best nll of 10 candidates" in done.stdout
    assert json.loads((tmp_path / "model.json").read_text())["fit"]["data"]["cases"] == 9
