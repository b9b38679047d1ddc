/* board_mps2.c -- Arm's MPS2 and MPS3 FPGA boards as the emulator knows them: SysTick counts the processor clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board/board.h"

#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)
#define SYST_TOP 0x00ffffffu

#if defined(RNNPACK_BOARD_MHZ)
#define BOARD_MHZ RNNPACK_BOARD_MHZ
#else
#define BOARD_MHZ 25
#endif

const char board_name[] = RNNPACK_BOARD;
/* With -icount shift=0 an instruction takes one nanosecond of the emulator's time. */
const uint32_t board_instructions_per_tick = 1000 / BOARD_MHZ;

void board_ticks_start(void) {
  SYST_CSR = 0;
  SYST_RVR = SYST_TOP;
  SYST_CVR = 0;
  SYST_CSR = 5; /* enabled, processor clock, no interrupt */
}

uint32_t board_ticks(void) {
  return SYST_TOP - (SYST_CVR & SYST_TOP);
}
