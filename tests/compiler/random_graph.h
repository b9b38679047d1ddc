// random_graph.h -- ONNX graphs grown at random from the operators that the compiler claims, one move at a time. A value's axes
// carry their roles, so that moves fit; a move that the compiler refuses is taken back, with the reason kept.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_RANDOM_GRAPH_H_
#define RNNPACK_TESTS_COMPILER_RANDOM_GRAPH_H_

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "onnx_builder.h"

namespace rnnp::testing_support {

enum class Role : uint8_t { kTime, kBatch, kFeature };

struct RandomDim {
  Role role;
  int64_t size;  // of a feature axis
  bool operator==(const RandomDim &other) const { return role == other.role && size == other.size; }
};

struct RandomValue {
  std::string name;
  std::vector<RandomDim> dims;
  double most = 4;      // about the largest magnitude of an element
  bool spread = false;  // its elements lie anywhere: a jump of a function is unlikely to be near one
  int64_t features() const;
};

class RandomGraph {
 public:
  RandomGraph(uint32_t seed, int64_t opset);

  OnnxBuilder b;
  const int64_t opset;
  std::vector<RandomValue> values;

  int64_t below(int64_t count);  // uniform in [0, count)
  bool coin() { return below(2) != 0; }
  template <typename T>
  const T &one_of(const std::vector<T> &from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }
  std::string fresh();
  RandomValue any();
  // A value for which `fits` holds; false: there is none.
  bool find(const std::function<bool(const RandomValue &)> &fits, RandomValue *out);
  // Axes of this role.
  static std::vector<size_t> axes(const RandomValue &value, Role role);

  // Constants, by the name given back.
  std::string ints(const std::vector<int64_t> &data);
  std::string weights(const std::vector<int64_t> &shape, double deviation);
  std::string numbers(const std::vector<int64_t> &shape, double low, double high);

  // Adds a node of one output and gives its value, which is not yet one of `values`.
  NodeBuilder node(const std::string &op, const std::vector<std::string> &in, const RandomValue &out) {
    return b.node(op, in, {out.name});
  }
  // The result of `like` with these axes, under a new name.
  RandomValue result(const RandomValue &like, std::vector<RandomDim> dims, double most, bool spread = false);
  void keep(const RandomValue &value) { values.push_back(value); }

  RandomValue transposed(const RandomValue &value, const std::vector<size_t> &order);
  // Axes in this order of roles with all feature axes last, and those merged into `count` axes (1 or as they are: 0).
  RandomValue arranged(const RandomValue &value, const std::vector<Role> &lead, bool merge_features);
  RandomValue squashed(const RandomValue &value);

  onnx::ModelProto with_outputs(const std::vector<std::string> &names) const;
  std::string text() const;  // one line per node

 private:
  std::mt19937 random_;
  int next_ = 0;
};

constexpr int64_t kMostFeatures = 96;  // of a value
RandomDim feature(int64_t size);
bool has_features(const RandomValue &value);
bool has_time(const RandomValue &value);
bool has_batch(const RandomValue &value);
bool is_spread(const RandomValue &value);
bool any_with_features(RandomGraph &g, RandomValue *out);
// Adds a Slice of one axis from `first` up to `end`.
void cut(RandomGraph &g, const std::string &in, const std::string &out, int64_t axis, int64_t first, int64_t end, int64_t step = 1);

// One way to grow a graph. False: nothing here fits. `op` is what must be claimed for the move to be tried.
struct RandomMove {
  const char *op;
  int64_t since;
  bool (*grow)(RandomGraph &graph, const std::string &op);
};

// As it is written in ONNX: a negative axis half of the time, where the opset has them.
inline int64_t written(RandomGraph &g, const RandomValue &x, size_t axis) {
  return static_cast<int64_t>(axis) - (g.opset >= 11 && g.coin() ? static_cast<int64_t>(x.dims.size()) : 0);
}

std::vector<RandomMove> random_moves();
std::vector<RandomMove> layer_moves();  // those of random_layers.cpp, among them
std::vector<RandomMove> shape_moves();  // those of random_shapes.cpp

// A first layer, mostly recurrent, which says what is time and what is batch (its output is "firstY"), then some moves. `tell`
// hears of each move and of why the compiler refused it, "" where it did not.
RandomGraph generated_graph(uint32_t seed, const std::function<void(const char *op, const std::string &refusal)> &tell = {});

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_RANDOM_GRAPH_H_
