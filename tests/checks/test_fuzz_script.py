# SPDX-License-Identifier: Apache-2.0
"""scripts/fuzz says of every target how often it ran and how much it reached."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What a target of libFuzzer 14 prints.
LOG = """INFO: Loaded 1 PC tables (789 PCs): 789 [0x55b347c1ff88,0x55b347c1ffd8),
#4	INITED cov: 4 ft: 4 corp: 3/9b exec/s: 0 rss: 27Mb
#531	REDUCE cov: 55 ft: 5 corp: 4/10b lim: 8 exec/s: 0 rss: 27Mb
#1234	DONE   cov: 56 ft: 99 corp: 12/10b lim: 4096 exec/s: 1005222 rss: 27Mb
"""


def run_fuzz(tree, code):
    """The output of scripts/fuzz in a tree with one target, which ends with this code."""
    for name in ("scripts/fuzz", "tests/fuzz/make_seeds.py"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    target = tree / "build/asan-ubsan/tests/fuzz_fake"
    target.parent.mkdir(parents=True)
    target.write_text(f"#!/bin/sh\ncat <<'END'\n{LOG}END\nexit {code}\n")
    target.chmod(0o755)
    return subprocess.run([tree / "scripts/fuzz", "1"], capture_output=True, text=True, check=False)


def test_executions_and_coverage_are_printed(tmp_path):
    done = run_fuzz(tmp_path, 0)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "fuzz_fake: nothing found in 1 s: 1234 executions, coverage 56 of 789 places, 12 inputs kept\n"


def test_a_finding_fails(tmp_path):
    done = run_fuzz(tmp_path, 1)
    assert done.returncode != 0
    assert "fuzz_fake: FAILED: 1234 executions, coverage 56 of 789 places" in done.stdout
