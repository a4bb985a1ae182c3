# SPDX-License-Identifier: Apache-2.0
"""Rank tests, rankings and bootstrap intervals are those of SciPy and NumPy."""

import csv
import json

import numpy as np
import pytest
from probing import probe
from program import describe, random_case, run, save_case
from random_stream import Stream
from scipy.stats import mannwhitneyu, norm, rankdata, wilcoxon

NAN = float("nan")
LOW_IS_BEST = {"nll": True, "ece": True, "ace": True, "dsc": False}


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


def check_wilcoxon(differences, method):
    """SciPy's W is the smaller sum of both signs where the test is two-sided, ours that of the positive."""
    for alternative in ("two-sided", "less", "greater"):
        found = probe("wilcoxon", {"differences": differences, "alternative": alternative})
        expected = wilcoxon(differences, alternative=alternative, method=method)
        n = np.count_nonzero(differences)
        smaller = min(found["w"], n * (n + 1) / 2 - found["w"])
        assert (smaller if alternative == "two-sided" else found["w"]) == expected.statistic
        assert found["p"] == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
        assert found["exact"] == (method == "exact")


@pytest.mark.parametrize("size", [1, 2, 5, 14, 30, 50])
def test_wilcoxon_of_at_most_fifty_differences_is_exact(size):
    rng = np.random.default_rng(size)
    for shift in (0.0, 0.5, -3.0):
        check_wilcoxon(rng.normal(shift, size=size), "exact")


@pytest.mark.parametrize("size", [51, 400])
def test_wilcoxon_of_more_differences_is_normal(size):
    check_wilcoxon(np.random.default_rng(size).normal(0.2, size=size), "approx")


@pytest.mark.parametrize("values", [2, 4, 20])
def test_wilcoxon_with_ties_and_zeros(values):
    rng = np.random.default_rng(values)
    differences = rng.integers(1, values + 1, 40) * rng.choice([-1, 1, 1], 40) / 8
    check_wilcoxon(differences, "approx")
    differences[::7] = 0.0
    check_wilcoxon(differences, "approx")


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


def step_up(p):
    """The formula: p times the number of tests over its rank, the smallest of those above."""
    order = np.argsort(p)
    scaled = np.asarray(p)[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0)
    return adjusted


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


def average_error(cells):
    """ACE in 15 bins over [0, 1 + 1e-8] from rows of cells; NaN without any."""
    sums = {}
    for row in cells:
        k = min(int(float(row["lower"]) // ((1.0 + 1e-8) / 15)), 14)
        count, gap = sums.get(k, (0, 0.0))
        sums[k] = (count + int(row["count"]),
                   gap + float(row["confidence_sum"]) - int(row["correct"]))
    return np.mean([abs(gap) / count for count, gap in sums.values()])


class Evaluation:
    """What `evaluate --statistics` says, and the values of cases to compute it from again."""

    def __init__(self, folder, groups):
        rng = np.random.default_rng(12)
        entries = []
        for k, group in enumerate(groups):
            members, labels = random_case(rng, 3, (8 + k, 9), 2)
            if k == 1:
                labels[:] = 255  # nothing is defined
            fields = {} if group is None else {"group": group}
            entries.append(save_case(folder, f"case{k}", members, labels, **fields))
        dataset = describe(folder, entries, 3)
        text = run("evaluate", dataset, "-p", "none(z)", "-p", "none(p)", "-p", "none(z1)", "--json",
                   "--statistics", "--replicates", "200", "--level", "0.9", "--seed", "5",
                   "--metrics", ",".join(LOW_IS_BEST), "--cells", folder / "cells.csv", "--quiet")
        result = json.loads(text.stdout)
        self.statistics = result["statistics"]
        self.names = [pipeline["pipeline"] for pipeline in result["pipelines"]]
        self.cases = [pipeline["metric_per_case"] for pipeline in result["pipelines"]]
        self.units = [[k for k, other in enumerate(groups) if (other or k) == (group or own)]
                      for own, group in enumerate(groups)
                      if group is None or groups.index(group) == own]
        with open(folder / "cells.csv", newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "predicted"]
        self.cells = {(name, k): [row for row in rows if row["pipeline"] == name
                                  and row["case"] == f"case{k}"]
                      for name in self.names for k in range(len(groups))}
        self.labelled_units = [unit for unit in self.units
                               if any(self.cells[self.names[0], k] for k in unit)]

    def values(self, p, name):
        found = [case["metrics"][name] for case in self.cases[p]]
        return np.array([NAN if value is None else value for value in found])

    def interval(self, statistic, units):
        """Percentiles of a statistic of drawn cases."""
        replicates = []
        for k in range(200):
            stream = Stream(5, k)
            stream.below(1)  # the repeat
            drawn = [units[stream.below(len(units))] for _ in units]
            replicates.append(statistic([case for unit in drawn for case in unit]))
        return np.quantile(replicates, [0.05, 0.95])

    def mean_interval(self, values):
        units = [[k for k in unit if not np.isnan(values[k])] for unit in self.units]
        return self.interval(lambda cases: values[cases].mean(), [unit for unit in units if unit])

    def pooled(self, p, cases):
        return average_error([row for k in cases for row in self.cells[self.names[p], k]])

    def unit_differences(self, p, name):
        values = self.values(p, name) - self.values(0, name)
        means = np.array([np.mean([v for v in values[unit] if not np.isnan(v)] or [NAN])
                          for unit in self.units])
        return means[~np.isnan(means)]


@pytest.fixture(scope="module", name="evaluation", params=["cases", "groups"])
def fixture_evaluation(request, tmp_path_factory):
    groups = {"cases": [None] * 7, "groups": ["a", "b", "a", None, "b", "c", None]}[request.param]
    return Evaluation(tmp_path_factory.mktemp("statistics"), groups)


def test_intervals_of_means(evaluation):
    for p, mine in enumerate(evaluation.statistics["pipelines"]):
        for name in ("nll", "ece", "dsc"):
            values = evaluation.values(p, name)
            found = mine["intervals"][name]
            assert found["estimate"] == pytest.approx(np.nanmean(values), rel=1e-12)
            expected = evaluation.mean_interval(values)
            assert [found["lower"], found["upper"]] == pytest.approx(expected, rel=1e-9)


def test_intervals_of_pooled_metrics_come_from_cells(evaluation):
    everything = range(len(evaluation.cases[0]))
    for p, mine in enumerate(evaluation.statistics["pipelines"]):
        found = mine["intervals"]["ace"]
        assert found["estimate"] == pytest.approx(evaluation.pooled(p, everything), rel=1e-9)
        expected = evaluation.interval(lambda cases, p=p: evaluation.pooled(p, cases),
                                       evaluation.labelled_units)
        assert [found["lower"], found["upper"]] == pytest.approx(expected, rel=1e-9)


def test_differences_are_paired(evaluation):
    for p in (1, 2):
        mine = evaluation.statistics["pipelines"][p]["comparisons"]
        for name in ("nll", "ece", "dsc"):
            difference = evaluation.values(p, name) - evaluation.values(0, name)
            assert mine[name]["difference"] == pytest.approx(np.nanmean(difference), rel=1e-9,
                                                             abs=1e-15)
            expected = evaluation.mean_interval(difference)
            found = [mine[name]["lower"], mine[name]["upper"]]
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)
        expected = evaluation.interval(
            lambda cases, p=p: evaluation.pooled(p, cases) - evaluation.pooled(0, cases),
            evaluation.labelled_units)
        found = [mine["ace"]["lower"], mine["ace"]["upper"]]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_rank_tests_are_adjusted_together(evaluation):
    found, expected = [], []
    for p in (1, 2):
        for name, comparison in evaluation.statistics["pipelines"][p]["comparisons"].items():
            differences = evaluation.unit_differences(p, name)
            exact = np.unique(abs(differences)).size == differences.size and 0 not in differences
            test = wilcoxon(differences, method="exact" if exact else "approx")
            assert comparison["p"] == pytest.approx(test.pvalue, rel=1e-9)
            better = differences < 0 if LOW_IS_BEST[name] else differences > 0
            assert comparison["better"] == np.sum(better)
            assert comparison["worse"] == np.sum(~better & (differences != 0))
            found.append(comparison["p_adjusted"])
            expected.append(test.pvalue)
    assert len(found) == 8
    assert found == pytest.approx(step_up(expected), rel=1e-9)


def test_ranks_of_pipelines(evaluation):
    reported = {name: [mine["intervals"][name]["estimate"]
                       for mine in evaluation.statistics["pipelines"]] for name in LOW_IS_BEST}
    signs = {name: 1 if low else -1 for name, low in LOW_IS_BEST.items()}
    sums = sum(rankdata(np.multiply(signs[name], reported[name])) for name in LOW_IS_BEST)
    assert [mine["sum_rank"] for mine in evaluation.statistics["pipelines"]] == list(sums)
    # In the case without labels all share the middle rank.
    values = {name: np.nan_to_num([signs[name] * evaluation.values(p, name) for p in range(3)])
              for name in LOW_IS_BEST}
    ranks = np.mean([rankdata(values[name], axis=0) for name in LOW_IS_BEST], axis=0)
    found = [mine["mean_case_rank"] for mine in evaluation.statistics["pipelines"]]
    assert found == pytest.approx(ranks.mean(axis=1), rel=1e-12)
