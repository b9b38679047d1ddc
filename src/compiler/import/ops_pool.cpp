// ops_pool.cpp -- pools. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/conv_import.h"

namespace rnnp::compiler {
namespace {

void pool_over(OpCall &call, const Window &window, Pool pool, bool count_padding) {
  const View x = call.real_view(0);
  const int64_t channels = axis_size(x.axes[1]);
  Sliding sliding(call, x, window, Sort::kPool);
  if (call.b.discovering) {
    call.give(0, sliding.discovered(OpKind::kPool, channels));
    return;
  }
  sliding.place(channels);
  for (const Phase &h : sliding.slide(0).phases) {
    for (const Phase &w : sliding.slide(1).phases) {
      if (sliding.time_phase(h, w).steps != 1 || sliding.time_phase(h, w).lead != 0)
        throw Refusal("it pools over the time axis of " + view_text(x) +
                      " in windows that overlap or begin before it; accepted: as long as its stride, without padding");
      AttrPool attr{};
      attr.window = sliding.window(h, w);
      attr.pool = static_cast<uint32_t>(pool);
      attr.channels = size_number(channels, "channels");
      for (size_t i = 0; i < 2 && count_padding; ++i) {
        attr.counted_before[i] = size_number(sliding.slide(i).window.before, "padding");
        attr.counted_after[i] = size_number(sliding.slide(i).window.after, "padding");
      }
      sliding.push({OpKind::kPool, call.name, {}, {}, attr});
    }
  }
  call.give(0, sliding.output());
}

void average_pool(OpCall &call) {
  const Window window = pool_window(call.attributes, spatial_of(view_shape(call.real_view(0))));
  pool_over(call, window, Pool::kAverage, call.attributes.integer("count_include_pad", 0) != 0);
}

void max_pool(OpCall &call) {
  if (call.wants(1)) throw Refusal("its output 1 (the indices) is not supported");
  pool_over(call, pool_window(call.attributes, spatial_of(view_shape(call.real_view(0)))), Pool::kMax, false);
}

// A reduction over all axes but the first two; over time as well.
void global_pool(OpCall &call, Reduce op) {
  const View x = call.real_view(0);
  spatial_of(view_shape(x));
  std::vector<bool> over(x.axes.size(), true);
  over[0] = over[1] = false;
  call.give(0, call.b.reduced(x, over, op, true, call.name));
}

void global_average_pool(OpCall &call) {
  global_pool(call, Reduce::kMean);
}
void global_max_pool(OpCall &call) {
  global_pool(call, Reduce::kMax);
}

constexpr const char *kPoolLimits =
    "up to two feature axes, or one and time with windows as long as the stride, before a recurrent layer";

}  // namespace

const std::vector<ImportRow> kImportPool = {
    {"AveragePool", average_pool, kPoolLimits},
    {"MaxPool", max_pool, "as AveragePool; without the indices"},
    {"GlobalAveragePool", global_average_pool, "feature axes and time"},
    {"GlobalMaxPool", global_max_pool, "feature axes and time"},
};

}  // namespace rnnp::compiler
