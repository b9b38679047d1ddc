/* measure.c -- see measure.h. In a file of its own, so that the calls stay.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

__attribute__((noinline)) void measure_begin(void) {
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void measure_end(void) {
  __asm__ volatile("" ::: "memory");
}
