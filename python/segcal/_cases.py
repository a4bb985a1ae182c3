# SPDX-License-Identifier: Apache-2.0
"""Cases and data sets: arrays in memory, files, or both."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._arrays import as_array, find_layout, is_array
from ._core import Dataset as CoreDataset
from ._core import Model as CoreModel
from ._files import check_output


class Members(tuple[Any, ...]):
    """The predictions of the members of an ensemble for the same images: `Members(a, b, c)`."""

    def __new__(cls, *members: Any) -> Members:
        return super().__new__(cls, members)


@dataclass
class Case:
    """One image or volume, or a batch of them; every array may also be the path of a file.

    `mask` is true, or not zero, where voxels take part. `group` keeps cases of one patient on one side of a
    split.
    """

    members: Any
    labels: Any = None
    mask: Any = None
    image: Any = None
    spacing: Sequence[float] = field(default_factory=tuple)
    id: str = ""
    group: str = ""
    split: str = ""
    layout: str | None = None


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


class Described:
    """What data sets and models both say about predictions."""

    __slots__ = ()
    _core: CoreDataset | CoreModel

    @property
    def classes(self) -> list[str]:
        """Names of the classes, in the order of channels."""
        return self._core.classes

    @property
    def input(self) -> str:
        """What predictions are: "logits", "log_probabilities" or "probabilities"."""
        return self._core.input


class Dataset(Described):
    """A list of cases and what they share; `Dataset.load(path)` reads one that `segcal index` has written.

    Arrays are not copied and must stay as they are while the data set is used. `colors` are "#rrggbb" of every
    class, for pictures.

    >>> import numpy as np, segcal
    >>> data = segcal.Dataset([(np.zeros((3, 8, 8)), np.zeros((8, 8), int))] * 4, classes=["sky", "road", "car"])
    >>> parts = data.with_splits({"calibration": 0.5, "test": 0.5}, seed=1)
    >>> len(parts.split("test")), data.classes[2]
    (2, 'car')
    """

    _core: CoreDataset

    def __init__(self, cases: Iterable[Any] = (), *, classes: Sequence[str] | None = None, input: str = "logits",
                 ignore_index: int | None = None, background: int | None = None, name: str = "",
                 label_map: Mapping[int, int] | None = None, colors: Sequence[str] | None = None) -> None:
        self._core = _core.Dataset()
        self._arrays: list[Any] = []  # what the cases are views of
        self._core.name = name
        self._core.input = input
        self._core.ignore_label = ignore_index
        self._core.background = background
        if label_map:
            self._core.label_map = dict(label_map)
        if classes is not None:
            self._core.classes = [str(label) for label in classes]
        if colors is not None:
            self._core.colors = [str(color) for color in colors]
        for entry in cases:
            self.add(entry)

    @classmethod
    def _of(cls, core: CoreDataset, arrays: list[Any]) -> Dataset:
        self = cls.__new__(cls)
        self._core, self._arrays = core, arrays
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Reads a data set file, or the dataset.json of a folder."""
        return cls._of(_core.load_dataset(os.fspath(path)), [])

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the data set file; all arrays must be files. Over what is no data set only with `force`."""
        self._core.save(check_output(path, _core.FileKind.dataset, force=force))

    def add(self, entry: Any, labels: Any = None) -> None:
        """Adds a `Case`, a prediction with its labels, or a pair of them; a batch becomes a case for each image."""
        for case in _split_batch(_as_case(entry, labels), len(self._core.classes) or None):
            self._add_single(case)

    def _add_single(self, case: Case) -> None:
        members = [self._source(member) for member in case.members]
        if not self._core.classes:
            if _is_path(members[0]):
                raise ValueError("classes: none given; they are required where the first prediction is a file")
            self._core.classes = _core.numbered_classes(members[0].shape[0])
        self._core.add(_core.Case(id=case.id or str(len(self)), members=members, labels=self._source(case.labels),
                                  image=self._source(case.image), mask=self._source(case.mask),
                                  spacing=[float(step) for step in case.spacing], group=case.group, split=case.split))

    def _source(self, value: Any) -> Any:
        if value is None or _is_path(value):
            return value if value is None else os.fspath(value)
        self._arrays.append(value)
        return value

    @property
    def name(self) -> str:
        """Name of the data set, as models remember it."""
        return self._core.name

    @property
    def colors(self) -> list[str]:
        """Colours of the classes in pictures, "#rrggbb" each; empty where they are ours."""
        return self._core.colors

    @property
    def ignore_index(self) -> int | None:
        """The label of voxels that take no part."""
        return self._core.ignore_label

    @property
    def ids(self) -> list[str]:
        """Names of the cases."""
        return [case.id for case in self._core.cases]

    def split(self, name: str) -> Dataset:
        """The cases of one split."""
        return self._of(self._core.select(name), self._arrays)

    def with_splits(self, proportions: Mapping[str, float], seed: int) -> Dataset:
        """The same cases, assigned to splits at random, whole groups at a time."""
        core = _core.Dataset(self._core)
        core.assign_splits([(key, float(part)) for key, part in proportions.items()], seed)
        return self._of(core, self._arrays)

    def __len__(self) -> int:
        return len(self._core.cases)

    def __repr__(self) -> str:
        return f"<segcal.Dataset {self.name!r}: {len(self)} cases, {len(self.classes)} classes, {self.input}>"


def _as_case(entry: Any, labels: Any) -> Case:
    if isinstance(entry, Case):
        if labels is not None:
            raise ValueError("labels: given beside a Case, which has its own")
        return entry
    if isinstance(entry, (tuple, list)) and not isinstance(entry, Members) and labels is None:
        if len(entry) != 2:
            raise ValueError(f"a case of {len(entry)} parts; a prediction, a pair (prediction, labels) or a Case is required")
        entry, labels = entry
    return Case(entry, labels)


def members_of(case: Case) -> list[Any]:
    """The predictions of a case: of several members, or one."""
    several = isinstance(case.members, (Members, list, tuple)) and not _is_numbers(case.members)
    members = list(case.members) if several else [case.members]
    if not members:
        raise ValueError("members: none; at least one prediction is required")
    return members


def _split_batch(case: Case, num_classes: int | None) -> list[Case]:
    """A case for each image of a batch, arrays with classes first; files are one case."""
    members = members_of(case)
    if all(_is_path(member) for member in members):
        return [_replaced(case, members, case.labels, case.mask, case.image, "")]
    if any(_is_path(member) for member in members):
        raise ValueError("members: files and arrays in one case; give one or the other")
    arrays = [as_array(member, "logits") for member in members]
    labels, mask, image = (value if value is None or _is_path(value) else as_array(value, name) for name, value in
                           (("labels", case.labels), ("mask", case.mask), ("image", case.image)))
    layout = find_layout(arrays[0].shape, getattr(labels, "shape", None), num_classes, case.layout, "logits")
    per_member = [layout.cases(array) for array in arrays]
    count = len(per_member[0])
    if any(len(cases) != count for cases in per_member):
        raise ValueError(f"members: {[len(cases) for cases in per_member]} images; the same number is required of all")
    parts = []
    for name, value in (("labels", labels), ("mask", mask), ("image", image)):
        if value is not None and layout.batched and (_is_path(value) or len(value) != count):
            raise ValueError(f"{name}: {getattr(value, 'shape', 'a file')} for {count} images; one for each is required")
        parts.append([value] * count if value is None or _is_path(value) else layout.parts(value))
    batch = count if layout.batched else 0
    return [_replaced(case, [cases[i] for cases in per_member], parts[0][i], parts[1][i], parts[2][i],
                      f"_{i}" if batch and case.id else "") for i in range(count)]


def _replaced(case: Case, members: list[Any], labels: Any, mask: Any, image: Any, suffix: str) -> Case:
    return Case(members, labels, mask, image, case.spacing, case.id + suffix, case.group, case.split)


def _is_numbers(value: Any) -> bool:
    """Whether a list is an array written out, not a list of cases."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and not isinstance(value, Members) and (
        isinstance(value[0], (int, float)) or _is_numbers(value[0]))


def _is_unlabelled(logits: Any) -> bool:
    """Whether these are predictions alone, which nothing else comes with."""
    return is_array(logits) or isinstance(logits, Members) or _is_numbers(logits)


def _listed(value: Any, count: int, name: str) -> list[Any]:
    if value is None:
        return [None] * count
    items = list(value)
    if len(items) != count:
        raise ValueError(f"{name}: {len(items)} for {count} cases; one for each is required")
    return items


def as_cases(logits: Any, labels: Any = None, mask: Any = None, image: Any = None, layout: str | None = None,
             split: str = "") -> Iterator[Case]:
    """Cases from one array, a list, or anything that can be iterated over."""
    if is_array(logits) or isinstance(logits, (Members, Case)) or _is_numbers(logits):
        case = _as_case(logits, labels) if isinstance(logits, Case) else Case(logits, labels, mask, image)
        yield _with(case, layout, split)
        return
    if not isinstance(logits, Iterable):
        raise ValueError(f"logits: {type(logits).__name__}; arrays, a list of them, a Dataset or its file are required")
    if labels is None and mask is None and image is None:
        for entry in logits:
            yield _with(_as_case(entry, None) if not is_array(entry) else Case(entry), layout, split)
        return
    entries = list(logits)
    columns = [_listed(value, len(entries), name) for name, value in
               (("labels", labels), ("mask", mask), ("image", image))]
    for entry, *rest in zip(entries, *columns):
        yield _with(entry if isinstance(entry, Case) else Case(entry, *rest), layout, split)


def _with(case: Case, layout: str | None, split: str) -> Case:
    return Case(case.members, case.labels, case.mask, case.image, case.spacing, case.id, case.group,
                case.split or split, case.layout or layout)


def as_dataset(logits: Any, labels: Any = None, *, mask: Any = None, image: Any = None, layout: str | None = None,
               needs_labels: bool = False, **fields: Any) -> Dataset:
    """A data set from whatever callers have: a Dataset, its file, or arrays."""
    if isinstance(logits, Dataset) or _is_path(logits):
        given = [name for name, value in {"labels": labels, "mask": mask, "image": image, "layout": layout,
                                          **fields}.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]}: given beside a data set, which has its own")
        return logits if isinstance(logits, Dataset) else Dataset.load(logits)
    if needs_labels and labels is None and _is_unlabelled(logits):
        raise ValueError("labels: none given; predictions with their labels are required")
    stated = {name: value for name, value in fields.items() if value is not None}
    return Dataset(as_cases(logits, labels, mask, image, layout), **stated)
