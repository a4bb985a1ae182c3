# SPDX-License-Identifier: Apache-2.0
"""The table of S2 (ECE, MCE, SCE, ACE in All, Boundary and patches) is what NumPy makes of the emitted arrays."""

import math

import numpy as np
import pytest
import reference
from agreement import agree
from program import apply, describe, evaluate, fit, save_case
from test_spatial_metrics import Case, smooth_case

CLASSES, BINS, PATCH, COUNT, SEED = 4, 10, 16, 7, 5
PATCHES = ["--set", f"patch={PATCH}", "--set", f"patches={COUNT}", "--set", f"patch_seed={SEED}"]


def write(folder):
    """2-D, 3-D, logits in steps so that confidences tie, one label throughout."""
    rng = np.random.default_rng(3)
    entries = []
    for k, shape in enumerate([(60, 70), (9, 25, 28), (50, 45), (30, 30)]):
        logits, labels = smooth_case(rng, shape, CLASSES)
        if k == 2:
            logits = np.rint(logits).astype(np.float32)
        if k == 3:
            labels[:] = 2
        entries.append(save_case(folder, f"case{k}", [logits], labels))
    return describe(folder, entries, CLASSES, background=0)


def equal_width(x, gap, which):
    """1/n sum of |sum of gaps| over classes and bins of equal width."""
    keys = which * BINS + reference.closed_above(x, BINS)
    return np.abs(np.bincount(keys, weights=gap)).sum() / x.size


def percentile(x, gap, which):
    """The same with bins cut at percentiles."""
    edges = np.percentile(x.astype(float), np.linspace(0, 100, BINS + 1)[1:-1])
    keys = which * BINS + np.searchsorted(edges, x.astype(float), side="left")
    return np.abs(np.bincount(keys, weights=gap)).sum() / x.size


def equal_mass(x, gap, which):
    """Mean over labels and bins of n/R voxels of |mean gap|; ties belong to bins in proportion."""
    _, run, size = np.unique(x, return_inverse=True, return_counts=True)
    first = (np.cumsum(size) - size)[run]
    last = first + size[run]
    edges = np.arange(BINS + 1) * x.size // BINS
    sum_of_gaps = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        share = (np.minimum(last, high) - np.maximum(first, low)).clip(min=0) / size[run]
        mass = np.bincount(which, weights=share, minlength=CLASSES)
        gaps = np.bincount(which, weights=share * gap, minlength=CLASSES)
        sum_of_gaps += np.abs(gaps[mass > 0] / mass[mass > 0]).sum()
    return sum_of_gaps / (CLASSES * BINS)


def class_errors(case, inside, form):
    """SCE and ACE of some voxels."""
    inside = inside & (case.labels >= 0)
    if not inside.any():
        return math.nan, math.nan
    x, gap = case.confidence[inside], case.gap()[inside]
    if form == "code":
        which = case.predicted[inside]
        return equal_width(x, gap, which), percentile(x, gap, which)
    which = case.labels[inside]
    return equal_width(x, gap, which) / CLASSES, equal_mass(x, gap, which)


def table(case, form):
    """All sixteen numbers, and those of the whole image as printed."""
    near = reference.boundary(case.labels) <= 4
    regions = {"boundary": near, "all": near | (case.labels != 0)}
    numbers = {}
    numbers["sce_f5"], numbers["adaptive_ece_f6"] = class_errors(case, case.labels >= 0, "printed")
    numbers["ece_non_boundary"] = case.errors(~near & (case.labels != 0))[0]
    for name, inside in regions.items():
        numbers[f"ece_{name}"], numbers[f"mce_{name}"] = case.errors(inside)
        numbers[f"sce_{name}"], numbers[f"adaptive_{name}"] = class_errors(case, inside, form)
    patches = np.array([class_errors(case, inside, form)
                        for inside in case.patches(PATCH, COUNT, SEED)])
    for k, name in enumerate(("sce", "adaptive")):
        numbers[f"{name}_local_avg"] = np.nanmean(patches[:, k])
        numbers[f"{name}_local_max"] = np.nanmax(patches[:, k])
    return {**numbers, **case.local_numbers(PATCH, COUNT, SEED)}


@pytest.fixture(scope="module", name="emitted")
def emitted_once(tmp_path_factory):
    """The data set, a model, and the oracle's cases."""
    folder = tmp_path_factory.mktemp("regional")
    dataset = write(folder)
    fit(dataset, "ts(z)", folder / "model.json")
    out = apply(folder / "model.json", dataset, folder / "out")
    content, root = reference.load_dataset(dataset)
    cases = [Case(root, {"spacing": None, **entry}, np.load(out / f"{entry['id']}.npy"))
             for entry in content["cases"]]
    return dataset, folder / "model.json", cases


@pytest.mark.parametrize("form", ["code", "printed"])
def test_the_table_of_every_case(emitted, form):
    dataset, model, cases = emitted
    result = evaluate(dataset, "-m", model, "--metrics", "s2", "--set", f"regional_form={form}",
                      *PATCHES)["pipelines"][0]
    names = set()
    for row, case in zip(result["metric_per_case"], cases):
        for name, value in table(case, form).items():
            agree(row["metrics"][name], value, (row["case"], name))
            names.add(name)
    assert len(names) == 16 + 3
    # Of the case with one label nothing is near a boundary.
    assert result["metric_per_case"][3]["metrics"]["sce_boundary"] is None


def test_a_set_of_metrics_leaves_options_to_who_gives_them(emitted):
    """Ten bins throughout, unless others are asked for."""
    dataset, model, cases = emitted
    ten = evaluate(dataset, "-m", model, "--metrics", "s2,ece")["pipelines"][0]
    plain = evaluate(dataset, "-m", model, "--metrics", "ece", "--set", "bins=10")["pipelines"][0]
    fifty = evaluate(dataset, "-m", model, "--metrics", "s2,ece", "--set", "bins=50")["pipelines"][0]
    assert ten["mean"]["ece"] == plain["mean"]["ece"]
    assert ten["mean"]["ece"] != fifty["mean"]["ece"]
    assert len(cases) == 4
