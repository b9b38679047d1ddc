// resident_f32.h -- the resident recurrence on f32 weights. As resident_mma.h, but a warp has kRows rows and all of k: no partial
// sums and one barrier per step, for which what is multiplied has two places in shared memory. kRegGroups: groups of 64 columns
// whose weights live in registers. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_F32_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_F32_H_

#include "cuda/kernels/cell.h"
#include "cuda/kernels/exchange.h"
#include "cuda/kernels/products_f32.h"
#include "cuda/kernels/resident_mma.h"

namespace rnnp {
namespace cuda {

struct alignas(8) Floats2 {
  float x, y;
};

// Of a warp's rows: kPairs of them have units in the kernel's shape, `used` in this warp; `rest` has these alone.
template <int kRows, int kPairs, int kRegGroups>
SIMT_FN float multiply_held(const Floats4 held[][kPairs], const Floats4 *rest, uint32_t used, uint32_t groups, const float *column,
                            uint32_t lane) {
  float acc[kRows];
  SIMT_UNROLL for (uint32_t r = 0; r < kRows; ++r) acc[r] = 0.0f;
  const Floats2 *mine = reinterpret_cast<const Floats2 *>(column) + lane;
  SIMT_UNROLL for (uint32_t i = 0; i < kRegGroups; ++i) {
    if (i >= groups) break;
    const Floats2 v = mine[i * 32];
    SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) multiply_pair(held[i][r], v.x, v.y, &acc[2 * r], &acc[2 * r + 1]);
  }
  SIMT_ROLLED for (uint32_t i = kRegGroups; i < groups; ++i) {
    const Floats2 v = mine[i * 32];
    SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) {
      if (r < used) multiply_pair(rest[((i - kRegGroups) * used + r) * 32 + lane], v.x, v.y, &acc[2 * r], &acc[2 * r + 1]);
    }
  }
  return add_lanes<kRows>(acc, lane);
}

SIMT_FN void publish_float(const RecurrentArgs &a, uint64_t *words, uint32_t row_words, uint32_t n, uint32_t unit, float v,
                           uint32_t epoch) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  simt::ll_store(words + slot_of(epoch) * a.batch * row_words + n * row_words + unit, bits, epoch);
}

template <Cell kCell, int kRows, int kRegGroups, bool kGeneric>
SIMT_FN void resident_f32_block(const RecurrentArgs &a, const BlockOf &of) {
  constexpr uint32_t G = gates_of(kCell), kUnits = kRows / G, kPairs = pairs_of_warp(G, kRows),
                     kPasses = kCell == Cell::kGru ? 2 : 1;
  const Shape s = {G, a.hidden, a.units};
  const ResidentShared at = resident_f32_shared(s, a.batch, kRegGroups);
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes, block = of.block, B = a.batch, H = a.hidden;
  const uint32_t groups = column_groups(H), stride = groups * 64, blocks = ceil_div(H, a.units);
  float *input = reinterpret_cast<float *>(simt::shared() + at.input), *c_own = reinterpret_cast<float *>(simt::shared() + at.c);
  float *h_own = reinterpret_cast<float *>(simt::shared() + at.h), *z_own = reinterpret_cast<float *>(simt::shared() + at.z);
  const uint32_t used = used_pairs(G, kRows, a.units, warp), full = used_pairs(G, kRows, a.units, 0);
  Floats4 *rest =
      reinterpret_cast<Floats4 *>(simt::shared() + at.weights) +
      warp * full * (groups > kRegGroups ? groups - kRegGroups : 0) * kLanes;  // only warps without units follow one with few
  const Floats4 *mine =
      reinterpret_cast<const Floats4 *>(a.r + block * f32_image_bytes(s)) + uint64_t{warp} * groups * kPairs * kLanes + lane;
  Floats4 held[kRegGroups][kPairs];
  SIMT_UNROLL for (uint32_t i = 0; i < kRegGroups; ++i) SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) held[i][r] =
      i < groups ? mine[(i * kPairs + r) * kLanes] : Floats4{0, 0, 0, 0};
  SIMT_ROLLED for (uint32_t r = 0; r < used; ++r)
      copy_pieces(rest + r * kLanes + lane, used * kLanes, mine + (kRegGroups * kPairs + r) * kLanes, kPairs * kLanes,
                  groups > kRegGroups ? groups - kRegGroups : 0);
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < 2 * B * stride; i += kThreads) input[i] =
      i % stride < H && i < B * stride ? a.h[state_place(a, i / stride) + i % stride] : 0.0f;
  simt::reads_are_told(a.words);
  load_units<kCell>(a, block, h_own, c_own);
  const uint32_t row_words = (H + 1) & ~1u, slot_words = B * row_words;
  uint64_t *rh_words = a.words + 2 * slot_words;
  uint32_t base;
  if (!begin_epochs(a, of, &base)) return time_out(a);
  const uint32_t row = row_of_sum<kRows>(lane), u = warp * kUnits + row / G, unit = block * a.units + u;
  const bool owned = row / G < kUnits && u < a.units, exists = owned && unit < H,
             leads = exists && lane % 2 == 0 && lane < 2 * kRows && row % G == 0;
  const GateLane gate = {2 * (row / G * G), 2, row % G};

  for (uint32_t t = 0; t < a.steps; ++t) {
    const uint32_t step = step_at(a, t), epoch = base + t + 1;
    SIMT_ROLLED for (uint32_t pass = 0; pass < kPasses; ++pass) {
      // Two places in turn: what is written now was last read before the barrier that all have left.
      float *now = input + ((kPasses * t + pass) & 1) * B * stride;
      bool failed = false;
      if (t != 0 || pass != 0) {
        const uint64_t *words = pass == 0 ? a.words + slot_of(epoch - 1) * slot_words : rh_words + slot_of(epoch) * slot_words;
        const auto place = [&](uint32_t i) {
          const uint32_t n = B == 1 ? 0 : i / row_words;
          return n * stride + i - n * row_words;
        };
        failed =
            !poll(a, words, slot_words, pass == 0 ? epoch - 1 : epoch, place, [&](uint32_t to, uint32_t first, uint32_t second) {
              const Bits2 both = {first, second};
              memcpy(now + to, &both, sizeof both);
            });
      }
      if (sync_after_poll(failed)) return time_out(a);
      SIMT_ROLLED for (uint32_t n = 0; n < B; ++n) {
        const uint64_t place = ((uint64_t{step} * B + n) * blocks + block) * kWarps * kRows + warp * kRows + row;
        const float pre = exists ? a.preact[place] : 0.0f;
        const float rec = multiply_held<kRows, kPairs, kRegGroups>(held, rest, used, groups, now + n * stride, lane);
        const uint32_t own = n * a.units + u;
        UnitState state = {owned ? h_own[own] : 0.0f, owned ? c_own[own] : 0.0f, 0.0f, {0.0f, 0.0f, 0.0f}};
        if (kCell == Cell::kGruLinear && exists) state.r_bias = a.r_bias[unit];
        if (exists) load_peephole<kCell, kGeneric>(a, unit, &state);
        if (kCell == Cell::kGru && pass == 0) {
          float z;
          const float rh = gru_gates<kGeneric>(a.rules, gate, pre, rec, state.h, &z);
          if (leads) {
            z_own[own] = z;
            publish_float(a, rh_words, row_words, n, unit, rh, epoch);
          }
          simt::sync_warp();  // z is read by all lanes of the unit
          continue;
        }
        float c_new = state.c, h_new;
        if constexpr (kCell == Cell::kGru) {
          h_new = gru_output<kGeneric>(a.rules, gate, pre, rec, state.h, owned ? z_own[own] : 0.0f);
        } else {
          h_new = finish_cell<kCell, kGeneric>(a.rules, gate, pre, rec, state, &c_new);
        }
        const bool ended = row_has_ended(a, step, n);
        if (ended) h_new = state.h, c_new = state.c;
        simt::sync_warp();  // all lanes of the unit have read the old state
        if (!leads) continue;
        if (t + 1 < a.steps) publish_float(a, a.words, row_words, n, unit, h_new, epoch);
        h_own[own] = h_new, c_own[own] = c_new;
        if (a.y != nullptr) a.y[(uint64_t{step} * B + n) * a.y_row + unit] = ended ? 0.0f : h_new;
      }
      // A word that only makes a row's number even has no writer: the last block keeps it company.
      const bool gates_only = kCell == Cell::kGru && pass == 0;
      if (H % 2 != 0 && block == blocks - 1 && simt::thread() < B && (gates_only || t + 1 < a.steps))
        publish_float(a, gates_only ? rh_words : a.words, row_words, simt::thread(), H, 0.0f, epoch);
    }
  }
  simt::sync_block();
  store_units<kCell>(a, block, h_own, c_own);
  end_epochs(a, of, base);
}

template <Cell kCell, int kRows, int kRegGroups, bool kGeneric>
SIMT_KERNEL(256)
resident_f32(const RecurrentArgs a) {
  resident_f32_block<kCell, kRows, kRegGroups, kGeneric>(a, all_blocks());
}

template <Cell kCell, int kRows, int kRegGroups>
SIMT_KERNEL(256)
resident_f32_both(const SIMT_PARAMETER BothArgs both) {
  const uint32_t blocks = simt::block_count() / 2, second = simt::block() >= blocks;
  resident_f32_block<kCell, kRows, kRegGroups, false>(both.direction[second], {simt::block() - second * blocks, blocks});
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_F32_H_
