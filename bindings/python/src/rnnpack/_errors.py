# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions. Their text is the tool's or the library's own."""
from __future__ import annotations

from typing import Optional


class Error(Exception):
    """Everything that this package raises of its own. `status`: the library's rnnp_status, where it was the library that refused."""

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = status


class UsageError(Error, ValueError):
    """An argument that does not fit: a name, a shape, a type, a flag."""


class ModelError(Error):
    """The model is refused: it needs what is not supported. The text names the node, the cause and what helps."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or is not what it should be."""

    def __str__(self) -> str:
        return str(self.args[0])


class VerifyError(Error):
    """Results that differ from the evaluation of the ONNX graph."""


class LibraryError(Error):
    """The library refused a blob, a session or a call."""


class NoMemoryError(Error, MemoryError):
    """A session needs more memory than there is."""


class BusyError(Error, RuntimeError):
    """A session was used while a call on it was running in another thread."""
