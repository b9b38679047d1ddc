// simt.h -- the small dialect that kernels are written in: nvcc makes PTX of it, any other compiler calls the emulator.
// Rule: a kernel touches threads, barriers, warps, shared memory and other blocks' data only through these functions.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_SIMT_H_
#define RNNPACK_CUDA_SIMT_H_

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <string.h>

#include "cuda/kernel_sync.h"

#define SIMT_KERNEL(threads) __global__ void __launch_bounds__(threads, 1)
#define SIMT_FN static __device__ __forceinline__
#define SIMT_PARAMETER __grid_constant__
#define SIMT_UNROLL _Pragma("unroll")
#define SIMT_ROLLED _Pragma("unroll 1")
#define SIMT_UNROLLED_BY_4 _Pragma("unroll 4")
#define SIMT_UNROLLED_BY_8 _Pragma("unroll 8")

namespace simt {

SIMT_FN uint32_t thread() {
  return threadIdx.x;
}
SIMT_FN uint32_t block() {
  return blockIdx.x;
}
SIMT_FN uint32_t block_count() {
  return gridDim.x;
}
SIMT_FN uint8_t *shared() {
  extern __shared__ __align__(128) uint8_t bytes[];
  return bytes;
}
SIMT_FN void sync_block() {
  __syncthreads();
}
SIMT_FN bool sync_block_or(bool v) {
  return __syncthreads_or(v);
}
SIMT_FN void sync_warp() {
  __syncwarp();
}
SIMT_FN float shuffle(float v, uint32_t lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}
SIMT_FN float shuffle_xor(float v, uint32_t mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
// 2^x and 1/x, to a few units in the last place; what is smaller than a normal number is 0.
SIMT_FN float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SIMT_FN float fast_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SIMT_FN uint32_t half2_bits(float lo, float hi) {
  const __half2 h = __floats2half2_rn(lo, hi);
  uint32_t u;
  memcpy(&u, &h, sizeof u);
  return u;
}
SIMT_FN uint32_t bf162_bits(float lo, float hi) {
  const __nv_bfloat162 h = __floats2bfloat162_rn(lo, hi);
  uint32_t u;
  memcpy(&u, &h, sizeof u);
  return u;
}
SIMT_FN int32_t shuffle_word(int32_t v, uint32_t lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}
// sum + a b, of four bytes each.
SIMT_FN int32_t dot4(uint32_t a, uint32_t b, int32_t sum) {
  return __dp4a(static_cast<int32_t>(a), static_cast<int32_t>(b), sum);
}
// D[16][8] += A[16][16] B[16][8], f16 or bf16 in, f32 out; of bytes, A[16][32] B[32][8], i32 out.
SIMT_FN void mma_f16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
SIMT_FN void mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
SIMT_FN void mma_i8(int32_t d[4], const uint32_t a[4], const uint32_t b[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// A word: payload in the low half, epoch in the high half, stored and loaded as one.
SIMT_FN void ll_store(uint64_t *p, uint32_t payload, uint32_t epoch) {
  const uint64_t v = uint64_t{epoch} << 32 | payload;
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
// Two words, each whole; p is aligned to 16.
SIMT_FN void ll_load2(const uint64_t *p, uint64_t v[2]) {
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0,%1}, [%2];" : "=l"(v[0]), "=l"(v[1]) : "l"(p) : "memory");
}
// Of a cluster, sm_90 and later. A place in another block's shared memory: where p lies in this one's.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SIMT_CLUSTERS 1
SIMT_FN uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
struct Remote {
  uint32_t at;
};
SIMT_FN Remote in_block(const void *p, uint32_t block) {
  Remote r;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r.at) : "r"(shared_address(p)), "r"(block));
  return r;
}
SIMT_FN Remote behind(const Remote &r, uint32_t bytes) {
  return {r.at + bytes};
}
// 4, 8 or 16 bytes to another block's memory, told to a counter there.
template <int kWords>
SIMT_FN void store_counted(const Remote &to, const Remote &counter, const uint32_t v[kWords]) {
  if constexpr (kWords == 1) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to.at), "r"(v[0]),
                 "r"(counter.at)
                 : "memory");
  } else if constexpr (kWords == 2) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1,%2}, [%3];" ::"r"(to.at), "r"(v[0]),
                 "r"(v[1]), "r"(counter.at)
                 : "memory");
  } else {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(to.at),
                 "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(counter.at)
                 : "memory");
  }
}
// A counter of bytes, in shared memory. Round after round one thread says how many bytes come, and all wait until they are there.
SIMT_FN void counter_begin(uint64_t *counter) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(counter)) : "memory");
}
SIMT_FN void counter_expect(uint64_t *counter, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(counter)), "r"(bytes) : "memory");
}
// Whether round `round` has ended, from 0; waits a while for it. What came is in the block's own shared memory, so an acquire of
// the block's scope will do (as CUTLASS waits); the cluster's would empty the first cache.
SIMT_FN bool counter_is_full(uint64_t *counter, uint32_t round) {
  uint32_t full;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(full)
               : "r"(shared_address(counter)), "r"(round & 1)
               : "memory");
  return full != 0;
}
// What counter_begin did is seen by all, too.
SIMT_FN void sync_cluster() {
  asm volatile("fence.mbarrier_init.release.cluster; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
#else
#define SIMT_CLUSTERS 0
#endif
SIMT_FN void fail() {
  asm volatile("trap;");
}
SIMT_FN uint32_t flag_load(const uint32_t *p) {
  uint32_t v;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
SIMT_FN void flag_store(uint32_t *p, uint32_t v) {
  asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
// After sync_block: whoever sees the sum sees all that the block has stored.
SIMT_FN void arrive(uint32_t *p) {
  asm volatile("{.reg .b32 t; fence.acq_rel.gpu; atom.add.relaxed.gpu.global.u32 t, [%0], 1;}" ::"l"(p) : "memory");
}
// The same, and of those that came before: their number, and all that they have stored.
SIMT_FN uint32_t arrive_in_turn(uint32_t *p) {
  uint32_t before;
  asm volatile("fence.acq_rel.gpu; atom.add.relaxed.gpu.global.u32 %0, [%1], 1; fence.acq_rel.gpu;"
               : "=r"(before)
               : "l"(p)
               : "memory");
  return before;
}
SIMT_FN uint32_t flag_acquire(const uint32_t *p) {
  uint32_t v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
SIMT_FN void pause() {}
// Nothing at run time: what a thread has read (told) comes before what a thread that saw `words` does (were told), because the
// words depend on what was read. For the emulator's eyes; the reason stands where these are called.
SIMT_FN void reads_are_told(const uint64_t *) {}
SIMT_FN void reads_were_told(const uint64_t *) {}
// What follows from v is computed here, not once ahead of a loop and kept in registers.
SIMT_FN void renew(uint32_t *v) {
  asm volatile("" : "+r"(*v));
}
// v is kept in registers, not computed again where it is needed.
SIMT_FN void keep(uint32_t *v) {
  asm volatile("" : "+r"(*v));
}
SIMT_FN void keep(float *v) {
  asm volatile("" : "+f"(*v));
}
SIMT_FN void keep(int64_t *v) {
  asm volatile("" : "+l"(*v));
}
template <class T>
SIMT_FN void keep(T **v) {
  asm volatile("" : "+l"(*v));
}
template <class T>
SIMT_FN void keep_shared(T **v) {  // of shared memory, which a compiler would forget
  keep(v);
  __builtin_assume(__isShared(*v));
}
#if SIMT_CLUSTERS
SIMT_FN void keep(Remote *v) {
  keep(&v->at);
}
#endif

}  // namespace simt
#else
#include "cuda/emulator/emulator.h"

#define SIMT_KERNEL(threads) void
#define SIMT_CLUSTERS 1
#define SIMT_FN static inline
#define SIMT_PARAMETER
#define SIMT_UNROLL
#define SIMT_ROLLED
#define SIMT_UNROLLED_BY_4
#define SIMT_UNROLLED_BY_8
#endif

#endif  // RNNPACK_CUDA_SIMT_H_
