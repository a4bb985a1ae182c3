# SPDX-License-Identifier: Apache-2.0
"""Reliability diagrams on axes of matplotlib; needs `pip install segcal[plots]`."""

from __future__ import annotations

from typing import Any

import numpy as np


def reliability_diagram(source: Any, pipeline: str | int = -1, *, ax: Any = None, label: str | None = None,
                        **style: Any) -> Any:
    """Draws accuracy against confidence, and returns the axis.

    `source` is an `Evaluation`, a `metrics.Metric` with "ece", or the bins that `reliability()` of either gives.
    """
    if ax is None:
        import matplotlib.pyplot as plt
        _, ax = plt.subplots(figsize=(4, 4))
    bins = source
    if not isinstance(source, dict):
        is_metric = hasattr(source, "compute")
        bins = source.reliability() if is_metric else source.reliability(pipeline)
        if label is None and not is_metric:
            label = source.pipelines[pipeline] if isinstance(pipeline, int) else pipeline
    filled = np.asarray(bins["count"]) > 0
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
    ax.plot(bins["confidence"][filled], bins["accuracy"][filled], marker="o", markersize=3, label=label, **style)
    ax.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    if label is not None:
        ax.legend(loc="upper left", frameon=False)
    return ax
