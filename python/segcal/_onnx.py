# SPDX-License-Identifier: Apache-2.0
"""Calibrators as ONNX graphs, alone or behind a segmenter's own graph."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._files import check_output
from ._run import fill


def _join(output_name: Any, keep_output: bool | None, image_name: str | None) -> _core.OnnxJoin:
    names = [output_name] if isinstance(output_name, str) else output_name
    return fill(_core.OnnxJoin(), outputs=None if names is None else list(names), keep_outputs=keep_output,  # type: ignore[no-any-return]
                image=image_name)


def _check_given(appended: bool, decided: dict[str, Any], join: dict[str, Any]) -> None:
    """A segmenter decides some options, and only it gives others a meaning."""
    for name, value in (decided if appended else join).items():
        if value is not None:
            raise ValueError(f"{name}: given beside append_to=, which decides it" if appended
                             else f"{name}: given without append_to=, the segmenter it is about")


def to_onnx(model: _core.Model, path: str | os.PathLike[str] | None, append_to: Any, decided: dict[str, Any],
            join: dict[str, Any], dtype: Any, pool_dtype: Any, force: bool, **given: Any) -> bytes | None:
    """The bytes of the graph, or nothing where they went to a file."""
    _check_given(append_to is not None, decided, join)
    options = fill(_core.OnnxOptions(), input_type=None if dtype is None else np.dtype(dtype).name,
                   pool_type=None if pool_dtype is None else np.dtype(pool_dtype).name, **given)
    reads = [append_to] if isinstance(append_to, (str, os.PathLike)) else []
    file = None if path is None else check_output(path, _core.FileKind.onnx, force=force, reads=[*reads, model.file])
    if append_to is not None:
        return _append(model, file, append_to, _join(**join), options)
    if file is None:
        return _core.to_onnx(model, options)
    _core.export_onnx(model, file, options)
    return None


def _append(model: _core.Model, file: str | None, append_to: Any, join: _core.OnnxJoin,
            options: _core.OnnxOptions) -> bytes | None:
    if isinstance(append_to, (str, os.PathLike)) and file is not None:  # whose weights may lie beside it
        _core.append_to_onnx_file(model, os.fspath(append_to), file, join, options)
        return None
    graph = _core.append_to_onnx(model, _segmenter(append_to), join, options)
    if file is None:
        return graph
    _core.write_bytes(file, graph)
    return None


def _segmenter(append_to: Any) -> bytes:
    """The segmenter's bytes: of a file, of an onnx.ModelProto, or as they are."""
    if isinstance(append_to, bytes):
        return append_to
    if isinstance(append_to, (str, os.PathLike)):
        with open(append_to, "rb") as file:
            return file.read()
    if hasattr(append_to, "SerializeToString"):
        return bytes(append_to.SerializeToString())
    raise TypeError(f"append_to: {type(append_to).__name__}; a path, bytes or an onnx.ModelProto is required")
