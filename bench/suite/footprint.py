"""Code size per kernel family and instruction set, read off the archive with `size`.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

ISA_TABLE = Path(__file__).resolve().parents[2] / "src/base/isa.inc"
SETS = re.findall(r"^RNNPACK_ISA(?:_WITHOUT_BIT)?\((\w+)", ISA_TABLE.read_text(), re.MULTILINE)
ISA = rf"({'|'.join(SETS).lower()}|ref|reference|scalar|sse\w*)"


def footprint(archive: Path) -> list[dict[str, Any]]:
    """One entry per family and instruction set; objects not named <family>_<isa> are entries of their own."""
    done = subprocess.run(["size", str(archive)], capture_output=True, text=True, check=True)
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for line in done.stdout.splitlines()[1:]:
        text, data, bss, _, _, member = line.split(maxsplit=5)
        total = sums[_family(member.split()[0])]
        total[0] += int(text)
        total[1] += int(data) + int(bss)
    entries = [{"family": family, "isa": isa, "text": text, "data": data} for (family, isa), (text, data) in sorted(sums.items())]
    return [*entries, {"family": "all", "isa": "", "text": sum(e["text"] for e in entries), "data": sum(e["data"] for e in entries)}]


def _family(member: str) -> tuple[str, str]:
    stem = member.split(".")[0]
    match = re.fullmatch(rf"(\w+?)_{ISA}", stem)
    return (match[1], match[2]) if match else (stem, "")
