// malformed_matrices_test.cpp -- blobs whose matrices are not what docs/BLOB_FORMAT.md says, or not what a node needs: refused when
// they are opened, or before a session is made, with a status that says which. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace malformed_matrices_test {

using namespace rnnp_test;
using rnnp::kNone;

rnnp_status open(const BlobTables &t) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  return rnnp_model_open(&model, blob.data(), blob.size(), 0);
}

// RNNP_OK: the blob opens and a session can be made.
rnnp_status plan(const BlobTables &t) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  const rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  if (status != RNNP_OK) return status;
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  o.max_steps = 3;
  rnnp_memory need = RNNP_MEMORY_INIT;
  return rnnp_session_memory(&model, &o, &need);
}

// x -> GRU (reset before the product: three matrices) -> dense -> a convolution in groups -> one of each channel by itself.
BlobTables sample(rnnp::DType layer_weights = rnnp::DType::kF32) {
  BlobBuilder b(5);
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = 6;
  b.weights = b.recurrent_weights = layer_weights;
  const uint32_t x = b.add_input(5), h = b.add_recurrent(x, 5, gru);
  b.weights = b.recurrent_weights = rnnp::DType::kF32;
  const uint32_t d = b.add_dense(h, 6, 4);
  rnnp::AttrConv a = {};
  a.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {4, 4, 1}, 0, {4, 4}};
  a.time_taps = 2;
  a.time_dilation = 1;
  a.lead = 1;
  a.groups = 2;
  a.in_channels = a.out_channels = 2;
  const uint32_t c = b.add_conv(d, a, 4);
  a.groups = 4;
  a.in_channels = a.out_channels = 1;
  b.add_output(b.add_depthwise(c, a, 4));
  return BlobTables(b.build());
}
constexpr uint32_t kMatrices = 6;  // W, R, R of h; dense; conv; depthwise

TEST(MalformedMatrices, TheSampleItselfRuns) {
  const BlobTables t = sample();
  ASSERT_EQ(kMatrices, t.matrices.size());
  EXPECT_EQ(RNNP_OK, plan(t));
  Runner r(t.bytes());
}

TEST(MalformedMatrices, AFormatThatNobodyKnowsIsALayoutWithoutAKernel) {
  for (const uint32_t id : {0u, 70u, 77u, 0x10001u, 0xffffffffu}) {
    for (uint32_t i = 0; i < kMatrices; ++i) {
      BlobTables t = sample();
      t.matrices[i].format = id;
      EXPECT_EQ(RNNP_E_LAYOUT, open(t)) << i << " " << id;
    }
    BlobTables t = sample();
    t.header.panel_format = id;
    EXPECT_EQ(RNNP_E_LAYOUT, open(t)) << id;
  }
}

TEST(MalformedMatrices, WhatDoesNotFitItsFormatIsRefusedAtOpen) {
  const uint32_t end = sample().header.weights.bytes;
  const std::function<void(rnnp::BlobMatrix *)> changes[] = {
      [](rnnp::BlobMatrix *m) { m->count = 0; },
      [](rnnp::BlobMatrix *m) { m->count = 0x80000000u; },
      [](rnnp::BlobMatrix *m) { m->gates = 0; },
      [](rnnp::BlobMatrix *m) { m->gates = 0xffffffffu; },
      [](rnnp::BlobMatrix *m) { m->units = 0; },
      [](rnnp::BlobMatrix *m) { m->units = 0xfffffff8u; },
      [](rnnp::BlobMatrix *m) { m->k = m->entries = 0; },
      [](rnnp::BlobMatrix *m) { m->k = m->entries = 0x40000000u; },  // times four bytes: nothing
      [](rnnp::BlobMatrix *m) { ++m->entries; },
      [](rnnp::BlobMatrix *m) { --m->entries; },
      [](rnnp::BlobMatrix *m) { m->panels += 4; },
      [end](rnnp::BlobMatrix *m) { m->panels = end / 64 * 64; },
      [](rnnp::BlobMatrix *m) { m->panels = 0xffffffc0u; },
      [](rnnp::BlobMatrix *m) { m->panels = kNone; },
      [](rnnp::BlobMatrix *m) { m->index = 0; },
      [](rnnp::BlobMatrix *m) { m->tile_first = 0; },
      [](rnnp::BlobMatrix *m) { m->scales = 0; },
      [](rnnp::BlobMatrix *m) { m->group_k = 1; },
      [](rnnp::BlobMatrix *m) { m->unit_sums = 0; },
      [](rnnp::BlobMatrix *m) { m->diagonal = 0; },
      [](rnnp::BlobMatrix *m) { m->lhs_scale = 1; },
      [](rnnp::BlobMatrix *m) { m->lhs_zero_point = 1; },
      [](rnnp::BlobMatrix *m) { m->reserved[0] = 1; },
      [](rnnp::BlobMatrix *m) { m->reserved[4] = 0x80000000u; },
  };
  for (uint32_t i = 0; i < kMatrices; ++i) {
    for (size_t k = 0; k < std::size(changes); ++k) {
      BlobTables t = sample();
      changes[k](&t.matrices[i]);
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(t)) << "matrix " << i << ", change " << k;
    }
  }
  BlobTables t = sample();
  t.matrices.resize(rnnp::kBlobMaxMatrices + 1, t.matrices[0]);
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(t));
  t.matrices.pop_back();
  EXPECT_EQ(RNNP_OK, open(t));
}

// Every word of the matrices' table that a node names, shapes that fit the weights but not the node, indices of no matrix.
template <class Attr>
void expect_shape(uint32_t node, uint32_t Attr::*place) {
  for (const uint32_t i : {kMatrices, 0x02000000u, kNone}) {
    BlobTables t = sample();
    auto a = t.attr<Attr>(t.nodes[node]);
    a.*place = i;
    t.set_attr(t.nodes[node], a);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, plan(t)) << i;
  }
  const BlobTables good = sample();
  const uint32_t matrix = good.attr<Attr>(good.nodes[node]).*place;
  const std::function<void(rnnp::BlobMatrix *)> smaller[] = {
      [](rnnp::BlobMatrix *m) { m->units -= 1; }, [](rnnp::BlobMatrix *m) { m->entries = m->k -= 1; },
      [](rnnp::BlobMatrix *m) { m->count += 1; }, [](rnnp::BlobMatrix *m) { m->gates += 1, m->units = 1, m->count = 1; }};
  for (size_t k = 0; k < std::size(smaller); ++k) {
    BlobTables t = sample();
    smaller[k](&t.matrices[matrix]);
    t.weights.resize(t.weights.size() + 65536);
    ASSERT_EQ(RNNP_OK, open(t)) << k;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, plan(t)) << k;
  }
}

TEST(MalformedMatrices, ANodeNeedsAMatrixOfItsOwnShape) {
  {
    SCOPED_TRACE("dense");
    expect_shape(1, &rnnp::AttrDense::matrix);
  }
  {
    SCOPED_TRACE("conv");
    expect_shape(2, &rnnp::AttrConv::matrix);
  }
  {
    SCOPED_TRACE("depthwise");
    expect_shape(3, &rnnp::AttrConv::matrix);
  }
}

TEST(MalformedMatrices, ALayerNeedsMatricesOfItsOwnShapes) {
  uint32_t rnnp::BlobDirection::*const places[] = {&rnnp::BlobDirection::w, &rnnp::BlobDirection::r,
                                                   &rnnp::BlobDirection::r_output};
  for (uint32_t p = 0; p < 3; ++p) {
    for (uint32_t i = 0; i <= kMatrices + 1; ++i) {
      BlobTables t = sample();
      auto a = t.attr<rnnp::AttrRecurrent>(t.nodes[0]);
      a.direction[0].*places[p] = i == kMatrices + 1 ? kNone : i;
      t.set_attr(t.nodes[0], a);
      EXPECT_EQ(i == p ? RNNP_OK : RNNP_E_BLOB_CORRUPT, plan(t)) << p << " " << i;
    }
  }
  BlobTables t = sample();  // only kGru has a matrix of the candidate alone
  auto a = t.attr<rnnp::AttrRecurrent>(t.nodes[0]);
  a.cell = uint32_t(rnnp::Cell::kRnn);
  t.set_attr(t.nodes[0], a);
  t.matrices[0].gates = t.matrices[1].gates = 1;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, plan(t));
  a.direction[0].r_output = kNone;
  t.set_attr(t.nodes[0], a);
  EXPECT_EQ(RNNP_OK, plan(t));
}

// Another operator runs these, with checks of its own behind those that all layers share.
TEST(MalformedMatrices, ALayerOfLowPrecisionIsCheckedLikeTheOthers) {
  for (const rnnp::DType type : {rnnp::DType::kI8, rnnp::DType::kI4, rnnp::DType::kBf16}) {
    ASSERT_EQ(RNNP_OK, plan(sample(type)));
    for (const auto &malform : std::initializer_list<std::function<void(rnnp::AttrRecurrent *)>>{
             [](rnnp::AttrRecurrent *a) { a->direction[0].w = kMatrices; }, [](rnnp::AttrRecurrent *a) { a->direction[0].w = 1; },
             [](rnnp::AttrRecurrent *a) { a->direction[0].r_output = kNone; },
             [](rnnp::AttrRecurrent *a) { a->direction[0].bias = 1u << 30; }, [](rnnp::AttrRecurrent *a) { a->input_size = 6; },
             [](rnnp::AttrRecurrent *a) { a->direction[0].act[0].act = 1000; }}) {
      BlobTables t = sample(type);
      auto a = t.attr<rnnp::AttrRecurrent>(t.nodes[0]);
      malform(&a);
      t.set_attr(t.nodes[0], a);
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, plan(t)) << uint32_t(type);
    }
  }
}

// Panels of 4 units beside panels of 16: sizes that fit, and no kernel that reads both. A row is no panel, panels are no row.
TEST(MalformedMatrices, FormatsThatNoKernelReadsTogetherAreALayoutWithoutAKernel) {
  for (uint32_t i = 0; i < 3; ++i) {
    BlobTables t = sample();
    t.matrices[i].format = format_of_nr(4);
    EXPECT_EQ(RNNP_E_LAYOUT, plan(t)) << i;
  }
  BlobTables all = sample();
  for (uint32_t i = 0; i < 4; ++i) all.matrices[i].format = format_of_nr(0);
  EXPECT_EQ(RNNP_E_LAYOUT, plan(all));
  BlobTables dense = sample();
  dense.matrices[3].format = format_of_nr(0);
  EXPECT_EQ(RNNP_E_LAYOUT, plan(dense));
  BlobTables row = sample();
  row.matrices[4].format = format_of_nr(0);
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, plan(row));  // two channels in a group
  BlobTables panels = sample();
  panels.matrices[5].format = format_of_nr(4);
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, plan(panels));  // four matrices are wanted
}

}  // namespace malformed_matrices_test
