// device_kernels.cpp -- all kernels and their table: nvcc compiles this for GPUs, any other compiler for the emulator.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernel_table.h"
#include "cuda/kernels/norm_cells.h"
#include "cuda/kernels/product_wide_f32.h"
#include "cuda/kernels/resident_blocks.h"
#include "cuda/kernels/resident_cluster.h"
#include "cuda/kernels/resident_cluster_f32.h"
#include "cuda/kernels/resident_f32.h"
#include "cuda/kernels/resident_mma.h"
#include "cuda/kernels/resident_nibbles.h"
#include "cuda/kernels/row_ops.h"
#include "cuda/kernels/rows.h"
#include "cuda/kernels/step_blocks.h"
#include "cuda/kernels/step_f32.h"
#include "cuda/kernels/step_mma.h"
#include "cuda/kernels/time_ops.h"

namespace rnnp {
namespace cuda {
namespace {

#ifdef RNNPACK_CUDA_EMULATED
template <class Args, void (*kKernel)(Args)>
void call(const void *args) {
  kKernel(*static_cast<const Args *>(args));
}
#define RNNPACK_CALL(args, ...) call<args, __VA_ARGS__>
#else
#define RNNPACK_CALL(args, ...) reinterpret_cast<const void *>(&__VA_ARGS__)
#endif

}  // namespace

// The f32 kernels are no templates of weights.
#define RNNPACK_STEP_step_f32(weights, cell, generic) step_f32<Cell::cell, generic>
#define RNNPACK_STEP_step_mma(weights, cell, generic) step_mma<Weights::weights, Cell::cell, generic>
#define RNNPACK_STEP_step_blocks(weights, cell, generic) step_blocks<Weights::weights, Cell::cell, generic>
#define RNNPACK_PRODUCT_product_f32(weights) product_f32
#define RNNPACK_PRODUCT_product_mma(weights) product_mma<Weights::weights>
#define RNNPACK_PRODUCT_product_blocks(weights) product_blocks<Weights::weights>

// In the order of KernelId.
const KernelFacts kKernels[] = {
#define RNNPACK_CUDA_RESIDENT_MMA(weights, cell, half_tiles, reg_steps, generic)                              \
  {"resident_mma<" #weights ", " #cell ", " #half_tiles ", " #reg_steps ", " #generic ">", simt::Sync::kGrid, \
   sizeof(RecurrentArgs),                                                                                     \
   RNNPACK_CALL(RecurrentArgs, resident_mma<Weights::weights, Cell::cell, half_tiles, reg_steps, generic>)},
#define RNNPACK_CUDA_RESIDENT_F32(cell, rows, reg_groups, generic)                                                \
  {"resident_f32<" #cell ", " #rows ", " #reg_groups ", " #generic ">", simt::Sync::kGrid, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_f32<Cell::cell, rows, reg_groups, generic>)},
#define RNNPACK_CUDA_RESIDENT_MMA_BOTH(weights, cell, half_tiles, reg_steps)                                           \
  {"resident_mma_both<" #weights ", " #cell ", " #half_tiles ", " #reg_steps ">", simt::Sync::kGrid, sizeof(BothArgs), \
   RNNPACK_CALL(BothArgs, resident_mma_both<Weights::weights, Cell::cell, half_tiles, reg_steps>)},
#define RNNPACK_CUDA_RESIDENT_F32_BOTH(cell, rows, reg_groups)                                      \
  {"resident_f32_both<" #cell ", " #rows ", " #reg_groups ">", simt::Sync::kGrid, sizeof(BothArgs), \
   RNNPACK_CALL(BothArgs, resident_f32_both<Cell::cell, rows, reg_groups>)},
#define RNNPACK_CUDA_RESIDENT_CLUSTER(weights, cell, half_tiles, tiles)                                                   \
  {"resident_cluster<" #weights ", " #cell ", " #half_tiles ", " #tiles ">", simt::Sync::kCluster, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_cluster<Weights::weights, Cell::cell, half_tiles, tiles>)},
#define RNNPACK_CUDA_RESIDENT_CLUSTER_F32(cell, rows, groups)                                              \
  {"resident_cluster_f32<" #cell ", " #rows ", " #groups ">", simt::Sync::kCluster, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_cluster_f32<Cell::cell, rows, groups>)},
#define RNNPACK_CUDA_RESIDENT_BLOCKS(weights, cell, columns, held)                                                \
  {"resident_blocks<" #weights ", " #cell ", " #columns ", " #held ">", simt::Sync::kGrid, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_blocks<Weights::weights, Cell::cell, columns, held>)},
#define RNNPACK_CUDA_RESIDENT_NIBBLES(cell, tiles, held)                                           \
  {"resident_nibbles<" #cell ", " #tiles ", " #held ">", simt::Sync::kGrid, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_nibbles<Cell::cell, tiles, held>)},
#define RNNPACK_CUDA_STEP(kernel, weights, cell, generic)                                        \
  {#kernel "<" #weights ", " #cell ", " #generic ">", simt::Sync::kBlock, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, RNNPACK_STEP_##kernel(weights, cell, generic))},
#define RNNPACK_CUDA_PRODUCT(kernel, weights) \
  {#kernel "<" #weights ">", simt::Sync::kBlock, sizeof(ProductArgs), RNNPACK_CALL(ProductArgs, RNNPACK_PRODUCT_##kernel(weights))},
#define RNNPACK_CUDA_PRODUCT_WIDE(weights)                                \
  {"product_wide<" #weights ">", simt::Sync::kBlock, sizeof(ProductArgs), \
   RNNPACK_CALL(ProductArgs, product_wide<Weights::weights>)},
#define RNNPACK_CUDA_PLAIN(name, args) {#name, simt::Sync::kNobody, sizeof(args), RNNPACK_CALL(args, name)},
#define RNNPACK_CUDA_BY_WARPS(name, args) {#name, simt::Sync::kWarp, sizeof(args), RNNPACK_CALL(args, name)},
#include "cuda/kernels/device_kernels.inc"
};
const KernelFacts &kClusterKernel = kKernels[static_cast<uint32_t>(KernelId::resident_cluster_kF16_kLstm_16)];

}  // namespace cuda
}  // namespace rnnp
