# SPDX-License-Identifier: Apache-2.0
"""What a model remembers of its fit, and what commands make of it."""

import json
import re

import pytest
from program import change, evaluate, fails, fit, run, small_dataset


def edit(path, change_content):
    content = json.loads(path.read_text())
    change_content(content)
    path.write_text(json.dumps(content))
    return path


def as_of_version_01(path):
    """The model file as 0.1.0 wrote it."""
    def forget(content):
        for key in ("members", "case_hashes"):
            content["fit"]["data"].pop(key)
        content["fit"].pop("identity")
    return edit(path, forget)


def test_a_model_knows_the_size_of_its_ensemble(tmp_path):
    three = small_dataset(tmp_path / "three", num_members=3)
    five = small_dataset(tmp_path / "five", num_members=5)
    model = tmp_path / "m.json"
    assert fit(three, "ts(z)", model)["fit"]["data"]["members"] == 3
    warning = "ts(z) was fitted on an ensemble of 3, the data set \"test\" has 5"
    assert warning in run("apply", model, five, "-o", tmp_path / "out").stderr
    assert warning in run("evaluate", five, "-m", model).stderr
    assert "fitted on an ensemble" not in run("apply", model, three, "-o", tmp_path / "out").stderr
    fit(three, "ts(z1)", model)
    assert run("apply", model, five, "-o", tmp_path / "out").stderr == "", "one member alone is the same"
    as_of_version_01(model)
    assert run("apply", model, five, "-o", tmp_path / "out").stderr == ""


def test_evaluate_knows_the_cases_that_were_fitted_on(tmp_path):
    """By their content: without splits, under other names, in another order."""
    dataset = small_dataset(tmp_path, num_cases=5)
    content = json.loads(dataset.read_text())
    fitted = {**content, "cases": content["cases"][:2]}
    others = {**content, "cases": content["cases"][2:]}
    mixed = {**content, "cases": [content["cases"][4], {**content["cases"][0], "id": "renamed"}]}
    for name, part in (("fitted", fitted), ("others", others), ("mixed", mixed)):
        (tmp_path / f"{name}.json").write_text(json.dumps(part))
    model = tmp_path / "m.json"
    assert len(fit(tmp_path / "fitted.json", "ts(p)", model)["fit"]["data"]["case_hashes"]) == 2
    warning = "1 of the 2 cases took part in the fit of ts(p) (renamed)"
    assert warning in run("evaluate", tmp_path / "mixed.json", "-p", "none(z)", "-m", model).stderr
    assert warning in evaluate(tmp_path / "mixed.json", "-m", model)["warnings"][0]
    assert run("evaluate", tmp_path / "others.json", "-m", model).stderr == ""
    assert "2 of the 2 cases" in run("evaluate", tmp_path / "fitted.json", "-m", model).stderr
    as_of_version_01(model)
    assert run("evaluate", tmp_path / "fitted.json", "-m", model).stderr == "", "it cannot know"


def test_cases_that_a_model_was_chosen_by_count_too(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=6)
    splits = ["calibration", "calibration", "validation", "test", "test", "test"]
    change(dataset, lambda d: [case.update(split=split) for case, split in zip(d["cases"], splits)])
    fit(dataset, "ts(z)", tmp_path / "m.json")
    done = run("evaluate", dataset, "-m", tmp_path / "m.json")
    assert "3 of the 6 cases took part in the fit of ts(z) (case0, case1, case2)" in done.stderr
    assert "--split leaves them out" in done.stderr
    assert run("evaluate", dataset, "-m", tmp_path / "m.json", "--split", "test").stderr == ""
    as_of_version_01(tmp_path / "m.json")
    done = run("evaluate", dataset, "-m", tmp_path / "m.json")
    assert '3 of the 6 cases are of split "calibration" or "validation"' in done.stderr


@pytest.mark.parametrize("pipeline", ["ts(z)", "selective+ts(z, selective.epochs=2)"])
def test_a_finished_model_is_kept_where_nothing_changed(tmp_path, pipeline):
    dataset = small_dataset(tmp_path / "data", shape=(40, 40))
    model = tmp_path / "m.json"
    fit(dataset, pipeline, model)
    mark = edit(model, lambda m: m["fit"]["warnings"].append("mark")).read_bytes()
    arguments = ["fit", dataset, "-p", pipeline, "-o", model, "--resume"]
    assert "complete" in run(*arguments).stdout and model.read_bytes() == mark
    assert ", kept" in run(*arguments, "--threads", 2, "--memory", "1G").stdout
    assert ", kept" not in run(*arguments, "--seed", 3).stdout and model.read_bytes() != mark


def test_a_model_of_other_data_is_fitted_again(tmp_path):
    dataset = small_dataset(tmp_path / "data")
    model = tmp_path / "m.json"
    before = fit(dataset, "ts(z)", model)["parameters"]
    small_dataset(tmp_path / "data", seed=2)
    done = run("fit", dataset, "-p", "ts(z)", "-o", model, "--resume")
    assert ", kept" not in done.stdout and json.loads(model.read_text())["parameters"] != before


def test_validation_cases_are_part_of_what_a_model_depends_on(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=3)
    splits = ["calibration", "calibration", "validation"]
    change(dataset, lambda d: [case.update(split=split) for case, split in zip(d["cases"], splits)])
    arguments = ["fit", dataset, "-p", "vs(z)", "-o", tmp_path / "m.json", "--resume", "--search", 2]
    run(*arguments)
    assert ", kept" in run(*arguments).stdout
    (tmp_path / "case2_labels.npy").write_bytes((tmp_path / "case1_labels.npy").read_bytes())
    assert ", kept" not in run(*arguments).stdout


def test_a_set_goes_on_where_it_was_stopped(dataset, tmp_path):
    models = tmp_path / "models"
    arguments = ["fit", dataset, "-p", "fast", "-o", models]
    run(*arguments, "--quiet")
    whole = {path.name: path.read_bytes() for path in models.iterdir()}
    (models / "ets_p.json").unlink()
    (models / "ts_z.json").write_bytes((models / "ts_p.json").read_bytes())
    done = run(*arguments, "--resume")
    assert done.stdout.count(", kept") == len(whole) - 2
    assert {path.name: path.read_bytes() for path in models.iterdir()} == whole


def test_a_baseline_is_listed_once(dataset, tmp_path):
    run("fit", dataset, "-p", "fast", "-o", tmp_path / "models", "--quiet")
    names = [p["pipeline"] for p in evaluate(dataset, "-p", "none(z)", "-m", tmp_path / "models")["pipelines"]]
    assert names[0] == "none(z)" and names.count("none(z)") == 1 and len(names) == 7
    assert "-m" in fails(2, "evaluate", dataset, "-p", "ts(z)")


def test_inspect_of_a_model_is_a_summary(dataset, model):
    text = run("inspect", model).stdout
    for line in (r"^ts\(z\): 4 classes, takes logits$", r"^  fitted on test: 3 cases of 1 member, \d+ labelled voxels of 1800$",
                 r"^  NLL \d\.\d{5} -> \d\.\d{5}$", r"^  temperature \d", r"^  converged in \d+ pass.*residual \d\.\de-\d+$",
                 r"^  translation invariant: yes; preserves: order$"):
        assert re.search(line, text, re.MULTILINE), (line, text)
    assert "segcal_model" not in text and len(text.splitlines()) < 12
    assert json.loads(run("inspect", model, "--json").stdout) == json.loads(model.read_text())


def test_inspect_of_a_folder_of_models_is_a_table(dataset, tmp_path):
    run("fit", dataset, "-p", "fast", "-o", tmp_path / "models", "--quiet")
    lines = run("inspect", tmp_path / "models").stdout.splitlines()
    assert lines[0].split()[:2] == ["file", "pipeline"] and len(lines) == 9
    row = next(line for line in lines if line.startswith("ts_z.json"))
    assert "ts(z)" in row and "converged" in row and "order" in row
    models = json.loads(run("inspect", tmp_path / "models", "--json").stdout)
    assert [m["segcal_model"] for m in models] == [1] * 7
