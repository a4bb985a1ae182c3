# SPDX-License-Identifier: Apache-2.0
"""Options of the library from keywords, and progress. What a keyword leaves out, the library decides."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from . import _core

Listener = Callable[[str, int, int, str], "bool | None"]


def fill(options: Any, **given: Any) -> Any:
    """Sets the options that were given; None leaves the library's own value."""
    for name, value in given.items():
        if value is None:
            continue
        try:
            setattr(options, name, value)
        except (TypeError, OverflowError) as error:
            kind = type(getattr(options, name)).__name__.replace("NoneType", "int")
            raise TypeError(f"{name}: {value!r}; a value of type {kind} within its range is required") from error
    return options


class _Bar:
    """A bar of tqdm, shown once the work has taken a moment."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int, detail: str) -> None:
        if time.monotonic() - self._began < 0.5 or total <= 0:
            return
        if stage != self._stage:
            self.close()
            self._bar = import_module("tqdm.auto").tqdm(total=total, desc=stage, unit_scale=True, leave=False, file=sys.stderr)
            self._stage = stage
        self._bar.n = min(done, total)
        if detail:
            self._bar.set_postfix_str(detail, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _somebody_watches() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def listening(progress: bool | Listener | None) -> Iterator[Listener | None]:
    """What the library tells its progress: a function of the caller, a bar, or nobody.

    None is a bar where tqdm is installed and somebody watches.
    """
    if callable(progress):
        yield progress
        return
    if progress is None:
        progress = find_spec("tqdm") is not None and _somebody_watches()
    if not progress:
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


@contextmanager
def running(threads: int | None = None, memory: int | None = None, cache_dir: str | None = None,
            skip_bad: bool | None = None, progress: bool | Listener | None = None) -> Iterator[_core.RunOptions]:
    """How to go through data, while a call lasts. Ctrl-C stops it in any case."""
    run = fill(_core.RunOptions(), threads=threads, memory=memory, cache_dir=cache_dir, skip_bad=skip_bad)
    with listening(progress) as listener:
        run.listen(listener)
        yield run
