// winograd_cost.cpp -- Contract: winograd_cost.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/winograd_cost.h"

#include "pack/winograd.h"

namespace rnnp::compiler {
namespace {

constexpr uint32_t kTaps = 9;

uint64_t halved(uint32_t size) {
  return (uint64_t{size} + 1) / 2;
}

// Multiply-adds of a result's tile, with the transforms of x and back in what they take of a CPU's time (and `copies`, a channel's
// or unit's moves of a tile), beside those of its windows; edges of the last tiles are work too. Nine tenths: a form that wins by
// less costs the bytes for nothing.
bool is_cheaper(uint64_t in, uint64_t out, const uint32_t results[2], uint64_t copies) {
  constexpr uint64_t kOfChannel = 128, kOfUnit = 100;
  const uint64_t tiles = halved(results[0]) * halved(results[1]);
  return 10 * tiles * (kWinogradPoints * in * out + (kOfChannel + copies) * in + (kOfUnit + copies) * out) <=
         9 * uint64_t{results[0]} * results[1] * kTaps * in * out;
}

// Half of the L2 that most CPUs have.
bool fits_caches(uint64_t points, uint64_t in, uint64_t out) {
  constexpr uint64_t kMostBytes = 256 * 1024;
  return points * in * out * sizeof(float) <= kMostBytes;
}

}  // namespace

bool winograd_pays(uint64_t in, uint64_t out, const uint32_t results[2]) {
  return fits_caches(kWinogradPoints, in, out) && is_cheaper(in, out, results, 0);
}

// A block's tiles lie in one line. What makes x and what reads the results may lie otherwise.
bool winograd_pays_copies(uint64_t in, uint64_t out, const uint32_t results[2]) {
  constexpr uint64_t kBlock = 16, kOfCopy = 120;
  const uint64_t wide = halved(results[1]), filled = (wide + kBlock - 1) / kBlock * kBlock;
  return 4 * wide >= 3 * filled && fits_caches(kWinogradPoints, in, out) && is_cheaper(in, out, results, kOfCopy);
}

bool winograd_lines_pay(uint64_t in, uint64_t out, uint64_t taps, uint32_t results) {
  constexpr uint64_t kOfChannel = 24, kOfUnit = 32;
  const uint64_t weights = taps * in * out, pairs = halved(results);
  return fits_caches(kLinePoints * taps, in, out) &&
         10 * pairs * (kLinePoints * weights + kOfChannel * in + kOfUnit * out) <= 9 * uint64_t{results} * 3 * weights;
}

}  // namespace rnnp::compiler
