# SPDX-License-Identifier: Apache-2.0
"""The page of a study."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from . import _core
from ._files import check_output
from ._run import Listener, fill, running

if TYPE_CHECKING:
    from ._study import Study


class Report:
    """One HTML page that needs no other file and no network."""

    def __init__(self, core: _core.ReportResult) -> None:
        self.html: str = core.html
        """The whole page."""
        self.explored: int = core.explored
        """How many cases can be looked at in it."""
        self.missing: str = core.missing
        """Why there are none; empty where there are, or none were asked for."""

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the page; over a file that is none of ours only with `force`."""
        _core.write_text(check_output(path, _core.FileKind.page, force=force), self.html)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:800px;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<segcal.Report: {len(self.html) / 1e6:.1f} MB, {self.explored} cases to look at; save(path) writes it>"


def report(study: Study | str | os.PathLike[str], *, dataset: str | os.PathLike[str] | None = None,
           cases: int | None = None, case_ids: Sequence[str] | None = None, max_bytes: int | None = None,
           threads: int | None = None, memory: int | None = None,
           progress: bool | Listener | None = None) -> Report:
    """The page of a study, as `segcal report` writes it: verdict, tables, figures, and cases to look at.

    `study` is what `compare` returned, or the folder it wrote. Cases are read from the files of the study's data
    set, or of `dataset` where that has moved; a study of arrays in memory has none to show.

    >>> import numpy as np, segcal
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(6, 3, 16, 16)).astype("float32") * 3
    >>> labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)
    >>> page = segcal.report(segcal.compare(logits, labels, "ts(z)", repeats=1, replicates=100))
    >>> page.html.startswith("<!doctype html>")
    True
    """
    with running(threads=threads, memory=memory, progress=progress) as run:
        options = fill(_core.ReportOptions(), run=run, dataset=None if dataset is None else os.fspath(dataset),
                       cases=cases, case_ids=None if case_ids is None else list(case_ids), max_bytes=max_bytes)
        folder = study if isinstance(study, (str, os.PathLike)) else study.folder
        if folder is not None:
            return Report(_core.make_report(os.fspath(folder), options))
        with tempfile.TemporaryDirectory() as made:
            assert not isinstance(study, (str, os.PathLike))
            study.save(made)
            return Report(_core.make_report(made, options))
