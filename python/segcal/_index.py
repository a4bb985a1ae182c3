# SPDX-License-Identifier: Apache-2.0
"""Data sets from files that are there already."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._cases import Dataset
from ._files import check_output
from ._run import fill


def _index(file: str | os.PathLike[str], splits: Mapping[str, float] | None, force: bool, **given: Any) -> Dataset:
    options = _core.IndexOptions()
    unknown = [key for key in given if not hasattr(options, key)]
    if unknown:
        raise TypeError(f"{unknown[0]}: not an option of index")
    pairs = None if splits is None else [(key, float(part)) for key, part in splits.items()]
    reads = [*given.get("nnunet_folders", ()), given.get("label_map")]
    check_output(file, _core.FileKind.dataset, force=force, reads=reads)
    core, _ = _core.index(os.fspath(file), fill(options, splits=pairs, **given))
    core.save(check_output(file, _core.FileKind.dataset, force=force, reads=[*reads, core]))
    return Dataset.load(file)


def index(file: str | os.PathLike[str], members: str | Sequence[str], *, input: str, labels: str | None = None,
          splits: Mapping[str, float] | None = None, force: bool = False, **options: Any) -> Dataset:
    """Writes a data set file from file name patterns, as `segcal index` does, and returns the data set.

    `members` is a pattern with {case} and {member}, or one with {case} for each; `labels`, `images` and `masks`
    have {case}. Further options: classes, ignore_label, background, label_map, label_set, key, layout, batch, name,
    nnunet, allow_missing, seed. A file that is no data set is written over only with `force`.
    """
    patterns = [members] if isinstance(members, str) else list(members)
    return _index(file, splits, force, members=patterns, input=input, labels=labels, **options)


def index_nnunet(file: str | os.PathLike[str], folders: Any, *, labels: str | os.PathLike[str] | None = None,
                 splits: Mapping[str, float] | None = None, force: bool = False, **options: Any) -> Dataset:
    """Writes a data set file about predictions of nnU-Net and returns the data set.

    A folder is a trained model, whose out-of-fold validation predictions become the set to calibrate on, or
    predictions of new cases, one folder for each member. `labels` may be left out where nnU-Net keeps them.
    """
    listed = [folders] if isinstance(folders, (str, os.PathLike)) else list(folders)
    return _index(file, splits, force, nnunet_folders=[os.fspath(path) for path in listed], input="probabilities",
                  labels=None if labels is None else os.fspath(labels), **options)
