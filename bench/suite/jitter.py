"""A million single steps of one LSTM, timed one by one by rnnpack_jitter.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from .cases import remove_case, write_case
from .rows import Row

STEPS = 1_000_000
MODEL = Row("steps", "lstm", 1, 1, 64, 64)


def measure_jitter(program: Path, tool: Path, cpu: int, folder: Path) -> dict[str, Any]:
    case = write_case(MODEL, folder / "jitter")
    try:
        blob = case.folder / "model.rnnp"
        for command in ([tool, "compile", case.folder / "streaming.onnx", "-o", blob], [program, blob, STEPS, cpu]):
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
            if done.returncode:
                return {"failed": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
        return {"model": f"LSTM, {MODEL.inputs} inputs, {MODEL.hidden} hidden", **json.loads(done.stdout)}
    finally:
        remove_case(case)
