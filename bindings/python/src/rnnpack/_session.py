# SPDX-License-Identifier: Apache-2.0
"""A running instance of a model: its state, and the calls that move it on."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from . import _abi
from ._calls import LAST_STEP, RUN, STEP, Names, Turn, calls_of
from ._errors import LibraryError
from ._html import table, tensors_html
from ._isa import Isa
from ._progress import Progress
from ._run_io import RunIo, Signature
from ._state import CPU_CALLS, Owner, SavedState, load_row, save_row
from ._streams import Streams, session_memory
from ._team import Team
from ._tensors import Array

if TYPE_CHECKING:
    from ._model import Model

Outputs = Union[Array, Dict[str, Array]]
_Named = Mapping[str, npt.ArrayLike]


@dataclass(frozen=True)
class SessionOptions:
    batch: int = 1
    threads: int = 1
    max_steps: Optional[int] = None  # None: as many as a run has
    chunk_steps: int = 0
    all_threads: bool = False
    reference: bool = False
    portable_ops: bool = False
    isa_allowed: int = 0
    l2_bytes: int = 0


@dataclass(frozen=True)
class SessionInfo:
    """What the library decided when the session was made."""
    batch: int
    threads: int  # that share the work of a call; 1: the model is too small to gain from more
    chunk_steps: int  # steps that go through all nodes at a time
    isa: Isa  # instruction set of the recurrent kernels in use
    memory_bytes: int
    state_bytes: int  # of one saved row


class Session(Streams[SessionInfo]):
    """Made by Model.session(). `batch` streams side by side, each with a state of its own.

    One thread at a time: a call that finds another one running raises BusyError and changes nothing. Sessions of one model are
    independent of each other and may run at once; the interpreter's lock is not held while they do. A session with threads does not
    outlive a fork: make it in the child.
    """

    _state_calls = CPU_CALLS

    def __init__(self, model: Model, options: SessionOptions) -> None:
        self._model, self._options = model, options
        self._team = Team(options.threads) if options.threads > 1 else None
        self._signature = Signature(model.inputs, model.outputs, model.info.causal, model.info.fixed_batch, options.batch)
        needed = self._signature.needed
        names = Names(tuple(t.name for t in model.inputs), tuple(t.name for t in model.outputs),
                      model.inputs.index(needed[0]) if len(needed) == 1 else -1)
        self._calls = calls_of(names, os.getpid() if self._team is not None else 0)
        self._make(max(100, model.info.stream_steps) if options.max_steps is None else options.max_steps)

    def _make(self, longest: int) -> None:
        """`longest`: the most steps of a run of a model that looks ahead. What goes wrong leaves the session as it was."""
        o, lib, opened = self._options, _abi.lib, ctypes.byref(self._model._opened)
        flags = (o.all_threads and _abi.SESSION_ALL_THREADS) | (o.portable_ops and _abi.SESSION_PORTABLE_OPS)
        options = _abi.SessionOptions(max_batch=o.batch, max_steps=0 if self._model.info.causal else longest,
                                      chunk_steps=o.chunk_steps, flags=flags,
                                      isa_allowed=_abi.ISA_REFERENCE_ONLY if o.reference else o.isa_allowed, l2_bytes=o.l2_bytes)
        if self._team is not None:
            options.executor = ctypes.pointer(self._team.executor)
        need, handle, facts = _abi.Memory(), ctypes.c_void_p(), _abi.SessionFacts()
        if lib.rnnp_session_memory(opened, ctypes.byref(options), ctypes.byref(need)) != 0:
            self._explain(options, None, 0)
        memory = session_memory(need.session_bytes, need.alignment)
        place = memory.__array_interface__["data"][0]
        if lib.rnnp_session_init(ctypes.byref(handle), opened, ctypes.byref(options), place, memory.size) != 0:
            memory.fill(0)  # what an earlier session left in it is no session
            self._explain(options, place, memory.size)
        _abi.check(lib.rnnp_session_get_info(handle, ctypes.byref(facts)))
        self._memory, self._handle, self._longest = memory, handle, longest
        self._calls.opened(handle.value or 0)
        self._info = SessionInfo(facts.max_batch, facts.threads, facts.chunk_steps, Isa(facts.isa), memory.size, int(need.state_bytes))

    def _make_room(self, steps: int) -> None:
        """For a run of a model that looks ahead: it has the whole sequence in memory."""
        if self._model.info.causal or steps <= self._longest or self._options.max_steps is not None:
            return
        kept = [save_row(self, row) for row in range(self._info.batch)]
        self._make(1 << (steps - 1).bit_length())
        for row, saved in enumerate(kept):
            load_row(self, row, saved)

    def _explain(self, options: _abi.SessionOptions, place: Optional[int], size: int) -> None:
        why = _abi.Refusal()
        _abi.lib.rnnp_session_explain(ctypes.byref(self._model._opened), ctypes.byref(options), place, size, ctypes.byref(why))
        node = f"node {why.node} '{why.node_name.decode()}' ({why.op.decode()}): " if why.op else ""
        needed = f" ({why.needed} would do)" if why.needed else ""
        raise LibraryError(f"no session: {node}{why.reason.decode()}{needed}", why.status)

    def _as_owner(self) -> Owner:
        return self

    @overload
    def run(self, x: npt.ArrayLike, *, out: Optional[Array] = None, lengths: Optional[npt.ArrayLike] = None,
            rows: Optional[Sequence[int]] = None, last_step: bool = False, check_finite: bool = False, pcm: bool = False,
            progress: Progress = False) -> Array: ...

    @overload
    def run(self, x: Union[npt.ArrayLike, _Named], *, out: Mapping[str, Array], lengths: Optional[npt.ArrayLike] = None,
            rows: Optional[Sequence[int]] = None, last_step: bool = False, check_finite: bool = False, pcm: bool = False,
            progress: Progress = False) -> Any: ...

    @overload
    def run(self, x: _Named, *, out: Optional[Array] = None, lengths: Optional[npt.ArrayLike] = None,
            rows: Optional[Sequence[int]] = None, last_step: bool = False, check_finite: bool = False, pcm: bool = False,
            progress: Progress = False) -> Any: ...

    def run(self, x: Any, *, out: Any = None, lengths: Optional[npt.ArrayLike] = None, rows: Optional[Sequence[int]] = None,
            last_step: bool = False, check_finite: bool = False, pcm: bool = False,
            progress: Progress = False) -> Any:
        """Run a sequence, continuing from the session's state and leaving it where the sequence ends.

        x        one array, or arrays by name. Axes as in the ONNX file; inputs of role "state" and "lengths" may be left out
        out      where results go: an array, or arrays by name; else new ones are made
        lengths  of each row: where it ends
        rows     which of the session's streams these are; default: the first ones
        last_step  of outputs with steps give each row's last one only
        check_finite  NaN or infinity in an input is refused before a state is touched
        pcm      integer samples are scaled to -1..1: int16 by 1 / 32768, int32 by 1 / 2^31, uint8 by 1 / 128 around 128. Without it they are
                 refused
        progress  True shows a bar on standard error, a function is called with (steps done, of); the run is cut into pieces for it,
                 which does not change a bit of the result. Models that look ahead are not cut

        One output is given as an array, several as a dict in the order of Model.outputs. float32 arrays (int32 for indices) whose rows
        are dense are read and written where they lie, without a copy.
        """
        if lengths is None and rows is None and not pcm and not check_finite and progress is False:
            y = self._calls.call(LAST_STEP if last_step else RUN, x, out)
            if y is not None:
                return y
        return self._run(RunIo(self._signature, x, out, lengths=lengths, rows=rows, last_step=last_step, check_finite=check_finite, pcm=pcm), progress)

    @overload
    def step(self, x: npt.ArrayLike, *, out: Optional[Array] = None, pcm: bool = False) -> Array: ...

    @overload
    def step(self, x: Union[npt.ArrayLike, _Named], *, out: Mapping[str, Array], pcm: bool = False) -> Any: ...

    @overload
    def step(self, x: _Named, *, out: Optional[Array] = None, pcm: bool = False) -> Any: ...

    def step(self, x: Any, *, out: Any = None, pcm: bool = False) -> Any:
        """One step of all streams. Arrays are without the axis of steps; with it (of size 1) they are taken too, and results have it.
        out and pcm as run has them."""
        if not pcm:
            y = self._calls.call(STEP, x, out)
            if y is not None:
                return y
        return self._run(RunIo(self._signature, x, out, one_step=True, pcm=pcm), False)

    def _run(self, call: RunIo, progress: Progress) -> Outputs:
        with self._turn():
            self._make_room(call.sizes.steps)
            call.run(self._handle, progress)
        prepared = call.prepared()
        if prepared is not None:
            self._calls.remember(*prepared)
        return call.results()

    def _turn(self) -> Turn:
        return Turn(self._calls)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restored, (self._model, self._options, self.state.save())

    def _repr_html_(self) -> str:
        i = self._info
        rows = [("streams", i.batch), ("threads", i.threads), ("steps that go through all nodes at a time", i.chunk_steps),
                ("instruction set", i.isa.name), ("bytes of memory", i.memory_bytes), ("bytes of a stream's saved state", i.state_bytes)]
        model = self._model
        return (f'<div class="rnnpack-session"><p><b>A session of {escape(model.name)}</b></p>'
                f"{table(('', ''), [(name, str(value)) for name, value in rows])}{tensors_html(model.inputs, model.outputs)}</div>")

    def __repr__(self) -> str:
        return f"<rnnpack.Session of {self._options.batch} streams, {self._info.threads} threads, {self._memory.size} bytes>"


def _restored(model: Model, options: SessionOptions, saved: SavedState) -> Session:
    session = Session(model, options)
    session.state.load(saved)
    return session
