// libonednn_bench: oneDNN's recurrent primitives with weights packed the way it asks for, run and timed in C++ like ours.
// One primitive per layer. Weights come in oneDNN's gate order (LSTM i f c o; GRU z r h), as [direction][gate][hidden][input].
// int8 is oneDNN's own way: x and h in u8 about 128, weights in s8 with a scale a unit, y in f32; x becomes u8 in each call.
// SPDX-License-Identifier: Apache-2.0
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "timing_loop.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr auto kF32 = memory::data_type::f32;

struct Shape {
  int steps, batch, inputs, hidden, layers, directions, bits;
};

enum class Cell { kLstm, kGru, kGruLbr, kRnnTanh, kRnnRelu };

struct Layer {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

struct Network {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Layer> layers;
  memory x, y;
  dnnl::reorder to_u8;  // of x, where bits are 8
};

struct Descs {
  memory::desc x, w, r, bias, y;
};

memory::dim gates_of(Cell cell) {
  return cell == Cell::kLstm ? 4 : cell == Cell::kGru || cell == Cell::kGruLbr ? 3 : 1;
}
memory::dim biases_of(Cell cell) {
  return gates_of(cell) + (cell == Cell::kGruLbr ? 1 : 0);
}

constexpr float kDataScale = 127, kDataShift = 128;  // of x and h between -1 and 1

// Scales of W and R together: oneDNN has one for each unit of each gate.
dnnl::primitive_attr quantised(Cell cell, const Shape &s, memory::dim inputs, const float *w, const float *r) {
  std::vector<float> scales(static_cast<size_t>(gates_of(cell) * s.hidden));
  for (size_t row = 0; row < scales.size(); ++row) {
    float most = 1e-9f;
    for (memory::dim k = 0; k < inputs; ++k)
      most = std::max(most, std::fabs(w[row * static_cast<size_t>(inputs) + static_cast<size_t>(k)]));
    for (size_t k = 0; k < static_cast<size_t>(s.hidden); ++k)
      most = std::max(most, std::fabs(r[row * static_cast<size_t>(s.hidden) + k]));
    scales[row] = 127 / most;
  }
  dnnl::primitive_attr attr;
  attr.set_rnn_data_qparams(kDataScale, kDataShift);
  attr.set_rnn_weights_qparams(1 << 3 | 1 << 4, scales);
  return attr;
}

// Weight layouts are left to oneDNN ("any").
Descs descs_of(Cell cell, const Shape &s, memory::dim inputs) {
  const memory::dim d = s.directions, h = s.hidden;
  const auto data = s.bits == 8 ? memory::data_type::u8 : kF32, weight = s.bits == 8 ? memory::data_type::s8 : kF32;
  return {{{s.steps, s.batch, inputs}, data, Tag::tnc},
          {{1, d, inputs, gates_of(cell), h}, weight, Tag::any},
          {{1, d, h, gates_of(cell), h}, weight, Tag::any},
          {{1, d, biases_of(cell), h}, kF32, Tag::ldgo},
          {{s.steps, s.batch, d * h}, kF32, Tag::tnc}};
}

template <class Kind, class Desc>
std::pair<dnnl::primitive, dnnl::rnn_primitive_desc_base> build(const Desc &desc, const dnnl::primitive_attr &attr,
                                                                const dnnl::engine &engine) {
  const typename Kind::primitive_desc made(desc, attr, engine);
  return {Kind(made), made};
}

std::pair<dnnl::primitive, dnnl::rnn_primitive_desc_base> make_primitive(Cell cell, const Descs &m, dnnl::rnn_direction way,
                                                                         const dnnl::primitive_attr &attr,
                                                                         const dnnl::engine &engine) {
  const auto inference = dnnl::prop_kind::forward_inference;
  const memory::desc none;
  switch (cell) {
    case Cell::kLstm:
      return build<dnnl::lstm_forward>(dnnl::lstm_forward::desc(inference, way, m.x, none, none, m.w, m.r, m.bias, m.y, none, none),
                                       attr, engine);
    case Cell::kGru:
      return build<dnnl::gru_forward>(dnnl::gru_forward::desc(inference, way, m.x, none, m.w, m.r, m.bias, m.y, none), attr,
                                      engine);
    case Cell::kGruLbr:
      return build<dnnl::lbr_gru_forward>(dnnl::lbr_gru_forward::desc(inference, way, m.x, none, m.w, m.r, m.bias, m.y, none), attr,
                                          engine);
    default:
      break;
  }
  const auto activation = cell == Cell::kRnnTanh ? dnnl::algorithm::eltwise_tanh : dnnl::algorithm::eltwise_relu;
  return build<dnnl::vanilla_rnn_forward>(
      dnnl::vanilla_rnn_forward::desc(inference, activation, way, m.x, none, m.w, m.r, m.bias, m.y, none), attr, engine);
}

memory packed(Network &net, const memory::desc &wanted, const memory::desc &plain, const dnnl::primitive_attr &attr,
              const float *data) {
  memory source(plain, net.engine, const_cast<float *>(data));
  memory target(wanted, net.engine);
  dnnl::reorder(source, target, attr).execute(net.stream, source, target);
  net.stream.wait();
  return target;
}

Layer make_layer(Network &net, Cell cell, const Shape &s, const memory &x, const float *w, const float *r, const float *bias) {
  const memory::dim inputs = x.get_desc().dims()[2];
  const Descs m = descs_of(cell, s, inputs);
  const auto way = s.directions == 2 ? dnnl::rnn_direction::bidirectional_concat : dnnl::rnn_direction::unidirectional_left2right;
  const dnnl::primitive_attr attr = s.bits == 8 ? quantised(cell, s, inputs, w, r) : dnnl::primitive_attr();
  auto [primitive, desc] = make_primitive(cell, m, way, attr, net.engine);
  const memory::desc plain_w(m.w.dims(), kF32, Tag::ldgoi), plain_r(m.r.dims(), kF32, Tag::ldgoi);
  memory biases(m.bias, net.engine);
  std::memcpy(biases.get_data_handle(), bias, m.bias.get_size());
  Layer layer{primitive, {{DNNL_ARG_SRC_LAYER, x}, {DNNL_ARG_BIAS, biases}, {DNNL_ARG_DST_LAYER, memory(m.y, net.engine)}}};
  layer.arguments.emplace(DNNL_ARG_WEIGHTS_LAYER, packed(net, desc.weights_layer_desc(), plain_w, attr, w));
  layer.arguments.emplace(DNNL_ARG_WEIGHTS_ITER, packed(net, desc.weights_iter_desc(), plain_r, attr, r));
  return layer;
}

void run_all(Network &net) {
  if (net.to_u8) net.to_u8.execute(net.stream, net.x, net.layers.front().arguments.at(DNNL_ARG_SRC_LAYER));
  for (Layer &layer : net.layers) layer.primitive.execute(net.stream, layer.arguments);
  net.stream.wait();
}

std::string g_error;

}  // namespace

EXPORT const char *onednn_bench_version() {
  static const std::string text = std::to_string(dnnl_version()->major) + "." + std::to_string(dnnl_version()->minor) + "." +
                                  std::to_string(dnnl_version()->patch);
  return text.c_str();
}

// weights: three pointers a layer, W, R and bias. NULL, or what went wrong.
EXPORT const char *onednn_bench_open(Network **handle, int cell, const Shape *shape, const float *const *weights) try {
  auto net = std::make_unique<Network>();
  net->x = memory({{shape->steps, shape->batch, shape->inputs}, kF32, Tag::tnc}, net->engine);
  memory x = net->x;
  if (shape->bits == 8) {
    if (shape->layers != 1 || shape->directions != 1) throw std::invalid_argument("int8 is there for one layer of one direction");
    x = memory({{shape->steps, shape->batch, shape->inputs}, memory::data_type::u8, Tag::tnc}, net->engine);
    dnnl::primitive_attr attr;
    attr.set_rnn_data_qparams(kDataScale, kDataShift);
    net->to_u8 = dnnl::reorder(net->x, x, attr);
  }
  for (int i = 0; i < shape->layers; ++i) {
    net->layers.push_back(
        make_layer(*net, static_cast<Cell>(cell), *shape, x, weights[3 * i], weights[3 * i + 1], weights[3 * i + 2]));
    x = net->layers.back().arguments.at(DNNL_ARG_DST_LAYER);
  }
  net->y = x;
  *handle = net.release();
  return nullptr;
} catch (const std::exception &failure) {
  g_error = failure.what();
  return g_error.c_str();
}

EXPORT const char *onednn_bench_run(Network *net, const float *x, float *y) {
  net->x.set_data_handle(const_cast<float *>(x));
  net->y.set_data_handle(y);
  run_all(*net);
  return nullptr;
}

EXPORT size_t onednn_bench_time(Network *net, const float *x, float *y, uint32_t, uint64_t budget_ns, uint64_t sample_ns,
                                size_t max_samples, uint64_t *ns, uint32_t *calls) {
  net->x.set_data_handle(const_cast<float *>(x));
  net->y.set_data_handle(y);
  const timing_request request = {budget_ns, sample_ns, max_samples};
  const auto call = [](void *self, uint64_t) {
    run_all(*static_cast<Network *>(self));
    return 0;
  };
  return time_calls(call, net, &request, ns, calls);
}

EXPORT const char *onednn_bench_note(Network *) {
  return "";
}
EXPORT void onednn_bench_close(Network *net) {
  delete net;
}
