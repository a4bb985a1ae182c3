# SPDX-License-Identifier: Apache-2.0
"""Simulated data sets, and the voxels a fit sees in them, as NumPy arrays."""

import json

import nibabel
import numpy as np
import reference
from PIL import Image
from program import run


def read_labels(path):
    """Labels of a PNG or NIfTI file as int64, C order; 255 becomes -1."""
    if path.suffix == ".png":
        labels = np.asarray(Image.open(path)).astype(np.int64)
    else:
        labels = np.asarray(nibabel.load(path).dataobj).T.astype(np.int64)
    return np.where(labels == 255, -1, labels)


def calibration_voxels(folder, pooling="z", split="calibration"):
    """Pooled logits (C, n), labels (n,) and posterior (C, n) of the labelled voxels of a split."""
    content, folder = reference.load_dataset(folder)
    parts = []
    for case in content["cases"]:
        if case["split"] != split:
            continue
        members = [np.load(folder / member) for member in case["members"]]
        labels = read_labels(folder / case["labels"])
        own = labels >= 0
        logits = reference.pool(members, pooling, content["input"])[0]
        truth = np.load(folder / "truth" / f"{case['id']}.npy").astype(np.float64)
        parts.append((logits[:, own], labels[own], truth[:, own]))
    return tuple(np.concatenate([part[k] for part in parts], axis=-1) for k in range(3))


def simulate(folder, *options):
    """A simulated data set, all cases for calibration, labels drawn independently."""
    run("simulate", folder, "--quiet", "--seed", 5, *options)
    content, _ = reference.load_dataset(folder)
    for case in content["cases"]:
        case["split"] = "calibration"
    (folder / "dataset.json").write_text(json.dumps(content))
    return folder
