# SPDX-License-Identifier: Apache-2.0
"""The losses in C++ against NumPy in double and against segcal.losses, values and gradients.

Their gradients against finite differences of their values: train/losses/losses_test.cc.
"""

import json
import os
import subprocess

import losses_reference as reference
import numpy as np
import pytest
from test_losses import IGNORE, SHAPES, VARIANTS, draw, losses, torch

PROBE = os.environ.get("SEGCAL_LOSSES_PROBE")
pytestmark = pytest.mark.skipif(PROBE is None, reason="train/ is not built: there is no libtorch")

WEIGHTS = [None, [0.5, 2.0, 1.0, 0.0]]


def text(value):
    """An option as a person writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def ask(questions):
    """Values and gradients of (kind, options, weight, logits, labels)."""
    asked = [{"loss": kind, "options": {key: text(value) for key, value in options.items()},
              "weights": weight or [], "double": logits.dtype == np.float64,
              "logits": {"shape": logits.shape, "values": logits.ravel().tolist()},
              "labels": {"shape": labels.shape,
                         "values": np.where(labels == IGNORE, -1, labels).ravel().tolist()}}
             for kind, options, weight, logits, labels in questions]
    answer = subprocess.run([PROBE], input=json.dumps(asked), capture_output=True, text=True, check=True)
    return [(item["value"], np.reshape(item["gradient"], question[3].shape))
            for item, question in zip(json.loads(answer.stdout), questions)]


def in_python(kind, options, weight, logits, labels):
    """The same by segcal.losses."""
    z = torch.tensor(logits, requires_grad=True)
    value = losses.make(kind, ignore_index=IGNORE, weight=weight, **options)(z, torch.tensor(labels))
    value.backward()
    return float(value), z.grad.numpy()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "float"])
def test_values_are_those_of_the_equations(shape, weight, dtype):
    logits, labels = draw(shape)
    logits = logits.astype(dtype)
    questions = [(kind, options, weight, logits, labels) for kind, options in VARIANTS]
    for (kind, options, *_), (value, _) in zip(questions, ask(questions)):
        expected = getattr(reference, kind)(logits.astype(np.float64), labels, ignore=IGNORE, weight=weight,
                                            **options)
        assert value == pytest.approx(expected, rel=1e-6 if dtype == np.float32 else 1e-7), (kind, options)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype,tolerance", [(np.float64, 1e-12), (np.float32, 1e-6)], ids=["double", "float"])
def test_values_and_gradients_are_those_of_the_python_package(shape, weight, dtype, tolerance):
    logits, labels = draw(shape, seed=2)
    logits = logits.astype(dtype)
    questions = [(kind, options, weight, logits, labels) for kind, options in VARIANTS]
    for question, (value, gradient) in zip(questions, ask(questions)):
        expected_value, expected = in_python(*question)
        assert value == pytest.approx(expected_value, rel=tolerance), question[:2]
        assert np.abs(gradient - expected).max() <= tolerance * np.abs(expected).max(), question[:2]


def test_both_packages_have_the_same_list():
    """And the same defaults: those of the C++ list are what the variants without options use."""
    logits, labels = draw((4, 5))
    questions = [(kind, {}, None, logits, labels) for kind in losses.LOSSES]
    for question, (value, _) in zip(questions, ask(questions)):
        assert value == pytest.approx(in_python(*question)[0], rel=1e-12), question[0]
