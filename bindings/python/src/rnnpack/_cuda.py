# SPDX-License-Identifier: Apache-2.0
"""Sessions on an NVIDIA GPU, by librnnpack_cuda.so (experimental): model.session(device="cuda")."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from . import _cuda_tables as tables
from ._cuda_arrays import CudaArray, is_on_gpu, on_gpu
from ._errors import BusyError, LibraryError, UsageError
from ._run_io import Signature
from ._state import Owner, StateCalls
from ._streams import Streams, session_memory
from ._tensors import Array, Placed, Sizes, Tensor, _by_rows, _place, place_input, place_output

if TYPE_CHECKING:
    from ._model import Model

_WEIGHTS = {"f32": tables.CUDA_F32, "f16": tables.CUDA_F16, "bf16": tables.CUDA_BF16}


class _Library:
    """librnnpack_cuda.so, and what arrays need of it."""

    def __init__(self) -> None:
        named = os.environ.get("RNNPACK_CUDA_LIBRARY")
        path = named or str(_abi.NATIVE / "librnnpack_cuda.so.1")
        try:
            self.lib = ctypes.CDLL(path)
        except OSError as error:
            why = str(error) if named else "this package has no librnnpack_cuda.so.1"
            raise LibraryError(f"no CUDA: {why}; build it with -DRNNPACK_CUDA=ON and name it in RNNPACK_CUDA_LIBRARY (docs/CUDA.md)", 0) from None
        for name, (returned, arguments) in tables.FUNCTIONS.items():
            function = getattr(self.lib, name)
            function.argtypes, function.restype = arguments, returned

    def alloc(self, size: int, kind: int = tables.CUDA_DEVICE_MEMORY) -> int:
        place = ctypes.c_void_p()
        _abi.check(self.lib.rnnp_cuda_alloc(kind, size, ctypes.byref(place)), f"{size} bytes of the GPU's memory")
        return place.value or 0

    def free(self, address: int) -> None:
        self.lib.rnnp_cuda_free(tables.CUDA_DEVICE_MEMORY, address)

    def copy(self, to: int, source: int, size: int, stream: Optional[int] = None) -> None:
        _abi.check(self.lib.rnnp_cuda_copy(to, source, size, stream), "a copy from or to the GPU")

    def wait_for(self, stream: int) -> None:
        there = (ctypes.c_uint32 * 2)()
        self.copy(ctypes.addressof(there), ctypes.addressof(there) + 4, 4, stream)


_library: List[_Library] = []


def _load() -> _Library:
    if not _library:
        _library.append(_Library())
    return _library[0]


@dataclass(frozen=True)
class CudaInfo:
    """What was decided when the session was made."""
    batch: int
    weights: str  # f32, f16 or bf16: what dense weights are stored as on the GPU
    memory_bytes: int  # of the GPU
    state_bytes: int  # of one saved row: as on a CPU
    layers: Tuple[str, ...]  # of each recurrent layer: its kernel, and why


class CudaSession(Streams[CudaInfo]):
    """Made by Model.session(device="cuda"). As Session, on the GPU that is the thread's current one.

    Arrays on the GPU (torch, CuPy, JAX, Numba: __cuda_array_interface__ or __dlpack__) are read and written where they lie, as float32
    (int32 for indices) with dense rows; then results are CudaArrays. numpy arrays are copied there and back. A call returns when its
    results are there. States move between CPU and GPU: session.state = other.state.save().
    """

    def __init__(self, model: Model, batch: int, *, max_steps: Optional[int], chunk_steps: int, weights: str) -> None:
        if weights not in _WEIGHTS:
            raise UsageError(f"cuda_weights are {', '.join(_WEIGHTS)}, not {weights}")
        self._model, self._cuda, self._lock = model, _load(), threading.Lock()
        causal = model.info.causal
        options = tables.rnnp_cuda_options(max_batch=batch, max_steps=0 if causal else max_steps or max(100, model.info.stream_steps),
                                           chunk_steps=chunk_steps, weights=_WEIGHTS[weights])
        self._signature = Signature(model.inputs, model.outputs, causal, model.info.fixed_batch, batch)
        lib = self._cuda.lib
        # Waited for: the next call may be on another stream.
        self._state_calls = StateCalls(lambda h, row: int(lib.rnnp_cuda_state_reset(h, row, None) or lib.rnnp_cuda_wait(h, None)),
                                       lambda h, row, to, size: int(lib.rnnp_cuda_state_save(h, row, to, size, None)),
                                       lambda h, row, data, size: int(lib.rnnp_cuda_state_load(h, row, data, size, None)))
        self._make(options, weights)

    def _make(self, options: tables.rnnp_cuda_options, weights: str) -> None:
        lib, opened, need = self._cuda.lib, ctypes.byref(self._model._opened), tables.rnnp_cuda_memory()
        why = _abi.Refusal()
        if lib.rnnp_cuda_session_explain(opened, ctypes.byref(options), ctypes.byref(why)) != 0:
            node = f"node {why.node} '{why.node_name.decode()}' ({why.op.decode()}): " if why.op else ""
            raise LibraryError(f"no session on a GPU: {node}{why.reason.decode()}", why.status)
        _abi.check(lib.rnnp_cuda_session_memory(opened, ctypes.byref(options), ctypes.byref(need)))
        image, self._host = session_memory(need.image_bytes, 64), session_memory(need.host_bytes, need.host_align)
        _abi.check(lib.rnnp_cuda_pack(opened, ctypes.byref(options), _address(image), need.image_bytes), "rnnp_cuda_pack")
        places = tables.rnnp_cuda_buffers(host=_address(self._host), host_bytes=need.host_bytes, image=_address(image),
                                          weights=self._take(need.weight_bytes), work=self._take(need.work_bytes),
                                          findings=self._take(tables.CUDA_FINDINGS_BYTES, tables.CUDA_MAPPED_MEMORY))
        self._handle = ctypes.c_void_p()
        _abi.check(lib.rnnp_cuda_session_init(ctypes.byref(self._handle), opened, ctypes.byref(options), ctypes.byref(places), None),
                   "rnnp_cuda_session_init")
        _abi.check(lib.rnnp_cuda_wait(self._handle, None), "rnnp_cuda_session_init")
        self._device = int(lib.rnnp_cuda_session_device(self._handle))
        self._info = CudaInfo(options.max_batch, weights, need.weight_bytes + need.work_bytes, need.state_bytes, tuple(self._layers()))

    def _layers(self) -> Iterator[str]:
        facts, index = tables.rnnp_cuda_layer_info(), 0
        while self._cuda.lib.rnnp_cuda_layer_get_info(self._handle, index, ctypes.byref(facts)) == 0:
            yield facts.reason.decode()
            index += 1

    def _take(self, size: int, kind: int = tables.CUDA_DEVICE_MEMORY) -> int:
        """The GPU's memory, as long as this session lives."""
        place = self._cuda.alloc(size, kind)
        weakref.finalize(self, self._cuda.lib.rnnp_cuda_free, kind, place)
        return place

    def _as_owner(self) -> Owner:
        return self

    def run(self, x: Any, *, out: Any = None, lengths: Optional[npt.ArrayLike] = None, rows: Optional[Sequence[int]] = None,
            last_step: bool = False, stream: int = 0) -> Any:
        """As Session.run. stream: a cudaStream_t as a number, e.g. torch.cuda.current_stream().cuda_stream; 0 is the default stream."""
        return self._run(x, out, lengths, rows, last_step, stream, False)

    def step(self, x: Any, *, out: Any = None, stream: int = 0) -> Any:
        """As Session.step."""
        return self._run(x, out, None, None, False, stream, True)

    def _run(self, x: Any, out: Any, lengths: Optional[npt.ArrayLike], rows: Optional[Sequence[int]], last_step: bool, stream: int,
             one_step: bool) -> Any:
        signature = self._signature
        given: Dict[str, Any] = dict(signature.named_inputs(x))
        there = {name for name, value in given.items() if is_on_gpu(value)}
        for name in there:
            given[name] = on_gpu(given[name], name, self._cuda, stream)
        whole, squeeze = signature.with_steps(given) if one_step else (given, False)
        sizes = signature.sizes(whole)
        with self._turn():
            ins, kept = (_abi.Buffer * max(1, len(signature.inputs)))(), []
            for at, tensor in enumerate(signature.inputs):
                if tensor.name in whole:
                    ins[at], keeper = self._input(tensor, whole[tensor.name], sizes, tensor.name in there, stream)
                    kept.append(keeper)
            results = [_Result(self._cuda, self._device, t, sizes, last_step, signature.named_outputs(out).get(t.name), squeeze, stream)
                       for t in signature.outputs]
            outs = (_abi.Buffer * len(results))(*(one.placed.buffer() for one in results))
            ends, which = signature.lengths(lengths, sizes), signature.rows(rows, sizes)
            io = _abi.Io(buffer_bytes=ctypes.sizeof(_abi.Buffer), flags=_abi.RUN_LAST_STEP if last_step else 0, batch=sizes.batch,
                         steps=sizes.steps, input_count=len(signature.inputs), output_count=len(results), inputs=ctypes.addressof(ins),
                         outputs=ctypes.addressof(outs), lengths=_address(ends), rows=_address(which))
            what = f"a run of {sizes.steps} steps"
            if not signature.causal:
                what += ' (a model that looks ahead runs whole sequences: session(device="cuda", max_steps=...) says the longest)'
            _abi.check(self._cuda.lib.rnnp_cuda_run_io(self._handle, ctypes.byref(io), stream or None), what)
            _abi.check(self._cuda.lib.rnnp_cuda_wait(self._handle, stream or None), what)
            found = {t.name: one.give(bool(there)) for t, one in zip(signature.outputs, results)}
        return next(iter(found.values())) if len(found) == 1 else found

    def _input(self, tensor: Tensor, value: Any, sizes: Sizes, is_there: bool, stream: int) -> Tuple[_abi.Buffer, Any]:
        if not is_there:
            packed = np.ascontiguousarray(place_input(tensor, value, sizes).kept)
            copied = CudaArray(self._cuda, packed, self._device)
            self._cuda.copy(copied.__cuda_array_interface__["data"][0], packed.__array_interface__["data"][0], packed.nbytes, stream or None)
            return _abi.Buffer(copied.__cuda_array_interface__["data"][0], 0, 0), copied
        dims = ("steps", *tensor.dims) if value.ndim > len(tensor.dims) else tensor.dims
        view = _by_rows(dims, value)
        placed = _place(np.broadcast_to(view, (sizes.steps if tensor.role == "sequence" else view.shape[0], sizes.batch, *view.shape[2:])))
        if placed is None or value.dtype != tensor.dtype:
            raise UsageError(f"input '{tensor.name}' on the GPU must be {np.dtype(tensor.dtype)} with dense rows, and is not converted there")
        return placed.buffer(), value

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise BusyError("the session is in use by another thread; sessions are made one for each thread, or locked by their users")
        try:
            yield
        finally:
            self._lock.release()

    def __repr__(self) -> str:
        return f"<rnnpack.CudaSession of {self._info.batch} streams, {self._info.memory_bytes} bytes of the GPU>"


class _Result:
    """An output: a new array of the GPU, or the caller's own where it is there."""

    def __init__(self, cuda: _Library, device: int, tensor: Tensor, sizes: Sizes, last_step: bool, out: Any, squeeze: bool,
                 stream: int) -> None:
        self._cuda, self._out = cuda, out
        self._made = place_output(tensor, sizes, last_step, None, squeeze)
        shape = self._made.array.shape
        if out is None or isinstance(out, np.ndarray):
            if out is not None:
                place_output(tensor, sizes, last_step, out, squeeze)  # says what is wrong of it
            self._array = CudaArray(cuda, self._made.array, device)
            address = self._array.__cuda_array_interface__["data"][0]
            self.placed = Placed(self._made.array, address, self._made.placed.step_bytes, self._made.placed.row_bytes)
            return
        view = on_gpu(out, tensor.name, cuda, stream) if is_on_gpu(out) else None
        if view is None or view.shape != shape or view.dtype != np.float32 or view.strides != self._made.array.strides:
            raise UsageError(f"out for '{tensor.name}' must be a dense float32 array of shape {list(shape)}, on the GPU or numpy's")
        self.placed = Placed(view, view.__array_interface__["data"][0], self._made.placed.step_bytes, self._made.placed.row_bytes)

    def give(self, stays: bool) -> Union[Array, CudaArray, Any]:
        if self._out is not None and not isinstance(self._out, np.ndarray):
            return self._out
        if stays and self._out is None:
            return self._array
        array = self._made.array
        self._cuda.copy(self._made.placed.address, self.placed.address, array.nbytes)
        if self._out is None:
            return array
        self._out[...] = array
        return self._out


def _address(array: Optional[npt.NDArray[Any]]) -> Optional[int]:
    return None if array is None else int(array.__array_interface__["data"][0])
