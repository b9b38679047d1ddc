# SPDX-License-Identifier: Apache-2.0
# Arm Cortex-M0+ (no FPU, products of 32 bits) bare metal, on QEMU's mps2-an385 board: its Cortex-M3 runs all of ARMv6-M.
set(RNNPACK_TRIPLE arm-none-eabi)
set(CMAKE_SYSTEM_PROCESSOR cortex-m0plus)
set(RNNPACK_CPU_FLAGS "-mthumb -mcpu=cortex-m0plus -mfloat-abi=soft")
set(RNNPACK_MEMORY 0x0 0x400000 0x20000000 0x400000)
set(RNNPACK_QEMU qemu-system-arm -M mps2-an385)
set(RNNPACK_BOARD mps2-an385)
set(RNNPACK_BOARD_SOURCE platform/board/mps2/board_mps2.c)
include(${CMAKE_CURRENT_LIST_DIR}/parts/bare-metal.cmake)
