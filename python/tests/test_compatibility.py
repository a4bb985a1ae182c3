# SPDX-License-Identifier: Apache-2.0
"""Model files of earlier versions load, and do what they did; tests/golden/README.md says where they come from."""

import numpy as np
import segcal
from data import SOURCE, draw, softmax


# Closed form: ts(p) is softmax(beta log p), p the mean probabilities of the members.
def test_model_of_0_1_0():
    model = segcal.load(SOURCE / "tests" / "golden" / "model_0.1.0.json")
    assert model.pipeline.startswith("ts(p") and model.classes == ["sky", "road"]
    assert model.temperature == 2.0 and model.preserves == "order" and model.translation_invariant
    assert model.report.status == "converged" and model.report.warnings == ["one"]
    first, second = (draw((2, 30, 20), seed=seed, axis=0)[0] for seed in (0, 1))
    mean = (softmax(first, 0) + softmax(second, 0)) / 2
    np.testing.assert_allclose(model.predict_proba(segcal.Members(first, second)), softmax(0.5 * np.log(mean), 0),
                               atol=2e-6)
    again = segcal.Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
