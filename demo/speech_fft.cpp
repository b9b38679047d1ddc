// speech_fft.cpp -- see speech_fft.h. SPDX-License-Identifier: Apache-2.0
#include "speech_fft.h"

#include <cmath>
#include <new>

namespace demo {

Fft::Fft(size_t size)
    : size_(size),
      forward_(kiss_fftr_alloc(static_cast<int>(size), 0, nullptr, nullptr)),
      inverse_(kiss_fftr_alloc(static_cast<int>(size), 1, nullptr, nullptr)),
      bins_(size / 2 + 1) {
  if (!forward_ || !inverse_) throw std::bad_alloc();
}

void Fft::forward(const float *frame, Bin *spectrum) {
  kiss_fftr(forward_.get(), frame, bins_.data());
  for (size_t i = 0; i < bins(); ++i) spectrum[i] = {bins_[i].r, bins_[i].i};
}

void Fft::inverse(const Bin *spectrum, float *frame) {
  for (size_t i = 0; i < bins(); ++i) bins_[i] = {spectrum[i].real(), spectrum[i].imag()};
  kiss_fftri(inverse_.get(), bins_.data(), frame);
  for (size_t i = 0; i < size_; ++i) frame[i] /= static_cast<float>(size_);
}

std::vector<float> hann(size_t size) {
  constexpr double kPi = 3.14159265358979323846;
  std::vector<float> window(size);
  for (size_t i = 0; i < size; ++i) {
    window[i] = static_cast<float>(0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / static_cast<double>(size)));
  }
  return window;
}

}  // namespace demo
