# SPDX-License-Identifier: Apache-2.0
"""The data sets of the loss study, made of images and labels that are there.

    bench/loss_sets.py IMAGES OUT       IMAGES has vessels/images.json, membrane/dataset.json and camvid/dataset.json

Writes OUT/<name>/dataset.json for each that is there: images and labels with the splits train, validation,
calibration, test and, where there is one, shift. Sets that were made for predictions have no images to train on, so
their calibration images are trained on and their validation images calibrate.
"""

import json
import sys
from pathlib import Path


def vessels(cases):
    """Twenty to train on, twenty to test on, another camera: of the first, six are kept back."""
    train = [case for case in cases if case["split"] == "train"]
    for i, case in enumerate(train):
        case["split"] = "train" if i < 14 else "validation" if i < 16 else "calibration"


def membrane(cases):
    move(cases, validation=1)


def camvid(cases):
    move(cases, validation=2)


def move(cases, validation):
    """Calibration becomes train; validation keeps its first cases, the others calibrate."""
    for case in cases:
        case.pop("members")
        if case["split"] == "calibration":
            case["split"] = "train"
    kept = [case for case in cases if case["split"] == "validation"]
    for case in kept[validation:]:
        case["split"] = "calibration"


SETS = {"vessels": ("images.json", vessels), "membrane": ("dataset.json", membrane), "camvid": ("dataset.json", camvid)}


def main():
    images, out = map(Path, sys.argv[1:])
    for name, (file, assign) in SETS.items():
        if not (images / name / file).exists():
            print(f"{name}: not in {images}, left out")
            continue
        content = json.loads((images / name / file).read_text())
        content.pop("input", None)
        content["name"] = name
        assign(content["cases"])
        for case in content["cases"]:
            for key in ("image", "labels", "mask"):
                if case.get(key):
                    case[key] = str((images / name / case[key]).resolve())
        (out / name).mkdir(parents=True, exist_ok=True)
        (out / name / "dataset.json").write_text(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
