// bytes_test.cpp -- copies of every length around their pieces. SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace rnnp {
namespace {

TEST(Bytes, CopiesThatManyAndNoMore) {
  constexpr size_t kMost = 3 * 2048 + 70, kAround = 80;
  std::vector<unsigned char> from(kMost);
  for (size_t i = 0; i < kMost; ++i) from[i] = static_cast<unsigned char>(i % 251 + 1);
  for (size_t bytes = 0; bytes <= kMost; bytes += bytes % 2048 > 65 && bytes % 2048 < 1983 ? 131 : 1) {
    const size_t first = bytes % kAround;
    std::vector<unsigned char> to(kMost + 2 * kAround), want(to.size());
    for (size_t i = 0; i < bytes; ++i) want[first + i] = from[i];
    copy_bytes(to.data() + first, from.data(), bytes);
    ASSERT_EQ(to, want) << bytes;
  }
}

}  // namespace
}  // namespace rnnp
