# SPDX-License-Identifier: Apache-2.0
"""Neighbour-aware calibration loss."""

from __future__ import annotations

import torch
from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight
from ._patch import gaussian_weights, offsets, patch_sums

PRIORS = ("mean", "gaussian", "max", "min", "median", "mode")


def mean_prior(one_hot: Tensor, size: int, padding: str) -> Tensor:
    """Share of each class in the patch (LO14)."""
    ones = {at: 1.0 for at in offsets(size, one_hot.dim() - 2)}
    return normalised(patch_sums(one_hot, ones, size, padding))


def gaussian_prior(one_hot: Tensor, size: int, padding: str, sigma: float) -> Tensor:
    """The same with the weights of a Gaussian (LO15)."""
    weights = gaussian_weights(size, one_hot.dim() - 2, sigma)
    return normalised(patch_sums(one_hot, weights, size, padding))


def normalised(sums: Tensor) -> Tensor:
    """Sums to one over classes; all zero where every voxel of the patch is ignored."""
    return sums / sums.sum(dim=1, keepdim=True).clamp(min=1e-6)


def chosen_class(counts: Tensor, prior: str) -> Tensor:
    """The class with the largest or smallest index in the patch, the middle one, or the most
    frequent; ties to the smallest (LO16)."""
    classes = torch.arange(counts.shape[1], device=counts.device)
    classes = classes.view(1, -1, *[1] * (counts.dim() - 2))
    if prior == "max":
        key = (counts > 0) * (classes + 1)
    elif prior == "min":
        key = (counts > 0) * (counts.shape[1] - classes)
    elif prior == "mode":
        key = counts * counts.shape[1] + (counts.shape[1] - 1 - classes)
    else:
        reached = 2 * counts.cumsum(dim=1) >= counts.sum(dim=1, keepdim=True)
        key = reached * (counts.shape[1] - classes)
    return key.argmax(dim=1)


def order_prior(one_hot: Tensor, size: int, padding: str, prior: str) -> Tensor:
    """One for the chosen class of the patch, zero for the others."""
    ones = {at: 1.0 for at in offsets(size, one_hot.dim() - 2)}
    counts = patch_sums(one_hot, ones, size, padding).round().long()
    chosen = chosen_class(counts, prior).unsqueeze(1)
    return torch.zeros_like(one_hot).scatter_(1, chosen, 1.0)


class NeighbourAwareCalibration(SegmentationLoss):
    """Cross-entropy plus lam times the distance of the logits from a prior of the labels around
    (LO13).

    prior: "mean", "gaussian", "max", "min", "median" or "mode" of the labels in the patch.
    penalty: "l1" or "l2". on: "logits" or "softmax".
    over_classes: "sum", as the paper prints it, or "mean", as its authors' code and MONAI have it.
    patch: voxels per axis, odd. sigma: of the Gaussian prior, in voxels.
    padding: labels beyond the border, "replicate" or "zero" (class 0, as the authors' code).
    """

    def __init__(self, lam: float = 0.1, prior: str = "mean", penalty: str = "l1", on: str = "logits",
                 over_classes: str = "sum", patch: int = 3, sigma: float = 1.0, padding: str = "replicate",
                 ignore_index: int | None = None, weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        for name, value, known in (("prior", prior, PRIORS), ("penalty", penalty, ("l1", "l2")),
                                   ("on", on, ("logits", "softmax")),
                                   ("over_classes", over_classes, ("sum", "mean")),
                                   ("padding", padding, ("replicate", "zero"))):
            if value not in known:
                raise ValueError(f"{name}: {value!r}, one of {', '.join(known)} is required")
        if patch < 1 or patch % 2 == 0:
            raise ValueError(f"patch: {patch}, an odd number of voxels is required")
        if sigma <= 0:
            raise ValueError(f"sigma: {sigma}, a positive number is required")
        self.lam = lam
        self.prior = prior
        self.penalty = penalty
        self.on = on
        self.over_classes = over_classes
        self.patch = patch
        self.sigma = sigma
        self.padding = padding

    def targets(self, batch: Batch) -> Tensor:
        """The prior of every voxel, (N, C, spatial...); no gradient passes."""
        one_hot = batch.one_hot()
        if self.prior == "mean":
            return mean_prior(one_hot, self.patch, self.padding)
        if self.prior == "gaussian":
            return gaussian_prior(one_hot, self.patch, self.padding, self.sigma)
        return order_prior(one_hot, self.patch, self.padding, self.prior)

    def compute(self, batch: Batch) -> Tensor:
        scores = batch.logits if self.on == "logits" else batch.probs()
        gaps = self.targets(batch) - scores
        distances = gaps.abs() if self.penalty == "l1" else gaps**2
        per_voxel = distances.sum(dim=1) if self.over_classes == "sum" else distances.mean(dim=1)
        return self.cross_entropy(batch) + self.lam * batch.mean(per_voxel)
