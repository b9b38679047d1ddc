// many_axes_test.cpp -- operators that walk over up to eight axes of a row, each operand with strides of its own: exact, against
// plain loops, on random shapes. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fuzz/byte_source.h"
#include "support/session_fixture.h"

namespace many_axes_test {

using namespace rnnp_test;
using rnnp::kBlobMaxRank;
using rnnp::OpKind;

constexpr uint32_t kShapes = 200, kSteps = 3;

// Dimensions, and strides of as many operands: dense over the axes that an operand has, 0 over the others.
struct Shape {
  uint32_t rank, elems = 1;
  uint32_t dims[kBlobMaxRank] = {};
  int32_t stride[3][kBlobMaxRank] = {};

  explicit Shape(rnnp_fuzz::ByteSource *random) : rank(random->range(1, kBlobMaxRank)) {
    for (uint32_t i = 0; i < rank; ++i) elems *= dims[i] = random->range(1, elems < 300 ? 4 : 1);
    for (auto &strides : stride) {
      int32_t step = 1;
      for (uint32_t i = rank; i-- > 0;) {
        if (random->once_in(3)) continue;
        strides[i] = step;
        step *= static_cast<int32_t>(dims[i]);
      }
    }
  }

  // Where operand `which` has element `flat` of the result.
  size_t place(int which, uint32_t flat) const {
    size_t at = 0;
    for (uint32_t i = rank; i-- > 0; flat /= dims[i]) at += flat % dims[i] * static_cast<size_t>(stride[which][i]);
    return at;
  }

  std::vector<uint8_t> blob(OpKind op, const void *attr, size_t bytes, uint32_t operands) const {
    BlobBuilder b(1);
    const uint32_t x = b.add_input(elems);
    b.add_output(b.add_node(op, attr, bytes, std::vector<uint32_t>(operands, x), elems, true));
    return b.build();
  }
};

// `exact` gives an element of a row's result.
template <class Attr, class Exact>
void check(const Shape &s, OpKind op, const Attr &attr, uint32_t operands, const Exact &exact) {
  std::vector<float> x = random_floats(kSteps * s.elems, s.elems), want;
  for (size_t i = 0; i < x.size(); i += 3) x[i] = 0;
  for (uint32_t t = 0; t < kSteps; ++t)
    for (uint32_t i = 0; i < s.elems; ++i) want.push_back(exact(x.data() + size_t{t} * s.elems, i));
  const std::vector<uint8_t> bytes = s.blob(op, &attr, sizeof attr, operands);
  EXPECT_EQ(want, Runner(bytes, {1}).run(x));
  EXPECT_EQ(want, Runner(bytes, {1}).run(x, 1));
}

template <class Try>
void try_shapes(const Try &one) {
  rnnp_fuzz::ByteSource random(uint64_t{7});
  for (uint32_t i = 0; i < kShapes && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    one(Shape(&random));
  }
}

TEST(ManyAxes, OfABinaryOperation) {
  try_shapes([](const Shape &s) {
    rnnp::AttrBinary a = {uint32_t(rnnp::Binary::kSub), s.rank, {}, {}, {}};
    std::copy_n(s.dims, s.rank, a.dims);
    std::copy_n(s.stride[0], s.rank, a.a_stride);
    std::copy_n(s.stride[1], s.rank, a.b_stride);
    if (a.a_stride[s.rank - 1] > 1 || a.b_stride[s.rank - 1] > 1) return;
    check(s, OpKind::kBinary, a, 2, [&](const float *x, uint32_t i) { return x[s.place(0, i)] - x[s.place(1, i)]; });
  });
}

TEST(ManyAxes, OfWhere) {
  try_shapes([](const Shape &s) {
    rnnp::AttrWhere w = {s.rank, {}, {}, {}};
    std::copy_n(s.dims, s.rank, w.dims);
    for (int i = 0; i < 3; ++i) std::copy_n(s.stride[i], s.rank, w.stride[i]);
    check(s, OpKind::kWhere, w, 3,
          [&](const float *x, uint32_t i) { return x[s.place(0, i)] != 0 ? x[s.place(1, i)] : x[s.place(2, i)]; });
  });
}

TEST(ManyAxes, OfACopy) {
  try_shapes([](const Shape &s) {
    rnnp::AttrCopy c = {s.rank, {}, {}, {}, 0, 0};
    std::copy_n(s.dims, s.rank, c.dims);
    std::copy_n(s.stride[0], s.rank, c.x_stride);
    int32_t step = 1;
    for (uint32_t i = s.rank; i-- > 0; step *= static_cast<int32_t>(s.dims[i])) c.y_stride[i] = step;
    check(s, OpKind::kCopy, c, 1, [&](const float *x, uint32_t i) { return x[s.place(0, i)]; });
  });
}

constexpr uint32_t kElems = 12, kHalf = kElems / 2;

// Whether a session can be made of a node whose operands are all x.
template <class Attr>
rnnp_status plan(OpKind op, const Attr &attr, uint32_t operands) {
  BlobBuilder b(1);
  const uint32_t x = b.add_input(kElems);
  b.add_output(b.add_node(op, &attr, sizeof attr, std::vector<uint32_t>(operands, x), kElems, true));
  const AlignedBytes blob(b.build());
  rnnp_model model;
  const rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  rnnp_memory need = RNNP_MEMORY_INIT;
  return status == RNNP_OK ? rnnp_session_memory(&model, nullptr, &need) : status;
}

// Each stride in turn reaches the element behind the last one.
TEST(ManyAxes, AnElementBehindTheLastOneIsRefused) {
  for (uint32_t bad = 0; bad <= 2; ++bad) {
    const uint32_t outer[2] = {bad == 1 ? kHalf + 1 : kHalf, bad == 2 ? kHalf + 1 : kHalf};
    const int32_t first = int32_t(outer[0]), second = int32_t(outer[1]), half = int32_t(kHalf);
    const rnnp_status want = bad == 0 ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
    const rnnp::AttrBinary binary = {uint32_t(rnnp::Binary::kSub), 2, {2, kHalf}, {outer[0], 1}, {outer[1], 1}};
    EXPECT_EQ(want, plan(OpKind::kBinary, binary, 2)) << bad;
    const rnnp::AttrCopy copy = {2, {2, kHalf}, {first, 1}, {second, 1}, 0, 0};
    EXPECT_EQ(want, plan(OpKind::kCopy, copy, 1)) << bad;
    const rnnp::AttrWhere where = {2, {2, kHalf}, {{first, 1}, {second, 1}, {half, 1}}, {0, 0, 0}};
    EXPECT_EQ(want, plan(OpKind::kWhere, where, 3)) << bad;
  }
}

}  // namespace many_axes_test
