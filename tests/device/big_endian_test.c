/* big_endian_test.c -- on a CPU of the other byte order every model is refused with RNNP_E_ENDIAN, before anything of it is read as
 * a number, and the handle stays unusable. Plain C over the models of the device test.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "device_case.h"
#include "rnnpack/rnnpack.h"

static rnnp_model model, untouched;

static int is_refused(const struct device_case *c) {
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_model_info facts;
  memset(&facts, 0, sizeof facts);
  facts.struct_bytes = sizeof facts;
  return rnnp_model_open(&model, c->blob, c->blob_bytes, RNNP_OPEN_CHECK_WEIGHTS) == RNNP_E_ENDIAN &&
         memcmp(&model, &untouched, sizeof model) == 0 && rnnp_model_get_info(&model, &facts) == RNNP_E_ARG &&
         rnnp_session_memory(&model, NULL, &need) == RNNP_E_ARG;
}

int main(void) {
  uint32_t i, refused = 0;
  for (i = 0; i < device_case_count; ++i) refused += (uint32_t)is_refused(&device_cases[i]);
  printf("%u of %u models refused: %s\n", (unsigned)refused, (unsigned)device_case_count, rnnp_status_string(RNNP_E_ENDIAN));
  return refused == device_case_count && refused > 0 ? 0 : 1;
}
