// sine.h -- sines and cosines of every float, in arithmetic alone: the CPU's operator and the GPU's kernel have one text and one
// set of bits. Pure. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BASE_SINE_H_
#define RNNPACK_BASE_SINE_H_

#include <stdint.h>

#ifdef __CUDACC__
#define RNNPACK_EVERYWHERE __host__ __device__ inline
#else
#define RNNPACK_EVERYWHERE inline
#endif

namespace rnnp {

// x as a multiple of pi/2 to the nearest, and what is left.
struct Quarter {
  uint32_t turns;
  float rest;
};

// The bits of 2/pi behind a word of zeros: of x = m 2^e, those that make whole turns are left out.
RNNPACK_EVERYWHERE Quarter far_quarter(uint32_t bits) {
  static constexpr uint32_t kTwoOverPi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                            0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
  const uint32_t m = (bits & 0x7fffffu) | 0x800000u, at = (bits >> 23 & 255u) - 120u;  // e - 2 + 32
  const uint32_t *w = kTwoOverPi + at / 32;
  const uint32_t shift = at % 32;
  const uint32_t first = shift == 0 ? w[0] : (w[0] << shift) | (w[1] >> (32 - shift));
  const uint32_t second = shift == 0 ? w[1] : (w[1] << shift) | (w[2] >> (32 - shift));
  const uint32_t third = shift == 0 ? w[2] : (w[2] << shift) | (w[3] >> (32 - shift));
  const uint64_t low = uint64_t{m} * third, middle = uint64_t{m} * second + (low >> 32);
  const uint32_t high = m * first + static_cast<uint32_t>(middle >> 32);
  const uint32_t up = high >> 29 & 1u;  // from a half on, to the next
  const int32_t top = static_cast<int32_t>(high << 2 | static_cast<uint32_t>(middle) >> 30);
  const float fraction = static_cast<float>(top) * 2.3283064e-10f +
                         static_cast<float>(static_cast<uint32_t>(middle) >> 6 & 0xffffffu) * 1.3877788e-17f;
  return {(high >> 30) + up, fraction * 1.5707964f};
}

// size: of x, by its bits.
RNNPACK_EVERYWHERE Quarter quarter_of(float x, uint32_t size) {
  if (size < 0x46000000u) {  // 8192: the multiples of the parts are exact
    const float wanted = x * 0.63661977f;
    const int32_t turns = static_cast<int32_t>(wanted + (wanted < 0.0f ? -0.5f : 0.5f));
    const float n = static_cast<float>(turns);
    return {static_cast<uint32_t>(turns), ((x - n * 1.5703125f) - n * 4.8351288e-4f) - n * 3.1385572e-7f - n * 6.0771005e-11f};
  }
  const Quarter q = far_quarter(size);
  return x < 0.0f ? Quarter{0u - q.turns, -q.rest} : q;
}

// The sine of x and so many more quarters of a turn.
RNNPACK_EVERYWHERE float sine_behind(float x, uint32_t quarters) {
  uint32_t size;
  __builtin_memcpy(&size, &x, sizeof size);
  size &= 0x7fffffffu;
  if (size >= 0x7f800000u) return x - x;
  const Quarter q = quarter_of(x, size);
  const uint32_t turns = q.turns + quarters;
  const float z = q.rest * q.rest;
  const float cosine = 1.0f - 0.5f * z + z * z * ((2.443315711809948e-5f * z + -1.388731625493765e-3f) * z + 4.166664568298827e-2f);
  const float sine = q.rest * (1.0f + z * ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z + -1.6666654611e-1f));
  const float y = (turns & 1u) != 0 ? cosine : sine;
  return (turns & 2u) != 0 ? -y : y;
}
RNNPACK_EVERYWHERE float sine_of(float x) {
  return sine_behind(x, 0);
}
RNNPACK_EVERYWHERE float cosine_of(float x) {
  return sine_behind(x, 1);
}

}  // namespace rnnp

#undef RNNPACK_EVERYWHERE
#endif  // RNNPACK_BASE_SINE_H_
