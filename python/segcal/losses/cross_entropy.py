# SPDX-License-Identifier: Apache-2.0
"""Cross-entropy, and cross-entropy with Dice."""

from ._base import SegmentationLoss
from ._dice import soft_dice


class CrossEntropy(SegmentationLoss):
    """Mean of -log p_y over the voxels that take part (LO1)."""

    def compute(self, batch):
        return self.cross_entropy(batch)


class CrossEntropyDice(SegmentationLoss):
    """Cross-entropy plus lam times (1 - soft Dice), the mean over samples and classes (LO4).

    smooth: added to numerator and denominator of every Dice score.
    include_background: whether class 0 takes part in the Dice term.
    """

    def __init__(self, lam=1.0, smooth=1e-5, include_background=True, ignore_index=None,
                 weight=None):
        super().__init__(ignore_index, weight)
        self.lam = lam
        self.smooth = smooth
        self.include_background = include_background

    def compute(self, batch):
        dice = soft_dice(batch, self.smooth, self.include_background)
        return self.cross_entropy(batch) + self.lam * (1.0 - dice)
