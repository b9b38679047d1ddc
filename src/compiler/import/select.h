// select.h -- Where on views: what operators that pick elements at run time are put together from.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_SELECT_H_
#define RNNPACK_COMPILER_IMPORT_SELECT_H_

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// x where the condition (a mask) is 1, else y; general broadcasting. Throws Refusal.
View chosen(Builder &b, const View &condition, const View &x, const View &y, const std::string &name);

// The same values, which are 0 and 1 alone.
inline View as_mask(View view) {
  view.mask = true;
  view.whole = false;
  return view;
}

// A constant number, and 0, 1, ... along an axis of size `count` with `behind` axes of size 1 after it: integers.
View integer(Builder &b, double value);
View counted(Builder &b, int64_t count, size_t behind);
// 1 where `place` (integers) has the number of the place along its axis `axis` of size 1, of `count` places.
View is_at(Builder &b, const View &place, size_t axis, int64_t count, const std::string &name);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_SELECT_H_
