"""Every row of the table: which shapes, cells and thread counts are measured, and which belong to the quick run.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from .cells import CELLS, Cell

GRUS = ("gru", "gru_lbr")
TARGET_CELLS = ("lstm", "gru_lbr")  # the cells of the quick run; gru (linear_before_reset = 0) is in the full run


@dataclass(frozen=True)
class Row:
    group: str  # steps, sequence, batch, recurrence, deepbench-device, deepbench-server, deepspeech2
    cell: str
    steps: int
    batch: int
    inputs: int
    hidden: int
    layers: int = 1
    directions: int = 1
    threads: int = 1
    quick: bool = False

    @property
    def spec(self) -> Cell:
        return CELLS[self.cell]

    @property
    def name(self) -> str:
        shape = f"T{self.steps}.B{self.batch}.I{self.inputs}.H{self.hidden}"
        stack = (f".L{self.layers}" if self.layers > 1 else "") + (".bidi" if self.directions == 2 else "")
        return f"{self.group}/{self.cell}/{shape}{stack}.t{self.threads}"

    @property
    def layer_inputs(self) -> list[int]:
        """Input features of each layer of the stack."""
        return [self.inputs] + [self.hidden * self.directions] * (self.layers - 1)

    @property
    def recurrent_bytes(self) -> int:
        """f32 recurrent weights read by one step of the whole stack."""
        return 4 * self.spec.gates * self.hidden**2 * self.layers * self.directions

    @property
    def recurrent_bytes_swept(self) -> int:
        """f32 weights one layer and direction sweeps through again and again: what has to stay in a cache."""
        return 4 * self.spec.gates * self.hidden**2

    @property
    def flops(self) -> int:
        """Multiplications and additions of a whole call, input projections included."""
        per_unit = sum(inputs + self.hidden for inputs in self.layer_inputs)
        return 2 * self.spec.gates * self.hidden * per_unit * self.directions * self.steps * self.batch

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _steps() -> Iterator[Row]:
    for cell in CELLS:
        for hidden in (16, 32, 64, 128, 256):
            quick = cell in TARGET_CELLS and hidden in (16, 64, 128)
            yield Row("steps", cell, 1, 1, hidden, hidden, quick=quick)


def _sequences() -> Iterator[Row]:
    for cell in CELLS:
        for hidden in (64, 128, 256, 512, 1024):
            yield Row("sequence", cell, 100, 1, hidden, hidden, quick=cell in TARGET_CELLS)


def _batches() -> Iterator[Row]:
    for cell in CELLS:
        for batch in (2, 4, 10, 20):
            yield Row("batch", cell, 100, batch, 256, 256, quick=cell in TARGET_CELLS and batch in (4, 10))


def _recurrence() -> Iterator[Row]:
    """One input feature, so that the time is the recurrence's: panels within half of a 1 MiB L2."""
    for cell, sizes in (("lstm", (64, 96, 128, 176)), ("gru_lbr", (80, 128, 192)), ("rnn_tanh", (160, 352))):
        for hidden in sizes:
            yield Row("recurrence", cell, 500, 1, 1, hidden)


def _deepbench_device() -> Iterator[Row]:
    for cell, hidden, steps in (("rnn_relu", 32, 672), ("rnn_tanh", 32, 672), ("rnn_relu", 64, 96), ("rnn_tanh", 64, 96), ("lstm", 256, 150)):
        yield from _with_and_without_input(Row("deepbench-device", cell, steps, 1, hidden, hidden))


def _deepbench_server() -> Iterator[Row]:
    lstm = ((256, 150), (512, 25), (1024, 25), (1536, 50), (2048, 25))
    gru = ((512, 1), (1024, 1500)) + tuple((hidden, steps) for hidden in (1536, 2048, 2560, 2816) for steps in (187, 375))
    for cell, shapes in (("lstm", lstm), ("gru_lbr", gru)):
        for hidden, steps in shapes:
            for batch in (1, 2, 4):
                yield from _with_and_without_input(Row("deepbench-server", cell, steps, batch, hidden, hidden))


def _with_and_without_input(row: Row) -> Iterator[Row]:
    """DeepBench leaves the input projection out: one input feature makes it vanish for every runtime alike."""
    yield row
    yield replace(row, inputs=1)


def _deepspeech2() -> Iterator[Row]:
    """MXNet's table. `gru_lbr` is cuDNN's and MXNet's form."""
    for cell in ("lstm", "gru_lbr", "gru", "rnn_relu", "rnn_tanh"):
        yield Row("deepspeech2", cell, 300, 20, 800, 800)
        yield Row("deepspeech2", cell, 300, 20, 800, 800, layers=5, directions=2)


def _deepspeech2_short() -> Iterator[Row]:
    """The same cut short, so that the quick run stays quick; the ratio hardly depends on the length."""
    for cell in TARGET_CELLS:
        yield Row("deepspeech2-short", cell, 60, 20, 800, 800, quick=True)
        yield Row("deepspeech2-short", cell, 12, 20, 800, 800, layers=5, directions=2, quick=True)


def _two_threads_in_quick(row: Row) -> bool:
    return row.quick and row.group == "sequence" and row.hidden <= 256


def full_rows(threads: tuple[int, ...] = (1, 2)) -> list[Row]:
    base = [*_steps(), *_sequences(), *_batches(), *_recurrence(), *_deepbench_device(), *_deepspeech2(), *_deepbench_server()]
    return [replace(row, threads=count) for count in threads for row in base if count == 1 or row.group not in ("steps",) or row.hidden >= 128]


def quick_rows(threads: tuple[int, ...] = (1, 2)) -> list[Row]:
    base = [row for row in (*_steps(), *_sequences(), *_batches(), *_deepspeech2_short()) if row.quick]
    return [replace(row, threads=count) for count in threads for row in base if count == 1 or _two_threads_in_quick(row)]
