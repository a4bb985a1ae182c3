# SPDX-License-Identifier: Apache-2.0
"""Margin-based label smoothing."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from ._base import Batch, SegmentationLoss, Weight


class MarginLabelSmoothing(SegmentationLoss):
    """Cross-entropy plus lam times the mean over classes of max(0, max_j l_j - l_c - margin) (LO10)."""

    def __init__(self, lam: float = 0.1, margin: float = 5.0, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        self.lam = lam
        self.margin = margin

    def compute(self, batch: Batch) -> Tensor:
        gaps = batch.logits.amax(dim=1, keepdim=True) - batch.logits
        excess = functional.relu(gaps - self.margin).mean(dim=1)
        return self.cross_entropy(batch) + self.lam * batch.mean(excess)
