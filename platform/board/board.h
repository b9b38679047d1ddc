/* board.h -- what an image asks of its board: a counter for instructions, the bounds of the stack, and how to end.
 * One folder per board beside this file. On the emulator's boards picolibc brings startup, printf and exit.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_PLATFORM_BOARD_BOARD_H_
#define RNNPACK_PLATFORM_BOARD_BOARD_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const char board_name[];

/* Start counting from 0; what was counted since. One unit is board_instructions_per_tick instructions where the emulator runs with
 * -icount shift=0. At most 2^24 ticks. */
void board_ticks_start(void);
uint32_t board_ticks(void);
extern const uint32_t board_instructions_per_tick;

/* Lowest address of the stack, and its bytes. */
unsigned char *board_stack_bottom(void);
uint32_t board_stack_bytes(void);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_PLATFORM_BOARD_BOARD_H_ */
