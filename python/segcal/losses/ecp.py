# SPDX-License-Identifier: Apache-2.0
"""Explicit confidence penalty."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight


class ConfidencePenalty(SegmentationLoss):
    """Cross-entropy less lam times the entropy of the prediction, in nats (LO6)."""

    def __init__(self, lam: float = 0.1, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        self.lam = lam

    def compute(self, batch: Batch) -> Tensor:
        # Where a class is impossible, -inf * 0 would be NaN.
        log_probs = batch.log_probs.clamp(min=-1e4)
        entropy = -(batch.probs() * log_probs).sum(dim=1)
        return self.cross_entropy(batch) - self.lam * batch.mean(entropy)
