# SPDX-License-Identifier: Apache-2.0
"""Focal loss."""

from ._base import SegmentationLoss


class Focal(SegmentationLoss):
    """Mean of -(1 - p_y)^gamma log p_y (LO5)."""

    def __init__(self, gamma=3.0, ignore_index=None, weight=None):
        super().__init__(ignore_index, weight)
        if gamma < 0:
            raise ValueError(f"gamma: {gamma}, at least 0 is required")
        self.gamma = gamma

    def compute(self, batch):
        log_prob = batch.log_prob_of_label()
        # 1 - p by expm1, which keeps its digits where p is near 1; the floor keeps the power's slope
        # finite where gamma < 1.
        rest = (-log_prob.expm1()).clamp(min=1e-12)
        return self.weighted_mean(-rest**self.gamma * log_prob, batch)
