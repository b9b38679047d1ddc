# SPDX-License-Identifier: Apache-2.0
# 32-bit RISC-V without FPU (rv32imc) bare metal, on QEMU's virt board.
set(RNNPACK_TRIPLE riscv64-unknown-elf)
set(CMAKE_SYSTEM_PROCESSOR riscv32imc)
set(RNNPACK_CPU_FLAGS "-march=rv32imc -mabi=ilp32 -mcmodel=medany")
set(RNNPACK_MEMORY 0x80000000 0x400000 0x80400000 0x400000)
set(RNNPACK_QEMU qemu-system-riscv32 -M virt -bios none)
set(RNNPACK_BOARD virt)
set(RNNPACK_BOARD_SOURCE platform/board/riscv_virt/board_riscv_virt.c)
include(${CMAKE_CURRENT_LIST_DIR}/parts/bare-metal.cmake)
