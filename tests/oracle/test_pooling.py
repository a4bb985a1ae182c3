# SPDX-License-Identifier: Apache-2.0
"""Pooled probabilities and decisions are those of double precision; labels map as defined."""

import numpy as np
import pytest
import reference
from program import (apply, describe, evaluate, fails, fit, inspect, random_case, run, save_case)
from scipy.special import log_softmax, softmax

POOLINGS = ["z", "p", "z1"]


def emitted(tmp_path, members, pooling, labels=None, calibrator="none", **fields):
    """Probabilities the program emits for one case."""
    labels = np.zeros(members[0].shape[1:], np.uint8) if labels is None else labels
    dataset = describe(tmp_path, [save_case(tmp_path, "a", members, labels)], members[0].shape[0],
                       **fields)
    fit(dataset, f"{calibrator}({pooling})", tmp_path / "model.json")
    return np.load(apply(tmp_path / "model.json", dataset, tmp_path / "out") / "a.npy")


def compare(tmp_path, members, pooling, kind="logits", calibrator="none"):
    """Checks values, decision and row sums against double precision."""
    probs = emitted(tmp_path, members, pooling, input=kind, calibrator=calibrator)
    logits, decision = reference.pool(members, pooling, kind)
    if calibrator == "none":
        # The stated error of a row; a float32 sum of 150 terms has one above 1e-6.
        tolerance = max(1e-6, (probs.shape[0] + 8) * 2.0**-24)
        np.testing.assert_allclose(probs, softmax(logits, axis=0), rtol=0, atol=tolerance)
    np.testing.assert_array_equal(probs.argmax(axis=0), decision)
    # By any tie rule: the winner is strictly above the others.
    if probs.shape[0] > 1:
        top_two = np.sort(probs, axis=0)[-2:]
        assert (top_two[1] > top_two[0]).all()
    sums = probs.sum(axis=0, dtype=np.float64)
    assert np.abs(sums - 1.0).max() <= (probs.shape[0] + 8) * 2.0**-24
    return probs


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("num_classes,num_members", [(2, 2), (5, 3), (19, 2), (150, 2)])
def test_random_members(tmp_path, pooling, num_classes, num_members):
    rng = np.random.default_rng(num_classes)
    members, _ = random_case(rng, num_classes, (33, 47), num_members, dtype=np.float32)
    compare(tmp_path, members, pooling)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("kind", ["probabilities", "log_probabilities"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_other_inputs(tmp_path, pooling, kind, dtype):
    rng = np.random.default_rng(5)
    members, _ = random_case(rng, 6, (20, 31), 3, scale=4.0, dtype=np.float64)
    function = softmax if kind == "probabilities" else log_softmax
    compare(tmp_path, [function(m, axis=0).astype(dtype) for m in members], pooling, kind)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_impossible_classes_and_huge_logits(tmp_path, pooling, dtype):
    rng = np.random.default_rng(6)
    members, _ = random_case(rng, 5, (24, 25), 2, dtype=dtype)
    for member in members:
        member[1:][rng.random(member[1:].shape) < 0.2] = -np.inf
        member[:, rng.random(member.shape[1:]) < 0.1] *= dtype(1e30)
        member[:, rng.random(member.shape[1:]) < 0.1] += dtype(1e4)
    compare(tmp_path, members, pooling)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_logits_near_the_end_of_double(tmp_path, pooling):
    """As large as the sum of two members allows."""
    rng = np.random.default_rng(7)
    values = [-8e307, -1e300, -1.0, 0.0, 2.0, 1e300, 8e307]
    members = [rng.choice(values, (4, 30, 30)) for _ in range(2)]
    compare(tmp_path, members, pooling)


def test_differences_that_float32_cannot_see_still_decide(tmp_path):
    rng = np.random.default_rng(8)
    base = rng.normal(size=(1, 40, 40))
    members = [base + rng.integers(-3, 4, (6, 40, 40)) * 1e-12 for _ in range(2)]
    for pooling in ("z", "z1"):
        compare(tmp_path, members, pooling)
    compare(tmp_path, members, "z", calibrator="ts")
    logits, decision = reference.pool(members, "z")
    assert (logits.astype(np.float32).argmax(axis=0) != decision).mean() > 0.5


def test_ties_go_to_the_lowest_class(tmp_path):
    rng = np.random.default_rng(9)
    members = [rng.integers(0, 2, (5, 30, 30)).astype(np.float32) for _ in range(2)]
    for pooling in ("z", "z1"):
        compare(tmp_path, members, pooling)
    # Swapping two classes between two members makes their mean probabilities equal, exactly.
    first = rng.normal(size=(2, 30, 30)).astype(np.float32)
    probs = compare(tmp_path, [first, first[::-1].copy()], "p")
    assert (probs.argmax(axis=0) == 0).all()


def test_shifting_a_member_changes_nothing(tmp_path):
    """Multiples of 1/256 plus whole numbers are exact, so the bits must be equal."""
    rng = np.random.default_rng(10)
    members = [rng.integers(-2048, 2048, (4, 20, 20)).astype(np.float32) / 256 for _ in range(2)]
    shifted = [m + rng.integers(-2**14, 2**14, (1, 20, 20)).astype(np.float32) for m in members]
    for pooling in POOLINGS:
        np.testing.assert_array_equal(emitted(tmp_path, members, pooling),
                                      emitted(tmp_path, shifted, pooling))


def test_rows_that_do_not_sum_to_one_are_counted_and_normalised(tmp_path):
    rng = np.random.default_rng(11)
    probs = softmax(rng.normal(size=(3, 16, 16)), axis=0)
    probs[:, :4] *= 1.01
    found = compare(tmp_path, [probs], "z", "probabilities")
    np.testing.assert_allclose(found, probs / probs.sum(axis=0), atol=1e-6)
    assert inspect(tmp_path / "dataset.json")["renormalised"] == 64


def test_floor_of_probabilities_is_the_loss_of_an_impossible_label(tmp_path):
    probs = np.tile(np.float32([1.0, 0.0]).reshape(2, 1, 1), (1, 4, 4))
    dataset = describe(tmp_path, [save_case(tmp_path, "a", [probs], np.ones((4, 4), np.uint8))], 2,
                       input="probabilities")
    for pooling in ("z", "p"):
        nll = evaluate(dataset, "-p", f"none({pooling})")["pipelines"][0]["pooled"]["nll"]
        assert nll == pytest.approx(-np.log(1e-8), rel=1e-6)


def test_masked_voxels_keep_the_uncalibrated_probabilities(tmp_path):
    rng = np.random.default_rng(12)
    members, labels = random_case(rng, 4, (30, 30))
    mask = (rng.random((30, 30)) < 0.5).astype(np.uint8)
    entry = save_case(tmp_path, "a", members, labels, mask)
    dataset = describe(tmp_path, [entry], 4)
    beta = fit(dataset, "ts(z)", tmp_path / "model.json")["parameters"]["beta"]
    probs = np.load(apply(tmp_path / "model.json", dataset, tmp_path / "out") / "a.npy")
    logits = members[0].astype(np.float64)
    expected = np.where(mask == 0, softmax(logits, axis=0), softmax(beta * logits, axis=0))
    np.testing.assert_allclose(probs, expected, rtol=0, atol=1e-6)
    own = (mask != 0) & (labels != 255)
    assert beta == pytest.approx(reference.stationary_beta(logits[:, own], labels[own], beta),
                                 rel=1e-6)


CITYSCAPES = {7: 0, 8: 1, 11: 2, 12: 3, 13: 4, 17: 5, 19: 6, 20: 7, 21: 8, 22: 9, 23: 10, 24: 11,
              25: 12, 26: 13, 27: 14, 28: 15, 31: 16, 32: 17, 33: 18}


def index_with_map(tmp_path, label_map, num_classes, labels):
    """A data set made by `index` with a label map over one random case; returns its summary."""
    logits = np.random.default_rng(1).normal(size=(num_classes, *labels.shape)).astype(np.float32)
    save_case(tmp_path, "a", [logits], labels)
    run("index", tmp_path / "dataset.json", "--members", tmp_path / "{case}_m0.npy", "--labels",
        tmp_path / "{case}_labels.npy", "--input", "logits", "--label-map", label_map)
    return inspect(tmp_path / "dataset.json"), logits


def test_cityscapes_ids_become_train_ids(tmp_path):
    labels = np.tile(np.arange(-1, 34, dtype=np.int16), (19, 1))
    summary, logits = index_with_map(tmp_path, "cityscapes", 19, labels)
    train = np.vectorize(lambda v: CITYSCAPES.get(v, -1))(labels)
    assert summary["label_counts"] == [19] * 19
    assert summary["labelled"] == np.sum(train >= 0) == 19 * 19
    own = train >= 0
    accuracy = np.mean(logits.argmax(axis=0)[own] == train[own])
    assert summary["cases"][0]["accuracy"] == pytest.approx(accuracy, abs=1e-15)


def test_ade20k_zero_is_ignored_and_the_rest_moves_down(tmp_path):
    labels = np.tile(np.arange(0, 151, dtype=np.uint8), (4, 1))
    summary, logits = index_with_map(tmp_path, "ade20k", 150, labels)
    assert summary["label_counts"] == [4] * 150
    own = labels > 0
    accuracy = np.mean(logits.argmax(axis=0)[own] == labels[own] - 1)
    assert summary["cases"][0]["accuracy"] == pytest.approx(accuracy, abs=1e-15)


def test_own_label_map_and_unlisted_values(tmp_path):
    (tmp_path / "map.json").write_text('{"10": 0, "20": 1, "30": 255}')
    labels = np.tile(np.array([10, 20, 30], np.uint8), (6, 1))
    assert index_with_map(tmp_path, tmp_path / "map.json", 2, labels)[0]["label_counts"] == [6, 6]
    labels[2, 1] = 40
    np.save(tmp_path / "a_labels.npy", labels)
    message = fails(3, "inspect", tmp_path / "dataset.json", "--quiet")
    assert "a_labels.npy" in message and "label 40" in message and "label_map" in message
