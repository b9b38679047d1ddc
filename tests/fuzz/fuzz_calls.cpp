// fuzz_calls.cpp -- libFuzzer target: the input is a grammar's choices of a blob and then a sequence of API calls, on that blob and
// on a corruption of it. SPDX-License-Identifier: Apache-2.0
#include "generated_blob.h"
#include "random_api.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rnnp_fuzz::ByteSource choices(data, size);
  rnnp_test::BlobTables tables = rnnp_fuzz::generated_blob(&choices);
  rnnp_fuzz::walk(tables.bytes(), &choices, true);
  rnnp_fuzz::corrupt(&tables, &choices);
  rnnp_fuzz::walk(tables.bytes(), &choices, true);
  return 0;
}
