# SPDX-License-Identifier: Apache-2.0
"""The data the benchmarks run on: simulated street scenes of Cityscapes' size."""

import json
import shutil
import subprocess

import numpy as np

CLASSES = 20
SIZE = (1024, 2048)  # planes a power of two apart: the hardest case for caches
CASES = 7  # 1.09 GiB of float32


def make(segcal, folder, classes=CLASSES, cases=CASES, *options):
    """Simulates one case and copies it; for time and memory it does not matter that they are alike."""
    size = "x".join(map(str, SIZE))
    subprocess.run(
        [segcal, "simulate", folder, "--preset", "street", "--classes", str(classes), "--size", size,
         "--cases", "1", "--quiet", *options],
        check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(folder / "truth")
    dataset = json.loads((folder / "dataset.json").read_text())
    first = dataset["cases"][0]
    copies = []
    for k in range(cases):
        case = {"id": f"case{k}", "members": [f"logits{k}.npy"], "labels": f"labels{k}.png"}
        shutil.copyfile(folder / first["members"][0], folder / case["members"][0])
        shutil.copyfile(folder / first["labels"], folder / case["labels"])
        copies.append(case)
    shutil.rmtree(folder / "logits")
    write(folder / "dataset.json", dataset, copies)


def write(path, dataset, cases):
    """A data set file with other cases."""
    path.write_text(json.dumps({**dataset, "cases": cases}, indent=1))


def load(folder):
    """Logits, labels and the ignore label, in memory."""
    from PIL import Image  # only here: the memory measurement does without

    dataset = json.loads((folder / "dataset.json").read_text())
    cases = dataset["cases"]
    logits = np.stack([np.load(folder / c["members"][0]) for c in cases])
    labels = np.stack([np.asarray(Image.open(folder / c["labels"])) for c in cases])
    return logits, labels, dataset["ignore_label"]
