# SPDX-License-Identifier: Apache-2.0
"""Pictures and tables that show themselves in a notebook."""

from __future__ import annotations

import csv
import io
import os
from html import escape

from . import _core
from ._files import check_output


class Figure:
    """A picture as SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the file; over one that is no figure of ours only with `force`."""
        _core.write_text(check_output(path, _core.FileKind.figure, force=force), self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<segcal.Figure: SVG of {len(self.svg)} characters; save(path) writes it>"


def table_html(text: str) -> str:
    """A table in CSV as HTML; numbers with five digits."""
    header, *rows = csv.reader(io.StringIO(text))
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(_short(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows if row)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _short(cell: str) -> str:
    try:
        return f"{float(cell):.5g}"
    except ValueError:
        return cell
