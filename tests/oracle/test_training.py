# SPDX-License-Identifier: Apache-2.0
"""Adam, AdamW and the plateau schedule are PyTorch's, step for step."""

import numpy as np
import pytest
import torch
from probing import probe


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 1e-2])
def test_adam_takes_the_steps_of_torch(decoupled, weight_decay):
    rng = np.random.default_rng(3)
    start = rng.normal(size=12)
    gradients = rng.normal(size=(200, 12)) * 10.0 ** rng.uniform(-6, 3, size=12)
    gradients[50:60] = 0.0
    arguments = {"start": start, "gradients": gradients, "learning_rate": 0.03,
                 "weight_decay": weight_decay, "decoupled": decoupled}
    x = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = kind([x], lr=0.03, weight_decay=weight_decay)
    for gradient, found in zip(gradients, probe("adam", arguments)):
        x.grad = torch.tensor(gradient)
        optimizer.step()
        np.testing.assert_allclose(found, x.detach().numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("patience", [0, 2, 5])
@pytest.mark.parametrize("threshold", [1e-4, 0.05])
def test_plateau_is_that_of_torch(patience, threshold):
    rng = np.random.default_rng(patience)
    losses = np.exp(-np.arange(120) / 30) + 0.2 + 0.05 * rng.normal(size=120)
    options = {"factor": 0.3, "patience": patience, "threshold": threshold}
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    # eps is the smallest change torch makes; ours makes all.
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, min_lr=1e-4, eps=0.0, **options)
    found = probe("plateau", {**options, "losses": losses, "learning_rate": 0.5, "min_learning_rate": 1e-4})
    for loss, rate in zip(losses, found):
        scheduler.step(loss)
        assert rate == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-14)
    assert found[-1] < 0.5
