# SPDX-License-Identifier: Apache-2.0
"""parts_with_dask.py DATASET MODEL RESULT [PARTS]: evaluates a data set in parts that Dask spreads over its workers.

Here they are processes of this machine; with Client("tcp://scheduler:8786") they are those of a cluster that shares the files.
"""

import os
import subprocess
import sys
import tempfile

import dask
from dask.distributed import Client

SEGCAL = os.environ.get("SEGCAL_PROGRAM", "segcal")


@dask.delayed
def evaluate_part(dataset, model, part, parts, state):
    """Evaluates one part on whichever worker it comes to; returns the file that it leaves."""
    subprocess.run([SEGCAL, "evaluate", dataset, "-m", model, "--part", f"{part}/{parts}", "--state", state, "--threads", "1",
                    "--quiet"], check=True)
    return state


@dask.delayed
def merge(states, result):
    """Joins the parts into the bytes that one process would have written."""
    subprocess.run([SEGCAL, "merge", *states, "-o", result], check=True)
    return result


def main(dataset, model, result, parts="4"):
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None), tempfile.TemporaryDirectory() as folder:
        states = [evaluate_part(dataset, model, part, int(parts), f"{folder}/{part}.part") for part in range(1, int(parts) + 1)]
        print("wrote", merge(states, result).compute())


if __name__ == "__main__":
    main(*sys.argv[1:])
