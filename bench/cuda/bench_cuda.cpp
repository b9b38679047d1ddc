// bench_cuda.cpp -- recurrent layers on this machine's GPU, as tables of Markdown: us a step of a call (launch, run and wait), the
// resident kernel beside a launch for each step, cuDNN's algorithms by name and this machine's CPU, in turns in one process.
// Outputs are poisoned before and compared after. Clocks are read, not set. Ends with 77 where there is no GPU.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>

#include "cuda/cuda_runner.h"
#include "cudnn_peer.h"

namespace {

using namespace rnnp_test;
using rnnp::Cell;
using rnnp_bench::CudnnAlgorithm;
using rnnp_bench::CudnnLayer;

constexpr int kRounds = 9;

struct Row {
  const char *name;
  Cell cell;
  uint32_t hidden, steps, batch;
};
const Row kRows[] = {{"LSTM", Cell::kLstm, 128, 64, 1},
                     {"LSTM", Cell::kLstm, 256, 150, 1},
                     {"GRU", Cell::kGruLinear, 256, 150, 1},
                     {"LSTM", Cell::kLstm, 512, 25, 1},
                     {"LSTM", Cell::kLstm, 512, 300, 1},
                     {"LSTM", Cell::kLstm, 512, 300, 8},
                     {"LSTM", Cell::kLstm, 256, 150, 16},
                     {"LSTM", Cell::kLstm, 1024, 25, 1},
                     {"LSTM", Cell::kLstm, 800, 300, 20},
                     {"GRU", Cell::kGruLinear, 512, 300, 1},
                     {"GRU", Cell::kGruLinear, 1024, 1500, 1},
                     {"GRU, resets first", Cell::kGru, 512, 300, 1},
                     {"LSTM, layer norms", Cell::kLstmNorm, 512, 300, 1}};

std::string label_of(const Row &row) {
  return std::string(row.name) + " " + std::to_string(row.hidden) + ", T " + std::to_string(row.steps) + ", batch " +
         std::to_string(row.batch);
}

struct Kind {
  const char *name;
  uint32_t weights;
  rnnp::DType panels;
};
const Kind kKinds[] = {{"f16", RNNP_CUDA_F16, rnnp::DType::kF32},
                       {"f32", RNNP_CUDA_F32, rnnp::DType::kF32},
                       {"int8", RNNP_CUDA_F16, rnnp::DType::kI8}};

// One who runs the row: seconds of a call, all times so far, and what came out.
struct Contender {
  std::string name;
  std::function<double()> call;
  std::function<std::vector<float>()> output;
  std::vector<double> seconds;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double largest_difference(const std::vector<float> &a, const std::vector<float> &b) {
  double worst = a.size() == b.size() ? 0 : HUGE_VAL;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = std::isnan(d) ? HUGE_VAL : std::max(worst, d);
  }
  return worst;
}

// What one row and kind needs while it is measured.
class Measurement {
 public:
  Measurement(const Row &row, const Kind &kind, const rnnp_cuda_device &device, bool with_cpu)
      : row_(row),
        kind_(kind),
        device_(device),
        with_cpu_(with_cpu),
        x_(random_floats(size_t{row.steps} * row.batch * row.hidden, 1)),
        on_device_(x_) {
    BlobBuilder b(1, 16);
    b.weights = b.recurrent_weights = kind.panels;
    b.one_recurrent_step = true;
    RecurrentOptions layer;
    layer.cell = row.cell;
    layer.hidden = row.hidden;
    layer.by_gate = layer.keeps_c = row.cell == Cell::kLstmNorm;
    b.add_output(b.add_recurrent(b.add_input(row.hidden), row.hidden, layer));
    blob_ = b.build();
    layer_ = b.recurrent[0];
  }

  void print() {
    add_ours("ours", 0);
    add_ours("ours, a launch a step", RNNP_CUDA_STEPS);
    if (ours_[0]->layer().kernel == RNNP_CUDA_CLUSTER) add_ours("ours, no cluster", RNNP_CUDA_RESIDENT);
    if (kind_.panels == rnnp::DType::kF32) add_cudnn();
    if (with_cpu_) add_cpu();
    for (int i = 0; i <= kRounds; ++i) {  // the first round warms up
      for (Contender &r : runners_) {
        const double s = r.call();
        if (i != 0) r.seconds.push_back(s);
      }
    }
    const std::vector<float> want = runners_[0].output();
    for (Contender &r : runners_) {
      const double us = median(r.seconds) * 1e6;
      std::printf("| %s | %s | %s | %.2f | %.1f | %.1e |\n", label_of(row_).c_str(), kind_.name, r.name.c_str(), us / row_.steps,
                  us, largest_difference(r.output(), want));
    }
    for (const std::string &line : refused_) std::puts(line.c_str());
    const rnnp_cuda_layer_info facts = ours_[0]->layer();
    reasons_ = std::string(row_.name) + " " + std::to_string(row_.hidden) + " " + kind_.name + ": predicted " +
               std::to_string(facts.predicted_ns) + " ns a step; " + facts.reason;
  }
  const std::string &reason() const { return reasons_; }

 private:
  void add_ours(const char *name, uint32_t kernels) {
    CudaOptions o;
    o.weights = kind_.weights;
    o.batch = row_.batch;
    o.chunk = row_.steps;
    o.spins = 0;
    o.device = &device_;
    o.kernels = kernels;
    ours_.push_back(std::make_unique<CudaRunner>(blob_, o));
    outputs_.push_back(std::make_unique<SharedArray<float>>(x_.size(), NAN));
    CudaRunner *runner = ours_.back().get();
    SharedArray<float> *y = outputs_.back().get();
    runners_.push_back({name,
                        [this, runner, y] {
                          runner->reset();
                          expect_ok(rnnp_cuda_wait(runner->session(), nullptr), "wait");
                          const double begin = now();
                          expect_ok(rnnp_cuda_run(runner->session(), row_.steps, on_device_.data(), y->data(), nullptr), "run");
                          expect_ok(rnnp_cuda_wait(runner->session(), nullptr), "wait");
                          return now() - begin;
                        },
                        [y] { return y->vector(); },
                        {}});
  }

  void add_cudnn() {
    for (const CudnnAlgorithm a : {CudnnAlgorithm::kStandard, CudnnAlgorithm::kPersistent, CudnnAlgorithm::kSmallHidden}) {
      std::string why;
      auto peer = rnnp_bench::make_cudnn_layer(layer_, x_, {row_.steps, row_.batch, kind_.weights == RNNP_CUDA_F16}, a, &why);
      if (peer == nullptr) {
        refused_.push_back("| " + std::string(row_.name) + " " + std::to_string(row_.hidden) + " | " + kind_.name + " | " +
                           rnnp_bench::name_of(a) + " | " + why + " | | |");
        continue;
      }
      CudnnLayer *layer = peer.get();
      peers_.push_back(std::move(peer));
      runners_.push_back({rnnp_bench::name_of(a), [layer] { return layer->run(); }, [layer] { return layer->output(); }, {}});
    }
  }

  void add_cpu() {
    Options o;
    o.batch = row_.batch;
    cpu_ = std::make_unique<Runner>(blob_, o);
    cpu_y_.assign(x_.size(), NAN);
    runners_.push_back({"our CPU path, one thread",
                        [this] {
                          expect_ok(rnnp_state_reset(cpu_->session(), RNNP_ALL_ROWS), "reset");
                          const double begin = now();
                          expect_ok(rnnp_run(cpu_->session(), row_.steps, x_.data(), cpu_y_.data()), "run");
                          return now() - begin;
                        },
                        [this] { return cpu_y_; },
                        {}});
  }

  Row row_;
  Kind kind_;
  rnnp_cuda_device device_;
  bool with_cpu_;
  std::vector<float> x_;
  SharedArray<float> on_device_;
  std::vector<uint8_t> blob_;
  RecurrentLayer layer_;
  std::vector<std::unique_ptr<CudaRunner>> ours_;
  std::vector<std::unique_ptr<SharedArray<float>>> outputs_;
  std::vector<std::unique_ptr<CudnnLayer>> peers_;
  std::unique_ptr<Runner> cpu_;
  std::vector<float> cpu_y_;
  std::vector<Contender> runners_;
  std::vector<std::string> refused_;
  std::string reasons_;
};

}  // namespace

int main(int argc, char **argv) {
  rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
  if (rnnp_cuda_device_query(-1, &device) != RNNP_OK) {
    std::puts("no GPU: nothing was run");
    return 77;
  }
  std::printf(
      "Layers, input as wide as hidden: medians of %d calls in turns, launch and wait included; sm_%u, %u SMs, at most %u MHz."
      " The difference is the largest from the first of the row's.\n\n",
      kRounds, device.arch / 10, device.sm_count, device.clock_mhz);
  std::puts("| layer | weights | by | us a step | us a call | difference |\n|---|---|---|---|---|---|");
  std::vector<std::string> reasons;
  bool with_cpu = true;   // it takes minutes
  const char *only = "";  // rows whose first two columns hold this
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-cpu") == 0) with_cpu = false;
    if (std::strncmp(argv[i], "--only=", 7) == 0) only = argv[i] + 7;
  }
  for (const Row &row : kRows) {
    for (const Kind &kind : kKinds) {
      if ((label_of(row) + " | " + kind.name).find(only) == std::string::npos) continue;
      try {
        Measurement m(row, kind, device, with_cpu);
        m.print();
        reasons.push_back(m.reason());
      } catch (const std::exception &failure) {  // of this row; the others go on
        std::printf("| %s | %s | failed: %s | | | |\n", label_of(row).c_str(), kind.name, failure.what());
      }
      std::fflush(stdout);
    }
  }
  std::puts("");
  for (const std::string &line : reasons) std::printf("- %s\n", line.c_str());
  return 0;
}
