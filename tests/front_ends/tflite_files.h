// tflite_files.h -- TensorFlow Lite files that tests and fuzzers begin from. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FRONT_ENDS_TFLITE_FILES_H_
#define RNNPACK_TESTS_FRONT_ENDS_TFLITE_FILES_H_

#include <string>
#include <vector>

#include "tflite_writer.h"

namespace rnnp::testing_support {

using Floats = std::vector<float>;
using Ints = std::vector<int>;

constexpr int kSteps = 9, kInputs = 3, kUnits = 4;

// Weights of gates i f c o, of peepholes i f o, of biases.
struct LstmWeights {
  Floats w[4], r[4], p[3], b[4];
};

LstmWeights lstm_weights(uint32_t seed);
// Operands of one direction, from its first matrix on to its last bias; left out: -1.
std::vector<int32_t> lstm_operands(TfliteWriter *file, const LstmWeights &w, bool peepholes, bool coupled);

struct GruWeights {
  Floats w, r, bw, br;  // gates z r h, one behind the other
};

struct GruLoop {
  int trips = kSteps;
  int type = TfliteType::kFloat32;  // of the matrices: kFloat16 behind DEQUANTIZE, as the loop's operands, or kInt8
  float scale = 0;                  // of kInt8
  bool of_features = false;         // the input is [1, kSteps * kInputs]: no axis of it is that of the steps
  bool keeps_last = false;          // as where return_sequences is false: [1, kUnits]
};

// A loop as a converter writes it of Keras' GRU.
std::string gru_loop(const GruWeights &weights, const GruLoop &how = {});

constexpr int kDepth = 4, kTaps = 3, kChannels = 6, kResults = 2;
constexpr float kInScale = 0.1f, kConvScale = 0.9f, kDepthwiseScale = 0.3f, kDenseScale = 0.05f;
constexpr int kInZero = -128, kConvZero = -128, kDepthwiseZero = -18, kDenseZero = 7;

Ints random_ints(size_t count, int most, uint32_t seed);

// The parts of a streaming network as wake-word engines have it.
struct Int8Network {
  Ints conv = random_ints(kChannels * kTaps * kDepth, 127, 1), conv_bias = random_ints(kChannels, 3000, 2);
  Ints depthwise = random_ints(kChannels, 127, 3), depthwise_bias = random_ints(kChannels, 2000, 4);
  Ints dense = random_ints(kResults * kChannels, 127, 5), dense_bias = random_ints(kResults, 900, 6);
  Ints start = random_ints((kTaps - 1) * kDepth, 100, 7);
  Floats conv_scales = scales(0.004f), depthwise_scales = scales(0.007f), dense_scales = {0.003f};

  static Floats scales(float around) {
    Floats out;
    for (int i = 0; i < kChannels; ++i) out.push_back(around * (1 + 0.13f * static_cast<float>(i)));
    return out;
  }
  static TfliteGrid bias_grid(float x, const Floats &w) {
    TfliteGrid grid;
    for (const float scale : w) grid.scales.push_back(x * scale);
    return grid;
  }
  std::string file() const;
};

FlatOut activation(int field, int which);

// [1, kSteps, kInputs] -> [1, kSteps, kUnits]; `left_out`: an operand, by its place.
std::string lstm_file(const LstmWeights &w, bool peepholes, bool coupled, const FlatOut &options = activation(0, 4),
                      int left_out = -1);

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_FRONT_ENDS_TFLITE_FILES_H_
