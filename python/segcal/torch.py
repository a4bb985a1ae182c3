# SPDX-License-Identifier: Apache-2.0
"""Metrics with the interface of torchmetrics, exact past 2**24 pixels. Works without PyTorch as well."""

from __future__ import annotations

from typing import Any

from .metrics import Metric


class CalibrationError:
    """Expected (norm "l1") or maximum ("max") calibration error of the top label over all pixels.

    Takes what `torchmetrics.CalibrationError(task="multiclass")` takes: `preds` (N, C, ...) as probabilities, or
    as logits if `logits=True`; `target` (N, ...). Counts have 64 bits; partial results of several processes merge
    without rounding: `merge`, or `state_dict` and `load_state_dict`.
    """

    def __init__(self, num_classes: int | None = None, n_bins: int | None = None, norm: str = "l1",
                 ignore_index: int | None = None, logits: bool = False) -> None:
        names = {"l1": "ece", "max": "mce"}
        if norm not in names:
            raise ValueError(f"norm {norm!r}; one of {', '.join(names)} is required")
        self._name = names[norm]
        self._num_classes = num_classes
        options: dict[str, Any] = {} if n_bins is None else {"bins": n_bins}
        self._metric = Metric(self._name, input="logits" if logits else "probabilities", ignore_index=ignore_index,
                              **options)

    def update(self, preds: Any, target: Any) -> None:
        """Adds a batch."""
        if self._num_classes is not None and preds.shape[1] != self._num_classes:
            raise ValueError(f"preds: {preds.shape[1]} channels in shape {tuple(preds.shape)}, "
                             f"{self._num_classes} classes are required")
        self._metric.update(preds, target)

    def compute(self) -> float:
        """The error over everything so far."""
        return self._metric.compute()[self._name]

    def forward(self, preds: Any, target: Any) -> float:
        """Adds a batch, and returns the error of that batch alone."""
        batch = CalibrationError.__new__(CalibrationError)
        batch.__dict__.update(self.__dict__)
        batch._metric = self._metric.fresh()
        batch.update(preds, target)
        self._metric.merge(batch._metric)
        return batch.compute()

    __call__ = forward

    def merge(self, other: CalibrationError) -> None:
        """Adds what another one, of another process perhaps, has seen."""
        self._metric.merge(other._metric)

    def reset(self) -> None:
        """Forgets everything."""
        self._metric.reset()

    def state_dict(self) -> dict[str, Any]:
        """Everything it has seen, to be pickled or saved."""
        return {"metric": self._metric}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from such a state."""
        self._metric = self._metric.fresh()
        self._metric.merge(state["metric"])

    def to(self, *_args: Any, **_kwargs: Any) -> CalibrationError:
        """It stays on the CPU; batches must be there too."""
        return self
