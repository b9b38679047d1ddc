// speech_fft.cpp -- see speech_fft.h. Decimation in time: reorder by reversed index bits, transform what is odd by its sum, then
// double the length of the transforms.
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

Fft::Fft(size_t size) : odd_(size), work_(size), roots_(size), place_(size) {
  while (odd_ % 2 == 0) odd_ /= 2;
  few_.resize(odd_);
  for (size_t i = 0; i < size; ++i) {
    const double angle = -2 * kPi * static_cast<double>(i) / static_cast<double>(size);
    roots_[i] = Bin(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  }
  const size_t leaves = size / odd_;
  std::vector<size_t> reversed(leaves);
  for (size_t i = 1; i < leaves; ++i) reversed[i] = reversed[i / 2] / 2 + (i % 2) * (leaves / 2);
  for (size_t i = 0; i < size; ++i) place_[i] = reversed[i % leaves] * odd_ + i / leaves;
}

void Fft::odd_transforms() {
  const size_t apart = work_.size() / odd_;
  for (size_t base = 0; base < work_.size(); base += odd_) {
    for (size_t out = 0; out < odd_; ++out) {
      few_[out] = work_[base];
      for (size_t in = 1; in < odd_; ++in) few_[out] += times(work_[base + in], roots_[in * out % odd_ * apart]);
    }
    for (size_t out = 0; out < odd_; ++out) work_[base + out] = few_[out];
  }
}

void Fft::transform() {
  const size_t size = work_.size();
  if (odd_ > 1) odd_transforms();
  for (size_t half = odd_; half < size; half *= 2) {
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
  for (size_t i = 0; i < work_.size(); ++i) work_[place_[i]] = frame[i];
  transform();
  for (size_t i = 0; i < bins(); ++i) spectrum[i] = work_[i];
}

// The conjugate of the transform of the conjugate, over the size; the upper half of a real frame's spectrum mirrors the lower.
void Fft::inverse(const Bin *spectrum, float *frame) {
  const size_t size = work_.size();
  for (size_t i = 0; i < size; ++i) work_[place_[i]] = i < bins() ? std::conj(spectrum[i]) : spectrum[size - i];
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
