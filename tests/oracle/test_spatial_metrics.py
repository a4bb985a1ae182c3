# SPDX-License-Identifier: Apache-2.0
"""Metrics that know where voxels lie are what SciPy makes of the emitted arrays."""

import math

import calibration
import numpy as np
import pytest
import reference
from agreement import agree
from program import apply, describe, evaluate, fit, save_case
from random_stream import Stream
from scipy.ndimage import gaussian_filter
from test_spatial import scores

def smooth_case(rng, shape, classes):
    """Regions, and logits that mostly know them."""
    fields = np.stack([gaussian_filter(rng.normal(size=shape), 3) for _ in range(classes)])
    fields /= fields.std()
    labels = fields.argmax(axis=0)
    logits = (2 * fields + rng.normal(size=fields.shape)).astype(np.float32)
    return logits, np.where(rng.random(shape) < 0.03, 255, labels).astype(np.uint8)


def write(folder, seed=1):
    """2-D, 3-D with spacing, a single slice, one label throughout, a mask."""
    rng = np.random.default_rng(seed)
    entries = []
    for k, (shape, spacing) in enumerate([((90, 100), [1.0, 1.0]), ((12, 30, 33), [3.0, 0.8, 0.9]),
                                          ((1, 40, 45), [4.0, 0.5, 0.5]), ((35, 30), [1.0, 2.0])]):
        logits, labels = smooth_case(rng, shape, 4)
        mask = None
        if k == 1:
            mask = np.ones(shape, np.uint8)
            mask[:, :9] = 0
        if k == 3:
            labels = np.where(labels == 255, labels, 2).astype(np.uint8)
        labels[labels == 3] = 0 if k == 0 else 3  # class 3 is predicted only
        entries.append(save_case(folder, f"case{k}", [logits], labels, mask, spacing=spacing))
    return describe(folder, entries, 4, background=0)


class Case:
    """One case as the oracle sees it."""

    def __init__(self, root, entry, probs):
        labels = np.load(root / entry["labels"]).astype(np.int64)
        labels[labels == 255] = -1
        if "mask" in entry:
            labels[np.load(root / entry["mask"]) == 0] = -1
        self.labels, self.spacing = labels, entry["spacing"]
        self.predicted = reference.predicted(probs.reshape(len(probs), -1)).reshape(labels.shape)
        self.confidence = probs.max(axis=0)

    def gap(self):
        return self.confidence.astype(float) - (self.predicted == self.labels)

    def errors(self, inside):
        """ECE and largest gap in ten bins, closed above."""
        inside = inside & (self.labels >= 0)
        if not inside.any():
            return math.nan, math.nan
        bins = reference.closed_above(self.confidence[inside], 10)
        sums = np.abs(np.bincount(bins, weights=self.gap()[inside], minlength=10))
        counts = np.bincount(bins, minlength=10)
        return sums.sum() / counts.sum(), (sums[counts > 0] / counts[counts > 0]).max()

    def local_numbers(self, patch, count, seed):
        found = np.array([self.errors(inside) for inside in self.patches(patch, count, seed)])
        (ece_avg, mce_avg), (ece_max, mce_max) = np.nanmean(found, axis=0), np.nanmax(found, axis=0)
        return {"ece_local_avg": ece_avg, "ece_local_max": ece_max, "mce_local_avg": mce_avg,
                "mce_local_max": mce_max}

    def patches(self, side, count, seed):
        stream = Stream(seed, 0)
        shape = (1,) * (3 - self.labels.ndim) + self.labels.shape
        for _ in range(count):
            inside = np.zeros(shape, bool)
            corner = [(stream.below(n - min(side, n) + 1), min(side, n)) for n in shape]
            inside[tuple(slice(first, first + extent) for first, extent in corner)] = True
            yield inside.reshape(self.labels.shape)

    def boundary_numbers(self):
        """The family boundary_ece with bands in units of the spacing."""
        own = self.labels >= 0
        labels = self.labels[own]
        return calibration.by_distance(self.confidence[own], self.predicted[own] == labels,
                                       reference.boundary(self.labels)[own], labels == 0,
                                       reference.RULE,
                                       reference.boundary_lengths(self.labels, self.spacing)[own])

    def surface_numbers(self, tolerance):
        """Per class, by name."""
        kept = [n > 1 for n in self.labels.shape]
        spacing = np.array(self.spacing)[kept]
        diagonal = np.linalg.norm(np.array(self.labels.shape)[kept] * spacing)
        numbers = []
        for c in range(4):
            truth, found = (np.squeeze((x == c) & (self.labels >= 0))
                            for x in (self.labels, self.predicted))
            if truth.any() and found.any():
                numbers.append(scores(truth, found, spacing, tolerance))
                continue
            far, dice = (diagonal, 0.0) if truth.any() or found.any() else (math.nan, 1.0)
            numbers.append({"asd": far, "hd": far, "hd95": far, "md95": far, "nsd": dice,
                            "surface_dice": dice})
        return {name: [row[name] for row in numbers] for name in numbers[0]}


@pytest.fixture(scope="module", name="evaluated")
def evaluated_once(tmp_path_factory):
    """Rows of the metrics file and the oracle's cases."""
    folder = tmp_path_factory.mktemp("spatial")
    dataset = write(folder)
    fit(dataset, "ts(z)", folder / "model.json")
    out = apply(folder / "model.json", dataset, folder / "out")
    content, root = reference.load_dataset(dataset)
    cases = [Case(root, entry, np.load(out / f"{entry['id']}.npy"))
             for entry in content["cases"]]
    result = evaluate(dataset, "-m", folder / "model.json", "--metrics",
                      "local,surface,boundary_ece", "--set", "distance=physical", "--set", "patch=16", "--set", "patches=7",
                      "--set", "patch_seed=5", "--set", "tolerance=1.5")
    return result["pipelines"][0], cases


def test_patches(evaluated):
    result, cases = evaluated
    for row, case in zip(result["metric_per_case"], cases):
        for name, value in case.local_numbers(16, 7, 5).items():
            agree(row["metrics"][name], value, (row["case"], name))


def test_bands_of_physical_distance(evaluated):
    result, cases = evaluated
    for row, case in zip(result["metric_per_case"], cases):
        for name, value in case.boundary_numbers().items():
            agree(row["metrics"][name], value, (row["case"], name))
    # In voxels the same volume has other bands.
    anisotropic = cases[1]
    in_voxels = reference.boundary(anisotropic.labels)
    in_units = reference.boundary_lengths(anisotropic.labels, anisotropic.spacing)
    assert np.any((in_units >= 3.0) & (in_voxels < 9.0))


def test_surfaces(evaluated):
    result, cases = evaluated
    for row, case in zip(result["metric_per_case"], cases):
        for name, values in case.surface_numbers(1.5).items():
            for c, value in enumerate(values):
                agree(row["per_class"][name][c], value, (row["case"], name, c))
            agree(row["metrics"][name], np.nanmean(values[1:]), (row["case"], name))


def test_means_over_cases(evaluated):
    result, cases = evaluated
    expected = [case.local_numbers(16, 7, 5) for case in cases]
    for name in expected[0]:
        value = np.mean([numbers[name] for numbers in expected])
        agree(result["mean"][name], value, name)
        agree(result["pooled"][name], value, name)
