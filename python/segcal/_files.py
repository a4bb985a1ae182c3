# SPDX-License-Identifier: Apache-2.0
"""What keeps calls from writing over what they read, or over files of another kind; `force=True` allows both."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _core


def check_output(path: str | os.PathLike[str], kind: _core.FileKind, *, force: bool, reads: Iterable[Any] = ()) -> str:
    """The path as text, if it may be written; `reads` are the files and data sets that it must not be one of."""
    check = _core.OutputCheck(force)
    for source in reads:
        if isinstance(source, _core.Dataset):
            check.reads_dataset(source)
        elif source:
            check.reads(os.fspath(source))
    check.writes(os.fspath(path), kind)
    return os.fspath(path)
