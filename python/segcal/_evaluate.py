# SPDX-License-Identifier: Apache-2.0
"""Metrics of one or several models on the same data, with tables and pictures."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._cases import Dataset, as_dataset
from ._figures import Figure, table_html
from ._files import check_output
from ._model import Model
from ._reports import Result, reliability_bins
from ._run import Listener, fill, listening, running

FORMS = {"text": _core.TableForm.text, "markdown": _core.TableForm.markdown, "latex": _core.TableForm.latex,
         "csv": _core.TableForm.csv}


class Evaluation:
    """What `evaluate` returns: metrics per pipeline and case, tables, diagrams and pictures."""

    def __init__(self, core: _core.EvaluateResult, dataset: Dataset | None = None,
                 models: Sequence[Model] = ()) -> None:
        self._core = core
        self._dataset = dataset
        self._models = list(models)
        self._content: dict[str, Any] = json.loads(core.to_json())

    @property
    def pipelines(self) -> list[str]:
        """The pipelines, in the order they were given."""
        return [entry["pipeline"] for entry in self._content["pipelines"]]

    @property
    def warnings(self) -> list[str]:
        """What a person should know."""
        return self._core.warnings

    @property
    def skipped(self) -> list[str]:
        """Cases that were left out, and why."""
        return self._core.skipped

    def _entry(self, pipeline: str | int) -> dict[str, Any]:
        if isinstance(pipeline, int):
            return dict(self._content["pipelines"][pipeline])
        for entry in self._content["pipelines"]:
            if pipeline in (entry["pipeline"], entry["pipeline"].partition("(")[0]):
                return dict(entry)
        raise KeyError(f"{pipeline!r}; there are {', '.join(self.pipelines)}")

    def __getitem__(self, pipeline: str | int) -> dict[str, float]:
        """The metrics of a pipeline: the mean over cases, or over all voxels where the metric is pooled."""
        return _numbers(self._entry(pipeline)["mean"])

    def pooled(self, pipeline: str | int) -> dict[str, float]:
        """The metrics of a pipeline over all voxels at once."""
        return _numbers(self._entry(pipeline)["pooled"])

    def per_class(self, pipeline: str | int, metric: str) -> dict[str, float]:
        """A metric by class, pooled over all voxels."""
        return dict(zip(self._content["classes"], map(_number, self._entry(pipeline)["pooled_per_class"][metric])))

    def per_case(self, pipeline: str | int) -> dict[str, dict[str, float]]:
        """The metrics of a pipeline by case."""
        return {case["case"]: _numbers(case["metrics"]) for case in self._entry(pipeline)["metric_per_case"]}

    def reliability(self, pipeline: str | int = -1) -> dict[str, np.ndarray[Any, Any]]:
        """The bins of the reliability diagram: lower, upper, count, accuracy, confidence (NaN in empty bins)."""
        bins = self._entry(pipeline)["reliability"]
        columns = {key: np.array([row[key] for row in bins]) for key in
                   ("lower", "upper", "count", "correct", "confidence_sum")}
        return reliability_bins(columns)

    def table(self, metrics: Sequence[str] = (), form: str = "text", *, per_class: bool = False,
              sort: str | None = None) -> str:
        """The numbers as a table: text, markdown, latex or csv.

        `per_class` adds a table by class; `sort` names the metric that pipelines are put in order by.
        """
        if form not in FORMS:
            raise ValueError(f"form {form!r}; one of {', '.join(FORMS)} is required")
        shown = self._core if sort is None else _core.sorted_by(self._core, sort)
        return "\n".join(_core.evaluation_tables(shown, list(metrics), FORMS[form], per_class))

    def figure(self, kind: str = "reliability", metrics: Sequence[str] = ()) -> Figure:
        """A picture that shows itself in a notebook.

        Kinds: reliability, classes, regions, risk_coverage, confusion; with statistics forest (differences from
        the reference) and pairs, whose columns are `metrics`.
        """
        makers: dict[str, Callable[[_core.EvaluateResult], str]] = {
            "reliability": _core.reliability_figure, "classes": _core.class_reliability_figure,
            "regions": _core.region_reliability_figure, "risk_coverage": _core.risk_coverage_figure,
            "confusion": _core.confusion_figure, "forest": lambda core: _core.forest_figure(core, list(metrics)),
            "pairs": lambda core: "" if core.statistics is None else _core.pair_forest_figure(
                core.statistics, core, list(metrics))}
        if kind not in makers:
            raise ValueError(f"figure {kind!r}; one of {', '.join(makers)} is required")
        svg = makers[kind](self._core)
        if not svg:
            raise ValueError(f"figure {kind!r}: its metrics were not computed")
        return Figure(svg)

    def _draw(self, maker: Callable[..., Any], case: str) -> Any:
        if self._dataset is None:
            raise ValueError("a picture of a case needs the data; this evaluation was read from a file")
        with running(progress=False) as run:
            options = fill(_core.CaseFigureOptions(), run=run, case_id=case)
            return maker(self._dataset._core, [model._core for model in self._models], self._core, options)

    def case_figure(self, case: str = "") -> Figure:
        """A slice of one case: labels, prediction, errors, confidence before and after."""
        return Figure(self._draw(_core.case_figure, case))

    def figures(self, case: str = "") -> dict[str, Figure]:
        """All pictures that there are numbers for, by the file names that `segcal evaluate --figures` gives them."""
        return {name: Figure(svg) for name, svg in self._draw(_core.evaluation_figures, case)}

    def to_dict(self) -> dict[str, Any]:
        """Everything, as the file of `segcal evaluate -o` has it."""
        return dict(self._content)

    def to_json(self) -> str:
        """The same as text."""
        return self._core.to_json()

    def to_csv(self) -> str:
        """A row per pipeline and case, and the aggregates."""
        return self._core.to_csv()

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the metrics file; over a file that is none, or that was read, only with `force`."""
        reads = [model._core.file for model in self._models]
        data = [] if self._dataset is None else [self._dataset._core]
        _core.write_text(check_output(path, _core.FileKind.metrics, force=force, reads=[*reads, *data]), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Evaluation:
        """Reads a metrics file."""
        with open(path, encoding="utf-8") as file:
            return cls(_core.EvaluateResult.from_json(file.read(), os.fspath(path)))

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return table_html(self.table(form="csv"))


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _numbers(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: _number(value) for name, value in values.items()}


def evaluate(models: Any, logits: Any, labels: Any = None, *, metrics: Sequence[str] | None = None,
             options: Mapping[str, Mapping[str, Any]] | None = None, statistics: bool | Mapping[str, Any] = False,
             baselines: bool = False, input: str | None = None, classes: Sequence[str] | None = None,
             ignore_index: int | None = None, background: int | None = None, mask: Any = None, image: Any = None,
             layout: str | None = None, name: str | None = None, split: str | None = None,
             threads: int | None = None, memory: int | None = None, skip_bad: bool | None = None,
             progress: bool | Listener | None = None) -> Evaluation:
    """All metrics of models, or of uncalibrated baselines such as "none(z)", in one pass over the predictions.

    `logits` and `labels` are as for `fit`. `metrics` names metrics or families; None is all but those that keep
    every voxel in memory. `options` are those of families: {"calibration_error": {"bins": 15}}. `statistics`
    adds intervals and tests over cases: True, or a dictionary with replicates, level, seed, reference, metrics,
    pairs [(first, second)] and test ("wilcoxon", "mann_whitney"). `baselines` adds the uncalibrated prediction
    of every pooling, which pictures show as "before".

    >>> import numpy as np, segcal
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(4, 3, 32, 32)).astype("float32") * 3
    >>> labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)
    >>> model = segcal.fit(logits[:2], labels[:2], "ts")
    >>> result = segcal.evaluate(["none(z)", model], logits[2:], labels[2:])
    >>> result["ts"]["nll"] < result["none"]["nll"]
    True
    """
    listed = [models] if isinstance(models, (Model, str)) else list(models)
    if not listed:
        raise ValueError("models: none; a model or a baseline such as \"none(z)\" is required")
    fitted = [model for model in listed if isinstance(model, Model)]
    if not isinstance(logits, (Dataset, str, os.PathLike)) and fitted:
        input = input or fitted[0].input
        classes = classes if classes is not None else fitted[0].classes
    data = as_dataset(logits, labels, mask=mask, image=image, layout=layout, input=input, classes=classes,
                      ignore_index=ignore_index, background=background, name=name, needs_labels=True)
    if split is not None:  # pictures show cases of it alone
        data = data.split(split)
    chosen = [Model(_core.baseline(data._core, model)) if isinstance(model, str) else model for model in listed]
    if baselines:
        chosen = [Model(core) for core in _core.with_baselines(data._core, [model._core for model in chosen])]
    families = None if metrics is None else list(metrics)
    with running(threads=threads, memory=memory, skip_bad=skip_bad, progress=progress) as run:
        settings = fill(_core.EvaluateOptions(), run=run, split=split, metrics=as_texts(options), families=families)
        result = _core.evaluate(data._core, [model._core for model in chosen], settings)
    if statistics:
        given = {"metrics": _core.table_metrics(result, families or []),
                 **({} if statistics is True else dict(statistics))}
        with listening(progress) as listener:
            result.statistics = _core.compute_statistics(
                [result], fill(_core.StatisticsOptions(), threads=threads, **given), listener)
    return Evaluation(result, data, chosen)


def as_text(value: Any) -> str:
    """An option as the library reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(as_text, value))
    return str(value)


def as_texts(options: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, str]] | None:
    """Options of families of metrics as the library reads them."""
    if options is None:
        return None
    return {family: {key: as_text(value) for key, value in values.items()} for family, values in options.items()}


class Inspection(Result):
    """What `inspect` found in a data set: `cases`, `classes`, `label_counts`, `free_energy`, `methods`, `warnings`."""

    def __init__(self, core: _core.DatasetSummary, dataset: Dataset) -> None:
        super().__init__(json.loads(core.to_json()))
        self.__dict__.update(_core=core, _dataset=dataset)

    def figure(self, cases: Sequence[str] = ()) -> Figure:
        """The free energy of some cases, a slice of each, under the spread over all."""
        with running(progress=False) as run:
            options = fill(_core.FreeEnergyFigureOptions(), run=run, case_ids=list(cases))
            return Figure(_core.free_energy_figure(self.__dict__["_dataset"]._core, self.__dict__["_core"], options))


def inspect(logits: Any, labels: Any = None, *, threads: int | None = None, memory: int | None = None,
            progress: bool | Listener | None = None, **fields: Any) -> Inspection:
    """What is in a data set: shapes, class balance, free energy, and what each method would fit."""
    data = as_dataset(logits, labels, **fields)
    with running(threads=threads, memory=memory, progress=progress) as run:
        return Inspection(_core.inspect(data._core, run), data)


def simulate(folder: str | os.PathLike[str], *, progress: bool | Listener | None = None, **options: Any) -> Dataset:
    """Writes a data set whose true probabilities are known, as `segcal simulate` does, and returns it.

    Options are those of the command: preset, num_cases, num_members, num_classes, size, seed, true_map,
    temperature, variation, correlation, offset, member_noise, ignore_fraction, splits.
    """
    chosen = _core.SimulateOptions()
    unknown = [key for key in options if not hasattr(chosen, key)]
    if unknown:
        raise TypeError(f"{unknown[0]}: not an option of simulate")
    with listening(progress) as listener:
        _core.simulate(os.fspath(folder), fill(chosen, **options), listener)
    return Dataset.load(folder)
