// nam_model.h -- Neural Amp Modeler's files (.nam, JSON): LSTM, WaveNet, ConvNet, Linear, and several networks in one file.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_NAM_NAM_MODEL_H_
#define RNNPACK_COMPILER_NAM_NAM_MODEL_H_

#include <memory>
#include <vector>

#include "compiler/json/json_value.h"
#include "compiler/nam/nam_graph.h"
#include "compiler/onnx/front_end.h"

namespace rnnp::compiler {

bool is_nam(const JsonValue &file);
std::unique_ptr<OnnxModel> read_nam(const JsonValue &file, const ReadOptions &options);

// The flat list of weights of one network, from the first to the last.
class NamWeights {
 public:
  explicit NamWeights(const JsonValue &json) : json_(json), all_(json.numbers()) {}
  std::vector<float> take(int64_t count);
  // Throws ModelError where some are left over.
  void finish() const;
  size_t size() const { return all_.size(); }

 private:
  JsonValue json_;
  std::vector<float> all_;
  size_t next_ = 0;
};

constexpr int64_t kNamMostChannels = 4096, kNamMostDilation = 1 << 20;

// A network's layers on a value; `json` has architecture, config and weights. Results are plain.
NamValue add_nam_network(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input);
NamValue add_nam_wavenet(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input);
NamValue add_nam_lstm(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input);

// Samples a second; 0 where the file has none.
double nam_sample_rate(const JsonValue &json);
// Throws ModelError where a network and its part name different ones.
void expect_sample_rate(const JsonValue &whole, const JsonValue &part);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_NAM_NAM_MODEL_H_
