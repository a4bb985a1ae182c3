#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes against threads: bench/ranks.py SEGCAL DATASET [--times N] [--rounds N]

Fits and evaluations of a data set, its cases `times` times, with as many ranks and threads as listed, in turns. Prints the median wall
time in seconds, without what mpirun takes to begin and end, the processor time of all processes together, and the ratio to two threads. Models must have
the same bytes.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from repeated import repeat

CONFIGURATIONS = [(1, 2), (2, 1), (1, 1), (3, 1), (4, 1)]  # ranks, threads of each
MPIRUN = ["mpirun", "--quiet", "--allow-run-as-root", "--oversubscribe", "-n"]


def timed(program, ranks, threads, arguments):
    """Wall and processor seconds, and what was printed."""
    command = [*(MPIRUN + [str(ranks)] if ranks > 1 else []), program, *arguments, "--quiet", "--threads", str(threads)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, text


def begin_and_end(program, ranks):
    """Seconds of doing nothing."""
    command = [*(MPIRUN + [str(ranks)] if ranks > 1 else []), program, "--version"]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("dataset")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pipelines", nargs="+", default=["ts(z)", "ms(z)", "cms_ap(z)"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = repeat(given.dataset, given.times, Path(folder) / "dataset.json")
        jobs = {f"fit {pipeline}": ["fit", data, "-p", pipeline, "-o", f"{folder}/model.json"] for pipeline in given.pipelines}
        jobs["evaluate"] = ["evaluate", data, "-o", f"{folder}/metrics.json"]
        print(f"{os.cpu_count()} cores, {given.rounds} rounds, medians; load {os.getloadavg()[0]:.0f} at the start")
        print(f"{'job':<18}{'ranks x threads':>16}{'wall s':>9}{'CPU s':>9}{'wall / 1x2':>12}")
        for name, arguments in jobs.items():
            walls = {configuration: [] for configuration in CONFIGURATIONS}
            works = {configuration: [] for configuration in CONFIGURATIONS}
            contents = set()
            for _ in range(given.rounds):
                for ranks, threads in CONFIGURATIONS:
                    wall, work, text = timed(given.program, ranks, threads, list(map(str, arguments)))
                    told = re.search(r"after ([\d.]+) s", text)
                    wall = float(told[1]) if told else wall - begin_and_end(given.program, ranks)
                    walls[ranks, threads].append(wall)
                    works[ranks, threads].append(work)
                    contents.add(Path(arguments[-1]).read_bytes())
            assert len(contents) == 1, f"{name}: {len(contents)} results"
            for ranks, threads in CONFIGURATIONS:
                wall = statistics.median(walls[ranks, threads])
                print(f"{name:<18}{f'{ranks} x {threads}':>16}{wall:>9.2f}{statistics.median(works[ranks, threads]):>9.2f}"
                      f"{wall / statistics.median(walls[1, 2]):>12.2f}", flush=True)


if __name__ == "__main__":
    main()
