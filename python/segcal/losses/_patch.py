# SPDX-License-Identifier: Apache-2.0
"""Sums over the patch around every voxel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

Position: TypeAlias = "tuple[int, ...]"


def offsets(size: int, axes: int) -> Iterator[Position]:
    """All positions of a patch of `size` voxels per axis, the centre in the middle."""
    # torch.compile understands products of arguments, and not `repeat`.
    return itertools.product(*[range(size)] * axes)


def gaussian_weights(size: int, axes: int, sigma: float) -> dict[Position, float]:
    """Position -> exp(-|x|^2 / 2 sigma^2), |x| the distance from the centre in voxels."""
    centre = size // 2
    return {at: math.exp(-sum((x - centre) ** 2 for x in at) / (2.0 * sigma**2))
            for at in offsets(size, axes)}


def pad(one_hot: Tensor, size: int, padding: str) -> Tensor:
    """Labels beyond the border: those of the border ("replicate"), or class 0 ("zero")."""
    axes = one_hot.dim() - 2
    width = [size // 2] * (2 * axes)
    if padding == "replicate":
        return functional.pad(one_hot, width, mode="replicate")
    background, rest = one_hot[:, :1], one_hot[:, 1:]
    return torch.cat([functional.pad(background, width, value=1.0), functional.pad(rest, width)],
                     dim=1)


def patch_sums(one_hot: Tensor, weights: Mapping[Position, float], size: int,
               padding: str = "replicate") -> Tensor:
    """Sum over the patch of weight times one-hot label, (N, C, spatial...).

    Shifted copies rather than a convolution, which autocast would compute in half precision. The
    labels of ignored voxels are all zero, so these add nothing.
    """
    shape = one_hot.shape[2:]
    padded = pad(one_hot, size, padding)
    total = torch.zeros_like(one_hot)
    for at, weight in weights.items():
        window = (slice(None), slice(None),
                  *(slice(start, start + length) for start, length in zip(at, shape)))
        total = total + weight * padded[window]
    return total
