# SPDX-License-Identifier: Apache-2.0
"""Our distance transform beside SciPy's, both on one thread: distance.py --build build/release.

Exit code 1 if ours is slower on any row. Rounds alternate, so that a busy machine slows both; the
ratio is the median over rounds.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

BAR = 1.0  # times SciPy's speed per thread


def boundary_of_blobs(shape, seed):
    """Boundary voxels of four smooth regions: what BA-ECE measures distances from."""
    rng = np.random.default_rng(seed)
    labels = np.argmax([gaussian_filter(rng.normal(size=shape), 8) for _ in range(4)], axis=0)
    boundary = np.zeros(shape, np.uint8)
    for axis in range(len(shape)):
        lower = [slice(None)] * len(shape)
        upper = [slice(None)] * len(shape)
        lower[axis], upper[axis] = slice(None, -1), slice(1, None)
        differs = labels[tuple(lower)] != labels[tuple(upper)]
        boundary[tuple(lower)] |= differs
        boundary[tuple(upper)] |= differs
    return boundary


def few_points(shape, seed):
    """One source in a hundred thousand voxels: long envelopes, large distances."""
    return (np.random.default_rng(seed).random(shape) < 1e-5).astype(np.uint8)


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def ours(program, path, shape, spacing, threads, rounds=1):
    """Rounds of (voxels, spaced) seconds."""
    full = (1,) * (3 - len(shape)) + shape
    words = [program, path, *full, *((1.0,) * (3 - len(shape)) + spacing), threads, rounds]
    out = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    return [tuple(map(float, line.split())) for line in out.stdout.splitlines()]


def compare(program, name, sources, spacing, rounds):
    """Prints a row for voxels and one for spacing; returns whether both hold the bar."""
    ratios, own, theirs = ([], []), ([], []), ([], [])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sources.bin"
        sources.tofile(path)
        for _ in range(rounds):
            # The first round of a process maps its memory; SciPy's has done so, too.
            found = ours(program, path, sources.shape, spacing, threads=1, rounds=2)[1]
            for kind, sampling in enumerate((None, spacing)):
                scipy = seconds(lambda: distance_transform_edt(sources == 0, sampling=sampling))
                own[kind].append(found[kind])
                theirs[kind].append(scipy)
                ratios[kind].append(scipy / found[kind])
    for kind, unit in enumerate(("voxels", "spacing")):
        ratio = statistics.median(ratios[kind])
        per_voxel = 1e9 / sources.size
        print(f"| {name}, {unit} | {statistics.median(own[kind]) * per_voxel:.1f} "
              f"| {statistics.median(theirs[kind]) * per_voxel:.1f} | {ratio:.1f}x |")
    return all(statistics.median(ratio) >= BAR for ratio in ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    program = Path(arguments.build) / "bench" / "distance_bench"
    volume, image = (128, 192, 192), (1024, 2048)
    rows = [("boundaries, 128 x 192 x 192", boundary_of_blobs(volume, 1), (3.0, 0.8, 0.8)),
            ("few points, 128 x 192 x 192", few_points(volume, 2), (3.0, 0.8, 0.8)),
            ("boundaries, 1024 x 2048", boundary_of_blobs(image, 3), (0.5, 0.7)),
            ("few points, 1024 x 2048", few_points(image, 4), (0.5, 0.7))]
    print("| exact distances, one thread | segcal, ns/voxel | SciPy, ns/voxel | speed |")
    print("|---|---|---|---|")
    held = [compare(program, *row, arguments.rounds) for row in rows]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
