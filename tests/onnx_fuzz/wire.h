// wire.h -- what fuzz.py and the driver say to each other: little-endian words and strings with their length in front.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_ONNX_FUZZ_WIRE_H_
#define RNNPACK_TESTS_ONNX_FUZZ_WIRE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/bind_states.h"

namespace rnnp::onnx_fuzz {

// An array in the axis order of the ONNX file. i32 elements (`whole`) lie in the bits of floats.
struct Wired {
  bool whole = false;
  std::vector<int64_t> shape;
  std::vector<float> data;
};

struct Request {
  uint32_t seed = 0;
  uint32_t walks = 0;     // random walks over the API beside the plain run
  uint32_t spoil = 0;     // 1: change the plain run's first number, 2: change what the walks see
  uint32_t evaluate = 0;  // 1: answer with the f64 evaluation too
  uint32_t portable = 0;  // 1: nothing by XNNPACK, which loses NaN
  uint32_t serial = 0;    // 1: walks on one thread
  uint32_t steps = 1, batch = 1;
  std::vector<compiler::StatePair> states;
  std::vector<uint8_t> model;
  std::map<std::string, Wired> inputs;
};

enum class Verdict : uint32_t { kRan = 0, kRefused = 1, kWrong = 2, kPartOfAStep = 3 };

struct Answer {
  Verdict verdict = Verdict::kRan;
  std::string message;
  bool causal = false;
  std::map<std::string, Wired> outputs;
  std::map<std::string, std::vector<double>> evaluated;
};

bool read_request(Request *request);  // false: the stream has ended
void write_answer(const Answer &answer);

}  // namespace rnnp::onnx_fuzz
#endif  // RNNPACK_TESTS_ONNX_FUZZ_WIRE_H_
