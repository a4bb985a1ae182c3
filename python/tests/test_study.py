# SPDX-License-Identifier: Apache-2.0
"""Studies and their pages: the files of the program, byte for byte."""

import json

import numpy as np
import pytest
import segcal
from data import draw, run, write_dataset

# A study's own files: how it was started and how long it took are no results.
NOT_RESULTS = ("run.json", "timing.json")


def results(folder):
    """Every file of a study that is a result, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.*"))
            if path.is_file() and path.name not in NOT_RESULTS and "units" not in path.parts}


@pytest.fixture(name="files", scope="module")
def fixture_files(tmp_path_factory):
    logits, labels = draw((8, 4, 20, 24))
    return logits, labels, write_dataset(tmp_path_factory.mktemp("data"), logits, labels)


@pytest.fixture(name="study", scope="module")
def fixture_study(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "package"
    return segcal.compare(files[2], None, ["ts(z)", "vs(z)"], folder=folder, repeats=2, search=2, replicates=100,
                          pairs=[("ts(z)", "vs(z)")], ece_bins=[10, 20])


def test_study_is_that_of_the_program(files, study, tmp_path):
    run("compare", files[2], "-p", "ts(z)", "-p", "vs(z)", "-o", tmp_path / "program", "--repeats", 2, "--search", 2,
        "--replicates", 100, "--pair", "ts(z)=vs(z)", "--ece-bins", "10,20", "--quiet")
    found, expected = results(type(tmp_path)(study.folder)), results(tmp_path / "program")
    assert set(found) == set(expected) and len(found) > 10
    assert [name for name in found if found[name] != expected[name]] == []
    assert study.to_json() == (tmp_path / "program" / "study.json").read_text()
    assert segcal.Study.load(tmp_path / "program").to_json() == study.to_json()


def test_study_of_arrays_is_that_of_their_files(files, study):
    logits, labels, _ = files
    same = segcal.compare(logits, labels, ["ts(z)", "vs(z)"], repeats=2, search=2, replicates=100,
                          pairs=[("ts(z)", "vs(z)")], ece_bins=[10, 20])
    found, expected = same.to_dict(), study.to_dict()
    for content in (found, expected):  # models lie in files of one of them alone
        for repeat in content["repeats"]:
            for fit in repeat["fits"]:
                fit.pop("model", None)
        content["recommendation"].pop("commands")
    assert found == expected
    with pytest.raises(ValueError, match="folder="):
        same.model  # pylint: disable=pointless-statement


def test_study_says_what_it_found(study, files):
    assert study.recommendation.pipeline in study.pipelines
    assert study.recommendation.reasons and f"Recommended: {study.recommendation.pipeline}" in repr(study)
    assert study.model.pipeline.startswith(study.recommendation.pipeline.partition("(")[0])
    assert study.model.predict_proba(files[0]).shape == files[0].shape
    assert study.repeats[0]["ts"]["nll"] == study.to_dict()["repeats"][0]["result"]["pipelines"][3]["mean"]["nll"]
    for name in study.tables:
        assert study.table(name) and study.table(name, "csv") and r"\begin" in study.table(name, "latex")
    assert "<table>" in study._repr_html_()
    assert "ts(z) → vs(z)" in study.figure(["nll"]).svg
    assert study.to_csv().count("\n") > len(study.pipelines)
    with pytest.raises(ValueError, match="results"):
        study.table("gone")
    with pytest.raises(ValueError, match="markdown"):
        study.table(form="gone")


def test_study_goes_on_where_it_was_stopped(files, study, tmp_path):
    given = {"repeats": 2, "search": 2, "replicates": 100, "pairs": [("ts(z)", "vs(z)")], "ece_bins": [10, 20]}
    stages = []

    def stop(stage, done, _total, _detail):
        stages.append(stage)
        return len(stages) < 12
    with pytest.raises(segcal.Cancelled):
        segcal.compare(files[2], None, ["ts(z)", "vs(z)"], folder=tmp_path / "s", progress=stop, **given)
    with pytest.raises(ValueError, match="resume"):
        segcal.compare(files[2], None, ["ts(z)", "vs(z)"], folder=tmp_path / "s", **given)
    again = segcal.compare(files[2], None, ["ts(z)", "vs(z)"], folder=tmp_path / "s", resume=True, **given)
    assert again.to_json() == study.to_json()


def test_options_of_a_study(files, tmp_path):
    logits, labels, file = files
    shifted = segcal.Dataset(zip(logits + np.float32(1), labels))
    study = segcal.compare(file, None, "ts(z)", repeats=1, replicates=50, split=[4, 2, 2], seed=3, score="brier",
                           preserve="order", metrics=["nll", "brier"], shifts={"offset": shifted},
                           folder=tmp_path / "s")
    content = study.to_dict()
    assert [len(content["repeats"][0][name]) for name in ("calibration", "validation", "test")] == [4, 2, 2]
    assert content["shifts"][0]["name"] == "offset"
    assert content["recommendation"]["score"] == "brier" and content["recommendation"]["preserves"] == "order"
    kept = json.loads((tmp_path / "s" / "run.json").read_text())
    assert kept["dataset"] == str(file) and kept["command"].startswith("segcal.compare(pipelines='ts(z)'")
    with pytest.raises(ValueError, match="own"):
        segcal.compare(file, None, "ts(z)", split="mine")
    with pytest.raises(ValueError, match="nope"):
        segcal.compare(file, None, "nope")
    with pytest.raises(ValueError, match="argmax"):
        segcal.compare(file, None, "ts(z)", preserve="all")
    with pytest.raises(TypeError, match="repeats"):
        segcal.compare(file, None, "ts(z)", repeats="three")


def test_page_is_that_of_the_program(study, tmp_path):
    run("report", study.folder, "-o", tmp_path / "program.html", "--cases", 2, "--quiet")
    page = study.report(cases=2)
    page.save(tmp_path / "package.html")
    assert (tmp_path / "package.html").read_bytes() == (tmp_path / "program.html").read_bytes()
    assert page.explored == 2 and page.missing == "" and "2 cases" in repr(page)
    assert page._repr_html_().startswith("<iframe")
    with pytest.raises(OSError, match="compare"):
        segcal.report(tmp_path)


def test_page_of_arrays_has_no_cases(files):
    logits, labels, _ = files
    page = segcal.report(segcal.compare(logits, labels, "ts(z)", repeats=1, replicates=50))
    assert page.explored == 0 and "data set" in page.missing
    assert "ts(z)" in page.html
