# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the command-line tests."""

import pytest
from program import fit, small_dataset


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """A small labelled data set that no test changes."""
    return small_dataset(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def model(dataset, tmp_path_factory):
    """A temperature model of that data set."""
    path = tmp_path_factory.mktemp("model") / "ts.json"
    fit(dataset, "ts(z)", path)
    return path
