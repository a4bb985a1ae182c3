# SPDX-License-Identifier: Apache-2.0
"""penalty=paper is the objective of `fiducio`, the package of [Kirscher26]'s authors.

Their values of maps, penalties, losses and gradients at fixed parameters, and their own fits. The
objective is written anew here, (A11) of docs/methods/affine.md, checked against theirs, and then
compared with what the program comes to. Skipped where the package cannot be installed.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx_models import PROPERTIES
from paper_objective import assembled, best_gauge, fitted_gaps, gap_order, penalty
from probing import probe
from program import apply, describe, evaluate, fit
from scipy.optimize import minimize
from scipy.special import log_softmax
from voxels import calibration_voxels, simulate

NAMES = {"CDC": "cdc", "CMSap": "cms_ap", "CMSop": "cms_op", "MSc": "ms_c", "MS": "ms"}
CLASSES = 4
STRENGTHS = (0.05, 0.03)


@pytest.fixture(scope="session", name="package")
def installed():
    """The folder of the environment and of the authors' values."""
    folder = Path(os.environ["SEGCAL_FIDUCIO"])
    script = Path(__file__).parent / "fiducio_env.sh"
    made = subprocess.run([script, folder], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip("fiducio cannot be installed: " + made.stderr.strip()[-200:])
    return folder


@pytest.fixture(scope="session", name="references")
def authors_values(package):
    """One entry per method, number of classes and seed."""
    return json.loads((package / "research_reference.json").read_text())["cases"]


def conditional_loss(name, logits, labels, parameters):
    """Mean negative log-likelihood of one map of gaps per winner; parameters are (A, beta)."""
    order = gap_order(logits, name == "cms_op")
    canonical = np.take_along_axis(logits, order, 1)
    total = 0.0
    for w, (weights, bias) in enumerate(parameters):
        rows, shifts = assembled(name, weights, bias)
        mine = order[:, 0] == w
        log_q = log_softmax(canonical[mine] @ rows.T + shifts, axis=1)
        places = (order[mine] == labels[mine, None]).argmax(1)
        total -= log_q[np.arange(mine.sum()), places].sum()
    return total / len(labels)


def objective(name, logits, labels, parameters, strengths):
    """Loss and penalty of maps of gaps."""
    maps = [assembled(name, *expert) for expert in parameters]
    return conditional_loss(name, logits, labels, parameters) + penalty(maps, strengths)


def softplus(x):
    """How the package makes parameters positive."""
    return np.logaddexp(0, np.asarray(x))


def unpacked(x, classes):
    """(A, beta) of every expert from a vector."""
    blocks = np.reshape(x, (classes, classes - 1, classes))
    return [(block[:, :-1], block[:, -1]) for block in blocks]


def asked(name, classes, strengths, weights, bias, kappa=0.0):
    """The library's penalty of one expert."""
    return probe("published_penalty",
                 {"method": name, "classes": classes, "lambda": strengths[0], "mu": strengths[1],
                  "kappa": kappa, "parameters": np.column_stack([weights, bias]).ravel()})


def test_penalties_of_gaps_are_the_published_ones(references):
    compared = 0
    for case in references:
        name, classes = NAMES[case["method"]], case["classes"]
        if not name.startswith("cms"):
            continue
        strengths = (case["lambda_reg"], case["mu_reg"])
        weights, bias = map(softplus, case["params"])
        values = [asked(name, classes, strengths, weights[w], bias[w]) for w in range(classes)]
        # Every expert has its share of the mean.
        assert sum(v["value"] for v in values) == pytest.approx(case["regularization"], rel=2e-6)
        experts = list(zip(weights, bias, strict=True))
        assert penalty([assembled(name, *e) for e in experts], strengths) == \
            pytest.approx(case["regularization"], rel=2e-6)
        logits, labels = np.array(case["inputs"]), np.array(case["targets"])
        assert objective(name, logits, labels, experts, strengths) == \
            pytest.approx(case["loss"], rel=2e-6)
        compare_gradients(name, case, values)
        compared += 1
    assert compared == 8


def compare_gradients(name, case, values):
    """Theirs are of the whole objective by the numbers before softplus."""
    classes = case["classes"]
    logits, labels = np.array(case["inputs"]), np.array(case["targets"])
    raw = np.concatenate([np.concatenate([np.array(case["params"][0]),
                                          np.array(case["params"][1])[..., None]], axis=2)])
    theirs = np.concatenate([np.array(case["gradients"][0]),
                             np.array(case["gradients"][1])[..., None]], axis=2)
    ours = np.array([v["gradient"] for v in values]).reshape(raw.shape)
    step = 1e-6
    for at in np.ndindex(raw.shape):
        sides = []
        for sign in (1, -1):
            moved = softplus(raw)
            moved[at] += sign * step
            sides.append(conditional_loss(name, logits, labels, unpacked(moved, classes)))
        slope = (sides[0] - sides[1]) / (2 * step) + ours[at]
        assert slope / (1 + np.exp(-raw[at])) == pytest.approx(theirs[at], abs=2e-6)


def test_penalties_of_scores_are_the_published_ones_at_the_best_gauge(references):
    compared = 0
    for case in references:
        name, classes = NAMES[case["method"]], case["classes"]
        if name.startswith("cms") or name == "ms_c":
            continue
        strengths = (case["lambda_reg"], case["mu_reg"])
        weights, bias = (np.array(p) for p in case["params"])
        experts = list(zip(weights, bias, strict=True)) if name == "cdc" else [(weights, bias)]
        assert penalty(experts, strengths) == pytest.approx(case["regularization"], rel=2e-6)
        values = [asked(name, classes, strengths, *expert)["value"] for expert in experts]
        assert sum(values) == \
            pytest.approx(penalty([best_gauge(*e) for e in experts], strengths), rel=1e-9)
        compared += 1
    assert compared == 8


def full_matrix(weights, total):
    """All columns of equal row sums from all but the last of them."""
    return np.column_stack([weights, total - weights.sum(1)])


def score_maps(case):
    """(W, b) of every expert as theirs multiply from the right, of methods that map scores."""
    name, params = NAMES[case["method"]], [np.array(p) for p in case["params"]]
    if name == "cdc":
        return list(zip(*params, strict=True))
    if name == "ms_c":
        return [(full_matrix(params[0], params[2]).T, params[1])]
    return [(params[0], params[1])]


def their_model(case, path):
    """Our model file with their parameters."""
    name = NAMES[case["method"]]
    if name.startswith("cms"):
        experts = list(zip(*map(softplus, case["params"]), strict=True))
    else:
        experts = [(weights.T, bias) for weights, bias in score_maps(case)]
    if name == "ms_c":
        experts = [(weights[:, :-1], bias) for weights, bias in experts]
    invariant, preserves = PROPERTIES[name]
    content = {"segcal_model": 1, "pipeline": f"{name}(z)", "input": "logits", "floor": -87.0, "fit": None,
               "classes": [f"c{k}" for k in range(case["classes"])],
               "properties": {"translation_invariant": invariant, "preserves": preserves},
               "parameters": {"experts": [{"weights": w.tolist(), "bias": b.tolist()} for w, b in experts]}}
    path.write_text(json.dumps(content))
    return path


def their_dataset(case, folder):
    """Their inputs and targets as a case of our own."""
    folder.mkdir()
    np.save(folder / "z.npy", np.array(case["inputs"]).T)
    np.save(folder / "y.npy", np.array(case["targets"]))
    return describe(folder, [{"id": "one", "members": ["z.npy"], "labels": "y.npy"}], case["classes"])


def score_gradients(case, probs):
    """Gradients of (A11) by their parameters, from probabilities (n, C) and the maps."""
    name, size = NAMES[case["method"]], case["classes"]
    logits, labels = np.array(case["inputs"]), np.array(case["targets"])
    residual = (probs - np.eye(size)[labels]) / len(labels)
    features = log_softmax(logits, axis=1) if name == "cdc" else logits
    winners = logits.argmax(1) if name == "cdc" else np.zeros(len(labels), int)
    maps = score_maps(case)
    slopes = []
    for k, (weights, bias) in enumerate(maps):
        mine = winners == k
        off = np.where(np.eye(size, dtype=bool), 0, weights) / (size * (size - 1))
        slopes.append((features[mine].T @ residual[mine] + 2 * case["lambda_reg"] * off / len(maps),
                       residual[mine].sum(0) + 2 * case["mu_reg"] * bias / size / len(maps)))
    if name == "ms_c":
        rows, shift = slopes[0][0].T, slopes[0][1]
        return [rows[:, :-1] - rows[:, -1:], shift, rows[:, -1].sum()]
    slopes = [np.array(part) for part in zip(*slopes, strict=True)]
    return slopes if name == "cdc" else [part[0] for part in slopes]


def test_maps_and_losses_are_the_published_ones(references, tmp_path):
    """What the program emits with their parameters: all five methods, every class count and seed."""
    for number, case in enumerate(references):
        folder = tmp_path / str(number)
        folder.mkdir()
        model = their_model(case, folder / "model.json")
        dataset = their_dataset(case, folder / "data")
        apply(model, dataset, folder / "out")
        probs = np.load(folder / "out" / "one.npy").T.astype(float)
        theirs = np.exp(log_softmax(np.array(case["logits"]), axis=1))
        assert np.abs(probs - theirs).max() < 2e-6, case["method"]
        nll = evaluate(dataset, "-m", model, "--metrics", "nll")["pipelines"][0]["pooled"]["nll"]
        assert nll + case["regularization"] == pytest.approx(case["loss"], rel=3e-6), case["method"]
        if not NAMES[case["method"]].startswith("cms"):
            assert penalty(score_maps(case), (case["lambda_reg"], case["mu_reg"])) == \
                pytest.approx(case["regularization"], rel=2e-6)
            for ours, given in zip(score_gradients(case, probs), case["gradients"], strict=True):
                np.testing.assert_allclose(ours, given, atol=2e-6, err_msg=case["method"])
    assert number == 19


@pytest.fixture(scope="session", name="data")
def simulated(tmp_path_factory):
    """A data set, its logits (n, C) and its labels."""
    folder = simulate(tmp_path_factory.mktemp("fiducio") / "data", "--preset", "street",
                      "--classes", CLASSES, "--cases", 1, "--size", "48x56")
    logits, labels, _ = calibration_voxels(folder)
    return folder, logits.T, labels


FIT = """
import sys
import fiducio, numpy as np, torch
given = np.load(sys.argv[1])
method = getattr(fiducio, sys.argv[2])(lambda_reg=float(sys.argv[3]), mu_reg=float(sys.argv[4]),
                                       max_iter=400)
logits = torch.tensor(given["logits"].T[None, :, :, None], dtype=torch.float32)
method.fit(logits, torch.tensor(given["labels"][None, :, None]))
np.save(sys.argv[5], method.decision_function(logits)[0, :, :, 0].detach().numpy().T)
"""


def their_fit(package, kind, logits, labels, folder):
    """The maps that the package comes to, read off its calibrated logits: they are affine."""
    np.savez(folder / "in.npz", logits=logits, labels=labels)
    subprocess.run([package / "env/bin/python", "-c", FIT, folder / "in.npz", kind,
                    *map(str, STRENGTHS), folder / "out.npy"], check=True, capture_output=True)
    return fitted_gaps(NAMES[kind], logits, np.load(folder / "out.npy").astype(float))


@pytest.mark.parametrize("kind", ["CMSap", "CMSop"])
def test_fits_reach_the_minimum_and_are_no_worse_than_theirs(kind, package, data, tmp_path):
    folder, logits, labels = data
    name = NAMES[kind]
    model = fit(folder, f"{name}(z, penalty=paper, kappa=0, lambda={STRENGTHS[0]}, "
                f"mu={STRENGTHS[1]})", tmp_path / "m.json", "--search", "0")
    experts = [(np.array(e["weights"]), np.array(e["bias"]))
               for e in model["parameters"]["experts"]]
    found = objective(name, logits, labels, experts, STRENGTHS)
    theirs = objective(name, logits, labels, their_fit(package, kind, logits, labels, tmp_path),
                       STRENGTHS)
    assert found <= theirs + 1e-6
    start = np.concatenate([np.column_stack(e).ravel() for e in experts])
    around = minimize(lambda x: objective(name, logits, labels, unpacked(x, CLASSES), STRENGTHS),
                      start, method="L-BFGS-B", bounds=[(0, None)] * len(start),
                      options={"maxfun": 3000})
    assert found <= around.fun + 1e-6
