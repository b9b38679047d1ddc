// blob_attributes.h -- one node's attributes as a JSON object with the names of the members of format/blob_attrs.h. Those of an
// operator that this tool does not know, or too few of them, are a number of bytes. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_BLOB_ATTRIBUTES_H_
#define RNNPACK_COMPILER_INSPECT_BLOB_ATTRIBUTES_H_

#include <nlohmann/json.hpp>

#include "format/blob.h"

namespace rnnp::compiler {

// Reads node.attr_bytes bytes, aligned or not.
nlohmann::ordered_json attributes_document(const BlobNode &node, const uint8_t *bytes);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_BLOB_ATTRIBUTES_H_
