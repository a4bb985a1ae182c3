# SPDX-License-Identifier: Apache-2.0
"""A whole study: many pipelines, several partitions, statistics, and what to ship."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._cases import Dataset, as_dataset
from ._evaluate import FORMS, Evaluation, as_texts
from ._figures import Figure, table_html
from ._model import Model, load
from ._report import Report
from ._reports import Result
from ._run import Listener, fill, running


class Study:
    """What `compare` returns: pipelines, repeats, statistics, tables, and a recommendation with its reasons."""

    def __init__(self, core: _core.Study, folder: str | os.PathLike[str] | None = None) -> None:
        self._core = core
        self.folder: str | None = None if folder is None else os.fspath(folder)
        """Where its models and files are, if it was stored."""
        self._content: dict[str, Any] = json.loads(core.to_json())

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Study:
        """Reads the folder that `compare` or `segcal compare` has written."""
        path = os.path.join(os.fspath(folder), "study.json")
        with open(path, encoding="utf-8") as file:
            return cls(_core.Study.from_json(file.read(), path), folder)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes study.json, cases.csv and tables; `compare(folder=...)` has done so, and keeps the models too."""
        _core.write_study(os.fspath(folder), self._core)

    @property
    def pipelines(self) -> list[str]:
        """The pipelines that every repeat has, baselines first."""
        return [entry["pipeline"] for entry in self._content["pipelines"]]

    @property
    def recommendation(self) -> Result:
        """What to ship: `pipeline`, `reasons`, `warnings`, `candidates`, `commands`."""
        return Result(self._content["recommendation"])

    @property
    def warnings(self) -> list[str]:
        """What a person should know, pipelines that failed among it."""
        failed = [f"{item['pipeline']} failed ({item['stage']}): {item['reason']}" for item in self._content["failures"]]
        return [*self._content["warnings"], *failed]

    @property
    def model(self) -> Model:
        """The recommended model, fitted on all cases; of a study that was stored."""
        if self.folder is None:
            raise ValueError("the models of this study were not kept; compare(..., folder=...) keeps them")
        return load(os.path.join(self.folder, "recommended.json"))

    @property
    def repeats(self) -> list[Evaluation]:
        """The metrics of every repeat on its test cases."""
        return [Evaluation(core) for core in self._core.repeats]

    @property
    def tables(self) -> dict[str, str]:
        """Names and titles of its tables."""
        return {table.name: table.title for table in _core.study_tables(self._core)}

    def table(self, name: str = "results", form: str = "text") -> str:
        """One of its tables as text, markdown, latex or csv."""
        if form not in FORMS:
            raise ValueError(f"form {form!r}; one of {', '.join(FORMS)} is required")
        for table in _core.study_tables(self._core):
            if table.name == name:
                return table.render(FORMS[form])
        raise ValueError(f"table {name!r}; one of {', '.join(self.tables)} is required")

    def figure(self, metrics: Sequence[str] = ()) -> Figure:
        """Its matched pairs: differences with their intervals, a column per metric."""
        svg = _core.pair_forest_figure(self._core.statistics, self._core.repeats[0], list(metrics))
        if not svg:
            raise ValueError("the study has no pairs to draw; compare(..., pairs=[(first, second)]) names them")
        return Figure(svg)

    def report(self, **options: Any) -> Report:
        """The page of the study; options as for `segcal.report`."""
        from ._report import report
        return report(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as study.json has it."""
        return dict(self._content)

    def to_json(self) -> str:
        """The same as text."""
        return self._core.to_json()

    def to_csv(self) -> str:
        """A row per repeat, pipeline and case."""
        return self._core.cases_csv()

    def __repr__(self) -> str:
        chosen = self.recommendation["pipeline"]
        return self.table() + (f"\nRecommended: {chosen}" if chosen else "\nNothing can be recommended.")

    def _repr_html_(self) -> str:
        chosen = self.recommendation["pipeline"]
        return table_html(self.table(form="csv")) + (f"<p>Recommended: <code>{chosen}</code></p>" if chosen else "")


def _split_options(split: str | Sequence[float] | None, repeats: int | None) -> dict[str, Any]:
    if split == "own":
        return {"repeats": 1}
    if isinstance(split, str):
        raise ValueError(f"split {split!r}; three numbers, or \"own\" for the data set's own splits, are required")
    return {"repeats": repeats, "split": None if split is None else [float(part) for part in split]}


def _call(given: Mapping[str, Any]) -> str:
    """The call as run.json keeps it, for whoever asks where a folder came from."""
    return "segcal.compare(" + ", ".join(f"{key}={value!r}" for key, value in given.items() if value is not None) + ")"


def _store(study: _core.Study, folder: str, data: Dataset, shifts: Mapping[str, Dataset], call: str) -> None:
    run = _core.StudyRun()
    run.dataset = os.path.abspath(data._core.file) if data._core.file else ""
    run.shifts = [(name, os.path.abspath(shift._core.file)) for name, shift in shifts.items() if shift._core.file]
    run.command = call
    _core.write_study(folder, study)
    _core.write_text(os.path.join(folder, "run.json"), run.to_json())


def compare(logits: Any, labels: Any = None, pipelines: str | Sequence[str] | None = None, *,
            folder: str | os.PathLike[str] | None = None, resume: bool | None = None, repeats: int | None = None,
            split: str | Sequence[float] | None = None, seed: int | None = None, search: int | None = None,
            select: str | None = None, metrics: Sequence[str] | None = None,
            options: Mapping[str, Mapping[str, Any]] | None = None, pairs: Sequence[tuple[str, str]] | None = None,
            replicates: int | None = None, level: float | None = None, paper_objective: bool | None = None,
            calibration_cases: Sequence[int] | None = None, ece_bins: Sequence[int] | None = None,
            ace_bins: Sequence[int] | None = None, ensemble_sizes: Sequence[int] | None = None,
            shifts: Mapping[str, Any] | None = None, score: str | None = None, preserve: str | None = None,
            allow_offsets: bool | None = None, input: str | None = None, classes: Sequence[str] | None = None,
            ignore_index: int | None = None, background: int | None = None, layout: str | None = None,
            name: str | None = None, threads: int | None = None, memory: int | None = None,
            cache_dir: str | None = None, skip_bad: bool | None = None,
            progress: bool | Listener | None = None) -> Study:
    """The protocol of the main paper, as `segcal compare` runs it: which calibrator to ship, and how sure that is.

    `logits` and `labels` are as for `fit`. `pipelines` are pipelines and named sets; "paper" unless stated. For
    each of `repeats` partitions of the cases every pipeline is fitted on calibration cases and measured on test
    cases. `split` are three numbers or proportions of cases, or "own" for the data set's splits. `folder` keeps
    models, tables and study.json; what is finished there, `resume=True` goes on with. `pairs` are compared case
    by case; `shifts` names other data sets that the models are evaluated on as they are. `score`, `preserve`
    and `allow_offsets` say what is recommended.

    >>> import numpy as np, segcal
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(6, 3, 24, 24)).astype("float32") * 3
    >>> labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)
    >>> study = segcal.compare(logits, labels, ["ts(z)"], repeats=1, replicates=100)
    >>> study.recommendation.pipeline
    'ts(z)'
    >>> study.pipelines
    ['none(z0)', 'none(p)', 'none(z)', 'ts(z)']
    """
    call = {key: value for key, value in locals().items()
            if key not in ("logits", "labels", "shifts", "progress", "threads", "memory", "cache_dir")}
    data = as_dataset(logits, labels, layout=layout, input=input, classes=classes, ignore_index=ignore_index,
                      background=background, name=name, needs_labels=True)
    others = {key: value if isinstance(value, Dataset) else as_dataset(*(value if isinstance(value, tuple) else [value]))
              for key, value in (shifts or {}).items()}
    listed = [pipelines] if isinstance(pipelines, str) else pipelines
    stored = None if folder is None else os.fspath(folder)
    recommend = fill(_core.RecommendOptions(), score=score, preserves=preserve,
                     translation_invariant=None if allow_offsets is None else not allow_offsets)
    if stored is not None:
        _core.create_folder(stored)
    with running(threads=threads, memory=memory, cache_dir=cache_dir, skip_bad=skip_bad, progress=progress) as run:
        chosen = fill(_core.CompareOptions(), run=run, pipelines=None if listed is None else list(listed),
                      seed=seed, search=search, select=select, families=None if metrics is None else list(metrics),
                      metrics=as_texts(options), pairs=None if pairs is None else [tuple(pair) for pair in pairs],
                      replicates=replicates, level=level, paper_objective=paper_objective,
                      calibration_cases=calibration_cases, ece_bins=ece_bins, ace_bins=ace_bins,
                      members=ensemble_sizes, recommend=recommend, folder=stored, resume=resume,
                      **_split_options(split, repeats))
        for key, other in others.items():
            chosen.add_shift(key, other._core)
        study = _core.compare(data._core, chosen)
    if stored is not None:
        _store(study, stored, data, others, _call(call))
    return Study(study, stored)
