# SPDX-License-Identifier: Apache-2.0
"""Evaluates a data set in parts that Dask spreads over its workers, and joins them.

    python examples/parts_with_dask.py [DATASET MODEL]

Needs `pip install distributed` and the segcal program. Workers are processes of this machine here; with
Client("tcp://scheduler:8786") they are those of a cluster that shares the files. Without arguments it simulates a data set.
"""

import os
import subprocess
import sys

import dask
from dask.distributed import Client

PARTS = 4


def segcal(*arguments):
    """Runs the program; what it says of an error is in the exception."""
    command = [os.environ.get("SEGCAL_PROGRAM", "segcal"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@dask.delayed
def evaluate_part(dataset, model, part):
    """Evaluates one part on whichever worker it comes to; returns the file that it leaves."""
    state = f"parts/{part}.part"
    segcal("evaluate", dataset, "-m", model, "--split", "test", "--part", f"{part}/{PARTS}", "--state", state,
           "--threads", "1", "--quiet")
    return state


@dask.delayed
def merge(states):
    """Joins the parts into the bytes that one process would have written."""
    return segcal("merge", *states, "-o", "metrics.json")


def main(dataset, model):
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        states = [evaluate_part(dataset, model, part) for part in range(1, PARTS + 1)]
        print(merge(states).compute())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        segcal("simulate", "street", "--preset", "street", "--size", "48x64", "--quiet")
        segcal("fit", "street", "-p", "ts(z)", "-o", "ts.json", "--quiet")
    main(*(sys.argv[1:3] if len(sys.argv) > 2 else ("street", "ts.json")))
