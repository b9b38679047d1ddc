// generate_device_cases.cpp <out.c> -- writes the cases of the device test: every cell and layout, both directions, ragged rows,
// and a state saved here, half way, for the device to continue from. Expected outputs are the f64 reference's.
// SPDX-License-Identifier: Apache-2.0
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

std::vector<uint8_t> state_at(const std::vector<uint8_t> &blob, const std::vector<float> &x, uint32_t steps) {
  Runner r(blob, {kBatch});
  r.run({x.begin(), x.begin() + size_t{steps} * kBatch * kInput});
  std::vector<uint8_t> all;
  for (uint32_t row = 0; row < kBatch; ++row) {
    const std::vector<uint8_t> one = r.save(row);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::string write_case(Writer *out, const Case &c, uint32_t index) {
  BlobBuilder builder(100 + index, c.nr);
  const uint32_t x_value = builder.add_input(kInput);
  uint32_t y_value = builder.add_recurrent(x_value, kInput, c.options);
  uint32_t width = c.options.hidden * (c.options.bidirectional ? 2 : 1);
  if (c.dense) {
    y_value = builder.add_dense(y_value, width, 5, Act::kSigmoid);
    width = 5;
  }
  builder.add_output(y_value);
  const std::vector<uint8_t> blob = builder.build();
  const std::vector<float> x = random_floats(size_t{kSteps} * kBatch * kInput, 900 + index);
  const std::vector<int32_t> lengths = c.ragged ? std::vector<int32_t>{kSteps, 0, 6} : std::vector<int32_t>{};
  std::vector<double> want = run_recurrent(builder.recurrent[0], {x.begin(), x.end()}, kSteps, kBatch, lengths).y;
  if (c.dense) want = run_dense(builder.dense[0], want);

  const std::string id = std::to_string(index);
  const bool causal = !c.options.bidirectional && !c.ragged;
  std::vector<uint8_t> state;
  if (causal) state = state_at(blob, x, kHalf);
  out->bytes("blob_" + id, blob);
  out->floats("x_" + id, x);
  out->floats("want_" + id, want);
  if (causal) out->bytes("state_" + id, state);
  if (c.ragged) out->line("static const int32_t lengths_" + id + "[] = {" + std::to_string(kSteps) + ", 0, 6};");
  const auto number = [](size_t n) { return std::to_string(n) + ", "; };
  return "  {\"" + c.name + "\", blob_" + id + ", " + number(blob.size()) + number(kSteps) + number(kBatch) + number(kInput) +
         number(width) + (c.ragged ? "lengths_" + id : "0") + ", x_" + id + ", want_" + id + ", " + (causal ? "state_" + id : "0") +
         ", " + number(state.size() / kBatch) + std::to_string(kHalf) + "},";
}

void write_all(const char *path) {
  Writer out(path);
  out.line("/* Written by generate_device_cases. */\n#include \"device_case.h\"\n");
  std::string table;
  uint32_t count = 0;
  for (const Case &c : all_cases()) table += write_case(&out, c, count++) + "\n";
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
