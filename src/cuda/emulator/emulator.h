// emulator.h -- runs a kernel on the host: every CUDA thread is a fiber, one OS thread runs them all in an order that a seed
// repeats, that of the blocks included. Memory is weak (emulated_memory.h), so a protocol that forgets a barrier or a fence fails
// here, where threads of a CPU would hide it. Shared memory begins as NaNs. Now and then a thread, a warp or a block falls far
// behind: chance alone would keep all of them in step. In a build for ThreadSanitizer, that sees each CUDA thread as a thread
// (order.h). SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_EMULATOR_EMULATOR_H_
#define RNNPACK_CUDA_EMULATOR_EMULATOR_H_

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cuda/kernel_sync.h"

namespace simt {

// Memory that kernels store to as to any other.
struct PlainMemory {
  void *p;
  size_t bytes;
};
struct Launch {
  uint32_t blocks, threads, shared_bytes;
  uint64_t seed;
  Sync sync;
  uint32_t missing_blocks;             // of the grid's last, that never run: for tests
  bool old_values = false;             // words may be read as they were before, until something orders them
  const PlainMemory *plain = nullptr;  // what is stored there stays with its block for a while
  uint32_t plain_count = 0;
  uint32_t cluster = 0;  // blocks of each cluster; 0: all
};

// Returns when all threads have ended; false when those of a block or a cluster wait for one another for ever, or a block of a
// cluster stores into one that has ended.
bool run_grid(const Launch &launch, void (*kernel)(const void *args), const void *args);
// How often the last launch changed from thread to thread.
uint64_t switches();

uint32_t thread();
uint32_t block();
uint32_t block_count();
uint8_t *shared();
void sync_block();
bool sync_block_or(bool v);
void sync_warp();
void sync_cluster();
void pause();  // in every polling loop
inline void renew(uint32_t *) {}
template <class T>
inline void keep(T *) {}
template <class T>
inline void keep_shared(T *) {}
void reads_are_told(const uint64_t *words);
void reads_were_told(const uint64_t *words);
// All 32 lanes leave `bytes` (at most 64) and find those of every lane, 64 bytes apart.
const void *warp_exchange(const void *mine, uint32_t bytes);
void delayed_store(void *p, uint64_t v, uint32_t bytes);
void mma_f16(float d[4], const uint32_t a[4], const uint32_t b[2]);
void mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]);
void mma_i8(int32_t d[4], const uint32_t a[4], const uint32_t b[2]);

uint16_t half_bits(float x);  // nearest, halves to the even one
uint16_t bf16_bits(float x);  // the same
float half_value(uint16_t h);

inline float fast_exp2(float x) {
  return exp2f(x);
}
inline float fast_reciprocal(float x) {
  return 1.0f / x;
}
inline uint32_t half2_bits(float lo, float hi) {
  return half_bits(lo) | uint32_t{half_bits(hi)} << 16;
}
inline uint32_t bf162_bits(float lo, float hi) {
  return bf16_bits(lo) | uint32_t{bf16_bits(hi)} << 16;
}
inline float shuffle(float v, uint32_t lane) {
  float out;
  memcpy(&out, static_cast<const uint8_t *>(warp_exchange(&v, sizeof v)) + 64 * lane, sizeof out);
  return out;
}
inline float shuffle_xor(float v, uint32_t mask) {
  return shuffle(v, (thread() & 31) ^ mask);
}

inline int32_t shuffle_word(int32_t v, uint32_t lane) {
  int32_t out;
  memcpy(&out, static_cast<const uint8_t *>(warp_exchange(&v, sizeof v)) + 64 * lane, sizeof out);
  return out;
}
inline int32_t dot4(uint32_t a, uint32_t b, int32_t sum) {
  for (int i = 0; i < 4; ++i) sum += static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
  return sum;
}

// ThreadSanitizer sees a word's store where the kernel makes it.
#if defined(__SANITIZE_THREAD__)
inline void note_word(uint64_t *p) {
  __atomic_fetch_add(p, 0, __ATOMIC_RELAXED);
}
inline void note_word(uint32_t *p) {
  __atomic_fetch_add(p, 0, __ATOMIC_RELAXED);
}
#else
inline void note_word(const void *) {}
#endif

inline void ll_store(uint64_t *p, uint32_t payload, uint32_t epoch) {
  note_word(p);
  delayed_store(p, uint64_t{epoch} << 32 | payload, 8);
}
uint64_t word_load(const void *p, uint32_t bytes);
// Of a cluster: bytes on their way to another block come in any order, and with them what its counter is told.
struct Remote {
  uint8_t *p;
  uint32_t block;
};
Remote in_block(const void *p, uint32_t block);
inline Remote behind(const Remote &r, uint32_t bytes) {
  return {r.p != nullptr ? r.p + bytes : nullptr, r.block};
}
void store_words(const Remote &to, const Remote &counter, const uint32_t *v, uint32_t words);
template <int kWords>
void store_counted(const Remote &to, const Remote &counter, const uint32_t v[kWords]) {
  for (uint32_t i = 0; i < kWords; ++i) note_word(reinterpret_cast<uint32_t *>(to.p) + i);
  note_word(reinterpret_cast<uint32_t *>(counter.p));
  store_words(to, counter, v, kWords);
}
inline void counter_begin(uint64_t *counter) {
  *counter = 0;
}
void counter_expect(uint64_t *counter, uint32_t bytes);
bool counter_is_full(uint64_t *counter, uint32_t round);
// Two words, each whole, with no order between them.
inline void ll_load2(const uint64_t *p, uint64_t v[2]) {
  v[0] = word_load(p, 8);
  pause();
  v[1] = word_load(p + 1, 8);
}
void arrive_at(uint32_t *p);
inline void arrive(uint32_t *p) {
  note_word(p);
  arrive_at(p);
}
uint32_t arrive_in_turn_at(uint32_t *p);
inline uint32_t arrive_in_turn(uint32_t *p) {
  note_word(p);
  return arrive_in_turn_at(p);
}
uint32_t flag_acquire(const uint32_t *p);
inline uint32_t flag_load(const uint32_t *p) {
  return static_cast<uint32_t>(word_load(p, 4));
}
inline void flag_store(uint32_t *p, uint32_t v) {
  note_word(p);
  delayed_store(p, v, 4);
}

}  // namespace simt
#endif  // RNNPACK_CUDA_EMULATOR_EMULATOR_H_
