# SPDX-License-Identifier: Apache-2.0
# Arm Cortex-M4 with single-precision FPU bare metal, on QEMU's mps2-an386 board.
set(RNNPACK_TRIPLE arm-none-eabi)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4f)
set(RNNPACK_CPU_FLAGS "-mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(RNNPACK_MEMORY 0x0 0x400000 0x20000000 0x400000)
set(RNNPACK_QEMU qemu-system-arm -M mps2-an386)
set(RNNPACK_BOARD mps2-an386)
set(RNNPACK_BOARD_SOURCE platform/board/mps2/board_mps2.c)
include(${CMAKE_CURRENT_LIST_DIR}/parts/bare-metal.cmake)
