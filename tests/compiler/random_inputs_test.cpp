// random_inputs_test.cpp -- what `verify` draws: numbers that the file's element type has, all of them and no others.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/random_inputs.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace rnnp::compiler {
namespace {

using onnx::TensorProto;

rnnp_tensor_info facts_of(uint32_t dtype, uint32_t limit = 0) {
  rnnp_tensor_info facts = RNNP_TENSOR_INFO_INIT;
  facts.dtype = dtype;
  facts.rank = 1;
  facts.dims[0] = 5000;
  facts.limit = limit;
  return facts;
}

TEST(Draw, GivesIntegersOfTheFilesTypeWhereTheLibraryTakesFloats) {
  const struct {
    int elem_type, first, last;
  } kCases[] = {{TensorProto::BOOL, 0, 1},   {TensorProto::UINT8, 0, 255}, {TensorProto::INT8, -128, 127},
                {TensorProto::INT16, 0, 9},  {TensorProto::UINT16, 0, 9},  {TensorProto::INT32, 0, 9},
                {TensorProto::UINT32, 0, 9}, {TensorProto::INT64, 0, 9},   {TensorProto::UINT64, 0, 9}};
  for (const auto &c : kCases) {
    std::mt19937 random(1);
    const rnnp_tensor_info facts = facts_of(RNNP_DTYPE_F32);
    const Array drawn = draw_array(facts, c.elem_type, 1, 1, false, 0.5, &random);
    ASSERT_FALSE(drawn.is_int);
    for (const float v : drawn.f32) ASSERT_EQ(v, std::floor(v)) << "type " << c.elem_type;
    EXPECT_EQ(float(c.first), *std::min_element(drawn.f32.begin(), drawn.f32.end())) << "type " << c.elem_type;
    EXPECT_EQ(float(c.last), *std::max_element(drawn.f32.begin(), drawn.f32.end())) << "type " << c.elem_type;
    EXPECT_EQ("drawn, integers from " + std::to_string(c.first) + " to " + std::to_string(c.last),
              draw_text(facts, c.elem_type, 1, 0.5));
  }
}

TEST(Draw, GivesRealNumbersOfRealTypesAndPlacesOfTables) {
  for (const int type : {TensorProto::FLOAT, TensorProto::FLOAT16, TensorProto::DOUBLE}) {
    std::mt19937 random(1);
    const Array drawn = draw_array(facts_of(RNNP_DTYPE_F32), type, 1, 1, false, 0.5, &random);
    EXPECT_TRUE(std::any_of(drawn.f32.begin(), drawn.f32.end(), [](float v) { return v != std::floor(v); }));
  }
  std::mt19937 random(1);
  const Array places = draw_array(facts_of(RNNP_DTYPE_I32, 7), TensorProto::INT64, 1, 1, false, 0.5, &random);
  EXPECT_EQ((std::set<int32_t>{0, 1, 2, 3, 4, 5, 6}), (std::set<int32_t>(places.i32.begin(), places.i32.end())));
}

}  // namespace
}  // namespace rnnp::compiler
