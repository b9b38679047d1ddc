// specialise.h -- what the user fixes of a model before it is compiled: which part of it, inputs that become constants, sizes of
// dynamic dimensions. Changes the declared inputs, the constants and what is left of the nodes only. Every name that does not exist
// is refused together with those that do. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_SPECIALISE_H_
#define RNNPACK_COMPILER_ONNX_SPECIALISE_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/onnx/cut_graph.h"
#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

struct Specialisation {
  Cut cut;                                               // before all else: sizes and values are those of its inputs
  std::map<std::string, Tensor> values;                  // an input's value; one element fills an input of fixed shape
  std::map<std::string, int64_t> dims;                   // a named dimension's size
  std::map<std::string, std::vector<int64_t>> shapes;    // an input's dimensions; -1 leaves one as it is
  std::map<std::string, std::vector<std::string>> axes;  // what an input's axes are: time, batch or features
};

// Throws UsageError.
void specialise(OnnxModel *model, const Specialisation &wanted);

// "'a', 'b'" or "none".
std::string quoted_list(const std::vector<std::string> &names);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_SPECIALISE_H_
