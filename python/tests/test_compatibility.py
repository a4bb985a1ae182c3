# SPDX-License-Identifier: Apache-2.0
"""Model files of earlier versions load, and do what they did; tests/golden/README.md says where they come from."""

import json
import sys

import numpy as np
import pytest
import segcal
from data import SOURCE, draw, softmax

GOLDEN = SOURCE / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))
import make as golden  # noqa: E402  pylint: disable=wrong-import-position

VERSIONS = sorted(folder.name for folder in GOLDEN.iterdir() if (folder / "probabilities.json").exists())
MODELS = [(version, pipeline.partition("(")[0]) for version in VERSIONS for pipeline in golden.PIPELINES]


@pytest.mark.parametrize("version,name", MODELS)
def test_models_give_the_probabilities_of_their_version(version, name):
    model = segcal.load(GOLDEN / version / f"{name}.json")
    expected = np.reshape(json.loads((GOLDEN / version / "probabilities.json").read_text())[name],
                          (golden.CLASSES, golden.HEIGHT, golden.WIDTH))
    case = segcal.Case(segcal.Members(*golden.members()), image=golden.image())
    np.testing.assert_allclose(model.predict_proba(case), expected, rtol=0, atol=1e-6)
    assert model.pipeline.startswith(name) and model.num_parameters >= 0
    stored = json.loads((GOLDEN / version / f"{name}.json").read_text())["fit"]
    if stored is not None:
        assert model.report.nll_after == stored["nll_after"] and model.report.status == stored["status"]
    assert segcal.Model.from_json(model.to_json()).to_json() == model.to_json()


@pytest.mark.parametrize("version", VERSIONS)
def test_data_sets_and_metrics_load(version):
    data = segcal.Dataset.load(GOLDEN / version / "dataset.json")
    assert len(data) == 4 and data.classes == ["building", "road", "sky"] and data.ignore_index == 255
    metrics = segcal.Evaluation.load(GOLDEN / version / "metrics.json")
    assert metrics.pipelines == ["none(z)", "ts(z)"] and metrics["ts"]["nll"] < metrics["none"]["nll"]


# Closed form: ts(p) is softmax(beta log p), p the mean probabilities of the members.
def test_model_of_0_1_0():
    model = segcal.load(GOLDEN / "model_0.1.0.json")
    assert model.pipeline.startswith("ts(p") and model.classes == ["sky", "road"]
    assert model.temperature == 2.0 and model.preserves == "order" and model.translation_invariant
    assert model.report.status == "converged" and model.report.warnings == ["one"]
    first, second = (draw((2, 30, 20), seed=seed, axis=0)[0] for seed in (0, 1))
    mean = (softmax(first, 0) + softmax(second, 0)) / 2
    np.testing.assert_allclose(model.predict_proba(segcal.Members(first, second)), softmax(0.5 * np.log(mean), 0),
                               atol=2e-6)
    again = segcal.Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
