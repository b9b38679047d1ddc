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
    """The processor and its cores, not the host: "intel-xeon-processor-2-cores". A model name without a number, as virtual machines
    have it, says too little: "amd-epyc-family-25-model-17-2-cores"."""
    cpu: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        cpu.setdefault(key.strip(), value.strip())
    model = next((cpu[key] for key in ("model name", "Model", "Hardware") if key in cpu), "unknown cpu")
    if not re.search(r"[0-9]", model) and "cpu family" in cpu:
        model += f" family {cpu['cpu family']} model {cpu['model']}"
    slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", model.lower())).strip("-")
    return f"{slug}-{os.cpu_count()}-cores"
