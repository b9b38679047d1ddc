// phase_times.cu -- where a step of a resident kernel spends its clocks: a table of some layers, the phases of warp 0 and of the
// last warp averaged over blocks and steps, beside what a step takes, a long run less a short one. The kernels are compiled here
// with their clocks on (phase_clock.h), so a step takes a little longer than in the library. Weights are random; a hash of y that
// changes from run to run is a race. Ends with 77 where there is no GPU. SPDX-License-Identifier: Apache-2.0
#define RNNPACK_CUDA_PHASES
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda/kernels/resident_cluster_f32.h"
#include "gpu_program.h"

namespace {

using namespace rnnp;
using namespace rnnp::cuda;
using rnnp_bench::need;

constexpr uint32_t kShortRun = 300, kLongRun = 3000, kRounds = 5;

struct Layer {
  const char *name;
  const void *kernel;
  Weights weights;
  Cell cell;
  uint32_t hidden, units, batch, held;
  uint32_t rows = 0;  // of the batch, of a cluster; 0: there is none
};

class Memory {
 public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    for (void *p : all_) cudaFree(p);
  }
  template <class T>
  T *take(size_t count) {
    void *p = nullptr;
    need(cudaMalloc(&p, count * sizeof(T)), "cudaMalloc");
    need(cudaMemset(p, 0, count * sizeof(T)), "cudaMemset");
    all_.push_back(p);
    return static_cast<T *>(p);
  }
  template <class T>
  T *take(const std::vector<T> &v) {
    T *p = take<T>(v.size());
    need(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return p;
  }

 private:
  std::vector<void *> all_;
};

class Random {
 public:
  // Of -1 to 1.
  float number() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(state_ >> 8) % 1000) * 1e-3f;
  }
  std::vector<float> numbers(size_t count) {
    std::vector<float> v(count);
    for (float &x : v) x = number();
    return v;
  }
  // An image of random weights that keep h apart from its bounds.
  std::vector<uint8_t> image(Weights weights, size_t bytes, uint32_t hidden) {
    std::vector<uint8_t> v(bytes);
    const float size = 2.0f / std::sqrt(static_cast<float>(hidden));
    for (size_t i = 0; i < bytes;) {
      const float x = number() * size;
      if (weights == Weights::kF32) {
        memcpy(&v[i], &x, sizeof x), i += sizeof x;
      } else if (weights == Weights::kF16) {
        const __half h = __float2half(x);
        memcpy(&v[i], &h, sizeof h), i += sizeof h;
      } else {
        v[i++] = static_cast<uint8_t>(static_cast<int8_t>(x / size * 127.0f));
      }
    }
    return v;
  }

 private:
  uint32_t state_ = 12345;
};

double run_us(const Layer &l, RecurrentArgs *a, uint32_t blocks, uint32_t shared, uint32_t steps) {
  a->steps = steps;
  need(cudaMemset(a->h, 0, a->state_row * l.batch * sizeof(float)), "cudaMemset");
  need(cudaMemset(a->c, 0, a->state_row * l.batch * sizeof(float)), "cudaMemset");
  const uint32_t clusters = l.rows == 0 ? 1 : ceil_div(l.batch, l.rows);
  return rnnp_bench::launch_us(l.kernel, a, blocks * clusters, shared, l.rows == 0 ? 0 : blocks);
}

uint64_t hash_of(const std::vector<float> &v) {
  uint64_t hash = 1469598103934665603u;
  for (const float x : v) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

void print(const Layer &l) {
  const uint32_t gates = gates_of(l.cell), blocks = ceil_div(l.hidden, l.units);
  const Shape s = {gates, l.hidden, l.units};
  const uint32_t rows = block_rows(l.weights, s);
  Memory memory;
  Random random;
  RecurrentArgs a = {};
  a.r = memory.take(random.image(l.weights, image_bytes(l.weights, s) * blocks, l.hidden));
  a.preact = memory.take(random.numbers(size_t{kLongRun} * l.batch * blocks * rows));
  a.preact_row = uint64_t{blocks} * rows;
  a.r_bias = memory.take(random.numbers(l.hidden));
  a.r_bytes.scale = memory.take(std::vector<float>(size_t{blocks} * rows, 2e-4f));
  a.r_bytes.factor = a.candidate_factor = 1.0f / 127.0f;
  a.state_row = a.y_row = l.hidden;
  a.h = memory.take<float>(l.batch * l.hidden), a.c = memory.take<float>(l.batch * l.hidden);
  a.y = memory.take<float>(size_t{kLongRun} * l.batch * l.hidden);
  a.word_count = 4 * l.batch * most_row_words(l.hidden);
  a.words = memory.take<uint64_t>(a.word_count);
  a.control = memory.take<uint32_t>(kControlWords + kFindings), a.findings = a.control + kControlWords;
  a.hidden = a.input = l.hidden, a.units = l.units, a.batch = l.batch, a.spin_limit = 1u << 22;
  a.columns = l.weights == Weights::kF32 ? l.batch : std::min(l.batch, kMmaColumns);
  a.places = 2;
  a.rules.act[0].act = static_cast<uint32_t>(l.cell == Cell::kRnn ? Act::kTanh : Act::kSigmoid);
  a.rules.act[1].act = a.rules.act[2].act = static_cast<uint32_t>(Act::kTanh);
  uint32_t shared = l.weights == Weights::kF32 ? resident_f32_shared(s, l.batch, l.held).bytes
                                               : resident_mma_shared(in_halves(l.weights, s), l.batch, a.columns, l.held).bytes;
  if (l.rows != 0) {
    a.columns = l.rows;
    shared = l.weights == Weights::kF32 ? resident_cluster_f32_shared(l.held).bytes
                                        : resident_cluster_shared(gates * l.units / 8, l.rows, l.held).bytes;
    need(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "clusters of 16");
  }
  need(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
       "cudaFuncSetAttribute");
  std::vector<double> all;
  for (uint32_t i = 0; i <= kRounds; ++i) {  // the first warms up
    const double few = run_us(l, &a, blocks, shared, kShortRun), many = run_us(l, &a, blocks, shared, kLongRun);
    if (i != 0) all.push_back((many - few) / (kLongRun - kShortRun));
  }
  std::sort(all.begin(), all.end());
  std::vector<float> y(size_t{kLongRun} * l.batch * l.hidden);
  need(cudaMemcpy(y.data(), a.y, y.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  uint32_t control[kControlWords];
  need(cudaMemcpy(control, a.control, sizeof control, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<unsigned long long> clocks(size_t{kMostClockedBlocks} * kWarps * kPhases);
  need(cudaMemcpyFromSymbol(clocks.data(), phase_clocks, clocks.size() * sizeof clocks[0]), "cudaMemcpyFromSymbol");
  for (const uint32_t warp : {0u, kWarps - 1}) {
    printf("| %s | %u | %u | %.3f |", l.name, blocks, warp, all[all.size() / 2]);
    for (uint32_t phase = 0; phase < kPhases; ++phase) {
      unsigned long long sum = 0;
      for (uint32_t block = 0; block < blocks; ++block) sum += clocks[(block * kWarps + warp) * kPhases + phase];
      printf(" %.0f |", static_cast<double>(sum) / blocks / kLongRun);
    }
    printf(" %08x%s |\n", static_cast<uint32_t>(hash_of(y) >> 32), control[kTimedOut] != 0 ? ", timed out" : "");
  }
  fflush(stdout);
}

#define MMA(weights, cell, half_tiles, held) \
  reinterpret_cast<const void *>(resident_mma<weights, cell, half_tiles, held, false>), weights, cell
#define CLUSTER(cell, half_tiles, held) \
  reinterpret_cast<const void *>(resident_cluster<Weights::kF16, cell, half_tiles, held>), Weights::kF16, cell
#define CLUSTER_F32(cell, rows, groups) \
  reinterpret_cast<const void *>(resident_cluster_f32<cell, rows, groups>), Weights::kF32, cell
#define F32(cell, rows, held) reinterpret_cast<const void *>(resident_f32<cell, rows, held, false>), Weights::kF32, cell

}  // namespace

int main() {
  const uint32_t sms = rnnp_bench::sms_of_gpu();
  if (sms == 0) return 77;
  const Layer layers[] = {
      {"LSTM 256, f16", MMA(Weights::kF16, Cell::kLstm, 4, 10), 256, 8, 1, 10},
      {"LSTM 512, f16", MMA(Weights::kF16, Cell::kLstm, 4, 10), 512, 8, 1, 10},
      {"LSTM 1024, f16", MMA(Weights::kF16, Cell::kLstm, 4, 10), 1024, 8, 1, 10},
      {"LSTM 512, f16, batch 8", MMA(Weights::kF16, Cell::kLstm, 4, 10), 512, 8, 8, 10},
      {"LSTM 512, f16, batch 20", MMA(Weights::kF16, Cell::kLstm, 4, 10), 512, 8, 20, 10},
      {"LSTM 512, int8", MMA(Weights::kI8, Cell::kLstm, 8, 5), 512, 16, 1, 5},
      {"GRU 512, f16", MMA(Weights::kF16, Cell::kGruLinear, 3, 14), 512, 8, 1, 14},
      {"GRU 1024, f16", MMA(Weights::kF16, Cell::kGruLinear, 3, 14), 1024, 8, 1, 14},
      {"GRU 512, resets first, f16", MMA(Weights::kF16, Cell::kGru, 3, 14), 512, 8, 1, 14},
      {"LSTM 512, f16, 16 blocks", MMA(Weights::kF16, Cell::kLstm, 16, 5), 512, 32, 1, 5},
      {"LSTM 256, f32", F32(Cell::kLstm, 4, 20), 256, 8, 1, 20},
      {"LSTM 512, f32", F32(Cell::kLstm, 4, 20), 512, 8, 1, 20},
      {"LSTM 1024, f32", F32(Cell::kLstm, 4, 20), 1024, 8, 1, 20},
      {"LSTM 512, f32, batch 8", F32(Cell::kLstm, 4, 20), 512, 8, 8, 20},
      {"GRU 512, f32", F32(Cell::kGruLinear, 4, 20), 512, 8, 1, 20},
      {"LSTM 128, f16, cluster", CLUSTER(Cell::kLstm, 4, 1), 128, 8, 1, 1, 1},
      {"LSTM 256, f16, cluster", CLUSTER(Cell::kLstm, 8, 2), 256, 16, 1, 2, 1},
      {"LSTM 512, f16, cluster", CLUSTER(Cell::kLstm, 16, 4), 512, 32, 1, 4, 1},
      {"LSTM 512, f16, 4 clusters, batch 8", CLUSTER(Cell::kLstm, 16, 4), 512, 32, 8, 4, 2},
      {"LSTM 512, f16, 7 clusters, batch 7", CLUSTER(Cell::kLstm, 16, 4), 512, 32, 7, 4, 1},
      {"LSTM 512, f16, 8 clusters, batch 8", CLUSTER(Cell::kLstm, 16, 4), 512, 32, 8, 4, 1},
      {"LSTM 256, f16, 7 clusters, batch 28", CLUSTER(Cell::kLstm, 8, 2), 256, 16, 28, 2, 4},
      {"LSTM 256, f16, 14 clusters, batch 28", CLUSTER(Cell::kLstm, 16, 4), 256, 32, 28, 4, 2},
      {"LSTM 128, f32, cluster", CLUSTER_F32(Cell::kLstm, 4, 2), 128, 8, 1, 2, 1},
      {"LSTM 256, f32, cluster", CLUSTER_F32(Cell::kLstm, 8, 4), 256, 16, 1, 4, 1},
      {"LSTM 256, f32, cluster of 8", CLUSTER_F32(Cell::kLstm, 16, 6), 256, 32, 1, 6, 1},
      {"LSTM 384, f32, cluster", CLUSTER_F32(Cell::kLstm, 16, 6), 384, 32, 1, 6, 1},
      {"GRU 256, f32, cluster", CLUSTER_F32(Cell::kGruLinear, 8, 4), 256, 16, 1, 4, 1},
      {"GRU 512, f32, cluster", CLUSTER_F32(Cell::kGruLinear, 16, 8), 512, 32, 1, 8, 1},
      {"GRU 256, f16, cluster", CLUSTER(Cell::kGruLinear, 6, 2), 256, 16, 1, 2, 1},
      {"GRU 512, f16, cluster", CLUSTER(Cell::kGruLinear, 12, 4), 512, 32, 1, 4, 1},
  };
  printf("us a step and clocks of its phases: %u SMs, steps %u less %u.\n\n", sms, kLongRun, kShortRun);
  puts("| layer | blocks | warp | us a step | ask | poll | products | barrier | cells | publish | store | hash of y |");
  puts("|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Layer &l : layers) {
    cudaFuncAttributes facts = {};
    need(cudaFuncGetAttributes(&facts, l.kernel), l.name);
    if (ceil_div(l.hidden, l.units) <= sms && (l.rows == 0 || facts.ptxVersion >= 90)) print(l);
  }
  return 0;
}
