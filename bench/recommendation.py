# SPDX-License-Identifier: Apache-2.0
"""How often `segcal compare` recommends what the simulator knows to be right.

    bench/recommendation.py build/release/segcal [--seeds 10] [--only MAP] [--least 8]

For every true map and seed: a simulated data set, a study of it with its own splits, the recommendation.
Prints a line per study and the hit rates; fails where a rate is below --least.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PIPELINES = ["ts(z)", "ets(z)", "cms_op(z)", "cms_ap(z)", "lts(z)"]
# True map -> its options, and the methods that are right.
TRUTHS = {
    "identity": ([], ["none"]),
    "temperature": ([], ["ts", "ets"]),
    "class_conditional": (["--variation", "0.5"], ["cms_op", "cms_ap"]),
    "temperature_field": (["--variation", "0.6"], ["lts"]),
}


def study(program, folder, true_map, seed, given):
    """The recommendation of one simulated study."""
    options, _ = TRUTHS[true_map]
    subprocess.run([program, "simulate", folder / "data", "--preset", "street", "--classes", "5", "--size", given.size,
                    "--cases", str(given.cases), "--map", true_map, "--seed", str(seed), "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL)
    names = [name for name in PIPELINES if not (given.untrained and name.startswith("lts"))]
    pipelines = [part for name in names for part in ("-p", name)]
    subprocess.run([program, "compare", folder / "data", *pipelines, "--split", "own", "--replicates", "100",
                    "--search", str(given.search), "--threads", str(given.threads),
                    "--metrics", "nll,ece,ba_ece", "-o", folder / "study", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads((folder / "study" / "study.json").read_text())["recommendation"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--size", default="64x96")
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--search", type=int, default=5)
    parser.add_argument("--untrained", action="store_true", help="without lts(z), which takes most of the time")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--least", type=int, default=0, help="hits of every true map that are required")
    parser.add_argument("--only", choices=TRUTHS)
    given = parser.parse_args()
    rates = {}
    for true_map in [given.only] if given.only else TRUTHS:
        right = TRUTHS[true_map][1]
        hits = 0
        for seed in range(1, given.seeds + 1):
            with tempfile.TemporaryDirectory() as work:
                found = study(given.program, Path(work), true_map, seed, given)
            hit = found["pipeline"].split("(")[0] in right
            hits += hit
            print(f"{true_map} seed {seed}: {found['pipeline']} {'hit' if hit else 'miss'}", flush=True)
            if not hit:
                print("  " + " ".join(found["reasons"][:2]), flush=True)
        rates[true_map] = hits
    for true_map, hits in rates.items():
        print(f"{true_map}: {hits}/{given.seeds}")
    sys.exit(any(hits < given.least for hits in rates.values()))


if __name__ == "__main__":
    main()
