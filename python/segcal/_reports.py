# SPDX-License-Identifier: Apache-2.0
"""Results as dictionaries with names, that show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np


class Result(dict[str, Any]):
    """A result as its JSON has it; every key is also an attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def rows_html(rows: list[tuple[str, Any]]) -> str:
    """A table of two columns."""
    cells = "".join(f"<tr><th style='text-align:left'>{escape(key)}</th><td>{escape(str(value))}</td></tr>"
                    for key, value in rows)
    return f"<table>{cells}</table>"


def reliability_bins(columns: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Bins with their accuracy and mean confidence, NaN in empty ones, from the sums of a diagram."""
    filled = np.where(columns["count"] > 0, columns["count"], np.nan)
    return {"lower": columns["lower"], "upper": columns["upper"], "count": columns["count"],
            "accuracy": columns["correct"] / filled, "confidence": columns["confidence_sum"] / filled}


class FitReport(Result):
    """How a fit went: `status`, `nll_before`, `nll_after`, `passes`, `certificates`, `warnings`, `data`."""

    @property
    def converged(self) -> bool:
        """Whether the certificates prove the optimum, or that it lies at the edge of what is allowed."""
        return self["status"] in ("converged", "at_bound")

    def _repr_html_(self) -> str:
        residual = max((item["gradient"] for item in self.get("certificates", [])), default=None)
        rows = [("status", self["status"]), ("NLL before", f"{self['nll_before']:.5f}"),
                ("NLL after", f"{self['nll_after']:.5f}"), ("passes over the data", self["passes"])]
        if residual is not None:
            rows.append(("optimality residual", f"{residual:.1e}"))
        return rows_html(rows + [("warning", text) for text in self.get("warnings", [])])


class Verification(Result):
    """What `verify` found; true where everything that the model declares holds."""

    def __bool__(self) -> bool:
        return bool(self["holds"])

    def _repr_html_(self) -> str:
        rows = [(f"{check['name']}, {check['input']}, {check['output']}",
                 f"{check['violations']} of {check['voxels']} voxels" + ("" if check["declared"] else " (not declared)"))
                for check in self["checks"]]
        return rows_html([("holds", "yes" if self["holds"] else "no"), *rows])
