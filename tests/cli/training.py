# SPDX-License-Identifier: Apache-2.0
"""Images, and networks trained on them, for the tests of segcal train and predict."""

import json

import pytest
from program import PROGRAM, run

HERE = (PROGRAM.parent / "segcal-train").exists()
needs_torch = pytest.mark.skipif(not HERE, reason="segcal-train is not built: there is no libtorch")
SMALL = ["--width", 4, "--depth", 2, "--batch", 4, "--threads", 1]
TRAINED = ["--members", 2, "--epochs", 12, "--patches", 4, "--learning-rate", 0.02, *SMALL]


@pytest.fixture(name="photos", scope="session")
def make_photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train") / "photos"
    run("simulate", folder, "--images", "--classes", 3, "--cases", 10, "--size", "40x48", "--quiet")
    return folder


@pytest.fixture(name="networks", scope="session")
def train_networks(photos):
    """A run of two members, and what it printed."""
    folder = photos.parent / "networks"
    printed = run("train", photos, "-o", folder, *TRAINED, "--loss", "svls", "--json", "--quiet").stdout
    return folder, json.loads(printed)
