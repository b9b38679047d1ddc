// speech_fft.h -- the spectrum of a real frame and back; a plain transform, so that the demo needs no library for it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_FFT_H_
#define RNNPACK_DEMO_SPEECH_FFT_H_

#include <complex>
#include <vector>

namespace demo {

using Bin = std::complex<float>;

class Fft {
 public:
  explicit Fft(size_t size);  // even; fast where few odd factors are in it

  size_t bins() const { return work_.size() / 2 + 1; }
  void forward(const float *frame, Bin *spectrum);  // size floats -> bins()
  void inverse(const Bin *spectrum, float *frame);  // bins() -> size floats; undoes forward

 private:
  void transform();       // work_ in place
  void odd_transforms();  // those of odd_ neighbours each

  size_t odd_;                     // the odd factor of the size
  std::vector<Bin> work_, roots_;  // roots_[i]: e to the power of -2 pi i / size
  std::vector<Bin> few_;           // a transform of odd_
  std::vector<size_t> place_;      // in work_, where the sample goes
};

std::vector<float> hann(size_t size);  // periodic

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_FFT_H_
