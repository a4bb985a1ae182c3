# SPDX-License-Identifier: Apache-2.0
"""Runs the segcal program the way a person does, and writes data sets for it with NumPy."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

PROGRAM = Path(os.environ.get("SEGCAL_PROGRAM", "segcal"))


def run(*arguments, code=0, cwd=None, env=None, timeout=120):
    """Runs a command and checks its exit code; standard output and error are text."""
    command = [str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd,
                          errors="replace", env={**os.environ, **(env or {})}, timeout=timeout)
    assert done.returncode == code, f"{command}\nexit {done.returncode}, {code} expected\n" \
                                    f"{done.stdout}\n{done.stderr}"
    return done


def fails(code, *arguments, **options):
    """Runs a command that must fail with this exit code, cleanly; returns what it says."""
    done = run(*arguments, code=code, **options)
    assert done.stdout == "", "results of a failed command"
    assert done.stderr.strip() != ""
    assert "internal error" not in done.stderr
    return done.stderr


def fit(dataset, pipeline, model, *options):
    """Fits a model file and returns its content."""
    run("fit", dataset, "-p", pipeline, "-o", model, "--quiet", *options)
    return json.loads(Path(model).read_text())


def evaluate(dataset, *options):
    """The metrics file of `evaluate`, as written by --json."""
    return json.loads(run("evaluate", dataset, "--json", "--quiet", *options).stdout)


def inspect(path, *options):
    """The summary of `inspect`, as written by --json."""
    return json.loads(run("inspect", path, "--json", "--quiet", *options).stdout)


def apply(model, dataset, folder, write="probabilities", file_format="npy", *options):
    """Writes outputs of a model and returns the folder."""
    run("apply", model, dataset, "-o", folder, "--write", write, "--format", file_format, "--quiet",
        *options)
    return Path(folder)


def describe(folder, cases, num_classes, name="dataset.json", **fields):
    """Writes a data set file about existing files; `cases` are its entries."""
    dataset = {"segcal_dataset": 1, "name": "test", "input": "logits", "ignore_label": 255,
               "background": None, "classes": [f"c{k}" for k in range(num_classes)], **fields,
               "cases": cases}
    path = Path(folder) / name
    path.write_text(json.dumps(dataset))
    return path


def save_case(folder, case_id, members, labels=None, mask=None, save=np.save, **fields):
    """Saves the arrays of one case as .npy and returns its entry of a data set file."""
    folder = Path(folder)
    entry = {"id": case_id, "members": [], **fields}
    for k, member in enumerate(members):
        entry["members"].append(f"{case_id}_m{k}.npy")
        save(folder / entry["members"][-1], member)
    for kind, array in (("labels", labels), ("mask", mask)):
        if array is not None:
            entry[kind] = f"{case_id}_{kind}.npy"
            np.save(folder / entry[kind], array)
    return entry


def random_case(rng, num_classes, shape, num_members=1, scale=2.5, dtype=np.float16, ignored=0.1):
    """Random logits whose true labels are drawn from them, some ignored (255)."""
    common = rng.normal(0.0, scale, (num_classes, *shape))
    noise = [rng.normal(0.0, 0.5, common.shape) if num_members > 1 else 0.0
             for _ in range(num_members)]
    members = [(common + part).astype(dtype) for part in noise]
    mean = sum(member.astype(np.float64) for member in members) / num_members
    labels = np.argmax(0.7 * mean + rng.gumbel(size=mean.shape), axis=0).astype(np.uint8)
    labels[rng.random(shape) < ignored] = 255
    return members, labels


def small_dataset(folder, num_cases=3, num_classes=4, shape=(20, 30), num_members=1, seed=1,
                  **fields):
    """A small labelled data set; returns its file."""
    rng = np.random.default_rng(seed)
    Path(folder).mkdir(parents=True, exist_ok=True)
    cases = []
    for k in range(num_cases):
        members, labels = random_case(rng, num_classes, shape, num_members)
        cases.append(save_case(folder, f"case{k}", members, labels))
    return describe(folder, cases, num_classes, **fields)


def change(dataset, edit):
    """Edits a data set file in place: `edit` changes the decoded content."""
    content = json.loads(Path(dataset).read_text())
    edit(content)
    Path(dataset).write_text(json.dumps(content))
    return dataset
