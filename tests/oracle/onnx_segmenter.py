# SPDX-License-Identifier: Apache-2.0
"""onnx_segmenter.py FOLDER: segmenters as PyTorch exports them, with random weights, for tests.

Runs in the environment of onnx_env.sh. Each has an input "image" of three channels.
"""

import sys
from pathlib import Path

import onnx
import torch
from torch import nn

CLASSES = 5


def encoder(conv, norm, pool):
    return nn.Sequential(conv(3, 16, 3, padding=1), norm(16), nn.ReLU(), pool(2),
                         conv(16, 32, 3, padding=1), norm(32), nn.ReLU())


class Segmenter(nn.Module):
    """A small U-shaped network for images or volumes."""

    def __init__(self, volumes=False, heads=1):
        super().__init__()
        conv, norm, pool = (nn.Conv3d, nn.BatchNorm3d, nn.MaxPool3d) if volumes else \
            (nn.Conv2d, nn.BatchNorm2d, nn.MaxPool2d)
        self.encoder = encoder(conv, norm, pool)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.heads = nn.ModuleList(conv(35, CLASSES, 1, bias=False) for _ in range(heads))

    def forward(self, image):
        features = torch.cat([image, self.up(self.encoder(image))], 1)
        return tuple(8 * head(features) for head in self.heads)


def save(path, network, shape, names, opset):
    """As a person would: any batch and size."""
    axes = {0: "n", **{axis: f"s{axis}" for axis in range(2, len(shape))}}
    torch.onnx.export(network.eval(), torch.randn(shape), str(path), opset_version=opset, input_names=["image"],
                      output_names=names, dynamic_axes={name: axes for name in ["image", *names]})


def main(folder):
    torch.manual_seed(3)
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "image.onnx", Segmenter(), (1, 3, 16, 16), ["logits"], 13)
    save(folder / "image16.onnx", Segmenter(), (1, 3, 16, 16), ["seg"], 16)
    save(folder / "old.onnx", Segmenter(), (1, 3, 16, 16), ["logits"], 11)
    save(folder / "volume.onnx", Segmenter(volumes=True), (1, 3, 8, 16, 16), ["logits"], 14)
    save(folder / "ensemble.onnx", Segmenter(heads=3), (1, 3, 16, 16), ["a", "b", "c"], 13)
    model = onnx.load(folder / "image.onnx")
    onnx.save_model(model, str(folder / "external.onnx"), save_as_external_data=True, location="external.data",
                    size_threshold=0)


main(Path(sys.argv[1]))
