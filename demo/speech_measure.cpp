// speech_measure.cpp -- see speech_measure.h.
// SPDX-License-Identifier: Apache-2.0
#include "speech_measure.h"

#include <algorithm>
#include <cmath>

#include "audio.h"

namespace demo {
namespace {

double dot(const std::vector<float> &a, const std::vector<float> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
  return sum;
}

// Uniform in -1 to 1, by Marsaglia's xorshift.
float uniform(uint32_t &state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return static_cast<float>(state >> 8) / 8388608.0f - 1;
}

}  // namespace

// A sum of low-passed white noises of equal power, their corners two octaves apart.
std::vector<float> pink_noise(size_t samples, uint32_t seed) {
  std::vector<float> out(samples);
  uint32_t state = seed * 2654435761u | 1u;
  for (double corner_hz = 30; corner_hz < kSampleRate / 2.0; corner_hz *= 4) {
    const float keep = static_cast<float>(std::exp(-2 * 3.14159265358979 * corner_hz / kSampleRate));
    const float feed = std::sqrt(1 - keep * keep);
    float level = 0;
    for (float &sample : out) sample += level = keep * level + feed * uniform(state);
  }
  return out;
}

std::vector<float> mix(const std::vector<float> &clean, const std::vector<float> &noise, double snr_db) {
  const float gain = rms(clean) / rms(noise) * static_cast<float>(std::pow(10.0, -snr_db / 20));
  std::vector<float> out = clean;
  for (size_t i = 0; i < out.size(); ++i) out[i] += gain * noise[i];
  return out;
}

double si_sdr_db(const std::vector<float> &clean, const std::vector<float> &heard) {
  const double scale = dot(clean, heard) / (dot(clean, clean) + 1e-30), wanted = scale * scale * dot(clean, clean);
  return 10 * std::log10((wanted + 1e-30) / (dot(heard, heard) - wanted + 1e-30));
}

double noise_floor_db(const std::vector<float> &samples) {
  constexpr size_t kFrame = 512;
  std::vector<double> db;
  for (size_t at = 0; at + kFrame <= samples.size(); at += kFrame) {
    const std::vector<float> frame(samples.begin() + static_cast<ptrdiff_t>(at),
                                   samples.begin() + static_cast<ptrdiff_t>(at + kFrame));
    db.push_back(20 * std::log10(std::max(double(rms(frame)), 1e-5)));
  }
  return db.empty() ? -100 : quantile(db, 0.1);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

}  // namespace demo
