# SPDX-License-Identifier: Apache-2.0
"""Rank tests, rankings and bootstrap intervals are those of SciPy and NumPy."""

import numpy as np
import pytest
from probing import probe
from random_stream import Stream
from scipy.stats import mannwhitneyu, norm, rankdata

NAN = float("nan")


def check_mann_whitney(x, y):
    for alternative in ("two-sided", "less", "greater"):
        found = probe("mann_whitney", {"x": x, "y": y, "alternative": alternative})
        expected = mannwhitneyu(x, y, alternative=alternative)
        assert found["u"] == expected.statistic
        assert found["p"] == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
        yield found["exact"]


@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (8, 8), (8, 60), (60, 7)])
def test_mann_whitney_of_small_samples_without_ties_is_exact(sizes):
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.normal(size=sizes[0]), rng.normal(0.7, size=sizes[1])
    assert all(check_mann_whitney(x, y))


@pytest.mark.parametrize("sizes", [(9, 9), (200, 200), (15, 500)])
def test_mann_whitney_of_larger_samples_is_normal(sizes):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=sizes[0]), rng.normal(0.4, size=sizes[1])
    assert not any(check_mann_whitney(x, y))


@pytest.mark.parametrize("values", [2, 5, 1000])
def test_mann_whitney_with_ties(values):
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, values, 70) / 7, rng.integers(values // 5, values, 50) / 7
    x[:2] = y[0]
    assert not any(check_mann_whitney(x, y))


def test_mann_whitney_far_in_the_tail():
    x, y = np.arange(100.0), np.arange(100.0) + 200.5
    assert not any(check_mann_whitney(x, y))


def test_benjamini_hochberg():
    """By its definition as a decision: reject the k smallest for the largest k with p_k <= k q / m."""
    rng = np.random.default_rng(3)
    p = np.concatenate([rng.random(30), rng.random(10) * 1e-3, [0.5, 0.5]])
    adjusted = np.array(probe("benjamini_hochberg", p))
    order = np.sort(p)
    for q in (0.01, 0.05, 0.2, 0.6):
        passing = np.nonzero(order <= q * np.arange(1, p.size + 1) / p.size)[0]
        rejected = p <= (order[passing[-1]] if passing.size else -1.0)
        assert np.array_equal(adjusted <= q, rejected)


def test_ranks():
    rng = np.random.default_rng(4)
    values = rng.integers(0, 10, 50) / 3
    assert probe("ranks", values) == rankdata(values).tolist()


def test_rankings():
    rng = np.random.default_rng(5)
    tables = [{"low_is_best": k != 1, "values": rng.integers(0, 12, (6, 40)) / 8} for k in range(4)]
    found = probe("rankings", tables)
    costs = [(1 if t["low_is_best"] else -1) * t["values"] for t in tables]
    assert found["sum_rank"] == pytest.approx(sum(rankdata(c.mean(axis=1)) for c in costs))
    ranks = np.mean([rankdata(c, axis=0) for c in costs], axis=0)
    assert found["mean_case_rank"] == pytest.approx(ranks.mean(axis=1), rel=1e-12)


def percentile_interval(values, replicates, level, seed):
    """Repeats, then cases; values without NaN."""
    means = []
    for k in range(replicates):
        stream, drawn = Stream(seed, k), []
        for _ in values:
            repeat = values[stream.below(len(values))]
            drawn.append(np.mean([repeat[stream.below(len(repeat))] for _ in repeat]))
        means.append(np.mean(drawn))
    return np.quantile(means, [(1 - level) / 2, (1 + level) / 2])


@pytest.mark.parametrize("sizes", [(20,), (2,), (10, 12, 7)])
def test_bootstrap_of_the_same_draws(sizes):
    rng = np.random.default_rng(6)
    values = [rng.gamma(2.0, size=n) for n in sizes]
    found = probe("bootstrap", {"first": values, "replicates": 300, "level": 0.9, "seed": 11})
    assert found["estimate"] == pytest.approx(np.mean([v.mean() for v in values]), rel=1e-12)
    expected = percentile_interval(values, 300, 0.9, 11)
    assert [found["lower"], found["upper"]] == pytest.approx(expected, rel=1e-9)


def test_paired_differences_leave_out_what_is_undefined_on_one_side():
    rng = np.random.default_rng(7)
    first, second = rng.gamma(2.0, size=(2, 3, 15))
    first[0, 3] = second[1, 5] = second[0, 0] = NAN
    found = probe("bootstrap", {"first": first, "second": second, "replicates": 200, "level": 0.95,
                                "seed": 2})
    differences = [d[~np.isnan(d)] for d in second - first]
    expected = percentile_interval(differences, 200, 0.95, 2)
    assert [found["lower"], found["upper"]] == pytest.approx(expected, rel=1e-9)


def test_bootstrap_of_a_mean_is_nearly_normal():
    values = np.random.default_rng(8).normal(size=500)
    found = probe("bootstrap", {"first": [values], "replicates": 50000, "level": 0.95, "seed": 1})
    error = values.std() / np.sqrt(values.size)
    assert found["upper"] == pytest.approx(values.mean() + norm.ppf(0.975) * error, abs=0.05 * error)
    assert found["lower"] == pytest.approx(values.mean() - norm.ppf(0.975) * error, abs=0.05 * error)
