# SPDX-License-Identifier: Apache-2.0
"""Losses that calibrate a segmentation network while it is trained; docs/methods/losses.md.

Every one is a torch.nn.Module on standard torch operations: loss(logits, labels) with logits of
(N, C, spatial...) and labels of (N, spatial...) or (N, 1, spatial...), in 1-D, 2-D and 3-D. They need
PyTorch and nothing else, not even the compiled part of segcal.
"""

from typing import Any

from ._base import SegmentationLoss
from .cross_entropy import CrossEntropy, CrossEntropyDice
from .ecp import ConfidencePenalty
from .focal import Focal
from .ls import LabelSmoothing
from .mbls import MarginLabelSmoothing
from .ml1_ace import MarginalAverageCalibrationError
from .mmce import MaximumMeanCalibrationError
from .nacl import NeighbourAwareCalibration
from .svls import SpatiallyVaryingLabelSmoothing

LOSSES: dict[str, type[SegmentationLoss]] = {
    "ce": CrossEntropy,
    "ce_dice": CrossEntropyDice,
    "focal": Focal,
    "ecp": ConfidencePenalty,
    "ls": LabelSmoothing,
    "svls": SpatiallyVaryingLabelSmoothing,
    "mbls": MarginLabelSmoothing,
    "mmce": MaximumMeanCalibrationError,
    "nacl": NeighbourAwareCalibration,
    "ml1_ace": MarginalAverageCalibrationError,
}


def make(name: str, **options: Any) -> SegmentationLoss:
    """The loss of that name: make("nacl", lam=0.1, ignore_index=255)."""
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}; there are {', '.join(LOSSES)}")
    return LOSSES[name](**options)


__all__ = ["LOSSES", "make", *sorted(loss.__name__ for loss in LOSSES.values())]
