# SPDX-License-Identifier: Apache-2.0
"""The oracle tests run the program through the same module as the command-line tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
