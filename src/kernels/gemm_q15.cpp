// gemm_q15.cpp -- products of integer-only layers: bytes times bytes, whole sums, and from them pre-activations as integers.
// Room: kernels. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Integer-only layers"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fixed_point.h"
#include "kernels/fixed_sums.h"
#include "kernels/gemm_ref.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// A row's bytes, a word each, and what the weights have too much times them.
struct ByteWords {
  int32_t *words;
  uint32_t excess;
};

RNNPACK_NOINLINE uint32_t quantise_words(const float *a, size_t k, uint32_t factor_bits, int32_t *to) {
  const ByteFactor factor = byte_factor(factor_bits);
  int32_t sum = 0;
  for (size_t i = 0; i < k; ++i) {
    to[i] = byte_of_float(load_word(a + i), factor);
    sum += to[i];
  }
  return static_cast<uint32_t>(sum) * 128;
}

// start + ((sum >> a) m >> b): m, a and b lie in a word.
RNNPACK_INLINE int32_t scaled_sum(uint32_t sum, uint32_t scale, int32_t start) {
  const int32_t kept = static_cast<int32_t>(sum) >> (scale >> 16 & 31);
  const uint32_t product = static_cast<uint32_t>(kept) * (scale & 0xffff);
  return wrapped_sum(start, static_cast<int32_t>(product) >> (scale >> 24 & 31));
}

// What some columns' sums are multiplied by, what they are added to, and where that goes.
struct Columns {
  const float *scales;
  const int32_t *start;
  int32_t *out;
};

template <class T>
T *at_row(T *first, size_t m, size_t row_bytes) {
  return first + m * (row_bytes / sizeof(T));
}

// Goes on to the columns behind these.
RNNPACK_NOINLINE void finish_columns(const uint32_t *sums, size_t count, uint32_t excess, Columns *of) {
  const float *scales = of->scales;
  const int32_t *start = of->start;
  int32_t *out = of->out;
  RNNPACK_NO_UNROLL
  for (const uint32_t *end = sums + count; sums != end;) {
    *out++ = scaled_sum(*sums++ - excess, load_word(scales++), *start++);
  }
  *of = {scales, start, out};
}

RNNPACK_NOINLINE void fixed_row(const GemmArgs &g, const ByteWords &row, size_t m, size_t nr) {
  const size_t width = g.w.gates * nr, start_tile = g.start_tile != 0 ? g.start_tile : width;
  const size_t out_tile = g.out_tile != 0 ? g.out_tile : width;
  const uint8_t *panel = static_cast<const uint8_t *>(g.w.panels) + g.tile_begin * g.w.k * width;
  Columns of = {g.w.scales + g.tile_begin * width, at_row(g.start_q, m, g.start_row_bytes) + g.tile_begin * start_tile,
                at_row(g.out_q, m, g.out_row_bytes) + g.tile_begin * out_tile};
  const size_t out_gap = out_tile - width, start_gap = start_tile - width;
  for (size_t tile = g.tile_begin; tile < g.tile_end; ++tile, panel += (g.w.k - 1) * width) {
    for (size_t left = width; left != 0;) {
      uint32_t sums[kMostColumns];
      const size_t count = fixed_sums(row.words, panel, g.w.k, width, left, sums);
      finish_columns(sums, count, row.excess, &of);
      panel += count;
      left -= count;
    }
    of.start += start_gap;
    of.out += out_gap;
  }
}

void gemm_q15_rows(const GemmArgs *args, size_t nr) {
  int32_t *words = static_cast<int32_t *>(args->scratch);
  uint32_t factor;
  __builtin_memcpy(&factor, &args->w.lhs_scale, sizeof factor);
  // Behind its words a row's excess is kept for the product after this one.
  int32_t &excess = words[args->w.k];
  for (size_t m = 0; m < args->rows; ++m) {
    if (!args->prepared || args->rows != 1)
      excess = static_cast<int32_t>(quantise_words(ref_row(args->a, m, args->a_row_bytes), args->w.k, factor, words));
    fixed_row(*args, {words, static_cast<uint32_t>(excess)}, m, nr);
  }
}

template <uint32_t kNr>
void gemm_q15_of(const GemmArgs *args) {
  gemm_q15_rows(args, kNr);
}

}  // namespace

#define RNNPACK_IN_gemm_q15 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_q15_of<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
