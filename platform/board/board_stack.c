/* board_stack.c -- the stack as picolibc's linker script lays it out: from __stack downwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board/board.h"

extern char __stack[], __stack_size[];

unsigned char *board_stack_bottom(void) {
  return (unsigned char *)(__stack - (uintptr_t)__stack_size);
}
uint32_t board_stack_bytes(void) {
  return (uint32_t)(uintptr_t)__stack_size;
}
