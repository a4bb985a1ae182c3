# SPDX-License-Identifier: Apache-2.0
"""try_wheel.py README: runs the Python lines of the README with what is installed, and looks at the import."""

import pathlib
import re
import subprocess
import sys
import tempfile

MAX_IMPORT = 0.2  # seconds, beside NumPy


def python_blocks(text):
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def import_seconds():
    """The fastest of a few imports in new processes, without that of NumPy."""
    code = "import numpy, time; t = time.perf_counter(); import segcal; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
               for _ in range(5))


def main(readme):
    blocks = python_blocks(pathlib.Path(readme).read_text(encoding="utf-8"))
    if not blocks:
        sys.exit(f"{readme}: has no Python block")
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks:
            subprocess.run([sys.executable, "-c", block], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    seconds = import_seconds()
    print(f"Python {sys.version.split()[0]}: the README's lines run, import takes {seconds:.3f} s")
    if seconds > MAX_IMPORT:
        sys.exit(f"import takes {seconds:.3f} s, at most {MAX_IMPORT} s are allowed")


if __name__ == "__main__":
    main(*sys.argv[1:])
