// malformed_loops_test.cpp -- loops that a blob cannot have: nodes that are not there or cannot run step by step, states outside of
// them, memory given away while the loop goes round. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "malformed_sample.h"

namespace malformed_loops_test {

using namespace rnnp_test;
using rnnp::AttrLoop;

constexpr uint32_t kElems = 6, kHead = 1, kNodes = 5;

// x -> outside -> loop: [before -> sum, with outside -> squashed -> next] -> behind, of what `leaves` says.
struct Loop {
  BlobTables t;
  uint32_t x, outside, before, sum, squashed, next, behind;

  enum class Leaves { kSum, kNext };
  explicit Loop(Leaves leaves = Leaves::kSum) {
    BlobBuilder b(3);
    uint32_t state;
    x = b.add_input(kElems);
    outside = unary(&b, x);
    b.begin_loop();
    before = b.add_state_read(kElems, &state);
    const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {kElems}, {1}, {1}};
    sum = b.add_node(OpKind::kBinary, &add, sizeof add, {before, outside}, kElems, true);
    squashed = unary(&b, sum);
    next = unary(&b, squashed);
    b.add_state_write(state, next);
    b.end_loop();
    behind = unary(&b, leaves == Leaves::kSum ? sum : next);
    b.add_output(behind);
    t = BlobTables(b.build());
  }
  static uint32_t unary(BlobBuilder *b, uint32_t x) {
    const rnnp::AttrUnary tanh = {{uint32_t(rnnp::Act::kTanh), 0, 0}};
    return b->add_node(OpKind::kUnary, &tanh, sizeof tanh, {x}, kElems, true);
  }

  void set_nodes(uint32_t nodes) { t.set_attr(t.nodes[kHead], AttrLoop{{0}, nodes}); }
  void set_causal(bool causal) { t.header.flags = causal ? rnnp::kBlobCausal | rnnp::kBlobStepwise : 0u; }
  uint32_t sequence(uint32_t elems = kElems) {
    const uint32_t at = t.header.sequence_pool_elems;
    t.header.sequence_pool_elems += 16;
    return t.add_value({uint32_t(ValueKind::kSequence), 0, elems, at, 1, 0});
  }
  uint32_t row(bool early = false) {
    const uint32_t at = t.header.row_pool_elems;
    t.header.row_pool_elems += 16;
    return t.add_value({uint32_t(ValueKind::kRow), 0, kElems, at, 0, early ? 1u : 0u});
  }
  uint32_t state(uint32_t elems = kElems, uint32_t buffers = 1, uint32_t words = 0) {
    t.states.push_back({elems, kNone, 0, t.states[0].name, buffers, words});
    return static_cast<uint32_t>(t.states.size() - 1);
  }
  // The last node comes to lie before this one; the loop grows by it where it lies inside.
  void move_last_to(size_t place) {
    std::rotate(t.nodes.begin() + static_cast<std::ptrdiff_t>(place), t.nodes.end() - 1, t.nodes.end());
    if (place > kHead && place <= kHead + kNodes) set_nodes(kNodes + 1);
  }
  void share(uint32_t value, uint32_t place_of) { t.values[value].location = t.values[place_of].location; }
};

constexpr size_t kInside = 4, kBehind = 7;  // where a node is moved to

TEST(MalformedLoops, TheSampleItselfRuns) {
  for (const bool causal : {true, false}) {
    Loop loop;
    loop.set_causal(causal);
    EXPECT_EQ(RNNP_OK, make(loop.t)) << causal;
  }
}

TEST(MalformedLoops, ALoopEndsWithinTheNodesAndHoldsWhatKeepsStates) {
  const auto with = [](uint32_t nodes) {
    Loop loop;
    loop.set_nodes(nodes);
    return make(loop.t);
  };
  EXPECT_EQ(RNNP_OK, with(kNodes + 1));
  for (const uint32_t nodes : {1u, 2u, kNodes - 1, kNodes + 2, 0xffffu, 0x10000u + kNodes, 0x80000000u, UINT32_MAX - 1, UINT32_MAX})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, with(nodes)) << nodes;
}

TEST(MalformedLoops, StatesOutsideOfLoopsAreOfCausalModelsThatHaveNone) {
  for (const bool causal : {true, false}) {
    Loop none;
    none.set_nodes(0);
    none.set_causal(causal);
    EXPECT_EQ(causal ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(none.t)) << causal;
    for (const uint32_t nodes : {0u, 1u}) {  // a read beside the loop, alone or as a loop of its own
      Loop beside;
      beside.set_causal(causal);
      beside.t.add_node(OpKind::kStateRead, AttrLoop{{beside.state()}, nodes}, {}, {beside.sequence()});
      EXPECT_EQ(nodes == 1 ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(beside.t)) << causal << nodes;
    }
  }
}

TEST(MalformedLoops, ACausalModelSaysThatItIsStepwiseToo) {
  for (const uint32_t nodes : {kNodes, 0u}) {
    Loop loop;
    loop.set_nodes(nodes);
    loop.t.header.flags = rnnp::kBlobCausal;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(loop.t)) << nodes;
  }
}

TEST(MalformedLoops, NoLoopBeginsInAnother) {
  for (const uint32_t nodes : {0u, 1u, 2u, kNodes}) {
    Loop loop;
    loop.t.add_node(OpKind::kStateRead, AttrLoop{{loop.state()}, nodes}, {}, {loop.sequence()});
    loop.move_last_to(kInside);
    EXPECT_EQ(nodes == 0 ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(loop.t)) << nodes;
  }
}

// Adds a node, inside the loop or behind it, of a model that is causal or not.
rnnp_status with_node(bool inside, bool causal, const std::function<void(Loop *)> &add) {
  Loop loop;
  loop.set_causal(causal);
  add(&loop);
  loop.move_last_to(inside ? kInside : kBehind);
  return make(loop.t);
}

TEST(MalformedLoops, ItsNodesMakeSomethingInEveryStep) {
  const auto last_step = [](Loop *l) {
    const uint32_t kept = (l->t.header.flags & rnnp::kBlobCausal) != 0 ? l->state() : kNone;
    l->t.add_node(OpKind::kTimeStep, rnnp::AttrTimeStep{1, kept}, {l->x}, {l->row()});
  };
  const auto total = [](Loop *l) {
    const rnnp::AttrTimeReduce a = {uint32_t(rnnp::Reduce::kSum), l->state(2 * kElems + 2, 1, 2)};
    l->t.add_node(OpKind::kTimeReduce, a, {l->x}, {l->row()});
  };
  const auto once = [](Loop *l) {
    const uint32_t k = l->t.add_value({uint32_t(ValueKind::kConst), 0, kElems, 0, 0, 0});
    if (l->t.weights.size() < 64) l->t.weights.resize(64);
    l->t.add_node(OpKind::kCopy, rnnp::AttrCopy{1, {kElems}, {1}, {1}, 0, 0}, {k}, {l->row(true)});
  };
  for (const bool causal : {true, false})
    for (const std::function<void(Loop *)> &add :
         {std::function<void(Loop *)>(last_step), std::function<void(Loop *)>(total), std::function<void(Loop *)>(once)}) {
      EXPECT_EQ(RNNP_OK, with_node(false, causal, add));
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, with_node(true, causal, add));
    }
}

TEST(MalformedLoops, ItsNodesNeedNoOtherSteps) {
  const auto reversed = [](Loop *l) {
    l->t.add_node(OpKind::kTimeReverse, rnnp::AttrTimeReverse{0}, {l->x, kNone}, {l->sequence()});
  };
  EXPECT_EQ(RNNP_OK, with_node(false, false, reversed));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, with_node(true, false, reversed));
  struct Taps {
    uint32_t taps;
    int32_t lead;
    bool kept;
    rnnp_status inside;
  };
  constexpr Taps kTaps[] = {{1, 0, false, RNNP_OK},
                            {1, -1, false, RNNP_E_BLOB_CORRUPT},
                            {3, 1, false, RNNP_E_BLOB_CORRUPT},
                            {3, 2, false, RNNP_E_BLOB_CORRUPT},
                            {3, 2, true, RNNP_OK}};
  for (const Taps &taps : kTaps) {
    const auto conv = [&](Loop *l) {
      rnnp::AttrConv a = {};
      a.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {1, 1, 1}, 0, {1, 1}};
      a.time_taps = taps.taps;
      a.time_dilation = a.groups = a.out_channels = 1;
      a.in_channels = kElems;
      a.lead = taps.lead;
      a.bias = kNone;
      a.state = taps.kept ? l->state(static_cast<uint32_t>(taps.lead) * kElems + 1, 1, 1) : kNone;
      if (l->t.weights.size() < 4096) l->t.weights.resize(4096);
      a.matrix = l->t.add_matrix(l->t.header.panel_format, 1, 1, a.time_taps * kElems, 0);
      l->t.add_node(OpKind::kConv, a, {l->x}, {l->sequence(1)});
    };
    EXPECT_EQ(RNNP_OK, with_node(false, false, conv)) << taps.taps << " " << taps.lead;
    EXPECT_EQ(taps.inside, with_node(true, false, conv)) << taps.taps << " " << taps.lead;
  }
}

// A layer among the loop's nodes, whose final state something reads.
TEST(MalformedLoops, ALayerInsideRunsForwardAndItsFinalStateIsReadBehind) {
  const auto blob = [](bool reverse, bool reads_inside) {
    BlobBuilder b(3);
    RecurrentOptions lstm;
    lstm.hidden = kElems;
    lstm.reverse = reverse;
    const uint32_t x = b.add_input(kElems);
    uint32_t state, h;
    b.set_causal(false);
    b.begin_loop();
    const uint32_t before = b.add_state_read(kElems, &state), y = b.add_recurrent(before, kElems, lstm, &h);
    const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {kElems}, {1}, {1}};
    if (!reads_inside) b.add_state_write(state, y), b.end_loop();
    const uint32_t sum = b.add_node(OpKind::kBinary, &add, sizeof add, {x, h}, kElems, true);
    if (reads_inside) b.add_state_write(state, y), b.end_loop();
    b.add_output(sum);
    return make(BlobTables(b.build()));
  };
  EXPECT_EQ(RNNP_OK, blob(false, false));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, blob(false, true));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, blob(true, false));
}

// Each is legal where the nodes run once in a chunk.
TEST(MalformedLoops, WhatComesFromOutsideKeepsItsMemoryWhileTheLoopGoesRound) {
  for (const uint32_t nodes : {0u, kNodes}) {
    Loop loop;
    loop.set_nodes(nodes);
    loop.share(loop.squashed, loop.outside);
    EXPECT_EQ(nodes == 0 ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(loop.t)) << nodes;
    Loop behind;
    behind.set_nodes(nodes);
    behind.share(behind.behind, behind.outside);
    EXPECT_EQ(RNNP_OK, make(behind.t)) << nodes;
  }
}

TEST(MalformedLoops, WhatLeavesHasItsMemoryFromTheLoopsFirstNodeOn) {
  for (const uint32_t nodes : {0u, kNodes})
    for (const Loop::Leaves leaves : {Loop::Leaves::kSum, Loop::Leaves::kNext}) {
      Loop loop(leaves);  // before ends where sum is made, and is one memory with next
      loop.set_nodes(nodes);
      loop.share(loop.next, loop.before);
      const bool good = nodes == 0 || leaves == Loop::Leaves::kSum;
      EXPECT_EQ(good ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(loop.t)) << nodes;
    }
}

TEST(MalformedLoops, TemporariesOfTheLoopShareMemory) {
  Loop loop(Loop::Leaves::kSum);
  loop.share(loop.next, loop.squashed);
  EXPECT_EQ(RNNP_OK, make(loop.t));
}

}  // namespace malformed_loops_test
