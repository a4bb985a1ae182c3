#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_peers.py ENVIRONMENTS [--repeats N]: segcal side by side with fiducio, netcal, scikit-learn and torchmetrics.

The same arrays for all, every fit in a process of its own: seconds (median), peak memory beyond the arrays, mean
NLL on the voxels fitted on, NLL and ECE on others, and pixels whose class changed in float32 and float16. Metrics
are computed here, in double, alike for all. A second table has the final objective where segcal and fiducio minimise the
same one (`penalty=paper`), with the same strengths. `bench/python_peers_env.sh ENVIRONMENTS` makes the environments.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "oracle"))
from paper_objective import assembled, fitted_gaps, penalty  # noqa: E402  pylint: disable=wrong-import-position

BINS = 15
STRENGTHS = (0.05, 0.03)  # of the penalty of the main paper, where both minimise it
PEERS = {  # our name -> those of others
    "ts": {"fiducio": "TS", "netcal": "TemperatureScaling", "sklearn": "temperature"},
    "ets": {"fiducio": "ETS"},
    "vs": {"fiducio": "VS"},
    "ms": {"fiducio": "MS"},
    "ms_c": {"fiducio": "MSc"},
    "dc": {"fiducio": "DC"},
    "cdc": {"fiducio": "CDC"},
    "cms_ap": {"fiducio": "CMSap"},
    "cms_op": {"fiducio": "CMSop"},
    "irova": {"netcal": "IsotonicRegression"},
    "hist": {"netcal": "HistogramBinning"},
}


def make_data(folder, images, classes, height, width):
    """Logits as a network emits them in half precision, and labels drawn at a known temperature and bias."""
    rng = np.random.default_rng(7)
    coarse = rng.normal(0, 4, (images, classes, height // 16, width // 16))
    logits = coarse.repeat(16, 2).repeat(16, 3) + rng.normal(0, 2.0, (images, classes, height, width))
    logits = logits.astype(np.float16).astype(np.float32)
    truth = logits * np.linspace(0.4, 0.7, classes)[:, None, None] + np.linspace(-0.5, 0.5, classes)[:, None, None]
    labels = (truth + rng.gumbel(size=truth.shape)).argmax(1).astype(np.int64)
    half = images // 2
    for name, part in (("fit", slice(0, half)), ("test", slice(half, None))):
        np.save(folder / f"{name}_z.npy", logits[part])
        np.save(folder / f"{name}_y.npy", labels[part])


def flat(array):
    """(N, C, H, W) as (voxels, C)."""
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1).reshape(-1, array.shape[1]))


def softmax(z):
    shifted = np.exp(z - z.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def fit_segcal(method, z, y):
    import segcal
    model = segcal.fit(z, y, method)
    return lambda new, dtype=np.float32: model.predict_proba(new, dtype=dtype)


def objective_segcal(method, z, y, strengths):
    """The maps of gaps of a fit with the main paper's objective, and its mean NLL."""
    import segcal
    model = segcal.fit(z, y, f"{method}(z, penalty=paper, kappa=0, lambda={strengths[0]}, mu={strengths[1]})", search=0)
    experts = json.loads(model.to_json())["parameters"]["experts"]
    maps = [(np.array(expert["weights"]), np.array(expert["bias"])) for expert in experts]
    return maps, scores(model.predict_proba(z), y)[0]


def objective_fiducio(method, z, y, strengths):
    """The same of fiducio: its maps, read off its scores, which are affine."""
    import fiducio
    import torch
    model = getattr(fiducio, PEERS[method]["fiducio"])(lambda_reg=strengths[0], mu_reg=strengths[1])
    model.fit(torch.from_numpy(z), torch.from_numpy(y))
    calibrated = flat(model.decision_function(torch.from_numpy(z)).detach().numpy().astype(float))
    return fitted_gaps(method, flat(z).astype(float), calibrated), scores(softmax_rows(calibrated, z), y)[0]


def fit_fiducio(method, z, y):
    import fiducio
    import torch
    model = getattr(fiducio, PEERS[method]["fiducio"])().fit(torch.from_numpy(z), torch.from_numpy(y))
    return lambda new, dtype=np.float32: model.transform(torch.from_numpy(new)).numpy().astype(dtype)


def fit_netcal(method, z, y):
    import netcal.binning
    import netcal.scaling
    kind = PEERS[method]["netcal"]
    model = getattr(netcal.scaling, kind, None) or getattr(netcal.binning, kind)
    model = model()
    model.fit(flat(softmax(z)), y.ravel())

    def apply(new, dtype=np.float32):
        out = np.asarray(model.transform(flat(softmax(new))))
        return out.reshape(new.shape[0], *new.shape[2:], -1).transpose(0, 3, 1, 2).astype(dtype)
    return apply


def fit_sklearn(method, z, y):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Scores(ClassifierMixin, BaseEstimator):
        """A classifier whose scores are its input."""

        def fit(self, columns, _=None):
            self.classes_ = np.arange(columns.shape[1])
            return self

        def decision_function(self, columns):
            return columns

        def predict(self, columns):
            return columns.argmax(1)
    network = FrozenEstimator(Scores().fit(flat(z)))
    model = CalibratedClassifierCV(network, method=PEERS[method]["sklearn"])
    model.fit(flat(z), y.ravel())

    def apply(new, dtype=np.float32):
        out = model.predict_proba(flat(new))
        return out.reshape(new.shape[0], *new.shape[2:], -1).transpose(0, 3, 1, 2).astype(dtype)
    return apply


def softmax_rows(rows, like):
    """Probabilities in the shape of `like` from scores (voxels, C)."""
    p = softmax(rows)
    return p.reshape(like.shape[0], *like.shape[2:], -1).transpose(0, 3, 1, 2)


def scores(p, y):
    """NLL and top-label ECE in double."""
    rows = flat(np.asarray(p, np.float64))
    picked = rows[np.arange(y.size), y.ravel()]
    confidence, correct = rows.max(1), rows.argmax(1) == y.ravel()
    bins = np.clip(np.ceil(confidence * BINS) - 1, 0, BINS - 1).astype(int)
    gaps = np.bincount(bins, confidence - correct, BINS)
    return -np.log(np.maximum(picked, 1e-300)).mean(), np.abs(gaps).sum() / y.size


def child(package, method, folder):
    """One fit, measured in this process."""
    folder = Path(folder)
    z, y, new, truth = (np.load(folder / f"{name}.npy") for name in ("fit_z", "fit_y", "test_z", "test_y"))
    fit = globals()[f"fit_{package}"]
    fit("ts", z[:1, :, :16, :16], y[:1, :16, :16])  # imports, threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    apply = fit(method, z, y)
    fitted = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    began = time.perf_counter()
    p = apply(new)
    applied = time.perf_counter() - began
    decision = new.argmax(1)
    nll, ece = scores(p, truth)
    print(json.dumps({"fit": fitted, "apply": applied, "memory": memory / 1024, "objective": scores(apply(z), y)[0],
                      "nll": nll, "ece": ece, "flips32": int((p.argmax(1) != decision).sum()),
                      "flips16": int((apply(new, np.float16).argmax(1) != decision).sum())}))


def objective_child(package, method, folder):
    """The main paper's objective at the end of a fit that minimises it: mean NLL and penalty."""
    z, y = (np.load(Path(folder) / f"fit_{name}.npy") for name in "zy")
    fit = globals()[f"objective_{package}"]
    began = time.perf_counter()
    maps, nll = fit(method, z, y, STRENGTHS)
    seconds = time.perf_counter() - began
    print(json.dumps({"fit": seconds, "nll": nll,
                      "objective": nll + float(penalty([assembled(method, *gaps) for gaps in maps], STRENGTHS))}))


def objective_table(environments, folder, methods):
    """Who ends lower when both minimise the same: penalty=paper, the same strengths."""
    print(f"\nThe same objective, lambda {STRENGTHS[0]}, mu {STRENGTHS[1]}:\n")
    print("| method | package | fit, s | NLL | objective |\n|---|---|---|---|---|")
    for method in methods:
        for package in ("segcal", "fiducio"):
            found = run(environments, package, method, folder, 1, "--objective")
            print(f"| `{method}` | {package} | " + (f"failed: {found[:80]} |" if isinstance(found, str) else
                  f"{found['fit']:.2f} | {found['nll']:.6f} | {found['objective']:.6f} |"), flush=True)


def run(environments, package, method, folder, repeats, mode="--child"):
    """Medians of several processes, or the reason why there are none."""
    python = Path(environments) / {"segcal": "segcal", "sklearn": "sklearn"}.get(package, "torch") / "bin" / "python"
    results = []
    for _ in range(repeats):
        done = subprocess.run([str(python), __file__, mode, package, method, str(folder)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1]
        results.append(json.loads(done.stdout.splitlines()[-1]))
    return {key: statistics.median(result[key] for result in results) for key in results[0]}


def count_metrics(environments, voxels):
    """ECE of many pixels: how long, and how far from the sum in double."""
    code = """
import sys, time, json, numpy as np
package, n, step = sys.argv[1], int(sys.argv[2]), 1 << 20
rng = np.random.default_rng(0)
p = rng.uniform(0.5, 1, step).astype(np.float32)
y = (rng.uniform(size=step) > 0.97 * p).astype(np.int64)
both = np.stack([p, 1 - p], 1)
gap = np.bincount(np.clip(np.ceil(p.astype(float) * 15) - 1, 0, 14).astype(int), p - (y == 0.0), 15)
exact = np.abs(gap).sum() / step
if package == "segcal":
    from segcal.torch import CalibrationError
    metric, both_, y_ = CalibrationError(num_classes=2, n_bins=15), both, y
else:
    import torch
    from torchmetrics.classification import MulticlassCalibrationError
    metric, both_, y_ = MulticlassCalibrationError(2, n_bins=15), torch.from_numpy(both), torch.from_numpy(y)
began = time.perf_counter()
for _ in range(n // step):
    metric.update(both_, y_)
value = float(metric.compute())
print(json.dumps({"seconds": time.perf_counter() - began, "value": value, "exact": float(exact)}))
"""
    for package, name in (("segcal", "segcal"), ("torchmetrics", "torch")):
        done = subprocess.run([str(Path(environments) / name / "bin" / "python"), "-c", code, package, str(voxels)],
                              capture_output=True, text=True, check=False)
        result = json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
        print(f"ECE of {voxels} pixels, {package}: {result}")


def table(environments, folder, methods, repeats):
    """Markdown, a row per method and package."""
    print("| method | package | fit, s | apply, s | memory, MiB | NLL, fitted on | NLL, test | ECE, test | flips f32 | flips f16 |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for method in methods:
        for package in ["segcal", *PEERS[method]]:
            found = run(environments, package, method, folder, repeats)
            if isinstance(found, str):
                print(f"| `{method}` | {package} | failed: {found[:80]} |")
                continue
            print(f"| `{method}` | {package} | {found['fit']:.2f} | {found['apply']:.2f} | {found['memory']:.0f} | "
                  f"{found['objective']:.5f} | {found['nll']:.5f} | {found['ece']:.4f} | {found['flips32']:.0f} | "
                  f"{found['flips16']:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--methods", default=",".join(PEERS))
    parser.add_argument("--shape", default="8,12,128,256", help="images (half to fit on), classes, height, width")
    parser.add_argument("--voxels", type=int, default=48 << 20, help="of the count of metrics; 0: none")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_data(Path(folder), *map(int, given.shape.split(",")))
        methods = given.methods.split(",")
        table(given.environments, folder, methods, given.repeats)
        objective_table(given.environments, folder, [method for method in methods if method.startswith("cms")])
    if given.voxels:
        count_metrics(given.environments, given.voxels)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    elif sys.argv[1:2] == ["--objective"]:
        objective_child(*sys.argv[2:])
    else:
        main()
