// integer_layers.cpp -- Contract: integer_layers.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/integer_layers.h"

#include <algorithm>
#include <cmath>

#include "base/fpenv.h"
#include "compiler/onnx/errors.h"
#include "compiler/verify/exact_check.h"
#include "compiler/verify/exact_layer.h"

namespace rnnp::compiler {
namespace {

// h is a byte of 1/128; c may grow by a quarter beyond what the data has shown.
constexpr float kByteOfH = 1.0f / 128;
constexpr double kRoom = 1.25;
// What x may be multiplied by in the blob; its leading bits are a little off.
constexpr float kLeastFactor = 1e-30f, kMostFactor = 1e30f;

// Why a layer cannot run in integers; empty: it can.
std::string obstacle(const Recurrent &r) {
  if (r.cell == Cell::kLstmNorm) return "its cell has layer norms";
  if (r.clip != 0) return "it clips its pre-activations";
  if (r.input_forget) return "its input and forget gates are coupled";
  if (r.masked) return "its steps have a mask";
  for (const Direction &d : r.directions) {
    const auto is = [&](int i, Act act) { return d.act[i].act == static_cast<uint32_t>(act); };
    if (!d.peephole.empty()) return "it has peepholes";
    const bool sigmoid_tanh = is(0, Act::kSigmoid) && is(1, Act::kTanh) && (r.cell != Cell::kLstm || is(2, Act::kTanh));
    if (r.cell == Cell::kRnn ? !is(0, Act::kTanh) : !sigmoid_tanh) return "its activations are not sigmoid and tanh";
  }
  return "";
}

// The largest size of a direction's c on the data.
double largest_c(const Model &m, const AttrRecurrent &a, uint32_t d, const SeenNode &seen) {
  const BlobDirection &direction = a.direction[d];
  const ExactLayer layer(m, a, d);
  const size_t steps = seen.in[0].rows.size() / seen.in[0].elems / seen.batch;
  double most = 0;
  for (size_t row = 0; row < seen.batch; ++row) {
    std::vector<float> h(layer.hidden(), 0.0f), c(layer.hidden(), 0.0f);
    initial_state(m, seen, direction.state_h, 1, direction.init_h, row, &h);
    initial_state(m, seen, direction.state_c, 2, direction.init_c, row, &c);
    const size_t last = seen.lengths.empty() ? steps : std::min(steps, static_cast<size_t>(seen.lengths[row]));
    for (size_t i = 0; i < last; ++i) {
      const size_t t = direction.reverse ? last - 1 - i : i;
      layer.step(seen.in[0].row(t * seen.batch + row), h.data(), c.data());
      for (const float v : c) most = std::isfinite(v) ? std::max(most, std::fabs(double{v})) : most;
    }
  }
  return most;
}

float step_of_x(const SeenNode &seen) {
  const float step = best_step(seen.in.empty() ? std::vector<float>() : seen.in[0].rows);
  return step > 0 ? step : 1.0f / 127;
}

void store_bytes(Storage *storage, float lhs_scale) {
  if (storage->type != DType::kI8 || storage->diagonal || storage->group_k != 0) *storage = Storage();
  storage->type = DType::kI8;
  storage->fixed = true;
  storage->lhs_scale = std::clamp(lhs_scale, 2 * kLeastFactor, kMostFactor / 2);
}

}  // namespace

uint32_t bits_for_c(double most) {
  uint32_t bits = kMostCBits;
  while (bits > kLeastCBits && std::ldexp(most * kRoom, static_cast<int>(bits)) > 32767) --bits;
  return bits;
}

void choose_integers(Graph *graph, const Reference &reference, const std::vector<std::string> &keep_float) {
  const FlushDenormals flush;
  Runner runner(reference.blob());
  Model model;
  if (!read_model(&runner.opened(), &model)) throw UsageError("the network cannot be evaluated");
  size_t count = 0;
  std::string others;
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    Node &node = graph->nodes[n];
    auto *layer = std::get_if<Recurrent>(&node.attr);
    if (layer == nullptr || std::find(keep_float.begin(), keep_float.end(), node.name) != keep_float.end()) continue;
    const std::string reason = obstacle(*layer);
    if (!reason.empty()) {
      others += "; node " + quote(node.name) + " is not: " + reason;
      continue;
    }
    const AttrRecurrent &blob = *model.attr<AttrRecurrent>(model.nodes[static_cast<uint32_t>(n)]);
    const SeenNode &seen = reference.seen().nodes[n];
    for (uint32_t d = 0; d < layer->directions.size(); ++d) {
      Direction &direction = layer->directions[d];
      const float known = direction.w_storage.lhs_scale;
      store_bytes(&direction.w_storage, known != 0 ? known : step_of_x(seen));
      store_bytes(&direction.r_storage, kByteOfH);
      if (layer->cell == Cell::kLstm) direction.c_bits = bits_for_c(largest_c(model, blob, d, seen));
    }
    ++count;
  }
  if (count == 0) throw UsageError("--arithmetic integer, and no recurrent layer can be in integers alone" + others);
  graph->notes.push_back("in integers alone: " + std::to_string(count) + (count == 1 ? " recurrent layer" : " recurrent layers") +
                         others);
}

}  // namespace rnnp::compiler
