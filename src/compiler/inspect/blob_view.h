// blob_view.h -- a blob as a JSON document and as text, for `inspect`. Reads structures the library has checked already.
// The document's keys are those of tests/compiler/read_blob.py, which reads the bytes on its own.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_BLOB_VIEW_H_
#define RNNPACK_COMPILER_INSPECT_BLOB_VIEW_H_

#include <nlohmann/json.hpp>
#include <string>

#include "compiler/files/files.h"

namespace rnnp::compiler {

// Throws IoError when the library does not open the blob.
nlohmann::ordered_json blob_document(const AlignedBytes &blob);
std::string blob_text(const nlohmann::ordered_json &document);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_BLOB_VIEW_H_
