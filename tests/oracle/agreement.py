# SPDX-License-Identifier: Apache-2.0
"""When a number of the program agrees with that of an oracle."""

import math

import pytest


def agree(found, expected, what):
    """1e-9 relative or 1e-12 absolute; null is NaN."""
    found = math.nan if found is None else found
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), what
