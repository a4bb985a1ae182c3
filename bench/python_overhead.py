#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_overhead.py [--build FOLDER] [--rounds N]: predict_proba beside the same call from C++, in turns.

One image of a megapixel and 19 classes, float32, written in place. FOLDER is a release build with
SEGCAL_BUILD_PYTHON and SEGCAL_BUILD_BENCH, so that both run the same library. The exit code is 1 where Python takes over
5 % longer.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CLASSES, HEIGHT, WIDTH = 19, 1024, 1024
MAX_OVERHEAD = 1.05
METHODS = ("ts", "cms_ap")


def make_logits():
    """The numbers of apply_bench.cc."""
    index = np.arange(CLASSES * HEIGHT * WIDTH, dtype=np.int64)
    return ((index * 7919 % 1_000_003).astype(np.float32) / np.float32(1e5) - np.float32(5)).reshape(
        CLASSES, HEIGHT, WIDTH)


def compare(program, model, folder, rounds):
    """Seconds of C++ and of Python, round by round."""
    model.save(folder / "model.json", force=True)
    image = make_logits()
    out = np.zeros_like(image)
    took = []
    with subprocess.Popen([str(program), str(folder / "model.json"), str(HEIGHT), str(WIDTH)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        for _ in range(rounds + 2):
            process.stdin.write("\n")
            process.stdin.flush()
            cpp = float(process.stdout.readline())
            began = time.perf_counter()
            model.predict_proba(image, out=out)
            took.append((cpp, time.perf_counter() - began))
    return np.array(took[2:])  # the first touch memory for the first time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    given = parser.parse_args()
    sys.path.insert(0, str(given.build / "python"))
    import segcal
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (2, CLASSES, 48, 48)).astype(np.float32)
    labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for method in METHODS:
            model = segcal.fit(logits, labels, method, progress=False)
            took = compare(given.build / "bench" / "apply_bench", model, Path(folder), given.rounds)
            ratio = float(np.median(took[:, 1] / took[:, 0]))
            worst = max(worst, ratio)
            print(f"{method}: C++ {1e3 * np.median(took[:, 0]):.2f} ms, Python {1e3 * np.median(took[:, 1]):.2f} ms; "
                  f"ratio, median of {given.rounds} rounds in turns: {ratio:.3f}")
    return int(worst > MAX_OVERHEAD)


if __name__ == "__main__":
    sys.exit(main())
