#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make.py PROGRAM FOLDER: small files of a version, and the probabilities that its models gave.

Run once for a version, with its own program, when it is released; what it wrote is never written again.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

CLASSES, HEIGHT, WIDTH, MEMBERS = 3, 8, 9, 2
PIPELINES = ["none(p)", "ts(z)", "ets(p)", "vs(z)", "ms(z)", "ms_c(z)", "dc(p)", "cdc(p)", "cms_ap(z)", "cms_op(p)",
             "irm(z)", "irova(p)", "hist(z)", "meta(z)", "meta_star(z)", "lts(z, epochs=2)", "lts_image(z, epochs=2)",
             "ibts(z, epochs=2)", "selective(z, epochs=2)"]


def members():
    """Two predictions (C, H, W) that need no file: exact in float32."""
    index = np.arange(CLASSES * HEIGHT * WIDTH, dtype=np.int64)
    return [(((index * 7919 + 104729 * m) % 2003 - 1001) / 128).astype(np.float32).reshape(CLASSES, HEIGHT, WIDTH)
            for m in range(MEMBERS)]


def image():
    """The image (H, W, 3) of that case."""
    return (np.arange(HEIGHT * WIDTH * 3) * 31 % 256).astype(np.uint8).reshape(HEIGHT, WIDTH, 3)


def write_case(folder):
    """A data set of that case alone; returns its file."""
    folder.mkdir()
    for m, logits in enumerate(members()):
        np.save(folder / f"m{m}.npy", logits)
    np.save(folder / "image.npy", image())
    content = {"segcal_dataset": 1, "name": "golden", "input": "logits", "classes": ["building", "road", "sky"],
               "cases": [{"id": "one", "members": ["m0.npy", "m1.npy"], "image": "image.npy"}]}
    (folder / "dataset.json").write_text(json.dumps(content))
    return folder / "dataset.json"


def make(program, folder):
    def run(*arguments):
        return subprocess.run([program, *map(str, arguments), "--quiet"], check=True, capture_output=True, text=True,
                              cwd=folder).stdout
    folder.mkdir(parents=True)
    run("simulate", "data", "--preset", "street", "--cases", 4, "--members", MEMBERS, "--classes", CLASSES, "--size",
        "24x32", "--seed", 1)
    case = write_case(folder / "case")
    given = {}
    for pipeline in PIPELINES:
        name = pipeline.partition("(")[0]
        run("fit", "data", "-p", pipeline, "-o", f"{name}.json", "--search", 0)
        run("apply", f"{name}.json", case, "-o", f"out_{name}")
        values = np.load(folder / f"out_{name}" / "one.npy")
        given[name] = [float(f"{value:.9g}") for value in values.ravel()]  # nine digits tell every float32
    (folder / "probabilities.json").write_text(json.dumps(given))
    (folder / "metrics.json").write_text(run("evaluate", "data", "-p", "none(z)", "-m", "ts.json", "--json",
                                             "--metrics", "scores,overlap", "--split", "test"))


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
