# SPDX-License-Identifier: Apache-2.0
"""tree.py --build FOLDER: a step of local temperature training against PyTorch, in turns on the same cores.

The step is forward, loss and weight gradients of four planes of 480 x 512 voxels. PyTorch does it twice:
with all seven filters as one convolution, and as they are published, seven convolutions that pad for
themselves. The share of the peak is that of multiply-adds in registers (bench/peak.h).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

PLANES, HEIGHT, WIDTH = 4, 480, 512
BARS = {"fused": 3.0, "separate": 30.0}


class Peer:
    """The tree in PyTorch."""

    def __init__(self, classes):
        torch.manual_seed(1)
        self.inputs = torch.log_softmax(3 * torch.randn(PLANES, classes, HEIGHT, WIDTH), dim=1)
        self.labels = torch.randint(0, classes, (PLANES, HEIGHT, WIDTH))
        options = dict(kernel_size=5, dilation=2, padding=4, padding_mode="reflect")
        self.fused = torch.nn.Conv2d(classes, 7, **options)
        self.separate = torch.nn.ModuleList(torch.nn.Conv2d(classes, 1, **options) for _ in range(7))

    def step(self, kind):
        """Loss and weight gradients; the input needs none."""
        module = getattr(self, kind)
        module.zero_grad()
        if kind == "fused":
            maps = module(self.inputs).unbind(1)
        else:
            maps = [filters(self.inputs).squeeze(1) for filters in module]
        gates = [torch.sigmoid(m) for m in maps[4:]]
        left = gates[0] * maps[0] + (1 - gates[0]) * maps[1]
        right = gates[1] * maps[2] + (1 - gates[1]) * maps[3]
        tau = F.softplus(gates[2] * left + (1 - gates[2]) * right + 0.5413)
        F.cross_entropy(self.inputs / tau.unsqueeze(1), self.labels).backward()

    def seconds(self, kind):
        start = time.perf_counter()
        self.step(kind)
        return time.perf_counter() - start


def ours(build, name):
    """One run of a benchmark: its row."""
    output = subprocess.run(
        [build / "bench" / "tree_bench", f"--benchmark_filter=^{name}/", "--benchmark_format=json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(output)["benchmarks"][0]


def measure(build, classes, rounds):
    """Medians over rounds in which ours and theirs take turns."""
    peer = Peer(classes)
    for kind in BARS:
        peer.step(kind)
    rows, ratios = [], {kind: [] for kind in BARS}
    theirs = {kind: [] for kind in BARS}
    for _ in range(rounds):
        rows.append(ours(build, f"TreeStep/{classes}"))
        for kind in BARS:
            seconds = peer.seconds(kind)
            theirs[kind].append(1e3 * seconds)
            ratios[kind].append(1e3 * seconds / rows[-1]["real_time"])
    print(f"\nC = {classes}: a step of {PLANES} x {HEIGHT} x {WIDTH} voxels")
    print(f"  segcal            {statistics.median(r['real_time'] for r in rows):8.0f} ms, "
          f"{100 * statistics.median(r['of_peak'] for r in rows):.0f} % of "
          f"{rows[0]['peak_GFMA/s']:.0f} G multiply-adds/s")
    for kind in BARS:
        print(f"  PyTorch {kind:<9} {statistics.median(theirs[kind]):8.0f} ms, "
              f"{statistics.median(ratios[kind]):.1f} times ours")
    local, common = ours(build, f"ApplyLts/{classes}"), ours(build, f"ApplyTs/{classes}")
    print(f"  apply to 1024 x 2048: lts {local['real_time']:.0f} ms, ts {common['real_time']:.0f} ms, "
          f"{local['real_time'] / common['real_time']:.1f} times")
    return {kind: statistics.median(values) for kind, values in ratios.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder of the release preset")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    met = True
    for classes in (5, 20):
        for kind, ratio in measure(args.build.resolve(), classes, args.rounds).items():
            word = "met" if ratio >= BARS[kind] else "MISSED"
            met = met and ratio >= BARS[kind]
            print(f"  against {kind:<9} {ratio:5.1f} x, required {BARS[kind]:.0f} x  {word}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
