#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps per second and peak memory of segcal train beside plain PyTorch: the same network, loss, optimiser and
batches, on the same threads.

    bench/train_throughput.py PROGRAM [--threads 2] [--rounds 3] [--losses ce,nacl] [--networks 2-D]

Ours with and without augmentation; PyTorch cuts and mirrors its patches. Each round runs all of them in turn, each in a
process of its own; a step is the difference between a long and a short training, so that start and reading do not count.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# Axes, width, depth, batch, side of a patch, channels, steps.
NETWORKS = {"2-D, 16-128": (2, 16, 4, 16, 96, 3, 14), "2-D, 32-512 (s4)": (2, 32, 5, 16, 64, 1, 8), "3-D, 8-32": (3, 8, 3, 2, 48, 1, 14)}
CLASSES = 4
SHORT = 2  # steps of the short training


def write_images(folder, axes, side, channels):
    """Two images to train on and a tiny one to validate on; labels are the sign of smooth fields."""
    rng = np.random.default_rng(1)
    cases = []
    for i in range(3):
        shape = (2 * side if i < 2 else 16,) * axes
        image = rng.normal(0, 1, (*shape, channels)).astype(np.float32)
        np.save(folder / f"i{i}.npy", image)
        np.save(folder / f"y{i}.npy", rng.integers(0, CLASSES, shape).astype(np.uint8))
        cases.append({"id": f"c{i}", "image": f"i{i}.npy", "labels": f"y{i}.npy",
                      "split": "train" if i < 2 else "validation"})
    (folder / "dataset.json").write_text(json.dumps(
        {"segcal_dataset": 1, "name": "random", "classes": [f"c{k}" for k in range(CLASSES)], "cases": cases}))


def measure(command):
    """Seconds of the clock and of the processor, and the largest resident memory in MiB."""
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ours(arguments, folder, network, loss, steps, augment):
    axes, width, depth, batch, side, *_ = NETWORKS[network]
    patches = steps * batch // 2
    plain = [] if augment else ["--no-flips", "--scale", 0, "--intensity", 0, "--noise", 0]
    with tempfile.TemporaryDirectory() as run:
        return measure([arguments.program, "train", folder, "-o", Path(run) / "run", "--loss", loss, "--axes", axes, "--width",
                        width, "--depth", depth, "--batch", batch, "--patch", "x".join([str(side)] * axes), "--patches", patches,
                        "--epochs", 1, "--threads", arguments.threads, "--quiet", *plain])


def theirs(arguments, folder, network, loss, steps):
    return measure([sys.executable, __file__, "worker", folder, network, loss, steps, arguments.threads])


def load_losses():
    """segcal.losses without the compiled part of the package."""
    folder = Path(__file__).resolve().parent.parent / "python" / "segcal" / "losses"
    spec = importlib.util.spec_from_file_location("losses", folder / "__init__.py", submodule_search_locations=[str(folder)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["losses"] = module
    spec.loader.exec_module(module)
    return module


def work(folder, network, loss, steps, threads):
    """The training in PyTorch, as somebody would write it."""
    import torch
    from torch import nn
    losses = load_losses()
    axes, width, depth, batch, side, channels, _ = NETWORKS[network]
    torch.set_num_threads(threads)
    convolution, normalisation = (nn.Conv2d, nn.BatchNorm2d) if axes == 2 else (nn.Conv3d, nn.BatchNorm3d)
    transposed, pooling = (nn.ConvTranspose2d, nn.MaxPool2d(2)) if axes == 2 else (nn.ConvTranspose3d, nn.MaxPool3d(2))

    def block(inside, out):
        layers = []
        for channels_in in (inside, out):
            layers += [convolution(channels_in, out, 3, padding=1, bias=False), normalisation(out), nn.ReLU()]
        return nn.Sequential(*layers)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = [width << level for level in range(depth)]
            self.down = nn.ModuleList(block(a, b) for a, b in zip([channels, *sizes], sizes))
            self.up = nn.ModuleList(transposed(2 * size, size, 2, 2) for size in reversed(sizes[:-1]))
            self.joined = nn.ModuleList(block(2 * size, size) for size in reversed(sizes[:-1]))
            self.last = convolution(width, CLASSES, 1)

        def forward(self, x):
            skips = []
            for level, layers in enumerate(self.down):
                x = layers(pooling(x) if level else x)
                skips.append(x)
            skips.pop()
            for up, layers in zip(self.up, self.joined):
                x = layers(torch.cat([skips.pop(), up(x)], 1))
            return self.last(x)

    images = [torch.from_numpy(np.moveaxis(np.load(Path(folder) / f"i{i}.npy"), -1, 0).copy()) for i in range(2)]
    labels = [torch.from_numpy(np.load(Path(folder) / f"y{i}.npy")).long() for i in range(2)]
    net, criterion = UNet(), losses.make(loss)
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    rng = np.random.default_rng(2)
    for _ in range(steps):
        xs, ys = [], []
        for _ in range(batch):
            k = rng.integers(2)
            window = tuple(slice(first, first + side) for first in rng.integers(0, side, axes))
            flips = [axis for axis in range(axes) if rng.random() < 0.5]
            xs.append(images[k][(slice(None), *window)].flip([axis + 1 for axis in flips]))
            ys.append(labels[k][window].flip(flips))
        optimiser.zero_grad()
        criterion(net(torch.stack(xs)), torch.stack(ys)).backward()
        optimiser.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="segcal, with segcal-train beside it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--losses", default="ce,nacl")
    parser.add_argument("--networks", default="", help="those whose names begin so")
    arguments = parser.parse_args()
    print(f"{arguments.threads} threads, median of {arguments.rounds}; seconds per step by the clock, of the processor in brackets")
    print("| network | loss | ours | without augmentation | PyTorch | ours / PyTorch | peak, MiB | PyTorch's |")
    print("|---|---|---|---|---|---|---|---|")
    for network in (name for name in NETWORKS if name.startswith(arguments.networks)):
        for loss in arguments.losses.split(","):
            with tempfile.TemporaryDirectory() as folder:
                axes, _, _, _, side, channels, steps = NETWORKS[network]
                write_images(Path(folder), axes, side, channels)
                kinds = {"ours": lambda n: ours(arguments, folder, network, loss, n, True),
                         "plain": lambda n: ours(arguments, folder, network, loss, n, False),
                         "torch": lambda n: theirs(arguments, folder, network, loss, n)}
                found = {kind: [] for kind in kinds}
                for _ in range(arguments.rounds):
                    for kind, run in kinds.items():
                        short, whole = run(SHORT), run(steps)
                        count = steps - SHORT
                        found[kind].append([(b - a) / count for a, b in zip(short[:2], whole[:2])] + [whole[2]])
            median = {kind: [statistics.median(column) for column in zip(*rows)] for kind, rows in found.items()}
            cell = {kind: f"{m[0]:.3f} ({m[1]:.3f})" for kind, m in median.items()}
            ratio = statistics.median(a[0] / b[0] for a, b in zip(found["ours"], found["torch"]))
            work_ratio = statistics.median(a[1] / b[1] for a, b in zip(found["ours"], found["torch"]))
            print(f"| {network} | `{loss}` | {cell['ours']} | {cell['plain']} | {cell['torch']} | {ratio:.2f} ({work_ratio:.2f}) | "
                  f"{median['ours'][2]:.0f} | {median['torch'][2]:.0f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        _, _, where, name, criterion_name, count, cores = sys.argv
        work(where, name, criterion_name, int(count), int(cores))
    else:
        main()
