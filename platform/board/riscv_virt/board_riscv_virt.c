/* board_riscv_virt.c -- the emulator's RISC-V board "virt": the CPU itself counts retired instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board/board.h"

const char board_name[] = RNNPACK_BOARD;
const uint32_t board_instructions_per_tick = 1;

static uint32_t retired(void) {
  uint32_t n;
  __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, minstret\n.option pop" : "=r"(n));
  return n;
}

static uint32_t start;

void board_ticks_start(void) {
  start = retired();
}
uint32_t board_ticks(void) {
  return retired() - start;
}
