# SPDX-License-Identifier: Apache-2.0
"""Focal loss."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight


class Focal(SegmentationLoss):
    """Mean of -(1 - p_y)^gamma log p_y (LO5)."""

    def __init__(self, gamma: float = 3.0, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        if gamma < 0:
            raise ValueError(f"gamma: {gamma}, at least 0 is required")
        self.gamma = gamma

    def compute(self, batch: Batch) -> Tensor:
        log_prob = batch.log_prob_of_label()
        # 1 - p by expm1, which keeps its digits where p is near 1; the floor keeps the power's slope
        # finite where gamma < 1.
        rest = (-log_prob.expm1()).clamp(min=1e-12)
        return self.weighted_mean(-rest**self.gamma * log_prob, batch)
