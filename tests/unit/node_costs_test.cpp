// node_costs_test.cpp -- what operators tell the planners of their nodes, by hand, and at the ends of the range.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/op.h"

namespace {

using namespace rnnp;

// A model of one node with these attributes and a result of `elems`.
template <class Attr>
struct OneNode {
  alignas(8) struct {
    BlobHeader header;
    Attr attr;
  } blob = {};
  BlobValue value = {};
  BlobNode node = {};
  uint32_t arg = 0;
  Model m = {};

  OneNode(OpKind op, const Attr &attr, uint32_t elems) {
    blob.attr = attr;
    blob.header.attrs = {offsetof(decltype(blob), attr), sizeof attr};
    value.row_elems = elems;
    node.op = uint32_t(op);
    node.attr_bytes = sizeof attr;
    node.output_count = 1;
    m.blob = reinterpret_cast<const uint8_t *>(&blob);
    m.header = &blob.header;
    m.values = {&value, 1};
    m.args = {&arg, 1};
  }
};

NodeCosts recurrent(Cell cell, uint32_t input, uint32_t hidden, uint32_t directions) {
  AttrRecurrent a = {};
  a.cell = uint32_t(cell);
  a.input_size = input;
  a.hidden_size = hidden;
  a.direction_count = directions;
  const OneNode<AttrRecurrent> n(OpKind::kRecurrent, a, hidden * directions);
  return rnnp_op_recurrent.costs(n.m, n.node);
}

TEST(NodeCosts, OfALayerAreItsProductsAndAFewOperationsPerUnit) {
  const NodeCosts lstm = recurrent(Cell::kLstm, 10, 32, 2);
  EXPECT_EQ(2u * 4 * 32 * (10 + 32 + 16), lstm.macs);
  EXPECT_EQ(2u * 4 * 32 * 32, lstm.macs_per_sync);
  EXPECT_EQ(1u, lstm.syncs);
  EXPECT_EQ(4u * 32 * sizeof(float), lstm.row_bytes);
  const NodeCosts gru = recurrent(Cell::kGru, 10, 32, 1);
  EXPECT_EQ(3u * 32 * (10 + 32 + 16), gru.macs);
  EXPECT_EQ(3u * 32 * 32 / 2, gru.macs_per_sync);
  EXPECT_EQ(2u, gru.syncs);
  EXPECT_EQ(1u, recurrent(Cell::kGruLinear, 10, 32, 1).syncs);
}

TEST(NodeCosts, OfADenseNodeAndAConvolutionAreOneProductForEachElement) {
  AttrDense dense = {};
  dense.input_size = 30;
  const OneNode<AttrDense> d(OpKind::kDense, dense, 7);
  EXPECT_EQ(7u * 30, rnnp_op_dense.costs(d.m, d.node).macs);
  AttrConv conv = {};
  conv.window.kernel[0] = 2;
  conv.window.kernel[1] = 3;
  conv.time_taps = 5;
  conv.in_channels = 7;
  const OneNode<AttrConv> c(OpKind::kConv, conv, 11);
  // Two products of points for a result of a line, four of a plane.
  EXPECT_EQ(2u * 5 * 7 * 11, rnnp_op_conv_winograd.costs(c.m, c.node).macs);
  conv.y_plane = 1;
  const OneNode<AttrConv> planes(OpKind::kConv, conv, 11);
  EXPECT_EQ(4u * 7 * 11, rnnp_op_conv_winograd.costs(planes.m, planes.node).macs);
  for (const Op *op : {&rnnp_op_conv, &rnnp_op_conv_taps, &rnnp_op_conv_nchw, &rnnp_op_depthwise}) {
    EXPECT_EQ(2u * 3 * 5 * 7 * 11, op->costs(c.m, c.node).macs);
    EXPECT_EQ(0u, op->costs(c.m, c.node).syncs);
  }
}

// The largest that the operators' checks let through: sums of them over all nodes of a blob stay within 64 bits.
TEST(NodeCosts, AreNeverAboveTheMost) {
  EXPECT_EQ(kMostCost, recurrent(Cell::kLstm, 1u << 20, 1u << 20, 2).macs);
  AttrDense dense = {};
  dense.input_size = 0xffffffffu;
  const OneNode<AttrDense> d(OpKind::kDense, dense, 0xffffffffu);
  EXPECT_EQ(kMostCost, rnnp_op_dense.costs(d.m, d.node).macs);
  AttrConv conv = {};
  conv.window.kernel[0] = conv.window.kernel[1] = conv.time_taps = 1;
  conv.in_channels = 1u << 28;
  const OneNode<AttrConv> c(OpKind::kConv, conv, 1u << 28);
  EXPECT_EQ(kMostCost, rnnp_op_conv.costs(c.m, c.node).macs);
  EXPECT_LE(uint64_t{kBlobMaxNodes} * kMostCost, UINT64_MAX >> 10);
}

}  // namespace
