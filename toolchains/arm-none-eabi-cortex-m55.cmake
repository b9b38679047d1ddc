# SPDX-License-Identifier: Apache-2.0
# Arm Cortex-M55 with Helium (MVE) bare metal, on QEMU's mps3-an547 board.
set(RNNPACK_TRIPLE arm-none-eabi)
set(CMAKE_SYSTEM_PROCESSOR cortex-m55)
set(RNNPACK_CPU_FLAGS "-mthumb -mcpu=cortex-m55 -mfloat-abi=hard")
set(RNNPACK_MEMORY 0x0 0x80000 0x20000000 0x80000)
set(RNNPACK_QEMU qemu-system-arm -M mps3-an547)
set(RNNPACK_BOARD mps3-an547)
set(RNNPACK_BOARD_SOURCE platform/board/mps2/board_mps2.c)
include(${CMAKE_CURRENT_LIST_DIR}/parts/bare-metal.cmake)
