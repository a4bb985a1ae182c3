# SPDX-License-Identifier: Apache-2.0
"""What all losses share: checked input, ignored voxels, class weights, means over voxels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

import torch
from torch import Tensor, nn
from torch.nn import functional

# Of every class: numbers, or a tensor of them.
Weight: TypeAlias = Union[Tensor, Sequence[float]]


def is_compiling() -> bool:
    """Whether torch.compile is tracing, in versions that can."""
    compiler = getattr(torch, "compiler", None)
    return bool(compiler) and bool(getattr(compiler, "is_compiling", lambda: False)())


class Batch:
    """Logits and labels of a batch, checked, and what is derived from them.

    logits: (N, C, spatial...) in float32 or float64. labels: (N, spatial...), class indices, 0 where
    ignored. valid: (N, spatial...), 1.0 where a voxel takes part, else 0.0.
    """

    def __init__(self, logits: Tensor, labels: Tensor, valid: Tensor) -> None:
        self.logits = logits
        self.labels = labels
        self.valid = valid
        self.log_probs = functional.log_softmax(logits, dim=1)

    @property
    def num_classes(self) -> int:
        return int(self.logits.shape[1])

    def probs(self) -> Tensor:
        """Softmax of the logits."""
        return self.log_probs.exp()

    def one_hot(self) -> Tensor:
        """(N, C, spatial...), all zero where ignored."""
        classes = torch.arange(self.num_classes, device=self.labels.device)
        classes = classes.view(1, -1, *[1] * (self.labels.dim() - 1))
        hot = (self.labels.unsqueeze(1) == classes).to(self.logits.dtype)
        return hot * self.valid.unsqueeze(1)

    def log_prob_of_label(self) -> Tensor:
        """log p_y, (N, spatial...)."""
        return self.log_probs.gather(1, self.labels.unsqueeze(1)).squeeze(1)

    def mean(self, values: Tensor) -> Tensor:
        """Mean of (N, spatial...) over the voxels that take part; 0 where there is none."""
        return (values * self.valid).sum() / self.valid.sum().clamp(min=1.0)


def _checked_weight(weight: Weight) -> Tensor:
    checked = torch.as_tensor(weight, dtype=torch.float32)
    if checked.dim() != 1 or not bool((checked >= 0).all()):
        raise ValueError(f"weight: {checked.tolist()}, one number of at least 0 per class is required")
    return checked


class SegmentationLoss(nn.Module):
    """A loss of logits (N, C, spatial...) and labels (N, spatial...) or (N, 1, spatial...).

    ignore_index: label of voxels that take no part, not even as neighbours; None: there is none.
    weight: a weight per class, as in torch.nn.CrossEntropyLoss: the cross-entropy term becomes
        sum_v w[y_v] l_v / sum_v w[y_v]. Other terms are not weighted.

    One, two or three spatial axes. Half precision is computed in float32. Where no voxel takes
    part, the loss is zero.
    """

    weight: Tensor | None

    def __init__(self, ignore_index: int | None = None, weight: Weight | None = None) -> None:
        super().__init__()
        self.ignore_index = ignore_index
        self.register_buffer("weight", None if weight is None else _checked_weight(weight))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.compute(self.prepare(logits, labels))

    def compute(self, batch: Batch) -> Tensor:
        """The loss, a number, of a checked Batch."""
        raise NotImplementedError

    def prepare(self, logits: Tensor, labels: Tensor) -> Batch:
        """Checks shapes and values and tells ignored voxels apart."""
        self._check_shapes(logits, labels)
        if labels.dim() == logits.dim():
            labels = labels.squeeze(1)
        labels = labels.long()
        if self.ignore_index is None:
            valid = torch.ones_like(labels, dtype=torch.bool)
        else:
            valid = labels != self.ignore_index
        labels = torch.where(valid, labels, torch.zeros_like(labels))
        self._check_labels(labels, logits.shape[1])
        if logits.dtype not in (torch.float32, torch.float64):
            logits = logits.float()
        return Batch(logits, labels, valid.to(logits.dtype))

    def _check_shapes(self, logits: Tensor, labels: Tensor) -> None:
        if logits.dim() not in (3, 4, 5):
            raise ValueError(f"logits of shape {tuple(logits.shape)}; (N, C, spatial...) with one to "
                             "three spatial axes is required")
        without = (logits.shape[0], *logits.shape[2:])
        with_channel = (logits.shape[0], 1, *logits.shape[2:])
        if tuple(labels.shape) not in (without, with_channel):
            raise ValueError(f"labels of shape {tuple(labels.shape)}; {without} or {with_channel} is "
                             f"required for logits of shape {tuple(logits.shape)}")
        if self.weight is not None and len(self.weight) != logits.shape[1]:
            raise ValueError(f"weight: {len(self.weight)} numbers for {logits.shape[1]} classes")

    @staticmethod
    def _check_labels(labels: Tensor, num_classes: int) -> None:
        """On a device this would wait for it; torch itself stops there, with less to say."""
        if labels.device.type != "cpu" or is_compiling() or labels.numel() == 0:
            return
        least, most = int(labels.min()), int(labels.max())
        if least < 0 or most >= num_classes:
            bad = least if least < 0 else most
            raise ValueError(f"label {bad}; labels from 0 to {num_classes - 1} are required, or "
                             "ignore_index")

    def weighted_mean(self, values: Tensor, batch: Batch) -> Tensor:
        """Mean of (N, spatial...) with the weights of the labels (LO2)."""
        if self.weight is None:
            return batch.mean(values)
        weights = self.weight.to(values.dtype)[batch.labels] * batch.valid
        total = weights.sum()
        return (values * weights).sum() / torch.where(total > 0, total, torch.ones_like(total))

    def cross_entropy(self, batch: Batch) -> Tensor:
        """Mean of -log p_y (LO1)."""
        return self.weighted_mean(-batch.log_prob_of_label(), batch)

    def soft_cross_entropy(self, targets: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy to a distribution per voxel, (N, C, spatial...) (LO3)."""
        terms = targets * batch.log_probs
        if self.weight is None:
            return batch.mean(-terms.sum(dim=1))
        weight = self.weight.to(terms.dtype)
        terms = terms * weight.view(1, -1, *[1] * (terms.dim() - 2))
        total = (weight[batch.labels] * batch.valid).sum()
        total = torch.where(total > 0, total, torch.ones_like(total))
        return -(terms * batch.valid.unsqueeze(1)).sum() / total
