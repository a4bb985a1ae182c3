# SPDX-License-Identifier: Apache-2.0
"""Every number of `evaluate` is what NumPy computes from the arrays `apply` emits."""

import math

import calibration
import numpy as np
import pytest
import reference
from agreement import agree
from program import apply, describe, evaluate, fit, random_case, save_case
from sklearn.metrics import confusion_matrix, f1_score, jaccard_score, log_loss


# Numbers of test_spatial_metrics.py and test_regional.py, which know where voxels lie.
ELSEWHERE = {"ece_local_avg", "ece_local_max", "mce_local_avg", "mce_local_max", "asd", "hd", "hd95",
             "md95", "nsd", "surface_dice", "sce_f5", "adaptive_ece_f6",
             *(f"{name}_{region}" for name in ("sce", "adaptive")
               for region in ("all", "boundary", "local_avg", "local_max"))}


def agree_all(found, expected, what):
    """The same for a dictionary of numbers, with the same names."""
    assert set(found) - ELSEWHERE == set(expected)
    for name, value in expected.items():
        agree(found[name], value, (what, name))


class Emitted:
    """Arrays of one data set as the program emits them and as the oracle pools them."""

    def __init__(self, dataset, model, folder, pooling, write="probabilities,log_label"):
        content, root = reference.load_dataset(dataset)
        out = apply(model, dataset, folder, write)
        self.background = content["background"]
        self.num_classes = len(content["classes"])
        self.ids, self.cases = [], []
        for case in content["cases"]:
            members = [np.load(root / member) for member in case["members"]]
            logits, decision = reference.pool(members, pooling, content["input"])
            labels = np.load(root / case["labels"]).astype(np.int64)
            labels[labels == content["ignore_label"]] = -1
            if "mask" in case:
                labels[np.load(root / case["mask"]) == 0] = -1
            probs = np.load(out / "probabilities" / f"{case['id']}.npy")
            assert probs.dtype == np.float32 and probs.shape == members[0].shape
            log_label = np.load(out / "log_label" / f"{case['id']}.npy")
            self.ids.append(case["id"])
            self.cases.append((probs.reshape(self.num_classes, -1), log_label.ravel(),
                               labels.ravel(), decision.ravel(),
                               reference.free_energy_of(logits).ravel(),
                               reference.boundary(labels).ravel()))

    def pooled(self):
        return tuple(np.concatenate([case[k] for case in self.cases], axis=-1) for k in range(6))

    def metrics(self, arrays, **options):
        return reference.metrics(*arrays, background=self.background, **options)


def check(result, emitted, **options):
    """Compares one pipeline of a metrics file with the oracle: cases, mean, pooled, reliability."""
    per_case = [emitted.metrics(case, **options) for case in emitted.cases]
    assert [row["case"] for row in result["metric_per_case"]] == emitted.ids
    for row, expected in zip(result["metric_per_case"], per_case):
        if expected is None:
            assert set(row["metrics"].values()) == {None}
            continue
        agree_all(row["metrics"], expected[0], row["case"])
        for name, values in expected[1].items():
            for found, value in zip(row["per_class"][name], values, strict=True):
                agree(found, value, (row["case"], name))
    pooled, pooled_per_class = emitted.metrics(emitted.pooled(), pooled=True, **options)
    agree_all(result["pooled"], pooled, "pooled")
    for name, values in pooled_per_class.items():
        for found, value in zip(result["pooled_per_class"][name], values, strict=True):
            agree(found, value, name)
    defined = [case for case in per_case if case is not None]
    means = {name: reference.mean([values[name] for values, _ in defined]) for name in pooled}
    means["ace"] = pooled["ace"]
    agree_all(result["mean"], means, "mean")
    for name in pooled_per_class:
        values = np.array([per_class[name] for _, per_class in defined])
        for c, found in enumerate(result["mean_per_class"][name]):
            agree(found, reference.mean(values[:, c]), (name, c))
    if "edges" not in options and "foreground" not in options:
        check_reliability(result["reliability"], emitted.pooled(), options.get("bins", 50))
    check_confusion(result["confusion"], emitted.pooled())


def check_confusion(matrix, pooled):
    """Rows are labels, columns predictions."""
    probs, _, labels, *_ = pooled
    own = labels >= 0
    classes = range(probs.shape[0])
    expected = confusion_matrix(labels[own], reference.predicted(probs)[own], labels=classes)
    assert np.array_equal(matrix, expected)


def check_reliability(rows, pooled, bins):
    """Counts are integers and equal; sums of float32 confidences too."""
    probs, _, labels, *_ = pooled
    own = labels >= 0
    confidence, correct = probs[:, own].max(axis=0), reference.predicted(probs)[own] == labels[own]
    which = reference.closed_above(confidence, bins)
    assert len(rows) == bins
    for k, row in enumerate(rows):
        assert row["count"] == np.sum(which == k)
        assert row["correct"] == np.sum(correct[which == k])
        agree(row["confidence_sum"], math.fsum(confidence[which == k].tolist()), k)


def compare(tmp_path, dataset, pipeline, *options, **oracle_options):
    """Fits a pipeline, emits and evaluates with it, and compares."""
    fit(dataset, pipeline, tmp_path / "model.json")
    pooling = pipeline[:-1].split("(")[1]
    emitted = Emitted(dataset, tmp_path / "model.json", tmp_path / "out", pooling)
    result = evaluate(dataset, "-m", tmp_path / "model.json", *options)
    assert result["labelled"] == sum((case[2] >= 0).sum() for case in emitted.cases)
    assert result["voxels"] == sum(case[2].size for case in emitted.cases)
    check(result["pipelines"][0], emitted, **oracle_options)
    return result["pipelines"][0]


def write_cases(folder, num_classes, shapes, num_members=1, seed=2, masked=(), **fields):
    """A random data set; the cases numbered in `masked` have a mask."""
    rng = np.random.default_rng(seed)
    entries = []
    for k, shape in enumerate(shapes):
        members, labels = random_case(rng, num_classes, shape, num_members)
        mask = (rng.random(shape) < 0.7).astype(np.uint8) if k in masked else None
        entries.append(save_case(folder, f"case{k}", members, labels, mask))
    return describe(folder, entries, num_classes, **fields)


@pytest.mark.parametrize("pipeline", ["ts(z)", "none(z)", "none(z0)"])
def test_2d_cases_with_ignored_and_masked_voxels(tmp_path, pipeline):
    dataset = write_cases(tmp_path, 7, [(70, 131), (9, 11), (1, 1), (64, 64)], masked=[0, 3])
    compare(tmp_path, dataset, pipeline)


@pytest.mark.parametrize("num_classes", [2, 3, 21])
def test_3d_cases_with_a_background(tmp_path, num_classes):
    dataset = write_cases(tmp_path, num_classes, [(5, 17, 33), (8, 8, 8)], masked=[1], background=0)
    compare(tmp_path, dataset, "ts(z)")


def test_many_classes(tmp_path):
    compare(tmp_path, write_cases(tmp_path, 150, [(30, 40)]), "none(z)")


def test_other_numbers_of_bins_and_skipped_absent_classes(tmp_path):
    dataset = write_cases(tmp_path, 5, [(30, 40), (12, 50)], background=2)
    compare(tmp_path, dataset, "ts(z)", "--set", "bins=13", "--set", "ace_bins=7",
            "--set", "absent=skip", bins=13, ace_bins=7, absent="skip")


@pytest.mark.parametrize("absent", ["one", "skip"])
def test_classes_that_are_absent_from_labels_prediction_or_both(tmp_path, absent):
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(5, 20, 20)).astype(np.float16)
    logits[3:] -= 60.0  # never predicted
    labels = rng.integers(0, 4, (20, 20)).astype(np.uint8)  # 4 is in neither, 3 only in the labels
    labels[labels == 1] = 0  # 1 only in the prediction
    entries = [save_case(tmp_path, "a", [logits], labels),
               save_case(tmp_path, "b", [logits[:, 3:]], labels[3:])]
    dataset = describe(tmp_path, entries, 5, background=4)
    result = compare(tmp_path, dataset, "none(z)", "--set", f"absent={absent}", absent=absent)
    dice = result["mean_per_class"]["dsc"]
    assert dice[1] == dice[3] == 0.0 and dice[4] == (1.0 if absent == "one" else None)
    assert result["mean_per_class"]["miou"][4] is None


def test_a_case_without_labelled_voxels_is_null_and_left_out_of_means(tmp_path):
    rng = np.random.default_rng(6)
    members, labels = random_case(rng, 3, (25, 25))
    entries = [save_case(tmp_path, "empty", members, np.full_like(labels, 255)),
               save_case(tmp_path, "full", members, labels),
               save_case(tmp_path, "masked", members, labels, np.zeros_like(labels))]
    result = compare(tmp_path, describe(tmp_path, entries, 3), "none(z)")
    assert result["metric_per_case"][0]["metrics"]["nll"] is None
    assert result["metric_per_case"][2]["metrics"]["dsc"] is None
    assert result["mean"]["nll"] == result["metric_per_case"][1]["metrics"]["nll"]


def test_one_class_is_certain_and_right(tmp_path):
    logits = np.random.default_rng(1).normal(size=(1, 9, 7)).astype(np.float32)
    entries = [save_case(tmp_path, "a", [logits], np.zeros((9, 7), np.uint8))]
    result = compare(tmp_path, describe(tmp_path, entries, 1), "none(z)")["pooled"]
    assert result["nll"] == result["ece"] == result["brier"] == 0.0
    assert result["accuracy"] == result["confidence"] == 1.0


def test_confidences_on_and_beside_the_edges_of_bins(tmp_path):
    """Two-class probabilities a few float32 steps around every edge of ece and ace."""
    edges = [k / 50 for k in range(26, 51)] + [k * (1.0 + 1e-8) / 15 for k in range(8, 15)]
    steps = 1.0 + np.arange(-12, 13) * 2.0**-24
    top = np.minimum(np.outer(edges, steps).ravel(), 1.0)
    probs = np.stack([top, 1.0 - top])
    labels = (np.arange(top.size) % 3 == 0).astype(np.uint8)
    entries = [save_case(tmp_path, "a", [probs], labels)]
    dataset = describe(tmp_path, entries, 2, input="probabilities")
    compare(tmp_path, dataset, "none(z)")
    emitted = np.load(tmp_path / "out" / "probabilities" / "a.npy")[0]
    on_edge = np.isin(np.float32([k / 50 for k in range(26, 51)]), emitted)
    assert on_edge.sum() >= 20, "few confidences lie on an edge: the test shows little"


def test_ties_of_the_prediction_are_not_flips(tmp_path):
    rng = np.random.default_rng(8)
    logits = rng.integers(0, 3, (4, 30, 30)).astype(np.float16)  # ties at most voxels
    labels = rng.integers(0, 4, (30, 30)).astype(np.uint8)
    entries = [save_case(tmp_path, "a", [logits], labels)]
    for pipeline in ("none(z)", "ts(z)", "none(p)"):
        result = compare(tmp_path, describe(tmp_path, entries, 4), pipeline)["pooled"]
        assert result["flip_rate"] == 0.0
        assert result["accuracy"] == np.mean(logits.argmax(axis=0) == labels)


@pytest.mark.parametrize("pipeline", ["ts(z)", "none(z2)", "ts(p)"])
@pytest.mark.parametrize("num_members", [3, 4])
def test_pooled_members(tmp_path, pipeline, num_members):
    dataset = write_cases(tmp_path, 4, [(40, 50)], num_members=num_members)
    result = compare(tmp_path, dataset, pipeline)["pooled"]
    # Mean probabilities sum to one: their free energy is nothing but rounding.
    assert (abs(result["free_energy_mean"]) < 1e-7) == (pipeline == "ts(p)")


def test_agrees_with_scikit_learn(tmp_path):
    dataset = write_cases(tmp_path, 6, [(50, 60)])
    result = compare(tmp_path, dataset, "ts(z)")["pooled"]
    emitted = Emitted(dataset, tmp_path / "model.json", tmp_path / "again", "z")
    probs, _, labels, *_ = emitted.pooled()
    own = labels >= 0
    probs, labels = probs[:, own].T.astype(np.float64), labels[own]
    decided = probs.argmax(axis=1)
    # log q_y is emitted before q_y is rounded to float32.
    normalised = probs / probs.sum(axis=1, keepdims=True)
    assert result["nll"] == pytest.approx(log_loss(labels, normalised), rel=1e-6)
    assert result["dsc"] == pytest.approx(f1_score(labels, decided, average="macro"), rel=1e-12)
    assert result["miou"] == pytest.approx(jaccard_score(labels, decided, average="macro"),
                                           rel=1e-12)
    assert result["accuracy"] == np.trace(confusion_matrix(labels, decided)) / labels.size


RULES = {"guo": (15, "closed_without_zero"), "torchmetrics": (15, "open_one_apart"),
         "netcal": (10, "open"), "monai": (20, "closed_stretched"), "values": (20, "stretched")}


@pytest.mark.parametrize("preset", RULES)
def test_presets(tmp_path, preset):
    bins, edges = RULES[preset]
    dataset = write_cases(tmp_path, 3, [(40, 31), (12, 50)])
    compare(tmp_path, dataset, "none(z)", "--set", f"preset={preset}", bins=bins, edges=edges,
            ace_bins=bins, ace_edges=edges)


def test_a_class_that_is_impossible_everywhere(tmp_path):
    """Guo's rule has no bin for 0: no gap, yet the voxels count for the parts of the score."""
    dataset = write_cases(tmp_path, 4, [(40, 31), (12, 50)], seed=5)
    for path in tmp_path.glob("*_m0.npy"):
        logits = np.load(path).astype(np.float32)
        logits[2] = -1e30
        logits[3, ::2] = -1e30
        np.save(path, logits)
    result = compare(tmp_path, dataset, "none(z)", "--set", "preset=guo", bins=15,
                     edges="closed_without_zero", ace_bins=15, ace_edges="closed_without_zero")
    assert result["pooled"]["brier_uncertainty"] > 0


@pytest.mark.parametrize("norm", ["rms", "max"])
def test_norms(tmp_path, norm):
    dataset = write_cases(tmp_path, 4, [(40, 31)])
    compare(tmp_path, dataset, "ts(z)", "--set", f"norm={norm}", norm=norm)


@pytest.mark.parametrize("shape", [(60, 120), (9, 40, 100)])
def test_distance_from_the_boundary(tmp_path, shape):
    """Large regions, so that all bands hold voxels; one case has a single label."""
    rng = np.random.default_rng(12)
    entries = []
    for k in range(3):
        members, labels = random_case(rng, 3, shape, ignored=0.02)
        regions = np.indices(shape)[-1] * 3 // shape[-1] if k else np.ones(shape, int)
        labels = np.where(labels == 255, 255, regions).astype(np.uint8)
        logits = members[0] + 3 * (np.arange(3).reshape(-1, *[1] * len(shape)) == regions)
        mask = (rng.random(shape) < 0.9).astype(np.uint8) if k == 2 else None
        entries.append(save_case(tmp_path, f"case{k}", [logits.astype(np.float16)], labels, mask))
    result = compare(tmp_path, describe(tmp_path, entries, 3, background=1), "ts(z)")
    flags = [row["metrics"]["no_boundary"] for row in result["metric_per_case"]]
    assert flags == [1.0, 0.0, 0.0]
    for name in ("gap_0_3", "gap_3_7", "gap_7_15", "gap_15_inf"):
        assert result["metric_per_case"][2]["metrics"][name] is not None
    assert set(result["reliability_per_region"]) == {
        "boundary", "all", "distance_0_3", "distance_3_7", "distance_7_15", "distance_15_inf"}


def test_foreground_only(tmp_path):
    dataset = write_cases(tmp_path, 4, [(40, 31), (1, 3), (17, 20)], masked=[2], background=1)
    compare(tmp_path, dataset, "ts(z)", "--set", "foreground=true", "--metrics", "all",
            foreground=True, adaptive={})


@pytest.mark.parametrize("num_classes", [2, 9])
def test_bins_of_equal_mass_and_thresholds(tmp_path, num_classes):
    dataset = write_cases(tmp_path, num_classes, [(70, 81), (3, 2), (5, 9)], masked=[0])
    compare(tmp_path, dataset, "ts(z)", "--metrics", "all", "--set", "adaptive_bins=11",
            "--set", "tace_threshold=0.02", "--set", "detect_below=0.8", detect_below=0.8,
            adaptive={"bins": 11, "threshold": 0.02})


def test_ties_of_confidence(tmp_path):
    """Logits of few values: nearly every confidence is shared, and cut by edges of bins."""
    rng = np.random.default_rng(3)
    logits = rng.integers(0, 3, (3, 40, 40)).astype(np.float16)
    labels = rng.integers(0, 3, (40, 40)).astype(np.uint8)
    entries = [save_case(tmp_path, "a", [logits], labels),
               save_case(tmp_path, "b", [logits[:, :7]], labels[:7])]
    compare(tmp_path, describe(tmp_path, entries, 3), "none(z)", "--metrics", "all", adaptive={})


def test_saturated_predictions(tmp_path):
    """Confidence is exactly 1 at most voxels, some of them wrong; other probabilities underflow."""
    dataset = write_cases(tmp_path, 4, [(40, 50), (11, 13)], seed=5)
    for path in tmp_path.glob("*_m0.npy"):
        np.save(path, np.load(path) * 40)
    compare(tmp_path, dataset, "none(z)", "--metrics", "all", adaptive={})


def test_risk_coverage_curve(tmp_path):
    dataset = write_cases(tmp_path, 3, [(40, 50), (30, 20)])
    result = compare(tmp_path, dataset, "ts(z)")
    probs, _, labels, *_ = Emitted(dataset, tmp_path / "model.json", tmp_path / "b", "z").pooled()
    own = labels >= 0
    hit = (reference.predicted(probs) == labels)[own].astype(float)
    risk = calibration.risk_at_ranks(calibration.key_means(probs[:, own].max(axis=0)), hit)
    assert len(result["risk_coverage"]) == 100
    for k, row in enumerate(result["risk_coverage"], 1):
        agree(row["coverage"], k / 100, k)
        agree(row["risk"], risk[max(hit.size * k // 100, 1) - 1], k)


def test_brier_parts_make_up_the_score(tmp_path):
    """With one bin per distinct probability nothing is left within bins."""
    rng = np.random.default_rng(7)
    probs = np.stack([rng.choice([0.125, 0.5, 0.75], 900), np.zeros(900)])
    probs[1] = 1.0 - probs[0]
    labels = (rng.random(900) > probs[0]).astype(np.uint8)
    entries = [save_case(tmp_path, "a", [probs], labels)]
    dataset = describe(tmp_path, entries, 2, input="probabilities")
    values = compare(tmp_path, dataset, "none(z)")["pooled"]
    whole = (values["brier_reliability"] - values["brier_resolution"]
             + values["brier_uncertainty"])
    assert values["brier"] == pytest.approx(whole, abs=1e-7)


def test_known_vector(tmp_path):
    """Nine voxels in five bins with gaps .045, .0625 and .2, computed by hand."""
    confidence = np.array([.78, .64, .92, .58, .51, .85, .70, .63, .83])
    correct = np.array([1, 1, 0, 1, 0, 1, 1, 0, 1])
    entries = [save_case(tmp_path, "a", [np.stack([confidence, 1 - confidence])],
                         (1 - correct).astype(np.uint8))]
    dataset = describe(tmp_path, entries, 2, input="probabilities")
    for pipeline in ("none(z)", "none(p)"):
        found = evaluate(dataset, "-p", pipeline, "--set", "bins=5", "--set", "ace_bins=5")
        result = found["pipelines"][0]
        assert result["pooled"]["ece"] == pytest.approx(0.94 / 9, abs=1e-7)
        assert result["pooled"]["mce"] == pytest.approx(0.2, abs=1e-7)
        assert result["pooled"]["ace"] == pytest.approx(0.1025, abs=1e-7)
        assert [row["count"] for row in result["reliability"]] == [0, 0, 2, 4, 3]


def test_counts_stay_exact_past_what_float32_can_count(tmp_path):
    """2^24 + 25 voxels in one bin, three times: a float32 counter stops at 2^24."""
    size = 2**24 + 25
    np.save(tmp_path / "z.npy", np.tile(np.float16([[40.0], [0.0]]), (1, size)))
    labels = np.zeros(size, np.uint8)
    labels[-3:] = 1
    np.save(tmp_path / "y.npy", labels)
    entries = [{"id": f"c{k}", "members": ["z.npy"], "labels": "y.npy"} for k in range(3)]
    result = evaluate(describe(tmp_path, entries, 2), "-p", "none(z)")["pipelines"][0]
    last = result["reliability"][-1]
    assert last["count"] == last["confidence_sum"] == 3 * size
    assert last["correct"] == 3 * (size - 3)
    agree(result["pooled"]["ece"], 3 / size, "ece")
    agree(result["pooled"]["accuracy"], (size - 3) / size, "accuracy")
