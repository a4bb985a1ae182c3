# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime beside the program: exports a model and runs both on the same arrays."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program import apply, describe, run


class Runtime:
    """The worker of onnx_worker.py, started once."""

    def __init__(self, folder):
        worker = Path(__file__).parent / "onnx_worker.py"
        self.process = subprocess.Popen([folder / "env/bin/python", "-B", worker], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, model, inputs, folder):
        """What the checker says of the file, and its outputs."""
        np.savez(folder / "inputs.npz", **inputs)
        request = {"model": str(model), "inputs": str(folder / "inputs.npz"),
                   "outputs": str(folder / "outputs.npz")}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer.get("error")
        with np.load(folder / "outputs.npz") as arrays:
            return answer, {name: arrays[name] for name in arrays.files}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(scope="session", name="environment")
def installed():
    """The folder with onnx and onnxruntime."""
    folder = Path(os.environ["SEGCAL_ONNX"])
    made = subprocess.run([Path(__file__).parent / "onnx_env.sh", folder], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        pytest.skip("onnxruntime cannot be installed: " + made.stderr.strip()[-200:])
    return folder


@pytest.fixture(scope="session", name="runtime")
def started(environment):
    worker = Runtime(environment)
    yield worker
    worker.close()


def export(model, path, *options):
    """Writes the graph of a model with all outputs; returns its path."""
    run("export", model, "-o", path, "--outputs", "probabilities,labels,confidence", *options)
    return path


def applied(model, cases, folder, num_classes, kind="logits", images=None):
    """Probabilities and labels of the program; `cases` are lists of members (C, spatial...)."""
    folder.mkdir(exist_ok=True)
    entries = []
    for k, members in enumerate(cases):
        entry = {"id": f"case{k:03}", "members": []}
        for m, member in enumerate(members):
            entry["members"].append(f"{k}_{m}.npy")
            np.save(folder / entry["members"][-1], member)
        if images is not None:
            entry["image"] = f"{k}_image.npy"
            np.save(folder / entry["image"], np.moveaxis(images[k], 0, -1))
        entries.append(entry)
    dataset = describe(folder, entries, num_classes, input=kind)
    apply(model, dataset, folder / "out", "probabilities,labels")
    return [(np.load(folder / f"out/probabilities/{entry['id']}.npy"),
             np.load(folder / f"out/labels/{entry['id']}.npy")) for entry in entries]
