# SPDX-License-Identifier: Apache-2.0
"""The package and the program are one implementation: models, probabilities and metrics are the same bytes."""

import json
import pickle

import numpy as np
import pytest
import segcal
from data import draw, run, write_dataset

PIPELINES = ["ts(z)", "vs(z)", "cms_ap(z)", "ets(z)", "irova(z)", "hist(z)"]


@pytest.fixture(name="files", scope="module")
def fixture_files(tmp_path_factory):
    logits, labels = draw((4, 5, 24, 36))
    labels[0, :3] = 255
    file = write_dataset(tmp_path_factory.mktemp("data"), logits, labels, ignore_label=255)
    return logits, labels, file


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_model_of_arrays_is_that_of_the_program(pipeline, files, tmp_path):
    logits, labels, file = files
    run("fit", file, "-p", pipeline, "-o", tmp_path / "program.json", "--quiet")
    segcal.fit(logits, labels, pipeline, ignore_index=255).save(tmp_path / "package.json")
    assert (tmp_path / "package.json").read_bytes() == (tmp_path / "program.json").read_bytes()


def test_choice_is_that_of_the_program(files, tmp_path):
    logits, labels, file = files
    run("fit", file, "-p", "auto", "-o", tmp_path / "program.json", "--quiet")
    model = segcal.fit(logits, labels, "auto", ignore_index=255)
    assert model.to_json() == (tmp_path / "program.json").read_text()
    assert any(model.pipeline.partition("(")[0] in note for note in model.notes)


def test_model_does_not_depend_on_how_the_same_values_are_given(files):
    logits, labels, file = files
    expected = segcal.fit(file, None, "cms_ap").to_json()
    halves = logits.astype(np.float16)
    rounded = segcal.fit(halves.astype(np.float32), labels, "cms_ap", ignore_index=255).to_json()
    turned = np.ascontiguousarray(logits[:, :, ::-1].transpose(0, 2, 3, 1))
    ways = {
        "double": (logits.astype(np.float64), labels),
        "list": (list(logits), list(labels)),
        "iterator of pairs": (iter(zip(logits, labels)), None),
        "batches": ([(logits[:3], labels[:3]), (logits[3], labels[3])], None),
        "negative strides": (turned.transpose(0, 3, 1, 2)[:, :, ::-1], labels),
        "Fortran order": (np.asfortranarray(logits), np.asfortranarray(labels)),
        "long labels": (logits, labels.astype(np.int64)),
        "data set": (segcal.Dataset(zip(logits, labels), ignore_index=255), None),
        "cases": ([segcal.Case(z, y) for z, y in zip(logits, labels)], None),
    }
    for way, (predictions, truth) in ways.items():
        ignored = None if way == "data set" else 255
        assert segcal.fit(predictions, truth, "cms_ap", ignore_index=ignored).to_json() == expected, way
    assert segcal.fit(halves, labels, "cms_ap", ignore_index=255).to_json() == rounded
    last = np.ascontiguousarray(logits.transpose(0, 2, 3, 1))
    assert segcal.fit(last, labels, "cms_ap", ignore_index=255, layout="NHWC").to_json() == expected


def test_validation_cases_are_those_of_the_split(tmp_path):
    logits, labels = draw((5, 4, 20, 20))
    splits = ["calibration"] * 3 + ["validation"] * 2
    file = write_dataset(tmp_path, logits, labels, splits)
    run("fit", file, "-p", "vs(z)", "-o", tmp_path / "program.json", "--quiet", "--search", 3)
    model = segcal.fit(logits[:3], labels[:3], "vs", validation=(logits[3:], labels[3:]), search=3)
    assert model.to_json() == (tmp_path / "program.json").read_text()
    assert model.report.search["chosen"]


def test_volumes_and_voxels(tmp_path):
    logits, labels = draw((2, 3, 6, 10, 12), seed=3)
    file = write_dataset(tmp_path, logits, labels)
    expected = segcal.fit(file, None, "ts").to_json()
    assert segcal.fit(logits, labels, "ts").to_json() == expected
    one = segcal.fit(logits[0], labels[0], "ts")
    assert one.report.data["voxels"] == 720
    voxels, classes = draw((720, 3), seed=3)
    table = segcal.fit(voxels, classes, "ts")
    assert table.report.data["cases"] == 1
    assert table.to_json() == segcal.fit(voxels.T, classes, "ts", layout="CN").to_json()


def test_probabilities_are_those_of_apply(files, tmp_path):
    logits, labels, file = files
    model = segcal.fit(file, None, "cms_ap")
    model.save(tmp_path / "model.json")
    run("apply", tmp_path / "model.json", file, "-o", tmp_path / "out", "--quiet", "--write",
        "probabilities,labels,confidence,entropy")
    out = model.apply(logits, write=["probabilities", "labels", "confidence", "entropy"])
    for name, array in out.items():
        for i in range(4):
            assert np.load(tmp_path / "out" / name / f"{i}.npy").tobytes() == array[i].tobytes(), name
    written = model.apply_files(file, tmp_path / "again", write=["probabilities"])
    assert len(written["files"]) == 4
    assert np.load(tmp_path / "again" / "2.npy").tobytes() == out["probabilities"][2].tobytes()


def test_metrics_are_those_of_evaluate(files, tmp_path):
    logits, labels, file = files
    model = segcal.fit(file, None, "ts")
    model.save(tmp_path / "model.json")
    text = run("evaluate", file, "-p", "none(z)", "-m", tmp_path / "model.json", "--json", "--quiet")
    result = segcal.evaluate(["none(z)", model], logits, labels, ignore_index=255)
    assert result.to_json() == text
    assert result.pipelines == ["none(z)", "ts(z)"]
    assert result["ts"]["nll"] < result["none"]["nll"]
    assert result["ts"]["nll"] == json.loads(text)["pipelines"][1]["mean"]["nll"]
    text = run("evaluate", file, "-p", "none(z)", "-m", tmp_path / "model.json", "--json", "--quiet", "--statistics",
               "--replicates", 50)
    assert segcal.evaluate(["none(z)", model], logits, labels, ignore_index=255,
                           statistics={"replicates": 50}).to_json() == text
    text = result.to_json()
    result.save(tmp_path / "metrics.json")
    assert segcal.Evaluation.load(tmp_path / "metrics.json").to_json() == text


def test_figures_are_those_of_evaluate(files, tmp_path):
    _, _, file = files
    model = segcal.fit(file, None, "vs")
    model.save(tmp_path / "model.json")
    run("evaluate", file, "-m", tmp_path / "model.json", "--figures", tmp_path / "program", "--quiet")
    result = segcal.evaluate(model, file, baselines=True)
    assert result.pipelines[0] == "none(z)"
    found = {name: figure.svg for name, figure in result.figures().items()}
    assert found == {path.name: path.read_text() for path in (tmp_path / "program").iterdir()}
    assert len(found) >= 4


def test_model_survives_file_and_pickle(files, tmp_path):
    logits, labels, _ = files
    model = segcal.fit(logits, labels, "vs", ignore_index=255)
    model.save(tmp_path / "model.json")
    for copy in (segcal.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert copy == model
        assert copy.predict_proba(logits).tobytes() == model.predict_proba(logits).tobytes()


def test_threads_do_not_change_bytes(files):
    logits, labels, _ = files
    models = [segcal.fit(logits, labels, "cms_op", ignore_index=255, threads=threads) for threads in (1, 2, 3)]
    assert len({model.to_json() for model in models}) == 1
    assert len({models[0].predict_proba(logits, threads=threads).tobytes() for threads in (1, 2, 3)}) == 1


def test_simulated_data_are_those_of_the_program(tmp_path):
    run("simulate", tmp_path / "program", "--preset", "roads", "--cases", 3, "--size", "24x32", "--seed", 7, "--quiet")
    data = segcal.simulate(tmp_path / "package", preset="roads", num_cases=3, size=[24, 32], seed=7)
    assert len(data) == 3
    names = sorted(path.relative_to(tmp_path / "program") for path in (tmp_path / "program").rglob("*.*"))
    assert names
    for name in names:
        assert (tmp_path / "package" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
