// kernel_table.h -- the kernels by number: what launches and plans see of them. Made from kernels/device_kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNEL_TABLE_H_
#define RNNPACK_CUDA_KERNEL_TABLE_H_

#include "cuda/device_layout.h"
#include "cuda/kernel_sync.h"
#include "format/blob_attrs.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t kClusterArch = 900, kMostClusterBlocks = 16;  // of clusters

enum class KernelId : uint32_t {
#define RNNPACK_CUDA_RESIDENT_MMA(weights, cell, half_tiles, reg_steps, generic) \
  resident_##weights##_##cell##_##half_tiles##_##reg_steps##_##generic,
#define RNNPACK_CUDA_RESIDENT_F32(cell, rows, reg_groups, generic) resident_f32_##cell##_##rows##_##generic,
#define RNNPACK_CUDA_RESIDENT_MMA_BOTH(weights, cell, half_tiles, reg_steps) resident_both_##weights##_##cell##_##half_tiles,
#define RNNPACK_CUDA_RESIDENT_F32_BOTH(cell, rows, reg_groups) resident_both_f32_##cell##_##rows,
#define RNNPACK_CUDA_RESIDENT_CLUSTER(weights, cell, half_tiles, tiles) resident_cluster_##weights##_##cell##_##half_tiles,
#define RNNPACK_CUDA_RESIDENT_CLUSTER_F32(cell, rows, groups) resident_cluster_f32_##cell##_##rows,
#define RNNPACK_CUDA_RESIDENT_BLOCKS(weights, cell, columns, held) resident_##weights##_##cell##_##columns##_##held,
#define RNNPACK_CUDA_RESIDENT_NIBBLES(cell, tiles, held) resident_nibbles_##cell##_##tiles##_##held,
#define RNNPACK_CUDA_STEP(kernel, weights, cell, generic) step_##weights##_##cell##_##generic,
#define RNNPACK_CUDA_PRODUCT(kernel, weights) product_##weights,
#define RNNPACK_CUDA_PRODUCT_WIDE(weights) product_wide_##weights,
#define RNNPACK_CUDA_PLAIN(name, args) name,
#define RNNPACK_CUDA_BY_WARPS(name, args) name,
#include "cuda/kernels/device_kernels.inc"
  count
};

// What there is of resident kernels. half_tiles: on matrix units, of int4 at most; of f32, rows of a warp; columns: of blocks,
// batch rows at a time; held: k-tiles, groups of columns, or bundles, in registers; generic: for all rules but the plain ones.
struct Resident {
  KernelId id;
  Weights weights;
  Cell cell;
  uint32_t half_tiles, columns, held;
  bool generic;
  uint32_t directions = 1;  // of a launch
  bool cluster = false;     // its blocks are a cluster
};

inline constexpr Resident kResidents[] = {
#define RNNPACK_CUDA_RESIDENT_MMA(weights, cell, half_tiles, reg_steps, generic)   \
  {KernelId::resident_##weights##_##cell##_##half_tiles##_##reg_steps##_##generic, \
   Weights::weights,                                                               \
   Cell::cell,                                                                     \
   half_tiles,                                                                     \
   0,                                                                              \
   reg_steps,                                                                      \
   generic},
#define RNNPACK_CUDA_RESIDENT_F32(cell, rows, reg_groups, generic) \
  {KernelId::resident_f32_##cell##_##rows##_##generic, Weights::kF32, Cell::cell, rows, 0, reg_groups, generic},
#define RNNPACK_CUDA_RESIDENT_MMA_BOTH(weights, cell, half_tiles, reg_steps) \
  {KernelId::resident_both_##weights##_##cell##_##half_tiles, Weights::weights, Cell::cell, half_tiles, 0, reg_steps, false, 2},
#define RNNPACK_CUDA_RESIDENT_F32_BOTH(cell, rows, reg_groups) \
  {KernelId::resident_both_f32_##cell##_##rows, Weights::kF32, Cell::cell, rows, 0, reg_groups, false, 2},
#define RNNPACK_CUDA_RESIDENT_CLUSTER(weights, cell, half_tiles, tiles) \
  {KernelId::resident_cluster_##weights##_##cell##_##half_tiles,        \
   Weights::weights,                                                    \
   Cell::cell,                                                          \
   half_tiles,                                                          \
   0,                                                                   \
   tiles,                                                               \
   false,                                                               \
   1,                                                                   \
   true},
#define RNNPACK_CUDA_RESIDENT_CLUSTER_F32(cell, rows, groups) \
  {KernelId::resident_cluster_f32_##cell##_##rows, Weights::kF32, Cell::cell, rows, 0, groups, false, 1, true},
#define RNNPACK_CUDA_RESIDENT_BLOCKS(weights, cell, columns, held) \
  {KernelId::resident_##weights##_##cell##_##columns##_##held, Weights::weights, Cell::cell, 0, columns, held, false},
#define RNNPACK_CUDA_RESIDENT_NIBBLES(cell, tiles, held) \
  {KernelId::resident_nibbles_##cell##_##tiles##_##held, Weights::kI4, Cell::cell, 2 * kWarps * tiles, 0, held, false},
#include "cuda/kernels/device_kernels.inc"
};

// The kernel of one step.
constexpr KernelId step_kernel(Weights weights, Cell cell, bool generic) {
#define RNNPACK_CUDA_STEP(kernel, of_weights, of, is_generic)                      \
  if (weights == Weights::of_weights && cell == Cell::of && generic == is_generic) \
    return KernelId::step_##of_weights##_##of##_##is_generic;
#include "cuda/kernels/device_kernels.inc"
  return KernelId::count;
}
constexpr KernelId product_kernel(Weights weights) {
#define RNNPACK_CUDA_PRODUCT(kernel, of_weights) \
  if (weights == Weights::of_weights) return KernelId::product_##of_weights;
#include "cuda/kernels/device_kernels.inc"
  return KernelId::count;
}

// Of more rows than product_kernel takes at once; count: there is none.
constexpr KernelId wide_product_kernel(Weights weights) {
#define RNNPACK_CUDA_PRODUCT_WIDE(of_weights) \
  if (weights == Weights::of_weights) return KernelId::product_wide_##of_weights;
#include "cuda/kernels/device_kernels.inc"
  return KernelId::count;
}

struct KernelFacts {
  const char *name;
  simt::Sync sync;
  uint32_t arg_bytes;
#ifdef RNNPACK_CUDA_EMULATED
  void (*call)(const void *args);
#else
  const void *function;
#endif
};

// [KernelId::count]
extern const KernelFacts kKernels[];
extern const KernelFacts &kClusterKernel;  // one of a cluster

// Of an operator that needs no plan: loaded with every session.
inline bool is_plain(const KernelFacts &kernel) {
  return kernel.sync == simt::Sync::kNobody || kernel.sync == simt::Sync::kWarp;
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNEL_TABLE_H_
