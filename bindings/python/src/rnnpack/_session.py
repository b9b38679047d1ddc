"""A running instance of a model: its state, and the calls that move it on."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from ._errors import BusyError, LibraryError, UsageError
from ._progress import Progress, reporter
from ._state import SavedState, State, load_row, save_row
from ._tensors import Array, Made, Placed, Sizes, Tensor, packed_address, place_input, place_output, read_sizes

if TYPE_CHECKING:
    from ._model import Model

Inputs = Union[npt.ArrayLike, Mapping[str, npt.ArrayLike]]
Outputs = Union[Array, Dict[str, Array]]
_PIECES_OF_WATCHED_WORK = 100


@dataclass(frozen=True)
class SessionOptions:
    batch: int = 1
    threads: int = 1
    max_steps: Optional[int] = None  # None: as many as a run has
    chunk_steps: int = 0
    all_threads: bool = False
    reference: bool = False
    portable_ops: bool = False


@dataclass(frozen=True)
class SessionInfo:
    """What the library decided when the session was made."""
    batch: int
    threads: int  # that share the work of a call; 1: the model is too small to gain from more
    chunk_steps: int  # steps that go through all nodes at a time
    isa: int  # the RNNP_ISA_* bit of the recurrent kernels in use; 0: the reference
    memory_bytes: int
    state_bytes: int  # of one saved row


class _Team:
    """Threads, and the executor that lends them to a session."""

    def __init__(self, threads: int) -> None:
        self.executor = _abi.Executor()
        address = _abi.team_lib.rnnpack_team_new(threads, ctypes.byref(self.executor))
        if not address:
            raise UsageError(f"cannot make {threads} threads")
        # A child of fork has the memory, but not the threads: there is nothing to end.
        self._end = weakref.finalize(self, _end_team, address, os.getpid())


def _end_team(address: int, owner: int) -> None:
    if os.getpid() == owner:
        _abi.team_lib.rnnpack_team_free(address)


class Session:
    """Made by Model.session(). `batch` streams side by side, each with a state of its own.

    One thread at a time: a call that finds another one running raises BusyError and changes nothing. Sessions of one model are
    independent of each other and may run at once; the interpreter's lock is not held while they do. A session with threads does not
    outlive a fork: make it in the child.
    """

    def __init__(self, model: Model, options: SessionOptions) -> None:
        self._model, self._options = model, options
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._team = _Team(options.threads) if options.threads > 1 else None
        self._longest = options.max_steps or max(100, model.info.stream_steps)  # of a model that looks ahead
        self._make()
        self._short = _ShortRoad.of(model, options.batch)
        self._needed = [t for t in model.inputs if not t.optional]

    def _make(self) -> None:
        o, lib, opened = self._options, _abi.lib, ctypes.byref(self._model._opened)
        flags = (o.all_threads and _abi.SESSION_ALL_THREADS) | (o.portable_ops and _abi.SESSION_PORTABLE_OPS)
        options = _abi.SessionOptions(max_batch=o.batch, max_steps=0 if self._model.info.causal else self._longest,
                                      chunk_steps=o.chunk_steps, flags=flags,
                                      isa_allowed=_abi.ISA_REFERENCE_ONLY if o.reference else 0)
        if self._team is not None:
            options.executor = ctypes.pointer(self._team.executor)
        need, handle, facts = _abi.Memory(), ctypes.c_void_p(), _abi.SessionFacts()
        if lib.rnnp_session_memory(opened, ctypes.byref(options), ctypes.byref(need)) != 0:
            self._explain(options, None, 0)
        memory = _aligned(need.session_bytes, need.alignment)
        place = memory.__array_interface__["data"][0]
        if lib.rnnp_session_init(ctypes.byref(handle), opened, ctypes.byref(options), place, memory.size) != 0:
            self._explain(options, place, memory.size)
        _abi.check(lib.rnnp_session_info(handle, ctypes.byref(facts)))
        self._memory, self._handle = memory, handle
        self._info = SessionInfo(facts.max_batch, facts.threads, facts.chunk_steps, facts.isa, memory.size, int(need.state_bytes))

    def _make_room(self, steps: int) -> None:
        """For a run of a model that looks ahead: it has the whole sequence in memory."""
        if self._model.info.causal or steps <= self._longest or self._options.max_steps is not None:
            return
        self._longest = 1 << (steps - 1).bit_length()
        kept = [save_row(self, row) for row in range(self._info.batch)]
        self._make()
        for row, saved in enumerate(kept):
            load_row(self, row, saved)

    def _explain(self, options: _abi.SessionOptions, place: Optional[int], size: int) -> None:
        why = _abi.Refusal()
        _abi.lib.rnnp_session_explain(ctypes.byref(self._model._opened), ctypes.byref(options), place, size, ctypes.byref(why))
        node = f"node {why.node} '{why.node_name.decode()}' ({why.op.decode()}): " if why.op else ""
        needed = f" ({why.needed} would do)" if why.needed else ""
        raise LibraryError(f"no session: {node}{why.reason.decode()}{needed}", why.status)

    @property
    def model(self) -> Model:
        return self._model

    @property
    def info(self) -> SessionInfo:
        return self._info

    @property
    def state(self) -> State:
        """The state of the session's streams: save(), load(), reset(), and pickle."""
        return State(self)

    @state.setter
    def state(self, saved: SavedState) -> None:
        State(self).load(saved)

    def run(self, x: Inputs, *, out: Union[None, Array, Mapping[str, Array]] = None, lengths: Optional[npt.ArrayLike] = None,
            rows: Optional[Sequence[int]] = None, last_step: bool = False, progress: Progress = False) -> Outputs:
        """Run a sequence, continuing from the session's state and leaving it where the sequence ends.

        x        one array, or arrays by name. Axes as in the ONNX file; inputs of role "state" and "lengths" may be left out
        out      where results go: an array, or arrays by name; else new ones are made
        lengths  of each row: where it ends
        rows     which of the session's streams these are; default: the first ones
        last_step  of outputs with steps give each row's last one only
        progress  True shows a bar on standard error, a function is called with (steps done, of); the run is cut into pieces for it,
                 which does not change a bit of the result. Models that look ahead are not cut

        One output is given as an array, several as a dict in the order of Model.outputs. float32 arrays (int32 for indices) whose rows
        are dense are read and written where they lie, without a copy.
        """
        given = self._named(x)
        sizes = self._sizes(given)
        placed = [place_input(t, given[t.name], sizes) if t.name in given else None for t in self._model.inputs]
        outs = self._named_outputs(out)
        made = [place_output(t, sizes, last_step, outs.get(t.name)) for t in self._model.outputs]
        call = _Call(self, sizes, placed, made, self._lengths(lengths, sizes), self._rows(rows, sizes), last_step)
        with _Turn(self):
            self._make_room(sizes.steps)
            call.run(progress)
        for one in made:
            if one.copy_to is not None:
                one.copy_to[...] = one.array
        results = {t.name: (m.array if m.copy_to is None else m.copy_to) for t, m in zip(self._model.outputs, made)}
        return next(iter(results.values())) if len(results) == 1 else results

    def step(self, x: Inputs, *, out: Optional[Array] = None) -> Outputs:
        """One step of all streams. Arrays are without the axis of steps; with it (of size 1) they are taken too, and results have it.
        A float32 array in C order takes the short road: no copy, one call of the library."""
        short = self._short
        if short is not None and isinstance(x, np.ndarray) and x.dtype == np.float32:
            shape = short.shapes.get(x.shape)
            if shape is not None and x.flags.c_contiguous and x.flags.aligned:
                y = np.empty(shape, np.float32) if out is None else _checked(out, shape)
                with _Turn(self):
                    status = _abi.lib.rnnp_step(self._handle, packed_address(x), packed_address(y))
                if status != 0:
                    raise LibraryError(_abi.status_text(status), status)
                return y
        return self._long_step(x, out)

    def _long_step(self, x: Inputs, out: Optional[Array]) -> Outputs:
        if not self._model.info.causal:
            raise UsageError("the model looks ahead, so it has no single steps: run takes whole sequences")
        given, added = dict(self._named(x)), False
        for tensor in self._model.inputs:
            if tensor.name in given and "steps" in tensor.dims:
                array = np.asarray(given[tensor.name])
                if array.ndim == len(tensor.dims) - 1:
                    array, added = np.expand_dims(array, tensor.dims.index("steps")), True
                if array.ndim != len(tensor.dims) or array.shape[tensor.dims.index("steps")] != 1:
                    raise UsageError(f"step takes one step: input '{tensor.name}' has shape {list(array.shape)}; run takes more")
                given[tensor.name] = array
        results = self.run(given)
        named = results if isinstance(results, dict) else {self._model.outputs[0].name: results}
        if added:
            for tensor in self._model.outputs:
                if "steps" in tensor.dims:
                    at = tensor.dims.index("steps") + named[tensor.name].ndim - len(tensor.dims)
                    named[tensor.name] = np.squeeze(named[tensor.name], at)
        first = next(iter(named.values()))
        if out is not None:
            if len(named) != 1:
                raise UsageError("out of step is for models with one output")
            _checked(out, first.shape)[...] = first
            first = out
        return first if len(named) == 1 else named

    def _named(self, x: Inputs) -> Mapping[str, npt.ArrayLike]:
        if isinstance(x, Mapping):
            unknown = set(x) - {t.name for t in self._model.inputs}
            if unknown:
                raise UsageError(f"there is no input '{min(unknown)}'; the model has {', '.join(t.name for t in self._model.inputs)}")
            missing = [t for t in self._needed if t.name not in x]
            if missing:
                raise UsageError(f"input {missing[0]} is missing")
            return x
        if len(self._needed) != 1:
            raise UsageError(f"the model needs {', '.join(map(str, self._needed)) or 'no input'}: give them as a dict by name")
        return {self._needed[0].name: x}

    def _named_outputs(self, out: Union[None, Array, Mapping[str, Array]]) -> Mapping[str, Array]:
        if out is None:
            return {}
        if isinstance(out, Mapping):
            unknown = set(out) - {t.name for t in self._model.outputs}
            if unknown:
                raise UsageError(f"there is no output '{min(unknown)}'; the model has {', '.join(t.name for t in self._model.outputs)}")
            return out
        if len(self._model.outputs) != 1:
            raise UsageError(f"the model gives {', '.join(t.name for t in self._model.outputs)}: name them in a dict")
        return {self._model.outputs[0].name: out}

    def _sizes(self, given: Mapping[str, npt.ArrayLike]) -> Sizes:
        sizes = Sizes()
        for tensor in self._model.inputs:
            if tensor.name in given:
                read_sizes(tensor, np.shape(given[tensor.name]), sizes)
        fixed = self._model.info.fixed_batch
        sizes.steps, sizes.batch = sizes.steps or 1, sizes.batch or fixed or 1
        if sizes.batch > self._options.batch:
            raise UsageError(f"{sizes.batch} rows for a session of {self._options.batch}: model.session(batch={sizes.batch})")
        return sizes

    def _lengths(self, lengths: Optional[npt.ArrayLike], sizes: Sizes) -> Optional[npt.NDArray[np.int32]]:
        if lengths is None:
            return None
        array = np.ascontiguousarray(lengths, dtype=np.int32)
        if array.shape != (sizes.batch,) or np.any(array < 0) or np.any(array > sizes.steps):
            raise UsageError(f"lengths must be {sizes.batch} numbers from 0 to {sizes.steps}")
        return array

    def _rows(self, rows: Optional[Sequence[int]], sizes: Sizes) -> Optional[npt.NDArray[np.uint32]]:
        if rows is None:
            return None
        if len(set(rows)) != sizes.batch or len(rows) != sizes.batch or not all(0 <= row < self._options.batch for row in rows):
            raise UsageError(f"rows must be {sizes.batch} different numbers below {self._options.batch}")
        return np.array(rows, dtype=np.uint32)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restored, (self._model, self._options, self.state.save())

    def __repr__(self) -> str:
        return f"<rnnpack.Session of {self._options.batch} streams, {self._info.threads} threads, {self._memory.size} bytes>"


class _Turn:
    """The session is one caller's for the length of a with block."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> None:
        session = self._session
        if not session._lock.acquire(blocking=False):
            raise BusyError("the session is in use by another thread; sessions are made one for each thread, or locked by their users")
        if session._team is not None and os.getpid() != session._pid:
            session._lock.release()
            raise BusyError("the session's threads are in the process that forked this one: make the session here")

    def __exit__(self, *_: object) -> None:
        self._session._lock.release()


@dataclass(frozen=True)
class _ShortRoad:
    """Models for rnnp_step: one input is needed, one output given, both with rows in ONNX's order. Shapes of x, and of the y for each."""
    shapes: Dict[Tuple[int, ...], Tuple[int, ...]]

    @staticmethod
    def of(model: Model, batch: int) -> Optional[_ShortRoad]:
        needed = [t for t in model.inputs if not t.optional]
        if len(needed) != 1 or len(model.outputs) != 1 or not model.info.causal or needed[0].dtype is not np.float32:
            return None
        x, y = needed[0], model.outputs[0]
        if x != next((t for t in model.inputs if t.role == "sequence"), None) or y.role != "sequence":
            return None
        for tensor in (x, y):
            names = [dim for dim in tensor.dims if dim != "steps"]
            if "steps" not in tensor.dims or "batch" not in names or (batch > 1 and names[0] != "batch"):
                return None
        return _ShortRoad({**_shapes(x, y, batch, True), **_shapes(x, y, batch, False)})


def _shapes(x: Tensor, y: Tensor, batch: int, steps: bool) -> Dict[Tuple[int, ...], Tuple[int, ...]]:
    def of(tensor: Tensor) -> Tuple[int, ...]:
        return tuple(dim if isinstance(dim, int) else batch if dim == "batch" else 1 for dim in tensor.dims if steps or dim != "steps")

    return {of(x): of(y)}


def _checked(out: Array, shape: Tuple[int, ...]) -> Array:
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous or not out.flags.writeable:
        raise UsageError(f"out must be a writable float32 array in C order of shape {list(shape)}")
    return out


class _Call:
    """rnnp_run_io, once or in pieces."""

    def __init__(self, session: Session, sizes: Sizes, placed: Sequence[Optional[Placed]], made: Sequence[Made],
                 lengths: Optional[npt.NDArray[np.int32]], rows: Optional[npt.NDArray[np.uint32]], last_step: bool) -> None:
        self._session, self._sizes, self._placed, self._made = session, sizes, placed, made
        self._lengths, self._rows, self._last_step = lengths, rows, last_step
        inputs = session.model.inputs
        self._own_lengths = any(t.role == "lengths" and p is not None for t, p in zip(inputs, placed))

    def run(self, progress: Progress) -> None:
        steps, report = self._sizes.steps, reporter(progress)
        # A row that has ended keeps its last step from the piece it ended in, so those runs stay whole.
        ends = self._own_lengths or self._lengths is not None
        whole = progress is False or not self._session.model.info.causal or ends
        piece = steps if whole else max(1, -(-steps // _PIECES_OF_WATCHED_WORK))
        for first in range(0, steps, piece):
            self._piece(first, min(piece, steps - first))
            report(min(first + piece, steps), steps)

    def _piece(self, first: int, steps: int) -> None:
        model = self._session.model
        ins = (_abi.Buffer * max(1, len(model.inputs)))()
        for at, (tensor, place) in enumerate(zip(model.inputs, self._placed)):
            if place is not None and not (tensor.role == "state" and first):
                ins[at] = place.buffer(first if tensor.role == "sequence" else 0)
        outs = (_abi.Buffer * max(1, len(model.outputs)))()
        for at, (tensor, made) in enumerate(zip(model.outputs, self._made)):
            outs[at] = made.placed.buffer(first if tensor.role == "sequence" and not self._last_step else 0)
        io = _abi.Io(buffer_bytes=ctypes.sizeof(_abi.Buffer), flags=_abi.RUN_LAST_STEP if self._last_step else 0, batch=self._sizes.batch,
                     steps=steps, input_count=len(model.inputs), output_count=len(model.outputs), inputs=ctypes.addressof(ins),
                     outputs=ctypes.addressof(outs), lengths=_address(self._lengths), rows=_address(self._rows))
        _abi.check(_abi.lib.rnnp_run_io(self._session._handle, ctypes.byref(io)), self._hint(steps))

    def _hint(self, steps: int) -> str:
        info = self._session.model.info
        if not info.causal:
            return f"a run of {steps} steps (a model that looks ahead runs whole sequences: session(max_steps=...) says the longest)"
        return f"a run of {steps} steps"


def _address(array: Optional[Array]) -> Optional[int]:
    return None if array is None else int(array.__array_interface__["data"][0])


def _aligned(size: int, alignment: int) -> npt.NDArray[np.uint8]:
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.__array_interface__["data"][0] % alignment
    return memory[start:start + size]


def _restored(model: Model, options: SessionOptions, saved: SavedState) -> Session:
    session = Session(model, options)
    session.state.load(saved)
    return session
