// generated_blob.h -- blobs out of a fuzzer's choices: a grammar of every operator, its attributes at and around their limits,
// values of every kind in memory used again, states, inputs of every role; and corruptions of any blob.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FUZZ_GENERATED_BLOB_H_
#define RNNPACK_TESTS_FUZZ_GENERATED_BLOB_H_

#include "fuzz/byte_source.h"
#include "support/blob_tables.h"

namespace rnnp_fuzz {

// A model that means something: it opens, and runs, nearly always. What its outputs are for:
// kAny: some elements may be left as they were. kDefined: each is written. kSmooth: activations neither jump nor amplify, either.
enum class Outputs { kAny, kDefined, kSmooth };
rnnp_test::BlobTables generated_blob(ByteSource *choices, Outputs outputs = Outputs::kAny);

// Changes one to four numbers of the tables.
void corrupt(rnnp_test::BlobTables *tables, ByteSource *choices);

}  // namespace rnnp_fuzz
#endif  // RNNPACK_TESTS_FUZZ_GENERATED_BLOB_H_
