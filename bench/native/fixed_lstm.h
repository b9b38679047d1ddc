// fixed_lstm.h -- a stand-in for the LSTM amplifiers of audio plug-ins, as their developers write them: sizes known when compiling,
// Eigen for the products, a rational tanh, -ffast-math. One sample in, one out.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BENCH_NATIVE_FIXED_LSTM_H_
#define RNNPACK_BENCH_NATIVE_FIXED_LSTM_H_

#include <cstddef>
#include <memory>
#include <vector>

namespace rnnpack_bench {

class FixedLstm {
 public:
  virtual ~FixedLstm() = default;
  virtual void process(const float *x, float *y, size_t steps) = 0;
};

// For each layer w [4H][I + H] (gates i, f, c, o), b [4H], then the output layer's [H] and its bias, one after the other. nullptr
// for sizes that were not compiled in.
std::unique_ptr<FixedLstm> make_fixed_lstm(int layers, int hidden, const std::vector<float> &weights);

}  // namespace rnnpack_bench
#endif  // RNNPACK_BENCH_NATIVE_FIXED_LSTM_H_
