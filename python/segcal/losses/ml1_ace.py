# SPDX-License-Identifier: Apache-2.0
"""Marginal L1 average calibration error."""

from __future__ import annotations

import torch
from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight
from ._dice import soft_dice


class MarginalAverageCalibrationError(SegmentationLoss):
    """Cross-entropy plus lam times the mean over images and classes of the average calibration error
    of the class's probability (LO17), plus dice times (1 - soft Dice).

    bins: of equal width over [0, 1]. binning: "hard", a probability belongs to one bin (LO18), or
    "soft", linearly to the two whose centres are nearest (LO19).
    include_background: whether class 0 takes part in the calibration and Dice terms.
    """

    def __init__(self, lam: float = 1.0, bins: int = 20, binning: str = "hard", dice: float = 0.0,
                 include_background: bool = True, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        if binning not in ("hard", "soft"):
            raise ValueError(f"binning: {binning!r}, hard or soft is required")
        if bins < 1:
            raise ValueError(f"bins: {bins}, at least 1 is required")
        self.lam = lam
        self.bins = bins
        self.binning = binning
        self.dice = dice
        self.include_background = include_background

    def membership(self, probs: Tensor, index: int) -> Tensor:
        """How much every probability belongs to bin `index`."""
        if self.binning == "hard":
            bins = ((probs.detach() * self.bins).ceil() - 1.0).clamp(0, self.bins - 1)
            return (bins == index).to(probs.dtype)
        centre = (probs * self.bins - 0.5).clamp(0.0, self.bins - 1.0)
        return (1.0 - (centre - index).abs()).clamp(min=0.0)

    def error(self, batch: Batch) -> Tensor:
        """Mean over images and classes of the mean gap of the bins that are not empty."""
        first = 0 if self.include_background else 1
        probs, truth = batch.probs()[:, first:], batch.one_hot()[:, first:]
        if probs.shape[1] == 0:
            raise ValueError("include_background=False: there is no class beside the background")
        voxels = tuple(range(2, probs.dim()))
        gaps = torch.zeros(probs.shape[:2], dtype=probs.dtype, device=probs.device)
        filled = torch.zeros_like(gaps)
        for index in range(self.bins):
            member = self.membership(probs, index) * batch.valid.unsqueeze(1)
            mass = member.sum(voxels)
            full = mass > 0
            gap = (member * (probs - truth)).sum(voxels) / torch.where(full, mass, torch.ones_like(mass))
            gaps = gaps + gap.abs()
            filled = filled + full.to(gaps.dtype)
        return (gaps / filled.clamp(min=1.0)).mean()

    def compute(self, batch: Batch) -> Tensor:
        loss = self.cross_entropy(batch) + self.lam * self.error(batch)
        if self.dice != 0.0:
            loss = loss + self.dice * (1.0 - soft_dice(batch, 1e-5, self.include_background))
        return loss
