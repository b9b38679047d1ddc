// recurrent_build.h -- a recurrent node becomes an object of the session.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_BUILD_H_
#define RNNPACK_OPS_RECURRENT_BUILD_H_

#include "ops/recurrent_layer.h"

namespace rnnp {

// What a layer has besides its cells. `phases` are left for who builds an unfused layer: `before` of them before each of cells.
struct RecurrentKernels {
  const Kernel *input;  // the product with W; nullptr: there is none
  bool fixed;           // an integer-only layer
  uint32_t before, phases;
  bool own_cells = false;  // all phases are left
};

RecurrentShape recurrent_shape(const Model &m, const AttrRecurrent &a);

// Op::build of a layer, but for scratch. *built stays as it is while measuring.
rnnp_status build_recurrent(BuildEnv *env, const AttrRecurrent &a, const RecurrentPlan &plan, const RecurrentKernels &kernels,
                            Recurrent **built);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_BUILD_H_
