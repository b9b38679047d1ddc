// activation.h -- ONNX activations by name: the attributes each takes, its defaults, and its value in double.
// Shared by the importer (to fill BlobActivation) and the evaluator. Pure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_ACTIVATION_H_
#define RNNPACK_COMPILER_ONNX_ACTIVATION_H_

#include <string>
#include <vector>

#include "compiler/onnx/attributes.h"
#include "format/blob.h"

namespace rnnp::compiler {

struct Activation {
  Act act = Act::kIdentity;
  double alpha = 0;
  double beta = 0;
};

// f(x) by the ONNX text.
double activate(const Activation &activation, double x);

// The activation that a node of this type is (Relu, HardSigmoid with its attributes, ...); false when the type is none.
bool activation_of_node(const std::string &op_type, const Attributes &attributes, Activation *out);

// The recurrent node's activations, `per_direction` for each direction, from `activations`, `activation_alpha` and
// `activation_beta`: each list of values is consumed in order by the activations that take such a value, as onnxruntime does.
// `defaults` stand in where the attribute is absent. Throws Refusal for unknown names and wrong counts.
std::vector<Activation> recurrent_activations(const Attributes &attributes, const std::vector<Act> &defaults, size_t directions);

const char *activation_name(Act act);

inline BlobActivation blob_activation(const Activation &f) {
  return {static_cast<uint32_t>(f.act), static_cast<float>(f.alpha), static_cast<float>(f.beta)};
}

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_ACTIVATION_H_
