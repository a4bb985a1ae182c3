# SPDX-License-Identifier: Apache-2.0
"""Temperatures per voxel: written by apply, drawn by evaluate, the same for any memory and threads."""

import json

import numpy as np
from program import apply, fails, fit, run, small_dataset


def test_a_map_of_temperatures_is_written_and_drawn(tmp_path):
    # A single case is judged by itself, so that some epoch is better than one temperature.
    dataset = small_dataset(tmp_path, num_cases=1, shape=(30, 40))
    fit(dataset, "lts(z, epochs=20)", tmp_path / "lts.json")
    fit(dataset, "ts(z)", tmp_path / "ts.json")
    apply(tmp_path / "lts.json", dataset, tmp_path / "out", "temperature")
    temperature = np.load(tmp_path / "out" / "case0.npy")
    assert temperature.shape == (30, 40)
    assert np.all(temperature >= 1e-3) and np.all(np.isfinite(temperature))
    run("evaluate", dataset, "-m", tmp_path / "lts.json", "--figures", tmp_path / "f")
    assert "Temperature" in (tmp_path / "f" / "case.svg").read_text()
    run("evaluate", dataset, "-m", tmp_path / "ts.json", "--figures", tmp_path / "g")
    assert "temperature" not in (tmp_path / "g" / "case.svg").read_text()


def test_maps_do_not_depend_on_threads_and_memory(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=1, num_classes=30, shape=(2, 60, 1500))
    fit(dataset, "lts(z, epochs=1, epoch_voxels=10000)", tmp_path / "lts.json")
    written = []
    for threads, memory in ((1, "64M"), (3, "64M"), (2, "2G")):
        folder = tmp_path / f"{threads}{memory}"
        apply(tmp_path / "lts.json", dataset, folder, "temperature", "npy", "--threads", threads,
              "--memory", memory)
        written.append((folder / "case0.npy").read_bytes())
    assert written[0] == written[1] == written[2]


def test_a_search_without_validation_cases_needs_no_folds(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=1)
    assert "too few groups" in fails(2, "fit", dataset, "-p", "cms_ap(z)", "--search", 2, "-o",
                                     tmp_path / "m.json")
    run("fit", dataset, "-p", "ibts(z, epochs=2)", "--search", 2, "-o", tmp_path / "m.json")
    search = json.loads((tmp_path / "m.json").read_text())["fit"]["search"]
    assert len(search["trials"]) == 2
