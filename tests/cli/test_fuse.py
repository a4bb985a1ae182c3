# SPDX-License-Identifier: Apache-2.0
"""segcal fuse: what it prints, and what it says to wrong input."""

import json

import numpy as np
import pytest
from program import change, fails, fit, run, small_dataset


@pytest.fixture(scope="session", name="atlases")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlases") / "data"
    run("simulate", folder, "--preset", "candidates", "--cases", 4, "--members", 3, "--size",
        "6x16x16", "--quiet")
    return folder


def test_people_get_a_table_with_both_bounds(atlases, tmp_path):
    text = run("fuse", atlases, "-o", tmp_path / "out").stdout
    for part in ("4 cases of 3 candidates", "uncalibrated", "best calibration", "best fusion", "DSC",
                 "difference from uncalibrated", "wrote 4 segmentations"):
        assert part in text, part
    assert run("fuse", atlases, "--table", "csv").stdout.startswith("fused with,")


def test_several_models_go_to_folders_of_their_own(atlases, tmp_path):
    run("fuse", atlases, "--votes", tmp_path / "votes", "--quiet")
    models = tmp_path / "models"
    for name in ("ts(z)", "vs(z)"):
        fit(tmp_path / "votes", name, models / f"{name[:2]}.json")
    run("fuse", atlases, "-c", models, "-o", tmp_path / "out", "--split", "test", "--quiet")
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {"uncalibrated", "ts(z)"}


def test_candidates_without_labels_are_fused_and_not_measured(atlases, tmp_path):
    content = json.loads((atlases / "dataset.json").read_text())
    for case in content["cases"]:
        del case["labels"]
    (atlases / "bare.json").write_text(json.dumps(content))
    done = run("fuse", atlases / "bare.json", "-o", tmp_path / "out")
    assert "wrote 4 segmentations" in done.stdout and "DSC" not in done.stdout
    assert json.loads(run("fuse", atlases / "bare.json", "--json").stdout)["rows"] == []


def test_wrong_usage_is_named(atlases, dataset, model, tmp_path):
    out = tmp_path / "out"
    for arguments, parts in [
            ([atlases, "-m", "staple"], ["--method", "staple", "jlf"]),
            ([atlases, "--ridge", 0], ["ridge", "positive"]),
            ([atlases, "-p", "ts(z)"], ["-p", "-o"]),
            ([atlases, "-p", "ts(z)", "-c", model, "-o", out], ["-p", "-c"]),
            ([atlases, "--votes", tmp_path / "v", "-o", out], ["--votes", "-o"]),
            ([atlases, "--split", "none"], ['"none"', "calibration"]),
            ([atlases, "-c", model], ["ts(z)", "wrong, right"])]:
        message = fails(2, "fuse", *arguments)
        assert all(part in message for part in parts), message
    message = fails(3, "fuse", dataset, "-o", out)
    assert "case0" in message and "at least two" in message
    assert not out.exists()


def test_bad_candidates_are_named_and_leave_nothing(atlases, tmp_path):
    content = json.loads((atlases / "dataset.json").read_text())
    first = content["cases"][0]

    def broken(name, **fields):
        cases = [{**first, **fields}, *content["cases"][1:]]
        path = atlases / f"{name}.json"
        path.write_text(json.dumps({**content, "cases": cases}))
        return path

    np.save(atlases / "small.npy", np.zeros((6, 16, 15), np.uint8))
    np.save(atlases / "nine.npy", np.full((6, 16, 16), 9, np.uint8))
    for path, parts in [
            (broken("a", candidates=first["candidates"][:2]), ["cases[0]", "2 candidates", "3"]),
            (broken("b", candidates=None), [first["id"], "label maps"]),
            (broken("c", candidates=["small.npy", *first["candidates"][1:]]),
             ["small.npy", "(6, 16, 15)", "(6, 16, 16)"]),
            (broken("d", candidates=["nine.npy", *first["candidates"][1:]]), ["nine.npy", "9"])]:
        message = fails(3, "fuse", path, "-o", tmp_path / "out")
        assert all(part in message for part in parts), message
        assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    done = run("fuse", broken("d", candidates=["nine.npy", *first["candidates"][1:]]), "-o",
               tmp_path / "out", "--skip-bad")
    assert f"skipped {first['id']}" in done.stderr and "3 cases" in done.stdout


def test_options_of_scenes_do_not_apply_to_candidates(tmp_path):
    message = fails(2, "simulate", tmp_path / "x", "--preset", "candidates", "--offset", 2)
    assert "--offset" in message and "candidates" in message
    assert "members" in fails(2, "simulate", tmp_path / "x", "--preset", "candidates", "--members", 0)
    assert "candidates 1" in fails(2, "simulate", tmp_path / "x", "--preset", "candidates",
                                   "--members", 1)


def test_majority_needs_a_background(tmp_path):
    dataset = small_dataset(tmp_path, num_members=3)
    message = fails(2, "fuse", dataset, "-m", "majority")
    assert "majority" in message and "background" in message
    change(dataset, lambda d: d.update(background=0))
    run("fuse", dataset, "-m", "majority")
