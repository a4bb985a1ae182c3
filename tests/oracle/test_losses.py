# SPDX-License-Identifier: Apache-2.0
"""segcal.losses against NumPy in double and finite differences, PyTorch's own losses and MONAI's."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import losses_reference as reference
import numpy as np
import pytest

torch = pytest.importorskip("torch")


def load_alone():
    """The folder as a package of its own: it must do without the compiled part of segcal."""
    folder = Path(__file__).resolve().parents[2] / "python" / "segcal" / "losses"
    spec = importlib.util.spec_from_file_location("losses", folder / "__init__.py",
                                                  submodule_search_locations=[str(folder)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["losses"] = module
    spec.loader.exec_module(module)
    return module


losses = load_alone()

torch.set_num_threads(1)

IGNORE = 255
VARIANTS = [("ce", {}), ("ce_dice", {}), ("ce_dice", {"lam": 0.5, "include_background": False}),
            ("focal", {}), ("focal", {"gamma": 0.5}), ("ecp", {}), ("ls", {}), ("ls", {"alpha": 0.3}),
            ("svls", {}), ("svls", {"sigma": 0.5}), ("mbls", {}), ("mbls", {"margin": 1.0}),
            ("mmce", {}), ("mmce", {"bandwidth": 0.1}),
            ("ml1_ace", {}), ("ml1_ace", {"binning": "soft"}),
            ("ml1_ace", {"bins": 5, "dice": 1.0, "include_background": False})]
VARIANTS += [("nacl", {"prior": prior}) for prior in losses.nacl.PRIORS]
VARIANTS += [("nacl", {"prior": prior, "patch": 5, "padding": "zero"})
             for prior in ("mean", "median", "mode")]
VARIANTS += [("nacl", {"penalty": "l2"}), ("nacl", {"on": "softmax"}),
             ("nacl", {"penalty": "l2", "on": "softmax", "over_classes": "mean"}),
             ("nacl", {"prior": "gaussian", "sigma": 2.0, "over_classes": "mean", "patch": 1})]
SHAPES = [(7,), (5, 6), (3, 4, 3)]


def name(variant):
    return "-".join([variant[0], *(f"{k}={v}" for k, v in variant[1].items())])


def draw(shape, classes=4, batch=2, seed=0, ignored=0.2, scale=3.0):
    """Logits and labels; class 2 is absent, some voxels are ignored, a whole corner too."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, scale, (batch, classes, *shape))
    labels = rng.choice([c for c in range(classes) if c != 2], (batch, *shape))
    if ignored:
        labels[rng.random(labels.shape) < ignored] = IGNORE
        labels[(0, *[slice(0, 2)] * len(shape))] = IGNORE
    return logits, labels


def value(loss, logits, labels, dtype=torch.float64):
    return loss(torch.tensor(logits, dtype=dtype), torch.tensor(labels))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("variant", VARIANTS, ids=name)
@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.0, 0.0]], ids=["plain", "weighted"])
def test_value_in_double_and_float(variant, shape, weight):
    kind, options = variant
    logits, labels = draw(shape)
    loss = losses.make(kind, ignore_index=IGNORE, weight=weight, **options)
    expected = getattr(reference, kind)(logits, labels, ignore=IGNORE, weight=weight, **options)
    assert float(value(loss, logits, labels)) == pytest.approx(expected, rel=1e-7)
    in_float = logits.astype(np.float32).astype(np.float64)
    expected = getattr(reference, kind)(in_float, labels, ignore=IGNORE, weight=weight, **options)
    assert float(value(loss, logits, labels, torch.float32)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_gradient_by_finite_differences_of_the_reference(variant):
    kind, options = variant
    logits, labels = draw((3, 4), seed=3)
    loss = losses.make(kind, ignore_index=IGNORE, weight=[0.5, 2.0, 1.0, 1.5], **options)
    z = torch.tensor(logits, requires_grad=True)
    loss(z, torch.tensor(labels)).backward()
    step = 1e-6
    for at in np.ndindex(logits.shape):
        def f(delta, at=at):
            moved = logits.copy()
            moved[at] += delta
            return getattr(reference, kind)(moved, labels, ignore=IGNORE,
                                            weight=[0.5, 2.0, 1.0, 1.5], **options)
        assert float(z.grad[at]) == pytest.approx((f(step) - f(-step)) / (2 * step), abs=2e-8)


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_ignored_voxels_have_no_gradient_and_no_say(variant):
    kind, options = variant
    logits, labels = draw((5, 6), seed=4)
    loss = losses.make(kind, ignore_index=IGNORE, **options)
    z = torch.tensor(logits, requires_grad=True)
    before = loss(z, torch.tensor(labels))
    before.backward()
    ignored = np.broadcast_to((labels == IGNORE)[:, None], logits.shape)
    assert np.all(z.grad.numpy()[ignored] == 0.0)
    changed = np.where(ignored, np.random.default_rng(5).normal(0, 9, logits.shape), logits)
    assert float(value(loss, changed, labels)) == pytest.approx(float(before), rel=1e-12)


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_a_batch_without_labels_is_zero_with_zero_gradient(variant):
    kind, options = variant
    logits, _ = draw((4, 5))
    z = torch.tensor(logits, requires_grad=True)
    loss = losses.make(kind, ignore_index=IGNORE, weight=[1.0, 2.0, 3.0, 4.0], **options)
    found = loss(z, torch.full((2, 4, 5), IGNORE))
    found.backward()
    assert float(found) == pytest.approx(0.0, abs=1e-7)
    assert torch.all(z.grad == 0.0)


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_half_precision_is_computed_in_float(variant):
    """Of the rounded logits, the loss is that of float32."""
    kind, options = variant
    logits, labels = draw((5, 6))
    loss = losses.make(kind, ignore_index=IGNORE, **options)
    for dtype in (torch.float16, torch.bfloat16):
        half = torch.tensor(logits).to(dtype).requires_grad_()
        found = loss(half, torch.tensor(labels))
        assert found.dtype == torch.float32
        assert float(found) == float(loss(half.detach().float(), torch.tensor(labels)))
        found.backward()
        assert half.grad.dtype == dtype and torch.isfinite(half.grad).all()


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_under_autocast_nothing_is_lost(variant):
    kind, options = variant
    logits, labels = draw((5, 6))
    loss = losses.make(kind, ignore_index=IGNORE, **options)
    z, y = torch.tensor(logits, dtype=torch.float32), torch.tensor(labels)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = loss(z, y)
    assert float(found) == pytest.approx(float(loss(z, y)), rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_labels_with_a_channel_axis_and_as_floats(variant):
    """As nnU-Net and MONAI hand them over."""
    kind, options = variant
    logits, labels = draw((5, 6))
    loss = losses.make(kind, ignore_index=IGNORE, **options)
    z, y = torch.tensor(logits), torch.tensor(labels)
    assert float(loss(z, y)) == float(loss(z, y.unsqueeze(1).float()))


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_class_weights_move_with_the_module(variant):
    kind, options = variant
    loss = losses.make(kind, weight=[1.0, 2.0, 3.0, 4.0], **options)
    assert isinstance(loss, torch.nn.Module)
    assert "weight" in loss.state_dict()
    assert loss.double().weight.dtype == torch.float64


def test_confident_logits_stay_finite():
    """Gaps of 200 underflow every other probability."""
    labels = np.array([[[0, 1], [2, 0]]])
    logits = np.zeros((1, 3, 2, 2))
    logits[0, 0] = 200.0
    for kind in losses.LOSSES:
        z = torch.tensor(logits, dtype=torch.float32, requires_grad=True)
        found = losses.make(kind)(z, torch.tensor(labels))
        found.backward()
        assert torch.isfinite(found) and torch.isfinite(z.grad).all(), kind


# Definitions worth having apart.

@pytest.mark.parametrize("sigma,edge,corner", [(0.5, .2202, .0298), (1.0, .15561, .09439),
                                               (2.0, .1328, .1172)])
def test_svls_weights(sigma, edge, corner):
    weights = losses.svls.neighbour_weights(2, sigma)
    assert weights[(0, 1)] == pytest.approx(edge, abs=5e-5)
    assert weights[(0, 0)] == pytest.approx(corner, abs=5e-5)
    assert sum(weights.values()) == pytest.approx(1.0) and (1, 1) not in weights
    assert sum(losses.svls.neighbour_weights(3, sigma).values()) == pytest.approx(1.0)


def test_svls_is_cross_entropy_plus_divergence_from_the_neighbours():
    """[Murugesan23, Eq. 5]: 2 SVLS = CE + KL(tau || s) + H(tau), the last a constant."""
    logits, labels = draw((6, 7), ignored=0.0)
    tau = np.zeros_like(logits)
    entropy = []
    for at in np.ndindex(labels.shape):
        around = 2 * reference.svls_target(labels, at, 2.0, 4, None) - reference.hot(labels[at], 4)
        tau[(at[0], slice(None), *at[1:])] = around
        entropy.append(-np.sum(around[around > 0] * np.log(around[around > 0])))
    z, y, t = torch.tensor(logits), torch.tensor(labels), torch.tensor(tau)
    log_s = torch.log_softmax(z, dim=1)
    divergence = torch.nn.functional.kl_div(log_s, t, reduction="sum") / labels.size
    cross = torch.nn.functional.cross_entropy(z, y)
    assert 2 * float(losses.make("svls")(z, y)) == pytest.approx(
        float(cross + divergence) + float(np.mean(entropy)), rel=1e-12)


def test_limits_are_the_losses_they_generalise():
    logits, labels = draw((5, 6))
    ce = float(value(losses.make("ce", ignore_index=IGNORE), logits, labels))
    for kind, options in [("focal", {"gamma": 0.0}), ("ls", {"alpha": 0.0}), ("ecp", {"lam": 0.0}),
                          ("mbls", {"margin": 1e3}), ("nacl", {"lam": 0.0}), ("mmce", {"lam": 0.0}),
                          ("ml1_ace", {"lam": 0.0}), ("ce_dice", {"lam": 0.0})]:
        loss = losses.make(kind, ignore_index=IGNORE, **options)
        assert float(value(loss, logits, labels)) == pytest.approx(ce, rel=1e-12), kind


@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.0, 1.5]])
def test_ce_and_ls_are_torchs_own(weight):
    logits, labels = draw((5, 6))
    z, y = torch.tensor(logits), torch.tensor(labels)
    w = None if weight is None else torch.tensor(weight, dtype=torch.float64)
    for kind, options, smoothing in [("ce", {}, 0.0), ("ls", {"alpha": 0.3}, 0.3)]:
        own = losses.make(kind, ignore_index=IGNORE, weight=weight, **options)(z, y)
        torchs = torch.nn.functional.cross_entropy(z, y, weight=w, ignore_index=IGNORE,
                                                   label_smoothing=smoothing)
        assert float(own) == pytest.approx(float(torchs), rel=1e-6)


def test_a_calibrated_batch_has_no_marginal_error():
    """Half of the voxels with q = 1/2 are of each class: every bin's mean gap is zero."""
    logits = torch.zeros(1, 2, 4, 4)
    labels = torch.tensor([[0, 1], [1, 0]]).repeat(1, 2, 2)
    for binning in ("hard", "soft"):
        loss = losses.make("ml1_ace", binning=binning)
        assert float(loss.error(loss.prepare(logits, labels))) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("arguments,parts", [
    ((torch.zeros(2, 3), torch.zeros(2)), ["(2, 3)", "spatial"]),
    ((torch.zeros(2, 3, 4, 4), torch.zeros(2, 4, 5)), ["(2, 4, 5)", "(2, 4, 4)", "(2, 1, 4, 4)"]),
    ((torch.zeros(2, 3, 4, 4), torch.full((2, 4, 4), 3)), ["label 3", "0 to 2"]),
    ((torch.zeros(2, 3, 4, 4), torch.full((2, 4, 4), -1)), ["label -1"])])
def test_wrong_input_is_named(arguments, parts):
    with pytest.raises(ValueError) as error:
        losses.make("nacl")(*arguments)
    assert all(part in str(error.value) for part in parts), error.value


@pytest.mark.parametrize("kind,options,part", [
    ("nacl", {"prior": "best"}, "gaussian"), ("nacl", {"patch": 4}, "odd"),
    ("nacl", {"penalty": "l3"}, "l2"), ("svls", {"sigma": 0.0}, "positive"),
    ("ml1_ace", {"binning": "fuzzy"}, "soft"), ("ls", {"alpha": 2.0}, "alpha"),
    ("ce", {"weight": [[1.0]]}, "weight"), ("focal", {"gamma": -1.0}, "gamma"), ("dice", {}, "nacl")])
def test_wrong_options_are_named(kind, options, part):
    with pytest.raises(ValueError, match=part):
        losses.make(kind, **options)


def test_a_weight_per_class_is_required():
    with pytest.raises(ValueError, match="2 numbers for 4 classes"):
        value(losses.make("ce", weight=[1.0, 2.0]), *draw((5, 6), ignored=0))


@pytest.fixture(scope="session", name="monai")
def monai_python():
    """A Python that has MONAI, in an environment of its own."""
    folder = Path(os.environ.get("SEGCAL_MONAI", "monai-env"))
    script = Path(__file__).parent / "monai_env.sh"
    made = subprocess.run([script, folder], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip("MONAI cannot be installed: " + made.stderr.strip()[-200:])
    return folder / "env" / "bin" / "python"


THEIRS = """
import sys, numpy as np, torch
from monai.losses import NACLLoss
data = np.load(sys.argv[1])
for dim in (2, 3):
    for kernel in ("mean", "gaussian"):
        for distance in ("l1", "l2"):
            z = torch.tensor(data[f"z{dim}"], requires_grad=True)
            NACLLoss(classes=4, dim=dim, kernel_ops=kernel, distance_type=distance, alpha=0.3)(
                z, torch.tensor(data[f"y{dim}"])).backward()
            np.save(f"{sys.argv[2]}/{dim}{kernel}{distance}.npy", z.grad.numpy())
"""


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_nacl_is_monais_away_from_the_border(monai, tmp_path, dim, distance):
    """Gradients of single voxels: MONAI's prior does not sum to one at the border, ours does.

    Its mean prior is ours; its Gaussian reaches farther than the patch and is not compared.
    """
    arrays = {}
    for axes in (2, 3):
        z, y = draw((7, 6, 8)[:axes], ignored=0, seed=axes)
        arrays |= {f"z{axes}": z.astype(np.float32), f"y{axes}": y}
    np.savez(tmp_path / "data.npz", **arrays)
    subprocess.run([monai, "-c", THEIRS, tmp_path / "data.npz", tmp_path], check=True,
                   capture_output=True)
    z = torch.tensor(arrays[f"z{dim}"], requires_grad=True)
    loss = losses.make("nacl", lam=0.3, penalty=distance, over_classes="mean")
    loss(z, torch.tensor(arrays[f"y{dim}"])).backward()
    theirs = np.load(tmp_path / f"{dim}mean{distance}.npy")
    inside = (slice(None), slice(None), *[slice(1, -1)] * dim)
    assert np.abs(theirs[inside]).max() > 1e-3
    np.testing.assert_allclose(z.grad.numpy()[inside], theirs[inside], rtol=1e-5, atol=1e-8)
