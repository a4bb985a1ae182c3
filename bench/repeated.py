# SPDX-License-Identifier: Apache-2.0
"""Data sets as large as wanted from a few files: the same cases again and again under other names."""

import json
import os
from pathlib import Path


def repeat(dataset, times, out, change=lambda content: None):
    """Writes data set file `out` with every case of `dataset` (a file) `times` times, in the split calibration."""
    dataset, out = Path(dataset), Path(out)
    content = json.loads(dataset.read_text())
    base = os.path.relpath(dataset.parent, out.parent)

    def place(path):
        return os.path.join(base, path)

    cases = []
    for again in range(times):
        for case in content["cases"]:
            case = {**case, "id": f"{case['id']}_{again}", "members": [place(member) for member in case["members"]],
                    "labels": place(case["labels"]), "split": "calibration"}
            case.pop("image", None)
            if "group" in case:
                case["group"] = f"{case['group']}_{again}"
            cases.append(case)
    content["cases"] = cases
    change(content)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(content))
    return out
