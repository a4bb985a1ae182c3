# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/evidence.md from the folders of studies.

    bench/evidence.py FOLDER...          for example those that scripts/evidence leaves
"""

import json
import sys
from pathlib import Path

METRICS = [("nll", "NLL", 1, 4), ("ece", "ECE", 1, 4), ("ba_ece", "BA-ECE", 1, 4), ("dsc", "DSC %", 100, 2)]


def difference(comparison, factor, digits):
    """A paired difference with its interval, and a star where that excludes zero."""
    if comparison is None:
        return "–"
    if comparison["equal_by_construction"]:
        return "="
    values = [comparison[key] * factor for key in ("difference", "lower", "upper")]
    star = " \\*" if values[1] > 0 or values[2] < 0 else ""
    return f"{values[0]:+.{digits}f} [{values[1]:.{digits}f}, {values[2]:.{digits}f}]{star}"


def pairs(study):
    """A row per matched pair."""
    lines = ["| first → second | " + " | ".join(header for _, header, _, _ in METRICS) + " |",
             "|---|" + "---|" * len(METRICS)]
    for pair in study["statistics"]["pairs"]:
        cells = [difference(pair["comparisons"].get(name), factor, digits) for name, _, factor, digits in METRICS]
        lines.append(f"| `{pair['first']}` → `{pair['second']}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    for name in sys.argv[1:]:
        folder = Path(name)
        study = json.loads((folder / "study.json").read_text())
        first = study["repeats"][0]
        found = study["recommendation"]
        print(f"## {folder.name}\n")
        print(f"{len(first['calibration'])} / {len(first['validation'])} / {len(first['test'])} cases, "
              f"{len(study['data']['classes'])} classes, {len(study['repeats'])} repeats.\n")
        table = (folder / "tables" / "results.md").read_text()
        print(table.split("\n\n", 1)[1])
        print(pairs(study))
        print(f"\nRecommended: `{found['pipeline']}`. " + " ".join(found["reasons"]))
        for warning in found["warnings"] + study["warnings"]:
            print(f"- {warning}")
        print()


if __name__ == "__main__":
    main()
