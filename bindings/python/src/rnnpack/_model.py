# SPDX-License-Identifier: Apache-2.0
"""A compiled model, and how it is made: compile() and Model.load()."""
from __future__ import annotations

import ctypes
import json
import mmap
import os
import pathlib
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Dict, Literal, Mapping, Optional, Protocol, Sequence, Tuple, Union, cast, overload

import numpy as np
import numpy.typing as npt

from . import _abi
from ._accuracy import QuantizationErrors, errors_of
from ._compiler import compile_here, library
from ._cuda import CudaSession
from ._errors import Error, FileError, UsageError
from ._files import file_errors, work_folder, write_file
from ._html import tensors_html
from ._integers import integer
from ._machine import read_machine
from ._options import Constants, Data, Names, Number, PathLike, Sizes, measures
from ._progress import Progress, reporter
from ._session import Session, SessionOptions
from ._tensors import Tensor, tensor_of
from ._tool import Said, arguments_of, fail, kept_flags, options_of, pairs_of, run_tool

if TYPE_CHECKING:
    from ._report import Report


class OnnxMessage(Protocol):
    """An onnx.ModelProto, as far as it is asked: this package does not import onnx."""

    def SerializeToString(self) -> bytes: ...


@dataclass(frozen=True)
class ModelInfo:
    """What a model is, as a whole: rnnp_model_info of rnnpack.h."""
    blob_version: int
    node_count: int
    recurrent_count: int  # nodes that are RNN, GRU or LSTM
    causal: bool  # may be run in pieces of any length; else whole sequences only
    fixed_batch: int  # 0, or the only batch the model was exported for
    layout_nr: int  # hidden units per tile of the packed weights
    stream_steps: int  # 0, or the steps of each call that the model was compiled for
    in_place: bool
    blob_bytes: int
    weight_bytes: int
    state_bytes_per_row: int
    model_id: int  # hash of graph and weights, the same for every layout
    macs_per_step: int  # multiply-accumulates of one step of one row


@dataclass(frozen=True)
class Source:
    """What a blob was made from, so that it can be made again for another target."""
    onnx: Union[str, bytes]
    flags: Mapping[str, Any]


class Model:
    """A blob, checked and opened. It does not change, may be shared by threads, and pickles."""

    def __init__(self, blob: Union[bytes, bytearray, memoryview], *, notes: Sequence[str] = (), source: Optional[Source] = None,
                 errors: Optional[QuantizationErrors] = None) -> None:
        """`blob`: what `rnnpack compile` wrote. Copied once if it does not lie on 64 bytes, else used where it is."""
        view = np.frombuffer(blob, np.uint8)
        place = view.__array_interface__["data"][0]
        if place % _abi.BLOB_ALIGNMENT or isinstance(blob, bytearray):
            room = np.empty(view.size + _abi.BLOB_ALIGNMENT, np.uint8)
            place = room.__array_interface__["data"][0]  # the address of an empty slice may be another
            start = -place % _abi.BLOB_ALIGNMENT
            room[start:start + view.size] = view
            view = room[start:start + view.size]
            place += start
        self._blob: npt.NDArray[np.uint8] = view
        self._source = source
        self.notes: Tuple[str, ...] = tuple(notes)  # what the compiler had to say
        self.errors = errors  # what low-precision weights cost, where compile() measured it; else None
        self._opened = _abi.Model()
        _abi.check(_abi.lib.rnnp_model_open(ctypes.byref(self._opened), place, view.size,
                                            _abi.OPEN_CHECK_WEIGHTS), "the blob does not open")
        facts = _abi.ModelFacts()
        _abi.check(_abi.lib.rnnp_model_get_info(ctypes.byref(self._opened), ctypes.byref(facts)))
        values = {name: getattr(facts, name) for name in ModelInfo.__dataclass_fields__}
        self._info = ModelInfo(**{**values, "causal": bool(facts.causal), "in_place": bool(facts.in_place)})
        self._inputs = self._tensors(_abi.lib.rnnp_model_get_input, facts.input_count)
        self._outputs = self._tensors(_abi.lib.rnnp_model_get_output, facts.output_count)

    def _tensors(self, ask: Any, count: int) -> Tuple[Tensor, ...]:
        found = []
        for index in range(count):
            facts = _abi.TensorFacts()
            _abi.check(ask(ctypes.byref(self._opened), index, ctypes.byref(facts)))
            found.append(tensor_of(facts))
        return tuple(found)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        return self._inputs

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        return self._outputs

    @property
    def meta(self) -> Dict[str, str]:
        """Texts that the blob carries: the ONNX file's metadata_props and compile(meta=...)."""
        found: Dict[str, str] = {}
        key, value = ctypes.c_char_p(), ctypes.c_char_p()
        index = 0
        while _abi.lib.rnnp_model_get_meta(ctypes.byref(self._opened), index, ctypes.byref(key), ctypes.byref(value)) == 0:
            found.setdefault((key.value or b"").decode(errors="replace"), (value.value or b"").decode(errors="replace"))
            index += 1
        return found

    @property
    def blob(self) -> memoryview:
        """The bytes of the blob, where they lie."""
        return memoryview(cast(Any, self._blob)).toreadonly()[:self._info.blob_bytes]

    @overload
    def session(self, batch: Optional[int] = None, threads: int = 1, *, max_steps: Optional[int] = None, chunk_steps: int = 0,
                all_threads: bool = False, reference: bool = False, portable_ops: bool = False, machine: Optional[PathLike] = None,
                device: Literal["cpu"] = "cpu") -> Session: ...

    @overload
    def session(self, batch: Optional[int] = None, *, max_steps: Optional[int] = None, chunk_steps: int = 0, device: Literal["cuda"],
                cuda_weights: str = "f32") -> CudaSession: ...

    def session(self, batch: Optional[int] = None, threads: int = 1, *, max_steps: Optional[int] = None, chunk_steps: int = 0,
                all_threads: bool = False, reference: bool = False, portable_ops: bool = False, machine: Optional[PathLike] = None,
                device: str = "cpu", cuda_weights: str = "f32") -> Union[Session, CudaSession]:
        """A running instance: `batch` independent streams (1, or what the model was exported for), on up to `threads` threads.

        max_steps     of a model that looks ahead: its longest run; left out, memory grows with the longest one so far
        chunk_steps   steps that go through all nodes at a time; 0: the library's choice
        all_threads   use them even where a step is too little work to gain from it
        reference     reference kernels only, whose bits are the same on every CPU
        portable_ops  without XNNPACK, where the library has it
        machine       a machine file of `rnnpack tune`, in the place of threads, chunk_steps and all_threads
        device        "cuda": on the current GPU (experimental), where batch, max_steps and chunk_steps count
        cuda_weights  what dense weights are there: f32, f16 or bf16
        """
        batch = self._info.fixed_batch or 1 if batch is None else integer("batch", batch, 1)
        threads, chunk_steps = integer("threads", threads, 1, _abi.MAX_THREADS), integer("chunk_steps", chunk_steps, 0)
        max_steps = None if max_steps is None else integer("max_steps", max_steps, 0)
        if device == "cuda":
            if threads != 1 or all_threads or reference or portable_ops or machine is not None:
                raise UsageError("threads, all_threads, reference, portable_ops and machine are of sessions on a CPU")
            return CudaSession(self, batch, max_steps=max_steps, chunk_steps=chunk_steps, weights=cuda_weights)
        if device != "cpu" or cuda_weights != "f32":
            raise UsageError(f'device is cpu or cuda, not {device}; cuda_weights are of session(device="cuda")')
        if machine is not None:
            if threads != 1 or chunk_steps != 0 or all_threads:
                raise UsageError("machine takes the place of threads, chunk_steps and all_threads")
            m = read_machine(machine)
            return Session(self, SessionOptions(batch, m.threads, max_steps, m.chunk_steps, m.all_threads, reference, portable_ops,
                                                m.isa_allowed, m.l2_bytes))
        return Session(self, SessionOptions(batch, threads, max_steps, chunk_steps, all_threads, reference, portable_ops))

    def save(self, path: PathLike) -> None:
        """Write the blob: what rnnpack.Model.load, the tool and the C library read."""
        write_file(path, self.blob)

    @classmethod
    def load(cls, path: PathLike) -> Model:
        """Open a blob's file where it lies: processes that load the same file share its memory."""
        with file_errors(), open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise FileError(f"'{os.fspath(path)}' is empty; a blob is expected")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return cls(memoryview(mapped))

    def to_c(self, name: str, folder: PathLike = ".", *, target: str = "cortex-m", one_file: bool = False,
             chunk_steps: Optional[int] = None, max_steps: Optional[int] = None, progress: Progress = False) -> Tuple[pathlib.Path, ...]:
        """For firmware: `name`.h and `name`.c in `folder`, the model as a const array with the sizes a static buffer needs; with
        one_file `name`.h and `name`.cpp, which hold the library's code too. Compiled anew for `target` from the model's ONNX file,
        `progress` as compile has it."""
        if self._source is None:
            raise UsageError("this model was made from a blob, whose weights lie as its own target wants them: compile the ONNX file "
                             "(rnnpack.compile(path)) and ask that model")
        with work_folder() as place:
            flags = {**self._source.flags, "target": target, "one_file": one_file, "chunk_steps": chunk_steps, "max_steps": max_steps}
            base = pathlib.Path(folder) / name
            again, _ = _run_compile(self._source.onnx, {**flags, "emit_c": str(base)}, place, progress)
            if Model(again).info.model_id != self._info.model_id:
                raise Error(f"'{self._source.onnx!s}' is not what this model was made from any more; the files written are of what it is now")
        return base.with_name(name + ".h"), base.with_name(name + (".cpp" if one_file else ".c"))

    def verify(self, *, input: Union[None, Data, Sequence[PathLike], Mapping[str, Data]] = None, steps: Optional[int] = None,
               batch: Optional[int] = None, seed: Optional[int] = None, deviation: Optional[Number] = None,
               tolerance: Optional[Number] = None, accuracy_min: Optional[Number] = None,
               max_input: Union[None, int, str] = None, progress: Progress = False) -> str:
        """Compare with an f64 evaluation of the ONNX graph, on random inputs or on data; what the tool said. Raises VerifyError where
        they differ.

        input      arrays or .npy and .npz files; what is not given is drawn at random
        steps, batch  sizes of the random inputs
        seed       of the random inputs, and of where the run is cut
        deviation  standard deviation of the random inputs (1)
        tolerance  largest error, relative to max(1, |expected|); left out: 1e-5, or more where the network amplifies rounding
        accuracy_min  smallest signal-to-noise ratio of every output, in dB, of low-precision weights
        max_input  largest array that is read: bytes, or "4GiB" (1 GiB)
        progress   as compile() has it
        """
        if self._source is None:
            raise UsageError("this model was made from a blob: only compile() knows the ONNX file")
        with work_folder() as place:
            self.save(place / "model.rnnp")
            model_flags = {name: value for name, value in self._source.flags.items() if name.rstrip("_").replace("_", "-") in options_of("verify")}
            model_flags.pop("accuracy_min", None)  # of the data that it was compiled with
            chosen = kept_flags({**model_flags, "input": input, "steps": steps, "batch": batch, "seed": seed, "deviation": deviation,
                                 "tolerance": tolerance, "accuracy_min": accuracy_min, **({} if max_input is None else {"max_input": max_input})})
            onnx = _onnx_file(self._source.onnx, place)
            return run_tool(["verify", onnx, str(place / "model.rnnp"), *arguments_of(pairs_of(chosen, place))], progress).out

    def report(self, *, steps: Optional[int] = None, batch: int = 1) -> Report:
        """What the model is made of, where its values lie in memory and how long each node takes on this machine: print it, or leave it
        to a notebook, which shows pictures. `steps` of one timed call: those it was compiled for, else 100."""
        from ._report import make_report
        return make_report(self, steps, batch)

    def __reduce__(self) -> Tuple[Any, ...]:
        # A source in memory stays behind: it would double what is sent.
        source = self._source if self._source is not None and isinstance(self._source.onnx, str) else None
        return _restored, (bytes(self.blob), self.notes, source, self.errors)

    @property
    def name(self) -> str:
        """The ONNX file's, where it was made from one, and the model's number."""
        file = pathlib.Path(self._source.onnx) if self._source is not None and isinstance(self._source.onnx, str) else None
        number = f"model {self._info.model_id:016x}"
        return number if file is None else f"{file.parent.name}/{file.name}, {number}"

    def _repr_html_(self) -> str:
        info = self._info
        kind = "causal: may run in pieces" if info.causal else "looks ahead: whole sequences only"
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (f'<div class="rnnpack-model"><p><b>{escape(self.name)}</b></p><p>{info.blob_bytes} bytes ({info.weight_bytes} of weights), '
                f"{info.node_count} nodes, {info.recurrent_count} of them recurrent, {kind}, {info.macs_per_step} multiply-accumulates a "
                f"step and row.</p>{tensors_html(self._inputs, self._outputs)}<ul>{notes}</ul></div>")

    def __repr__(self) -> str:
        tensors = ", ".join(map(str, self._inputs)) + " -> " + ", ".join(map(str, self._outputs))
        return f"<rnnpack.Model {tensors}; {self._info.blob_bytes} bytes>"


def _restored(blob: bytes, notes: Sequence[str], source: Optional[Source], errors: Optional[QuantizationErrors]) -> Model:
    return Model(blob, notes=notes, source=source, errors=errors)


def _onnx_file(onnx: Union[str, bytes], folder: pathlib.Path) -> str:
    if isinstance(onnx, str):
        return onnx
    file = folder / "model.onnx"
    with file_errors():
        file.write_bytes(onnx)
    return str(file)


def _run_compile(onnx: Union[str, bytes], flags: Mapping[str, Any], folder: pathlib.Path, progress: Progress = False) -> Tuple[bytes, Said]:
    """The blob, and what the compiler said: in this process, or in the tool's where the package has no library of it. Files that options
    name are written."""
    with file_errors():
        pairs = pairs_of(kept_flags(flags), folder)
    if library() is None:
        output = folder / "made.rnnp"
        said = run_tool(["compile", _onnx_file(onnx, folder), "-o", str(output), *arguments_of(pairs)], progress)
        with file_errors():
            return output.read_bytes(), said
    made = compile_here(onnx, pairs, reporter(progress))
    said = Said(made.out, made.err)
    if made.status != 0:
        fail(made.status, said)
    with file_errors():
        for path, content in made.files.items():
            if path:
                pathlib.Path(path).write_bytes(content)
    return made.files[""], said


def compile(model: Union[PathLike, bytes, OnnxMessage], *, stream: Optional[int] = None, target: Optional[str] = None,
            weights: Optional[str] = None, recurrent_weights: Optional[str] = None, arithmetic: Optional[str] = None,
            keep_float: Optional[Names] = None, calibrate: Union[None, Data, Sequence[PathLike], Mapping[str, Data]] = None,
            method: Optional[str] = None, prune: Union[None, str, Number] = None, accuracy_min: Optional[Number] = None,
            metric: Optional[PathLike] = None, report: Optional[PathLike] = None, sparse: Optional[str] = None,
            winograd: Optional[str] = None, from_: Union[None, Names, Sizes] = None, to: Optional[Names] = None,
            set: Optional[Constants] = None, dim: Optional[Mapping[str, int]] = None,
            shape: Optional[Mapping[str, Sequence[int]]] = None, axes: Optional[Mapping[str, Sequence[str]]] = None,
            state: Optional[Mapping[str, str]] = None, quality: Optional[Number] = None, max_input: Union[None, int, str] = None,
            check: bool = True,
            meta: Optional[Mapping[str, str]] = None, no_onnx_meta: bool = False, progress: Progress = False) -> Model:
    """Compile a model: the path of an ONNX file or of another kind that the tool reads (docs/FORMATS.md) or of Keras (from_keras), an
    onnx.ModelProto, or the bytes of one. Keywords are the options of `rnnpack compile`.

    Where it runs
    stream  steps of a call that sessions are sized for; refused when the model looks ahead
    target  the layout of the packed weights: generic, avx512, avx2, neon, armv7, cortex-m, cortex-m4 or
            cortex-m55
    winograd  "off": 3 x 3 convolutions stay as they are; "auto" where left out

    Low-precision weights; Model.errors has what they cost, where any of calibrate, accuracy_min, metric, prune or report is given
    weights  f32, f16, bf16, int8, int4, int4:GROUP, q8_0 or q4_0, or "auto"; left out: what the file has
    recurrent_weights  the same of recurrent layers' R alone
    arithmetic  "integer": recurrent layers of int8 without a float instruction, for CPUs without an FPU; "bf16": bf16 weights,
            and x and h rounded to bf16 where they are multiplied
    keep_float  nodes whose weights stay f32
    calibrate  data that the network is made for: an array, arrays by name, or files (.npy, .npz, .wav)
    max_input  largest array of calibrate and set that is read: bytes, or "4GiB" (1 GiB)
    method  how weights are rounded: "round", "mse" or "gptq"
    prune   SIZE or "SIZE:UNITS": blocks of weights that are all below SIZE become zeros
    sparse  "keep", "blocks", "pairs" or "off": how matrices of mostly zeros are stored
    accuracy_min  smallest signal-to-noise ratio of every output, in dB (with metric: in its units); VerifyError below it
    metric  a program that compares outputs with those of the f32 network, and prints one number
    report  a JSON file for the errors

    What the graph is
    set     inputs that become constants: a number, a list or an array each
    dim     sizes of named dynamic dimensions
    shape   sizes of an input's dynamic dimensions, -1 for one left open
    axes    what an input's axes are: {"x": ["batch", "time", "features"]}
    state   inputs that take an output of the step before: the library keeps them
    quality  of a file that holds several networks (Neural Amp Modeler's): from 0, the smallest, to 1, the best; left out: 1
    from_, to  the part of the graph between these tensors: names, or {"tensor": [1, "batch", 16]} with sizes for from_

    meta    texts that the blob carries, in the place of the ONNX file's of the same key; "" leaves a key out: Model.meta
    no_onnx_meta  True carries none of the file's metadata_props
    check   compare the model with an f64 evaluation of the ONNX graph before it is returned; VerifyError where they differ
    progress  True shows a bar on standard error, a function is called with (done, of): the search of weights="auto" and the
            measurement of errors take a while

    ModelError says why a model is refused, in the tool's own words; Model.notes has what else it said.
    """
    onnx: Union[str, bytes]
    if isinstance(model, (str, os.PathLike)):
        onnx = os.path.abspath(os.fspath(model))
        if is_of_keras(onnx):
            from ._keras import keras_to_onnx
            dim = dict(dim or {})
            onnx = keras_to_onnx(onnx, dim)
    elif isinstance(model, bytes):
        onnx = model
    elif hasattr(model, "SerializeToString"):
        onnx = model.SerializeToString()
    else:
        raise TypeError(f"compile takes a path, an onnx.ModelProto or bytes, not {type(model).__name__}")
    given = kept_flags({"stream": stream, "target": target, "weights": weights, "recurrent_weights": recurrent_weights, "arithmetic": arithmetic,
                        "keep_float": keep_float, "calibrate": calibrate, "method": method, "prune": prune, "accuracy_min": accuracy_min,
                        "metric": metric, "sparse": sparse, "winograd": winograd, "from_": from_, "to": to, "set": set, "dim": dim,
                        "shape": shape, "axes": axes, "state": state, "quality": quality, "max_input": max_input, "meta": meta,
                        "no_onnx_meta": no_onnx_meta, "no_check": not check})
    return _compiled(onnx, given, report, progress)


def is_of_keras(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(8).startswith((b"PK\3\4", b"\x89HDF\r\n\x1a\n"))
    except OSError:
        return False  # the compiler says what is wrong


def _compiled(onnx: Union[str, bytes], given: Mapping[str, Any], report: Optional[PathLike], progress: Progress) -> Model:
    with work_folder() as place:
        errors = None
        flags: Dict[str, Any] = dict(given)
        if report is not None or measures(given):
            flags["report"] = os.fspath(report) if report is not None else str(place / "errors.json")
        blob, said = _run_compile(onnx, flags, place, progress)
        if "report" in flags:
            with file_errors():
                errors = errors_of(json.loads(pathlib.Path(flags["report"]).read_text(encoding="utf-8")), said.out)
        # Which file it made, and commands to go on with it, are for a command line.
        notes = [line for line in said.err.splitlines() if line and not line.startswith(("made ", "next: "))]
        return Model(blob, notes=[*notes, *(errors.notes if errors else ())], source=Source(onnx, given), errors=errors)
