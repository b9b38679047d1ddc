// recurrent_phases.h -- the interpreter of a recurrent layer's phases: one thread's part of one direction over some steps, and the
// fast path of a single step. Time, a feature axis, and whose rows they are, is the operators' matter.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_PHASES_H_
#define RNNPACK_OPS_RECURRENT_PHASES_H_

#include "base/bytes.h"
#include "ops/recurrent_layer.h"

namespace rnnp {

// p and `bytes` beyond it; an operand that is absent stays so.
inline const float *operand_at(const float *p, size_t bytes) {
  return p == nullptr ? nullptr : view_as<float>(reinterpret_cast<const uint8_t *>(p) + bytes);
}
inline float *operand_at(float *p, size_t bytes) {
  return p == nullptr ? nullptr : view_as<float>(reinterpret_cast<uint8_t *>(p) + bytes);
}

// The threads that run one direction together; the barrier lines are the team's.
struct Team {
  Barrier *lines;
  uint32_t threads, self;
};

struct Sequence {
  // Set by start_sequence.
  const Recurrent *layer;
  const Direction *direction;
  Team team;
  RecurArgs args;      // the direction's, of the tiles that the thread owns
  Products *products;  // the thread's own
  float *preact;
  void *factors;  // behind all other scratch, of the thread
  // By who runs it, besides rows, c and the bytes from row to row of args.
  const float *x;         // of the first step
  float *y;               // nullptr: not wanted
  size_t x_step, y_step;  // bytes from step to step
  float *h[2];            // the state is in h[live], and then in the other
  uint32_t live;
  // The product with the input of some steps, at most `most`; nullptr: cells take it themselves.
  void (*project)(const Sequence &s, size_t first, size_t count);
  size_t steps, most;
  const int32_t *lengths;  // [rows], or nullptr: steps of each row, counted from first_step before these
  size_t first_step;
};

// scratch: of the team. products: room for those of an unfused layer.
void start_sequence(const Recurrent &layer, const Direction &direction, const Team &team, uint8_t *scratch, Products *products,
                    Sequence *s);

void run_sequence(Sequence *s);

// Sequence::project where all rows of all steps lie x_row_bytes apart.
void project_rows(const Sequence &s, size_t first, size_t count);

// Op::finish of a layer over time: sets what its arguments need for single steps of all rows, where it has a fast path for them.
StepFn finish_recurrent(FinishEnv *env, const BlobNode &node, void *object);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_PHASES_H_
