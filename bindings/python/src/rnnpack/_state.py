# SPDX-License-Identifier: Apache-2.0
"""The state of a session's streams, one of each batch row, and what of it is kept elsewhere."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Callable, ContextManager, NamedTuple, Optional, Protocol, Tuple, Union

from . import _abi
from ._errors import UsageError
from ._integers import integer


class _Info(Protocol):
    @property
    def batch(self) -> int: ...
    @property
    def state_bytes(self) -> int: ...


class StateCalls(NamedTuple):
    """The library's functions on the state of a row, of a CPU's sessions or a GPU's; each gives a status."""
    reset: Callable[[Any, int], int]
    save: Callable[[Any, int, Any, int], int]
    load: Callable[[Any, int, bytes, int], int]


CPU_CALLS = StateCalls(_abi.lib.rnnp_state_reset, _abi.lib.rnnp_state_save, _abi.lib.rnnp_state_load)


class Owner(Protocol):
    """A session, as far as its state is concerned."""
    _handle: ctypes.c_void_p
    _state_calls: StateCalls

    @property
    def info(self) -> _Info: ...

    def _turn(self) -> ContextManager[None]: ...


@dataclass(frozen=True)
class SavedState:
    """Of some streams, as bytes that any session of the same model can load, on any CPU. Pickles."""
    rows: Tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.rows)


def save_row(session: Owner, row: int) -> bytes:
    place = ctypes.create_string_buffer(session.info.state_bytes)
    _abi.check(session._state_calls.save(session._handle, row, place, len(place)))
    return place.raw


def load_row(session: Owner, row: int, saved: bytes) -> None:
    _abi.check(session._state_calls.load(session._handle, row, saved, len(saved)), f"state of stream {row}")


class State:
    """Session.state. `row` is one stream; None means all of them. Pickled it becomes a SavedState."""

    def __init__(self, session: Owner) -> None:
        self._session = session

    def reset(self, row: Optional[int] = None) -> None:
        """Back to the model's initial state."""
        with self._session._turn():
            _abi.check(self._session._state_calls.reset(self._session._handle, _abi.ALL_ROWS if row is None else self._row(row)))

    def save(self, row: Optional[int] = None) -> SavedState:
        rows = range(self._session.info.batch) if row is None else [self._row(row)]
        with self._session._turn():
            return SavedState(tuple(save_row(self._session, one) for one in rows))

    def load(self, saved: Union[SavedState, State, bytes], row: Optional[int] = None) -> None:
        """What save() gave: of all streams, or of one into stream `row`. A state of another model is refused, and changes nothing."""
        if isinstance(saved, State):
            saved = saved.save()
        rows = (bytes(saved),) if not isinstance(saved, SavedState) else saved.rows
        first = 0 if row is None else self._row(row)
        count = self._session.info.batch if row is None else 1
        if len(rows) != count:
            raise UsageError(f"the saved state is of {len(rows)} streams, {count} {'is' if count == 1 else 'are'} wanted")
        with self._session._turn():
            before = [save_row(self._session, first + at) for at in range(count)]
            try:
                for at, one in enumerate(rows):
                    load_row(self._session, first + at, one)
            except Exception:
                for at, one in enumerate(before):
                    load_row(self._session, first + at, one)
                raise

    def _row(self, row: int) -> int:
        return integer("row", row, 0, self._session.info.batch - 1)

    def __reduce__(self) -> Tuple[Any, ...]:
        return SavedState, (self.save().rows,)

    def __repr__(self) -> str:
        return f"<rnnpack.State of {self._session.info.batch} streams, {self._session.info.state_bytes} bytes each>"
