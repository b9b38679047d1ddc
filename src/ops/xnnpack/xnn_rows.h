// xnn_rows.h -- how the operators of this folder hand rows to XNNPACK. What XNNPACK does that our kernels do not is known here
// alone:
//   memory  it may read XNN_EXTRA_BYTES behind the last row of x, which may be the caller's tensor, or the end of a pool. So the
//   last
//           rows, from which such a read could leave x, are copied to a padded place in scratch and run from there.
//   NaN     its limits on an output turn NaN into one of them, and its other kernels promise nothing. So only rows that are finite
//   are
//           given to it, and of results those that are not finite are computed again (xnn_dense.cpp).
//   errors  a row that it refuses at run time is ours again: nobody is left without a result.
// An XNNPACK operator is created once, at session init, in session memory (platform/xnnpack/allocator.h); setup and run allocate
// nothing. Which nodes it takes depends on the node alone, and which rows on the row alone, so bits do not depend on cuts.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_XNNPACK_XNN_ROWS_H_
#define RNNPACK_OPS_XNNPACK_XNN_ROWS_H_

#include <xnnpack.h>

#include "ops/op.h"
#include "platform/xnnpack/allocator.h"

namespace rnnp {

using XnnSetup = xnn_status (*)(xnn_operator_t, size_t, const float *, float *, pthreadpool_t);

constexpr size_t kXnnObjectBytes = 4096;  // an operator object and the heads of its blocks

// True when XNNPACK is to run what `ours` would.
bool xnn_is_asked(const OpChoice &choice, const Kernel *ours);

// The operator that was created in `scope`; nullptr when XNNPACK failed, or used another allocator than ours: env is told.
xnn_operator_t xnn_keep(xnn_status status, xnn_operator_t op, const XnnMemoryScope &scope, FinishEnv *env);

// Rows of x_elems floats at x to rows y_stride floats apart at y, which is x or disjoint from it.
struct XnnRows {
  const float *x;
  size_t x_elems;
  float *y;
  size_t y_stride;
  size_t rows;
};

// Scratch of one thread for the rows that are staged.
size_t xnn_pad_bytes(size_t x_elems);
// Returns how many rows, from the first on, XNNPACK has run: all, unless it failed.
size_t xnn_run_rows(xnn_operator_t op, XnnSetup setup, const XnnRows &r, float *pad);

// How many rows from the first on have only finite elements.
size_t finite_rows(const float *x, size_t elems, size_t rows);
bool all_finite(const float *x, size_t elems);

// A node of this folder: the portable operator's object, which runs the node when XNNPACK has not taken it.
struct XnnNode {
  const Op *portable;
  void *object;
  StepFn step;  // the portable operator's fast path
  bool taken;
};

// Builds the portable operator's object and makes room for pads of every thread.
rnnp_status build_portable(BuildEnv *env, const BlobNode &node, const Op &portable, size_t x_elems, XnnNode *xnn);
// The end of finish. The object begins with its XnnNode.
StepFn finish_node(FinishEnv *env, const BlobNode &node, XnnNode *xnn, bool taken);

}  // namespace rnnp
#endif  // RNNPACK_OPS_XNNPACK_XNN_ROWS_H_
