// steps.h -- a time axis that is longer or shorter than the run, or reversed: Pad puts zeros before or behind the steps, a
// convolution that pads gives more results than there are steps, Slice takes some away. Nothing is done until it comes out even:
// such a view is only passed on by operators that know it (Atom::lead, Atom::trail) and refused by all others. Concat puts other
// rows there (Builder::rows_beside): a delay that begins with them, where Slice takes as many away. Steps that are
// reversed (Atom::reversed) cost nothing before a layer, which runs in the other direction, and a copy before all others.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_STEPS_H_
#define RNNPACK_COMPILER_IMPORT_STEPS_H_

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"

namespace rnnp::compiler {

// One atom that is T, or, while axes are looked for, may be it.
bool may_be_steps(const Builder &b, const Axis &axis);
bool is_off_steps(const View &view);
// Rows that a Concat or Pad put beside the steps, and that no Slice has taken away again.
bool has_rows_beside(const Builder &b, const View &view);
// The axis is open, or steps are left out of it that `more` would make up for.
bool may_take_rows(const Builder &b, const Axis &axis, int64_t more);
// Steps that lie the other way round are reversed, in the name of what reversed the view or else of `name`.
View in_order(Builder &b, View view, const std::string &name);
// The view for an operator that takes the run's steps, in order, and no others; throws Refusal. While axes are looked for: as
// features.
View settled(Builder &b, const View &view, const std::string &name);
// As settled, but results that the run has no steps for may stay: the operator works on each element alone.
View settled_but_unknown(Builder &b, const View &view, const std::string &name);
// As settled_but_unknown, but zeros that Pad put there stay too: the operator makes 0 of 0.
View settled_but_zeros(Builder &b, const View &view, const std::string &name);

// Elements [first, first + count) of a time axis, step by step. Shifts the value in time where that is what is left. Throws Refusal
// where a run of fewer steps than that would give another number of them.
View cut_steps(OpCall &call, const View &view, const SliceRange &range);
// Element `index` of a time axis as a row: the run's step that it is, counted from the end of the run that it is near to.
View picked_step(OpCall &call, const View &view, size_t axis, int64_t index);
// The steps the other way round, of each row its first `lengths` (a value, or kAllReversed); back again where they lie so already.
View reverse_steps(const OpCall &call, View view, size_t axis, int64_t lengths);
// How the view's steps lie; in order from here on. put_reversal: as they lay.
int64_t take_reversal(View *view);
void put_reversal(View *view, int64_t reversed);
// Rows before and behind the steps, whose numbers outside the time axis are those of the view.
View put_beside(OpCall &call, const View &view, size_t axis, std::vector<std::pair<View, int64_t>> before,
                std::vector<std::pair<View, int64_t>> behind);
// Two views of as many steps, of which other ones are left out: the later ones of one beside those of the other, as in
// x[1:] - x[:-1].
void meet_steps(OpCall &call, View *a, View *b);
// Zeros before and behind the steps; below 0: steps left out there.
View pad_steps(OpCall &call, const View &view, size_t axis, int64_t before, int64_t after);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_STEPS_H_
