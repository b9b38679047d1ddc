// recurrent_products.h -- what a recurrent layer whose R recurrent kernels do not read has besides its cells: the product with R.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_PRODUCTS_H_
#define RNNPACK_OPS_RECURRENT_PRODUCTS_H_

#include "ops/recurrent_build.h"

namespace rnnp {

struct UnfusedKernels {
  GemmFn product;  // with R
  RecurrentKernels others;
};

// RNNP_E_LAYOUT: the machine has no kernel for R.
rnnp_status find_unfused_kernels(const BuildEnv &env, const AttrRecurrent &a, const RecurrentPlan &plan, UnfusedKernels *kernels);

// Takes the directions' products from the arena and, in a layer that build_recurrent has placed, fills them and their phases.
void add_products(BuildEnv *env, const AttrRecurrent &a, const RecurrentPlan &plan, GemmFn product, Recurrent *layer);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_PRODUCTS_H_
