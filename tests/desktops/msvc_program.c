/* msvc_program.c -- a program as MSVC's compiler would make it, on rnnpack.dll and its import library. It has no C library: MSVC's
 * is not at hand here. Ends with 0 where the DLL answers. SPDX-License-Identifier: Apache-2.0 */
#include <rnnpack/rnnpack.h>

__declspec(dllimport) __declspec(noreturn) void ExitProcess(unsigned code);

void start(void);
void start(void) {
  rnnp_model model;
  const char *text = rnnp_status_string(RNNP_E_BLOB_MAGIC);
  static const uint64_t nothing[16];
  if (rnnp_version() < RNNP_HEADER_VERSION) ExitProcess(1);
  if (text == NULL || text[0] == 0) ExitProcess(2);
  if (((uintptr_t)nothing & 63) == 0 && rnnp_model_open(&model, nothing, sizeof nothing, 0) != RNNP_E_BLOB_CORRUPT &&
      rnnp_model_open(&model, nothing, sizeof nothing, 0) != RNNP_E_BLOB_MAGIC) {
    ExitProcess(3);
  }
  ExitProcess(0);
}
