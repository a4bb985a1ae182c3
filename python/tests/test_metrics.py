# SPDX-License-Identifier: Apache-2.0
"""Metrics against NumPy, one call and batch by batch, and past 2**24 voxels."""

import pickle

import numpy as np
import pytest
import segcal
from data import draw, softmax
from segcal import metrics


def top_label_ece(probabilities, labels, bins):
    """Right-closed bins of equal width, in double."""
    confidence = probabilities.max(1).astype(np.float64).ravel()
    correct = (probabilities.argmax(1) == labels).ravel()
    place = np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1).astype(int)
    return sum(abs(confidence[place == b].sum() - correct[place == b].sum()) for b in range(bins)) / confidence.size


@pytest.fixture(name="batch", scope="module")
def fixture_batch():
    logits, labels = draw((4, 5, 32, 32))
    return logits, softmax(logits, 1).astype(np.float32), labels


def test_numbers_against_numpy(batch):
    logits, probabilities, labels = batch
    picked = np.take_along_axis(softmax(logits, 1), labels[:, None].astype(int), 1)
    found = metrics.measure(["nll", "accuracy", "brier"], probabilities, labels)
    assert found["nll"] == pytest.approx(-np.log(picked).mean(), rel=1e-5)
    assert found["accuracy"] == pytest.approx((logits.argmax(1) == labels).mean(), abs=0)
    one_hot = np.eye(5)[labels].transpose(0, 3, 1, 2)
    brier = ((softmax(logits, 1) - one_hot) ** 2).sum(1).mean()
    assert found["brier"] in (pytest.approx(brier, rel=1e-5), pytest.approx(brier / 5, rel=1e-5))
    assert metrics.ece(probabilities, labels, bins=15) == pytest.approx(
        top_label_ece(probabilities, labels, 15), abs=1e-6)
    assert metrics.nll(logits, labels, input="logits") == pytest.approx(found["nll"], rel=1e-6)


def test_batches_merges_and_pickles_give_the_same_bits(batch):
    _, probabilities, labels = batch
    names = ("ece", "nll", "mce", "dsc")
    whole = metrics.Metric(*names)
    whole.update(probabilities, labels)
    ones, others = metrics.Metric(*names), metrics.Metric(*names)
    for i in range(3):
        ones.update(probabilities[i], labels[i])
    others.update(probabilities[3:], labels[3:])
    others.merge(pickle.loads(pickle.dumps(ones)))
    assert others.compute() == whole.compute()
    assert others.labelled == labels.size
    empty = metrics.Metric(*names)
    empty.merge(others)
    assert empty.compute() == whole.compute()
    np.testing.assert_array_equal(empty.per_class()["dsc"], whole.per_class()["dsc"])
    empty.reset()
    assert np.isnan(empty.compute()["ece"]) and empty.labelled == 0
    assert not np.isnan(whole.compute()["ece"])


def test_failed_update_adds_nothing(batch):
    _, probabilities, labels = batch
    metric = metrics.Metric("ece")
    with pytest.raises(ValueError):
        metric.update(probabilities, labels + 9)
    assert metric.labelled == 0
    metric.update(probabilities, labels)
    before = metric.compute()
    broken = probabilities.copy()
    broken[3, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        metric.update(broken, labels)
    with pytest.raises(ValueError, match="classes"):
        metric.update(probabilities[:, :3], labels)
    assert metric.compute() == before


# Closed form: of 2**24 + 2 voxels with confidence 0.75 the two wrong ones still count. A float32 counter
# stops at 2**24.
def test_counts_past_the_integers_of_float32():
    side = 2**12
    probabilities = np.broadcast_to(np.array([0.75, 0.25], np.float32)[:, None, None], (2, side, side))
    labels = np.broadcast_to(np.uint8(0), (side, side))
    metric = metrics.Metric("ece", "accuracy")
    metric.update(probabilities, labels)
    metric.update(probabilities[:, :1, :2], np.ones((1, 2), np.uint8))
    count = side * side + 2
    assert metric.labelled == count
    assert metric.compute()["accuracy"] == (count - 2) / count
    assert metric.compute()["ece"] == pytest.approx((count - 2) / count - 0.75, abs=2**-22)  # emitted in float32
    assert metric.reliability()["count"].sum() == count


def test_every_metric_is_a_function(batch):
    _, probabilities, labels = batch
    names = [metric.name for family in segcal.list_metrics() for metric in family.metrics if not family.on_request]
    assert len(names) > 20
    found = metrics.measure(names, probabilities, labels)
    assert set(found) == set(names)
    for name in ("ece", "dsc", "flip_rate"):
        assert getattr(metrics, name)(probabilities, labels) == found[name]
        assert getattr(metrics, name).__doc__


def test_names_and_options_are_checked(batch):
    _, probabilities, labels = batch
    with pytest.raises(ValueError, match="nope"):
        metrics.Metric("nope")
    with pytest.raises(AttributeError, match="ece"):
        metrics.nope  # pylint: disable=pointless-statement
    with pytest.raises(TypeError, match="bins"):
        metrics.ece(probabilities, labels, nope=3)
    with pytest.raises(ValueError, match="bins"):
        metrics.ece(probabilities, labels, bins=0)
    with pytest.raises(ValueError, match="add up"):
        metrics.Metric("ece").merge(metrics.Metric("nll"))


def test_evaluation_shows_itself(batch):
    logits, _, labels = batch
    model = segcal.fit(logits, labels, "ts")
    result = segcal.evaluate(["none", model], logits, labels, statistics={"replicates": 50})
    assert "ece" in result[0] and set(result.per_case("ts")) == {"0", "1", "2", "3"}
    assert result.figure()._repr_svg_().startswith("<svg")
    assert "<table>" in result._repr_html_() and "none(z)" in result._repr_html_()
    assert "ts(z)" in result.table() and r"\begin" in result.table(form="latex")
    assert result.to_dict()["statistics"]["replicates"] == 50
    bins = result.reliability("ts")
    assert bins["count"].sum() == labels.size
    assert result.case_figure("1").svg.startswith("<svg")
    assert "NLL after" in model.report._repr_html_()
    with pytest.raises(KeyError, match="none"):
        result["gone"]


def test_pictures_and_tables(batch):
    logits, _, labels = batch
    models = [segcal.fit(logits, labels, name) for name in ("ts", "vs")]
    result = segcal.evaluate(["none", *models], logits, labels, metrics=["all"],
                             statistics={"replicates": 50, "pairs": [("ts(z)", "vs(z)")], "test": "mann_whitney"})
    for kind in ("reliability", "classes", "risk_coverage", "confusion", "forest", "pairs"):
        assert result.figure(kind).svg.startswith("<svg"), kind
    assert "ts(z) → vs(z)" in result.figure("pairs", ["nll"]).svg
    assert result.to_dict()["statistics"]["test"] == "mann_whitney"
    with pytest.raises(ValueError, match="risk_coverage"):
        result.figure("gone")
    with pytest.raises(ValueError, match="not computed"):
        segcal.evaluate("none", logits, labels, metrics=["nll"]).figure("confusion")
    by_class = result.table(["dsc"], per_class=True)
    assert "class_4" in by_class and "class_4" not in result.table(["dsc"])
    ranked = result.table(["nll"], sort="nll")
    nll = {name: result[name]["nll"] for name in result.pipelines}
    order = sorted(nll, key=nll.get)
    assert [ranked.index(name) for name in order] == sorted(ranked.index(name) for name in order)
    with pytest.raises(ValueError, match="gone"):
        result.table(sort="gone")


def test_colours_of_a_data_set(batch):
    logits, _, labels = batch
    colors = ["#102030", "#405060", "#708090", "#a0b0c0", "#d0e0f0"]
    data = segcal.Dataset([(logits, labels)], colors=colors)
    assert data.colors == colors
    drawn = segcal.evaluate("none", data).case_figure("0").svg
    assert "#d0e0f0" in drawn and "#d0e0f0" not in segcal.evaluate("none", logits, labels).case_figure("0").svg
    with pytest.raises(ValueError, match="colo"):
        segcal.evaluate("none", segcal.Dataset([(logits, labels)], colors=colors[:2]))


def test_inspection(batch):
    logits, _, labels = batch
    found = segcal.inspect(logits, labels)
    assert found.labelled == labels.size and found["label_counts"] == np.bincount(labels.ravel()).tolist()
    assert found.figure(["1"]).svg.startswith("<svg")


def test_verification(batch):
    logits, _, labels = batch
    model = segcal.fit(logits, labels, "cms_ap")
    checked = model.verify(segcal.Dataset([(logits, labels)]), voxels=10000)
    assert checked and checked.holds and checked.pipeline == model.pipeline
    assert {check["input"] for check in checked.checks} == {"generated", "dataset"}
    assert "holds" in checked._repr_html_()
