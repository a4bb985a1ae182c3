# SPDX-License-Identifier: Apache-2.0
"""Label smoothing."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight


class LabelSmoothing(SegmentationLoss):
    """Cross-entropy to (1 - alpha) y + alpha / C (LO7)."""

    def __init__(self, alpha: float = 0.1, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(f"alpha: {alpha}, a number from 0 to 1 is required")
        self.alpha = alpha

    def compute(self, batch: Batch) -> Tensor:
        smooth = (1.0 - self.alpha) * batch.one_hot() + self.alpha / batch.num_classes
        return self.soft_cross_entropy(smooth, batch)
