# SPDX-License-Identifier: Apache-2.0
"""Two cases, one to fit on and one to apply to, with what the program emits for them."""

import json

import numpy as np
from program import apply, describe, fit, random_case, save_case


class CalibrationCase:
    """Logits, labels and emitted softmax of a calibration and a test case; (C, n) and (n,)."""

    def __init__(self, folder, num_classes, size=(50, 60), seed=3, noise=0.0, scale=2.5):
        rng = np.random.default_rng(seed)
        self.folder, self.num_classes = folder, num_classes
        self.logits, self.labels, entries = {}, {}, []
        for split in ("calibration", "test"):
            members, labels = random_case(rng, num_classes, size, scale=scale, dtype=np.float32)
            wrong = (rng.random(size) < noise) & (labels != 255)
            labels[wrong] = rng.integers(0, num_classes, wrong.sum())
            entries.append(save_case(folder, split, members, labels, split=split))
            self.logits[split] = members[0].reshape(num_classes, -1).astype(np.float64)
            flat = labels.ravel().astype(np.int64)
            self.labels[split] = np.where(flat == 255, -1, flat)
        self.dataset = describe(folder, entries, num_classes)
        fit(self.dataset, "none(z)", folder / "none.json")
        self.probs = self.emitted("none")

    def fit(self, pipeline, name):
        """Fits a model on the calibration case; returns the content of its file."""
        return fit(self.dataset, pipeline, self.folder / f"{name}.json")

    def emitted(self, name):
        """Probabilities that the model emits, by case, float32 in double."""
        out = apply(self.folder / f"{name}.json", self.dataset, self.folder / f"out_{name}")
        return {split: np.load(out / f"{split}.npy").reshape(self.num_classes, -1)
                .astype(np.float64) for split in ("calibration", "test")}

    def labelled(self, array, split="calibration"):
        """The columns of labelled voxels."""
        return array[..., self.labels[split] >= 0]

    def parameters(self, name):
        """The parameters of a fitted model."""
        return json.loads((self.folder / f"{name}.json").read_text())["parameters"]


def renormalised(values, probs):
    """Rows (here columns) divided by their sums; the input where the sum is zero."""
    total = values.sum(axis=0)
    return np.where(total > 0.0, values / np.where(total > 0.0, total, 1.0), probs)
