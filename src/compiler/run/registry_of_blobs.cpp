// registry_of_blobs.cpp -- Contract: run.h. SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "compiler/emit/emit_registry.h"
#include "compiler/run/opened_blob.h"
#include "compiler/run/run.h"

namespace rnnp::compiler {

std::string registry_of_blobs(const std::vector<std::string> &paths) {
  std::vector<std::unique_ptr<OpenedBlob>> blobs;
  std::vector<RegistryUse> uses;
  for (const std::string &path : paths) {
    blobs.push_back(open_blob(path));
    for (const rnnp_session_options &o : every_kind_of_session(blobs.back()->model)) uses.push_back({blobs.back()->model, o});
  }
  return default_registry_text(registry_names(uses));
}

}  // namespace rnnp::compiler
