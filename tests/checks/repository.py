# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the files of the source tree, and how a check reports."""

import re
import subprocess
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
LEFT_OUT = {".git", "build", "demo", "__pycache__", ".pytest_cache"}


def files(root, *patterns):
    """Source files matching any pattern, sorted; nothing built, nothing git ignores."""
    found = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    kept = [p for p in found if not LEFT_OUT & set(p.relative_to(root).parts)]
    return sorted(set(kept) - ignored(root, kept))


def ignored(root, paths):
    """The paths git ignores; none where the tree is not a git checkout."""
    listing = "\n".join(str(path) for path in paths)
    command = ["git", "-C", str(root), "check-ignore", "--stdin"]
    answer = subprocess.run(command, input=listing, capture_output=True, text=True, check=False)
    return {Path(line) for line in answer.stdout.splitlines()}


def text(path):
    """The file's text, or empty for a binary file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def includes(path):
    """Pairs (quote, name): ('"', 'core/file.h'), ('<', 'vector')."""
    return INCLUDE.findall(text(path))


def run(violations):
    """Entry point: `check.py ROOT` prints one line per violation and fails if there is one."""
    found = violations(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "ok")
    sys.exit(1 if found else 0)
