# SPDX-License-Identifier: Apache-2.0
"""Commands done by several processes under mpirun: the bytes of one process, and one end for all when something goes wrong."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from program import PROGRAM, describe, fails, inspect, random_case, run, save_case

pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None or not PROGRAM.with_name("segcal-mpi").exists(),
                                reason="MPI is not installed, so segcal-mpi was not built")

# In root's containers, with more processes than cores.
MPIRUN = ["mpirun", "--quiet", "--allow-run-as-root", "--oversubscribe"]


def start(ranks, *arguments, cwd=None):
    """The command on so many ranks."""
    # A single process is the ordinary program, which takes mpirun for a terminal.
    env = {**os.environ, "TERM": "dumb"} if ranks == 1 else None
    return subprocess.Popen([*MPIRUN, "-n", str(ranks), PROGRAM, *map(str, arguments)], cwd=cwd, text=True, errors="replace",
                            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def mpi(ranks, *arguments, code=0, cwd=None):
    """Runs it, checks its exit code, and returns standard output and error."""
    process = start(ranks, *arguments, cwd=cwd)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == code, f"{arguments} on {ranks}: exit {process.returncode}, {code} expected\n{out}\n{err}"
    return out, err


@pytest.fixture(scope="module", name="data")
def make_data(tmp_path_factory):
    """Ten cases of different sizes with images, two members each."""
    folder = tmp_path_factory.mktemp("mpi")
    rng = np.random.default_rng(11)
    entries = []
    for k in range(10):
        shape = (12 + 2 * (k % 3), 20 + k)
        members, labels = random_case(rng, 3, shape, num_members=2)
        split = "calibration" if k < 6 else "validation" if k < 8 else "test"
        entries.append(save_case(folder, f"case{k}", members, labels, split=split, group=f"g{k // 2}"))
        np.save(folder / f"image{k}.npy", rng.normal(size=(1, *shape)).astype(np.float32))
        entries[-1]["image"] = f"image{k}.npy"
    return describe(folder, entries, 3, background=0)


SHORT = {"lts": "epochs=4", "lts_raw": "epochs=4", "lts_image": "epochs=4", "ibts": "epochs=4", "selective+ts": "selective.epochs=4"}


def every_pipeline(data):
    """Of every method once, trainings being short."""
    names = [method["name"] for method in inspect(data)["methods"] if method["name"] != "none"]
    assert len(names) > 15
    return [f"{name}({'zp'[k % 2]}{', ' + SHORT[name] if name in SHORT else ''})" for k, name in enumerate(names)]


def models(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture(scope="module", name="fitted")
def make_fitted(data, tmp_path_factory):
    """The models of one process."""
    folder = tmp_path_factory.mktemp("fitted")
    run("fit", data, "-p", *every_pipeline(data), "-o", f"{folder}/", "--search", "2", "--quiet")
    return folder


@pytest.mark.parametrize("ranks, threads", [(3, 2)] + ([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 3), (4, 1), (4, 2), (4, 3)]
                                                      if "SEGCAL_LONG_TESTS" in os.environ else []))
def test_every_model_has_the_bytes_of_one_process(data, fitted, tmp_path, ranks, threads):
    out, err = mpi(ranks, "fit", data, "-p", *every_pipeline(data), "-o", f"{tmp_path}/", "--search", "2", "--quiet", "--threads",
                   threads)
    assert models(tmp_path) == models(fitted)
    assert out.count("wrote ") == len(models(fitted))
    assert "segcal" not in err


@pytest.mark.parametrize("ranks, threads", [(2, 1), (4, 3)])
def test_other_numbers_of_ranks(data, fitted, tmp_path, ranks, threads):
    pipelines = [pipeline for pipeline in every_pipeline(data) if re.match(r"(ts|cms_ap|irova|meta|selective\+ts|lts)\(", pipeline)]
    assert len(pipelines) == 6
    mpi(ranks, "fit", data, "-p", *pipelines, "-o", f"{tmp_path}/", "--search", "2", "--quiet", "--threads", threads)
    some = models(tmp_path)
    assert some and all(some[name] == models(fitted)[name] for name in some)


RANKS = [3] + ([1, 2, 4] if "SEGCAL_LONG_TESTS" in os.environ else [])


@pytest.mark.parametrize("ranks", RANKS)
def test_metrics_outputs_and_summaries_have_the_bytes_of_one_process(data, fitted, tmp_path, ranks):
    evaluate = ["evaluate", data, "-m", fitted, "-p", "none(p)", "--metrics", "all", "--statistics", "--replicates", "50",
                "-o", "m.json", "--csv", "m.csv", "--cells", "c.csv", "--quiet"]
    lts = next(fitted.glob("lts_raw*"))
    apply = ["apply", lts, data, "-o", "out", "--write", "probabilities,labels:png,temperature", "--quiet"]
    printed = {}
    for place in ("one", "many"):
        (tmp_path / place).mkdir()
        for command in (evaluate, apply, ["inspect", data, "--json", "--quiet"], ["inspect", fitted]):
            done = run(*command, cwd=tmp_path / place).stdout if place == "one" else \
                mpi(ranks, *command, "--threads", "2", cwd=tmp_path / place)[0] if command[-1] == "--quiet" else \
                mpi(ranks, *command, cwd=tmp_path / place)[0]
            printed[place] = printed.get(place, "") + done
    assert printed["many"] == printed["one"]
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) == 3 + 3 * 10
    for name in files:
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


STUDY = ["-p", "ts(z)", "-p", "dc(p)", "-p", "lts(z)", "--repeats", "2", "--search", "0", "--replicates", "100", "--quiet"]


@pytest.fixture(scope="module", name="study")
def make_study(data, tmp_path_factory):
    """What one process makes of a study."""
    folder = tmp_path_factory.mktemp("study") / "s"
    run("compare", data, *STUDY, "-o", folder)
    return folder


def expect_same_study(found, expected):
    names = [path.relative_to(expected) for path in expected.rglob("*") if path.is_file() and path.suffix != ".unit"]
    assert Path("study.json") in names and len(names) > 10
    for name in names:
        if name.name not in ("timing.json", "run.json"):
            assert (found / name).read_bytes() == (expected / name).read_bytes(), name


def ranks_of(process):
    """The processes that mpirun has started."""
    stats = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats.append(path.read_text())
        except OSError:
            continue  # it has ended
    found = [re.match(r"(\d+) \((.*)\) . (\d+)", stat) for stat in stats]
    return [int(match[1]) for match in found if match and int(match[3]) == process.pid]


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_study_goes_on_after_a_rank_was_killed(data, study, tmp_path):
    process = start(3, "compare", data, *STUDY, "-o", tmp_path / "s")
    wait_for(lambda: len(list(tmp_path.glob("s/units/*.unit"))) >= 2)
    began = time.monotonic()
    os.kill(ranks_of(process)[1], signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode != 0 and "Recommended" not in out
    assert time.monotonic() - began < 30
    assert not (tmp_path / "s/study.json").exists()
    mpi(2, "compare", data, *STUDY, "-o", tmp_path / "s", "--resume")
    expect_same_study(tmp_path / "s", study)


def test_a_training_goes_on_with_other_ranks(data, tmp_path):
    command = ["fit", data, "-p", "lts(z, epochs=300, patience=0)", "--search", "0", "--quiet"]
    run(*command, "-o", tmp_path / "one.json")
    process = start(2, *command, "-o", tmp_path / "many.json")
    wait_for((tmp_path / "many.json.part").exists)
    os.kill(ranks_of(process)[0], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0 and not (tmp_path / "many.json").exists()
    mpi(3, *command, "-o", tmp_path / "many.json", "--resume", "--threads", "1")
    assert (tmp_path / "many.json").read_bytes() == (tmp_path / "one.json").read_bytes()
    assert not (tmp_path / "many.json.part").exists()
    out, _ = mpi(2, *command, "-o", tmp_path / "many.json", "--resume")
    assert "complete in" in out and "kept" in out


def test_a_bad_file_ends_all_ranks_with_its_message(data, tmp_path):
    shutil.copytree(Path(data).parent, tmp_path / "bad")
    bad = tmp_path / "bad"
    member = np.load(bad / "case4_m1.npy")
    member[0, 3, 5] = np.nan
    np.save(bad / "case4_m1.npy", member)
    for command in (["fit", "bad", "-p", "dc(z)", "-o", "x.json"], ["fit", "bad", "-p", "lts(z)", "-o", "x.json"],
                    ["evaluate", "bad", "-o", "x.json"], ["inspect", "bad"]):
        expected = fails(3, *command, "--quiet", cwd=tmp_path)
        assert "case4_m1.npy: voxel (3, 5): NaN" in expected
        out, err = mpi(3, *command, "--quiet", code=3, cwd=tmp_path)
        assert err.count(expected) == 1 and err.count("segcal: ") == 1 and out == ""
        assert not (tmp_path / "x.json").exists()
    expected = run("evaluate", "bad", "--skip-bad", "--quiet", cwd=tmp_path)
    out, err = mpi(3, "evaluate", "bad", "--skip-bad", "--quiet", cwd=tmp_path)
    assert out == expected.stdout and expected.stderr in err
    run("fit", "bad", "-p", "dc(z)", "-o", "one.json", "--skip-bad", "--quiet", cwd=tmp_path)
    mpi(3, "fit", "bad", "-p", "dc(z)", "-o", "many.json", "--skip-bad", "--quiet", cwd=tmp_path)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "many.json").read_bytes()


def test_errors_are_told_once(data, tmp_path):
    for code, command in ((2, ["fit", data, "-p", "nothing(z)", "-o", "x.json"]), (4, ["fit", "nowhere", "-o", "x.json"]),
                          (2, ["fit", "--unknown"]), (2, ["train", data, "-o", "networks"]),
                          (4, ["fit", data, "-p", "ts(z)", "-o", "/proc/x.json", "--quiet"])):
        _, err = mpi(3, *command, code=code, cwd=tmp_path)
        assert len(re.findall("^(segcal: |.*required|.*--unknown)", err, re.MULTILINE)) == 1, err


def test_ranks_use_one_instruction_set(data, tmp_path):
    """What every rank works out for itself, such as the steps on a sample, must have the same bits."""
    other = "SCALAR"  # every machine has it, and none prefers it
    one = ["-n", "1", PROGRAM, "fit", data, "-o", "x.json", "--quiet"]
    done = subprocess.run([*MPIRUN, *one, ":", "-x", f"SEGCAL_TARGET={other}", *one], cwd=tmp_path, capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 2 and f"on {other}" in done.stderr and not (tmp_path / "x.json").exists()


def test_what_is_not_shared_is_done_once(data, tmp_path):
    out, _ = mpi(3, "simulate", "demo", "--cases", "2", "--size", "8x8", "--quiet", cwd=tmp_path)
    assert out.count("2 cases") == 1
    assert mpi(2, "--version")[0].count("segcal") == 1
    part = ["evaluate", data, "--part", "1/2", "--state", tmp_path / "1.part", "--quiet"]
    assert mpi(2, *part)[0].count("part 1/2") == 2  # each for itself
    mpi(2, "fit", data, "-p", "auto", "-o", "auto.json", "--search", "0", "--quiet", cwd=tmp_path)
    run("fit", data, "-p", "auto", "-o", "one.json", "--search", "0", "--quiet", cwd=tmp_path)
    assert (tmp_path / "auto.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def test_progress_is_that_of_one_rank(data, tmp_path):
    _, err = mpi(3, "fit", data, "-p", "ts(z)", "-o", tmp_path / "x.json")
    stages = re.findall("^(.*?): ", err, re.MULTILINE)
    assert len(stages) == len(set(stages)) and "\033" not in err


def test_without_segcal_mpi_it_says_how_to_get_it(data, tmp_path):
    shutil.copy(PROGRAM, tmp_path / "segcal")
    alone = {"OMPI_COMM_WORLD_SIZE": "2", "PATH": "/nowhere", "LD_LIBRARY_PATH": str(PROGRAM.parent)}
    done = subprocess.run([tmp_path / "segcal", "inspect", data], env={**os.environ, **alone}, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "libopenmpi-dev" in done.stderr
    done = subprocess.run([tmp_path / "segcal", "inspect", data, "--json"], env={**os.environ, **alone, "SEGCAL_ALONE": "1"},
                          capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)["cases"]) == 10
