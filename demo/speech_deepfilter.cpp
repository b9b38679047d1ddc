// speech_deepfilter.cpp -- see speech_deepfilter.h.
// SPDX-License-Identifier: Apache-2.0
#include "speech_deepfilter.h"

#include <algorithm>
#include <cmath>

namespace demo {
namespace {

constexpr float kKeep = 0.99f;  // of a running mean, a frame: a time constant of a second
constexpr double kPi = 3.14159265358979323846;

float follow(float &mean, float value) {
  return mean = kKeep * mean + (1 - kKeep) * value;
}

// Equal steps from `first` to `last`, as the networks were trained to begin.
template <size_t n>
void ramp(std::array<float, n> &out, float first, float last) {
  for (size_t i = 0; i < n; ++i) out[i] = first + (last - first) * static_cast<float>(i) / float(n - 1);
}

Bin times(Bin a, const float *b) {
  return {a.real() * b[0] - a.imag() * b[1], a.real() * b[1] + a.imag() * b[0]};
}

}  // namespace

// Equal steps on the scale of equivalent rectangular bandwidths. What a band was widened to two bins by, the next lacks.
std::vector<size_t> erb_widths() {
  constexpr int kBands = 32, kBins = 481, kLeast = 2;
  constexpr double kQuality = 9.265, kCorner = 24.7 * kQuality, kTop = 24000;
  const double step = kQuality * std::log1p(kTop / kCorner) / kBands;
  std::vector<size_t> widths;
  int before = 0, borrowed = 0;
  for (int band = 1; band <= kBands; ++band) {
    const int end = static_cast<int>(std::lround(kCorner * std::expm1(band * step / kQuality) / kTop * (kBins - 1)));
    const int wanted = end - before - borrowed, width = std::max(wanted, kLeast);
    borrowed = width - wanted;
    widths.push_back(static_cast<size_t>(width));
    before = end;
  }
  ++widths.back();  // the bin at 24 kHz
  return widths;
}

DeepFilterNet3::DeepFilterNet3(const std::string &encoder, const std::string &band_decoder, const std::string &filter_decoder)
    : encoder_(encoder, {{"feat_erb", kBands}, {"feat_spec", 2 * kFiltered}},
               {{"e0", 64 * 32}, {"e1", 64 * 16}, {"e2", 64 * 8}, {"e3", 64 * 8}, {"emb", 512}, {"c0", 64 * kFiltered}}),
      band_decoder_(band_decoder, {{"emb", 512}, {"e3", 64 * 8}, {"e2", 64 * 8}, {"e1", 64 * 16}, {"e0", 64 * 32}},
                    {{"m", kBands}}),
      filter_decoder_(filter_decoder, {{"emb", 512}, {"c0", 64 * kFiltered}}, {{"coefs", kFiltered * kOrder * 2}}),
      frames_(kFrame, kHop),
      fft_(kFrame),
      widths_(erb_widths()),
      window_(kFrame),
      frame_(kFrame),
      e0_(64 * 32),
      e1_(64 * 16),
      e2_(64 * 8),
      e3_(64 * 8),
      embedding_(512),
      c0_(64 * kFiltered) {
  for (size_t i = 0; i < kFrame; ++i) {  // Vorbis's
    const double sine = std::sin(kPi * (static_cast<double>(i) + 0.5) / kFrame);
    window_[i] = static_cast<float>(std::sin(kPi / 2 * sine * sine));
  }
  reset();
}

void DeepFilterNet3::reset() {
  encoder_.reset();
  band_decoder_.reset();
  filter_decoder_.reset();
  frames_.reset();
  spectra_ = {};
  ramp(band_means_, -60, -90);
  ramp(bin_means_, 0.001f, 0.0001f);
}

// Levels in decibels about their running mean, and bins over the root of the running mean of their size.
void DeepFilterNet3::hear(const Spectrum &now) {
  constexpr float kScale = 1.0f / kFrame;
  size_t bin = 0;
  for (size_t band = 0; band < kBands; ++band) {
    float power = 0;
    for (size_t i = 0; i < widths_[band]; ++i) power += std::norm(now[bin++] * kScale);
    const float level = 10 * std::log10(power / static_cast<float>(widths_[band]) + 1e-10f);
    bands_in_[band] = (level - follow(band_means_[band], level)) / 40;
  }
  for (size_t i = 0; i < kFiltered; ++i) {
    const Bin scaled = now[i] * kScale;
    const float size = std::sqrt(follow(bin_means_[i], std::sqrt(std::norm(scaled))));
    bins_in_[i] = scaled.real() / size;
    bins_in_[kFiltered + i] = scaled.imag() / size;
  }
}

void DeepFilterNet3::run_networks() {
  encoder_.step({bands_in_.data(), bins_in_.data()},
                {e0_.data(), e1_.data(), e2_.data(), e3_.data(), embedding_.data(), c0_.data()});
  band_decoder_.step({embedding_.data(), e3_.data(), e2_.data(), e1_.data(), e0_.data()}, {gains_.data()});
  filter_decoder_.step({embedding_.data(), c0_.data()}, {filters_.data()});
}

// The lowest bins are filtered over the frames before and after, all others are scaled with their band.
void DeepFilterNet3::clean(Spectrum &out) const {
  size_t bin = 0;
  for (size_t band = 0; band < kBands; ++band) {
    for (size_t i = 0; i < widths_[band]; ++i, ++bin) out[bin] = spectra_[kOrder - 1 - kAhead][bin] * gains_[band];
  }
  for (size_t b = 0; b < kFiltered; ++b) {
    out[b] = 0;
    for (size_t k = 0; k < kOrder; ++k) out[b] += times(spectra_[k][b], &filters_[(b * kOrder + k) * 2]);
  }
}

void DeepFilterNet3::process(const float *in, float *out) {
  const std::vector<float> &heard = frames_.push(in);
  for (size_t i = 0; i < kFrame; ++i) frame_[i] = heard[i] * window_[i];
  std::rotate(spectra_.begin(), spectra_.begin() + 1, spectra_.end());
  fft_.forward(frame_.data(), spectra_.back().data());
  hear(spectra_.back());
  run_networks();
  Spectrum cleaned;
  clean(cleaned);
  fft_.inverse(cleaned.data(), frame_.data());
  for (size_t i = 0; i < kFrame; ++i) frame_[i] *= window_[i];
  frames_.add(frame_, out);
}

}  // namespace demo
