# SPDX-License-Identifier: Apache-2.0
"""The free energy table of `inspect` against NumPy: spread per case, mean and quartiles over cases."""

import re

import numpy as np
import pytest
import reference
from program import describe, inspect, random_case, run, save_case


def ensemble(folder, num_cases, num_members, shape, dtype, mask_case=None):
    """Cases whose offset grows from case to case, and the logits of every member."""
    rng = np.random.default_rng(4)
    entries, cases = [], []
    for k in range(num_cases):
        members, labels = random_case(rng, 5, shape, num_members, dtype=dtype)
        offset = rng.normal(20.0, 1.0 + k, shape)
        members = [(m.astype(np.float64) + offset).astype(dtype) for m in members]
        mask = None
        if k == mask_case:
            mask = (rng.random(shape) < 0.6).astype(np.uint8)
        entries.append(save_case(folder, f"case{k}", members, labels, mask))
        cases.append((members, np.ones(shape, bool) if mask is None else mask != 0))
    return describe(folder, entries, 5), cases


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(41, 37), (7, 20, 30)])
def test_spread_for_every_ensemble_size(tmp_path, dtype, shape):
    dataset, cases = ensemble(tmp_path, num_cases=6, num_members=4, shape=shape, dtype=dtype,
                              mask_case=2)
    summary = inspect(dataset)
    assert [row["members"] for row in summary["free_energy"]] == [1, 2, 3, 4]
    for size, row in enumerate(summary["free_energy"], 1):
        spread = []
        for k, (members, present) in enumerate(cases):
            mean = np.mean([m.astype(np.float64) for m in members[:size]], axis=0)
            spread.append(reference.free_energy_of(mean)[present].std())
            found = summary["cases"][k]["free_energy_std_by_size"][size - 1]
            assert found == pytest.approx(spread[-1], rel=1e-9)
        assert row["cases"] == 6
        assert row["mean"] == pytest.approx(np.mean(spread), rel=1e-9)
        assert row["quartiles"] == pytest.approx(np.percentile(spread, [25, 50, 75]), rel=1e-9)
    for case in summary["cases"]:
        assert case["free_energy_std"] == case["free_energy_std_by_size"][-1]


def test_the_table_shows_these_numbers(tmp_path):
    dataset, _ = ensemble(tmp_path, num_cases=3, num_members=2, shape=(20, 20), dtype=np.float32)
    text = run("inspect", dataset, "--quiet").stdout
    for row in inspect(dataset)["free_energy"]:
        numbers = [row["mean"], *row["quartiles"]]
        line = " +".join(f"{number:.2f}" for number in numbers)
        assert re.search(rf"^ *{row['members']} +3 +{line}$", text, re.MULTILINE)


def test_probabilities_of_one_member_have_none(tmp_path):
    rng = np.random.default_rng(5)
    probs = rng.dirichlet(np.ones(4), (20, 20)).transpose(2, 0, 1)
    labels = rng.integers(0, 4, (20, 20)).astype(np.uint8)
    entry = save_case(tmp_path, "a", [probs], labels)
    row, = inspect(describe(tmp_path, [entry], 4, input="probabilities"))["free_energy"]
    assert row["cases"] == 1 and abs(row["mean"]) < 1e-7
