/* stack_paint.h -- how deep the stack went: fill what lies unused below the caller, later count what is still filled.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_FIRMWARE_STACK_PAINT_H_
#define RNNPACK_FIRMWARE_STACK_PAINT_H_

#include <stdint.h>

/* Paint below the caller's frame; returns the caller's depth in bytes, from which rnnpack's own use is counted. */
uint32_t stack_paint(void);
/* Deepest use so far, bytes from the top of the stack. */
uint32_t stack_used(void);

#endif /* RNNPACK_FIRMWARE_STACK_PAINT_H_ */
