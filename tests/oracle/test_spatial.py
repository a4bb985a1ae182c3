# SPDX-License-Identifier: Apache-2.0
"""Distances, boundaries, surfaces and local errors are those of SciPy."""

import numpy as np
import pytest
from probing import flat, probe
from scipy.ndimage import binary_erosion, distance_transform_edt, gaussian_filter
from scipy.spatial import cKDTree

SHAPES = [((40,), (2.0,)), ((37, 53), (1.0, 1.0)), ((30, 45), (0.7, 0.31)),
          ((9, 24, 31), (3.0, 0.9, 0.9)), ((16, 17, 18), (1.0, 1.0, 1.0)), ((1, 20, 25), (5.0, 0.5, 0.5)),
          ((130, 3, 50), (0.1, 10.0, 1.0))]


def blobs(rng, shape, classes, sigma=2.0):
    """A label map of smooth regions."""
    fields = [gaussian_filter(rng.normal(size=shape), sigma) for _ in range(classes)]
    return np.argmax(fields, axis=0)


@pytest.mark.parametrize("shape, spacing", SHAPES)
@pytest.mark.parametrize("share", [0.001, 0.05, 0.7])
def test_distances(shape, spacing, share):
    sources = np.random.default_rng(1).random(shape) < share
    sources.flat[3] = True
    found = probe("distances", {"shape": shape, "spacing": spacing, "sources": flat(sources, int)})
    exact = np.rint(distance_transform_edt(~sources)**2)
    assert np.array_equal(found["voxels"], exact.ravel())
    expected = distance_transform_edt(~sources, sampling=spacing)
    assert np.allclose(np.sqrt(found["spaced"]), expected.ravel(), rtol=1e-12, atol=0)


def face_neighbours_differ(labels):
    """The definition of a label boundary, one axis after the other."""
    boundary = np.zeros(labels.shape, bool)
    for axis in range(labels.ndim):
        a, b = np.moveaxis(labels, axis, 0)[:-1], np.moveaxis(labels, axis, 0)[1:]
        differs = (a != b) & (a >= 0) & (b >= 0)
        np.moveaxis(boundary, axis, 0)[:-1] |= differs
        np.moveaxis(boundary, axis, 0)[1:] |= differs
    return boundary


@pytest.mark.parametrize("shape, spacing", SHAPES)
def test_boundaries(shape, spacing):
    rng = np.random.default_rng(2)
    labels = np.where(rng.random(shape) < 0.05, -1, blobs(rng, shape, 3))
    inside = labels == 0
    found = probe("boundary", {"shape": shape, "spacing": spacing, "labels": flat(labels, int),
                               "set": flat(inside, int)})
    boundary = face_neighbours_differ(labels)
    assert boundary.any()
    assert np.array_equal(np.array(found["boundary"], bool), boundary.ravel())
    exact = np.rint(distance_transform_edt(~boundary)**2)
    assert np.array_equal(found["squared"], exact.ravel())
    flat_axes = np.squeeze(inside)
    surface = flat_axes & ~binary_erosion(flat_axes)
    assert np.array_equal(np.array(found["surface"], bool), surface.ravel())


def surface_points(inside, spacing):
    surface = inside & ~binary_erosion(inside)
    return surface, np.argwhere(surface) * np.array(spacing)


def scores(truth, found, spacing, tolerance):
    """By nearest neighbours of points, not by distance maps, where points are what counts."""
    within = tolerance * (1 + 1e-12)
    (surface_a, a), (surface_b, b) = surface_points(truth, spacing), surface_points(found, spacing)
    out, back = cKDTree(b).query(a)[0], cKDTree(a).query(b)[0]
    volume_a, volume_b = (np.argwhere(x) * np.array(spacing) for x in (truth, found))
    volume = np.concatenate([cKDTree(volume_b).query(volume_a)[0],
                             cKDTree(volume_a).query(volume_b)[0]])
    near_a, near_b = (distance_transform_edt(~s, sampling=spacing) <= within
                      for s in (surface_a, surface_b))
    size = len(a) + len(b)
    return {"asd": (out.sum() + back.sum()) / size,
            "hd": max(out.max(), back.max()),
            "hd95": max(np.percentile(out, 95), np.percentile(back, 95)),
            "md95": np.percentile(volume, 95),
            "nsd": ((out <= within).sum() + (back <= within).sum()) / size,
            "surface_dice": 2 * (near_a & near_b).sum() / (near_a.sum() + near_b.sum())}


@pytest.mark.parametrize("shape, spacing", [case for case in SHAPES if len(case[0]) > 1])
@pytest.mark.parametrize("tolerance", [1.0, 2.5])
def test_surfaces(shape, spacing, tolerance):
    rng = np.random.default_rng(3)
    labels = blobs(rng, shape, 3)
    predicted = np.where(rng.random(shape) < 0.02, rng.integers(0, 3, shape), np.roll(labels, 1, -1))
    labels = np.where(rng.random(shape) < 0.03, -1, labels)
    predicted.flat[7], labels.flat[7] = 3, 0  # class 3 in the prediction only, 4 nowhere
    found = probe("surfaces", {"shape": shape, "spacing": spacing, "labels": flat(labels, int),
                               "predicted": flat(predicted, int), "classes": 5,
                               "tolerance": tolerance})
    kept = [n > 1 for n in shape]
    spacing = np.array(spacing)[kept]
    for c in range(3):
        truth, mine = (np.squeeze((x == c) & (labels >= 0)) for x in (labels, predicted))
        assert found[c].pop("labelled") and found[c].pop("predicted")
        expected = scores(truth, mine, spacing, tolerance)
        assert found[c] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert (found[3]["labelled"], found[3]["predicted"]) == (False, True)
    assert (found[4]["labelled"], found[4]["predicted"]) == (False, False)
    assert found[3]["hd"] is None and found[4]["nsd"] is None


@pytest.mark.parametrize("shape, spacing", SHAPES[1:4])
@pytest.mark.parametrize("radius", [0, 2, 30])
def test_local_calibration_error(shape, spacing, radius):
    rng = np.random.default_rng(4)
    confidence = rng.random(shape).astype(np.float32)
    labels, predicted = rng.integers(-1, 3, shape), rng.integers(0, 3, shape)
    upper = np.float32([0.2, 0.4, 0.6, 0.8, 1.0])
    found = probe("local_error", {"shape": shape, "spacing": spacing, "radius": radius,
                                  "confidence": flat(confidence, float), "labels": flat(labels, int),
                                  "predicted": flat(predicted, int), "upper": flat(upper, float)})
    bins = np.searchsorted(upper, confidence)
    gap = confidence.astype(float) - (labels == predicted)
    for v, at in enumerate(np.ndindex(shape)):
        window = tuple(slice(max(0, i - radius), i + radius + 1) for i in at)
        own = labels[window] >= 0
        sums = np.bincount(bins[window][own], weights=gap[window][own], minlength=5)
        expected = np.abs(sums).sum() / own.sum() if own.any() else np.nan
        value = np.nan if found[v] is None else found[v]
        assert value == pytest.approx(expected, rel=1e-7, abs=2e-9, nan_ok=True)
