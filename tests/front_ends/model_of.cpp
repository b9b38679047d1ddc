// model_of.cpp -- Contract: model_of.h. SPDX-License-Identifier: Apache-2.0
#include "model_of.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>

#include "compiler/onnx/problem.h"
#include "compiler/run/runner.h"

namespace rnnp::testing_support {

using namespace rnnp::compiler;

std::unique_ptr<OnnxModel> model_of(const std::string &file, const ReadOptions &options) {
  return read_model_file({reinterpret_cast<const uint8_t *>(file.data()), file.size(), nullptr}, options);
}

Compiled compiled_of(const std::string &file, const ReadOptions &options) {
  const auto model = model_of(file, options);
  CompileOptions how;
  for (const auto &state : model->states) how.states.push_back({state.first, state.second});
  return compile_model(*model, how);
}

Floats outputs_of(const std::string &file, const Floats &input, int64_t features, const ReadOptions &options) {
  Runner runner(compiled_of(file, options).blob);
  Array x;
  x.shape = {1, static_cast<int64_t>(input.size()) / features, features};
  x.f32 = input;
  const Floats whole = runner.run({{"input", x}}, {}).at("output").f32;
  RunOptions by_step;
  by_step.steps_per_call = 1;
  EXPECT_EQ(runner.run({{"input", x}}, by_step).at("output").f32, whole) << "one step a call gives other bits";
  return whole;
}

Floats output_of(const std::string &file, const std::vector<int64_t> &shape, const Floats &input) {
  Runner runner(compiled_of(file).blob);
  Array x;
  x.shape = shape;
  x.f32 = input;
  return runner.run({{"input", x}}, {}).at("output").f32;
}

std::string refusal_of_file(const std::string &file, const ReadOptions &options) {
  try {
    compiled_of(file, options);
  } catch (const ModelError &error) {
    return error.what();
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

std::string meta_of(const Compiled &compiled, const std::string &key) {
  for (const auto &pair : compiled.graph.metadata)
    if (pair.first == key) return pair.second;
  return "";
}

Floats random_numbers(size_t count, float deviation, uint32_t seed) {
  std::mt19937 random(seed);
  Floats out(count);
  for (float &v : out) v = deviation * (static_cast<float>(random() % 20001) / 10000.0f - 1.0f);
  return out;
}

std::string list_of(const Floats &numbers) {
  std::ostringstream text;
  text.precision(9);
  for (size_t i = 0; i < numbers.size(); ++i) text << (i == 0 ? "[" : ", ") << numbers[i];
  return numbers.empty() ? "[]" : text.str() + "]";
}

std::string rows_of(const Floats &numbers, size_t columns) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); i += columns) {
    const auto row = numbers.begin() + static_cast<std::ptrdiff_t>(i);
    text += (i == 0 ? "[" : ", ") + list_of({row, row + static_cast<std::ptrdiff_t>(columns)});
  }
  return text + "]";
}

std::string file_text(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Floats float_file(const std::string &path) {
  const std::string bytes = file_text(path);
  Floats out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

Floats csv_file(const std::string &path) {
  std::string text = file_text(path);
  for (char &c : text) c = c == ',' ? ' ' : c;
  std::istringstream stream(text);
  return {std::istream_iterator<float>(stream), std::istream_iterator<float>()};
}

std::string models_in() {
  const char *folder = std::getenv("RNNPACK_MODELS_IN_DIR");
  return folder == nullptr ? "" : folder;
}

double largest_difference(const Floats &got, const Doubles &expected) {
  if (got.size() != expected.size() || got.empty()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
    if (!(error <= most)) most = error;
  }
  return most;
}

}  // namespace rnnp::testing_support
