// inspect_blob.cpp -- see inspect_blob.h.
// SPDX-License-Identifier: Apache-2.0
#include "inspect_blob.h"

#include <cstring>

#include "compiler/inspect/blob_view.h"
#include "compiler/inspect/memory_map.h"
#include "compiler/inspect/plan_text.h"
#include "compiler/onnx/problem.h"

namespace rnnp_fuzz {

std::string inspect_blob(const std::vector<uint8_t> &bytes) {
  using namespace rnnp::compiler;
  const AlignedBytes blob(bytes.size(), 64);
  if (!bytes.empty()) std::memcpy(blob.data(), bytes.data(), bytes.size());
  nlohmann::ordered_json document;
  try {
    document = blob_document(blob);
  } catch (const IoError &) {
    return "";
  }
  const size_t nodes = document["nodes"].size();
  return document.dump(1) + blob_text(document) + memory_text(memory_map(document), nodes) +
         memory_svg(memory_map(document), nodes) + plan_text(document, {});
}

}  // namespace rnnp_fuzz
