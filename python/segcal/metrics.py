# SPDX-License-Identifier: Apache-2.0
"""Calibration and segmentation metrics of predictions, exact at any number of voxels.

One call for arrays at hand,

    segcal.metrics.ece(probabilities, labels, bins=15)

or an object for batches as they come, whose counts do not stop at 2**24 and which merges without rounding:

    metric = segcal.metrics.Metric("ece", "nll")
    for logits, labels in loader:
        metric.update(logits, labels)
    metric.compute()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._cases import as_dataset
from ._evaluate import as_text
from ._reports import reliability_bins
from ._run import fill, running


def _families() -> dict[str, str]:
    """The family of every metric."""
    return {metric.name: family.name for family in _core.list_metrics() for metric in family.metrics}


class Metric:
    """Metrics of batches as they come: `update`, `compute`, `merge`, `reset`. Values are over all voxels.

    Names are those of `segcal.list_metrics()`. Options are those of the metrics' families: bins=15. `input` says
    what is given to `update`: "probabilities" unless stated, "logits" or "log_probabilities". `pipeline` is
    how several members become one prediction, `model` a fitted one to apply first.

    >>> import numpy as np, segcal
    >>> metric = segcal.metrics.Metric("accuracy", "ece", bins=10)
    >>> metric.update(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 0]))
    >>> metric.update(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1]))
    >>> round(metric.compute()["ece"], 6), metric.labelled
    (0.25, 4)
    """

    def __init__(self, *names: str, input: str | None = None, ignore_index: int | None = None,
                 background: int | None = None, layout: str | None = None, model: Any = None,
                 pipeline: str = "none(z)", threads: int | None = None, **options: Any) -> None:
        if not names:
            raise ValueError(f"a metric: none named; there are {', '.join(_families())}")
        unknown = [name for name in names if name not in _families()]
        if unknown:
            raise ValueError(f"unknown metric {unknown[0]!r}; there are {', '.join(_families())}")
        self.names = tuple(names)
        self._given: dict[str, Any] = {"input": input or (model.input if model is not None else "probabilities"),
                       "ignore_index": ignore_index, "background": background, "layout": layout}
        self._model, self._pipeline, self._threads = model, pipeline, threads
        self._options = _family_options(names, options)
        self._sums: _core.MetricSums | None = None
        # Classes, input, ignored label and background of what was added first.
        self._like: tuple[list[str], str, int | None, int | None] | None = None

    def update(self, predictions: Any, labels: Any = None, *, mask: Any = None) -> None:
        """Adds predictions and labels, arrays as for `segcal.fit`. Where it raises, nothing is added."""
        classes = None if self._model is None else self._model.classes
        data = as_dataset(predictions, labels, mask=mask, classes=classes, needs_labels=True, **self._given)
        sums = self._sums if self._sums is not None else self._make_sums(data._core)
        sums.add(data._core)
        if self._sums is None:
            core = data._core
            self._sums, self._like = sums, (core.classes, core.input, core.ignore_label, core.background)

    def _make_sums(self, data: _core.Dataset) -> _core.MetricSums:
        model = self._model._core if self._model is not None else _core.baseline(data, self._pipeline)
        with running(threads=self._threads, progress=False) as run:
            options = fill(_core.EvaluateOptions(), run=run, families=list(self.names), metrics=self._options)
        return _core.MetricSums(model, data, options)

    def compute(self) -> dict[str, float]:
        """The metrics over all voxels so far; NaN where undefined, before the first update too."""
        values = {} if self._sums is None else {value.name: value.value for value in self._sums.values()}
        return {name: values.get(name, float("nan")) for name in self.names}

    def per_class(self) -> dict[str, np.ndarray[Any, Any]]:
        """The same by class, of the metrics that have one value for each."""
        values = [] if self._sums is None else self._sums.values()
        return {value.name: np.array(value.per_class) for value in values
                if value.name in self.names and value.per_class}

    def reliability(self) -> dict[str, np.ndarray[Any, Any]]:
        """The bins of the reliability diagram of a binned metric such as "ece"."""
        for diagram in [] if self._sums is None else self._sums.diagrams():
            if diagram.kind == "reliability" and diagram.class_index < 0:
                return reliability_bins(dict(zip(diagram.columns, np.array(diagram.rows).T)))
        raise ValueError("no reliability diagram; it needs a binned metric such as \"ece\", and an update")

    @property
    def labelled(self) -> int:
        """How many labelled voxels were added."""
        return 0 if self._sums is None else self._sums.labelled

    def merge(self, other: Metric) -> None:
        """Adds what another object, from another process perhaps, has seen."""
        if self.names != other.names or self._given != other._given or self._options != other._options:
            raise ValueError("metrics of other names or options do not add up")
        if other._sums is None:
            return
        if self._sums is None:
            self._sums, self._like = _core.MetricSums(other._sums), other._like
        else:
            self._sums.merge(other._sums)

    def fresh(self) -> Metric:
        """One of the same names and options that nothing was added to."""
        copy = Metric.__new__(Metric)
        copy.__dict__.update(self.__dict__)
        copy.reset()
        return copy

    def reset(self) -> None:
        """Forgets everything that was added."""
        self._sums = self._like = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_sums": None if self._sums is None else self._sums.pack()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._like is None:
            return
        data = _core.Dataset()
        data.classes, data.input, data.ignore_label, data.background = self._like
        self._sums = self._make_sums(data)
        self._sums.merge_packed(state["_sums"])

    def __repr__(self) -> str:
        return f"<segcal.metrics.Metric {', '.join(self.names)}: {self.labelled} voxels>"


def _family_options(names: Sequence[str], options: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Options by the families that know them."""
    known = {family.name: family.options for family in _core.list_metrics()}
    chosen = {_families()[name] for name in names}
    found: dict[str, dict[str, str]] = {}
    for key, value in options.items():
        homes = [family for family in sorted(chosen) if key in known[family]]
        if not homes:
            there = sorted({option for family in chosen for option in known[family]})
            raise TypeError(f"{key}: not an option of {', '.join(names)}; there are {', '.join(there) or 'none'}")
        for family in homes:
            found.setdefault(family, {})[key] = as_text(value)
    return found


def measure(names: Sequence[str], predictions: Any, labels: Any = None, *, mask: Any = None,
            **options: Any) -> dict[str, float]:
    """Several metrics of the same arrays in one pass; options as for `Metric`."""
    metric = Metric(*names, **options)
    metric.update(predictions, labels, mask=mask)
    return metric.compute()


def _one_shot(name: str, summary: str) -> Callable[..., float]:
    def one_shot(predictions: Any, labels: Any = None, *, mask: Any = None, **options: Any) -> float:
        return measure([name], predictions, labels, mask=mask, **options)[name]
    one_shot.__name__ = one_shot.__qualname__ = name
    one_shot.__doc__ = f"{summary[:1].upper()}{summary[1:]}, over all voxels. Arguments as for `Metric` and its `update`."
    return one_shot


# Every metric of the library is a function here: what it has tomorrow, this module has too.
_DESCRIBED = {metric.name: metric.summary for family in _core.list_metrics() for metric in family.metrics}
globals().update({name: _one_shot(name, summary) for name, summary in _DESCRIBED.items()})

__all__ = ["Metric", "measure"]
__all__ += list(_DESCRIBED)


def __getattr__(name: str) -> Callable[..., float]:
    raise AttributeError(f"no metric {name!r}; there are {', '.join(_DESCRIBED)}")
