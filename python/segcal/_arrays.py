# SPDX-License-Identifier: Apache-2.0
"""Arrays of callers as the library sees them: one image or volume at a time, classes first, never copied."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

# By number of axes; of several, the shape of the labels or the number of classes decides.
ASSUMED = {2: ("NC",), 3: ("CHW",), 4: ("NCHW", "CDHW"), 5: ("NCDHW",)}
KNOWN = ("NC", "CN", "CHW", "HWC", "NCHW", "NHWC", "CDHW", "DHWC", "NCDHW", "NDHWC")


@dataclass(frozen=True)
class Layout:
    """What the axes of a prediction are: N cases, C classes, D, H and W space; in "NC" N are voxels."""

    axes: str

    @property
    def batched(self) -> bool:
        """Whether the first axis counts cases."""
        return self.axes[0] == "N" and self.axes != "NC"

    def num_classes(self, shape: Sequence[int]) -> int:
        """How many classes a prediction of this shape has."""
        return int(shape[self.axes.index("C")])

    def spatial(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of labels, without the axis of classes."""
        axis = self.axes.index("C")
        return (*shape[:axis], *shape[axis + 1:])

    def cases(self, array: Any) -> list[Any]:
        """A prediction of all cases as views of each, classes first."""
        axis = self.axes.index("C") - self.batched
        return [_classes_first(part, axis) for part in self.parts(array)]

    def parts(self, array: Any) -> list[Any]:
        """Labels, or anything else without classes, as views of each case."""
        return [array[i] for i in range(len(array))] if self.batched else [array]


def _classes_first(array: Any, axis: int) -> Any:
    if axis == 0:
        return array
    return array.movedim(axis, 0) if is_tensor(array) else np.moveaxis(array, axis, 0)


def torch_module() -> Any:
    """PyTorch if somebody has imported it, else None: segcal itself never does."""
    return sys.modules.get("torch")


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch."""
    torch = torch_module()
    return torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """Whether a value is one array, rather than a list of cases."""
    return isinstance(value, np.ndarray) or hasattr(value, "__dlpack__") or hasattr(value, "__array__")


def as_array(value: Any, name: str) -> Any:
    """The same memory as a NumPy array; a tensor of bfloat16, which NumPy lacks, stays one."""
    if is_tensor(value):
        return _from_tensor(value, name)
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name}: a masked array; pass its data, and its mask as mask= (true where voxels count)")
    if not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "__dlpack__"):
        value = _from_dlpack(value, name)
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise ValueError(f"{name}: {array.dtype} values; floats of 16, 32 or 64 bits, whole numbers or bool are required")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if any(stride % array.itemsize for stride in array.strides):
        array = array.copy()  # fields of records: steps that are no whole number of elements
    return array


def _from_dlpack(value: Any, name: str) -> Any:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:  # another device, or a type that NumPy lacks
        raise ValueError(f"{name}: {type(value).__name__} cannot be taken over by DLPack: {error}") from error


def _from_tensor(tensor: Any, name: str) -> Any:
    torch = torch_module()
    if tensor.device.type != "cpu":
        raise ValueError(f"{name}: a tensor on {tensor.device}; move it to the CPU first: {name}.cpu()")
    if tensor.layout is not torch.strided:
        raise ValueError(f"{name}: a tensor of layout {tensor.layout}; a dense one is required")
    if tensor.dtype.is_complex:
        raise ValueError(f"{name}: {tensor.dtype} values; floats, whole numbers or bool are required")
    plain = tensor.detach().resolve_neg().as_subclass(torch.Tensor)
    if plain.dtype is torch.bfloat16:  # which NumPy lacks; it is handed on by DLPack
        return plain
    try:
        return plain.numpy()
    except (RuntimeError, TypeError):  # built for another NumPy
        return np.from_dlpack(plain)


def as_output(value: Any, name: str) -> Any:
    """An array to write to, which must be one already."""
    if not is_tensor(value) and (not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray)):
        raise ValueError(f"{name}: {type(value).__name__}; a NumPy array or a tensor is required")
    array = as_array(value, name)
    if is_tensor(array):
        raise ValueError(f"{name}: bfloat16 values; float16 or float32 is required")
    if not is_tensor(value) and not np.may_share_memory(array, value) and array.size > 0:
        raise ValueError(f"{name}: an array in another byte order, or of records; a plain one is required")
    if not array.flags.writeable:
        raise ValueError(f"{name}: read-only; a writable array is required")
    return array


def memory_of(array: Any) -> np.ndarray[Any, Any]:
    """Where an array lies, whatever its values are."""
    if not is_tensor(array):
        return np.asarray(array)
    bits: np.ndarray[Any, Any] = array.view(torch_module().int16).numpy()
    return bits


def like(array: np.ndarray[Any, Any], given: Any) -> Any:
    """A result in the caller's kind: a tensor if it was given one."""
    if not is_tensor(given):
        return array
    known = array.astype(np.int32) if array.dtype == np.uint16 else array  # which torch has no type for
    return torch_module().from_dlpack(known)


def _fits(layout: Layout, shape: Sequence[int], labels: Sequence[int] | None, num_classes: int | None) -> bool:
    if num_classes is not None and layout.num_classes(shape) != num_classes:
        return False
    if labels is None:
        return True

    def squeezed(extents: Sequence[int]) -> list[int]:
        return [extent for extent in extents if extent != 1]
    return squeezed(layout.spatial(shape)) == squeezed(labels)


def find_layout(shape: Sequence[int], labels: Sequence[int] | None, num_classes: int | None,
                stated: str | None, name: str) -> Layout:
    """The layout as stated, or the only one that the shapes allow."""
    if stated is not None:
        if stated not in KNOWN:
            raise ValueError(f"layout {stated!r}; one of {', '.join(KNOWN)} is required")
        if len(stated) != len(shape):
            raise ValueError(f"{name}: shape {tuple(shape)} has {len(shape)} axes, layout {stated!r} has {len(stated)}")
        return Layout(stated)
    if len(shape) not in ASSUMED:
        raise ValueError(f"{name}: shape {tuple(shape)}; (N, C), (C, H, W), (N, C, H, W), (C, D, H, W) or "
                         f"(N, C, D, H, W) is required")
    layouts = [Layout(axes) for axes in ASSUMED[len(shape)]]
    if len(layouts) == 1:
        return layouts[0]
    fitting = [layout for layout in layouts if _fits(layout, shape, labels, num_classes)]
    if len(fitting) == 1:
        return fitting[0]
    known = "" if labels is None else f", labels of shape {tuple(labels)}"
    known += "" if num_classes is None else f", {num_classes} classes"
    found = "may be" if fitting else "fits neither"
    raise ValueError(f"{name}: shape {tuple(shape)}{known} {found} {' or '.join(layout.axes for layout in layouts)}; "
                     f"state which by layout=")
