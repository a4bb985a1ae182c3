# SPDX-License-Identifier: Apache-2.0
"""Calibration errors and metrics of ranks, written a second time in NumPy and scikit-learn.

x are float32 confidences or probabilities, hit is 1 where the prediction (or the class) is right.
"""

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

NAN = float("nan")


def bins_of(x, bins, edges):
    """(bin of every x, -1 for none; number of bins) by an edge rule."""
    inner = np.arange(1, bins) / bins
    x = x.astype(np.float32)
    if edges in ("closed", "closed_without_zero"):
        which = np.searchsorted(inner.astype(np.float32), x, side="left")
        return np.where((x == 0) & (edges == "closed_without_zero"), -1, which), bins
    if edges == "closed_stretched":
        stretched = (inner * (1.0 + 2.0**-23)).astype(np.float32)
        return np.searchsorted(stretched, x, side="left"), bins
    if edges == "open":
        return np.searchsorted(inner, x.astype(np.float64), side="right"), bins
    if edges == "open_one_apart":
        own = np.append(inner.astype(np.float32), np.float32(1.0))
        return np.searchsorted(own, x, side="right"), bins + 1
    assert edges == "stretched"
    step = (1.0 + 1e-8) / bins
    return np.searchsorted(np.arange(1, bins) * step, x.astype(np.float64), side="right"), bins


def totals(x, hit, which, num_bins):
    """Count, right ones and sum of x of every bin that holds something."""
    inside = which >= 0
    count, right, total = (np.bincount(which[inside], weights[inside], num_bins)
                           for weights in (np.ones(x.size), hit.astype(float), x.astype(float)))
    return count[count > 0], right[count > 0], total[count > 0]


def gap_norm(count, right, total, size, norm):
    """The gaps of bins as one number."""
    if count.size == 0:
        return NAN
    gaps = np.abs(total - right) / count
    if norm == "max":
        return gaps.max()
    power = 2.0 if norm == "rms" else 1.0
    return ((count * gaps**power).sum() / size) ** (1.0 / power)


def debiased(count, right, total, size):
    """Kumar's estimate: the expected square of chance gaps is subtracted."""
    if count.size == 0:
        return NAN
    enough = count > 1
    count, rate, mean = count[enough], right[enough] / count[enough], total[enough] / count[enough]
    terms = (mean - rate) ** 2 - rate * (1.0 - rate) / (count - 1.0)
    return np.sqrt(max((count * terms).sum() / size, 0.0))


def average(x, hit, bins, edges):
    """Mean gap of the bins that hold something."""
    count, right, total = totals(x, hit, *bins_of(x, bins, edges))
    return np.mean(np.abs(total - right) / count) if count.size else NAN


def top_label(x, hit, decided, num_classes, rule):
    """The numbers of the family calibration_error, and its list per class."""
    which, num_bins = bins_of(x, rule["bins"], rule["edges"])
    sums = totals(x, hit, which, num_bins)
    by_class = [gap_norm(*totals(x[decided == c], hit[decided == c], which[decided == c], num_bins),
                         x.size, "mean") for c in range(num_classes)]
    values = {"ece": gap_norm(*sums, x.size, rule["norm"]), "mce": gap_norm(*sums, x.size, "max"),
              "rms_ce": gap_norm(*sums, x.size, "rms"), "debiased_ece": debiased(*sums, x.size),
              "ace": average(x, hit, rule["ace_bins"], rule["ace_edges"]),
              "sce_s2": np.nansum(by_class) if x.size else NAN}
    return values, {"sce_s2": by_class}


def mean_of_defined(values):
    """The mean of what is not NaN."""
    defined = values[~np.isnan(values)]
    return defined.mean() if defined.size else NAN


def classwise(probs, labels, rule, left_out):
    """The numbers of the family classwise, and its lists per class."""
    num_classes = probs.shape[0]
    kept = [c for c in range(num_classes) if c != left_out]
    lists = {"classwise_ece": [], "classwise_mce": [], "classwise_ace": []}
    brier = np.zeros(3)
    for c in range(num_classes):
        x, hit = probs[c], (labels == c).astype(float)
        count, right, total = sums = totals(x, hit, *bins_of(x, rule["bins"], rule["edges"]))
        lists["classwise_ece"].append(gap_norm(*sums, x.size, rule["norm"])
                                      if count.size or not x.size else 0.0)
        lists["classwise_mce"].append(gap_norm(*sums, x.size, "max"))
        lists["classwise_ace"].append(average(x, hit, rule["ace_bins"], rule["ace_edges"]))
        # The parts of the score are of all voxels, whatever bins leave out.
        whole = rule["edges"].removesuffix("_without_zero")
        count, right, total = totals(x, hit, *bins_of(x, rule["bins"], whole))
        rate = right.sum() / count.sum() if x.size else NAN
        weight = count / count.sum() if x.size else count
        brier += [(weight * ((total - right) / count) ** 2).sum(),
                  (weight * (right / count - rate) ** 2).sum(), rate * (1.0 - rate)]
    if labels.size == 0:
        brier[:] = NAN
    values = {name: mean_of_defined(np.array(each)[kept]) for name, each in lists.items()}
    values["classwise_ece_sum"] = np.sum(np.array(lists["classwise_ece"])[kept])
    values["sce"] = np.mean(lists["classwise_ece"])
    values.update(zip(["brier_reliability", "brier_resolution", "brier_uncertainty"], brier))
    return values, lists


FAR = 2**31 - 1  # squared distance where a case has no boundary


def by_distance(x, hit, squared, is_background, rule, distance=None):
    """The numbers of the family boundary_ece; bands are of `distance`, or of squared voxels."""
    x, far = x.astype(np.float64), squared == FAR
    if distance is None:
        distance = np.where(far, 15.0, np.sqrt(squared))
    values = {"ba_ece": NAN, "no_boundary": far.mean() if x.size else NAN}
    terms = []
    bands = {"gap_0_3": (0, 3), "gap_3_7": (3, 7), "gap_7_15": (7, 15), "gap_15_inf": (15, np.inf)}
    for name, (low, high) in bands.items():
        own = (distance >= low) & (distance < high)
        values[name] = NAN
        if own.any():
            values[name] = abs((1.0 - x[own]).mean() - (1.0 - hit[own]).mean())
            terms.append((1.0 / (distance[own].mean() + 1.0), values[name]))
    for name, own in (("boundary", squared <= 4), ("all", (squared <= 4) | ~is_background)):
        sums = totals(x[own], hit[own], *bins_of(x[own], rule["bins"], rule["edges"]))
        values[f"ece_{name}"] = gap_norm(*sums, own.sum(), "mean")
        values[f"mce_{name}"] = gap_norm(*sums, own.sum(), "max")
    far_inside = (squared > 4) & ~is_background
    sums = totals(x[far_inside], hit[far_inside],
                  *bins_of(x[far_inside], rule["bins"], rule["edges"]))
    values["ece_non_boundary"] = gap_norm(*sums, far_inside.sum(), "mean")
    if terms:
        weights, gaps = np.array(terms).T
        values["ba_ece"] = (weights * gaps).sum() / weights.sum()
    return values


def key_means(x):
    """Every x replaced by the mean of those that share its 16-bit key."""
    x = x.astype(np.float32)
    low = np.minimum(x, np.maximum(np.float32(1) - x, np.float32(0))).view(np.uint32) >> 13
    first = np.float32(2.0**-24).view(np.uint32) >> 13
    half = np.where(low < first, 0, low.astype(np.int64) - first + 1)
    _, key = np.unique(np.where(x <= 0.5, half, 100000 - half), return_inverse=True)
    return (np.bincount(key, x.astype(np.float64)) / np.bincount(key))[key] if x.size else x


def ties(x, hit):
    """Confidence, count and right ones of every distinct x, ascending."""
    values, group = np.unique(x, return_inverse=True)
    return values, np.bincount(group, minlength=values.size), np.bincount(group, hit, values.size)


def risk_at_ranks(x, hit):
    """Error rate of the k most confident, k = 1 ... n, errors of a tie spread evenly."""
    _, count, right = (each[::-1] for each in ties(x, hit))
    return np.cumsum(np.repeat((count - right) / count, count)) / np.arange(1, x.size + 1)


def selection(x, hit, detect_below=0.5, pooled=False):
    """The numbers of the family selection."""
    reported, wrong = x.astype(np.float64) < detect_below, hit == 0
    found = (reported & wrong).sum()
    x = key_means(x) if pooled else x.astype(np.float64)
    both = x.size > 0 and wrong.any() and not wrong.all()
    values, count, right = ties(x, hit)
    return {"ks_ce": np.abs(np.cumsum(values * count - right)).max() / x.size if x.size else NAN,
            "auroc": roc_auc_score(hit, x) if both else NAN,
            "aupr_success": average_precision_score(hit, x) if both else NAN,
            "aupr_error": average_precision_score(wrong, -x) if both else NAN,
            "aurc": risk_at_ranks(x, hit).mean() if x.size else NAN,
            "ece_correct": (1.0 - x[~wrong]).mean() if not wrong.all() else NAN,
            "ece_wrong": x[wrong].mean() if wrong.any() else NAN,
            "error_recall": found / wrong.sum() if wrong.any() else NAN,
            "error_precision": found / reported.sum() if reported.any() else NAN}


def equal_mass(x, hit, bins):
    """Mean gap of bins of equal mass; equal x share their right ones."""
    if x.size == 0:
        return NAN
    values, count, right = ties(x, hit)
    x, hit = np.repeat(values, count), np.repeat(right / count, count)
    cuts = [k * x.size // bins for k in range(bins + 1)]
    return np.mean([abs(x[a:b].mean() - hit[a:b].mean()) for a, b in zip(cuts, cuts[1:]) if a < b])


def percentile_edges(x, bins):
    """Percentiles by linear interpolation, positions in whole numbers."""
    x = np.sort(x)
    places = [divmod((x.size - 1) * k, bins) for k in range(1, bins)]
    return np.array([x[i] + (x[min(i + 1, x.size - 1)] - x[i]) * (rest / bins)
                     for i, rest in places])


def adaptive(probs, labels, decided, left_out, bins=15, threshold=1e-3, pooled=False):
    """The numbers of the family adaptive, and its lists per class."""
    lists = {"adaptive_ece": [], "tace": []}
    for c in range(probs.shape[0]):
        x = key_means(probs[c]) if pooled else probs[c].astype(np.float64)
        hit = (labels == c).astype(float)
        lists["adaptive_ece"].append(equal_mass(x, hit, bins))
        lists["tace"].append(equal_mass(x[x > threshold], hit[x > threshold], bins))
    confidence = probs.max(axis=0).astype(np.float64)
    if pooled:
        for c in np.unique(decided):
            confidence[decided == c] = key_means(probs.max(axis=0)[decided == c])
    values = {}
    for name, each in lists.items():
        kept = [v for c, v in enumerate(each) if c != left_out and not np.isnan(v)]
        values[name] = np.mean(kept) if kept else NAN
    values["adaptive_ece_s2"] = NAN
    if labels.size:
        which = np.searchsorted(percentile_edges(confidence, bins), confidence, side="left")
        gaps = np.zeros((probs.shape[0], bins))
        np.add.at(gaps, (decided, which), confidence - (decided == labels))
        values["adaptive_ece_s2"] = np.abs(gaps).sum() / labels.size
    return values, lists
