// fuzz_blob.cpp -- libFuzzer target of blobs: the input is a blob's bytes. Its checksums are mended, or the fuzzer would never get
// past them; then every call is made on it, with choices that its bytes seed, and it is inspected. Mutations know the tables.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "generated_blob.h"
#include "random_api.h"
#include "support/blob_builder.h"
#ifdef RNNPACK_FUZZ_INSPECT
#include "inspect_blob.h"
#endif

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  rnnp_fuzz::ByteSource choices(uint64_t{seed});
  const uint32_t how = choices.below(8);
  if (how < 2) return LLVMFuzzerMutate(data, size, max_size);
  rnnp_test::BlobTables tables = how == 2 ? rnnp_fuzz::generated_blob(&choices) : rnnp_test::BlobTables(data, size);
  if (how > 2) rnnp_fuzz::corrupt(&tables, &choices);
  const std::vector<uint8_t> bytes = tables.bytes();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (size >= sizeof(rnnp::BlobHeader)) rnnp_test::reseal(&bytes);
  uint64_t seed = size;
  for (size_t i = 0; i < size; i += 1 + size / 64) seed = (seed ^ data[i]) * 0x100000001b3u;
  rnnp_fuzz::ByteSource choices(seed);
  rnnp_fuzz::walk(bytes, &choices, true);
#ifdef RNNPACK_FUZZ_INSPECT
  if (choices.once_in(16)) rnnp_fuzz::inspect_blob(bytes);
#endif
  return 0;
}
