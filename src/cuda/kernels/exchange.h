// exchange.h -- how blocks that run side by side tell each other h: words {payload, epoch}, each stored and loaded as one, so that
// payload and flag arrive together: no fence, no barrier of the grid, nothing to clear between launches.
//
// Two slots suffice: h(t+1) overwrites h(t-1) only after its writer saw all of h(t), and a block publishes its part of h(t) only
// after all its threads have left the polling of h(t-1).
// Epochs go on from launch to launch, in device memory, so that a captured launch may be replayed. When 32 bits are half used up
// all words are cleared once, because a word that no run touched since may hold any epoch. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_EXCHANGE_H_
#define RNNPACK_CUDA_KERNELS_EXCHANGE_H_

#include "cuda/kernels/args.h"
#include "cuda/simt.h"

// Tests break the protocol on purpose: 1 no barrier after the polling, 2 one slot, 3 a neighbour's flag is trusted, 4 relaxed where
// it acquires, 5 words loaded as plain memory, which a compiler reads once; of clusters, 6 no barrier before the first word, 7 none
// behind the last.
#ifndef RNNPACK_CUDA_FAULT
#define RNNPACK_CUDA_FAULT 0
#endif

namespace rnnp {
namespace cuda {

constexpr uint32_t kSpinsPerLook = 256;  // at the error word
constexpr uint32_t kPairsAtOnce = 4;     // of words, that a thread asks for

SIMT_FN void tell_time_out(const RecurrentArgs &a) {
  simt::flag_store(a.control + kTimedOut, 1);       // for the other blocks
  simt::flag_store(a.findings + kFoundTimeOut, 1);  // for rnnp_cuda_wait
}
SIMT_FN void time_out(const RecurrentArgs &a) {
  if (simt::thread() == 0) tell_time_out(a);
}

SIMT_FN uint32_t slot_of(uint32_t epoch) {
  return RNNPACK_CUDA_FAULT == 2 ? 0 : epoch & 1;
}

SIMT_FN bool is_fresh(const uint64_t v[2], uint32_t epoch) {
  const bool first = RNNPACK_CUDA_FAULT == 3 || static_cast<uint32_t>(v[0] >> 32) == epoch;
  return first && static_cast<uint32_t>(v[1] >> 32) == epoch;
}

// Which pairs of words a thread polls: first, first + hop and so on, below count.
struct PairsOfThread {
  uint32_t first, hop, count;
};
// A pair of words: which, and where its payloads go.
struct PairPlace {
  uint32_t word, to;
};

// False: it is time to give up.
SIMT_FN bool may_spin(const RecurrentArgs &a, uint32_t spins) {
  const bool look = spins % kSpinsPerLook == kSpinsPerLook - 1;
  return spins < a.spin_limit && (!look || simt::flag_load(a.control + kTimedOut) == 0);
}

template <class Place, class Take>
SIMT_FN bool poll_pair(const RecurrentArgs &a, const uint64_t *words, uint32_t pair, uint32_t epoch, Place place, Take take) {
  PairPlace at = place(pair);
  const uint64_t *from = words + at.word;
  uint64_t v[2];
  simt::ll_load2(from, v);
  simt::renew(&at.to);  // found while the words are under way
  SIMT_ROLLED for (uint32_t spins = 0; !is_fresh(v, epoch); ++spins) {
    if (!may_spin(a, spins)) return false;
    simt::pause();
    if (RNNPACK_CUDA_FAULT != 5) simt::ll_load2(from, v);
  }
  take(at.to, static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]));
  return true;
}

// Polls pairs of words until all carry `epoch`; gives each pair of payloads to take(place, first, second). A thread asks for all
// its pairs of a round at once, and finds their places while the words are under way. False: time-out.
template <class Place, class Take>
SIMT_FN bool poll(const RecurrentArgs &a, const uint64_t *words, const PairsOfThread &pairs, uint32_t epoch, Place place,
                  Take take) {
  if (pairs.count <= pairs.hop) return pairs.first >= pairs.count || poll_pair(a, words, pairs.first, epoch, place, take);
  SIMT_ROLLED for (uint32_t i = pairs.first; i < pairs.count; i += kPairsAtOnce * pairs.hop) {
    uint64_t v[kPairsAtOnce][2];
    PairPlace at[kPairsAtOnce];
    uint32_t missing = 0;
    SIMT_UNROLL for (uint32_t j = 0; j < kPairsAtOnce; ++j) {
      at[j] = {0, 0}, v[j][0] = v[j][1] = 0;
      if (i + j * pairs.hop >= pairs.count) continue;
      missing |= 1u << j;
      at[j] = place(i + j * pairs.hop);
      simt::ll_load2(words + at[j].word, v[j]);
    }
    SIMT_UNROLL for (uint32_t j = 0; j < kPairsAtOnce; ++j) simt::renew(&at[j].to);
    for (uint32_t spins = 0;; ++spins) {
      SIMT_UNROLL for (uint32_t j = 0; j < kPairsAtOnce; ++j) {
        if (is_fresh(v[j], epoch)) missing &= ~(1u << j);
      }
      if (missing == 0) break;
      if (!may_spin(a, spins)) return false;
      simt::pause();
      SIMT_UNROLL for (uint32_t j = 0; j < kPairsAtOnce; ++j) {
        if ((missing >> j & 1) != 0 && RNNPACK_CUDA_FAULT != 5) simt::ll_load2(words + at[j].word, v[j]);
      }
    }
    SIMT_UNROLL for (uint32_t j = 0; j < kPairsAtOnce; ++j) {
      if (j == 0 || i + j * pairs.hop < pairs.count) take(at[j].to, static_cast<uint32_t>(v[j][0]), static_cast<uint32_t>(v[j][1]));
    }
  }
  return true;
}
// All threads of a block poll `count` words (a multiple of 2), a pair after the other. place(index of a word): where it goes.
template <class Place, class Take>
SIMT_FN bool poll_together(const RecurrentArgs &a, const uint64_t *words, uint32_t count, uint32_t epoch, Place place, Take take) {
  const auto pair = [&](uint32_t i) { return PairPlace{2 * i, place(2 * i)}; };
  return poll(a, words, {simt::thread(), kThreads, count / 2}, epoch, pair, take);
}

// All threads of the block have done their part; true when one of them failed.
SIMT_FN bool sync_after_poll(bool failed) {
  return RNNPACK_CUDA_FAULT == 1 ? false : simt::sync_block_or(failed);
}

SIMT_FN uint32_t arrived(const RecurrentArgs &a) {
  return RNNPACK_CUDA_FAULT == 4 ? simt::flag_load(a.control + kArrived) : simt::flag_acquire(a.control + kArrived);
}

// *base: the epoch that this launch counts from. False: time-out.
SIMT_FN bool begin_epochs(const RecurrentArgs &a, const BlockOf &at, uint32_t *base) {
  *base = simt::flag_load(a.control + kEpoch);
  if (*base < kClearFromEpoch) return true;
  *base = 0;
  for (uint32_t i = at.block * kThreads + simt::thread(); i < a.word_count; i += at.blocks * kThreads)
    simt::ll_store(a.words + i, 0, 0);
  simt::sync_block();
  bool ok = true;
  if (simt::thread() == 0) {
    simt::arrive(a.control + kArrived);
    for (uint32_t spins = 0; arrived(a) != at.blocks && ok; ++spins) {
      ok = spins < a.spin_limit;
      simt::pause();
    }
  }
  return !simt::sync_block_or(!ok);
}

// Block 0 has seen words of all blocks, so all have begun.
SIMT_FN void end_epochs(const RecurrentArgs &a, const BlockOf &at, uint32_t base) {
  if (at.block != 0 || simt::thread() != 0) return;
  simt::flag_store(a.control + kEpoch, base + a.steps);
  simt::flag_store(a.control + kArrived, 0);
}

SIMT_FN BlockOf all_blocks() {
  return {simt::block(), simt::block_count()};
}

// Which step of the call, and of preact and y, is the launch's t-th.
SIMT_FN uint32_t step_at(const RecurrentArgs &a, uint32_t t) {
  return a.reverse ? a.steps - 1 - t : t;
}
SIMT_FN bool row_has_ended(const RecurrentArgs &a, uint32_t step, uint32_t n) {
  return a.lengths != nullptr && a.lengths[n] <= static_cast<int32_t>(a.first_step + step);
}
template <class Args>
SIMT_FN bool row_is_masked(const Args &a, uint64_t n) {
  return a.mask != nullptr && a.mask[n * a.x_row] == 0.0f;
}
SIMT_FN uint64_t state_place(const RecurrentArgs &a, uint32_t n) {
  return (a.rows != nullptr ? a.rows[n] : n) * a.state_row;
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_EXCHANGE_H_
