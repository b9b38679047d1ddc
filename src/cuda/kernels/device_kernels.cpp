// device_kernels.cpp -- all kernels and their table: nvcc compiles this for GPUs, any other compiler for the emulator.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernel_table.h"
#include "cuda/kernels/resident_f16.h"
#include "cuda/kernels/resident_f32.h"
#include "cuda/kernels/row_ops.h"
#include "cuda/kernels/rows.h"
#include "cuda/kernels/step_f16.h"
#include "cuda/kernels/step_f32.h"
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

// In the order of KernelId.
const KernelFacts kKernels[] = {
#define RNNPACK_CUDA_RESIDENT_F16(cell, half_tiles, reg_steps)                                            \
  {"resident_f16<" #cell ", " #half_tiles ", " #reg_steps ">", simt::Meets::kGrid, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_f16<Cell::cell, half_tiles, reg_steps>)},
#define RNNPACK_CUDA_RESIDENT_F32(cell, reg_groups)                                       \
  {"resident_f32<" #cell ", " #reg_groups ">", simt::Meets::kGrid, sizeof(RecurrentArgs), \
   RNNPACK_CALL(RecurrentArgs, resident_f32<Cell::cell, reg_groups>)},
#define RNNPACK_CUDA_STEP(cell, generic)                                                \
  {"step_f16<" #cell ", " #generic ">", simt::Meets::kBlock, sizeof(RecurrentArgs),     \
   RNNPACK_CALL(RecurrentArgs, step_f16<Cell::cell, generic>)},                         \
      {"step_f32<" #cell ", " #generic ">", simt::Meets::kBlock, sizeof(RecurrentArgs), \
       RNNPACK_CALL(RecurrentArgs, step_f32<Cell::cell, generic>)},
#define RNNPACK_CUDA_PRODUCT(name) {#name, simt::Meets::kBlock, sizeof(ProductArgs), RNNPACK_CALL(ProductArgs, name)},
#define RNNPACK_CUDA_PLAIN(name, args) {#name, simt::Meets::kNobody, sizeof(args), RNNPACK_CALL(args, name)},
#include "cuda/kernels/device_kernels.inc"
};

}  // namespace cuda
}  // namespace rnnp
