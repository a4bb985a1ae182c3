#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Training losses times post-hoc calibration, on one data set of images.

    bench/loss_study.py PROGRAM DATASET FOLDER [--losses ce,nacl] [--ablation] [--seeds 3] [--pipelines ...] [-- TRAIN OPTIONS]

Trains one network per loss and seed, predicts, fits the calibrators on split calibration and measures on the splits
test and shift. What is there already is not done again, and a training that was stopped goes on, so that it can be
killed at any moment. bench/loss_tables.py prints the tables.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

# Those of the paper's Table 1 and three more; nacl with the sum over classes that the paper prints, and with the mean that its
# authors' code has.
LOSSES = "ce,ce_dice,focal,ecp,ls,svls,mbls,mmce,nacl,nacl over_classes=mean,ml1_ace"
# What Tables 2 and 3 of the paper change about nacl, and the weight of its penalty.
ABLATION = ["nacl on=softmax", "nacl penalty=l2", "nacl patch=5", "nacl prior=gaussian", "nacl prior=max", "nacl prior=min",
            "nacl prior=median", "nacl prior=mode", "nacl lam=0.01", "nacl lam=0.03", "nacl lam=0.3", "nacl lam=1"]
# As the paper has them: 15 bins, ECE and CECE over voxels of the foreground.
PAPER = ["--metrics", "dsc,hd95,ece,classwise_ece", "--set", "bins=15", "--set", "foreground=true"]
# What calibrators are fitted for and judged by: every voxel.
ALL_VOXELS = ["--metrics", "nll,ece,classwise_ece,accuracy,dsc", "--set", "bins=15"]


def run(arguments, *words):
    # One thread: two that wait for each other on a busy machine take ten times the processor time.
    command = [arguments.program, *map(str, words), "--threads", str(arguments.threads), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def without(dataset, split, path):
    """The data set but one split; its files are named as they are from there."""
    content = json.loads(dataset.read_text())
    content["cases"] = [case for case in content["cases"] if case["split"] != split]
    for case in content["cases"]:
        for key in ("image", "labels", "mask"):
            if case.get(key):
                case[key] = str((dataset.parent / case[key]).resolve())
    path.write_text(json.dumps(content))
    return path


def train(arguments, folder, configuration, seed):
    loss, *options = configuration.split()
    words = [word for option in options for word in ("--set", option)]
    resume = ["--resume"] if (folder / "training.json").exists() else []
    run(arguments, "train", arguments.dataset, "-o", folder, "--loss", loss, *words, "--seed", seed, *resume, *arguments.train)


def measure(arguments, folder, calibrated):
    """Of the uncalibrated prediction and every calibrator: metrics by split and by set of metrics."""
    predictions, models = folder / "predictions", folder / "models"
    shutil.rmtree(predictions, ignore_errors=True)
    run(arguments, "predict", folder / "network", arguments.folder / "held.json", "-o", predictions, "--dtype", "float16")
    groups = {"paper": PAPER}
    if calibrated:
        run(arguments, "fit", predictions, "-p", arguments.pipelines, "-o", models, "--search", 0, "--force")
        groups["all"] = ["-m", models, *ALL_VOXELS]
    content = json.loads((predictions / "dataset.json").read_text())
    found = {}
    for split in ("test", "shift"):
        if not any(case["split"] == split for case in content["cases"]):
            continue
        for name, options in groups.items():
            text = run(arguments, "evaluate", predictions, "-p", "none(z)", "--split", split, "--json", *options)
            found[f"{split} {name}"] = {p["pipeline"]: {"mean": p["mean"], "cases": [c["metrics"] for c in p["metric_per_case"]]}
                                        for p in json.loads(text)["pipelines"]}
    shutil.rmtree(predictions)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="segcal, with segcal-train beside it")
    parser.add_argument("dataset", type=Path, help="splits train, validation, calibration, test and perhaps shift")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--losses", default=LOSSES)
    parser.add_argument("--ablation", action="store_true", help="variants of nacl beside the losses, without calibrators")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pipelines", default="ts(z),vs(z),dc(z),cms_ap(z),lts(z)")
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    arguments = parser.parse_args(own)
    arguments.train = options
    arguments.program = arguments.program.resolve()
    if arguments.dataset.is_dir():
        arguments.dataset /= "dataset.json"
    arguments.folder.mkdir(parents=True, exist_ok=True)
    without(arguments.dataset, "train", arguments.folder / "held.json")
    configurations = arguments.losses.split(",") + (ABLATION if arguments.ablation else [])
    # Seed by seed, so that what is there after a part of the time compares all losses.
    for seed in range(1, arguments.seeds + 1):
        for configuration in configurations:
            folder = arguments.folder / f"{configuration.replace(' ', '_')}-{seed}"
            if (folder / "metrics.json").exists():
                continue
            train(arguments, folder / "network", configuration, seed)
            result = {"configuration": configuration, "seed": seed, "train": arguments.train,
                      "metrics": measure(arguments, folder, configuration not in ABLATION)}
            (folder / "new.json").write_text(json.dumps(result))
            (folder / "new.json").rename(folder / "metrics.json")
            print(f"{configuration}, seed {seed}: done", flush=True)


if __name__ == "__main__":
    main()
