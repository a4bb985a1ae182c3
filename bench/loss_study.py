#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Training losses times post-hoc calibration, on one data set of images.

    bench/loss_study.py PROGRAM DATASET FOLDER [--losses ce,nacl] [--seeds 3] [--pipelines ...] [-- TRAIN OPTIONS]

Trains one network per loss and seed, predicts, fits the calibrators on split calibration and measures on
split test. Prints two tables in Markdown: the losses as the paper of NACL has them in its Table 1, with
both ranks, and NLL and ECE of every loss before and after every calibrator. What is there already is not
done again, and a training that was stopped goes on.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

LOSSES = "ce,ce_dice,focal,ecp,ls,svls,mbls,nacl"
# Name, header, whether high is good.
METRICS = [("dsc", "DSC", True), ("hd95", "HD95", False), ("ece", "ECE", False), ("classwise_ece", "CECE", False)]


def predictions(arguments, loss, seed):
    """The folder of predictions of one network."""
    run, out = arguments.folder / f"{loss}-{seed}", arguments.folder / f"{loss}-{seed}-predictions"
    if not (out / "dataset.json").exists():
        resume = ["--resume"] if (run / "training.json").exists() else []
        subprocess.run([arguments.program, "train", arguments.dataset, "-o", run, "--loss", loss, "--seed", str(seed),
                        *resume, *arguments.train], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([arguments.program, "predict", run, arguments.dataset, "-o", out, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
    return out


def evaluate(arguments, out):
    """The pipelines of the metrics file: uncalibrated first, then every calibrator."""
    models = []
    for pipeline in arguments.pipelines.split(","):
        model = out / f"{pipeline}.json"
        if not model.exists():
            subprocess.run([arguments.program, "fit", out, "-p", f"{pipeline}(z)", "-o", model, "--quiet"], check=True,
                           stdout=subprocess.DEVNULL)
        models += ["-m", model]
    metrics = ",".join(["nll", "dsc", *(name for name, _, _ in METRICS if name != "dsc")])
    done = subprocess.run([arguments.program, "evaluate", out, "-p", "none(z)", *models, "--split", "test", "--metrics",
                           metrics, "--json", "--quiet"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["pipelines"]


def mean_of(found, name):
    return float(found["mean"][name])


def of_cases(found, name):
    """The values of the cases; NaN where a case has none."""
    return [np.nan if case["metrics"].get(name) is None else case["metrics"][name] for case in found["metric_per_case"]]


def ranks(values, high):
    """1 is best; ties share the mean of their places."""
    values = np.where(np.isnan(values), -np.inf if high else np.inf, values)
    keys = -values if high else values
    return np.array([(keys < key).sum() + ((keys == key).sum() + 1) / 2 for key in keys])


def table_of_losses(results):
    """Means over seeds, the sum of ranks and the mean rank over cases."""
    losses = list(results)
    means = {m: np.array([np.mean([mean_of(found[0], m) for found in results[loss]]) for loss in losses])
             for m, _, _ in METRICS}
    sums = sum(ranks(means[m], high) for m, _, high in METRICS)
    per_case = []
    for m, _, high in METRICS:
        cases = np.array([np.concatenate([of_cases(found[0], m) for found in results[loss]]) for loss in losses])
        per_case.append([ranks(column, high) for column in cases.T])
    mean_rank = np.mean(per_case, axis=(0, 1))
    lines = ["| loss | " + " | ".join(header for _, header, _ in METRICS) + " | sum of ranks | mean rank over cases |",
             "|---|" + "---|" * (len(METRICS) + 2)]
    for i, loss in enumerate(losses):
        cells = [f"{means[m][i]:.4f}" for m, _, _ in METRICS]
        lines.append(f"| `{loss}` | " + " | ".join(cells) + f" | {sums[i]:g} | {mean_rank[i]:.2f} |")
    return "\n".join(lines)


def table_of_pipelines(results, metric, header, names):
    lines = [f"| {header} | " + " | ".join(f"`{name}`" for name in names) + " |", "|---|" + "---|" * len(names)]
    for loss, found in results.items():
        cells = [f"{np.mean([mean_of(seed[p], metric) for seed in found]):.4f}" for p in range(len(names))]
        lines.append(f"| `{loss}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="segcal, with segcal-train beside it")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--losses", default=LOSSES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pipelines", default="ts,vs,cms_ap,lts")
    own, train = sys.argv[1:], []
    if "--" in own:
        own, train = own[:own.index("--")], own[own.index("--") + 1:]
    arguments = parser.parse_args(own)
    arguments.train = train
    arguments.program = arguments.program.resolve()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = {loss: [evaluate(arguments, predictions(arguments, loss, seed)) for seed in range(1, arguments.seeds + 1)]
               for loss in arguments.losses.split(",")}
    print(table_of_losses(results))
    for metric, header in (("nll", "NLL"), ("ece", "ECE")):
        print()
        print(table_of_pipelines(results, metric, header, ["none", *arguments.pipelines.split(",")]))


if __name__ == "__main__":
    main()
