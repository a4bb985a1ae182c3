# SPDX-License-Identifier: Apache-2.0
"""Asks segcal_probe: arrays and numbers in, the same out; null is NaN."""

import json
import math
import os
import subprocess

import numpy as np


def plain(value):
    """As JSON has it."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return None if isinstance(value, float) and math.isnan(value) else value


def probe(command, arguments):
    """What the library computes."""
    out = subprocess.run([os.environ["SEGCAL_PROBE"], command], input=json.dumps(plain(arguments)),
                         capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def flat(array, dtype):
    """A list of plain numbers in C order."""
    return np.asarray(array).ravel().astype(dtype).tolist()
