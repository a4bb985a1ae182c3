# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence; none holds a path of one machine or an unfinished mark."""

import os
import re

from repository import files, run, text

SOURCES = ["**/*.h", "**/*.cc", "**/*.py", "**/*.sh", "**/*.cmake", "**/*.cmake.in",
           "**/*.js", "**/*.mjs", "**/*.css", "**/CMakeLists.txt", "scripts/*", ".ci/*"]
LICENCE = "SPDX-License-Identifier: Apache-2.0"

# Top folders whose content exists on somebody's machine only.
MACHINES = ["work", "farm", "root", "home", "Users", "tmp"]
MACHINE_PATH = re.compile(r"(?<![\w.}])/(?:" + "|".join(MACHINES) + r")/\w")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")


def unlicensed(path):
    """Whether the licence is missing from the first line, or the second after a #! line."""
    lines = text(path).split("\n", 2)
    first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    return LICENCE not in first


def not_executable(path):
    """Whether a script with a #! line lacks the permission to run."""
    return text(path).startswith("#!") and not os.access(path, os.X_OK)


def in_lines(root, path):
    """Violations inside a file, with their line."""
    where = path.relative_to(root)
    found = []
    for number, line in enumerate(text(path).splitlines(), 1):
        if MACHINE_PATH.search(line):
            found.append(f"{where}:{number}: a path of one machine")
        if UNFINISHED.search(line):
            found.append(f"{where}:{number}: an unfinished mark")
    return found


def violations(root):
    """Licence and permission of sources, then the lines of every text file."""
    sources = files(root, *SOURCES)
    found = [f"{p.relative_to(root)}: first line lacks {LICENCE}" for p in sources if unlicensed(p)]
    found += [f"{p.relative_to(root)}: not executable" for p in sources if not_executable(p)]
    for path in files(root, "**/*"):
        found += in_lines(root, path)
    return found


if __name__ == "__main__":
    run(violations)
