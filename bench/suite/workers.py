"""The worker processes of one thread count: start, ask, give up on, stop.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKER = Path(__file__).resolve().parent.parent / "worker.py"


class Lost(Exception):
    """The worker died or did not answer in time."""


class WorkerProcess:
    def __init__(self, peer: str, threads: int, cpus: list[int], library: Path | None, log: Path) -> None:
        self.peer = peer
        reader, writer = os.pipe()
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), PYTHONUNBUFFERED="1")
        environment["RNNPACK_BENCH_CPUS"] = ",".join(map(str, cpus))
        if library:
            environment["RNNPACK_BENCH_LIBRARIES"] = str(library)
        self._log = log.open("a")
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), peer, str(threads), str(writer)],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[writer],
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
            text=True,
        )
        os.close(writer)
        self._replies = os.fdopen(reader)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._replies, selectors.EVENT_READ)

    def hello(self, seconds: float = 120) -> dict[str, Any]:
        return self._reply(seconds)

    def ask(self, do: str, limit_seconds: float, **arguments: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            print(json.dumps({"do": do, **arguments}), file=self._process.stdin, flush=True)
        except OSError as broken:
            raise Lost(f"the process ended ({broken})") from broken
        return self._reply(limit_seconds)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._replies.close()
        self._selector.close()
        self._log.close()

    def _reply(self, seconds: float) -> dict[str, Any]:
        if not self._selector.select(seconds):
            raise Lost(f"no answer within {seconds:.0f} s")
        line = self._replies.readline()
        if not line:
            raise Lost(f"the process ended with status {self._process.wait()}")
        return json.loads(line)


class Family:
    """All runtimes at one thread count. A runtime that cannot start keeps its reason in `absent`."""

    def __init__(self, peers: list[str], threads: int, cpus: list[int], library: Path | None, log_folder: Path) -> None:
        self.threads = threads
        self._make = lambda peer: WorkerProcess(peer, threads, cpus, library, log_folder / f"{peer}.log")
        self.workers: dict[str, WorkerProcess] = {}
        self.versions: dict[str, str] = {}
        self.absent: dict[str, str] = {}
        for peer in peers:
            self._start(peer)

    def ask(self, peer: str, do: str, limit_seconds: float = 600, **arguments: Any) -> dict[str, Any]:
        """As WorkerProcess.ask; a lost worker is replaced, so that the next row has it again, and the reason is returned. One that could
        not be replaced is absent from then on."""
        if peer not in self.workers:
            return {"failed": self.absent[peer]}
        try:
            return self.workers[peer].ask(do, limit_seconds, **arguments)
        except Lost as reason:
            self.workers.pop(peer).stop()
            self._start(peer)
            return {"failed": str(reason)}

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()

    def _start(self, peer: str) -> None:
        worker = self._make(peer)
        try:
            reply = worker.hello()
        except Lost as reason:
            reply = {"failed": str(reason)}
        if "failed" in reply:
            worker.stop()
            self.absent[peer] = reply["failed"]
            return
        self.workers[peer] = worker
        self.versions[peer] = reply["version"]
