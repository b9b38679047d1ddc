# SPDX-License-Identifier: Apache-2.0
"""The tool `rnnpack` that comes with the package: run in a process of its own, its messages as exceptions."""
from __future__ import annotations

import functools
import os
import pathlib
import re
import subprocess
import tempfile
from typing import IO, Any, Callable, Dict, FrozenSet, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, cast

import numpy as np
import numpy.typing as npt

from . import _compiler_tables as tables
from ._abi import NATIVE
from ._errors import Error, FileError, ModelError, UsageError, VerifyError
from ._files import file_errors
from ._progress import Progress, reporter

TOOL = NATIVE / "rnnpack"
_ERRORS = {tables.COMPILE_USAGE: UsageError, tables.COMPILE_REFUSED: ModelError, tables.COMPILE_IO: FileError,
           tables.COMPILE_UNVERIFIED: VerifyError}


def code_of(error: Error) -> int:
    """The tool's exit code that stands for it."""
    return next((code for code, kind in _ERRORS.items() if isinstance(error, kind)), tables.COMPILE_USAGE)


class Said(NamedTuple):
    """What the tool wrote to its two streams."""
    out: str
    err: str


def fail(code: int, said: Said) -> NoReturn:
    """Raise what the tool's exit code stands for."""
    text = said.err.strip() or said.out.strip()
    if code == tables.COMPILE_UNVERIFIED:
        text = (said.out + said.err).strip()
    if text.startswith("rnnpack: "):
        text = text[len("rnnpack: "):]
    raise _ERRORS.get(code, Error)(text or f"the tool ended with {code}")


def run_tool(arguments: Sequence[str], progress: Progress = False) -> Said:
    """`progress`: of commands that have --progress, what is called with (done, of) as they go on."""
    watched = [] if progress is False else ["--progress"]
    # A file takes what a pipe would have to be emptied of while the other one is read.
    with file_errors():
        room = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
    with room as out:
        try:
            child = subprocess.Popen([str(TOOL), *arguments, *watched], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                     encoding="utf-8", errors="replace")
        except OSError as error:
            raise FileError(f"the tool that comes with the package does not start: {error}") from error
        with child:
            try:
                err = _without_progress(cast(IO[str], child.stderr), reporter(progress))
            except BaseException:
                child.kill()
                raise
        out.seek(0)
        said = Said(out.read(), err)
    if child.returncode != 0:
        fail(child.returncode, said)
    return said


def _without_progress(lines: IO[str], report: Callable[[int, int], None]) -> str:
    kept = []
    for line in lines:
        told = re.fullmatch(r"progress: (\d+) of (\d+)\n", line)
        if told:
            report(int(told[1]), int(told[2]))
        else:
            kept.append(line)
    return "".join(kept)


@functools.lru_cache(maxsize=None)
def options_of(command: str) -> FrozenSet[str]:
    """The long options of a command, as the tool lists them."""
    return frozenset(re.findall(r"--([a-z][a-z0-9-]*)", run_tool([command, "--help"]).out)) - {"help", "output", "progress"}


def _text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(_text(part) for part in value)
    if isinstance(value, np.generic):
        return _text(value.item())
    return str(value)


def _saved(option: str, value: npt.NDArray[Any], folder: pathlib.Path) -> str:
    file = folder / f"{option}{len(list(folder.iterdir()))}.npy"
    np.save(file, value)
    return str(file)


def pairs_of(flags: Mapping[str, Any], folder: pathlib.Path) -> List[Tuple[str, Optional[str]]]:
    """Keyword arguments as the compiler's options and their values: one_file=True is one-file, which has none, state={"h": "hn"} is
    state and h=hn. Arrays are written to files in `folder`."""
    pairs: List[Tuple[str, Optional[str]]] = []
    for name, value in flags.items():
        option = name.rstrip("_").replace("_", "-")  # from_: a word of Python's own
        if value is None or value is False:
            continue
        if value is True:
            pairs.append((option, None))
        elif isinstance(value, np.ndarray):
            pairs.append((option, _saved(option, value, folder)))
        elif isinstance(value, Mapping):
            for one, of in value.items():
                pairs.append((option, f"{one}={_saved(option, of, folder) if isinstance(of, np.ndarray) else _text(of)}"))
        elif isinstance(value, (list, tuple)):
            pairs += [(option, _text(one)) for one in value]
        else:
            pairs.append((option, os.fspath(value) if isinstance(value, os.PathLike) else _text(value)))
    return pairs


def arguments_of(pairs: Sequence[Tuple[str, Optional[str]]]) -> List[str]:
    """As the tool's command line has them."""
    arguments: List[str] = []
    for option, value in pairs:
        arguments += [f"--{option}"] if value is None else [f"--{option}", value]
    return arguments


def kept_flags(flags: Mapping[str, Any]) -> Dict[str, Any]:
    """Without what was not given."""
    return {name: value for name, value in flags.items() if value is not None and value is not False}
