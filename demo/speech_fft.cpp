// speech_fft.cpp -- see speech_fft.h. Decimation in time: reorder by reversed index bits, then double the length of the transforms.
// SPDX-License-Identifier: Apache-2.0
#include "speech_fft.h"

#include <cmath>

namespace demo {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Without the rules for infinities that std::complex follows.
Bin times(Bin a, Bin b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

Fft::Fft(size_t size) : work_(size), roots_(size / 2), reversed_(size) {
  for (size_t i = 0; i < size / 2; ++i) {
    const double angle = -2 * kPi * static_cast<double>(i) / static_cast<double>(size);
    roots_[i] = Bin(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  }
  for (size_t i = 1; i < size; ++i) reversed_[i] = reversed_[i / 2] / 2 + (i % 2) * (size / 2);
}

void Fft::transform() {
  const size_t size = work_.size();
  for (size_t half = 1; half < size; half *= 2) {
    for (size_t base = 0; base < size; base += 2 * half) {
      for (size_t i = 0; i < half; ++i) {
        const Bin even = work_[base + i], odd = times(work_[base + i + half], roots_[i * (size / 2 / half)]);
        work_[base + i] = even + odd;
        work_[base + i + half] = even - odd;
      }
    }
  }
}

void Fft::forward(const float *frame, Bin *spectrum) {
  for (size_t i = 0; i < work_.size(); ++i) work_[reversed_[i]] = frame[i];
  transform();
  for (size_t i = 0; i < bins(); ++i) spectrum[i] = work_[i];
}

// The conjugate of the transform of the conjugate, over the size; the upper half of a real frame's spectrum mirrors the lower.
void Fft::inverse(const Bin *spectrum, float *frame) {
  const size_t size = work_.size();
  for (size_t i = 0; i < size; ++i) work_[reversed_[i]] = i < bins() ? std::conj(spectrum[i]) : spectrum[size - i];
  transform();
  for (size_t i = 0; i < size; ++i) frame[i] = work_[i].real() / static_cast<float>(size);
}

std::vector<float> hann(size_t size) {
  std::vector<float> window(size);
  for (size_t i = 0; i < size; ++i) {
    window[i] = static_cast<float>(0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / static_cast<double>(size)));
  }
  return window;
}

}  // namespace demo
