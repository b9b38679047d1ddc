// reduce_slow_path.cpp -- extremes, products, the L1 norm and logarithms of sums of exponentials. Touches its output only.
// Contract: reduce_slow_path.h. SPDX-License-Identifier: Apache-2.0
#include "ops/reduce_rows.h"

namespace rnnp {
namespace {

struct FoldExp : FoldSum {
  float shift;
  explicit FoldExp(float s) : shift(s) {}
  float map(float x) const { return scalar_exp(x - shift); }
};

// log(sum(exp(x))), with the largest element taken out first.
void log_sum_exp_row(const ReduceNode &r, const float *x, float *y) {
  const AttrReduce &a = *r.attr;
  Walk walk(a.kept_rank, a.kept_dims, a.kept_stride, static_cast<ptrdiff_t>(a.x_first));
  do {
    const float largest = reduce_one(a, FoldMax(), x + walk.at, r.lanes);
    const bool finite = largest - largest == 0.0f;
    *y++ = finite ? largest + scalar_log(reduce_one(a, FoldExp(largest), x + walk.at, r.lanes)) : largest;
  } while (walk.next());
}

}  // namespace

void reduce_slow_path(const ReduceNode &r, const float *x, float *y) {
  switch (Reduce(r.attr->op)) {
    case Reduce::kMax:
      reduce_row(r, FoldMax(), x, y, r.lanes);
      return;
    case Reduce::kMin:
      reduce_row(r, FoldMin(), x, y, r.lanes);
      return;
    case Reduce::kProd:
      reduce_row(r, FoldProduct(), x, y, r.lanes);
      return;
    case Reduce::kL1:
      reduce_row(r, FoldSumAbs(), x, y, r.lanes);
      return;
    case Reduce::kLogSumExp:
      log_sum_exp_row(r, x, y);
      return;
    default:
      return;
  }
}

}  // namespace rnnp
