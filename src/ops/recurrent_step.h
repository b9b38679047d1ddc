// recurrent_step.h -- the fast path of a recurrent layer: a single step of all rows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_STEP_H_
#define RNNPACK_OPS_RECURRENT_STEP_H_

#include "ops/recurrent_layer.h"

namespace rnnp {

// Op::finish of a recurrent layer: sets what its arguments need for single steps of all rows, where it has a fast path for them.
StepFn finish_recurrent(FinishEnv *env, const BlobNode &node, void *object);

// --- What the fast paths share ---------------------------------------------------------------------------------------------

// Sets what differs from step to step; returns the buffer of h that will be the live one. Inlined even where code is to be small.
__attribute__((always_inline)) inline uint32_t begin_step(const Recurrent &layer, RecurArgs *a) {
  const SingleStep &s = layer.single;
  const uint32_t live = s.h->live;
  a->y = static_cast<float *>(s.y->data);
  a->h_prev = s.h->buffer[live];
  a->h_next = s.h->buffer[live ^ 1];
  a->descending = static_cast<uint8_t>(layer.plan.serpentine & live);
  return live ^ 1;
}

// False where the layer has no fast path.
bool prepare_step(FinishEnv *env, const BlobNode &node, Recurrent *layer);
// Where pre-activations, z and r*h lie; returns where products quantise their rows.
void *place_scratch(const Recurrent &layer, void *scratch, uint32_t rows, Direction *d);
void place_product(const Recurrent &layer, void *factors, uint32_t rows, GemmArgs *g);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_STEP_H_
