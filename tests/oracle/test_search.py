# SPDX-License-Identifier: Apache-2.0
"""The search asks for points as Optuna's TPE does, and finds values as good."""

import math

import numpy as np
import optuna
import pytest
from optuna.samplers._tpe import _truncnorm
from probing import probe
from scipy.stats import ks_2samp

optuna.logging.set_verbosity(optuna.logging.ERROR)

if tuple(map(int, optuna.__version__.split(".")[:2])) < (3, 5):
    # Its density of a truncated normal forgets to divide by the width: optuna/optuna#5109.
    unscaled = _truncnorm.logpdf
    _truncnorm.logpdf = lambda x, a, b, loc=0, scale=1: unscaled(x, a, b, loc, scale) - np.log(scale)

SPACE = [{"name": "rate", "lower": 1e-4, "upper": 3e-2, "log": True},
         {"name": "shift", "lower": -2.0, "upper": 3.0},
         {"name": "patience", "choices": [10.0, 20.0, 50.0]}]


def distribution(dimension):
    if "choices" in dimension:
        return optuna.distributions.CategoricalDistribution(dimension["choices"])
    return optuna.distributions.FloatDistribution(dimension["lower"], dimension["upper"],
                                                  log=dimension.get("log", False))


def history(trials, rng):
    """Points drawn from the space, with a loss that prefers a corner of it."""
    told = []
    for _ in range(trials):
        point = [float(np.exp(rng.uniform(np.log(1e-4), np.log(3e-2)))), float(rng.uniform(-2, 3)),
                 float(rng.choice([10.0, 20.0, 50.0]))]
        told.append({"point": point, "loss": abs(math.log10(point[0]) + 3) + (point[1] - 2) ** 2 + point[2] / 50})
    return told


def optuna_asks(told, count):
    """What is asked next after one history, many times: trials without a result are not learned from."""
    space = {d["name"]: distribution(d) for d in SPACE}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    for trial in told:
        study.add_trial(optuna.trial.create_trial(
            params=dict(zip(space, trial["point"])), distributions=space, value=trial["loss"]))
    return np.array([list(study.ask(space).params.values()) for _ in range(count)])


@pytest.mark.parametrize("trials", [5, 12, 23])
def test_points_asked_have_the_distribution_of_optuna(trials):
    """Before and after the random start. Below 25 trials, where Optuna begins to discount old ones."""
    told = history(trials, np.random.default_rng(trials))
    count = 500
    found = np.array(probe("search_ask", {"space": SPACE, "history": told, "seeds": count}))
    expected = optuna_asks(told, count)
    for d in range(2):
        assert ks_2samp(found[:, d], expected[:, d]).pvalue > 1e-3, SPACE[d]["name"]
    for choice in SPACE[2]["choices"]:
        shares = np.mean(found[:, 2] == choice), np.mean(expected[:, 2] == choice)
        spread = math.sqrt(max(shares[1] * (1 - shares[1]), 0.01) * 2 / count)
        assert abs(shares[0] - shares[1]) < 4 * spread, (choice, shares)


def training(x):
    return (math.log10(x[0]) + 2.5) ** 2 + (0.0 if x[1] == 20.0 else 0.3) + abs(x[2] - 0.3)


def branin(x):
    a = x[1] - 5.1 / (4 * math.pi ** 2) * x[0] ** 2 + 5 / math.pi * x[0] - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


FUNCTIONS = {
    "sphere": (lambda x: sum((v - 0.7) ** 2 for v in x), 0.0,
               [{"name": f"x{i}", "lower": -3.0, "upper": 3.0} for i in range(3)]),
    "rosenbrock": (lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, 0.0,
                   [{"name": f"x{i}", "lower": -2.0, "upper": 2.0} for i in range(2)]),
    "branin": (branin, 0.397887, [{"name": "a", "lower": -5.0, "upper": 10.0},
                                  {"name": "b", "lower": 0.0, "upper": 15.0}]),
    "training": (training, 0.0, [{"name": "rate", "lower": 1e-4, "upper": 3e-2, "log": True},
                                 {"name": "patience", "choices": [10.0, 20.0, 50.0]},
                                 {"name": "decay", "lower": 0.0, "upper": 1.0}]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_search_finds_values_as_good_as_optuna(name):
    """Median over seeds of the best excess of 40 trials, within a factor of 1.5 of Optuna's.

    With 20 seeds the factor is 0.3 to 0.8, but 1.4 for "training", which therefore has more.
    """
    function, least, space = FUNCTIONS[name]
    trials, seeds = 40, 40 if name == "training" else 20
    runs = probe("search_run", {"function": name, "space": space, "trials": trials, "seeds": seeds})
    ours = []
    for run in runs:
        for trial in run[:3]:
            assert trial["loss"] == pytest.approx(function(trial["point"]), rel=1e-9)
        ours.append(min(trial["loss"] for trial in run) - least)
    dimensions = {d["name"]: distribution(d) for d in space}
    theirs = []
    for seed in range(seeds):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        for _ in range(trials):
            trial = study.ask(dimensions)
            study.tell(trial, function(list(trial.params.values())))
        theirs.append(study.best_value - least)
    assert np.median(ours) < 1.5 * np.median(theirs)
