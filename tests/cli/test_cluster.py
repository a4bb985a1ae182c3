# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/cluster.md, run as they stand, by local processes.

`sbatch` is a stand-in that runs the tasks of an array side by side, unless SEGCAL_SLURM is set (with_slurm.sh). GNU parallel and Snakemake
are real, and left out where they are not installed.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program import PROGRAM, describe, fit, random_case, run, save_case

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"

SBATCH = r"""#!/bin/bash
# The tasks of an array as processes: sbatch --wait SCRIPT.
script=${!#}
count=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
tasks=()
for ((i = 1; i <= count; i++)); do
  SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=$count bash -eu "$script" &
  tasks+=($!)
done
for task in "${tasks[@]}"; do wait "$task" || exit 1; done
"""


def block(name):
    """The contents of the fenced block with this name."""
    (found,) = re.findall(rf"^```{name}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return found


def shell(command, folder, *more_path):
    """Runs a command in a folder, where `segcal` is the program under test."""
    path = ":".join([*map(str, more_path), str(PROGRAM.resolve().parent), os.environ["PATH"]])
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path, "HOME": str(folder)}, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="work")
def make_work(tmp_path_factory):
    """A folder with data/dataset.json, model.json, and what one process writes."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "data").mkdir()
    rng = np.random.default_rng(4)
    entries = []
    splits = ["calibration", "validation"]
    for k in range(11):
        members, labels = random_case(rng, 3, (10 + k, 16))
        entries.append(save_case(folder / "data", f"case{k}", members, labels, split=splits[k] if k < 2 else "test"))
    fit(describe(folder / "data", entries, 3), "ts(z)", folder / "model.json", "--split", "calibration")
    run("evaluate", "data", "-m", "model.json", "--split", "test", "-o", "one.json", "--statistics", "--quiet", cwd=folder)
    return folder


@pytest.fixture(name="place")
def make_place(work, tmp_path):
    """A copy of it."""
    return shutil.copytree(work, tmp_path / "work")


def expect_same(place):
    assert (place / "metrics.json").read_bytes() == (place / "one.json").read_bytes()


@pytest.mark.parametrize("name", ["sh slurm", "sh merge", "snakemake", "sh parallel", "sh studies"])
def test_a_recipe_is_short(name):
    assert len(block(name).splitlines()) <= 15


def test_the_first_lines_of_the_page(place):
    shell(block("sh"), place)
    shell(block("sh merge"), place)
    expect_same(place)


def test_studies(place):
    shell(block("sh studies"), place)
    run("compare", "data", "-p", "fast", "--repeats", "2", "-o", "one", "--quiet", cwd=place)
    assert (place / "study/study.json").read_bytes() == (place / "one/study.json").read_bytes()


def test_slurm(place, tmp_path):
    (place / "evaluate.sh").write_text(block("sh slurm"))
    (place / "parts").mkdir()
    if "SEGCAL_SLURM" in os.environ:
        shell("sbatch --wait evaluate.sh", place)
    else:
        (tmp_path / "sbatch").write_text(SBATCH)
        (tmp_path / "sbatch").chmod(0o755)
        shell("sbatch --wait evaluate.sh", place, tmp_path)
    assert {path.name for path in (place / "parts").iterdir()} == {f"{i}.part" for i in range(1, 9)}
    shell(block("sh merge"), place)
    expect_same(place)


@pytest.mark.skipif(shutil.which("mpirun") is None or not PROGRAM.with_name("segcal-mpi").exists(), reason="MPI is not installed")
def test_mpi(place):
    settings = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1\n"
    shell(settings + block("sh mpi").replace("model.json", "many.json"), place)
    fit(place / "data", "cms_ap(p)", place / "one_model.json")
    assert (place / "many.json").read_bytes() == (place / "one_model.json").read_bytes()
    run("evaluate", "data", "-m", "many.json", "--split", "test", "-o", "one.json", "--statistics", "--quiet", cwd=place)
    expect_same(place)


def has_gnu_parallel():
    """Another program of that name is known to exist."""
    if shutil.which("parallel") is None:
        return False
    done = subprocess.run(["parallel", "--version"], capture_output=True, text=True, check=False)
    return "GNU parallel" in done.stdout


@pytest.mark.skipif(not has_gnu_parallel(), reason="GNU parallel is not installed")
def test_parallel(place):
    shell(block("sh parallel"), place)
    expect_same(place)


@pytest.mark.skipif(shutil.which("snakemake") is None, reason="Snakemake is not installed")
def test_snakemake(place):
    (place / "Snakefile").write_text(block("snakemake"))
    shell("snakemake --cores 4 --quiet", place)
    expect_same(place)
    (place / "parts" / "3.part").unlink()
    (place / "metrics.json").unlink()
    assert "total" in shell("snakemake --cores 4 2>&1", place)
    expect_same(place)
