# SPDX-License-Identifier: Apache-2.0
"""The oracle tests run the program through the same module as the command-line tests."""

import os
import sys
from pathlib import Path

# Small matrices: threads of the linear algebra cost more than they give.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
