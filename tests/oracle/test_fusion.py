# SPDX-License-Identifier: Apache-2.0
"""Label fusion against NumPy, docs/methods/fusion.md, and on simulated candidates whose reliability is known."""

import json

import nibabel
import numpy as np
import pytest
from PIL import Image
from program import describe, fails, fit, run
from scipy.special import softmax

CLASSES = 4


def jlf_weights(p, ridge):
    """(FU3) as it is printed: the whole matrix, by least squares, which singular ones survive."""
    e = 1.0 - p
    matrix = np.outer(e, e)
    matrix = matrix + ridge * np.mean(np.diag(matrix)) * np.eye(len(p))
    solution = np.linalg.lstsq(matrix, np.ones(len(p)), rcond=None)[0]
    return solution / solution.sum() if abs(solution.sum()) > 0 else np.full(len(p), 1 / len(p))


def weights(method, p, ridge):
    if method == "jlf":
        return jlf_weights(p, ridge)
    return p if method == "svwv" else np.ones(len(p))


def fuse(labels, p, method, ridge=0.1, background=0, classes=CLASSES, gap=1e-9):
    """Fused label of every voxel, and whether two labels were too close to call: within a gap of their weights."""
    fused = np.zeros(labels.shape[1:], int)
    close = np.zeros(labels.shape[1:], bool)
    for at in np.ndindex(fused.shape):
        votes = labels[(slice(None), *at)]
        w = weights(method, p[(slice(None), *at)].astype(np.float64), ridge)
        scores = np.array([w[votes == c].sum() for c in range(classes)])
        order = np.sort(scores)
        fused[at] = np.argmax(scores)
        close[at] = order[-1] - order[-2] < gap
        if method == "majority" and 2 * order[-1] < w.sum() - 1e-12:
            fused[at] = background
    return fused, close


def votes_case(folder, name, shape, n=5, seed=0, input_kind="logits", bare=False):
    """Label maps with reliabilities; some voxels where all candidates are certain or alike."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLASSES, shape)
    truth = np.where(rng.random(shape) < 0.1, 255, truth)
    labels = np.where(rng.random((n, *shape)) < 0.6, np.where(truth == 255, 0, truth),
                      rng.integers(0, CLASSES, (n, *shape)))
    z = rng.normal(0.5, 2.0, (n, *shape)).astype(np.float32)
    z[:, 0] = 0.0
    z[:, -1] = 60.0
    p = 1.0 / (1.0 + np.exp(-z.astype(np.float64)))
    entry = {"id": name, "members": [], "candidates": [], "labels": f"{name}_y.npy"}
    np.save(folder / entry["labels"], truth.astype(np.uint8))
    for i in range(n):
        entry["members"].append(f"{name}_p{i}.npy")
        entry["candidates"].append(f"{name}_s{i}.npy")
        rows = np.stack([-z[i] / 2, z[i] / 2])
        if input_kind == "probabilities":
            rows = p[i] if bare else np.stack([1 - p[i], p[i]])
        np.save(folder / entry["members"][-1], rows.astype(np.float32))
        np.save(folder / entry["candidates"][-1], labels[i].astype(np.uint8))
    return entry, truth, labels, p


def read(folder, name):
    for path in folder.glob(f"{name}.*"):
        if path.suffix == ".png":
            return np.asarray(Image.open(path)).astype(int)
        if path.suffix == ".npy":
            return np.load(path).astype(int)
        return np.asarray(nibabel.load(path).dataobj).T.astype(int)
    raise FileNotFoundError(folder / name)


@pytest.mark.parametrize("shape", [(13, 17), (5, 7, 6)])
@pytest.mark.parametrize("method", ["jlf", "svwv", "plurality", "majority"])
def test_label_maps_with_reliabilities(tmp_path, method, shape):
    entry, _, labels, p = votes_case(tmp_path, "a", shape)
    dataset = describe(tmp_path, [entry], CLASSES, background=0)
    run("fuse", dataset, "-m", method, "-o", tmp_path / "out", "--quiet")
    expected, close = fuse(labels, p, method)
    found = read(tmp_path / "out", "a")
    assert np.mean(close) < 0.6
    wrong = found != expected
    # Where two labels are equally heavy, the lower one wins, but sums may differ in the last bit.
    assert not np.any(wrong & ~close)


@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 10.0])
def test_joint_fusion_is_the_solution_of_its_matrix(tmp_path, ridge):
    """Also where little but the ridge keeps the matrix from being singular, and where one candidate cannot be wrong."""
    entry, _, labels, p = votes_case(tmp_path, "a", (23, 19), n=7, seed=2)
    rows = np.load(tmp_path / "a_p3.npy")
    rows[:, 5:9] = np.array([-30.0, 30.0])[:, None, None]
    np.save(tmp_path / "a_p3.npy", rows)
    p[3, 5:9] = 1.0 - 1.0 / (1.0 + np.exp(60.0))
    run("fuse", describe(tmp_path, [entry], CLASSES), "--ridge", ridge, "-o", tmp_path / "out", "--quiet")
    # The condition number of the matrix is n / ridge.
    expected, close = fuse(labels, p, "jlf", ridge=ridge, gap=1e-14 / ridge + 1e-9)
    assert np.mean(close) < 0.3
    assert np.array_equal(read(tmp_path / "out", "a")[~close], expected[~close])


@pytest.mark.parametrize("bare", [False, True], ids=["two rows", "one map"])
def test_reliabilities_as_probabilities(tmp_path, bare):
    entry, _, labels, p = votes_case(tmp_path, "a", (13, 17), input_kind="probabilities", bare=bare)
    dataset = describe(tmp_path, [entry], CLASSES, input="probabilities")
    run("fuse", dataset, "-o", tmp_path / "out", "--quiet")
    rounded = p.astype(np.float32).astype(np.float64)
    expected, close = fuse(labels, rounded, "jlf")
    inner = np.abs(rounded - 0.5) < 0.49  # the floor of probabilities moves certain ones
    safe = ~close & inner.all(axis=0)
    assert safe.mean() > 0.3
    assert np.array_equal(read(tmp_path / "out", "a")[safe], expected[safe])


@pytest.mark.parametrize("method", ["jlf", "svwv"])
def test_class_probabilities_vote_for_their_argmax(tmp_path, method):
    rng = np.random.default_rng(4)
    logits = rng.normal(0, 2, (4, CLASSES, 11, 12)).astype(np.float32)
    labels = rng.integers(0, CLASSES, (11, 12)).astype(np.uint8)
    entry = {"id": "a", "members": [f"m{i}.npy" for i in range(4)], "labels": "y.npy"}
    for i in range(4):
        np.save(tmp_path / f"m{i}.npy", logits[i])
    np.save(tmp_path / "y.npy", labels)
    dataset = describe(tmp_path, [entry], CLASSES)
    run("fuse", dataset, "-m", method, "-o", tmp_path / "out", "--quiet")
    probs = softmax(logits.astype(np.float64), axis=1)
    expected, close = fuse(probs.argmax(axis=1), probs.max(axis=1), method)
    assert np.array_equal(read(tmp_path / "out", "a")[~close], expected[~close])


def test_a_model_calibrates_every_candidate(tmp_path):
    """With a temperature, reliabilities are those of the divided logits."""
    cases, maps = [], {}
    for k in range(3):
        entry, truth, labels, p = votes_case(tmp_path, f"c{k}", (13, 17), seed=k)
        cases.append(entry)
        maps[entry["id"]] = truth, labels, p
    dataset = describe(tmp_path, cases, CLASSES)
    run("fuse", dataset, "--votes", tmp_path / "votes", "--quiet")
    votes = json.loads((tmp_path / "votes" / "dataset.json").read_text())
    assert votes["classes"] == ["wrong", "right"] and len(votes["cases"]) == 15
    right = np.load(tmp_path / "votes" / votes["cases"][7]["labels"])
    truth, labels, _ = maps["c1"]
    assert votes["cases"][7]["id"] == "c1__2" and votes["cases"][7]["group"] == "c1"
    assert np.array_equal(right, np.where(truth == 255, 255, labels[2] == truth))
    model = fit(tmp_path / "votes", "ts(z)", tmp_path / "ts.json")
    beta = model["parameters"]["beta"]
    run("fuse", dataset, "-c", tmp_path / "ts.json", "-o", tmp_path / "out", "--quiet")
    for name, (_, labels, p) in maps.items():
        with np.errstate(divide="ignore"):  # certain candidates stay certain
            calibrated = 1 / (1 + np.exp(-beta * np.log(p / (1 - p))))
        expected, close = fuse(labels, calibrated, "jlf")
        firm = ~close & (np.abs(p - 0.5) < 0.4999).all(axis=0)
        assert np.array_equal(read(tmp_path / "out", name)[firm], expected[firm])


def boundary(truth):
    """Within two voxels of a face between two labels."""
    known = truth != 255
    edge = np.zeros(truth.shape, bool)
    for axis in range(truth.ndim):
        a = [slice(None)] * truth.ndim
        b = [slice(None)] * truth.ndim
        a[axis], b[axis] = slice(0, -1), slice(1, None)
        a, b = tuple(a), tuple(b)
        differ = (truth[a] != truth[b]) & known[a] & known[b]
        edge[a] |= differ
        edge[b] |= differ
    points = np.argwhere(edge)
    near = np.zeros(truth.shape, bool)
    for at in np.ndindex(truth.shape):
        near[at] = known[at] and np.min(np.sum((points - at) ** 2, axis=1)) <= 4
    return near


def dice(truth, fused, where):
    scores = []
    for c in range(1, CLASSES):
        a, b = (truth == c) & where, (fused == c) & where
        if a.any() or b.any():
            scores.append(2 * (a & b).sum() / (a.sum() + b.sum()))
    return np.mean(scores)


def test_metrics_audit_and_bounds(tmp_path):
    entry, truth, labels, p = votes_case(tmp_path, "a", (19, 23), seed=8)
    dataset = describe(tmp_path, [entry], CLASSES, background=0)
    run("fuse", dataset, "--votes", tmp_path / "votes", "--quiet")
    fit(tmp_path / "votes", "ts(z)", tmp_path / "ts.json")
    result = json.loads(run("fuse", dataset, "-c", tmp_path / "ts.json", "-o", tmp_path / "out",
                            "--json", "--quiet").stdout)
    run("fuse", dataset, "-o", tmp_path / "plain", "--quiet")
    before, after = read(tmp_path / "plain", "a"), read(tmp_path / "out", "a")
    rows = {row["name"]: row["metric_per_case"][0]["metrics"] for row in result["rows"]}
    known, near = truth != 255, boundary(truth)
    disputed = np.any(labels != labels[0], axis=0)
    assert rows["ts(z)"]["accuracy"] == pytest.approx(np.mean((after == truth)[known]))
    assert rows["ts(z)"]["dsc"] == pytest.approx(dice(truth, after, known))
    assert rows["ts(z)"]["dsc_boundary"] == pytest.approx(dice(truth, after, near))
    for suffix, region in (("", known & ((truth != 0) | near)), ("_boundary", near)):
        possible = disputed & region
        changed = possible & (before != after)
        assert changed.any()
        assert rows["ts(z)"][f"change_rate{suffix}"] == pytest.approx(changed.sum() / possible.sum())
        assert rows["ts(z)"][f"wrong_to_right{suffix}"] == \
            pytest.approx((after == truth)[changed].mean())
        assert rows["ts(z)"][f"right_to_wrong{suffix}"] == \
            pytest.approx((before == truth)[changed].mean())
    any_right = np.any(labels == truth, axis=0)
    assert rows["best fusion"]["accuracy"] == pytest.approx(np.mean(any_right[known]))
    perfect, _ = fuse(labels, np.where(labels == truth, 1.0, 1.0 / CLASSES), "jlf")
    assert rows["best calibration"]["accuracy"] == pytest.approx(np.mean((perfect == truth)[known]))
    assert rows["uncalibrated"]["accuracy"] <= rows["best calibration"]["accuracy"] <= \
        rows["best fusion"]["accuracy"]


def test_every_vote_of_an_undecided_voxel_can_be_missing(tmp_path):
    """A candidate with the ignore label abstains; where all do, the background stays."""
    entry, _, labels, p = votes_case(tmp_path, "a", (6, 7), n=3)
    labels[0, :2] = 255
    labels[:, 3, 3] = 255
    for i in range(3):
        np.save(tmp_path / entry["candidates"][i], labels[i].astype(np.uint8))
    dataset = describe(tmp_path, [entry], CLASSES, background=2)
    run("fuse", dataset, "-m", "svwv", "-o", tmp_path / "out", "--quiet")
    found = read(tmp_path / "out", "a")
    expected, close = fuse(labels, p, "svwv")
    expected[3, 3] = 2
    close[3, 3] = False
    assert np.array_equal(found[~close], expected[~close])
    assert "background" in fails(3, "fuse", describe(tmp_path, [entry], CLASSES), "-o",
                                 tmp_path / "other", "--quiet")


def test_simulated_candidates_are_right_as_often_as_they_should_be(tmp_path):
    """Over all voxels and over those of a range of reliability; five standard errors."""
    for threads in (1, 3):
        run("simulate", tmp_path / f"t{threads}", "--preset", "candidates", "--cases", 2, "--members", 4,
            "--size", "20x40x40", "--threads", threads, "--quiet")
    files = sorted(p.relative_to(tmp_path / "t1") for p in (tmp_path / "t1").rglob("*.*"))
    assert len(files) == 2 * (1 + 3 * 4) + 2
    for path in files:
        assert (tmp_path / "t1" / path).read_bytes() == (tmp_path / "t3" / path).read_bytes(), path
    content = json.loads((tmp_path / "t1" / "dataset.json").read_text())
    right, p = [], []
    for case in content["cases"]:
        truth = np.asarray(nibabel.load(tmp_path / "t1" / case["labels"]).dataobj).T
        for candidate, logits in zip(case["candidates"], case["members"]):
            labels = np.asarray(nibabel.load(tmp_path / "t1" / candidate).dataobj).T
            right.append((labels == truth).ravel())
            p.append(np.load(tmp_path / "t1" / logits.replace("logits", "truth")).ravel())
            z = np.load(tmp_path / "t1" / logits)
            np.testing.assert_allclose((z[1] - z[0]).ravel() / 1.8,
                                       np.log(p[-1] / (1 - p[-1])), rtol=1e-4, atol=1e-5)
    right, p = np.concatenate(right), np.concatenate(p).astype(np.float64)
    for low, high in ((0.0, 1.0), (0.0, 0.3), (0.3, 0.6), (0.6, 0.9), (0.9, 1.0)):
        chosen = (p >= low) & (p <= high)
        error = np.sqrt(np.sum(p[chosen] * (1 - p[chosen]))) / chosen.sum()
        assert abs(np.mean(right[chosen] - p[chosen])) < 5 * error, (low, high)


def mean(result, row, metric):
    return next(r for r in result["rows"] if r["name"] == row)["mean"][metric]["estimate"]


@pytest.fixture(scope="module", name="studies")
def ten_seeds(tmp_path_factory):
    """Ten simulations; each fused by every method with the true reliabilities, and by jlf as stored."""
    found = []
    for seed in range(10):
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        data = folder / "data"
        run("simulate", data, "--preset", "candidates", "--cases", 2, "--size", "16x32x32",
            "--seed", seed, "--quiet")
        content = json.loads((data / "dataset.json").read_text())
        content["input"] = "probabilities"
        for case in content["cases"]:
            case["members"] = [m.replace("logits/", "truth/") for m in case["members"]]
        (data / "true.json").write_text(json.dumps(content))
        results = {method: json.loads(run("fuse", data / "true.json", "-m", method, "--json",
                                          "--quiet").stdout)
                   for method in ("jlf", "svwv", "plurality")}
        results["stored"] = json.loads(run("fuse", data, "--json", "--quiet").stdout)
        found.append(results)
    return found


def test_with_true_reliabilities_joint_fusion_leads(studies):
    scores = {method: np.mean([mean(s[method], "uncalibrated", "dsc") for s in studies])
              for method in ("jlf", "svwv", "plurality")}
    assert scores["jlf"] >= scores["svwv"] >= scores["plurality"], scores
    assert scores["jlf"] > scores["plurality"] + 0.02, scores


def test_true_reliabilities_fuse_better_than_over_confident_ones(studies):
    gains = [mean(s["jlf"], "uncalibrated", "dsc") - mean(s["stored"], "uncalibrated", "dsc")
             for s in studies]
    assert np.mean(gains) > 0 and np.mean(np.array(gains) > 0) >= 0.8, gains


def test_the_bounds_bound(studies):
    for study in studies:
        for result in study.values():
            for metric, sign in (("dsc", 1), ("accuracy", 1), ("asd", -1)):
                plain = sign * mean(result, "uncalibrated", metric)
                assert plain <= sign * mean(result, "best calibration", metric) + 1e-12
                assert plain <= sign * mean(result, "best fusion", metric) + 1e-12


def test_the_study_recovers_the_temperature_and_says_that_calibration_helps(tmp_path):
    data = tmp_path / "data"
    run("simulate", data, "--preset", "candidates", "--size", "16x32x32", "--quiet")
    truth = json.loads((data / "truth.json").read_text())
    out = tmp_path / "study"
    done = run("fuse", data, "-p", "ts(z)", "-o", out, "--quiet")
    assert "difference from uncalibrated" in done.stdout
    model = json.loads((out / "models" / "1.json").read_text())
    assert 1 / model["parameters"]["beta"] == pytest.approx(
        truth["map"]["parameters"]["temperature"], rel=0.02)
    result = json.loads((out / "fusion.json").read_text())
    gain = next(r for r in result["rows"] if r["name"] == "ts(z)")["difference"]["dsc"]
    assert 0 < gain["lower"] <= gain["estimate"] <= gain["upper"]
    assert {p.name for p in out.iterdir()} == {"votes", "models", "fused", "fusion.json"}


def test_the_same_bytes_for_any_threads_and_memory(tmp_path):
    data = tmp_path / "data"
    run("simulate", data, "--preset", "candidates", "--cases", 2, "--size", "20x70x70", "--quiet")
    seen = set()
    for threads, memory in ((1, "64M"), (3, "64M"), (2, "2G")):
        out = tmp_path / f"out{threads}{memory}"
        text = run("fuse", data, "-o", out, "--threads", threads, "--memory", memory, "--json",
                   "--quiet").stdout
        seen.add((text, *(p.read_bytes() for p in sorted(out.iterdir()))))
    assert len(seen) == 1


def test_segmentations_have_the_geometry_of_the_labels(tmp_path):
    data = tmp_path / "data"
    run("simulate", data, "--preset", "candidates", "--cases", 1, "--size", "8x16x12", "--quiet")
    run("fuse", data, "-o", tmp_path / "out", "--quiet")
    fused = nibabel.load(tmp_path / "out" / "0000.nii.gz")
    labels = nibabel.load(data / "labels" / "0000.nii.gz")
    assert fused.shape == labels.shape == (12, 16, 8)
    np.testing.assert_allclose(fused.affine, labels.affine)
