// feature_blobs.h -- a layer along time, and the same layer along an axis of each row. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_FEATURE_BLOBS_H_
#define RNNPACK_TESTS_SUPPORT_FEATURE_BLOBS_H_

#include "support/blob_builder.h"
#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace rnnp_test {

constexpr uint32_t kFeatureIn = 5, kFeatureHidden = 9;

// What a layer's matrices are stored as; members as the builder's.
struct FeatureWeights {
  rnnp::DType w = rnnp::DType::kF32, r = rnnp::DType::kF32;
  bool one_recurrent_step = false;
  uint32_t block_units = 0;
  bool masked = false;  // x has a feature more, the mask

  uint32_t width() const { return kFeatureIn + (masked ? 1 : 0); }
};

// Rows of x of which about half are masked where the layer takes a mask.
inline std::vector<float> feature_rows(const FeatureWeights &stored, size_t rows, uint32_t seed) {
  std::vector<float> x = random_floats(rows * stored.width(), seed);
  for (size_t i = kFeatureIn; stored.masked && i < x.size(); i += stored.width()) x[i] = x[i] < 0 ? 0.0f : 1.0f;
  return x;
}

inline RecurrentOptions options_of(rnnp::Cell cell, bool bidirectional) {
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = kFeatureHidden;
  o.bidirectional = bidirectional;
  return o;
}

// A layer along time: [steps][5] -> [steps][directions * 9].
inline BlobTables along_time(rnnp::Cell cell, bool bidirectional, const FeatureWeights &stored = {}) {
  BlobBuilder b(19);
  b.weights = stored.w;
  b.recurrent_weights = stored.r;
  b.one_recurrent_step = stored.one_recurrent_step;
  b.block_units = stored.block_units;
  const uint32_t x = b.add_input(stored.width());
  RecurrentOptions options = options_of(cell, bidirectional);
  options.masked = stored.masked;
  b.add_output(b.add_recurrent(x, kFeatureIn, options));
  return BlobTables(b.build());
}

// The same layer within each row: [inner steps][rows][5] -> [inner steps][rows][directions * 9], with its final states behind it.
inline BlobTables along_the_row(rnnp::Cell cell, bool bidirectional, uint32_t steps, uint32_t rows,
                                const FeatureWeights &stored = {}) {
  BlobTables t = along_time(cell, bidirectional, stored);
  rnnp::AttrFeatureRecurrent inner = {t.attr<rnnp::AttrRecurrent>(t.nodes[0]), steps, rows};
  const uint32_t y = t.outputs[0].value, width = t.values[y].row_elems;
  t.values[0].row_elems = steps * rows * stored.width();
  t.inputs[0].dims[2] = static_cast<int32_t>(steps * rows * stored.width());
  t.values[y].row_elems = steps * rows * width;
  t.outputs[0].dims[2] = static_cast<int32_t>(steps * rows * width);
  t.header.sequence_pool_elems = (steps * rows * width + 15) / 16 * 16;
  t.header.flags |= rnnp::kBlobCausal;
  t.states.clear();
  t.nodes.clear();
  t.args.clear();
  const uint32_t final_h = t.add_value({uint32_t(rnnp::ValueKind::kSequence), 0, rows * width, t.header.sequence_pool_elems, 1, 0});
  t.header.sequence_pool_elems += (rows * width + 15) / 16 * 16;
  t.add_node(rnnp::OpKind::kFeatureRecurrent, inner, {0, rnnp::kNone, rnnp::kNone}, {y, final_h, rnnp::kNone});
  t.add_output(final_h);
  return t;
}

}  // namespace rnnp_test
#endif  // RNNPACK_TESTS_SUPPORT_FEATURE_BLOBS_H_
