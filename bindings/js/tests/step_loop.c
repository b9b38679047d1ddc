/* step_loop.c -- steps that are called within the module, for bindings/overhead.py: what is left of a step in JavaScript without
 * the call from JavaScript. SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>

rnnp_status step_loop(rnnp_session *session, const void *x, void *y, uint32_t count) {
  rnnp_status status = RNNP_OK;
  for (uint32_t i = 0; i < count && status == RNNP_OK; ++i) status = rnnp_step(session, x, y);
  return status;
}
