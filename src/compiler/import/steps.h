// steps.h -- a time axis that is longer or shorter than the run: Pad puts zeros before or behind the steps, a convolution that pads
// gives more results than there are steps, Slice takes some away. Nothing is done until it comes out even: such a view is only
// passed on by operators that know it (Atom::lead, Atom::trail) and refused by all others.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_STEPS_H_
#define RNNPACK_COMPILER_IMPORT_STEPS_H_

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"

namespace rnnp::compiler {

// One atom that is T, or, while axes are looked for, may be it.
bool may_be_steps(const Builder &b, const Axis &axis);
bool is_off_steps(const View &view);
// The view for an operator that takes the run's steps and no others; throws Refusal. While axes are looked for: as features.
View settled(const Builder &b, View view);
// As settled, but results that the run has no steps for may stay: the operator works on each element alone.
View settled_but_unknown(const Builder &b, View view);

// Elements [first, first + count) of a time axis, step by step. Shifts the value in time where that is what is left.
View cut_steps(OpCall &call, const View &view, const SliceRange &range);
// The steps the other way round, of each row its first `lengths` (a value, or kAllTurned); back again where they lie so already.
View turn_steps(const OpCall &call, View view, size_t axis, int64_t lengths);
// How the view's steps lie; in order from here on.
int64_t take_turn(View *view);
// Zeros before and behind the steps; below 0: steps left out there.
View pad_steps(OpCall &call, const View &view, size_t axis, int64_t before, int64_t after);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_STEPS_H_
