# SPDX-License-Identifier: Apache-2.0
"""Fuzzing draws the same inputs in every run; SEGCAL_FUZZ_EXAMPLES=100000 asks for more of them."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("segcal", derandomize=True, database=None, deadline=None,
                          suppress_health_check=list(HealthCheck),
                          max_examples=int(os.environ.get("SEGCAL_FUZZ_EXAMPLES", "300")))
settings.load_profile("segcal")
