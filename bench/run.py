#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/run.py --build DIR: what segcal takes, what the machine allows, what others take; the bars.

Everything is measured in one run on the same arrays, in turns: each round does every piece of work
once, and what is compared with the machine's bandwidth is preceded by a measurement of that. Ratios
are medians over the rounds. Exit code 1 if a bar is missed.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import data
import memory

NEEDED_BYTES = 8 << 30  # on disk: the arrays, what is applied to files, decoded copies

# Metric families of the two bars. Entropy is not among what they ask for and has a line of its own.
FAMILIES = "calibration_error scores overlap"
CLASSWISE = FAMILIES + " classwise"


class Program:
    """A program that is asked line by line: pipeline_bench or peers.py."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, work):
        self.process.stdin.write(work + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args[0]} stopped at \"{work}\"")
        return json.loads(line)

    def close(self):
        """Ends the program."""
        self.process.stdin.close()
        self.process.wait()


def start_ours(build, folder):
    """Our own work on the data in `folder`."""
    (folder / "applied").mkdir()
    return Program([build / "bench" / "pipeline_bench", folder, folder / "applied"])


def start_peers(folder, memory_policy):
    """The same work by others, in a process of their own: how memory is had is a property of the process."""
    return Program([sys.executable, "-B", Path(__file__).with_name("peers.py"), folder, memory_policy])


class Samples:
    """Seconds and results of every piece of work, and ratios taken in pairs."""

    def __init__(self):
        self.results = {}
        self.ratios = {}

    def add(self, name, result):
        self.results.setdefault(name, []).append(result)
        return result["seconds"]

    def add_ratio(self, name, ratio):
        self.ratios.setdefault(name, []).append(ratio)

    def seconds(self, name):
        return statistics.median(r["seconds"] for r in self.results[name])

    def ratio(self, name):
        return statistics.median(self.ratios[name])

    def last(self, name):
        return self.results[name][-1]

    def busy(self, threads):
        """The share of the processors that was ours while we worked."""
        ours = [r for results in self.results.values() for r in results if "processor_seconds" in r]
        return sum(r["processor_seconds"] for r in ours) / (threads * sum(r["seconds"] for r in ours))


# Work on resident arrays, and what it is compared with.
ARRAY_WORK = [
    ("TS pass", "pass {beta}", "read"),
    ("TS apply", "apply", "copy"),
    ("metrics: ECE", "metrics calibration_error", "read"),
    ("metrics: top-label", f"metrics {FAMILIES}", "read"),
    ("metrics: top-label, class-wise", f"metrics {CLASSWISE}", "read"),
    ("metrics: top-label, entropy", f"metrics {FAMILIES} entropy", "read"),
    ("TS fit", "fit", "read"),
]
# Work on files in the page cache.
FILE_WORK = [
    ("TS fit of files", "fit_files", "read_files"),
    ("evaluate files", "evaluate_files", "read_files"),
    ("apply to files", "apply_files", "read_files"),
    ("apply to files, beside copying them", "apply_files", "copy_files"),
]


def limit_of(ours, samples, kind):
    """Seconds the machine needs at least: one read, one copy (the quicker of two ways), one read of the files, one copy of them with its sync."""
    if kind != "copy":
        return samples.add(kind, ours(kind))
    return min(samples.add("copy", ours("copy")), samples.add("copy, streaming", ours("copy_streaming")))


def measure_ours(ours, samples, beta):
    """One round of our work."""
    for name, work, limit in ARRAY_WORK + FILE_WORK:
        least = limit_of(ours, samples, limit)
        seconds = samples.add(name, ours(work.format(beta=beta)))
        samples.add_ratio(name, seconds / least)


# Work of others, and ours of the same kind.
PEER_WORK = [
    ("TS loss and gradient, PyTorch", "pass {beta}", "pass {beta}"),
    ("softmax, PyTorch", "softmax {beta}", "apply"),
    ("ECE, PyTorch", "ece_torch {beta}", "metrics calibration_error"),
    ("ECE, NumPy", "ece_numpy {beta}", "metrics calibration_error"),
    ("TS fit, PyTorch L-BFGS", "fit", "fit"),
]
# How others have the memory of their temporaries; bars are judged by the first.
AS_INSTALLED = "as installed"
RETAINED = "retained memory"


def named(work, policy):
    """The key of a piece of others' work in the samples."""
    return f"{work}, {policy}"


def measure_peers(peers, ours, samples, beta, policy):
    """One round of PyTorch and NumPy, each beside ours of the same work."""
    for name, work, same in PEER_WORK:
        theirs = samples.add(named(name, policy), peers(work.format(beta=beta)))
        samples.add_ratio(named(name, policy), theirs / ours(same.format(beta=beta))["seconds"])


def print_ours(samples, total_bytes):
    """What the machine does, and our work as multiples of it."""
    print(f"\n{'the machine':<34}{'ms':>9}{'GB/s':>8}")
    for name in ("read", "copy", "copy, streaming", "read_files", "copy_files"):
        seconds = samples.seconds(name)
        print(f"{name:<34}{1e3 * seconds:>9.0f}{1e-9 * total_bytes / seconds:>8.1f}")
    print(f"\n{'segcal':<34}{'ms':>9}{'GB/s':>8}{'times':>8}  {'of':<11}{'share':>6}")
    for name, _, limit in ARRAY_WORK + FILE_WORK:
        seconds = samples.seconds(name)
        ratio = samples.ratio(name)
        print(f"{name:<34}{1e3 * seconds:>9.0f}{1e-9 * total_bytes / seconds:>8.1f}{ratio:>8.2f}  "
              f"{limit:<11}{100 / ratio:>5.0f} %")


def print_peers(samples, about):
    """What others take for the same work."""
    title = f"PyTorch {about['version']}, NumPy, {about['threads']} threads"
    print(f"\n{title:<34}{AS_INSTALLED:>22}{RETAINED:>22}")
    print(f"{'':<34}" + 2 * f"{'ms':>10}{'times ours':>12}")
    for name, _, _ in PEER_WORK:
        print(f"{name:<34}", end="")
        for policy in (AS_INSTALLED, RETAINED):
            key = named(name, policy)
            print(f"{1e3 * samples.seconds(key):>10.0f}{samples.ratio(key):>12.1f}", end="")
        print()


def check_fit(ours, samples):
    """Ours must be the same or better, in double precision at both temperatures."""
    mine = samples.last("TS fit")
    theirs = samples.last(named("TS fit, PyTorch L-BFGS", AS_INSTALLED))
    their_nll = ours(f"pass {theirs['beta']!r}")["nll"]
    print(f"\nTS fit: ours beta {mine['beta']:.9f}, NLL {mine['nll']:.12f}, gradient {mine['gradient']:.0e}, "
          f"{mine['passes']} passes\n        PyTorch beta {theirs['beta']:.9f}, NLL {their_nll:.12f}, "
          f"{theirs['evaluations']} evaluations")
    errors = [samples.last(key)["ece"] for key in
              ("metrics: ECE", named("ECE, PyTorch", AS_INSTALLED), named("ECE, NumPy", AS_INSTALLED))]
    print("ECE: ours {:.9f}, PyTorch {:.9f}, NumPy {:.9f}".format(*errors))
    return mine["nll"] <= their_nll


def bars(samples, fit_is_no_worse):
    """(work, measured, its text, bar, whether more is better)."""
    rows = [
        ("TS loss + gradient + curvature pass, of read bandwidth", 1 / samples.ratio("TS pass"), "{:.0%}", 0.6, True),
        ("TS apply float32 to float32, of copy bandwidth", 1 / samples.ratio("TS apply"), "{:.0%}", 0.75, True),
        ("top-label + NLL + Brier + confusion, in read passes", samples.ratio("metrics: top-label"), "{:.1f}", 3, False),
        ("the same with class-wise, in read passes", samples.ratio("metrics: top-label, class-wise"), "{:.1f}", 6, False),
        ("TS fit, in read passes", samples.ratio("TS fit"), "{:.1f}", 6, False),
        ("evaluate of files with default metrics, in reads of them", samples.ratio("evaluate files"), "{:.1f}", 8, False),
        ("apply to files, of the speed of copying them", 1 / samples.ratio("apply to files, beside copying them"), "{:.0%}",
         0.6, True),
    ]
    fit_key = named("TS fit, PyTorch L-BFGS", AS_INSTALLED)
    if fit_key in samples.ratios:
        fit = samples.ratio(fit_key) if fit_is_no_worse else 0.0
        ece = min(samples.ratio(named(f"ECE, {who}", AS_INSTALLED)) for who in ("PyTorch", "NumPy"))
        rows += [
            ("TS fit against PyTorch L-BFGS, strong Wolfe", fit, "{:.1f} x", 40, True),
            ("ECE alone against the quicker of PyTorch and NumPy", ece, "{:.1f} x", 20, True),
        ]
    return rows


def print_bars(rows):
    """The table of bars; whether all are met."""
    print(f"\n{'bar':<60}{'measured':>10}{'required':>11}")
    all_met = True
    for what, value, form, bar, more in rows:
        met = value >= bar if more else value <= bar
        all_met = all_met and met
        required = ("≥ " if more else "≤ ") + form.format(bar)
        print(f"{what:<60}{form.format(value):>10}{required:>11}  {'met' if met else 'MISSED'}")
    return all_met


def print_kernels(build, samples, total_bytes):
    """kernels_bench: single kernels, in its own process with its own arrays."""
    print(f"\n{'kernels':<34}{'ms':>9}{'GB/s':>8}{'share':>8}  of", flush=True)
    output = subprocess.run(
        [build / "bench" / "kernels_bench", "--benchmark_format=json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    limits = {"read": samples.seconds("read"), "copy": min(samples.seconds("copy"), samples.seconds("copy, streaming"))}
    for row in json.loads(output)["benchmarks"]:
        limit = "copy" if any("copy" in key for key in row) else "read"
        share = row["GB/s"] * limits[limit] / (1e-9 * total_bytes)
        print(f"{row['name'].split('/manual')[0]:<34}{row['real_time']:>9.0f}{row['GB/s']:>8.1f}{share:>8.0%}  {limit}")


def measure_memory(build, folder):
    """Rows of the table of bars about memory, from a process that holds nothing itself."""
    output = subprocess.run([sys.executable, "-B", memory.__file__, build / "segcal", folder],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = []
    for line in map(json.loads, output.splitlines()):
        name = f"GiB resident: {line['what']} ({line['bytes'] / 2**30:.1f} GiB)"
        rows.append((name, line["peak"] / 2**30, "{:.2f}", memory.LIMIT / 2**30, False))
    return rows


def run(args, folder):
    """Everything in the order it is printed."""
    data.make(args.build / "segcal", folder)
    ours = start_ours(args.build, folder)
    about = ours("describe")
    print(f"segcal on {about['target']}, {about['threads']} threads: {about['cases']} cases of "
          f"{tuple(about['shape'])} {about['dtype']}, {about['bytes'] / 2**30:.2f} GiB; median of {args.rounds}")
    samples = Samples()
    beta = ours("fit")["beta"]
    for _ in range(args.rounds):
        measure_ours(ours, samples, beta)
    print_ours(samples, about["bytes"])
    no_worse = True
    if not args.no_peers:
        no_worse = run_peers(args, folder, ours, samples, beta)
    share = samples.busy(about["threads"])
    ours.close()
    print_kernels(args.build, samples, about["bytes"])
    rows = bars(samples, no_worse)
    if not args.no_memory:
        rows += measure_memory(args.build, folder)
    all_met = print_bars(rows)
    if share < 0.9:
        print(f"\nThe machine was busy with other work: {share:.0%} of its processors were ours.")
    return all_met


def run_peers(args, folder, ours, samples, beta):
    """PyTorch and NumPy; whether our fit is no worse than theirs."""
    for policy in (AS_INSTALLED, RETAINED):
        peers = start_peers(folder, policy)
        about = peers("describe")
        for _ in range(min(args.rounds, 3)):
            measure_peers(peers, ours, samples, beta, policy)
        peers.close()
    print_peers(samples, about)
    return check_fit(ours, samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder of the release preset")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each piece of work")
    parser.add_argument("--no-peers", action="store_true", help="without PyTorch and NumPy")
    parser.add_argument("--no-memory", action="store_true", help="without the memory measurement")
    args = parser.parse_args()
    args.build = args.build.resolve()
    free = shutil.disk_usage(args.build).free
    if free < NEEDED_BYTES:
        raise SystemExit(f"{args.build}: {free / 2**30:.1f} GiB free, {NEEDED_BYTES / 2**30:.0f} GiB are required")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.build) as folder:
        return 0 if run(args, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
