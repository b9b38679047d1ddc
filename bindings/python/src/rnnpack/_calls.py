# SPDX-License-Identifier: Apache-2.0
"""Calls of the library that were prepared once: for each layout of arrays (shapes, strides, types) the sizes and strides that the
library is told are kept, and the next call on such arrays only fills in where they are. native/calls.c does so in a microsecond;
PlainCalls does the same by ctypes where that module is missing (Python before 3.11, without the interpreter's lock, other
interpreters). Both let one caller in at a time."""
from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Protocol, Sequence, Tuple, Type

import numpy as np

from . import _abi
from ._errors import BusyError
from ._tensors import Array, Placed, packed_address

RUN, LAST_STEP, STEP = range(3)  # kinds of calls
_BUSY, _FORKED, _MOST_PLANS = -1000, -1001, 8
_TYPES = {np.dtype(np.float32), np.dtype(np.int32)}

# An array of a call, and what of it the library is told.
Entry = Optional[Tuple[Array, int, int]]


class Prepared(NamedTuple):
    """What Calls.remember takes."""
    kind: int
    fresh: bool  # the outputs are new; else the caller's
    inputs: Tuple[Entry, ...]
    outputs: Tuple[Entry, ...]
    steps: int
    step_alone: bool  # rnnp_step will do: all rows, packed, one input and one output
    batch: int
    flags: int


class Calls(Protocol):
    """Of one session."""

    def call(self, kind: int, x: Any, out: Any) -> Any:
        """The result, or None where no call like it was remembered."""

    def remember(self, kind: int, fresh: bool, inputs: Tuple[Entry, ...], outputs: Tuple[Entry, ...], steps: int, step_alone: bool,
                 batch: int, flags: int) -> None: ...

    def opened(self, handle: int) -> None:
        """The session is another one from now on."""

    def acquire(self) -> None:
        """BusyError where another caller is in."""

    def release(self) -> None: ...


class Turn:
    """The session is one caller's for the length of a with block."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        self._calls.acquire()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._calls.release()


def failed(status: int, steps: int, session: int) -> NoReturn:
    if status == _BUSY:
        raise BusyError("the session is in use by another thread; sessions are made one for each thread, or locked by their users")
    if status == _FORKED:
        raise BusyError("the session's threads are in the process that forked this one: make the session here")
    raise _abi.call_error(status, session, f"a run of {steps} steps")


class Names(NamedTuple):
    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]
    needed: int  # the only input that a call has to have, or -1


@dataclass(frozen=True)
class _Plan:
    io: Any  # _abi.Io
    ins: Any
    outs: Any
    shapes: Tuple[Tuple[int, ...], ...]
    steps: int
    step_alone: bool


_Layout = Tuple[Any, ...]


def _layout(array: Any) -> Optional[_Layout]:
    if type(array) is not np.ndarray or array.dtype not in _TYPES or not array.flags.aligned:
        return None
    return array.shape, array.strides, array.dtype


class PlainCalls:
    """By ctypes."""

    def __init__(self, names: Names, owner: int) -> None:
        self._names, self._owner = names, owner
        self._lock = threading.Lock()
        self._handle = 0
        self._plans: Dict[Tuple[Any, ...], _Plan] = {}

    def opened(self, handle: int) -> None:
        self._handle = handle
        self._plans = {}

    def acquire(self) -> None:
        if not self._lock.acquire(blocking=False):
            failed(_BUSY, 0, self._handle)
        if self._owner and os.getpid() != self._owner:
            self._lock.release()
            failed(_FORKED, 0, self._handle)

    def release(self) -> None:
        self._lock.release()

    def call(self, kind: int, x: Any, out: Any) -> Any:
        ins = self._listed(x, self._names.inputs, self._names.needed)
        outs = None if out is None else self._listed(out, self._names.outputs, 0 if len(self._names.outputs) == 1 else -1)
        if ins is None or (out is not None and outs is None):
            return None
        key = self._key(kind, ins, outs)
        plan = None if key is None else self._plans.get(key)
        if plan is None:
            return None
        if outs is None:
            outs = [np.empty(shape, np.float32) for shape in plan.shapes]
        elif not all(one.flags.writeable for one in outs):
            return None
        with Turn(self):
            status = self._called(plan, ins, outs)
            if status != 0:
                failed(status, plan.steps, self._handle)
        return outs[0] if len(outs) == 1 else dict(zip(self._names.outputs, outs))

    def _called(self, plan: _Plan, ins: Sequence[Any], outs: Sequence[Any]) -> int:
        if plan.step_alone:
            return int(_abi.lib.rnnp_step(self._handle, packed_address(ins[self._names.needed]), packed_address(outs[0])))
        for buffer, array in zip(plan.ins, ins):
            buffer.data = None if array is None else array.__array_interface__["data"][0]
        for buffer, array in zip(plan.outs, outs):
            buffer.data = array.__array_interface__["data"][0]
        return int(_abi.lib.rnnp_run_io(self._handle, ctypes.byref(plan.io)))

    @staticmethod
    def _listed(x: Any, names: Sequence[str], alone: int) -> Optional[List[Any]]:
        if not isinstance(x, Mapping):
            return [x if at == alone else None for at in range(len(names))] if alone >= 0 else None
        listed = [x.get(name) for name in names]
        return listed if sum(one is not None for one in listed) == len(x) else None

    @staticmethod
    def _key(kind: int, ins: Optional[Sequence[Any]], outs: Optional[Sequence[Any]]) -> Optional[Tuple[Any, ...]]:
        layouts = []
        for array in (*(ins or ()), *(outs or ())):
            layout = None if array is None else _layout(array)
            if layout is None and array is not None:
                return None
            layouts.append(layout)
        return (kind, outs is None, *layouts)

    def remember(self, kind: int, fresh: bool, inputs: Tuple[Entry, ...], outputs: Tuple[Entry, ...], steps: int, step_alone: bool,
                 batch: int, flags: int) -> None:
        arrays = [None if entry is None else entry[0] for entry in inputs]
        outs = [entry[0] for entry in outputs if entry is not None]
        key = self._key(kind, arrays, None if fresh else outs)
        if key is None:
            return
        made = [(_abi.Buffer * max(1, len(entries)))() for entries in (inputs, outputs)]
        for buffers, entries in zip(made, (inputs, outputs)):
            for at, entry in enumerate(entries):
                if entry is not None:
                    buffers[at] = _abi.Buffer(0, entry[1], entry[2])
        io = _abi.Io(buffer_bytes=ctypes.sizeof(_abi.Buffer), flags=flags, batch=batch, steps=steps, input_count=len(inputs),
                     output_count=len(outputs), inputs=ctypes.addressof(made[0]), outputs=ctypes.addressof(made[1]))
        if len(self._plans) >= _MOST_PLANS:
            self._plans = {}
        self._plans[key] = _Plan(io, made[0], made[1], tuple(one.shape for one in outs), steps, step_alone)


def _native() -> Any:
    # The buffer protocol is in the interpreter's stable interface since 3.11.
    if sys.version_info < (3, 11) or os.environ.get("RNNPACK_PLAIN_CALLS"):
        return None
    try:
        return importlib.import_module("rnnpack._native._calls").Calls
    except ImportError:
        return None


NativeCalls = _native()


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def calls_of(names: Names, owner: int) -> Calls:
    """`owner`: the only process that may call, or 0."""
    if NativeCalls is None:
        return PlainCalls(names, owner)
    made: Calls = NativeCalls(_address(_abi.lib.rnnp_step), _address(_abi.lib.rnnp_run_io), names.inputs, names.outputs, names.needed, owner,
                              np.empty, np.dtype(np.float32), np.ndarray, failed)
    return made


def entry_of(array: Array, placed: Placed) -> Entry:
    return array, placed.step_bytes, placed.row_bytes
