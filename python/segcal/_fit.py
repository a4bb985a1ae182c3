# SPDX-License-Identifier: Apache-2.0
"""Fitting."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core
from ._cases import Dataset, as_cases, as_dataset
from ._files import check_output
from ._model import Model
from ._run import Listener, fill, running


def fit(logits: Any, labels: Any = None, pipeline: str = "", *, input: str | None = None,
        classes: Sequence[str] | None = None, ignore_index: int | None = None, background: int | None = None,
        mask: Any = None, image: Any = None, layout: str | None = None, name: str | None = None,
        validation: Any = None, split: str | None = None, search: int | None = None, select: str | None = None,
        seed: int | None = None, checkpoint: str | os.PathLike[str] | None = None, resume: bool | None = None,
        force: bool = False, threads: int | None = None, memory: int | None = None,
        cache_dir: str | None = None, skip_bad: bool | None = None, progress: bool | Listener | None = None) -> Model:
    """Fits a calibrator on predictions that the network was not trained on, and their labels.

    `logits` are arrays (N, C), (C, H, W), (N, C, H, W), (C, D, H, W) or (N, C, D, H, W); a list or iterator of
    them, with labels beside or as pairs; a `Dataset`, or the path of its file. Nothing is copied. `input` says
    what they are: "logits" unless stated, "log_probabilities" or "probabilities". `validation` is another pair
    (logits, labels), or the name of a split, to choose penalties and epochs by; `search` is how many trials that
    takes, `select` whether by "folds" or "validation". `pipeline="auto"` chooses a method by itself, and
    `model.notes` says why. A training keeps its state in the file `checkpoint`, which `resume=True` goes on from
    and `force=True` starts over.

    >>> import numpy as np, segcal
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(4, 3, 32, 32)).astype("float32") * 3
    >>> labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1)
    >>> model = segcal.fit(logits, labels, "ts")
    >>> 1.8 < model.temperature < 2.2
    True
    >>> probabilities = model.predict_proba(logits)
    >>> bool((probabilities.argmax(1) == logits.argmax(1)).all())
    True
    """
    if not pipeline:
        known = ", ".join(item.name for item in _core.list_calibrators())
        raise ValueError(f"pipeline: none given; a calibrator is required, for example \"ts\" or \"cms_ap(p)\" ({known})")
    fields = {"input": input, "classes": classes, "ignore_index": ignore_index, "background": background,
              "name": name}
    data = as_dataset(logits, labels, mask=mask, image=image, layout=layout, needs_labels=True, **fields)
    if validation is not None and not isinstance(validation, str):
        data, split, validation = _with_validation(data, validation, split, layout)
    with running(threads=threads, memory=memory, cache_dir=cache_dir, skip_bad=skip_bad, progress=progress) as run:
        options = fill(_core.FitOptions(), run=run, split=split, validation=validation, search=search,
                       select=select, seed=seed,
                       checkpoint=None if checkpoint is None else os.fspath(checkpoint), resume=resume)
        if options.checkpoint:
            _check_checkpoint(data, options, force)
        if pipeline == "auto":
            core, notes = _core.fit_auto(data._core, options, _core.RecommendOptions())
            return Model(core, notes=notes)
        core, skipped = _core.fit(data._core, pipeline, options)
    return Model(core, skipped)


def _check_checkpoint(data: Dataset, options: _core.FitOptions, force: bool) -> None:
    """Hours of training must not be lost because a word was forgotten."""
    check_output(options.checkpoint, _core.FileKind.checkpoint, force=force, reads=[data._core])
    if os.path.exists(options.checkpoint) and not (options.resume or force):
        raise ValueError(f"{options.checkpoint}: keeps a training that was stopped; resume=True goes on with it, "
                         f"force=True starts afresh")


def _with_validation(data: Dataset, validation: Any, split: str | None,
                     layout: str | None) -> tuple[Dataset, str, str]:
    """A data set whose cases without a split are to fit on, and those of `validation` to choose by."""
    is_pair = isinstance(validation, (tuple, list)) and len(validation) == 2
    logits, labels = validation if is_pair else (validation, None)
    core = _core.Dataset(data._core)
    core.put_into_split(split or "calibration")
    both = Dataset._of(core, list(data._arrays))
    for case in as_cases(logits, labels, layout=layout, split="validation"):
        both.add(case)
    return both, split or "calibration", "validation"
