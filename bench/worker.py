"""One runtime in a process of its own: loads cases, runs them, answers the driver in lines of JSON.

A process each, because thread pools that spin, OpenMP runtimes and crashes of one peer must not reach another's timing.
Usage (by suite/workers.py only): worker.py <peer> <threads> <fd>
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from peers.prepared import Prepared, Unsupported  # noqa: E402
from suite.cases import read_case  # noqa: E402
from suite.rows import Row  # noqa: E402


class Worker:
    def __init__(self, peer: str, threads: int) -> None:
        self.peer, self.threads = peer, threads
        self.module = importlib.import_module(f"peers.{peer}")
        self.prepared: Prepared | None = None

    def hello(self) -> dict[str, Any]:
        return {"version": self.module.VERSION}

    def load(self, row: dict[str, Any], folder: str) -> dict[str, Any]:
        self.unload()
        case = read_case(Row(**row), Path(folder))
        self.prepared = self.module.load(case, self.threads)
        path = case.folder / f"{self.peer}.y.npy"
        np.save(path, self.prepared.output())
        return {"output": str(path), "empty_ns": self.prepared.empty_ns() if case.row.steps == 1 else 0.0, "note": self.prepared.note}

    def time(self, seconds: float, calls: int) -> dict[str, Any]:
        assert self.prepared is not None
        samples = self.prepared.time_calls(seconds, calls)
        return {"ns": samples.ns, "calls": samples.calls}

    def unload(self) -> dict[str, Any]:
        self.prepared = None
        gc.collect()
        return {}


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    operation = request.pop("do")
    try:
        return getattr(worker, operation)(**request)
    except Unsupported as reason:
        return {"unsupported": str(reason)}
    except Exception as failure:  # noqa: BLE001: a peer may raise anything; it becomes the row's reason
        return {"failed": one_line(failure)}


def one_line(failure: Exception) -> str:
    """The last line says most: what precedes it is where it happened."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    return f"{type(failure).__name__}: {(lines or [''])[-1][:200]}"


def main() -> None:
    faulthandler.enable()  # a crash in a peer leaves its stack in the log
    peer, threads, channel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with os.fdopen(channel, "w") as replies:
        try:
            worker = Worker(peer, threads)
        except Exception as failure:  # noqa: BLE001: an import error is the peer's reason for being absent
            print(json.dumps({"failed": one_line(failure)}), file=replies, flush=True)
            return
        print(json.dumps(worker.hello()), file=replies, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(worker, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
