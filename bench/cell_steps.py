#!/usr/bin/env python3
"""One step of today's recurrent cells (tests/compiler/modern_cells.py) beside ONNX Runtime, one thread, small and at a usual width.

Outputs are compared before anything is timed, then the two sides take turns in one process (networks.py). Exit status 1 when an
output is wrong. SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import types
from pathlib import Path

import onnx

from networks import Network, measure, start, table

CELLS = Path(__file__).resolve().parent.parent / "tests" / "compiler"
WIDTHS = ({"FEATURES": 6, "UNITS": 8, "SMALL": 4}, {"FEATURES": 128, "UNITS": 256, "SMALL": 64})


def cells_of(sizes: dict[str, int]) -> types.ModuleType:
    chosen = types.ModuleType("cell_sizes")
    vars(chosen).update(sizes, ROWS=1, HEADS=2)
    sys.modules["cell_sizes"] = chosen
    sys.modules.pop("modern_cells", None)
    return importlib.import_module("modern_cells")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options, built, library = start(parser, "cells", 0.5, 20)
    sys.path.insert(0, str(CELLS))
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        for sizes in WIDTHS:
            cells = cells_of(sizes)
            for index, cell in enumerate(cells.CELLS):
                title = f"{cell[0]}, {sizes['UNITS']} units"
                if options.filter not in title:
                    continue
                path = Path(folder) / "cell.onnx"
                onnx.save(cells.step_model(cell, index), path)
                states = tuple(f"state{i}" for i in range(len(cell[2])))
                flags = tuple(word for i in range(len(states)) for word in ("--state", f"state{i}=next{i}"))
                entries.append(measure(Network(title, "", 0, flags=flags, states=states), 1, path, library, built, options))
    print(table(entries))
    return 1 if any("wrong" in entry for entry in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
