# SPDX-License-Identifier: Apache-2.0
"""Metrics of a validation epoch, batch by batch, from two processes that merge what they have seen.

    python examples/validate_in_batches.py
"""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
from segcal.metrics import Metric


def validate(seed):
    """What one process sees: batches of probabilities and labels."""
    metric = Metric("ece", "nll", "accuracy", bins=15, input="logits")
    rng = np.random.default_rng(seed)
    for _ in range(4):
        logits = rng.normal(0, 3, (2, 3, 64, 64)).astype(np.float32)
        labels = (logits + rng.gumbel(size=logits.shape)).argmax(1)
        metric.update(logits, labels)
    return metric


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        first, second = pool.map(validate, [1, 2])
    first.merge(second)
    print(first.labelled, "pixels:", first.compute())
    assert first.compute()["ece"] < 0.02  # these logits are calibrated
