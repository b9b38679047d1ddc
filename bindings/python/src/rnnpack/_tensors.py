# SPDX-License-Identifier: Apache-2.0
"""Arrays in ONNX's order of axes as the library's strided rows, without a copy wherever a row's elements lie side by side."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union, cast

import numpy as np
import numpy.typing as npt

from . import _abi
from ._errors import UsageError

Array = npt.NDArray[Any]
Dim = Union[int, str]


@dataclass(frozen=True)
class Tensor:
    """An input or output of a model. `dims` are the ONNX axes: "steps", "batch" or a size."""
    name: str
    role: str  # "sequence", "row", "state" or "lengths"
    dims: Tuple[Dim, ...]
    row_elems: int  # features of one row
    dtype: Any  # np.float32 or np.int32
    limit: int  # of indices: -limit to limit - 1; else 0

    @property
    def optional(self) -> bool:
        return self.role in ("state", "lengths")

    @property
    def features(self) -> Tuple[int, ...]:
        return tuple(dim for dim in self.dims if isinstance(dim, int))

    def __str__(self) -> str:
        return f"{self.name} [{', '.join(str(dim) for dim in self.dims)}]"


def tensor_of(facts: _abi.TensorFacts) -> Tensor:
    names: Dict[int, Dim] = {_abi.DIM_STEPS: "steps", _abi.DIM_BATCH: "batch"}
    dims = tuple(names.get(dim, int(dim)) for dim in facts.dims[:facts.rank])
    return Tensor(facts.name.decode(), _abi.ROLES[facts.role], dims, facts.row_elems, np.int32 if facts.dtype == _abi.I32 else np.float32,
                  facts.limit)


@dataclass
class Sizes:
    """Of one call."""
    steps: int = 0
    batch: int = 0
    steps_in_front: bool = False  # some input has an axis of steps in front that ONNX knows nothing of


def with_elements(tensor: Tensor, value: npt.ArrayLike) -> npt.ArrayLike:
    """Where several elements of the file's axis make one step (a strided layer in front), the axis as steps and elements."""
    if "steps" not in tensor.dims[:-1] or len(np.shape(value)) != len(tensor.dims) - 1:
        return value
    at = tensor.dims.index("steps")
    elements = tensor.dims[at + 1]
    if not isinstance(elements, int):
        return value
    array = np.asarray(value)
    size = array.shape[at]
    if size == 0 or size % elements != 0:
        raise UsageError(f"input '{tensor.name}' has {size} elements along axis {at}; accepted: a multiple of {elements}, which make one step")
    return array.reshape(*array.shape[:at], size // elements, elements, *array.shape[at + 1:])


def shape_text(shape: Sequence[int]) -> str:
    return "[" + ", ".join(str(size) for size in shape) + "]"


def read_sizes(tensor: Tensor, shape: Sequence[int], sizes: Sizes) -> None:
    """Steps and batch from an input's shape; every mismatch is named."""
    may_extend = tensor.role == "sequence" and "steps" not in tensor.dims
    extra = int(may_extend and len(shape) == len(tensor.dims) + 1)
    what = f"input '{tensor.name}' has shape {shape_text(shape)}; accepted: [{', '.join(map(str, tensor.dims))}]"
    if may_extend:
        what += ", or with steps in front"
    if len(shape) != len(tensor.dims) + extra:
        raise UsageError(what)
    found = [("steps", shape[0])] if extra else []
    found += [(dim, size) for dim, size in zip(tensor.dims, shape[extra:]) if isinstance(dim, str)]
    if any(size == 0 for _, size in found) or any(dim != size for dim, size in zip(tensor.dims, shape[extra:]) if isinstance(dim, int)):
        raise UsageError(what)
    sizes.steps_in_front = sizes.steps_in_front or bool(extra)
    for name, size in found:
        if getattr(sizes, name) not in (0, size):
            raise UsageError(f"{what}, but another input has {getattr(sizes, name)} {name} where this has {size}")
        setattr(sizes, name, size)


_PCM = {np.dtype(np.uint8): (128, 1 / 128), np.dtype(np.int16): (0, 1 / 32768), np.dtype(np.int32): (0, 1 / 2**31)}


def _samples(tensor: Tensor, array: Array, pcm: bool) -> Array:
    """Integers of fewer than 64 bits are sound as a rule, whose numbers are 32768 times too large for a network."""
    scale = _PCM.get(array.dtype.newbyteorder("="))
    if pcm and scale is not None:
        samples: Array = (array.astype(np.float64) - scale[0]) * scale[1]
        return samples.astype(np.float32)
    if array.dtype.kind in "iu" and array.dtype.itemsize < 8:
        sound = "pcm=True scales samples to -1..1, " if scale is not None else ""
        raise UsageError(f"input '{tensor.name}' holds numbers, and {array.dtype} is not converted silently: {sound}x.astype(np.float32) "
                         "takes the integers as they are")
    return array


def _typed(tensor: Tensor, value: npt.ArrayLike, pcm: bool = False) -> Array:
    array = np.asarray(value)
    if array.dtype == tensor.dtype and array.flags.aligned:
        return array
    if tensor.dtype is np.float32:
        array = _samples(tensor, array, pcm)
    if tensor.dtype is np.int32:
        if array.dtype.kind not in "iub":
            raise UsageError(f"input '{tensor.name}' holds {'lengths' if tensor.role == 'lengths' else 'indices'}; accepted: integers, "
                             f"not {array.dtype}")
        if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
            raise UsageError(f"input '{tensor.name}' has integers beyond 32 bits")
    elif array.dtype.kind not in "fiub":
        raise UsageError(f"input '{tensor.name}' holds numbers; accepted: float32 and what converts to it, not {array.dtype}")
    elif array.dtype.kind in "iu" and array.size and max(int(array.max()), -int(array.min())) > 2**24:
        raise UsageError(f"input '{tensor.name}' has integers beyond 16777216, which float32 does not hold")
    return np.require(array, tensor.dtype, ["C", "A"])


def _by_rows(dims: Sequence[Dim], array: Array) -> Array:
    """A view [steps][batch][features...]; axes that are not there have size 1. `dims` name the array's axes."""
    order = [dims.index(name) for name in ("steps", "batch") if name in dims]
    order += [axis for axis, dim in enumerate(dims) if not isinstance(dim, str)]
    view = array.transpose(order)
    if "steps" not in dims:
        view = view[None]
    return view if "batch" in dims else view[:, None]


def _strides(view: Array) -> Optional[Tuple[int, int]]:
    """(step, row) strides in bytes of a view by rows, or None where the library could not read it so."""
    packed = view.itemsize
    for size, stride in zip(view.shape[:1:-1], view.strides[:1:-1]):
        if size > 1 and stride != packed:
            return None
        packed *= size
    row = packed if view.shape[1] == 1 else view.strides[1]
    step = row * view.shape[1] if view.shape[0] == 1 else view.strides[0]
    if row < packed or step < packed or row % 4 or step % 4:
        return None
    return step, row


@dataclass
class Placed:
    """An array as the library sees it. `kept` holds the memory."""
    kept: Array
    address: int
    step_bytes: int
    row_bytes: int

    def buffer(self, first_step: int = 0) -> _abi.Buffer:
        return _abi.Buffer(self.address + first_step * self.step_bytes, self.step_bytes, self.row_bytes)


def packed_address(array: Array) -> int:
    """Of an array in C order; where it can be written, by the way that takes a third of the time."""
    if array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))
    return int(array.__array_interface__["data"][0])


def _place(view: Array) -> Optional[Placed]:
    strides = _strides(view)
    return None if strides is None else Placed(view, view.__array_interface__["data"][0], *strides)


def place_input(tensor: Tensor, value: npt.ArrayLike, sizes: Sizes, pcm: bool = False) -> Placed:
    """`value`, whose shape read_sizes accepted, where it lies; copied only if its type or the order of its elements is another, or where
    it is not aligned."""
    array = _typed(tensor, value, pcm)
    dims: Tuple[Dim, ...] = ("steps", *tensor.dims) if array.ndim > len(tensor.dims) else tensor.dims
    view = _by_rows(dims, array)
    # What is given once for all rows or steps is repeated.
    steps = sizes.steps if tensor.role == "sequence" else view.shape[0]
    if view.shape[:2] != (steps, sizes.batch):
        view = np.broadcast_to(view, (steps, sizes.batch, *view.shape[2:]))
    placed = _place(view)
    if placed is None:
        placed = _place(np.array(view, order="C"))
    assert placed is not None
    return placed


def output_dims(tensor: Tensor, sizes: Sizes, last_step: bool) -> Tuple[Dim, ...]:
    """The axes of an output of a call: ONNX's, with steps or batch in front where ONNX has none of them and there are several."""
    per_step = tensor.role == "sequence" and not last_step
    dims = list(tensor.dims)
    if tensor.role == "sequence" and last_step:
        dims = [dim for dim in dims if dim != "steps"]
    if "batch" not in dims and sizes.batch > 1:
        dims.insert(0, "batch")
    if per_step and "steps" not in dims and (sizes.steps_in_front or sizes.steps > 1):
        dims.insert(0, "steps")
    return tuple(dims)


@dataclass
class Made:
    """An output: `array` has ONNX's axes; `copy_to`, where the caller's own array could not be written in place."""
    array: Array
    placed: Placed
    copy_to: Optional[Array] = None


def place_output(tensor: Tensor, sizes: Sizes, last_step: bool, out: Optional[Array] = None, squeeze: bool = False) -> Made:
    """`squeeze`: the caller's array has no axis of steps."""
    dims = output_dims(tensor, sizes, last_step)
    per_step = tensor.role == "sequence" and not last_step
    named = {"steps": sizes.steps if per_step else 1, "batch": sizes.batch}
    shape = tuple(named[dim] if isinstance(dim, str) else dim for dim in dims)
    without = dims.index("steps") if squeeze and "steps" in dims else None
    if out is not None:
        wanted = shape if without is None else shape[:without] + shape[without + 1:]
        if not isinstance(out, np.ndarray) or out.shape != wanted or out.dtype != np.float32 or not out.flags.writeable:
            raise UsageError(f"out for '{tensor.name}' must be a writable float32 array of shape {shape_text(wanted)}")
        whole = out if without is None else np.expand_dims(out, without)
        placed = _place(_by_rows(dims, whole)) if out.flags.aligned else None
        if placed is not None:
            return Made(out, placed)
    array: Array = np.empty(shape, np.float32)
    placed = _place(_by_rows(dims, array))
    if placed is None:  # a feature axis stands before time or batch: rows are made whole, and seen in ONNX's order
        array, placed = _whole_rows(dims, shape)
    return Made(array if without is None else np.squeeze(array, without), placed, out)


def _whole_rows(dims: Sequence[Dim], shape: Sequence[int]) -> Tuple[Array, Placed]:
    order: List[int] = [dims.index(name) for name in ("steps", "batch") if name in dims]
    order += [axis for axis, dim in enumerate(dims) if not isinstance(dim, str)]
    array: Array = np.empty([shape[axis] for axis in order], np.float32).transpose(np.argsort(order))
    placed = _place(_by_rows(dims, array))
    assert placed is not None
    return array, placed
