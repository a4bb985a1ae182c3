# SPDX-License-Identifier: Apache-2.0
"""Label smoothing."""

from ._base import SegmentationLoss


class LabelSmoothing(SegmentationLoss):
    """Cross-entropy to (1 - alpha) y + alpha / C (LO7)."""

    def __init__(self, alpha=0.1, ignore_index=None, weight=None):
        super().__init__(ignore_index, weight)
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(f"alpha: {alpha}, a number from 0 to 1 is required")
        self.alpha = alpha

    def compute(self, batch):
        smooth = (1.0 - self.alpha) * batch.one_hot() + self.alpha / batch.num_classes
        return self.soft_cross_entropy(smooth, batch)
