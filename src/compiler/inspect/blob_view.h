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

// Nodes of the loop that a node of the document begins, as the blob says, however many follow; 0: none.
inline size_t nodes_of_loop(const nlohmann::ordered_json &node) {
  const bool begins = node["op"] == "state_read" && node["attr"].contains("nodes");
  return begins ? node["attr"]["nodes"].get<size_t>() : 0;
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_BLOB_VIEW_H_
