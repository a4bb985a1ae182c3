# SPDX-License-Identifier: Apache-2.0
"""What segcal should compute, written a second time in NumPy and SciPy from its definitions.

Nothing of the program is used here. Arrays are (C, spatial...) unless said otherwise; labels below
0 take no part.
"""

import json
from pathlib import Path

import calibration
import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax

LOGIT_FLOOR = -87.0
LOWEST_PROBABILITY = 1e-8


def member_logits(array, kind):
    """One member as what pooling z averages, in double."""
    array = np.asarray(array, np.float64)
    if kind != "probabilities":
        return array
    array = array / array.sum(axis=0)
    return np.log(np.maximum(array, LOWEST_PROBABILITY))


def member_probs(array, kind):
    """One member as what pooling p averages, in double."""
    array = np.asarray(array, np.float64)
    return array / array.sum(axis=0) if kind == "probabilities" else softmax(array, axis=0)


def pool(members, pooling, kind="logits"):
    """The pooled prediction: (logits in double, decision before the floor)."""
    if pooling == "p":
        mean = np.mean([member_probs(m, kind) for m in members], axis=0)
        lowest = LOWEST_PROBABILITY if kind == "probabilities" else np.finfo(np.float64).tiny
        return np.log(np.maximum(mean, lowest)), mean.argmax(axis=0)
    if pooling != "z":
        members = [members[int(pooling[1:])]]
    mean = np.mean([member_logits(m, kind) for m in members], axis=0)
    return mean, mean.argmax(axis=0)


def temperature_nll(flat_logits, labels, beta):
    """Mean NLL of softmax(beta z) for (C, n) logits and n labels."""
    log_probs = log_softmax(beta * flat_logits, axis=0)
    return -np.mean(log_probs[labels, np.arange(labels.size)])


def slope(flat_logits, labels, beta):
    """Derivative of the mean NLL in beta: mean of E[z] - z_y."""
    probs = softmax(beta * flat_logits, axis=0)
    own = flat_logits[labels, np.arange(labels.size)]
    return np.mean((probs * flat_logits).sum(axis=0) - own)


def minimise_nll(flat_logits, labels, about):
    """Minimiser of the mean NLL by SciPy's bounded search: good to the root of rounding, 1e-7."""
    return minimize_scalar(lambda b: temperature_nll(flat_logits, labels, b), method="bounded",
                           bounds=(0.3 * about, 3.0 * about), options={"xatol": 1e-10}).x


def stationary_beta(flat_logits, labels, about):
    """Where the slope of the mean NLL is zero: a root is found to full precision."""
    return brentq(lambda b: slope(flat_logits, labels, b), 0.3 * about, 3.0 * about, xtol=1e-13)


def mean(values):
    """Mean of what is defined; NaN if nothing is."""
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    return values.mean() if values.size else np.nan


def predicted(probs):
    """argmax, ties to the lowest class."""
    return probs.argmax(axis=0)


def closed_above(confidence, num_bins):
    """Index of (lo, hi] bins with float32 edges; 0 goes into the first."""
    edges = (np.arange(1, num_bins + 1) / num_bins).astype(np.float32)
    return np.searchsorted(edges, confidence.astype(np.float32), side="left").clip(max=num_bins - 1)


def overlaps(labels, decided, num_classes, background, absent="one"):
    """dsc and miou with their per-class lists; NaN for what is left out."""
    dice, jaccard = [], []
    for c in range(num_classes):
        one, other = labels == c, decided == c
        both, total = (one & other).sum(), one.sum() + other.sum()
        dice.append(2.0 * both / total if total else (1.0 if absent == "one" else np.nan))
        jaccard.append(both / (total - both) if total else np.nan)
    foreground = [d for c, d in enumerate(dice) if c != background and not np.isnan(d)]
    return {"dsc": np.mean(foreground) if foreground else np.nan, "miou": np.nanmean(jaccard)}, \
           {"dsc": dice, "miou": jaccard}


def flips(labels, decided, decision, num_classes):
    """Percentages of flipped voxels, and the same among voxels of each label."""
    flipped = decided != decision
    kinds = {"flip_rate": flipped, "flips_harmful": flipped & (decision == labels),
             "flips_beneficial": flipped & (decided == labels),
             "flips_neutral": flipped & (decision != labels) & (decided != labels)}
    per_class = {name: [100.0 * which[labels == c].mean() if (labels == c).any() else np.nan
                        for c in range(num_classes)] for name, which in kinds.items()}
    return {name: 100.0 * which.mean() for name, which in kinds.items()}, per_class


def scores(probs, log_label, labels, free_energy):
    """Means over voxels of what looks at one voxel at a time."""
    probs = probs.astype(np.float64)
    one_hot = np.arange(probs.shape[0])[:, None] == labels
    nll = -log_label.astype(np.float64).mean()
    entropy = -np.where(probs > 0.0, probs * np.log(np.where(probs > 0.0, probs, 1.0)),
                        0.0).sum(axis=0).mean()
    return {"nll": nll, "brier": ((probs - one_hot) ** 2).sum(axis=0).mean(), "entropy": entropy,
            "accuracy": (predicted(probs) == labels).mean(),
            "confidence": probs.max(axis=0).mean(), "over_confidence": nll - entropy,
            "free_energy_mean": free_energy.mean(), "free_energy_std": free_energy.std()}


RULE = {"bins": 50, "edges": "closed", "norm": "mean", "ace_bins": 15, "ace_edges": "stretched"}


def on_boundary(labels):
    """Where a face neighbour has another label."""
    on = np.zeros(labels.shape, bool)
    for axis in range(labels.ndim):
        one, edge = np.moveaxis(labels, axis, 0), np.moveaxis(on, axis, 0)
        differ = (one[1:] != one[:-1]) & (one[1:] >= 0) & (one[:-1] >= 0)
        edge[1:] |= differ
        edge[:-1] |= differ
    return on


def boundary(labels):
    """Squared distance in voxels of every voxel to the label boundary; FAR without one."""
    on = on_boundary(labels)
    if not on.any():
        return np.full(labels.shape, calibration.FAR)
    return np.rint(distance_transform_edt(~on) ** 2).astype(np.int64)


def boundary_lengths(labels, spacing):
    """The same in units of the spacing, not squared; 15 without a boundary."""
    on = on_boundary(labels)
    return distance_transform_edt(~on, sampling=spacing) if on.any() else np.full(on.shape, 15.0)


def metrics(probs, log_label, labels, decision, free_energy, distance, background=None, pooled=False,
            absent="one", foreground=False, detect_below=0.5, adaptive=None, **rule):
    """Every metric of one case (or of pooled cases): values, then per-class lists.

    probs is (C, n), everything else (n,). `adaptive` are options of that family, None without it.
    """
    own = labels >= 0
    if not own.any():
        return None
    probs, log_label, labels, distance = probs[:, own], log_label[own], labels[own], distance[own]
    decision, free_energy, num_classes = decision[own], free_energy[own], probs.shape[0]
    decided, rule = predicted(probs), {**RULE, **rule}
    values, per_class = overlaps(labels, decided, num_classes, background, absent)
    parts = [(scores(probs, log_label, labels, free_energy), {}),
             flips(labels, decided, decision, num_classes)]
    left_out = background if foreground else None
    kept = labels != left_out if left_out is not None else np.full(labels.shape, True)
    probs, labels, decided = probs[:, kept], labels[kept], decided[kept]
    confidence, hit = probs.max(axis=0), (decided == labels).astype(float)
    parts.append((calibration.by_distance(confidence, hit, distance[kept], labels == background, rule), {}))
    parts += [calibration.top_label(confidence, hit, decided, num_classes, rule),
              calibration.classwise(probs, labels, rule, left_out),
              (calibration.selection(confidence, hit, detect_below, pooled), {})]
    if adaptive is not None:
        parts.append(calibration.adaptive(probs, labels, decided, left_out, pooled=pooled,
                                          **adaptive))
    for some, lists in parts:
        values.update(some)
        per_class.update(lists)
    return values, per_class


def free_energy_of(logits):
    """log sum exp of pooled logits at the precision tiles have: float32 below the maximum."""
    largest = logits.max(axis=0)
    below = np.maximum(logits - largest, LOGIT_FLOOR).astype(np.float32)
    return largest + logsumexp(below.astype(np.float64), axis=0)


def load_dataset(path):
    """A data set file with its folder."""
    path = Path(path)
    path = path / "dataset.json" if path.is_dir() else path
    return json.loads(path.read_text()), path.parent
