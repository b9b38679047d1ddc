# SPDX-License-Identifier: Apache-2.0
"""One call of a session that is prepared here: what goes in and comes out, checked and placed, and rnnp_run_io, once or in pieces."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

import numpy as np
import numpy.typing as npt

from . import _abi
from ._calls import LAST_STEP, RUN, STEP, Entry, Prepared, entry_of
from ._errors import UsageError
from ._integers import integers
from ._progress import Progress, reporter
from ._tensors import Array, Made, Placed, Sizes, Tensor, place_input, place_output, read_sizes, with_elements

_PIECES_OF_WATCHED_WORK = 100


@dataclass(frozen=True)
class Signature:
    """What a session's calls take and give."""
    inputs: Tuple[Tensor, ...]
    outputs: Tuple[Tensor, ...]
    causal: bool
    fixed_batch: int
    batch: int  # streams of the session

    @property
    def needed(self) -> Tuple[Tensor, ...]:
        return tuple(t for t in self.inputs if not t.optional)

    def named_inputs(self, x: Any) -> Mapping[str, npt.ArrayLike]:
        needed = self.needed
        if isinstance(x, Mapping):
            unknown = set(x) - {t.name for t in self.inputs}
            if unknown:
                raise UsageError(f"there is no input '{min(unknown)}'; the model has {', '.join(t.name for t in self.inputs)}")
            missing = [t for t in needed if t.name not in x]
            if missing:
                raise UsageError(f"input {missing[0]} is missing")
            return x
        if len(needed) != 1:
            raise UsageError(f"the model needs {', '.join(map(str, needed)) or 'no input'}: give them as a dict by name")
        return {needed[0].name: x}

    def named_outputs(self, out: Union[None, Array, Mapping[str, Array]]) -> Mapping[str, Array]:
        if out is None:
            return {}
        if isinstance(out, Mapping):
            unknown = set(out) - {t.name for t in self.outputs}
            if unknown:
                raise UsageError(f"there is no output '{min(unknown)}'; the model has {', '.join(t.name for t in self.outputs)}")
            return out
        if len(self.outputs) != 1:
            raise UsageError(f"the model gives {', '.join(t.name for t in self.outputs)}: name them in a dict")
        return {self.outputs[0].name: out}

    def sizes(self, given: Mapping[str, npt.ArrayLike]) -> Sizes:
        sizes = Sizes()
        for tensor in self.inputs:
            if tensor.name in given:
                read_sizes(tensor, np.shape(given[tensor.name]), sizes)
        sizes.steps, sizes.batch = sizes.steps or 1, sizes.batch or self.fixed_batch or 1
        if sizes.batch > self.batch:
            raise UsageError(f"{sizes.batch} rows for a session of {self.batch}: model.session(batch={sizes.batch})")
        return sizes

    def with_elements(self, given: Mapping[str, npt.ArrayLike]) -> Mapping[str, npt.ArrayLike]:
        """The inputs as the file has them, in the blob's axes."""
        return {tensor.name: with_elements(tensor, given[tensor.name]) for tensor in self.inputs if tensor.name in given}

    def with_steps(self, given: Mapping[str, npt.ArrayLike]) -> Tuple[Dict[str, npt.ArrayLike], bool]:
        """The inputs of one step with their axis of steps, and whether one had none."""
        if not self.causal:
            raise UsageError("the model looks ahead, so it has no single steps: run takes whole sequences")
        whole, added = dict(given), False
        for tensor in self.inputs:
            if tensor.name not in given or "steps" not in tensor.dims:
                continue
            at, array = tensor.dims.index("steps"), np.asarray(given[tensor.name])
            if array.ndim == len(tensor.dims) - 1:
                array, added = np.expand_dims(array, at), True
            if array.ndim != len(tensor.dims) or array.shape[at] != 1:
                raise UsageError(f"step takes one step: input '{tensor.name}' has shape {list(array.shape)}; run takes more")
            whole[tensor.name] = array
        return whole, added

    def lengths(self, lengths: Optional[npt.ArrayLike], sizes: Sizes) -> Optional[npt.NDArray[np.int32]]:
        if lengths is None:
            return None
        what = f"lengths must be {sizes.batch} integers from 0 to {sizes.steps}"
        return np.ascontiguousarray(integers(what, lengths, sizes.batch, 0, sizes.steps), dtype=np.int32)

    def rows(self, rows: Optional[Sequence[int]], sizes: Sizes) -> Optional[npt.NDArray[np.uint32]]:
        if rows is None:
            return None
        what = f"rows must be {sizes.batch} different integers from 0 to {self.batch - 1}"
        array = integers(what, rows, sizes.batch, 0, self.batch - 1)
        if np.unique(array).size != sizes.batch:
            raise UsageError(f"{what}, not {rows!r}")
        return array.astype(np.uint32)


class RunIo:
    """A checked call. `given` are the caller's inputs by name, `whole` the same with an axis of steps where `step` added one."""

    def __init__(self, signature: Signature, x: Any, out: Union[None, Array, Mapping[str, Array]], *, one_step: bool = False,
                 lengths: Optional[npt.ArrayLike] = None, rows: Optional[Sequence[int]] = None, last_step: bool = False,
                 check_finite: bool = False, pcm: bool = False) -> None:
        self.signature, self._last_step, self._one_step = signature, last_step, one_step
        self._check_finite = check_finite
        self._given = signature.named_inputs(x)
        whole, squeeze = signature.with_steps(self._given) if one_step else (signature.with_elements(self._given), False)
        self.sizes = signature.sizes(whole)
        self._placed = [place_input(t, whole[t.name], self.sizes, pcm) if t.name in whole else None for t in signature.inputs]
        self._outs = signature.named_outputs(out)
        self._made = [place_output(t, self.sizes, last_step, self._outs.get(t.name), squeeze) for t in signature.outputs]
        self._lengths, self._rows = signature.lengths(lengths, self.sizes), signature.rows(rows, self.sizes)

    def run(self, handle: Any, progress: Progress) -> None:
        steps, report = self.sizes.steps, reporter(progress)
        # A row that has ended keeps its last step from the piece it ended in, so those runs stay whole.
        ends = self._lengths is not None or any(t.role == "lengths" and p is not None for t, p in zip(self.signature.inputs, self._placed))
        whole = progress is False or not self.signature.causal or ends or self._may_overwrite()
        piece = steps if whole else max(1, -(-steps // _PIECES_OF_WATCHED_WORK))
        if piece < steps:
            self._check_whole()
        for first in range(0, steps, piece):
            self._piece(handle, first, min(piece, steps - first))
            report(min(first + piece, steps), steps)

    def _may_overwrite(self) -> bool:
        """Whether a piece's outputs may lie in an input of a later piece; the library tells of one call only."""
        places = [place for place in self._placed if place is not None]
        return any(np.may_share_memory(made.placed.kept, place.kept) for made in self._made for place in places)

    def _check_whole(self) -> None:
        """What the library would find in a later piece, before the first one moves the state."""
        for tensor, place in zip(self.signature.inputs, self._placed):
            if place is None:
                continue
            if tensor.limit and not np.all((place.kept >= -tensor.limit) & (place.kept < tensor.limit)):
                _abi.check(_abi.E_INDEX, self._hint(self.sizes.steps))
            if self._check_finite and tensor.dtype is np.float32 and not np.isfinite(place.kept).all():
                _abi.check(_abi.E_NOT_FINITE, self._hint(self.sizes.steps))

    def results(self) -> Union[Array, Dict[str, Array]]:
        for one in self._made:
            if one.copy_to is not None:
                one.copy_to[...] = one.array
        results = {t.name: (m.array if m.copy_to is None else m.copy_to) for t, m in zip(self.signature.outputs, self._made)}
        return next(iter(results.values())) if len(results) == 1 else results

    def _piece(self, handle: Any, first: int, steps: int) -> None:
        signature = self.signature
        ins = (_abi.Buffer * max(1, len(signature.inputs)))()
        for at, (tensor, place) in enumerate(zip(signature.inputs, self._placed)):
            if place is not None and not (tensor.role == "state" and first):
                ins[at] = place.buffer(first if tensor.role == "sequence" else 0)
        outs = (_abi.Buffer * max(1, len(signature.outputs)))()
        for at, (tensor, made) in enumerate(zip(signature.outputs, self._made)):
            outs[at] = made.placed.buffer(first if tensor.role == "sequence" and not self._last_step else 0)
        io = _abi.Io(buffer_bytes=ctypes.sizeof(_abi.Buffer), flags=self._flags(), batch=self.sizes.batch, steps=steps,
                     input_count=len(signature.inputs), output_count=len(signature.outputs), inputs=ctypes.addressof(ins),
                     outputs=ctypes.addressof(outs), lengths=_address(self._lengths), rows=_address(self._rows))
        status = _abi.lib.rnnp_run_io(handle, ctypes.byref(io))
        if status != 0:
            raise _abi.call_error(status, handle, self._hint(steps))

    def _flags(self) -> int:
        return (_abi.RUN_LAST_STEP if self._last_step else 0) | (_abi.RUN_CHECK_FINITE if self._check_finite else 0)

    def _hint(self, steps: int) -> str:
        if not self.signature.causal:
            return f"a run of {steps} steps (a model that looks ahead runs whole sequences: session(max_steps=...) says the longest)"
        return f"a run of {steps} steps"

    def prepared(self) -> Optional[Prepared]:
        """The next call on arrays of this layout, or None where something was converted, copied or is rarely given."""
        if self._lengths is not None or self._rows is not None or self._check_finite or (self._outs and len(self._outs) != len(self._made)):
            return None
        inputs = [self._entry(self._given.get(t.name), t.dtype, p) for t, p in zip(self.signature.inputs, self._placed)]
        outputs = [self._entry(m.array, np.float32, m.placed) for m in self._made]
        as_they_lie = all((entry is None) == (place is None) for entry, place in zip(inputs, self._placed))
        if not as_they_lie or None in outputs or any(m.copy_to is not None for m in self._made):
            return None
        if not self._outs and not all(m.array.flags.c_contiguous for m in self._made):
            return None
        kind = STEP if self._one_step else LAST_STEP if self._last_step else RUN
        return Prepared(kind, not self._outs, tuple(inputs), tuple(outputs), self.sizes.steps, self._is_step_alone(), self.sizes.batch,
                        self._flags())

    @staticmethod
    def _entry(array: Any, dtype: Any, placed: Optional[Placed]) -> Entry:
        """None where the library reads or writes anything but the array itself."""
        if placed is None or type(array) is not np.ndarray or array.dtype != dtype or _address(array) != placed.address:
            return None
        return entry_of(array, placed)

    def _is_step_alone(self) -> bool:
        """Whether rnnp_step will do: one step of all streams, one input and one output, both packed."""
        inputs, outputs, needed = self.signature.inputs, self.signature.outputs, self.signature.needed
        if not self._one_step or len(needed) != 1 or len(self._given) != 1 or len(outputs) != 1 or self.sizes.batch != self.signature.batch:
            return False
        first = next((t for t in inputs if t.role == "sequence"), None)
        placed = self._placed[inputs.index(needed[0])]
        if needed[0] is not first or needed[0].dtype is not np.float32 or outputs[0].role != "sequence" or placed is None:
            return False
        return placed.row_bytes == 4 * first.row_elems and self._made[0].placed.row_bytes == 4 * outputs[0].row_elems


def _address(array: Optional[Array]) -> Optional[int]:
    return None if array is None else int(array.__array_interface__["data"][0])
