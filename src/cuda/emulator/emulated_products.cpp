// emulated_products.cpp -- numbers of 16 bits, and the products of the matrix units: which lane and register of a fragment has
// which element (PTX ISA). Contract: emulator.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/emulator/emulator.h"

namespace simt {
namespace {

constexpr uint32_t kMailBytes = 64;

}  // namespace

float half_value(uint16_t h) {
  const uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexpf(static_cast<float>(fraction), -24);
  return sign * ldexpf(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
}

uint16_t half_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  const uint32_t sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) return static_cast<uint16_t>(sign | static_cast<uint32_t>(nearbyintf(fabsf(x) * 16777216.0f)));
  return static_cast<uint16_t>(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13));
}

uint16_t bf16_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

namespace {

float bf16_value(uint16_t h) {
  const uint32_t u = uint32_t{h} << 16;
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

// Which lane and register have which element: PTX ISA, fragments of mma.m16n8k16.
void mma_halves(float d[4], const uint32_t a[4], const uint32_t b[2], float (*value)(uint16_t)) {
  uint16_t in[12];
  memcpy(in, a, 16);
  memcpy(in + 8, b, 8);
  float mine[12];
  for (int i = 0; i < 12; ++i) mine[i] = value(in[i]);
  const uint8_t *mail = static_cast<const uint8_t *>(warp_exchange(mine, sizeof mine));
  const auto element = [&](uint32_t lane, uint32_t i) {
    float v;
    memcpy(&v, mail + kMailBytes * lane + 4 * i, sizeof v);
    return v;
  };
  const uint32_t lane = thread() % 32;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t row = lane / 4 + (i & 2 ? 8 : 0), column = 2 * (lane % 4) + (i & 1);
    for (uint32_t k = 0; k < 16; ++k) {
      const uint32_t pair = k % 8 / 2;
      d[i] +=
          element(row % 8 * 4 + pair, 4 * (k / 8) + 2 * (row / 8) + k % 2) * element(column * 4 + pair, 8 + 2 * (k / 8) + k % 2);
    }
  }
}

}  // namespace

void mma_f16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  mma_halves(d, a, b, half_value);
}
void mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  mma_halves(d, a, b, bf16_value);
}

// The fragments of mma.m16n8k32: register i of a lane has 4 k, from 16 (i / 2) + 4 (lane % 4) on.
void mma_i8(int32_t d[4], const uint32_t a[4], const uint32_t b[2]) {
  int8_t mine[24];
  memcpy(mine, a, 16);
  memcpy(mine + 16, b, 8);
  const int8_t *mail = static_cast<const int8_t *>(warp_exchange(mine, sizeof mine));
  const uint32_t lane = thread() % 32;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t row = lane / 4 + (i & 2 ? 8 : 0), column = 2 * (lane % 4) + (i & 1);
    for (uint32_t k = 0; k < 32; ++k) {
      const uint32_t quad = k % 16 / 4;
      const int8_t *from = mail + kMailBytes * (row % 8 * 4 + quad), *other = mail + kMailBytes * (column * 4 + quad);
      d[i] += from[4 * (2 * (k / 16) + row / 8) + k % 4] * other[16 + 4 * (k / 16) + k % 4];
    }
  }
}

}  // namespace simt
