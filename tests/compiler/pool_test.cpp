// pool_test.cpp -- pools, end to end against the f64 evaluation. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;

TEST(Pool, OverFeatures) {
  for (const char *op : {"MaxPool", "AveragePool"}) {
    for (const int ceil : {0, 1}) {
      for (const int counted : {0, 1}) {
        SCOPED_TRACE(std::string(op) + std::to_string(ceil) + std::to_string(counted));
        OnnxBuilder b(19);
        b.input("X", {"N", 3, "T", 10}).output("Y");
        NodeBuilder node = b.node(op, {"X"}, {"Y"});
        node.with("kernel_shape", Ints{1, 3}).with("strides", Ints{1, 2}).with("pads", Ints{0, 1, 0, 1}).with("ceil_mode", ceil);
        node.with("dilations", Ints{1, 2});
        if (op[0] == 'A') node.with("count_include_pad", counted);
        check_against_f64(b.proto);
      }
    }
  }
}

TEST(Pool, TwoAxesAndGlobal) {
  OnnxBuilder b;
  b.input("X", {"N", 3, 6, 8}).random("W", {4, 3, 3, 3}).output("A").output("M").output("G").output("H");
  b.node("Conv", {"X", "W"}, {"c"}).with("pads", Ints{1, 1, 1, 1});
  b.node("AveragePool", {"c"}, {"A"}).with("kernel_shape", Ints{2, 3}).with("strides", Ints{2, 2}).with("auto_pad", "SAME_UPPER");
  b.node("MaxPool", {"c"}, {"M"}).with("kernel_shape", Ints{3, 2}).with("pads", Ints{1, 0, 1, 1});
  b.node("GlobalAveragePool", {"c"}, {"G"});
  b.node("GlobalMaxPool", {"X"}, {"H"});
  check_against_f64(b.proto);
}

TEST(Pool, GlobalOverTime) {
  OnnxBuilder b;
  b.input("X", {"N", 3, "T", 5}).random("W", {4, 3, 2, 3}).output("A").output("M");
  b.node("Conv", {"X", "W"}, {"c"}).with("pads", Ints{1, 1, 0, 1});
  b.node("GlobalAveragePool", {"c"}, {"A"});
  b.node("GlobalMaxPool", {"c"}, {"M"});
  check_against_f64(b.proto);
}

TEST(Pool, OverTimeIsRefused) {
  OnnxBuilder b;
  b.input("X", {"N", 3, "T"}).output("Y");
  b.node("MaxPool", {"X"}, {"Y"}, "pool").with("kernel_shape", Ints{2});
  EXPECT_NE(refusal_of(b.proto).find("pools over the time"), std::string::npos) << refusal_of(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
