// proto_file.h -- reads one protobuf message from a file.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_CONFORMANCE_PROTO_FILE_H_
#define RNNPACK_TESTS_CONFORMANCE_PROTO_FILE_H_

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace rnnp::conformance {

template <typename Proto>
Proto load(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  Proto proto;
  if (!file || !proto.ParseFromIstream(&file)) throw std::runtime_error("cannot read " + path.string());
  return proto;
}

}  // namespace rnnp::conformance
#endif  // RNNPACK_TESTS_CONFORMANCE_PROTO_FILE_H_
