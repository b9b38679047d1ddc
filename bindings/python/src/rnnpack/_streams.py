# SPDX-License-Identifier: Apache-2.0
"""What sessions on a CPU and on a GPU have in common: a model, what was decided, and the state of their streams."""
from __future__ import annotations

from typing import TYPE_CHECKING, ContextManager, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ._errors import NoMemoryError
from ._state import Owner, SavedState, State

if TYPE_CHECKING:
    from ._model import Model

_Info = TypeVar("_Info")


class Streams(Generic[_Info]):
    _model: Model
    _info: _Info

    @property
    def model(self) -> Model:
        return self._model

    @property
    def info(self) -> _Info:
        return self._info

    @property
    def state(self) -> State:
        """The state of the session's streams: save(), load(), reset(), and pickle; a CPU's and a GPU's sessions take each other's."""
        return State(self._as_owner())

    @state.setter
    def state(self, saved: SavedState) -> None:
        State(self._as_owner()).load(saved)

    def _as_owner(self) -> Owner:
        raise NotImplementedError


def session_memory(size: int, alignment: int) -> npt.NDArray[np.uint8]:
    try:
        memory = np.empty(size + alignment, np.uint8)
    except MemoryError:
        raise NoMemoryError(f"no session: there are no {size} bytes of memory; a smaller batch needs less, and of a model that looks ahead "
                            "shorter runs (max_steps)") from None
    start = -memory.__array_interface__["data"][0] % alignment
    return memory[start:start + size]
