/* plugin.c -- what a host program loads: links the archive and shows one symbol. SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>

rnnp_status plugin_make(const void *blob, size_t bytes, void *mem, size_t mem_bytes);

rnnp_status plugin_make(const void *blob, size_t bytes, void *mem, size_t mem_bytes) {
  rnnp_model model;
  rnnp_session *session = NULL;
  const rnnp_status status = rnnp_model_open(&model, blob, bytes, 0);
  return status != RNNP_OK ? status : rnnp_session_init(&session, &model, NULL, mem, mem_bytes);
}
