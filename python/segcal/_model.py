# SPDX-License-Identifier: Apache-2.0
"""Fitted calibrators: load, apply to arrays and files, verify, save."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Layout, as_array, as_output, find_layout, is_array, like, memory_of
from ._cases import Case, Described, Members, _is_numbers, as_dataset, members_of
from ._core import Model as CoreModel
from ._files import check_output
from ._onnx import to_onnx as _to_onnx
from ._reports import FitReport, Verification
from ._run import Listener, fill, running

PER_CLASS = "probabilities"


class Model(Described):
    """What `fit` and `load` return: a map from predictions to probabilities one can trust. Immutable."""

    __slots__ = ("_core", "notes", "skipped")

    _core: CoreModel

    def __init__(self, core: CoreModel, skipped: Sequence[str] = (), notes: Sequence[str] = ()) -> None:
        self._core = core
        self.skipped: tuple[str, ...] = tuple(skipped)
        """Cases that the fit left out, and why (`skip_bad=True`)."""
        self.notes: tuple[str, ...] = tuple(notes)
        """Why `fit(..., "auto")` has chosen this method, and what may void that."""

    @property
    def pipeline(self) -> str:
        """The calibrator, its pooling and its options: "ts(z)"."""
        return self._core.pipeline

    @property
    def preserves(self) -> str:
        """What it promises about the order of classes: "none", "argmax" or "order"."""
        return self._core.preserves

    @property
    def translation_invariant(self) -> bool:
        """Whether an offset added to all logits of a voxel changes nothing."""
        return self._core.translation_invariant

    @property
    def temperature(self) -> float | None:
        """The temperature of methods that have a single one, else None."""
        beta = self._core.inverse_temperature
        return None if beta is None else (float("inf") if beta == 0 else 1 / beta)

    @property
    def num_parameters(self) -> int:
        """How many numbers the fit has set."""
        return self._core.num_parameters[0]

    @property
    def report(self) -> FitReport:
        """How the fit went: likelihood before and after, solver, proof of optimality, warnings."""
        return FitReport(json.loads(self._core.report))

    def to_json(self) -> str:
        """The model file as text; the same as `segcal fit` writes, byte for byte."""
        return self._core.to_json()

    @classmethod
    def from_json(cls, text: str) -> Model:
        """A model from the text of its file."""
        return cls(_core.Model.from_json(text, "model"))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the model file: it appears complete or not at all, and over what is no model only with `force`."""
        self._core.save(check_output(path, _core.FileKind.model, force=force))

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, outputs: Sequence[str] | None = None,
                members: int | None = None, spatial_axes: int | None = None, dtype: Any = None, opset: int | None = None,
                pool_dtype: Any = None, prefix: str | None = None, append_to: Any = None,
                output_name: str | Sequence[str] | None = None, keep_output: bool | None = None,
                image_name: str | None = None, force: bool = False) -> bytes | None:
        """An ONNX graph that does what the model does, as `segcal export`: its bytes, or the file `path`.

        `outputs` are of "probabilities", "labels" and "confidence"; `spatial_axes` 2 or 3; `members` inputs are
        pooled inside. `append_to`, a path, bytes or an onnx.ModelProto, is a segmenter to put the calibrator
        behind; `output_name` is its output that becomes calibrated ("logits" unless stated; one for each
        member), and stays an output with `keep_output`. A file that is read, or is no graph with a calibrator
        of ours, is written over only with `force`.

        >>> import numpy as np, segcal
        >>> rng = np.random.default_rng(0)
        >>> logits = rng.normal(size=(500, 3)).astype("float32")
        >>> model = segcal.fit(logits, logits.argmax(1) * (rng.random(500) < 0.8), "ts")
        >>> graph = model.to_onnx(outputs=["probabilities", "labels"], spatial_axes=3)
        >>> isinstance(graph, bytes)
        True
        """
        return _to_onnx(self._core, path, append_to, {"members": members, "dtype": dtype, "opset": opset},
                        {"output_name": output_name, "keep_output": keep_output, "image_name": image_name}, dtype,
                        pool_dtype, force, outputs=None if outputs is None else list(outputs), prefix=prefix, members=members,
                        spatial_axes=spatial_axes, opset=opset)

    def predict_proba(self, logits: Any, *, out: Any = None, mask: Any = None, image: Any = None,
                      layout: str | None = None, dtype: Any = np.float32, threads: int | None = None) -> Any:
        """Calibrated probabilities, in the shape and kind (NumPy or torch) of `logits`.

        A list gives a list, an iterator a generator. `out` is written to and returned. Masked voxels get the
        uncalibrated probabilities.
        """
        return self._of(PER_CLASS, logits, out, mask, image, layout, dtype, threads)

    def predict(self, logits: Any, *, out: Any = None, mask: Any = None, image: Any = None, layout: str | None = None,
                dtype: Any = None, threads: int | None = None) -> Any:
        """The class with the largest probability, per voxel; uint8, or uint16 for more than 256 classes."""
        if dtype is None:
            dtype = np.uint8 if len(self.classes) <= 256 else np.uint16
        return self._of("labels", logits, out, mask, image, layout, dtype, threads)

    def _of(self, name: str, logits: Any, out: Any, mask: Any, image: Any, layout: str | None, dtype: Any,
            threads: int | None) -> Any:
        given = None if out is None else {name: out}
        if _is_single(logits):
            return self._apply_one(logits, {name: dtype}, given, mask, image, layout, threads)[name]
        if out is not None or mask is not None or image is not None:
            raise ValueError("out, mask, image: given beside several cases; call it once for each, or use Case")
        each = (self._apply_one(entry, {name: dtype}, None, None, None, layout, threads)[name] for entry in logits)
        return each if isinstance(logits, Iterator) else list(each)

    def apply(self, logits: Any, *, write: Sequence[str] | None = None, out: Mapping[str, Any] | None = None,
              mask: Any = None, image: Any = None, layout: str | None = None, dtype: Any = np.float32,
              threads: int | None = None) -> dict[str, Any]:
        """Several outputs at once: probabilities, labels, confidence, entropy (nats), temperature.

        `write` names them; `out` gives arrays to write to, by name. Without either: probabilities.
        """
        names = list(write) if write is not None else list(out) if out is not None else [PER_CLASS]
        known = np.uint8 if len(self.classes) <= 256 else np.uint16
        types = {name: known if name == "labels" else dtype for name in names}
        return self._apply_one(logits, types, out, mask, image, layout, threads)

    def _apply_one(self, logits: Any, types: Mapping[str, Any], out: Mapping[str, Any] | None, mask: Any, image: Any,
                   layout: str | None, threads: int | None) -> dict[str, Any]:
        case = logits if isinstance(logits, Case) else Case(logits, mask=mask, image=image, layout=layout)
        members = members_of(case)
        arrays = [as_array(member, "logits") for member in members]
        found = find_layout(arrays[0].shape, None, len(self.classes), case.layout or layout, "logits")
        shape = tuple(int(extent) for extent in arrays[0].shape)
        results = {name: _make_output(name, dtype, found, shape, (out or {}).get(name))
                   for name, dtype in types.items()}
        _check_apart(results, arrays)
        with running(threads=threads, progress=False) as run:
            for core, spans in _per_case(case, arrays, found, results):
                _core.apply_case(self._core, core, spans, run)
        return {name: (out or {}).get(name) if name in (out or {}) else like(array, members[0])
                for name, array in results.items()}

    def apply_files(self, dataset: Any, folder: str | os.PathLike[str], *, split: str | None = None,
                    write: Sequence[str] | None = None, format: str | None = None, dtype: Any = None,
                    compress: bool | None = None, force: bool | None = None, threads: int | None = None,
                    memory: int | None = None, skip_bad: bool | None = None,
                    progress: bool | Listener | None = None) -> dict[str, Any]:
        """What `segcal apply` does: writes a file per case of a data set into a folder, in bounded memory.

        Files that are read, or that are no arrays, are written over only with `force`.
        """
        data = as_dataset(dataset)
        with running(threads=threads, memory=memory, skip_bad=skip_bad, progress=progress) as run:
            options = fill(_core.ApplyOptions(), run=run, split=split, format=format, compress=compress, force=force,
                           write=None if write is None else list(write),
                           dtype=None if dtype is None else np.dtype(dtype).name)
            result: dict[str, Any] = json.loads(
                _core.apply_files(self._core, data._core, os.fspath(folder), options))
        return result

    def apply_nnunet(self, inputs: Any, folder: str | os.PathLike[str], *, images: str | None = None,
                     force: bool | None = None, threads: int | None = None, memory: int | None = None,
                     progress: bool | Listener | None = None) -> dict[str, Any]:
        """What `segcal apply --nnunet` does: a folder of calibrated predictions that nnU-Net's own tools read.

        It must be new or empty; `force` writes into any other.
        """
        folders = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        with running(threads=threads, memory=memory, progress=progress) as run:
            options = fill(_core.NnunetApplyOptions(), run=run, images=images, overwrite=force)
            result: dict[str, Any] = json.loads(_core.apply_nnunet(
                self._core, [os.fspath(path) for path in folders], os.fspath(folder), options))
        return result

    def verify(self, dataset: Any = None, *, voxels: int | None = None, seed: int | None = None,
               split: str | None = None, threads: int | None = None,
               progress: bool | Listener | None = None) -> Verification:
        """Checks what the model declares, from its parameters, on inputs made to break it, and on a data set."""
        data = None if dataset is None else as_dataset(dataset)
        with running(threads=threads, progress=progress) as run:
            options = fill(_core.VerifyOptions(), run=run, voxels=voxels, seed=seed, split=split)
            text = _core.verify(self._core, None if data is None else data._core, options)
        return Verification(json.loads(text))

    def __repr__(self) -> str:
        return f"<segcal.Model {self.pipeline}: {len(self.classes)} classes, {self.input}, preserves {self.preserves}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (_unpickle, (self.to_json(),))


def _unpickle(text: str) -> Model:
    return Model.from_json(text)


def _is_single(logits: Any) -> bool:
    """Whether this is one array or case, rather than several."""
    return is_array(logits) or isinstance(logits, (Members, Case)) or _is_numbers(logits)


def _make_output(name: str, dtype: Any, layout: Layout, shape: tuple[int, ...], given: Any) -> np.ndarray[Any, Any]:
    wanted = shape if name == PER_CLASS else layout.spatial(shape)
    if given is None:
        return np.empty(wanted, dtype)
    array: np.ndarray[Any, Any] = as_output(given, name)
    if array.shape != wanted:
        raise ValueError(f"{name}: shape {array.shape} to write to, {wanted} is required")
    return array


def _check_apart(results: Mapping[str, np.ndarray[Any, Any]], arrays: Sequence[Any]) -> None:
    """The library looks at one case of a batch at a time; an output may not lie on the input of another."""
    taken = {f"member {m}": memory_of(array) for m, array in enumerate(arrays)}
    for name, array in results.items():
        for other, memory in taken.items():
            if np.may_share_memory(array, memory):
                raise ValueError(f"output {name}: overlaps the memory of {other}; an array of its own is required")
        taken[f"output {name}"] = array


def _per_case(case: Case, arrays: list[Any], layout: Layout,
              results: Mapping[str, np.ndarray[Any, Any]]) -> Iterator[tuple[_core.Case, list[tuple[str, Any]]]]:
    """The parts of a batch, each with the places its outputs go to."""
    members = [layout.cases(array) for array in arrays]
    count = len(members[0])
    extras = []
    for name, value in (("mask", case.mask), ("image", case.image)):
        parts = [None] * count if value is None else layout.parts(as_array(value, name))
        if len(parts) != count:
            raise ValueError(f"{name}: {len(parts)} for {count} images; one for each is required")
        extras.append(parts)
    if any(len(parts) != count for parts in members):
        raise ValueError(f"members: {[len(parts) for parts in members]} images; the same number is required of all")
    spans = {name: layout.cases(array) if name == PER_CLASS else layout.parts(array)
             for name, array in results.items()}
    for i in range(count):
        core = _core.Case(id=str(i), members=[parts[i] for parts in members], labels=None, mask=extras[0][i],
                          image=extras[1][i], spacing=[float(step) for step in case.spacing], group="", split="")
        yield core, [(name, parts[i]) for name, parts in spans.items()]


def load(path: str | os.PathLike[str]) -> Model:
    """Reads a model file."""
    return Model(_core.Model.load(os.fspath(path)))


def load_models(path: str | os.PathLike[str]) -> list[Model]:
    """The model of a file, or those of a folder."""
    return [Model(core) for core in _core.load_models(os.fspath(path))]
