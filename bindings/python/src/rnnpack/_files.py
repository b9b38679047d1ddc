# SPDX-License-Identifier: Apache-2.0
"""Files and folders of this package's own work: what the system refuses is FileError."""
from __future__ import annotations

import contextlib
import pathlib
import tempfile
from typing import Iterator

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
