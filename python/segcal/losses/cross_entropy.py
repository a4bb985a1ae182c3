# SPDX-License-Identifier: Apache-2.0
"""Cross-entropy, and cross-entropy with Dice."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight
from ._dice import soft_dice


class CrossEntropy(SegmentationLoss):
    """Mean of -log p_y over the voxels that take part (LO1)."""

    def compute(self, batch: Batch) -> Tensor:
        return self.cross_entropy(batch)


class CrossEntropyDice(SegmentationLoss):
    """Cross-entropy plus lam times (1 - soft Dice), the mean over samples and classes (LO4).

    smooth: added to numerator and denominator of every Dice score.
    include_background: whether class 0 takes part in the Dice term.
    """

    def __init__(self, lam: float = 1.0, smooth: float = 1e-5, include_background: bool = True,
                 ignore_index: int | None = None, weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        self.lam = lam
        self.smooth = smooth
        self.include_background = include_background

    def compute(self, batch: Batch) -> Tensor:
        dice = soft_dice(batch, self.smooth, self.include_background)
        return self.cross_entropy(batch) + self.lam * (1.0 - dice)
