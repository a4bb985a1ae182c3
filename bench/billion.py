#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fit, evaluation and application of 10^9 voxels: bench/billion.py SEGCAL [--voxels N] [--memory 512M]

Simulates some cases of two classes and names them again and again until there are so many voxels. Prints the time and the resident memory of
every command, and checks that counts are exact: those of one repetition times the repetitions, to the last voxel.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from repeated import repeat


def resident(program, *arguments):
    """Runs a command; its seconds, its peak of resident memory in MiB, what it printed."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([program, *map(str, arguments), "--quiet"], stdout=printed)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, arguments
        printed.seek(0)
        return time.monotonic() - began, used.ru_maxrss / 1024, printed.read()


def counts(path):
    """Voxels, and labelled ones."""
    result = json.loads(Path(path).read_text())
    return {"voxels": result["voxels"], "labelled": result["labelled"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--voxels", type=float, default=1e9)
    parser.add_argument("--memory", default="512M")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        subprocess.run([given.program, "simulate", work / "few", "--preset", "roads", "--cases", "4", "--classes", "2", "--size", "1024x1024",
                        "--seed", "1", "--quiet"], check=True, capture_output=True)
        once = repeat(work / "few/dataset.json", 1, work / "once/dataset.json")
        times = -(-int(given.voxels) // (4 << 20))
        many = repeat(work / "few/dataset.json", times, work / "many/dataset.json")
        print(f"{times} times {4 << 20} voxels, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}, --memory {given.memory}")
        limit = ["--memory", given.memory]

        def show(what, seconds, peak):
            print(f"{what:<10}{seconds:>9.1f} s{peak:>8.0f} MiB", flush=True)

        fitted = {}
        for name, data in (("once", once), ("many", many)):
            seconds, peak, _ = resident(given.program, "fit", data, "-p", "ts(z)", "-o", work / f"{name}.json", *limit)
            fitted[name] = json.loads((work / f"{name}.json").read_text())
        show("fit", seconds, peak)
        data = {name: model["fit"]["data"] for name, model in fitted.items()}
        assert all(data["many"][key] == times * data["once"][key] for key in ("cases", "voxels", "labelled")), data
        metrics = {}
        for name, data in (("once", once), ("many", many)):
            seconds, peak, _ = resident(given.program, "evaluate", data, "-m", work / "many.json", "--metrics", "nll,ece", "-o",
                                        work / f"metrics_{name}.json", *limit)
            metrics[name] = counts(work / f"metrics_{name}.json")
        show("evaluate", seconds, peak)
        assert all(metrics["many"][key] == times * metrics["once"][key] for key in metrics["once"]), metrics
        seconds, peak, text = resident(given.program, "apply", work / "many.json", many, "-o", work / "out", "--write", "labels", *limit)
        show("apply", seconds, peak)
        assert f"wrote {4 * times} files" in text, text
        print(f"counts exact: {metrics['many']}")


if __name__ == "__main__":
    main()
