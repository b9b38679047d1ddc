# SPDX-License-Identifier: Apache-2.0
"""Files and folders of this package's own work: what the system refuses is FileError."""
from __future__ import annotations

import contextlib
import os
import pathlib
import stat
import tempfile
from typing import Iterator, Union

from ._errors import FileError


@contextlib.contextmanager
def file_errors() -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raised = FileError(str(error))
        raised.errno, raised.strerror, raised.filename = error.errno, error.strerror, error.filename
        raise raised from error


@contextlib.contextmanager
def work_folder() -> Iterator[pathlib.Path]:
    with file_errors():
        folder = tempfile.TemporaryDirectory()
    with folder as name:
        yield pathlib.Path(name)


def write_file(path: Union[str, os.PathLike[str]], content: Union[bytes, memoryview]) -> None:
    """As the tool writes: beside the file that `path` names through links, and renamed when complete; a pipe or device stays what it
    is."""
    with file_errors():
        target = pathlib.Path(os.path.realpath(path))
        if _is_special(target):
            with os.fdopen(os.open(target, os.O_WRONLY), "wb") as file:
                file.write(content)
            return
        handle, beside = tempfile.mkstemp(prefix=target.name + ".", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(beside, 0o666 & ~mask)
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise


def _is_special(path: pathlib.Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
