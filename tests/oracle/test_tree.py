# SPDX-License-Identifier: Apache-2.0
"""The local temperature tree against PyTorch: temperatures, loss and every weight gradient by autograd."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from probing import flat, probe


SHAPES = {
    "image": dict(classes=5, shape=(50, 70)),
    "street": dict(classes=20, shape=(30, 40)),
    "two": dict(classes=2, shape=(9, 11)),
    "volume": dict(classes=3, shape=(4, 20, 17)),
    "whole": dict(classes=4, shape=(40, 66), whole_case=True),
    "whole_volume": dict(classes=3, shape=(3, 12, 50), whole_case=True),
    "raw": dict(classes=4, shape=(33, 47), raw=True),
    "colour": dict(classes=3, shape=(40, 52), raw=True, image_channels=3),
    "grey_volume": dict(classes=3, shape=(2, 30, 20), raw=True, image_channels=1),
}


def make_case(folder, classes, shape, raw=False, whole_case=False, image_channels=0):
    """Random logits, labels (a tenth ignored), weights and image."""
    rng = np.random.default_rng(classes * 100 + len(shape))
    filters = 8 if image_channels else 7
    sizes = [filters * (25 * classes + 1)]
    if image_channels:
        sizes.append(25 * image_channels + 1)
    labels = rng.integers(0, classes, shape)
    labels[rng.random(shape) < 0.1] = 255
    image = rng.normal(3.0, 2.0, shape + (image_channels,)).astype(np.float32)
    path = ""
    if image_channels:
        path = str(folder / "image.npy")
        np.save(path, image if image_channels > 1 else image[..., 0])
    return {
        "classes": classes,
        "shape": shape,
        "raw": raw,
        "whole_case": whole_case,
        "image_channels": image_channels,
        "image": path,
        "pixels": image,
        "logits": rng.normal(0.0, 3.0, (classes,) + shape).astype(np.float32),
        "labels": labels,
        "weights": rng.normal(0.0, 0.3 / np.sqrt(25 * classes), sum(sizes)),
    }


def planes(array):
    """(channels, spatial...) as (planes, channels, H, W)."""
    tensor = torch.tensor(array, dtype=torch.float64)
    return tensor.unsqueeze(0) if tensor.dim() == 3 else tensor.movedim(1, 0)


def convolve(inputs, weights, outputs):
    """The first filters of the flat weights on reflected inputs, and the other weights."""
    channels = inputs.shape[1]
    size = 25 * channels + 1
    table = weights[:outputs * size].reshape(outputs, size)
    padded = F.pad(inputs, (4, 4, 4, 4), mode="reflect")
    maps = F.conv2d(padded, table[:, :-1].reshape(outputs, channels, 5, 5), table[:, -1],
                    dilation=2)
    return maps, weights[outputs * size:]


def temperatures(case, weights):
    """(planes, H, W) as the papers define them."""
    logits = planes(case["logits"])
    inputs = logits if case["raw"] else torch.log_softmax(logits, dim=1)
    has_image = case["image_channels"] > 0
    maps, rest = convolve(inputs, weights, 8 if has_image else 7)
    leaves = maps[:, :4] + (1.0 if has_image else 0.0)
    gates = torch.sigmoid(maps[:, 4:])
    left = gates[:, 0] * leaves[:, 0] + (1 - gates[:, 0]) * leaves[:, 1]
    right = gates[:, 1] * leaves[:, 2] + (1 - gates[:, 1]) * leaves[:, 3]
    tree = gates[:, 2] * left + (1 - gates[:, 2]) * right
    if not has_image:
        return F.softplus(tree + np.log(np.e - 1))
    pixels = case["pixels"].astype(np.float64)
    axes = tuple(range(pixels.ndim - 1))
    pixels = (pixels - pixels.mean(axes)) / pixels.std(axes)
    leaf, _ = convolve(planes(np.moveaxis(pixels, -1, 0)), rest, 1)
    return F.relu(gates[:, 3] * (leaf[:, 0] + 1) + (1 - gates[:, 3]) * tree) + 1e-3


def by_torch(case):
    """Temperatures, loss and gradient."""
    weights = torch.tensor(case["weights"], dtype=torch.float64, requires_grad=True)
    tau = temperatures(case, weights)
    used = tau.mean() if case["whole_case"] else tau.unsqueeze(1)
    labels = torch.tensor(case["labels"])
    labels = labels.unsqueeze(0) if labels.dim() == 2 else labels
    loss = F.cross_entropy(planes(case["logits"]) / used, labels, ignore_index=255)
    loss.backward()
    return tau.detach().numpy(), loss.item(), weights.grad.numpy()


@pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES.keys())
def test_agrees_with_autograd(tmp_path, options):
    case = make_case(tmp_path, **options)
    tau, loss, gradient = by_torch(case)
    asked = {**case, "logits": flat(case["logits"], float), "labels": flat(case["labels"], int)}
    del asked["pixels"]
    found = probe("tree", asked)
    np.testing.assert_allclose(found["temperature"], tau.ravel(), rtol=5e-6)
    assert found["loss"] == pytest.approx(loss, rel=2e-6)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(found["gradient"], gradient, rtol=1e-4, atol=1e-5 * scale)
