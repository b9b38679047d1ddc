// metadata.cpp -- Contract: metadata.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/metadata.h"

#include <set>

#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"
#include "format/blob.h"

namespace rnnp::compiler {
namespace {

constexpr size_t kEndOfMetadata = 1;  // the empty key

size_t metadata_bytes(const std::string &key, const std::string &value) {
  return key.size() + value.size() + 2;
}

// Why a blob cannot hold the pair; empty when it can.
std::string metadata_problem(const std::string &key, const std::string &value, size_t bytes_so_far) {
  if (key.empty()) return "its key is empty";
  if (key.find('\0') != std::string::npos || value.find('\0') != std::string::npos) return "it holds a NUL";
  if (bytes_so_far + metadata_bytes(key, value) > kBlobMaxMetadataBytes)
    return "a blob holds " + std::to_string(kBlobMaxMetadataBytes) + " bytes of metadata in all";
  return "";
}

}  // namespace

Metadata metadata_of(const OnnxModel &model, const Metadata &given, bool of_file, std::vector<std::string> *notes) {
  std::set<std::string> taken;
  Metadata all;
  size_t bytes = kEndOfMetadata;
  for (const auto &pair : given) {
    taken.insert(pair.first);
    if (pair.second.empty()) continue;
    const std::string problem = metadata_problem(pair.first, pair.second, bytes);
    if (!problem.empty()) throw UsageError("--meta " + quote(pair.first) + ": " + problem);
    bytes += metadata_bytes(pair.first, pair.second);
    all.push_back(pair);
  }
  size_t left_out = 0;
  std::string why;
  for (const auto &[key, value] : model.metadata) {
    if (!of_file || value.empty() || taken.count(key)) continue;
    const std::string problem = metadata_problem(key, value, bytes);
    if (!problem.empty()) {
      if (left_out++ == 0) why = quote(key) + ", " + std::to_string(value.size()) + " bytes: " + problem;
      continue;
    }
    taken.insert(key);
    bytes += metadata_bytes(key, value);
    all.emplace_back(key, value);
  }
  if (left_out != 0)
    notes->push_back("of the file's metadata " + std::to_string(left_out) + (left_out == 1 ? " text is" : " texts are") +
                     " left out (" + why + ")");
  return all;
}

Metadata metadata_from(const std::vector<std::string> &texts) {
  Metadata pairs;
  std::set<std::string> taken;
  for (const std::string &text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) throw UsageError("--meta " + quote(text) + "; accepted: KEY=VALUE");
    if (!taken.insert(text.substr(0, equals)).second) throw UsageError("--meta gives " + quote(text.substr(0, equals)) + " twice");
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

}  // namespace rnnp::compiler
