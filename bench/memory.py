# SPDX-License-Identifier: Apache-2.0
"""memory.py SEGCAL FOLDER: resident memory of `segcal fit` and `segcal evaluate`, far more data than the limit.

FOLDER holds the data of data.py. Prints a line of JSON per command. A process of its own, because a child
counts what its parent had resident when it was started: a parent that holds arrays would hide the child's peak.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import data

LIMIT = 2 << 30
PLAIN_BYTES = 8_000_000_000
# Enough that keeping every decoded case would pass the limit.
PACKED_CASES = 16


def listed(folder, name, members, count):
    """A data set that names the given files in turn until it has `count` cases."""
    dataset = json.loads((folder / "dataset.json").read_text())
    labels = dataset["cases"][0]["labels"]
    cases = [{"id": f"case{k}", "members": [members[k % len(members)]], "labels": labels}
             for k in range(count)]
    data.write(folder / name, dataset, cases)
    return folder / name


def plain(folder):
    """8 GB of .npy files."""
    cases = json.loads((folder / "dataset.json").read_text())["cases"]
    members = [case["members"][0] for case in cases]
    size = (folder / members[0]).stat().st_size
    return listed(folder, "plain.json", members, -(-PLAIN_BYTES // size))


def packed(folder):
    """Deflated .npz files, which have to be decoded as a whole."""
    logits = np.load(folder / "logits0.npy")
    # Eight bits of fraction: deflates like predictions that came from half precision.
    logits.view(np.uint32)[...] &= 0xFFFF8000
    np.savez_compressed(folder / "packed.npz", logits=logits)
    return listed(folder, "packed.json", ["packed.npz"], PACKED_CASES)


def peak_bytes(command):
    """Runs a command to its end and returns the most memory it had resident."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return usage.ru_maxrss * 1024


def measure(segcal, folder):
    """Yields (what, bytes of data, bytes resident)."""
    model = folder / "memory_model.json"
    for kind, make in (("npy", plain), ("deflated npz", packed)):
        path = make(folder)
        cases = len(json.loads(path.read_text())["cases"])
        total = cases * (folder / "logits0.npy").stat().st_size
        flags = ["--memory", "2G", "--quiet", "--cache", folder]
        fit = [segcal, "fit", path, "-p", "ts(z)", "-o", model, *flags]
        evaluate = [segcal, "evaluate", path, "-p", "none(z)", "-m", model, *flags]
        yield f"fit, {cases} cases of {kind}", total, peak_bytes(fit)
        yield f"evaluate, {cases} cases of {kind}", total, peak_bytes(evaluate)


def main():
    segcal, folder = map(Path, sys.argv[1:])
    for what, size, peak in measure(segcal, folder):
        print(json.dumps({"what": what, "bytes": size, "peak": peak}), flush=True)


if __name__ == "__main__":
    main()
