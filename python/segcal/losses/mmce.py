# SPDX-License-Identifier: Apache-2.0
"""Maximum mean calibration error."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch, SegmentationLoss, Weight


class MaximumMeanCalibrationError(SegmentationLoss):
    """Cross-entropy plus lam times the maximum mean calibration error (LO11).

    bandwidth: of the kernel exp(-|r - r'| / bandwidth) between confidences. All voxels that take
    part count, every one against every other: sorted by confidence, the double sum is a prefix sum
    (LO12), so the cost is that of sorting.
    """

    def __init__(self, lam: float = 2.0, bandwidth: float = 0.4, ignore_index: int | None = None,
                 weight: Weight | None = None) -> None:
        super().__init__(ignore_index, weight)
        if bandwidth < 0.02:
            raise ValueError(f"bandwidth: {bandwidth}, at least 0.02 is required")
        self.lam = lam
        self.bandwidth = bandwidth

    def error(self, batch: Batch) -> Tensor:
        """sqrt of (1/n^2) sum_ij a_i a_j exp(-|r_i - r_j| / bandwidth), a = correct - confidence."""
        log_confidence, decision = batch.log_probs.max(dim=1)
        confidence = log_confidence.double().exp().flatten()
        correct = (decision == batch.labels).double().flatten()
        gaps = (correct - confidence) * batch.valid.double().flatten()
        confidence, order = confidence.sort()
        gaps = gaps[order]
        rising = gaps * (confidence / self.bandwidth).exp()
        falling = gaps * (-confidence / self.bandwidth).exp()
        pairs = (falling * (rising.cumsum(0) - rising)).sum()
        squared = (gaps**2).sum() + 2.0 * pairs
        count = batch.valid.double().sum().clamp(min=1.0)
        # The square root has no slope at 0, which only a perfect or empty batch reaches.
        return (squared / count**2).clamp(min=1e-16).sqrt()

    def compute(self, batch: Batch) -> Tensor:
        error = self.error(batch).to(batch.logits.dtype)
        return self.cross_entropy(batch) + self.lam * error
