/* device_case.h -- one model of the device test with what it should answer. Written by generate/, read by device_test.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_TESTS_DEVICE_DEVICE_CASE_H_
#define RNNPACK_TESTS_DEVICE_DEVICE_CASE_H_

#include <stdint.h>

struct device_case {
  const char *name;
  const unsigned char *blob; /* aligned to 64 bytes */
  uint32_t blob_bytes, steps, batch, in_elems, out_elems;
  const int32_t *lengths; /* [batch] or NULL */
  const float *x;         /* [steps][batch][in_elems] */
  const float *want;      /* [steps][batch][out_elems]: the double-precision reference, rounded */
  /* Causal models: every row's state after half_steps steps, saved by another machine. */
  const unsigned char *state; /* [batch][state_bytes] or NULL */
  uint32_t state_bytes, half_steps;
};

extern const struct device_case device_cases[];
extern const uint32_t device_case_count;

#endif /* RNNPACK_TESTS_DEVICE_DEVICE_CASE_H_ */
