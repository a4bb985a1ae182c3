# SPDX-License-Identifier: Apache-2.0
"""Small predictions with labels drawn from them, and the program to compare with."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

PROGRAM = Path(os.environ.get("SEGCAL_PROGRAM", "segcal"))
SOURCE = Path(os.environ.get("SEGCAL_SOURCE", Path(__file__).resolve().parents[2]))


def draw(shape, seed=0, temperature=2.0, scale=3.0, axis=1, dtype=np.float32):
    """Logits of a shape and labels whose true temperature is known; `axis` is that of the classes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, scale, shape).astype(dtype)
    noisy = logits.astype(np.float64) / temperature + rng.gumbel(size=shape)
    return logits, noisy.argmax(axis).astype(np.uint8)


def softmax(logits, axis):
    """In double."""
    shifted = np.asarray(logits, np.float64)
    shifted = np.exp(shifted - shifted.max(axis, keepdims=True))
    return shifted / shifted.sum(axis, keepdims=True)


def run(*arguments):
    """Runs the program; returns what it prints."""
    return subprocess.run([str(PROGRAM), *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def write_dataset(folder, logits, labels, splits=None, **fields):
    """The arrays of a batch as files, with the data set file that describes them."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for i, (image, truth) in enumerate(zip(logits, labels)):
        np.save(folder / f"z{i}.npy", image)
        np.save(folder / f"y{i}.npy", truth)
        cases.append({"id": str(i), "members": [f"z{i}.npy"], "labels": f"y{i}.npy"})
        if splits:
            cases[-1]["split"] = splits[i]
    content = {"segcal_dataset": 1, "name": "", "input": "logits",
               "classes": [f"class_{c}" for c in range(logits[0].shape[0])], "cases": cases, **fields}
    (folder / "dataset.json").write_text(json.dumps(content))
    return folder / "dataset.json"
