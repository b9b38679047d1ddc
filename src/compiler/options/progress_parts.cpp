// progress_parts.cpp -- Contract: progress_parts.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/options/progress_parts.h"

#include <utility>

namespace rnnp::compiler {
namespace {

constexpr size_t kWhole = 100;  // of a part

}  // namespace

ProgressParts::ProgressParts(Progress tell, size_t parts) : tell_(std::move(tell)), parts_(parts) {
  if (tell_) tell_(0, parts_ * kWhole);
}

void ProgressParts::say(size_t percent_of_parts) {
  if (percent_of_parts <= said_) return;
  said_ = percent_of_parts;
  tell_(said_, parts_ * kWhole);
}

Progress ProgressParts::next() {
  if (!tell_) return {};
  const size_t before = begun_++ * kWhole;
  return [this, before](size_t done, size_t all) { say(before + (all == 0 ? kWhole : done * kWhole / all)); };
}

}  // namespace rnnp::compiler
