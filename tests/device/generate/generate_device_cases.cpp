// generate_device_cases.cpp <out.c> -- writes the cases of the device test: every cell and layout, both directions, ragged rows,
// a mask, and a state saved here, half way, for the device to continue from. Expected outputs are the f64 reference's; those of
// two networks of other operators are this machine's reference kernels'. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "support/reference_layers.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::Act;
using rnnp::Cell;

constexpr uint32_t kBatch = 3, kSteps = 10, kHalf = 4, kInput = 7;

struct Case {
  std::string name;
  uint32_t nr;
  RecurrentOptions options;
  bool dense, ragged;
};

Case make(const std::string &name, Cell cell, uint32_t nr, uint32_t hidden) {
  Case c = {name + "_nr" + std::to_string(nr), nr, {}, false, false};
  c.options.cell = cell;
  c.options.hidden = hidden;
  return c;
}

std::vector<Case> all_cases() {
  std::vector<Case> v;
  const std::pair<const char *, Cell> cells[] = {
      {"rnn", Cell::kRnn}, {"lstm", Cell::kLstm}, {"gru", Cell::kGru}, {"grulinear", Cell::kGruLinear}};
  for (uint32_t nr : {4u, 8u, 16u}) {
    for (const auto &[name, cell] : cells) {
      v.push_back(make(name, cell, nr, 13));
      Case both = make(std::string(name) + "_bidirectional", cell, nr, 9);
      both.options.bidirectional = both.ragged = true;
      v.push_back(both);
    }
    Case relu = make("rnn_relu", Cell::kRnn, nr, 12);
    relu.options.acts = {Act::kRelu};
    v.push_back(relu);
    Case full = make("lstm_everything", Cell::kLstm, nr, 11);
    full.options.peephole = full.options.input_forget = full.options.initial_state = full.ragged = true;
    full.options.clip = 0.4;
    full.options.acts = {Act::kHardSigmoid, Act::kSoftsign, Act::kElu};
    v.push_back(full);
  }
  Case masked = make("lstm_masked", Cell::kLstm, 4, 6);
  masked.options.masked = masked.options.bidirectional = masked.ragged = true;
  v.push_back(masked);
  for (uint32_t nr : {4u, 16u}) {
    Case wide = make("grulinear_dense", Cell::kGruLinear, nr, 40);
    wide.dense = true;
    v.push_back(wide);
  }
  return v;
}

class Writer {
 public:
  explicit Writer(const char *path) : file_(std::fopen(path, "w")) {
    if (file_ == nullptr) throw std::runtime_error(std::string("cannot write ") + path);
  }
  ~Writer() { std::fclose(file_); }

  void line(const std::string &s) { std::fprintf(file_, "%s\n", s.c_str()); }
  void bytes(const std::string &name, const std::vector<uint8_t> &v) {
    line("static const unsigned char " + name + "[] __attribute__((aligned(64))) = {");
    for (size_t i = 0; i < v.size(); ++i) std::fprintf(file_, "%u,%s", unsigned{v[i]}, i % 32 == 31 ? "\n" : "");
    line("};");
  }
  template <class T>
  void floats(const std::string &name, const std::vector<T> &v) {
    line("static const float " + name + "[] = {");
    for (size_t i = 0; i < v.size(); ++i) std::fprintf(file_, "%af,%s", double(static_cast<float>(v[i])), i % 8 == 7 ? "\n" : "");
    line("};");
  }

 private:
  std::FILE *file_;
};

// What a case is written from.
struct Content {
  std::string name;
  std::vector<uint8_t> blob;
  uint32_t in, out;
  std::vector<float> x;
  std::vector<double> want;
  bool ragged, causal;
};

std::vector<uint8_t> state_at(const Content &c, uint32_t steps) {
  Runner r(c.blob, {kBatch});
  r.run({c.x.begin(), c.x.begin() + size_t{steps} * kBatch * c.in});
  std::vector<uint8_t> all;
  for (uint32_t row = 0; row < kBatch; ++row) {
    const std::vector<uint8_t> one = r.save(row);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::string write_content(Writer *out, const Content &c, uint32_t index) {
  const std::string id = std::to_string(index);
  std::vector<uint8_t> state;
  if (c.causal) state = state_at(c, kHalf);
  out->bytes("blob_" + id, c.blob);
  out->floats("x_" + id, c.x);
  out->floats("want_" + id, c.want);
  if (c.causal) out->bytes("state_" + id, state);
  if (c.ragged) out->line("static const int32_t lengths_" + id + "[] = {" + std::to_string(kSteps) + ", 0, 6};");
  const auto number = [](size_t n) { return std::to_string(n) + ", "; };
  return "  {\"" + c.name + "\", blob_" + id + ", " + number(c.blob.size()) + number(kSteps) + number(kBatch) + number(c.in) +
         number(c.out) + (c.ragged ? "lengths_" + id : "0") + ", x_" + id + ", want_" + id + ", " +
         (c.causal ? "state_" + id : "0") + ", " + number(state.size() / kBatch) + std::to_string(kHalf) + "},\n";
}

std::string write_case(Writer *out, const Case &c, uint32_t index) {
  BlobBuilder builder(100 + index, c.nr);
  const uint32_t in = kInput + (c.options.masked ? 1 : 0), x_value = builder.add_input(in);
  uint32_t y_value = builder.add_recurrent(x_value, kInput, c.options);
  uint32_t width = c.options.hidden * (c.options.bidirectional ? 2 : 1);
  if (c.dense) {
    y_value = builder.add_dense(y_value, width, 5, Act::kSigmoid);
    width = 5;
  }
  builder.add_output(y_value);
  const std::vector<uint8_t> blob = builder.build();
  std::vector<float> x = random_floats(size_t{kSteps} * kBatch * in, 900 + index);
  for (size_t i = in - 1; c.options.masked && i < x.size(); i += in) x[i] = std::max(x[i], 0.0f);
  const std::vector<int32_t> lengths = c.ragged ? std::vector<int32_t>{kSteps, 0, 6} : std::vector<int32_t>{};
  std::vector<double> want = run_recurrent(builder.recurrent[0], {x.begin(), x.end()}, kSteps, kBatch, lengths).y;
  if (c.dense) want = run_dense(builder.dense[0], want);
  return write_content(out, {c.name, blob, in, width, x, want, c.ragged, !c.options.bidirectional && !c.ragged}, index);
}

uint32_t add(BlobBuilder *b, rnnp::OpKind op, const void *attr, size_t bytes, const std::vector<uint32_t> &in, uint32_t elems) {
  return b->add_node(op, attr, bytes, in, elems, true);
}

// Over a row of six positions with two channels: a convolution over time and position, one per channel over positions, a pool, a
// recurrent layer.
uint32_t add_convolutions(BlobBuilder *b, uint32_t x) {
  rnnp::AttrConv conv = {};
  conv.window = {{1, 6}, {1, 3}, {1, 3}, {1, 2}, {1, 1}, {0, 1}, 0, {0, 2, 1}, 0, {12, 4}};
  conv.time_taps = 3;
  conv.time_dilation = 2;
  conv.lead = 4;
  conv.groups = 2;
  conv.in_channels = 1;
  conv.out_channels = 2;
  conv.act.act = uint32_t(Act::kTanh);
  const uint32_t y = b->add_conv(x, conv, 12);
  conv.window = {{1, 3}, {1, 3}, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 0, {0, 4, 1}, 0, {12, 4}};
  conv.time_taps = conv.time_dilation = 1;
  conv.lead = 0;
  conv.groups = 4;
  conv.out_channels = 1;
  const uint32_t z = b->add_depthwise(y, conv, 12);
  rnnp::AttrPool pool = {};
  pool.window = {{1, 3}, {1, 2}, {1, 2}, {1, 1}, {1, 1}, {0, 0}, 0, {0, 4, 1}, 0, {8, 4}};
  pool.pool = uint32_t(rnnp::Pool::kAverage);
  pool.channels = 4;
  RecurrentOptions options;
  options.cell = Cell::kGruLinear;
  options.hidden = 5;
  return b->add_recurrent(add(b, rnnp::OpKind::kPool, &pool, sizeof pool, {z}, 8), 8, options);
}

// Comparison, selection, a product of two, reductions, an activation without a kernel, a normalisation: five values.
uint32_t add_operators(BlobBuilder *b, uint32_t x) {
  const rnnp::AttrBinary greater = {uint32_t(rnnp::Binary::kGreater), 2, {3, 4}, {4, 1}, {1, 0}};
  const uint32_t mask = add(b, rnnp::OpKind::kBinary, &greater, sizeof greater, {x, x}, 12);
  const rnnp::AttrWhere where = {2, {3, 4}, {{4, 1}, {-4, 1}, {0, 0}}, {0, 8, 3}};
  const uint32_t chosen = add(b, rnnp::OpKind::kWhere, &where, sizeof where, {mask, x, x}, 12);
  rnnp::AttrMatMul product = {2, 5, 2, 1, {3}, {0, 2, 1, {4}}, {1, 1, 2, {0}}};
  const uint32_t y = add(b, rnnp::OpKind::kMatMul, &product, sizeof product, {chosen, x}, 30);
  const rnnp::AttrReduce sums = {uint32_t(rnnp::Reduce::kLogSumExp), 0, 1, {6}, {5}, 1, {5}, {1}};
  const rnnp::AttrReduce lengths = {uint32_t(rnnp::Reduce::kL2), 0, 1, {5}, {1}, 1, {6}, {5}};
  const uint32_t rows = add(b, rnnp::OpKind::kReduce, &sums, sizeof sums, {y}, 6);
  const uint32_t columns = add(b, rnnp::OpKind::kReduce, &lengths, sizeof lengths, {y}, 5);
  const rnnp::AttrUnary erf = {{uint32_t(Act::kErf), 0, 0}};
  const uint32_t bent = add(b, rnnp::OpKind::kUnary, &erf, sizeof erf, {rows}, 6);
  const rnnp::AttrNorm norm = {2, 3, 1, 0, 1e-3f, b->add_weights({1, 2, 3}), rnnp::kNone};
  const uint32_t even = add(b, rnnp::OpKind::kNorm, &norm, sizeof norm, {bent}, 6);
  const rnnp::AttrBinary prelu = {uint32_t(rnnp::Binary::kPRelu), 1, {5}, {1}, {1}};
  return add(b, rnnp::OpKind::kBinary, &prelu, sizeof prelu, {even, columns}, 5);
}

std::string write_network(Writer *out, bool convolutions, uint32_t nr, uint32_t index) {
  constexpr uint32_t kIn = 12, kOut = 5;
  BlobBuilder builder(100 + index, nr);
  const uint32_t x_value = builder.add_input(kIn);
  builder.add_output(convolutions ? add_convolutions(&builder, x_value) : add_operators(&builder, x_value));
  const std::vector<uint8_t> blob = builder.build();
  const std::vector<float> x = random_floats(size_t{kSteps} * kBatch * kIn, 900 + index);
  const std::vector<float> want = Runner(blob, {kBatch, 0, 0, RNNP_ISA_REFERENCE_ONLY}).run(x);
  const std::string name = (convolutions ? "convolutions_nr" : "operators_nr") + std::to_string(nr);
  return write_content(out, {name, blob, kIn, kOut, x, {want.begin(), want.end()}, false, true}, index);
}

void write_all(const char *path) {
  Writer out(path);
  out.line("/* Written by generate_device_cases. */\n#include \"device_case.h\"\n");
  std::string table;
  uint32_t count = 0;
  for (const Case &c : all_cases()) table += write_case(&out, c, count++);
  for (uint32_t nr : {4u, 8u, 16u}) {
    table += write_network(&out, true, nr, count++);
    table += write_network(&out, false, nr, count++);
  }
  out.line("const struct device_case device_cases[] = {\n" + table + "};");
  out.line("const uint32_t device_case_count = " + std::to_string(count) + ";");
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: generate_device_cases OUT.c\n");
    return 2;
  }
  try {
    write_all(argv[1]);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "generate_device_cases: %s\n", e.what());
    return 1;
  }
  return 0;
}
