/* stack_paint.c -- see stack_paint.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "stack_paint.h"

#include "board/board.h"

#define PAINT 0xa5
#define OWN_FRAME 64 /* this function's own */

__attribute__((noinline)) uint32_t stack_paint(void) {
  volatile unsigned char *bottom = board_stack_bottom();
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  volatile unsigned char *p;
  for (p = bottom; (uintptr_t)p < here - OWN_FRAME; ++p) *p = PAINT;
  return (uint32_t)((uintptr_t)bottom + board_stack_bytes() - here);
}

uint32_t stack_used(void) {
  volatile unsigned char *bottom = board_stack_bottom(), *p = bottom;
  const uint32_t bytes = board_stack_bytes();
  while ((uint32_t)(p - bottom) < bytes && *p == PAINT) ++p;
  return bytes - (uint32_t)(p - bottom);
}
