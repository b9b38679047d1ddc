// listener.h -- to whom a command's work says what it has to say, as it goes on. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_LISTENER_H_
#define RNNPACK_COMPILER_OPTIONS_LISTENER_H_

#include <cstdint>
#include <functional>
#include <string>

namespace rnnp::compiler {

// kReport: lines, with a line break at their end.
enum class MessageKind : uint8_t { kNote, kReport };

struct Listener {
  std::function<void(MessageKind kind, const std::string &text)> say;
  // How much of all is done; empty where nobody asks.
  std::function<void(size_t done, size_t all)> progress = {};
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_OPTIONS_LISTENER_H_
