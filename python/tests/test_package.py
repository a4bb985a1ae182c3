# SPDX-License-Identifier: Apache-2.0
"""What people look for in a package they may depend on: versions that agree, metadata, torchmetrics' interface."""

import re

import numpy as np
import pytest
import segcal
from data import SOURCE, draw, softmax
from segcal.torch import CalibrationError


def test_one_version_everywhere():
    cmake = re.search(r"project\(segcal VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
    citation = re.search(r"^version: (.*)$", (SOURCE / "CITATION.cff").read_text(), re.MULTILINE).group(1)
    assert segcal.__version__ == cmake == citation


def test_security_and_compatibility_are_stated():
    assert "vulnerability" in (SOURCE / "SECURITY.md").read_text()
    assert "model files" in (SOURCE / "docs" / "compatibility.md").read_text()


def test_interface_of_torchmetrics():
    logits, labels = draw((4, 3, 16, 16))
    p = softmax(logits, 1).astype(np.float32)
    error = CalibrationError(num_classes=3, n_bins=15)
    first = error(p[:2], labels[:2])
    assert first == segcal.metrics.ece(p[:2], labels[:2], bins=15)
    error.update(p[2:], labels[2:])
    assert error.compute() == segcal.metrics.ece(p, labels, bins=15)
    other = CalibrationError(num_classes=3, n_bins=15)
    other.load_state_dict(error.state_dict())
    other.merge(error)
    assert other.compute() == pytest.approx(error.compute(), abs=1e-15)
    assert CalibrationError(norm="max").forward(p, labels) == segcal.metrics.mce(p, labels)
    error.reset()
    assert np.isnan(error.compute())
    with pytest.raises(ValueError, match="4 classes"):
        CalibrationError(num_classes=4).update(p, labels)
    with pytest.raises(ValueError, match="l1"):
        CalibrationError(norm="l2")


def test_plots():
    pytest.importorskip("matplotlib").use("agg")
    from segcal.plots import reliability_diagram
    logits, labels = draw((2, 3, 16, 16))
    model = segcal.fit(logits, labels, "ts")
    result = segcal.evaluate(["none", model], logits, labels)
    axis = reliability_diagram(result, "none(z)")
    assert reliability_diagram(result, ax=axis) is axis
    drawn = axis.get_lines()[1].get_xydata()
    bins = result.reliability("none")
    np.testing.assert_allclose(drawn[:, 1], bins["accuracy"][bins["count"] > 0])
