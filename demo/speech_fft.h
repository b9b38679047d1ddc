// speech_fft.h -- the spectrum of a real frame and back, by kissfft. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_FFT_H_
#define RNNPACK_DEMO_SPEECH_FFT_H_

#include <kiss_fftr.h>

#include <complex>
#include <memory>
#include <vector>

namespace demo {

using Bin = std::complex<float>;

class Fft {
 public:
  explicit Fft(size_t size);  // even; fast where its factors are small

  size_t bins() const { return size_ / 2 + 1; }
  void forward(const float *frame, Bin *spectrum);  // size floats -> bins()
  void inverse(const Bin *spectrum, float *frame);  // bins() -> size floats; undoes forward

 private:
  struct Free {
    void operator()(kiss_fftr_state *plan) const { kiss_fftr_free(plan); }
  };
  using Plan = std::unique_ptr<kiss_fftr_state, Free>;

  size_t size_;
  Plan forward_, inverse_;
  std::vector<kiss_fft_cpx> bins_;
};

std::vector<float> hann(size_t size);  // periodic

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_FFT_H_
