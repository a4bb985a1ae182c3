# SPDX-License-Identifier: Apache-2.0
"""The losses of docs/methods/losses.md in NumPy, voxel by voxel, in double.

Logits (N, C, spatial...), labels (N, spatial...) with `ignore` where a voxel takes no part. Written from
the equations alone, for clarity.
"""

import itertools
from collections import Counter

import numpy as np
from scipy.special import log_softmax


def voxels(labels, ignore):
    """Index (n, position...) of every voxel that takes part."""
    return [at for at in np.ndindex(labels.shape) if labels[at] != ignore]


def log_probs(logits, at):
    return log_softmax(logits[(at[0], slice(None), *at[1:])])


def row(logits, at):
    return logits[(at[0], slice(None), *at[1:])]


def weighted(values, labels, where, weight):
    """(LO2)"""
    w = np.array([1.0 if weight is None else weight[labels[at]] for at in where])
    return float(np.sum(w * np.array(values)) / np.sum(w))


def ce(logits, labels, ignore=None, weight=None):
    where = voxels(labels, ignore)
    return weighted([-log_probs(logits, at)[labels[at]] for at in where], labels, where, weight)


def dice(logits, labels, ignore, smooth, classes):
    scores = []
    for n in range(len(logits)):
        where = [at for at in voxels(labels, ignore) if at[0] == n]
        for c in classes:
            p = np.array([np.exp(log_probs(logits, at)[c]) for at in where])
            y = np.array([labels[at] == c for at in where], float)
            scores.append((2 * np.sum(p * y) + smooth) / (np.sum(p) + np.sum(y) + smooth))
    return float(np.mean(scores))


def ce_dice(logits, labels, ignore=None, weight=None, lam=1.0, smooth=1e-5, include_background=True):
    classes = range(0 if include_background else 1, logits.shape[1])
    return ce(logits, labels, ignore, weight) + lam * (1 - dice(logits, labels, ignore, smooth,
                                                               classes))


def focal(logits, labels, ignore=None, weight=None, gamma=3.0):
    where = voxels(labels, ignore)
    values = []
    for at in where:
        log_p = log_probs(logits, at)[labels[at]]
        values.append(-(1 - np.exp(log_p)) ** gamma * log_p)
    return weighted(values, labels, where, weight)


def ecp(logits, labels, ignore=None, weight=None, lam=0.1):
    entropies = [-np.sum(np.exp(log_probs(logits, at)) * log_probs(logits, at))
                 for at in voxels(labels, ignore)]
    return ce(logits, labels, ignore, weight) - lam * float(np.mean(entropies))


def to_distribution(logits, labels, targets, ignore, weight):
    """(LO3): cross-entropy to targets[at]."""
    where = voxels(labels, ignore)
    w = np.ones(logits.shape[1]) if weight is None else np.asarray(weight, float)
    total = sum(np.sum(-w * targets[at] * log_probs(logits, at)) for at in where)
    return float(total / sum(w[labels[at]] for at in where))


def hot(label, classes):
    return np.eye(classes)[label]


def ls(logits, labels, ignore=None, weight=None, alpha=0.1):
    classes = logits.shape[1]
    targets = {at: (1 - alpha) * hot(labels[at], classes) + alpha / classes
               for at in voxels(labels, ignore)}
    return to_distribution(logits, labels, targets, ignore, weight)


def patch(labels, at, size, padding, ignore):
    """(offset from the centre, label) of the voxels of a patch that are not ignored."""
    shape = labels.shape[1:]
    for offset in itertools.product(range(-(size // 2), size // 2 + 1), repeat=len(shape)):
        position = [x + d for x, d in zip(at[1:], offset)]
        inside = all(0 <= x < n for x, n in zip(position, shape))
        if not inside and padding == "zero":
            yield offset, 0
            continue
        clamped = tuple(min(max(x, 0), n - 1) for x, n in zip(position, shape))
        label = labels[(at[0], *clamped)]
        if label != ignore:
            yield offset, int(label)


def gauss(offset, sigma):
    return np.exp(-sum(d * d for d in offset) / (2 * sigma**2))


def svls_target(labels, at, sigma, classes, ignore):
    own = hot(labels[at], classes)
    around = np.zeros(classes)
    for offset, label in patch(labels, at, 3, "replicate", ignore):
        if any(offset):
            around[label] += gauss(offset, sigma)
    return own if around.sum() == 0 else 0.5 * (own + around / around.sum())


def svls(logits, labels, ignore=None, weight=None, sigma=2.0):
    targets = {at: svls_target(labels, at, sigma, logits.shape[1], ignore)
               for at in voxels(labels, ignore)}
    return to_distribution(logits, labels, targets, ignore, weight)


def mbls(logits, labels, ignore=None, weight=None, lam=0.1, margin=5.0):
    excess = [np.mean(np.maximum(0, row(logits, at).max() - row(logits, at) - margin))
              for at in voxels(labels, ignore)]
    return ce(logits, labels, ignore, weight) + lam * float(np.mean(excess))


def mmce(logits, labels, ignore=None, weight=None, lam=2.0, bandwidth=0.4):
    """Every pair of voxels, one by one."""
    where = voxels(labels, ignore)
    r = np.array([np.exp(log_probs(logits, at).max()) for at in where])
    a = np.array([float(np.argmax(row(logits, at)) == labels[at]) for at in where]) - r
    kernel = np.exp(-np.abs(r[:, None] - r[None, :]) / bandwidth)
    return ce(logits, labels, ignore, weight) + lam * np.sqrt(a @ kernel @ a) / len(where)


def nacl_prior(labels, at, prior, size, sigma, padding, classes, ignore):
    around = list(patch(labels, at, size, padding, ignore))
    found = sorted(label for _, label in around)
    if prior in ("mean", "gaussian"):
        target = np.zeros(classes)
        for offset, label in around:
            target[label] += 1.0 if prior == "mean" else gauss(offset, sigma)
        return target / target.sum()
    if prior == "mode":
        counts = Counter(found)
        return hot(min(k for k in counts if counts[k] == max(counts.values())), classes)
    chosen = {"max": found[-1], "min": found[0], "median": found[(len(found) - 1) // 2]}
    return hot(chosen[prior], classes)


def nacl(logits, labels, ignore=None, weight=None, lam=0.1, prior="mean", penalty="l1", on="logits",
         over_classes="sum", patch=3, sigma=1.0, padding="replicate"):
    values = []
    for at in voxels(labels, ignore):
        target = nacl_prior(labels, at, prior, patch, sigma, padding, logits.shape[1], ignore)
        scores = row(logits, at) if on == "logits" else np.exp(log_probs(logits, at))
        distance = np.abs(target - scores) ** (1 if penalty == "l1" else 2)
        values.append(np.sum(distance) if over_classes == "sum" else np.mean(distance))
    return ce(logits, labels, ignore, weight) + lam * float(np.mean(values))


def bin_weights(q, bins, binning):
    """How much a probability belongs to each bin."""
    weights = np.zeros(bins)
    if binning == "hard":
        weights[min(max(int(np.ceil(q * bins)) - 1, 0), bins - 1)] = 1.0
        return weights
    place = min(max(q * bins - 0.5, 0.0), bins - 1.0)
    low = int(np.floor(place))
    weights[low] = 1.0 - (place - low)
    if low + 1 < bins:
        weights[low + 1] = place - low
    return weights


def ml1_ace(logits, labels, ignore=None, weight=None, lam=1.0, bins=20, binning="hard", dice=0.0,
            include_background=True):
    classes = range(0 if include_background else 1, logits.shape[1])
    errors = []
    for n, c in itertools.product(range(len(logits)), classes):
        gaps, mass = np.zeros(bins), np.zeros(bins)
        for at in voxels(labels, ignore):
            if at[0] == n:
                q = np.exp(log_probs(logits, at)[c])
                w = bin_weights(q, bins, binning)
                gaps += w * (q - (labels[at] == c))
                mass += w
        full = mass > 0
        errors.append(np.mean(np.abs(gaps[full] / mass[full])) if full.any() else 0.0)
    loss = ce(logits, labels, ignore, weight) + lam * float(np.mean(errors))
    if dice:
        loss += dice * (1 - globals()["dice"](logits, labels, ignore, 1e-5, classes))
    return loss
