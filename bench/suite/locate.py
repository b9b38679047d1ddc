"""Where the built parts are, and which cores to run on.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Built:
    """Paths below the CMake build directory."""

    root: Path

    @property
    def libraries(self) -> Path:
        return self.root / "bench"

    @property
    def machine(self) -> Path:
        return self.libraries / "rnnpack_machine"

    @property
    def jitter(self) -> Path:
        return self.libraries / "rnnpack_jitter"

    @property
    def archive(self) -> Path | None:
        return next((path for path in self.root.rglob("librnnpack.a")), None)

    @property
    def tool(self) -> Path | None:
        """The host tool `rnnpack`, wherever its layer puts it."""
        return next((path for path in self.root.rglob("rnnpack") if path.is_file() and os.access(path, os.X_OK)), None)


def choose_cpus(text: str | None, threads: int) -> list[int]:
    cpus = [int(cpu) for cpu in text.split(",")] if text else sorted(os.sched_getaffinity(0))
    return cpus[:threads]


def machine_name() -> str:
    """The processor and its cores, not the host: "amd-epyc-2-cores"."""
    model = "unknown cpu"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "Hardware"):
            model = value.strip()
            break
    slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", model.lower())).strip("-")
    return f"{slug}-{os.cpu_count()}-cores"
