# SPDX-License-Identifier: Apache-2.0
"""Margin-based label smoothing."""

from torch.nn import functional

from ._base import SegmentationLoss


class MarginLabelSmoothing(SegmentationLoss):
    """Cross-entropy plus lam times the mean over classes of max(0, max_j l_j - l_c - margin) (LO10)."""

    def __init__(self, lam=0.1, margin=5.0, ignore_index=None, weight=None):
        super().__init__(ignore_index, weight)
        self.lam = lam
        self.margin = margin

    def compute(self, batch):
        gaps = batch.logits.amax(dim=1, keepdim=True) - batch.logits
        excess = functional.relu(gaps - self.margin).mean(dim=1)
        return self.cross_entropy(batch) + self.lam * batch.mean(excess)
