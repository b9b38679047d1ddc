// kernel_bench.cpp -- every gemm, recurrent and activation kernel of kernels.inc by itself, beside this machine's limits.
// Each row of output: time, GFLOP/s, GB/s of weights, and the share of the FMA peak measured at start. A batch of one is limited by
// the bytes (compare with the read bandwidth of the cache the weights fit in), many rows by the multiply-adds. Choose with
// --benchmark_filter='lstm_f32_nr16_avx512/'; the minimum of the repetitions is what counts on a shared machine.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/compiled_isa.h"
#include "base/fpenv.h"
#include "kernels/kernels.h"
#include "native/machine_loops.h"
#include "pack/layout.h"
#include "pack/pack.h"
#include "platform/isa_of_cpu.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

double peak_gflops = 1.0;

// 64-byte aligned floats, small and random, never denormal.
class Floats {
 public:
  explicit Floats(size_t n) : data_(static_cast<float *>(std::aligned_alloc(64, (n * sizeof(float) + 127) / 64 * 64)), std::free) {
    for (size_t i = 0; i < n; ++i) data_.get()[i] = 0.0002f * static_cast<float>(std::rand() % 1001 - 500);
  }
  float *get() const { return data_.get(); }

 private:
  std::unique_ptr<float, decltype(&std::free)> data_;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best of many short measurements.
template <class Work>
double best_seconds(Work work) {
  double best = 1.0;
  for (int i = 0; i < 200; ++i) {
    const double start = seconds_now();
    work();
    best = std::min(best, seconds_now() - start);
  }
  return best;
}

void print_limits() {
  const MachineLoops loops = best_machine_loops();
  constexpr size_t kRounds = 2000;
  peak_gflops =
      double(kRounds * loops.flops_per_round) / best_seconds([&] { benchmark::DoNotOptimize(loops.multiply(kRounds)); }) * 1e-9;
  std::printf("%s: FMA peak %.0f GFLOP/s; read GB/s:", loops.isa, peak_gflops);
  const Floats memory(size_t{8} << 20);
  for (size_t kib : {32u, 512u, 8192u}) {
    const double s = best_seconds([&] { benchmark::DoNotOptimize(loops.read(memory.get(), kib << 10, 2)); });
    std::printf(" %zu KiB %.0f", kib, double(2 * (kib << 10)) / s * 1e-9);
  }
  std::printf("\n");
}

void report(benchmark::State &state, double flops, double bytes) {
  const double runs = double(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(flops * runs * 1e-9, benchmark::Counter::kIsRate);
  state.counters["GB/s"] = benchmark::Counter(bytes * runs * 1e-9, benchmark::Counter::kIsRate);
  state.counters["of_peak"] = benchmark::Counter(flops * runs * 1e-9 / peak_gflops, benchmark::Counter::kIsRate);
}

struct Gates {
  uint32_t pre, recurrent;
};
Gates gates_of(KernelFamily family) {
  if (family <= KernelFamily::kRnnGeneric) return {1, 1};
  if (family <= KernelFamily::kLstmGeneric) return {4, 4};
  if (family <= KernelFamily::kGruLinearGeneric) return {3, 3};
  return family <= KernelFamily::kGruGatesGeneric ? Gates{3, 2} : Gates{3, 1};
}

void bench_recur(benchmark::State &state, const Kernel *kernel, uint32_t hidden, uint32_t rows, bool with_x) {
  const FlushDenormals flush;
  const Gates gates = gates_of(kernel->family);
  const uint32_t nr = kernel->nr, tiles = tile_count(hidden, nr);
  const size_t padded = size_t{tiles} * nr;
  const Floats r(matrix_elems(hidden, hidden, gates.recurrent, nr)), w(matrix_elems(hidden, hidden, gates.pre, nr));
  const Floats bias(padded * gates.pre), r_bias(padded), preact(padded * gates.pre * rows), x(size_t{hidden} * rows);
  const Floats h0(padded * rows), h1(padded * rows), c(padded * rows), z(padded * rows), rh(padded * rows), y(padded * rows);

  RecurArgs args = {};
  args.r = r.get();
  args.w = w.get();
  args.bias = bias.get();
  args.r_bias = r_bias.get();
  args.preact = preact.get();
  args.preact_row_bytes = padded * gates.pre * sizeof(float);
  args.x = with_x ? x.get() : nullptr;
  args.x_row_bytes = size_t{hidden} * sizeof(float);
  args.c = c.get();
  args.z = z.get();
  args.rh = rh.get();
  args.state_row_bytes = padded * sizeof(float);
  args.y = y.get();
  args.y_row_bytes = size_t{hidden} * sizeof(float);
  args.rows = rows;
  args.input_size = hidden;
  args.hidden_size = hidden;
  args.recurrent_k = hidden;
  args.tile_end = tiles;
  args.cell.act[0].act = uint32_t(kernel->family == KernelFamily::kRnnGeneric ? Act::kTanh : Act::kSigmoid);
  args.cell.act[1].act = args.cell.act[2].act = uint32_t(Act::kTanh);
  for (auto _ : state) {
    args.descending = !args.descending;
    args.h_prev = args.descending ? h0.get() : h1.get();
    args.h_next = args.descending ? h1.get() : h0.get();
    kernel->recur(&args);
  }
  const double weights = double(hidden) * double(padded) * (gates.recurrent + (with_x ? gates.pre : 0));
  report(state, 2.0 * weights * rows, sizeof(float) * weights);
}

// The dense format that a kGemm kernel reads.
const PanelFormat &format_of(const Kernel &kernel) {
  for (const PanelFormat &f : kPanelFormats) {
    if ((f.factor == DType::kBf16) != (kernel.family == KernelFamily::kGemmDot)) continue;
    if (f.weight == kernel.dtype && f.nr == kernel.nr && !is_sparse(f) && !is_fixed_point(f) && !gates_are_apart(f)) return f;
  }
  std::abort();
}

void bench_gemm(benchmark::State &state, const Kernel *kernel, uint32_t rows, uint32_t k) {
  const PanelFormat &format = format_of(*kernel);
  const uint32_t gates = kernel->family == KernelFamily::kGemmDot ? 4 : gemm_gates(kernel->family), units = 512 / gates / 16 * 16,
                 tiles = panel_count(format, units);
  const size_t width = size_t{tiles} * kernel->nr * gates;
  const Floats a(size_t{rows} * k), m(size_t{units} * gates * k), bias(width), out(width * rows);
  const PackedMatrix packed = pack_matrix(format, {m.get(), units, k, 0, gates, 0});
  const Floats panels(packed.panels.size() / sizeof(float) + 1), scratch(lhs_scratch_bytes(format, k, rows) / sizeof(float) + 16);
  std::copy(packed.panels.begin(), packed.panels.end(), reinterpret_cast<uint8_t *>(panels.get()));
  GemmArgs args = {};
  args.a = a.get();
  args.a_row_bytes = size_t{k} * sizeof(float);
  args.w.panels = panels.get();
  args.w.scales = packed.scales.data();
  args.w.unit_sums = packed.unit_sums.data();
  args.w.group_k = packed.group_k;
  args.scratch = scratch.get();
  args.start = bias.get();
  args.out = out.get();
  args.out_row_bytes = width * sizeof(float);
  args.rows = rows;
  args.w.k = k;
  args.w.gates = static_cast<uint8_t>(gates);
  args.tile_end = tiles;
  for (auto _ : state) kernel->gemm(&args);
  report(state, 2.0 * double(width) * k * rows, double(packed.panels.size()));
}

void bench_act(benchmark::State &state, const Kernel *kernel, Act act) {
  constexpr size_t kElems = 1024;
  const FlushDenormals flush;
  const Floats x(kElems), y(kElems);
  const ActArgs args = {x.get(), y.get(), kElems, {uint32_t(act), 1.0f, 0.0f}};
  for (auto _ : state) kernel->act(&args);
  state.counters["elems/s"] = benchmark::Counter(double(kElems) * double(state.iterations()), benchmark::Counter::kIsRate);
}

double minimum(const std::vector<double> &v) {
  return *std::min_element(v.begin(), v.end());
}

template <class Work>
void add(const std::string &name, Work work) {
  benchmark::RegisterBenchmark(name.c_str(), work)
      ->MinTime(0.002)
      ->Repetitions(20)
      ->ReportAggregatesOnly(true)
      ->ComputeStatistics("min", minimum);
}

void add_recur(const Kernel *k) {
  const bool slow = k->isa == 0;
  for (uint32_t hidden : {16u, 32u, 64u, 128u, 256u, 512u, 1024u}) {
    if (slow && hidden > 128) break;
    for (uint32_t rows : {1u, 4u, 10u, 20u})
      add(std::string(k->name) + "/H" + std::to_string(hidden) + "/rows" + std::to_string(rows),
          [=](benchmark::State &s) { bench_recur(s, k, hidden, rows, false); });
    if (k->family < KernelFamily::kGruGates)
      add(std::string(k->name) + "/H" + std::to_string(hidden) + "/step_with_x",
          [=](benchmark::State &s) { bench_recur(s, k, hidden, 1, true); });
  }
}

void add_gemm(const Kernel *k) {
  for (uint32_t depth : {64u, 256u, 512u, 1600u})
    for (uint32_t rows : {1u, 10u, 20u, 100u, 300u}) {
      if (k->isa == 0 && rows * depth > 6400) continue;
      add(std::string(k->name) + "/K" + std::to_string(depth) + "/rows" + std::to_string(rows),
          [=](benchmark::State &s) { bench_gemm(s, k, rows, depth); });
    }
}

void add_act(const Kernel *k) {
  const std::pair<const char *, Act> acts[] = {{"sigmoid", Act::kSigmoid}, {"tanh", Act::kTanh},         {"exp", Act::kExp},
                                               {"log", Act::kLog},         {"softplus", Act::kSoftplus}, {"relu", Act::kRelu}};
  for (const auto &act : acts)
    add(std::string(k->name) + "/" + act.first, [=](benchmark::State &s) { bench_act(s, k, act.second); });
}

void add_all() {
  for (uint32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel *k = kAllKernels.rows[i];
    if ((k->isa & ~(kCompiledIsa | isa_of_cpu())) != 0) continue;
    if (k->family <= KernelFamily::kGemm4 || k->family == KernelFamily::kGemmDot) add_gemm(k);
    // Cells of integer-only layers take other operands.
    if (k->family > KernelFamily::kGemm4 && k->family < KernelFamily::kAct && k->dtype == DType::kF32) add_recur(k);
    if (k->family == KernelFamily::kAct) add_act(k);
  }
}

}  // namespace
}  // namespace rnnp

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  rnnp::print_limits();
  rnnp::add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
