# SPDX-License-Identifier: Apache-2.0
"""Permission for AMX: asked for by this process, and what the CPU has."""
import pathlib
import sys

import pytest

import rnnpack


def test_request_says_what_the_cpu_has():
    granted = rnnpack.request_amx()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if not sys.platform.startswith("linux") or not cpuinfo.exists():
        assert not granted
        pytest.skip("only Linux grants tiles on request")
    if " amx_tile " not in cpuinfo.read_text():
        pytest.skip("this CPU has no AMX")
    assert granted


def test_tiles_are_an_instruction_set():
    assert rnnpack.Isa.AMX_INT8 == 1 << 12
    assert rnnpack.Isa.AMX_BF16 == 1 << 14
