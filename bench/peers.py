# SPDX-License-Identifier: Apache-2.0
"""peers.py FOLDER POLICY: the work of pipeline_bench as it is done with PyTorch and NumPy, written to be quick there.

Images go one by one where that is quicker than all at once, outputs go to memory that exists, and all
cores are used. POLICY says where temporaries live: "as installed", or "retained memory", which keeps
memory once had for the next temporary. Every line of standard input names a piece of work, which is
done once; the answer is a line of JSON with its seconds and what it found.
"""

import ctypes
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import data

IGNORE = -100  # PyTorch's mark of a voxel that takes no part
BINS = 50


# Options of the C library's malloc.
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4


def retain_memory():
    """Keeps what is freed mapped, for the next temporary.

    By default every temporary of an image is mapped anew and faulted in page by page, which on a
    virtual machine can take five times as long as the arithmetic.
    """
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, -1)


class Peers:
    """Logits (cases, C, H, W) float32 and labels (cases, H, W) of a data set, in memory."""

    def __init__(self, logits, labels, ignore_label):
        labels = labels.astype(np.int64)
        labels[labels == ignore_label] = IGNORE
        self.logits = torch.from_numpy(logits)
        self.labels = torch.from_numpy(labels)
        self.count = int((labels != IGNORE).sum())
        self.output = torch.zeros_like(self.logits)
        self.by_image = True

    def _parts(self):
        if self.by_image:
            return list(zip(self.logits.split(1), self.labels.split(1)))
        return [(self.logits, self.labels)]

    def _loss(self, beta):
        """Mean loss with its gradient in beta.grad."""
        total = 0.0
        for logits, labels in self._parts():
            loss = F.cross_entropy(logits * beta, labels, ignore_index=IGNORE, reduction="sum")
            loss = loss / self.count
            loss.backward()
            total += loss.detach()
        return total

    def temperature_pass(self, beta):
        """Loss and gradient at one temperature."""
        parameter = torch.tensor(beta, requires_grad=True)
        loss = self._loss(parameter)
        return {"nll": float(loss), "slope": float(parameter.grad)}

    def choose_parts(self):
        """Keeps whichever of the two ways through the images is quicker."""
        seconds = {}
        for by_image in (True, False):
            self.by_image = by_image
            self.temperature_pass(1.0)
            seconds[by_image] = timed(lambda: self.temperature_pass(1.0))["seconds"]
        self.by_image = seconds[True] <= seconds[False]

    def temperature_fit(self):
        """L-BFGS with strong Wolfe line search from beta = 1 to PyTorch's own tolerances."""
        beta = torch.tensor(1.0, requires_grad=True)
        solver = torch.optim.LBFGS([beta], max_iter=50, line_search_fn="strong_wolfe")
        evaluations = 0

        def closure():
            nonlocal evaluations
            evaluations += 1
            solver.zero_grad()
            return self._loss(beta)

        solver.step(closure)
        return {"beta": float(beta), "evaluations": evaluations}

    def softmax(self, beta):
        """Calibrated probabilities into memory that is there."""
        scaled = torch.empty_like(self.logits[:1])
        with torch.no_grad():
            for logits, out in zip(self.logits.split(1), self.output.split(1)):
                torch.softmax(torch.mul(logits, beta, out=scaled), 1, out=out)
        return {}

    def ece_torch(self, beta):
        """Softmax, largest probability, bins (lo, hi], the gaps weighted by occupancy."""
        edges = torch.linspace(0.0, 1.0, BINS + 1)[1:-1]
        sums = torch.zeros(2, BINS, dtype=torch.float64)
        for logits, labels in zip(self.logits.split(1), self.labels.split(1)):
            confidence, predicted = torch.softmax(logits * beta, 1).max(1)
            keep = labels != IGNORE
            confidence = confidence[keep]
            bins = torch.bucketize(confidence, edges)
            correct = (predicted[keep] == labels[keep]).double()
            sums[0] += torch.bincount(bins, confidence.double(), minlength=BINS)
            sums[1] += torch.bincount(bins, correct, minlength=BINS)
        return {"ece": float((sums[0] - sums[1]).abs().sum()) / self.count}

    def ece_numpy(self, beta):
        """The same with NumPy, which has one thread."""
        edges = np.linspace(0.0, 1.0, BINS + 1, dtype=np.float32)[1:-1]
        sums = np.zeros((2, BINS))
        for logits, labels in zip(self.logits.numpy(), self.labels.numpy()):
            probs = logits * np.float32(beta)
            probs -= probs.max(0)
            np.exp(probs, out=probs)
            probs /= probs.sum(0)
            keep = labels != IGNORE
            predicted = probs.argmax(0)
            confidence = probs.max(0)[keep]
            bins = np.searchsorted(edges, confidence)
            correct = predicted[keep] == labels[keep]
            sums[0] += np.bincount(bins, confidence, minlength=BINS)
            sums[1] += np.bincount(bins, correct, minlength=BINS)
        return {"ece": float(np.abs(sums[0] - sums[1]).sum()) / self.count}


def timed(work):
    """The result of a call, with its seconds."""
    start = time.perf_counter()
    result = work()
    result["seconds"] = time.perf_counter() - start
    return result


def main():
    folder, policy = sys.argv[1:]
    if policy == "retained memory":
        retain_memory()
    # PyTorch may start with one thread.
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    peers = Peers(*data.load(Path(folder)))
    peers.choose_parts()
    work = {"pass": peers.temperature_pass, "softmax": peers.softmax, "fit": peers.temperature_fit,
            "ece_torch": peers.ece_torch, "ece_numpy": peers.ece_numpy,
            "describe": lambda: {"version": torch.__version__, "threads": torch.get_num_threads()}}
    for line in sys.stdin:
        name, *arguments = line.split()
        print(json.dumps(timed(lambda: work[name](*map(float, arguments)))), flush=True)


if __name__ == "__main__":
    main()
