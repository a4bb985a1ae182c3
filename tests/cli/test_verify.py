# SPDX-License-Identifier: Apache-2.0
"""`segcal verify`: what a model declares, seen to hold and seen to fail."""

import json
import os
import subprocess

import numpy as np
import pytest
from program import describe, fails, fit, run, save_case, small_dataset

LYING = os.environ.get("SEGCAL_LYING_PROGRAM")
FEW = ["--voxels", 20000, "--quiet"]


def verify(*arguments, code=0):
    """The result as JSON, and all of standard output is that."""
    return json.loads(run("verify", *arguments, "--json", *FEW, code=code).stdout)


def test_a_fitted_model_holds(dataset, model):
    result = verify(model, dataset)
    assert result["segcal_verify"] == 1 and result["holds"] is True
    assert result["properties"] == {"translation_invariant": True, "preserves": "order"}
    assert result["dataset"] == "test" and result["split"] is None
    claim, = result["parameters"]
    assert claim["holds"] and claim["found"] == json.loads(model.read_text())["parameters"]["beta"]
    seen = {(c["name"], c["input"], c["output"]) for c in result["checks"]}
    assert seen == {(name, source, output) for name in ("rows", "decision", "order")
                    for source in ("generated", "dataset") for output in ("float32", "float16")} | {
                        ("translation", "generated", "float32")}
    for check in result["checks"]:
        assert check["declared"] and check["holds"] and check["violations"] == 0
        assert check["examples"] == []
        # Whole cases of 8192 voxels; three cases of 20 x 30.
        assert check["voxels"] == (24576 if check["input"] == "generated" else 1800)


def test_properties_are_those_of_the_pipeline(dataset, tmp_path):
    for pipeline, invariant in [("vs(z)", False), ("vs(p)", True), ("ms(p)", True)]:
        path = tmp_path / "model.json"
        declared = fit(dataset, pipeline, path)["properties"]
        assert declared == {"translation_invariant": invariant, "preserves": "none"}, pipeline
        result = verify(path)
        assert result["properties"] == declared and result["holds"] is True
        translation, = [c for c in result["checks"] if c["name"] == "translation"]
        assert translation["declared"] is invariant
        assert (translation["violations"] == 0) is invariant
        said = f"translation invariant: {'yes' if invariant else 'no'}"
        assert said in run("inspect", path).stdout
    methods = {line.split()[0]: line for line in run("inspect", dataset).stdout.splitlines() if line}
    assert "only with p" in methods["vs"] and " yes " in methods["dc"]
    assert "Every pipeline on p is translation invariant" in run("fit", "--help").stdout


def test_a_person_reads_a_table_and_a_verdict(dataset, model):
    text = run("verify", model, dataset, *FEW).stdout
    assert "ts(z) declares: translation invariant yes, preserves order" in text
    assert "beta is at least 0" in text
    assert text.count("holds\n") >= 14
    assert text.endswith("The declaration holds.\n")


def test_the_result_depends_on_the_seed_and_not_on_threads(model):
    first = run("verify", model, "--json", *FEW, "--threads", 1).stdout
    assert run("verify", model, "--json", *FEW, "--threads", 3).stdout == first
    other = json.loads(run("verify", model, "--json", *FEW, "--seed", 5).stdout)
    assert other["seed"] == 5
    assert other["checks"][0]["worst"] != json.loads(first)["checks"][0]["worst"]


def test_probabilities_have_no_offset_to_look_at(tmp_path):
    rng = np.random.default_rng(2)
    cases = []
    for k in range(2):
        probs = rng.dirichlet(np.ones(4), (20, 30)).transpose(2, 0, 1)
        labels = rng.integers(0, 4, (20, 30)).astype(np.uint8)
        cases.append(save_case(tmp_path, f"case{k}", [probs], labels))
    dataset = describe(tmp_path, cases, 4, input="probabilities")
    fit(dataset, "ts(p)", tmp_path / "ts.json")
    result = verify(tmp_path / "ts.json", dataset)
    assert result["holds"]
    check, = (c for c in result["checks"] if c["name"] == "translation")
    assert check["voxels"] == 0 and check["note"] == "probabilities have no offset"


def test_wrong_usage_is_named(dataset, model, tmp_path):
    assert "--voxels" in fails(2, "verify", model, "--voxels", -3)
    assert "give a data set" in fails(2, "verify", model, "--voxels", 0)
    assert "dataset" in fails(2, "verify", model, "--split", "test")
    assert "no_such" in fails(4, "verify", "no_such.json")
    other = small_dataset(tmp_path, num_classes=3)
    assert "4 classes" in fails(3, "verify", model, other)
    assert "segcal_model" in fails(3, "verify", dataset)


def lying(*arguments, code):
    """Runs the program whose only calibrator is not what it declares."""
    command = [LYING, "verify", *map(str, arguments), *map(str, FEW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def lying_model(path, lie, num_classes=4):
    """A model file that no honest program reads."""
    declares = {"translation_invariant": lie != "honest",
                "preserves": "none" if lie == "honest" else "order"}
    path.write_text(json.dumps({
        "segcal_model": 1, "pipeline": f"lying(z, lie={lie})",
        "classes": [f"c{k}" for k in range(num_classes)], "input": "logits", "floor": -87.0,
        "properties": declares, "parameters": {}, "fit": None}))
    return path


needs_lying = pytest.mark.skipif(LYING is None, reason="needs a static build")

LIES = {"order": "order", "decision": "rows", "offset": "translation", "rows": "rows",
        "nan": "rows"}


@needs_lying
@pytest.mark.parametrize("lie", LIES)
def test_a_broken_model_ends_with_code_5_and_a_counter_example(lie, tmp_path):
    model = lying_model(tmp_path / "m.json", lie)
    result = json.loads(lying(model, "--json", code=5))
    assert result["holds"] is False
    check = next(c for c in result["checks"] if c["name"] == LIES[lie])
    assert not check["holds"] and check["violations"] > 0
    example = check["examples"][0]
    assert len(example["input"]) == len(example["output"]) == 4 and example["what"]
    text = lying(model, code=5)
    assert "BROKEN" in text and f"generated voxel {example['voxel']} " in text
    assert text.endswith("The declaration does NOT hold.\n")


@needs_lying
def test_a_broken_condition_on_the_parameters_is_enough(tmp_path):
    text = lying(lying_model(tmp_path / "m.json", "parameters"), code=5)
    assert "the answer is at most 41     42       41  BROKEN" in text


@needs_lying
def test_what_is_not_declared_may_fail(tmp_path):
    text = lying(lying_model(tmp_path / "m.json", "honest"), code=0)
    assert "not declared; does not hold" in text and "BROKEN" not in text


@needs_lying
def test_a_counter_example_of_a_data_set_has_case_and_voxel(tmp_path):
    """One voxel has losers that differ; NumPy finds it too."""
    logits = np.zeros((3, 6, 7), np.float32)
    logits[0] = 2.0
    cases = [save_case(tmp_path, "plain", [logits])]
    logits[1, 4, 5] = 1.0
    cases.append(save_case(tmp_path, "odd", [logits]))
    dataset = describe(tmp_path, cases, 3)
    model = lying_model(tmp_path / "m.json", "order", num_classes=3)
    result = json.loads(lying(model, dataset, "--json", code=5))
    check = next(c for c in result["checks"] if (c["name"], c["input"]) == ("order", "dataset"))
    place, = np.argwhere(logits[1] != logits[2])
    assert check["violations"] == 1 and check["voxels"] == 84
    example, = check["examples"]
    assert example["source"] == "odd" and example["position"] == place.tolist()
    assert example["input"] == [2.0, 1.0, 0.0]
    softmax = np.exp([2.0, 0.0, 1.0]) / np.exp([2.0, 0.0, 1.0]).sum()
    assert np.allclose(example["output"], softmax, rtol=1e-6)
    assert "case odd, voxel (4, 5)" in lying(model, dataset, code=5)
