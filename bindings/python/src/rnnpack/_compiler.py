# SPDX-License-Identifier: Apache-2.0
"""The compiler in this process: rnnpack/compiler.h through ctypes, where the package has its library. It lets go of the interpreter's
lock for the length of a call, so threads compile side by side."""
from __future__ import annotations

import ctypes
import functools
import os
from ctypes import c_char_p
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _compiler_tables as tables
from ._abi import NATIVE

LIBRARY = NATIVE / "librnnpack_compiler.so.1"
Pairs = Sequence[Tuple[str, Optional[str]]]


class Compiled(NamedTuple):
    status: int  # the tool's exit code
    files: Dict[str, bytes]  # by their paths; the blob's is ""
    out: str  # what the tool would write to standard output
    err: str  # and to standard error


@functools.lru_cache(maxsize=None)
def library() -> Optional[ctypes.CDLL]:
    """None where the package has the tool alone."""
    if not LIBRARY.exists():
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
    except OSError:
        return None
    for name, (returned, arguments) in tables.FUNCTIONS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, returned
    return loaded


class _Call:
    """What the callbacks of one call are told. What they raise ends the call, and is raised again behind it: an interrupt from the
    keyboard too, which is why progress is always asked for."""

    def __init__(self, report: Callable[[int, int], None]) -> None:
        self.files: Dict[str, bytes] = {}
        self.out: List[str] = []
        self.err: List[str] = []
        self.raised: Optional[BaseException] = None
        self._report = report

    def take(self, _user: object, path: bytes, data: Optional[int], size: int) -> int:
        return self._guarded(lambda: self.files.__setitem__(os.fsdecode(path), ctypes.string_at(data or 0, size)))

    def hear(self, _user: object, kind: int, text: bytes) -> int:
        return self._guarded(lambda: self._hear(kind, text.decode(errors="replace")))

    def _hear(self, kind: int, text: str) -> None:
        if kind == tables.COMPILE_PROGRESS:
            done, of = text.split(" of ")
            self._report(int(done), int(of))
        elif kind == tables.COMPILE_REPORT:
            self.out.append(text)
        else:
            self.err.append({tables.COMPILE_ERROR: "rnnpack: ", tables.COMPILE_NOTE: "note: "}.get(kind, "") + text)

    def _guarded(self, act: Callable[[], None]) -> int:
        if self.raised is None:
            try:
                act()
            except BaseException as error:  # pylint: disable=broad-except
                self.raised = error
        return int(self.raised is not None)


def compile_here(onnx: Union[str, bytes], pairs: Pairs, report: Callable[[int, int], None]) -> Compiled:
    """`onnx`: a path or bytes; `pairs`: options and their values, of flags None."""
    loaded = library()
    assert loaded is not None
    data = None if isinstance(onnx, str) else onnx
    named = [("model", onnx)] if isinstance(onnx, str) else []
    texts = [option if value is None else f"{option}={value}" for option, value in [*pairs, ("progress", None), *named]]
    options = (c_char_p * len(texts))(*(os.fsencode(text) for text in texts))
    call = _Call(report)
    status = loaded.rnnp_compile(data, len(data or b""), options, len(texts), tables.rnnp_compile_sink(call.take),
                                 tables.rnnp_compile_listener(call.hear), None)
    if call.raised is not None:
        raise call.raised
    assert status != tables.COMPILE_STOPPED
    return Compiled(status, call.files, "".join(f"{text}\n" for text in call.out), "".join(f"{text}\n" for text in call.err))
