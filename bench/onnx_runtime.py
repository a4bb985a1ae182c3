#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnx_runtime.py PYTHON [--package FOLDER]: exported graphs in ONNX Runtime beside our own apply, time and memory.

PYTHON is an interpreter with numpy and onnxruntime (tests/oracle/onnx_env.sh makes such an environment), FOLDER
where the package segcal is (build/release/python of a release build with SEGCAL_BUILD_PYTHON). The same image, the
same models, the same threads; every run in a process of its own, the two in turns. Seconds are medians, memory is the
peak beyond the image and the result. Maps with steps (irova) may fall on either side of one, by rounding.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

METHODS = ("ts", "cms_ap", "cms_op", "irova", "lts")


def measured(call, repeats):
    """Median seconds of a call, and how far the peak of memory rose since before its first time."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"seconds": statistics.median(took), "memory": grown / 1024}


def make_model(method, classes):
    """A model whose parameters do some work: fitted on noise."""
    import numpy as np
    import segcal
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (2, classes, 48, 48)).astype(np.float32)
    labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)
    pipeline = f"{method}(z, epochs=1)" if method.startswith("lts") else method
    return segcal.fit(logits, labels, pipeline, progress=False)


def child(side, method, classes, height, width, threads, repeats):
    import numpy as np
    image = np.random.default_rng(1).normal(0, 3, (1, classes, height, width)).astype(np.float32)
    out = np.zeros_like(image)
    model = make_model(method, classes)
    if side == "segcal":
        print(json.dumps(measured(lambda: model.predict_proba(image, out=out, threads=threads, layout="NCHW"), repeats)))
        return
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.to_onnx(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("logits", image)
    binding.bind_output("probabilities", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    result = measured(lambda: session.run_with_iobinding(binding), repeats)
    expected = model.predict_proba(image, layout="NCHW")
    result["apart"] = float(np.abs(expected - out).max())
    print(json.dumps(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("--package", default="build/release/python")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--shape", default="19,1024,1024")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print(f"{given.shape}, {given.threads} threads\n")
    print("| method | segcal, s | ONNX Runtime, s | ratio | segcal, MiB | ONNX Runtime, MiB | largest difference |")
    print("|---|---|---|---|---|---|---|")
    environment = {**os.environ, "PYTHONPATH": str(Path(given.package).resolve())}
    for method in given.methods.split(","):
        found = {}
        for side in ("segcal", "onnx"):
            command = [given.python, "-B", __file__, "--child", side, method, *given.shape.split(","),
                       str(given.threads), str(given.repeats)]
            found[side] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True,
                                                    env=environment).stdout)
        ours, theirs = found["segcal"], found["onnx"]
        print(f"| `{method}` | {ours['seconds']:.3f} | {theirs['seconds']:.3f} | {theirs['seconds'] / ours['seconds']:.1f} | "
              f"{ours['memory']:.0f} | {theirs['memory']:.0f} | {theirs['apart']:.1e} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4], *map(int, sys.argv[4:]))
    else:
        main()
