# SPDX-License-Identifier: Apache-2.0
"""The network of segcal-train against PyTorch on the same weights."""

import json

import numpy as np
import pytest
from program import PROGRAM, describe, run

torch = pytest.importorskip("torch")
functional = torch.nn.functional

pytestmark = pytest.mark.skipif(not (PROGRAM.parent / "segcal-train").exists(),
                                reason="segcal-train is not built: there is no libtorch")


def read_state(path, weights, statistics):
    """The header and the two vectors of a network."""
    magic, header, rest = path.read_bytes().split(b"\n", 2)
    assert magic == b"segcal network state 1"
    numbers = np.frombuffer(rest, np.float32)
    assert len(numbers) == weights + statistics
    return json.loads(header), torch.tensor(numbers[:weights]), torch.tensor(numbers[weights:])


class Net:
    """The U-Net of docs/train.md in PyTorch; takes its numbers in the order in which it uses them."""

    def __init__(self, options):
        self.options = options
        self.axes = options["axes"]
        self.conv = functional.conv2d if self.axes == 2 else functional.conv3d
        self.up = functional.conv_transpose2d if self.axes == 2 else functional.conv_transpose3d
        self.pool = functional.max_pool2d if self.axes == 2 else functional.max_pool3d

    def sizes(self):
        """How many weights and statistics there are."""
        width, depth, k = self.options["width"], self.options["depth"], 3**self.axes
        weights = width * self.options["classes"] + self.options["classes"]
        statistics, inside = 0, self.options["channels"]
        for level in range(depth):
            b = width << level
            weights += k * inside * b + k * b * b + 4 * b
            statistics += 4 * b
            inside = b
        for level in range(depth - 1):
            b = width << level
            weights += 2**self.axes * 2 * b * b + b + k * 2 * b * b + k * b * b + 4 * b
            statistics += 4 * b
        return weights, statistics

    def take(self, *shape):
        count = int(np.prod(shape))
        part, self.weights = self.weights[:count], self.weights[count:]
        return part.view(*shape)

    def block(self, x, out):
        for _ in range(2):
            x = self.conv(x, self.take(out, x.shape[1], *[3] * self.axes), padding=1)
            scale, offset = self.take(out), self.take(out)
            mean, variance, self.statistics = (self.statistics[:out], self.statistics[out:2 * out],
                                               self.statistics[2 * out:])
            x = functional.relu(functional.batch_norm(x, mean, variance, scale, offset))
        return x

    def __call__(self, x, weights, statistics):
        self.weights, self.statistics = weights, statistics
        width, depth = self.options["width"], self.options["depth"]
        skips = []
        for level in range(depth):
            x = self.block(self.pool(x, 2) if level else x, width << level)
            skips.append(x)
        for level in reversed(range(depth - 1)):
            b = width << level
            x = self.up(x, self.take(2 * b, b, *[2] * self.axes), self.take(b), stride=2)
            x = self.block(torch.cat([skips[level], x], 1), b)
        x = self.conv(x, self.take(self.options["classes"], width, *[1] * self.axes),
                      self.take(self.options["classes"]))
        assert len(self.weights) == 0 and len(self.statistics) == 0
        return x


def make_images(folder, shape, channels, count=4):
    """Images as .npy, labels by their first channel."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    cases = []
    for i in range(count):
        image = rng.normal(50, 10, (*shape, channels)).astype(np.float32)
        np.save(folder / f"image{i}.npy", image)
        np.save(folder / f"labels{i}.npy", (image[..., 0] > 50).astype(np.uint8))
        cases.append({"id": f"c{i}", "image": f"image{i}.npy", "labels": f"labels{i}.npy",
                      "split": "train" if i < count - 1 else "validation"})
    return describe(folder, cases, 2)


@pytest.mark.parametrize("shape,options", [((16, 24), ["--width", 4, "--depth", 3]),
                                           ((8, 8, 12), ["--width", 3, "--depth", 2]),
                                           ((3, 16, 8), ["--width", 3, "--depth", 2, "--axes", 2])])
def test_logits_are_those_of_pytorch(tmp_path, shape, options):
    dataset = make_images(tmp_path / "data", shape, 2)
    dataset.write_text(json.dumps({k: v for k, v in json.loads(dataset.read_text()).items() if k != "input"}))
    run("train", dataset, "-o", tmp_path / "run", "--epochs", 2, "--batch", 2, *options, "--threads", 1, "--quiet")
    run("predict", tmp_path / "run", dataset, "-o", tmp_path / "out", "--threads", 1, "--quiet")
    described = json.loads((tmp_path / "run" / "training.json").read_text())
    net = Net(described["network"])
    _, weights, statistics = read_state(tmp_path / "run" / "member0" / "best.net", *net.sizes())
    image = np.load(tmp_path / "data" / "image3.npy")
    image = (image - described["mean"]) / described["spread"]
    x = torch.tensor(np.moveaxis(image, -1, 0)[None], dtype=torch.float32)
    found = np.load(tmp_path / "out" / "logits" / "m0" / "c3.npy")
    if len(shape) == 3 and "--axes" in options:
        expected = np.stack([net(x[:, :, z], weights, statistics)[0].numpy() for z in range(shape[0])], 1)
    else:
        expected = net(x, weights, statistics)[0].numpy()
    assert found.shape == (2, *shape) and found.std() > 0.01
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
