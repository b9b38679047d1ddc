# SPDX-License-Identifier: Apache-2.0
"""Instruction sets by name: RNNP_ISA_* of rnnpack.h."""
from __future__ import annotations

import enum


class Isa(enum.IntFlag):
    """The value is the RNNP_ISA_* bit; REFERENCE is the portable C++ that runs anywhere."""
    REFERENCE = 0
    AVX2 = 1 << 0
    AVX512 = 1 << 1
    NEON = 1 << 2
    RVV = 1 << 3
    SIMD128 = 1 << 4
    MVE = 1 << 5
    VFPV4 = 1 << 6
    RVF = 1 << 7
    AVX512_VNNI = 1 << 8
    NEON_DOTPROD = 1 << 9
    AVX_VNNI = 1 << 10
    NEON_I8MM = 1 << 11
    AMX_INT8 = 1 << 12
    AVX512_BF16 = 1 << 13
    AMX_BF16 = 1 << 14
    NEON_BF16 = 1 << 15
