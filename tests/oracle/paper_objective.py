# SPDX-License-Identifier: Apache-2.0
"""The main paper's objective, (A11) of docs/methods/affine.md, written anew: penalties of maps (W, b)."""

import numpy as np


def gap_order(logits, ordered):
    """Classes of every voxel by position: the winner first, the others in class order or sorted."""
    winners = logits.argmax(1)
    if ordered:
        return np.argsort(-logits, axis=1, kind="stable")
    others = np.array([[c for c in range(logits.shape[1]) if c != w] for w in range(logits.shape[1])])
    return np.column_stack([winners, others[winners]])


def assembled(name, weights, bias):
    """W and b of one expert's gaps in canonical order, which leave the winner's score as it is."""
    size = len(bias) + 1
    rows = np.zeros((size, size))
    shifts = np.zeros(size)
    rows[0, 0] = 1
    for j in range(1, size):
        above = j - 1 if name == "cms_op" else 0
        rows[j], shifts[j] = rows[above], shifts[above] - bias[j - 1]
        for k in range(1, size):
            rows[j, k - 1 if name == "cms_op" else 0] -= weights[j - 1, k - 1]
            rows[j, k] += weights[j - 1, k - 1]
    return rows, shifts


def penalty(experts, strengths):
    """(A11) at kappa = 0 for maps (W, b)."""
    values = []
    for weights, bias in experts:
        off = weights[~np.eye(len(bias), dtype=bool)]
        values.append(strengths[0] * (off**2).mean() + strengths[1] * (bias**2).mean())
    return np.mean(values)


def best_gauge(weights, bias):
    """The W and b with the same probabilities and the least penalty."""
    weights = weights.copy()
    size = len(bias)
    for k in range(size):
        weights[:, k] -= weights[np.arange(size) != k, k].mean()
    return weights, bias - bias.mean()


def fitted_gaps(name, logits, scores):
    """(A, beta) of every winner's gaps, from logits (n, C) and what a method made of them."""
    order = gap_order(logits, name == "cms_op")
    before, after = (np.take_along_axis(z, order, 1) for z in (logits, scores))
    first = (lambda z: z[:, :-1]) if name == "cms_op" else (lambda z: z[:, :1])
    experts = []
    for w in range(logits.shape[1]):
        mine = order[:, 0] == w
        gaps, mapped = ((first(z) - z[:, 1:])[mine] for z in (before, after))
        solved = np.linalg.lstsq(np.column_stack([gaps, np.ones(len(gaps))]), mapped, rcond=None)[0]
        experts.append((solved[:-1].T, solved[-1]))
    return experts
