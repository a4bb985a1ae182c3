# SPDX-License-Identifier: Apache-2.0
"""The selector's loss, gradient and statistics are those of PyTorch in double precision."""

import numpy as np
import pytest
import torch
from probing import probe

TILE = 256


def network(classes):
    """The layers of selective.md in their order; what a parameter vector lists, in its order."""
    widths = [classes, classes, 2 * classes, classes]
    layers = []
    for inputs, outputs in zip(widths[:-1], widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs, bias=False),
                   torch.nn.BatchNorm1d(outputs, momentum=1.0), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(classes, 2)).double()


@pytest.mark.parametrize("classes", [2, 5, 11])
@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_gradient_is_that_of_autograd(classes, weight):
    rng = np.random.default_rng(classes)
    features = np.log(rng.dirichlet(0.3 * np.ones(classes), size=3 * TILE) + 1e-16).astype(np.float32)
    wrong = rng.integers(0, 2, size=len(features))
    model = network(classes)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.tensor(rng.normal(size=tuple(parameter.shape)) * 0.7))
    flat = torch.cat([p.detach().ravel() for p in model.parameters()]).numpy()
    found = probe("selector", {"features": features, "wrong": wrong, "parameters": flat, "weight": weight})

    inputs, truth = torch.tensor(features).double(), torch.tensor(wrong)
    criterion = torch.nn.CrossEntropyLoss(weight=torch.tensor([1.0, weight]).double())
    loss = criterion(model(inputs), truth)
    loss.backward()
    assert found["loss"] == pytest.approx(loss.item(), rel=1e-6)
    gradient = torch.cat([p.grad.ravel() for p in model.parameters()]).numpy()
    np.testing.assert_allclose(found["gradient"], gradient, rtol=2e-4, atol=2e-6 * np.abs(gradient).max())

    # With momentum 1 the running statistics are those of the one minibatch, the variance unbiased.
    norms = [layer for layer in model if isinstance(layer, torch.nn.BatchNorm1d)]
    n = len(features)
    for norm, mean, variance in zip(norms, found["mean"], found["variance"]):
        np.testing.assert_allclose(mean, norm.running_mean.numpy(), rtol=1e-5, atol=1e-5)
        norm.running_var *= (n - 1) / n
        np.testing.assert_allclose(variance, norm.running_var.numpy(), rtol=1e-5)
    model.eval()
    assert found["validation"] == pytest.approx(criterion(model(inputs), truth).item(), rel=1e-5)
