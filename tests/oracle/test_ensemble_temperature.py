# SPDX-License-Identifier: Apache-2.0
"""ets against SciPy's constrained and unconstrained minimisers, in double throughout."""

import numpy as np
import pytest
import reference
from calibration_case import CalibrationCase
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax


def log_parts(logits, labels, log_t):
    """Log-probability of the label under the tempered, the given and the uniform part."""
    at = (labels, np.arange(labels.size))
    return np.stack([log_softmax(np.exp(-log_t) * logits, axis=0)[at],
                     log_softmax(logits, axis=0)[at],
                     np.full(labels.size, -np.log(logits.shape[0]))])


def nll(x, logits, labels):
    """Mean loss at x = (log T, weights)."""
    weights = np.maximum(x[1:], 0.0)
    with np.errstate(divide="ignore"):
        return -logsumexp(log_parts(logits, labels, x[0]), axis=0, b=weights[:, None]).mean()


def constrained(logits, labels, start):
    """SLSQP with the simplex as constraint."""
    found = minimize(nll, start, args=(logits, labels), method="SLSQP",
                     bounds=[(-5.0, 5.0)] + 3 * [(0.0, 1.0)], options={"ftol": 1e-13, "maxiter": 300},
                     constraints={"type": "eq", "fun": lambda x: x[1:].sum() - 1.0})
    return found.fun


def unconstrained(logits, labels, start):
    """L-BFGS-B with weights as a softmax."""
    def loss(y):
        return nll(np.r_[y[0], softmax(y[1:])], logits, labels)
    begin = np.r_[start[0], np.log(np.maximum(start[1:], 1e-2))]
    return minimize(loss, begin, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9}).fun


def projected_gradient(x, logits, labels):
    """Largest entry of P(x - g) - x, by central differences of the loss in double."""
    step = 1e-5
    gradient = np.zeros(4)
    gradient[0] = (nll(x + np.eye(4)[0] * step, logits, labels) -
                   nll(x - np.eye(4)[0] * step, logits, labels)) / (2 * step)
    parts = log_parts(logits, labels, x[0])
    own = logsumexp(parts, axis=0, b=x[1:, None])
    gradient[1:] = -np.exp(parts - own).mean(axis=1)
    moved = x[1:] - gradient[1:]
    ordered = np.sort(moved)[::-1]
    shifts = (np.cumsum(ordered) - 1.0) / np.arange(1, 4)
    shift = shifts[ordered > shifts][-1]
    return max(abs(gradient[0]), np.abs(np.maximum(moved - shift, 0.0) - x[1:]).max())


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("num_classes,scale", [(2, 2.5), (4, 2.5), (5, 8.0)])
def test_is_stationary_not_above_ts_and_not_above_scipy(tmp_path, num_classes, scale, noise):
    case = CalibrationCase(tmp_path, num_classes, noise=noise, scale=scale)
    model = case.fit("ets(z)", "ets")
    ts = case.fit("ts(z)", "ts")["parameters"]["beta"]
    logits, labels = case.labelled(case.logits["calibration"]), \
        case.labelled(case.labels["calibration"])
    found = model["parameters"]
    x = np.r_[-np.log(found["beta"]), found["weights"]]
    own = nll(x, logits, labels)
    assert model["fit"]["status"] == "converged"
    assert model["fit"]["certificates"][0]["gradient"] <= 1e-6
    assert model["fit"]["nll_after"] == pytest.approx(own, rel=1e-7)
    assert projected_gradient(x, logits, labels) < 2e-6
    assert own <= reference.temperature_nll(logits, labels, ts) + 1e-10
    # From the same corner, where SciPy's methods are put a little inside as well.
    start = np.r_[-np.log(ts), 0.98, 0.01, 0.01]
    assert own <= constrained(logits, labels, start) + 1e-8
    assert own <= unconstrained(logits, labels, start) + 1e-8


def test_emits_the_mixture(tmp_path):
    case = CalibrationCase(tmp_path, 5, noise=0.1)
    found = case.fit("ets(z)", "ets")["parameters"]
    logits = case.logits["test"]
    w = found["weights"]
    expected = w[0] * softmax(found["beta"] * logits, axis=0) + w[1] * softmax(logits, axis=0) + \
        w[2] / 5.0
    assert np.abs(case.emitted("ets")["test"] - expected).max() < 3e-7
