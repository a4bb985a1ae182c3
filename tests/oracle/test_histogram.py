# SPDX-License-Identifier: Apache-2.0
"""Histogram binning against counts by NumPy on the same emitted probabilities."""

import numpy as np
import pytest
import reference
from calibration_case import CalibrationCase, renormalised


def counted(p, hits, which, num_bins, middle):
    """Smoothed frequency of every bin; empty ones keep their middle."""
    count = np.bincount(which, minlength=num_bins)
    right = np.bincount(which, weights=hits, minlength=num_bins)
    return np.where(count > 0, (right + 0.5) / (count + 1.0), middle)


@pytest.mark.parametrize("bins", [1, 7, 15])
def test_equal_widths_equal_numpy(tmp_path, bins):
    case = CalibrationCase(tmp_path, 4, scale=4.0)
    case.fit(f"hist(z, bins={bins})", "hist")
    p, labels = case.labelled(case.probs["calibration"]), case.labelled(case.labels["calibration"])
    middle = (np.arange(bins) + 0.5) / bins
    values = [counted(p[c], labels == c, reference.closed_above(p[c], bins), bins, middle)
              for c in range(4)]
    for found, expected in zip(case.parameters("hist")["classes"], values):
        np.testing.assert_allclose(found["values"], expected, rtol=1e-14)
    emitted = case.emitted("hist")
    for split, probs in case.probs.items():
        mapped = np.stack([values[c][reference.closed_above(probs[c], bins)] for c in range(4)])
        assert np.abs(emitted[split] - renormalised(mapped, probs)).max() < 1e-7


def test_equal_masses_have_equal_masses(tmp_path):
    bins = 10
    case = CalibrationCase(tmp_path, 3)
    case.fit(f"hist(z, bins={bins}, edges=mass)", "hist")
    p, labels = case.labelled(case.probs["calibration"]), case.labelled(case.labels["calibration"])
    for c, found in enumerate(case.parameters("hist")["classes"]):
        which = np.searchsorted(found["upper"], p[c], side="left")
        count = np.bincount(which, minlength=len(found["upper"]))
        assert len(count) == bins
        assert np.abs(count - labels.size / bins).max() <= 2
        expected = counted(p[c], labels == c, which, bins, np.full(bins, np.nan))
        np.testing.assert_allclose(found["values"], expected, rtol=1e-14)
