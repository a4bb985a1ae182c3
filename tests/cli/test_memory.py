# SPDX-License-Identifier: Apache-2.0
"""Resident memory stays within --memory where many passes over compressed files keep them decoded."""

import subprocess
import sys

import numpy as np

from program import PROGRAM, describe

CLASSES = 12
SHAPE = (400, 500)  # 9.6 MB a case, decoded


def compressed_dataset(folder, cases):
    rng = np.random.default_rng(3)
    folder.mkdir()
    entries = []
    for k in range(cases):
        # Few distinct values: quick to compress.
        logits = rng.integers(-6, 7, (CLASSES, *SHAPE), dtype=np.int8).astype(np.float32)
        labels = np.argmax(0.3 * logits + rng.gumbel(size=logits.shape), axis=0).astype(np.uint8)
        np.savez_compressed(folder / f"case{k}.npz", logits=logits)
        np.save(folder / f"case{k}_labels.npy", labels)
        entries.append({"id": f"case{k}", "members": [f"case{k}.npz"], "labels": f"case{k}_labels.npy"})
    return describe(folder, entries, CLASSES)


# A process counts as its own what the one it was forked from held, so a small one stands between.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_memory(*arguments):
    """The largest resident memory of a command, in bytes."""
    command = [sys.executable, "-c", MEASURE, str(PROGRAM), *map(str, arguments)]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout) * 1024


def test_cross_validation_stays_within_its_memory(tmp_path):
    dataset = compressed_dataset(tmp_path / "data", cases=12)  # 115 MB in all
    for megabytes in (128, 256):
        peak = peak_memory("fit", dataset, "-p", "dc(z)", "--search", 2, "--threads", 2, "-o",
                           tmp_path / "model.json", "--quiet", "--memory", f"{megabytes}M")
        # The program and its libraries take some 30 MB of their own.
        assert peak < (megabytes + 30) * 2**20, f"{peak / 2**20:.0f} MiB of {megabytes}"
