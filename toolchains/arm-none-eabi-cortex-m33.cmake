# SPDX-License-Identifier: Apache-2.0
# Arm Cortex-M33 with single-precision FPU bare metal, on QEMU's mps2-an505 board.
set(RNNPACK_TRIPLE arm-none-eabi)
set(CMAKE_SYSTEM_PROCESSOR cortex-m33)
set(RNNPACK_CPU_FLAGS "-mthumb -mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16")
set(RNNPACK_MEMORY 0x10000000 0x400000 0x38000000 0x200000)
set(RNNPACK_QEMU qemu-system-arm -M mps2-an505)
set(RNNPACK_BOARD mps2-an505)
set(RNNPACK_BOARD_SOURCE platform/board/mps2/board_mps2.c)
include(${CMAKE_CURRENT_LIST_DIR}/parts/bare-metal.cmake)
