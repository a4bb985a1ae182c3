# SPDX-License-Identifier: Apache-2.0
"""The affine calibrators reach the minimum that SciPy and scikit-learn find, or that convexity bounds.

Objectives are written anew here, over the assembled maps W and b with their gauge left free, and
compared in double at the program's parameters.
"""

import json

import numpy as np
import pytest
from program import evaluate, fit, run
from reference import load_dataset
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from voxels import calibration_voxels, simulate

CLASSES = 4
PENALTIES = {"kappa": (0.0, 0.0, 1e-3), "all": (3e-2, 2e-2, 1e-4), "kull": (1e-2, 1e-2, 1e-6)}


@pytest.fixture(scope="module", name="data")
def simulated(tmp_path_factory):
    """A data set, its logits (n, C) and its labels."""
    folder = simulate(tmp_path_factory.mktemp("affine") / "data", "--preset", "street",
                      "--classes", CLASSES, "--cases", 1, "--size", "64x72")
    logits, labels, _ = calibration_voxels(folder)
    return folder, logits.T, labels


def penalty(weights, bias, strengths, anchor=1.0):
    """Equation (A4) of docs/methods/affine.md and its gradient."""
    lam, mu, kappa = strengths
    size = len(bias)
    off = (lam / (size * (size - 1)) + kappa) * (1 - np.eye(size)) + kappa * np.eye(size)
    away = weights - anchor * np.eye(size)
    value = (off * away**2).sum() + (mu / size + kappa) * (bias**2).sum()
    return value, 2 * off * away, 2 * (mu / size + kappa) * bias


def best_gauge(weights, bias, strengths, anchor=1.0):
    """The penalty at the best shift of columns and bias, by least squares."""
    lam, mu, kappa = strengths
    size = len(bias)
    off = lam / (size * (size - 1)) + kappa
    weights = weights.copy()
    for k in range(size):
        strength = np.full(size, off)
        strength[k] = kappa
        away = weights[:, k] - anchor * np.eye(size)[:, k]
        weights[:, k] -= (strength * away).sum() / strength.sum()
    return penalty(weights, bias - bias.mean(), strengths, anchor)[0]


def loss(scores, labels):
    """Mean negative log-likelihood and its gradient with respect to the scores."""
    log_q = log_softmax(scores, axis=1)
    rows = np.arange(len(labels))
    residual = np.exp(log_q)
    residual[rows, labels] -= 1
    return -log_q[rows, labels].mean(), residual / len(labels)


def minimum(objective, start, bounds=None):
    """The least value L-BFGS-B comes to, restarted until it stays."""
    best = None
    for _ in range(4):
        result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds,
                          options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-10})
        if best is not None and best - result.fun < 1e-13:
            break
        best, start = result.fun, result.x
    return min(best, result.fun)


def affine_objective(features, labels, strengths, constraint, weight=1.0, anchor=1.0):
    """Over W (C, C) and b; `constraint` maps free numbers to W and gradients of W back."""
    classes = features.shape[1]

    def objective(x):
        weights, back = constraint(x[:-classes])
        bias = x[-classes:]
        value, residual = loss(features @ weights.T + bias, labels)
        extra, of_weights, of_bias = penalty(weights, bias, strengths, anchor)
        gradient = back(residual.T @ features + weight * of_weights)
        return value + weight * extra, np.append(gradient, residual.sum(0) + weight * of_bias)
    return objective


def full(x):
    """Any W."""
    classes = round(len(x) ** 0.5)
    return x.reshape(classes, classes), lambda g: g.ravel()


def diagonal(x):
    """W = diag(x)."""
    return np.diag(x), np.diag


def equal_rows(x):
    """W = [W_free | s1 - W_free 1]."""
    free, total = x[:-1].reshape(CLASSES, CLASSES - 1), x[-1]
    weights = np.column_stack([free, total - free.sum(1)])
    return weights, lambda g: np.append((g[:, :-1] - g[:, -1:]).ravel(), g[:, -1].sum())


def expert_of(model, index=0):
    """Weights and bias of one expert."""
    expert = model["parameters"]["experts"][index]
    return np.array(expert["weights"]), np.array(expert["bias"])


def options(strengths):
    """The pipeline's options for (lambda, mu, kappa)."""
    return "lambda={}, mu={}, kappa={}, anchor=identity".format(*strengths)


@pytest.mark.parametrize("strengths", PENALTIES.values(), ids=PENALTIES.keys())
@pytest.mark.parametrize("method", ["ms", "ms_c", "dc"])
def test_global_maps_reach_scipys_minimum(data, tmp_path, method, strengths):
    folder, logits, labels = data
    model = fit(folder, f"{method}(z, {options(strengths)})", tmp_path / "model.json")
    weights, bias = expert_of(model)
    if method == "ms_c":
        weights = np.column_stack([weights, -weights.sum(1)])
    features = log_softmax(logits, axis=1) if method == "dc" else logits
    ours = loss(features @ weights.T + bias, labels)[0] + best_gauge(weights, bias, strengths)
    constraint = equal_rows if method == "ms_c" else full
    start = np.zeros(CLASSES * CLASSES + CLASSES + (1 if method == "ms_c" else 0))
    if method == "ms_c":
        start = np.append(np.eye(CLASSES)[:, :-1].ravel(), np.append(1.0, np.zeros(CLASSES)))
    else:
        start[:CLASSES * CLASSES] = np.eye(CLASSES).ravel()
    theirs = minimum(affine_objective(features, labels, strengths, constraint), start)
    assert ours <= theirs * (1 + 1e-8)
    certificate = model["fit"]["certificates"][0]
    assert certificate["gradient"] <= 1e-6 and certificate["bounded"]
    assert ours - theirs <= certificate["gap"] + 1e-9
    assert model["fit"]["nll_after"] == pytest.approx(
        loss(features @ weights.T + bias, labels)[0], abs=1e-7)


@pytest.mark.parametrize("strengths", PENALTIES.values(), ids=PENALTIES.keys())
def test_a_diagonal_map_reaches_scipys_minimum(data, tmp_path, strengths):
    folder, logits, labels = data
    model = fit(folder, f"vs(z, {options(strengths)})", tmp_path / "model.json")
    weights, bias = expert_of(model)
    assert (weights == np.diag(np.diag(weights))).all()
    ours = (loss(logits @ weights.T + bias, labels)[0]
            + penalty(weights, bias - bias.mean(), strengths)[0])
    start = np.append(np.ones(CLASSES), np.zeros(CLASSES))
    theirs = minimum(affine_objective(logits, labels, strengths, diagonal), start)
    assert ours <= theirs * (1 + 1e-8)


@pytest.mark.parametrize("method", ["ms", "dc"])
def test_shrinks_to_the_fitted_temperature(data, tmp_path, method):
    """The default anchor. It is known to four digits, so the objective to fewer than elsewhere."""
    folder, logits, labels = data
    anchor = fit(folder, "ts(z)", tmp_path / "ts.json")["parameters"]["beta"]
    strengths = (0.0, 0.0, 1e-2)
    model = fit(folder, f"{method}(z, lambda=0, mu=0, kappa=0.01)", tmp_path / "model.json")
    weights, bias = expert_of(model)
    features = log_softmax(logits, axis=1) if method == "dc" else logits
    at_ours = loss(features @ weights.T + bias, labels)[0]
    start = np.append(np.eye(CLASSES).ravel(), np.zeros(CLASSES))
    theirs = minimum(affine_objective(features, labels, strengths, full, anchor=anchor), start)
    assert at_ours + best_gauge(weights, bias, strengths, anchor) <= theirs * (1 + 1e-6)
    assert at_ours + best_gauge(weights, bias, strengths) > theirs * (1 + 1e-3)


def test_unpenalised_map_is_multinomial_logistic_regression(data, tmp_path):
    folder, logits, labels = data
    model = fit(folder, "ms(z, kappa=0)", tmp_path / "model.json")
    weights, bias = expert_of(model)
    regression = LogisticRegression(penalty=None, solver="newton-cg", tol=1e-10, max_iter=500)
    regression.fit(logits, labels)
    theirs = loss(logits @ regression.coef_.T + regression.intercept_, labels)[0]
    ours = loss(logits @ weights.T + bias, labels)[0]
    assert ours <= theirs * (1 + 1e-8)
    assert ours == pytest.approx(theirs, rel=1e-6)


def conditional_data(logits, labels, expert, ordered):
    """Logits with the winner first (or sorted), and labels as positions."""
    own = logits.argmax(1) == expert
    z, y = logits[own], labels[own]
    if ordered:
        order = np.argsort(-z, axis=1, kind="stable")
    else:
        others = [c for c in range(logits.shape[1]) if c != expert]
        order = np.tile([expert] + others, (len(z), 1))
    return np.take_along_axis(z, order, 1), (order == y[:, None]).argmax(1)


def gap_matrices(classes, ordered):
    """d = G z, and scores = M d'."""
    gaps = np.zeros((classes - 1, classes))
    scores = np.zeros((classes, classes - 1))
    for r in range(classes - 1):
        gaps[r, r if ordered else 0] = 1
        gaps[r, r + 1] = -1
        scores[r + 1:(classes if ordered else r + 2), r] = -1
    return gaps, scores


def gap_objective(z, y, strengths, weight, ordered):
    """Over A, beta, the gauge c and c0; ties in sorted logits keep their zero gap."""
    classes = z.shape[1]
    gaps, scores = gap_matrices(classes, ordered)
    size = classes - 1
    d = z @ gaps.T
    counts = (d != 0).astype(float) if ordered else np.ones_like(d)

    def objective(x):
        a, beta = x[:size * size].reshape(size, size), x[size * size:size * classes]
        shift, level = x[size * classes:-1], x[-1]
        value, residual = loss(((d @ a.T + beta) * counts) @ scores.T, y)
        rows = (residual @ scores) * counts
        weights = scores @ a @ gaps + shift
        extra, of_weights, of_bias = penalty(weights, scores @ beta + level, strengths)
        gradient = np.concatenate([
            (rows.T @ d + weight * scores.T @ of_weights @ gaps.T).ravel(),
            rows.sum(0) + weight * scores.T @ of_bias,
            weight * of_weights.sum(0), [weight * of_bias.sum()]])
        return value + weight * extra, gradient
    return objective


def check_bounded(model, data, strengths, ordered, expert):
    """One expert's objective is no higher than SciPy's minimum of it."""
    _, logits, labels = data
    z, y = conditional_data(logits, labels, expert, ordered)
    assert len(z) > 100
    classes = logits.shape[1]
    size = classes - 1
    gaps, scores = gap_matrices(classes, ordered)
    weight = len(labels) / len(z)
    a, beta = expert_of(model, expert)
    assert a.min() >= 0 and beta.min() >= 0
    objective = gap_objective(z, y, strengths, weight, ordered)
    free = np.zeros(classes + 1)
    value = objective(np.concatenate([a.ravel(), beta, free]))[0]
    weights, bias = scores @ a @ gaps, scores @ beta
    ours = value + weight * (best_gauge(weights, bias, strengths)
                             - penalty(weights, bias, strengths)[0])
    start = np.concatenate([np.eye(size).ravel(), np.zeros(size), free])
    bounds = [(0, None)] * (size * classes) + [(None, None)] * (classes + 1)
    theirs = minimum(objective, start, bounds)
    assert theirs * (1 - 1e-4) <= ours <= theirs * (1 + 1e-8)  # far below: SciPy was not there
    assert model["fit"]["certificates"][expert]["gradient"] <= 1e-6


@pytest.mark.parametrize("strengths", PENALTIES.values(), ids=PENALTIES.keys())
@pytest.mark.parametrize("method", ["cms_ap", "cms_op"])
def test_bounded_maps_reach_scipys_minimum(data, tmp_path, method, strengths):
    model = fit(data[0], f"{method}(z, {options(strengths)})", tmp_path / "model.json")
    for expert in range(CLASSES):
        check_bounded(model, data, strengths, method == "cms_op", expert)


MANY = 40  # classes, and more parameters than a Hessian is kept for
MANY_STRENGTHS = (1e-2, 1e-2, 5e-3)


@pytest.fixture(scope="module", name="many")
def simulated_with_many_classes(tmp_path_factory):
    """As `data`."""
    folder = simulate(tmp_path_factory.mktemp("many") / "data", "--preset", "street",
                      "--classes", MANY, "--cases", 1, "--size", "80x80")
    logits, labels, _ = calibration_voxels(folder)
    return folder, logits.T, labels


@pytest.mark.parametrize("method", ["ms", "dc"])
def test_global_maps_of_many_classes_are_near_the_minimum(many, tmp_path, method):
    """The penalty curves the objective by 2 kappa or more: |g|^2 / 4 kappa bounds its distance from the minimum.

    The weights are those of the file, which so must have the best gauge too.
    """
    folder, logits, labels = many
    model = fit(folder, f"{method}(z, {options(MANY_STRENGTHS)})", tmp_path / "model.json")
    weights, bias = expert_of(model)
    features = log_softmax(logits, axis=1) if method == "dc" else logits
    objective = affine_objective(features, labels, MANY_STRENGTHS, full)
    value, gradient = objective(np.append(weights.ravel(), bias))
    assert (gradient**2).sum() / (4 * MANY_STRENGTHS[2]) <= 1e-8 * value
    assert value < objective(np.append(np.eye(MANY).ravel(), np.zeros(MANY)))[0]
    assert model["fit"]["certificates"][0]["gradient"] <= 1e-6


@pytest.mark.parametrize("kappa", [1e-4, 1e-6])
@pytest.mark.parametrize("method", ["vs", "ms_c", "dc", "cms_ap", "cms_op"])
def test_maps_of_many_classes_converge_with_little_penalty(many, tmp_path, method, kappa):
    model = fit(many[0], f"{method}(z, kappa={kappa})", tmp_path / "model.json")
    assert model["fit"]["status"] == "converged"
    assert model["fit"]["nll_after"] < model["fit"]["nll_before"]


@pytest.mark.parametrize("method", ["cms_ap", "cms_op"])
def test_bounded_maps_of_many_classes_reach_scipys_minimum(many, tmp_path, method):
    folder, logits, _ = many
    model = fit(folder, f"{method}(z, {options(MANY_STRENGTHS)})", tmp_path / "model.json")
    largest = np.bincount(logits.argmax(1)).argmax()
    check_bounded(model, many, MANY_STRENGTHS, method == "cms_op", largest)


def test_conditional_dirichlet_is_one_dirichlet_per_winner(data, tmp_path):
    folder, logits, labels = data
    strengths = PENALTIES["all"]
    model = fit(folder, f"cdc(z, {options(strengths)})", tmp_path / "model.json")
    features = log_softmax(logits, axis=1)
    for expert in range(CLASSES):
        own = logits.argmax(1) == expert
        weight = len(labels) / own.sum()
        weights, bias = expert_of(model, expert)
        ours = (loss(features[own] @ weights.T + bias, labels[own])[0]
                + weight * best_gauge(weights, bias, strengths))
        start = np.append(np.eye(CLASSES).ravel(), np.zeros(CLASSES))
        theirs = minimum(affine_objective(features[own], labels[own], strengths, full, weight), start)
        assert ours <= theirs * (1 + 1e-8)


KNOWN = {
    "affine": ["ms", "ms_c", "dc"],
    "class_conditional": ["cdc", "cms_ap"],
}


@pytest.mark.parametrize("true_map,method", [(m, p) for m, ps in KNOWN.items() for p in ps])
def test_is_as_good_as_the_true_map_on_its_voxels_and_on_others(tmp_path, true_map, method):
    """Labels of six cases are fitted, those of two others held out; noise is independent."""
    folder = tmp_path / "data"
    run("simulate", folder, "--quiet", "--seed", 8, "--preset", "street", "--classes", 5,
        "--cases", 8, "--size", "200x220", "--map", true_map)
    content, _ = load_dataset(folder)
    for index, case in enumerate(content["cases"]):
        case["split"] = "calibration" if index < 6 else "test"
    (folder / "dataset.json").write_text(json.dumps(content))
    model = fit(folder, f"{method}(z, kappa=1e-7)", tmp_path / "model.json")
    assert model["fit"]["status"] == "converged"

    def true_nll(split):
        _, labels, truth = calibration_voxels(folder, split=split)
        return -np.log(truth[labels, np.arange(labels.size)]).mean()

    assert model["fit"]["nll_after"] <= true_nll("calibration")
    held_out = evaluate(folder, "-m", tmp_path / "model.json", "--split", "test")
    pooled = held_out["pipelines"][0]["pooled"]["nll"]
    assert pooled == pytest.approx(true_nll("test"), abs=1e-3)
