# SPDX-License-Identifier: Apache-2.0
"""segcal train --folds and segcal predict --folds: predictions by networks that have not seen the case."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image
from program import evaluate, fails, fit, run
from training import SMALL, make_photos, needs_torch, train_networks  # noqa: F401, fixtures

pytestmark = needs_torch
FOLDED = ["--folds", 2, "--members", 2, "--epochs", 2, "--patches", 2, *SMALL, "--quiet"]


@pytest.fixture(name="folded", scope="module")
def train_in_folds(photos, tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds") / "run"
    printed = json.loads(run("train", photos, "-o", folder, *FOLDED, "--json").stdout)
    assert [(m["member"], m["fold"]) for m in printed["members"]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    return folder


def nets(folder, fold):
    return [(folder / f"member{m}" / f"fold{fold}" / "best.net").read_bytes() for m in (0, 1)]


def test_a_network_knows_nothing_of_the_cases_of_its_fold(photos, folded, tmp_path):
    """Other labels of one case change the networks of all folds but its own."""
    fold_of = json.loads((folded / "training.json").read_text())["fold_of"]
    assert sorted(fold_of.values()) == [0, 0, 1, 1]
    case, fold = next(iter(fold_of.items()))
    changed = tmp_path / "changed"
    shutil.copytree(photos, changed)
    path = changed / "labels" / f"{case}.png"
    Image.fromarray(np.zeros((40, 48), np.uint8)).save(path)
    run("train", changed, "-o", tmp_path / "run", *FOLDED)
    assert nets(tmp_path / "run", fold) == nets(folded, fold)
    for before, after in zip(nets(folded, 1 - fold), nets(tmp_path / "run", 1 - fold)):
        assert before != after


def test_every_case_is_predicted_by_those_that_left_it_out(photos, folded, tmp_path):
    run("predict", folded, photos, "-o", tmp_path / "all", "--threads", 1, "--quiet")
    printed = json.loads(run("predict", folded, photos, "--folds", "-o", tmp_path / "out", "--threads", 1, "--quiet",
                             "--json").stdout)
    assert printed == {"cases": 10, "members": 2, "held_out": 4, "learned": 0}
    fold_of = json.loads((folded / "training.json").read_text())["fold_of"]
    before = {c["id"]: c for c in json.loads((photos / "dataset.json").read_text())["cases"]}
    for case in json.loads((tmp_path / "out" / "dataset.json").read_text())["cases"]:
        name = case["id"]
        assert case["split"] == ("calibration" if name in fold_of else before[name]["split"])
        for member, path in enumerate(case["members"]):
            # Networks in the order of members, then folds.
            found = (tmp_path / "out" / path).read_bytes()
            matches = [f for f in (0, 1)
                       if found == (tmp_path / "all" / "logits" / f"m{2 * member + f}" / f"{name}.npy").read_bytes()]
            assert matches == [fold_of.get(name, matches[0])]
    fit(tmp_path / "out", "ts(z)", tmp_path / "m.json")
    assert len(evaluate(tmp_path / "out", "-m", tmp_path / "m.json", "--split", "test")["pipelines"]) == 1


def test_groups_stay_together(photos, tmp_path):
    data = json.loads((photos / "dataset.json").read_text())
    train = [c for c in data["cases"] if c["split"] == "train"]
    for case, group in zip(train, "abab"):
        case["group"] = group
    (photos / "groups.json").write_text(json.dumps(data))
    options = ["--epochs", 1, *SMALL, "--quiet"]
    run("train", photos / "groups.json", "-o", tmp_path / "run", "--folds", 2, *options)
    fold_of = json.loads((tmp_path / "run" / "training.json").read_text())["fold_of"]
    folds = [fold_of[case["id"]] for case in train]
    assert folds[0] == folds[2] != folds[1] == folds[3]
    message = fails(2, "train", photos / "groups.json", "-o", tmp_path / "other", "--folds", 3, *options)
    assert "folds 3" in message and "at most 2" in message


def test_networks_of_no_folds_say_so(photos, networks, tmp_path):
    folder, _ = networks
    message = fails(2, "predict", folder, photos, "--folds", "-o", tmp_path / "out", "--quiet")
    assert "not trained in folds" in message and "segcal train --folds" in message
    printed = json.loads(run("predict", folder, photos, "-o", tmp_path / "out", "--quiet", "--json").stdout)
    assert printed["learned"] == 4


def test_edited_descriptions_are_refused(photos, folded, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(folded, broken)
    path = broken / "training.json"
    good = path.read_text()
    for change, part in [({"fold_of": {"x": 2}}, "fold 2 of 2"), ({"members": 0}, "do not fit"),
                         ({"classes": ["a"]}, "do not fit"), ({"mean": [1.0]}, "do not fit")]:
        path.write_text(json.dumps({**json.loads(good), **change}))
        message = fails(3, "predict", broken, photos, "-o", tmp_path / "out", "--quiet")
        assert part in message and "training.json" in message, message
