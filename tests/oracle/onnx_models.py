# SPDX-License-Identifier: Apache-2.0
"""Model files with random parameters of every method: what a fit would make is mostly near the identity."""

import json
import math
from pathlib import Path

import numpy as np

# name -> whether offsets do not matter, what is kept
PROPERTIES = {
    "none": (True, "order"), "ts": (True, "order"), "ets": (True, "order"), "vs": (False, "none"),
    "ms": (False, "none"), "ms_c": (True, "none"), "dc": (True, "none"), "cdc": (True, "none"),
    "cms_ap": (True, "argmax"), "cms_op": (True, "order"), "irm": (True, "order"),
    "irova": (True, "none"), "hist": (True, "none"), "meta": (True, "none"),
    "meta_star": (True, "argmax"), "lts": (True, "order"), "lts_raw": (False, "order"),
    "lts_image": (False, "order"), "ibts": (True, "order"),
}
IMAGE_CHANNELS = 3


def sparse_square(rng, size, share):
    """Near 0.7 on the diagonal and small elsewhere, mostly 0: files of many classes stay small."""
    matrix = rng.normal(0.0, 0.3, (size, size)) * (rng.random((size, size)) < share)
    return np.round(matrix / math.sqrt(1 + share * size) + np.diag(rng.uniform(0.5, 0.9, size)), 3)


def numbers(array):
    """Whole numbers without their point."""
    if isinstance(array, np.ndarray):
        return [numbers(item) for item in array]
    return int(array) if float(array).is_integer() else float(array)


def expert(weights, bias):
    return {"weights": numbers(weights), "bias": numbers(np.round(bias, 3))}


def affine(rng, name, classes):
    """One expert or one for each class; gaps have weights of at least 0, and rows of only zeros among them."""
    share = min(1.0, 8 / classes)
    experts = []
    for _ in range(classes if name in ("cdc", "cms_ap", "cms_op") else 1):
        if name in ("cms_ap", "cms_op"):
            weights = np.abs(sparse_square(rng, classes - 1, share))
            bias = np.abs(rng.normal(0.0, 0.2, classes - 1))
            idle = rng.random(classes - 1) < 0.2
            weights[idle], bias[idle] = 0.0, 0.0
            experts.append(expert(weights, bias))
            continue
        weights = sparse_square(rng, classes, share)
        if name == "vs":
            weights = np.diag(np.diag(weights))
        if name == "ms_c":
            weights = weights[:, :-1]
        experts.append(expert(weights, rng.normal(0.0, 0.3, classes)))
    return {"experts": experts}


def steps(rng, count):
    """Blocks [lower, upper] that ascend and do not touch, and their values."""
    ends = np.unique(rng.random(2 * count).astype(np.float32))
    ends = ends[:len(ends) // 2 * 2].astype(float)
    values = np.sort(rng.random(len(ends) // 2))
    return {"lower": ends[::2].tolist(), "upper": ends[1::2].tolist(), "values": values.tolist()}


def bins(rng, count):
    upper = np.append(np.unique(rng.random(count - 1).astype(np.float32)), np.float32(1)).astype(float)
    return {"upper": upper.tolist(), "values": rng.random(len(upper)).tolist()}


def tree(rng, name, classes):
    """Filters that take temperatures well away from 1."""
    def draw(channels, spread, middle):
        weights = rng.normal(0.0, spread / math.sqrt(25 * channels), 25 * channels + 1)
        weights[-1] = middle
        return np.round(weights, 4).tolist()
    # Log-probabilities are far from 0: small weights.
    parameters = {f"t{k}": draw(classes, 0.05, k - 1.5) for k in range(1, 5)}
    parameters.update({f"g{k}": draw(classes, 0.1, 0.0) for k in range(1, 4)})
    if name == "lts_image":
        parameters["g4"] = draw(classes, 0.1, 0.0)
        parameters["t5"] = draw(IMAGE_CHANNELS, 1.0, 0.5)
        parameters["image_channels"] = IMAGE_CHANNELS
    return parameters


def selector(rng, classes):
    """Three normalised layers and one with two scores."""
    widths = [classes, classes, 2 * classes, classes, 2]
    layers = []
    for layer_index, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        weights = np.round(rng.normal(0.0, 1 / math.sqrt(inputs), inputs * outputs), 3)
        layer = {"weights": weights.tolist()}
        if layer_index == 3:
            layer["bias"] = [0.0, 0.1]
        else:
            layer.update(gamma=[1.0] * outputs, beta=[0.1] * outputs, mean=rng.normal(0, 1, outputs).tolist(),
                         variance=rng.uniform(0.5, 2.0, outputs).tolist())
        layers.append(layer)
    return layers


def parameters_of(rng, name, classes):
    """Random parameters of a method, of `selective` with those of its base."""
    if name.startswith("selective"):
        base = name.partition("+")[2] or "none"
        return {"base": parameters_of(rng, base, classes), "selector": selector(rng, classes),
                "temperature": 3.0, "kept_temperature": 0.8}
    if name == "none":
        return {}
    if name == "ts":
        return {"beta": 0.6}
    if name == "ets":
        return {"beta": 0.7, "weights": [0.625, 0.25, 0.125]}
    if name.startswith("meta"):
        return {"gamma": 0.3 * math.log(classes), "beta": 0.7}
    if name in ("irm", "irova"):
        return {"maps": [steps(rng, 40 + k % 7) for k in range(1 if name == "irm" else classes)]}
    if name == "hist":
        return {"classes": [bins(rng, 15 + k % 7) for k in range(classes)]}
    if name in ("lts", "lts_raw", "lts_image", "ibts"):
        return tree(rng, name, classes)
    return affine(rng, name, classes)


def write_model(path, name, classes, pooling="z", kind="logits", seed=1):
    """A model file of this method; returns its path."""
    invariant, preserves = PROPERTIES[name.partition("+")[2] or "none" if name.startswith("selective") else name]
    invariant = invariant or pooling == "p" or kind != "logits"
    rng = np.random.default_rng(seed)
    model = {"segcal_model": 1, "pipeline": f"{name}({pooling})", "classes": [f"c{k}" for k in range(classes)],
             "input": kind, "floor": math.log(1e-8) if kind == "probabilities" else -87.0,
             "properties": {"translation_invariant": invariant, "preserves": preserves},
             "parameters": parameters_of(rng, name, classes), "fit": None}
    Path(path).write_text(json.dumps(model))
    return Path(path)


def preserved(name):
    """What the method keeps."""
    return PROPERTIES[name.partition("+")[2] or "none" if name.startswith("selective") else name][1]
