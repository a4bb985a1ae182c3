# SPDX-License-Identifier: Apache-2.0
"""Spatially varying label smoothing."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight
from ._patch import Position, gaussian_weights, patch_sums


def neighbour_weights(axes: int, sigma: float, size: int = 3) -> dict[Position, float]:
    """Weights of the voxels around the centre, which sum to one; the centre has none (LO8)."""
    weights = gaussian_weights(size, axes, sigma)
    del weights[(size // 2,) * axes]
    total = sum(weights.values())
    return {at: weight / total for at, weight in weights.items()}


class SpatiallyVaryingLabelSmoothing(SegmentationLoss):
    """Cross-entropy to the mean of the label and the weighted labels of its neighbours (LO9).

    sigma: of the Gaussian, in voxels. The image goes on beyond its border as it ends. Ignored
    neighbours are left out and the weights of the others scaled up; a voxel without any keeps its
    label as it is.
    """

    def __init__(self, sigma: float = 2.0, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        if sigma <= 0:
            raise ValueError(f"sigma: {sigma}, a positive number is required")
        self.sigma = sigma

    def smooth(self, batch: Batch) -> Tensor:
        """The smoothed labels, (N, C, spatial...); no gradient passes."""
        own = batch.one_hot()
        weights = neighbour_weights(own.dim() - 2, self.sigma)
        around = patch_sums(own, weights, 3)
        known = around.sum(dim=1, keepdim=True)
        prior = around / known.clamp(min=1e-6)
        return 0.5 * (own + (known > 0) * prior + (known <= 0) * own)

    def compute(self, batch: Batch) -> Tensor:
        return self.soft_cross_entropy(self.smooth(batch), batch)
