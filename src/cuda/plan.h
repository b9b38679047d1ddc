// plan.h -- which kernel runs a recurrent layer, on how many blocks, and why: a pure function of the layer, the options and plain
// facts of a device. No call to a GPU. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_PLAN_H_
#define RNNPACK_CUDA_PLAN_H_

#include "cuda/gather_layout.h"
#include "cuda/kernel_table.h"
#include "format/model.h"
#include "rnnpack/cuda.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t kOldestArch = 800;

struct LayerShape {
  Cell cell;
  uint32_t input, hidden, directions;
  bool plain;  // default activations, no clip, no peepholes, no coupled gates
  Weights w, r;
  bool one_step;                      // of bytes: h is always quantized to int8 by the same number
  uint32_t bundles[kMostGates] = {};  // of a sparse R: those of each gate's longest row group (gather_layout.h)
  bool masked = false;
};

// Of a node whose attributes have been checked, dense numbers as `floats`. False: its weights' format has no kernel.
bool layer_shape(const Model &model, const AttrRecurrent &a, Weights floats, LayerShape *shape);

struct PlanLimits {
  rnnp_cuda_device device;
  Weights weights;  // of dense numbers
  uint32_t max_batch, chunk_steps;
  uint32_t max_steps_per_launch, sm_limit, kernels_allowed;  // 0: chosen, all
  bool one_by_one = false;                                   // directions are
};

// A matrix that many rows are multiplied by.
struct ProductPlan {
  bool fits;
  Weights weights;
  uint32_t units, blocks, columns, shared_bytes;
  uint32_t wide_columns, wide_blocks;  // of the kernel of many rows, 0 where there is none; wide_blocks: of one group of columns
  uint32_t k, sm_count;
};
// A launch of it for `count` rows.
struct ProductLaunch {
  KernelId kernel;
  uint32_t columns, blocks, shared_bytes;
};
ProductLaunch launch_of(const ProductPlan &plan, uint32_t count);
uint32_t wide_product_bytes(const ProductPlan &plan, uint32_t columns);  // of shared memory
ProductPlan plan_product(Weights weights, uint32_t gates, uint32_t outputs, uint32_t k, const PlanLimits &limits);

struct LayerPlan {
  bool fits;                                              // false: no kernel can run it
  KernelId resident;                                      // count: a launch for each step
  uint32_t directions;                                    // of a resident launch
  bool cluster;                                           // whose blocks are one
  uint32_t units, blocks, columns, held, shared_bytes;    // blocks: of a direction
  uint32_t places;                                        // for partial sums
  uint32_t step_blocks, step_columns, step_shared_bytes;  // of the kernel of one step
  bool plain;                                             // as the layer's
  bool takes_input;                                       // that kernel multiplies the input itself where there is one step
  Weights weights;                                        // of R
  ProductPlan input;                                      // its product
  ProductPlan state;                                      // of a kLstmNorm: that of R h, in the place of the kernel of one step
  uint32_t bundles[kMostGates];                           // of a resident sparse R
  uint32_t steps_per_launch;
  uint32_t predicted_ns;
  char reason[sizeof rnnp_cuda_layer_info::reason];
};

LayerPlan plan_layer(const LayerShape &shape, const PlanLimits &limits);

rnnp_cuda_layer_info facts_of(const LayerPlan &plan);

// A device by the name that `rnnpack inspect --plan --cuda` takes; false when there is none of it.
struct NamedDevice {
  const char *name;
  rnnp_cuda_device device;
};
extern const NamedDevice kNamedDevices[];
extern const uint32_t kNamedDeviceCount;

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PLAN_H_
