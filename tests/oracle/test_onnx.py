# SPDX-License-Identifier: Apache-2.0
"""Exported graphs in ONNX Runtime against `segcal apply`: every method, on parameters far from the identity.

Probabilities agree within 1e-5 and labels on every voxel. A map with steps may fall on either side of one where its
input is within rounding of it: such voxels are those where the program's own output jumps when its input moves by
3e-7 of itself, and there may be few of them. Skipped where onnxruntime cannot be installed.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from onnx_models import IMAGE_CHANNELS, PROPERTIES, preserved, steps, write_model
from onnx_runtime import applied, export, installed, started  # noqa: F401, fixtures
from program import fit, run, small_dataset

METHODS = [*PROPERTIES, "selective", "selective+ts", "selective+cms_ap", "selective+dc"]
STEPS = ("irm", "irova", "hist", "meta", "meta_star", "selective")
TOLERANCE = 1e-5
# No control flow, and nothing whose output has a size that depends on values; docs/onnx.md has the list, too.
WANTED = {"Abs", "Add", "ArgMax", "Cast", "Clip", "Concat", "Conv", "CumSum", "Div", "Equal", "Exp", "Gather",
          "Greater", "Identity", "Less", "LessOrEqual", "Log", "LogSoftmax", "Max", "Min", "Mul", "Neg", "Range",
          "ReduceMax", "ReduceMean", "ReduceSum", "Relu", "ScatterElements", "Shape", "Sigmoid", "Slice", "Softmax",
          "Sqrt", "Squeeze", "Sub", "TopK", "Where"}


def test_page_lists_the_operators():
    page = (Path(__file__).parents[2] / "docs" / "onnx.md").read_text()
    listed = page.split("All operators there are")[1].split("All of them stand")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == WANTED


def make_logits(rng, classes, shape, dtype):
    """Logits of easy and hard voxels, with offsets, ties, impossible classes and voxels that say nothing."""
    logits = rng.normal(0.0, 1.0, (classes, *shape)) * rng.choice([0.5, 3.0, 9.0], shape)
    logits += rng.normal(0.0, 2.0, shape)
    tied = rng.random(shape) < 0.05
    logits[-1][tied] = logits.max(0)[tied]
    logits[:, rng.random(shape) < 0.01] = 1.5
    if classes > 2:
        logits[1][rng.random(shape) < 0.02] = -np.inf
    return logits.astype(dtype)


def moved(logits, times):
    """The same but for rounding; what was equal stays equal."""
    values = logits.astype(np.float32)
    up = (values.view(np.uint32) * np.uint32(2654435761) >> np.uint32(10 + times)) & 1
    return (values * (1 + 3e-7 * (2.0 * up - 1))).astype(np.float32)


def on_a_step(result, variants):
    """Where the program's own output jumps when its input moves by rounding."""
    found = np.zeros(result[1].shape, bool)
    for probs, _ in variants:
        found |= np.abs(probs - result[0]).max(0) > TOLERANCE / 2
    return found


def compare(name, expected, outputs, steps=None):
    """The outputs of a batch against those of the program."""
    for k, (probs, labels) in enumerate(expected):
        found = outputs["probabilities"][k]
        smooth = ~steps[k] if steps else np.ones(labels.shape, bool)
        assert smooth.mean() > 0.98, "too many voxels on a step"
        assert np.abs(found - probs).max(0)[smooth].max() <= TOLERANCE, name
        assert np.array_equal(outputs["confidence"][k], found.max(0))
        assert np.abs(found.sum(0, dtype=np.float64) - 1).max() < 1e-5
        if preserved(name) == "none":
            tied = np.diff(np.sort(probs, axis=0)[-2:], axis=0)[0] < 2e-6
            assert np.array_equal(outputs["labels"][k], found.argmax(0))
            assert (outputs["labels"][k] == labels)[smooth & ~tied].all(), name
        else:
            # By any tie rule: the label is the only largest one.
            assert np.array_equal(outputs["labels"][k], labels), "a decision changed"
            assert np.array_equal(outputs["labels"][k], found.argmax(0))
            assert ((found == found.max(0)).sum(0) == 1).all(), name


def check(runtime, folder, name, classes, shape, dtype, options=(), seed=1):
    """Two cases as a batch, through the program and through the graph."""
    rng = np.random.default_rng(seed)
    model = write_model(folder / "model.json", name, classes, seed=seed)
    graph = export(model, folder / "graph.onnx", "--axes", len(shape), "--dtype",
                   "f16" if dtype == np.float16 else "f32", *options)
    inputs = {"logits": np.stack([make_logits(rng, classes, shape, dtype) for _ in range(2)])}
    if "image" in name:
        inputs["image"] = rng.normal(100.0, 40.0, (2, IMAGE_CHANNELS, *shape)).astype(np.float32)
        inputs["image"][1, 1] = 0.1  # a constant channel
    cases = [[z] for z in inputs["logits"]]
    if name.startswith(STEPS):
        cases += [[moved(z, times)] for times in range(4) for z in inputs["logits"]]
    results = applied(model, cases, folder / "data", classes, images=inputs.get("image"))
    answer, outputs = runtime.run(graph, inputs, folder)
    assert set(answer["operators"]) <= WANTED
    assert answer["varying"] == [], "not a constant, as TensorRT wants it"
    assert "DOUBLE" not in answer["types"], "which many devices lack"
    compare(name, results[:2], outputs, [on_a_step(results[k], results[2 + k::2]) for k in range(2)])
    return answer, outputs


# Every number of classes with images and volumes and with both types, and every type with both.
SIZES = [(2, (31, 37), np.float32), (2, (4, 11, 12), np.float16), (5, (40, 30), np.float16), (5, (5, 14, 17), np.float32),
         (19, (26, 23), np.float32), (19, (4, 11, 12), np.float16), (150, (20, 16), np.float16), (150, (3, 7, 8), np.float32)]


@pytest.mark.parametrize("classes,shape,dtype", SIZES)
@pytest.mark.parametrize("name", METHODS)
def test_graph_does_what_apply_does(runtime, tmp_path, name, classes, shape, dtype):
    answer, _ = check(runtime, tmp_path, name, classes, shape, dtype)
    assert answer["opset"] == 13
    assert answer["ir_version"] == 7


@pytest.mark.parametrize("opset", [17, 18, 21, 23])
@pytest.mark.parametrize("name", ["ets", "meta", "cms_op", "irova", "lts_image", "ibts", "selective+ts"])
def test_newer_operators_do_the_same(runtime, tmp_path, name, opset):
    answer, _ = check(runtime, tmp_path, name, 5, (9, 12), np.float32, ["--opset", opset])
    assert answer["opset"] == opset


@pytest.mark.parametrize("name", ["irm", "irova"])
def test_isotonic_maps_of_a_thousand_steps_are_searched(runtime, tmp_path, name):
    """By the step that holds a value, not by the one whose end is nearest, which on such maps is another for one in five."""
    rng = np.random.default_rng(7)
    model = write_model(tmp_path / "model.json", name, 2)
    content = json.loads(model.read_text())
    content["parameters"]["maps"] = [steps(rng, 1024) for _ in content["parameters"]["maps"]]
    model.write_text(json.dumps(content))
    graph = export(model, tmp_path / "graph.onnx")
    logits = [make_logits(rng, 2, (60, 50), np.float32)]
    cases = [logits, *([moved(logits[0], times)] for times in range(4))]
    results = applied(model, cases, tmp_path / "data", 2)
    _, outputs = runtime.run(graph, {"logits": logits[0][None]}, tmp_path)
    compare(name, results[:1], outputs, [on_a_step(results[0], results[1:])])


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 4), (4, 5), (5, 4), (2, 3, 6)])
@pytest.mark.parametrize("name", ["lts", "ibts"])
def test_trees_reflect_or_repeat_short_sides_as_apply_does(runtime, tmp_path, name, shape):
    check(runtime, tmp_path, name, 3, shape, np.float32)


def test_one_graph_takes_every_size(runtime, tmp_path):
    rng = np.random.default_rng(3)
    graph = export(write_model(tmp_path / "model.json", "lts", 4), tmp_path / "graph.onnx")
    for batch, height, width in ((1, 7, 9), (3, 20, 5), (2, 1, 1)):
        _, outputs = runtime.run(graph, {"logits": rng.normal(size=(batch, 4, height, width)).astype(np.float32)},
                                 tmp_path)
        assert outputs["probabilities"].shape == (batch, 4, height, width)
        assert outputs["labels"].shape == outputs["confidence"].shape == (batch, height, width)


def as_kind(logits, kind):
    """Logits as what else a model may be fitted on."""
    if kind == "logits":
        return logits
    exps = np.exp(logits - logits.max(0))
    probs = (exps / exps.sum(0)).astype(np.float32)
    return np.log(np.maximum(probs, 1e-30)) if kind == "log_probabilities" else probs


NAMES = {"logits": "logits", "log_probabilities": "log_probs", "probabilities": "probs"}


@pytest.mark.parametrize("pool_in", ["f64", "f32"])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("pooling", ["z", "p"])
@pytest.mark.parametrize("kind", NAMES)
def test_members_are_pooled_inside(runtime, tmp_path, kind, pooling, members, pool_in):
    rng = np.random.default_rng(5)
    for name in ("cms_ap", "ms", "lts_raw"):
        folder = tmp_path / name
        folder.mkdir()
        model = write_model(folder / "model.json", name, 4, pooling, kind)
        graph = export(model, folder / "graph.onnx", "--members", members, "--pool-in", pool_in)
        cases = [[as_kind(rng.normal(0.0, 4.0, (4, 18, 21)).astype(np.float32), kind) for _ in range(members)]
                 for _ in range(2)]
        expected = applied(model, cases, folder / "data", 4, kind)
        inputs = {f"{NAMES[kind]}_{m}" if members > 1 else NAMES[kind]: np.stack([case[m] for case in cases])
                  for m in range(members)}
        answer, outputs = runtime.run(graph, inputs, folder)
        assert answer["inputs"] == sorted(inputs)
        assert ("DOUBLE" in answer["types"]) == (members > 1 and pool_in == "f64")
        compare(name, expected, outputs)


def test_ties_between_members_are_decided_as_apply_decides_them(runtime, tmp_path):
    """Means that differ in the last bits of float32 sums are told apart in float64."""
    rng = np.random.default_rng(6)
    model = write_model(tmp_path / "model.json", "ts", 3)
    graph = export(model, tmp_path / "graph.onnx", "--members", 3)
    base = rng.normal(0.0, 3.0, (3, 1, 40, 50)).astype(np.float32)
    members = np.repeat(base, 3, axis=1)  # every class the same in every member,
    for m in range(3):
        members[m] = np.nextafter(members[m], rng.choice([-9, 9], members[m].shape).astype(np.float32))  # but for a bit
    expected = applied(model, [list(members)], tmp_path / "data", 3)
    _, outputs = runtime.run(graph, {f"logits_{m}": members[m][None] for m in range(3)}, tmp_path)
    assert np.array_equal(outputs["labels"][0], expected[0][1])
    in_float32 = members.sum(0, dtype=np.float32).argmax(0)
    assert (in_float32 != expected[0][1]).any(), "float32 would have done: this test shows nothing"


def test_graph_says_what_it_is(runtime, tmp_path):
    data = small_dataset(tmp_path / "data", num_members=2)
    content = fit(data, "cms_ap(p)", tmp_path / "model.json")
    graph = export(tmp_path / "model.json", tmp_path / "graph.onnx", "--members", 2, "--prefix", "brain_")
    zeros = np.zeros((1, 4, 2, 2), np.float32)
    answer, outputs = runtime.run(graph, {"logits_0": zeros, "logits_1": zeros}, tmp_path)
    assert list(outputs) == ["brain_probabilities", "brain_labels", "brain_confidence"]
    metadata = answer["metadata"]
    version = run("--version").stdout.split()[1]
    assert metadata["brain_segcal.version"] == version
    assert metadata["brain_segcal.pipeline"] == content["pipeline"]
    assert metadata["brain_segcal.input"] == "logits"
    assert json.loads(metadata["brain_segcal.classes"]) == content["classes"]
    assert json.loads(metadata["brain_segcal.properties"]) == content["properties"]
    report = json.loads(metadata["brain_segcal.fit"])
    assert {key: report[key] for key in content["fit"]} == content["fit"]
