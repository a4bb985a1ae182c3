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

    def memberships(self, probs: Tensor) -> list[tuple[Tensor, Tensor | float]]:
        """The bins that a probability belongs to, as their numbers, and how much to each."""
        if self.binning == "hard":
            return [(((probs * self.bins).ceil() - 1.0).clamp(0, self.bins - 1).long(), 1.0)]
        centre = (probs * self.bins - 0.5).clamp(0.0, self.bins - 1.0)
        low = centre.detach().floor()
        share = centre - low
        return [(low.long(), 1.0 - share), ((low + 1.0).clamp(max=self.bins - 1.0).long(), share)]

    def error(self, batch: Batch) -> Tensor:
        """Mean over images and classes of the mean gap of the bins that are not empty."""
        first = 0 if self.include_background else 1
        probs, truth = batch.probs()[:, first:], batch.one_hot()[:, first:]
        if probs.shape[1] == 0:
            raise ValueError("include_background=False: there is no class beside the background")
        # One row per image and class. Sums are in double: a bin may hold most voxels of an image.
        rows = probs.shape[0] * probs.shape[1]
        gaps = torch.zeros(rows, self.bins, dtype=torch.float64, device=probs.device)
        mass = torch.zeros_like(gaps)
        valid = batch.valid.unsqueeze(1).expand_as(probs)
        for bins, share in self.memberships(probs):
            bins, member = bins.reshape(rows, -1), share * valid
            gaps = gaps.scatter_add(1, bins, (member * (probs - truth)).reshape(rows, -1).double())
            mass = mass.scatter_add(1, bins, member.reshape(rows, -1).double())
        full = mass > 0
        mean_gaps = gaps.abs() / torch.where(full, mass, torch.ones_like(mass))
        of_rows = mean_gaps.sum(dim=1) / full.sum(dim=1).clamp(min=1)
        return of_rows.mean().to(probs.dtype)

    def compute(self, batch: Batch) -> Tensor:
        loss = self.cross_entropy(batch) + self.lam * self.error(batch)
        if self.dice != 0.0:
            loss = loss + self.dice * (1.0 - soft_dice(batch, 1e-5, self.include_background))
        return loss
