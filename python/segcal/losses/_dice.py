# SPDX-License-Identifier: Apache-2.0
"""The soft Dice score."""

from __future__ import annotations

from torch import Tensor

from ._base import Batch


def soft_dice(batch: Batch, smooth: float, include_background: bool) -> Tensor:
    """Mean over samples and classes of (2 sum p y + s) / (sum p + sum y + s) (LO4)."""
    truth = batch.one_hot()
    probs = batch.probs() * batch.valid.unsqueeze(1)
    if not include_background:
        if batch.num_classes < 2:
            raise ValueError("include_background=False: there is no class beside the background")
        truth, probs = truth[:, 1:], probs[:, 1:]
    voxels = tuple(range(2, truth.dim()))
    common = (truth * probs).sum(voxels)
    return ((2.0 * common + smooth) / (truth.sum(voxels) + probs.sum(voxels) + smooth)).mean()
