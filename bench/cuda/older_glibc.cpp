// older_glibc.cpp -- libstdc++.a's random_device names arc4random, which glibc has from 2.36 on, and none of these programs uses
// it. With one of their own they start on machines with 2.35 (Ubuntu 22.04). SPDX-License-Identifier: Apache-2.0
#include <cstdint>

extern "C" uint32_t arc4random() noexcept;
extern "C" uint32_t arc4random() noexcept {
  return 4;
}
