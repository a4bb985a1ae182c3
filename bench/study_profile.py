# SPDX-License-Identifier: Apache-2.0
"""What the time of a study went into: timing.json of its folder, summed over repeats.

    bench/study_profile.py FOLDER

Fits go on side by side, so that their seconds add up to more than they took.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path


def main():
    timing = json.loads((Path(sys.argv[1]) / "timing.json").read_text())
    seconds, units = Counter(), Counter()
    for unit in timing["units"]:
        kind = re.sub(r"^repeat \d+, ", "", unit["unit"])
        seconds[kind] += unit["seconds"]
        units[kind] += 1
    total = sum(seconds.values())
    for kind, spent in seconds.most_common():
        print(f"{spent:9.1f} s {100 * spent / total:5.1f} %  {kind} ({units[kind]})")
    print(f"{total:9.1f} s         all units")


if __name__ == "__main__":
    main()
