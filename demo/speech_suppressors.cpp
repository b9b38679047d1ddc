// speech_suppressors.cpp -- see speech_suppressors.h.
// SPDX-License-Identifier: Apache-2.0
#include "speech_suppressors.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "audio.h"

namespace demo {

const std::vector<float> &Frames::push(const float *block) {
  std::copy(in_.begin() + static_cast<ptrdiff_t>(hop_), in_.end(), in_.begin());
  std::copy(block, block + hop_, in_.end() - static_cast<ptrdiff_t>(hop_));
  return in_;
}

void Frames::add(const std::vector<float> &frame, float *finished) {
  for (size_t i = 0; i < out_.size(); ++i) out_[i] += frame[i];
  std::copy(out_.begin(), out_.begin() + static_cast<ptrdiff_t>(hop_), finished);
  std::copy(out_.begin() + static_cast<ptrdiff_t>(hop_), out_.end(), out_.begin());
  std::fill(out_.end() - static_cast<ptrdiff_t>(hop_), out_.end(), 0.0f);
}

void Frames::reset() {
  std::fill(in_.begin(), in_.end(), 0.0f);
  std::fill(out_.begin(), out_.end(), 0.0f);
}

Nsnet2::Nsnet2(const std::string &blob)
    : network_(blob, {{"x", 257}}, {{"y", 257}}),
      frames_(512, 256),
      fft_(512),
      window_(hann(512)),
      frame_(512),
      features_(257),
      gains_(257),
      spectrum_(257) {
  for (float &w : window_) w = std::sqrt(w);  // applied twice, and two halves of a Hann window add up to 1
}

void Nsnet2::process(const float *in, float *out) {
  constexpr float kSmallestPower = 1e-8f, kSmallestGain = 1e-4f;  // -80 dB each
  const std::vector<float> &heard = frames_.push(in);
  for (size_t i = 0; i < frame_.size(); ++i) frame_[i] = heard[i] * window_[i];
  fft_.forward(frame_.data(), spectrum_.data());
  for (size_t i = 0; i < features_.size(); ++i) features_[i] = std::log(std::norm(spectrum_[i]) + kSmallestPower);
  network_.step({features_.data()}, {gains_.data()});
  for (size_t i = 0; i < gains_.size(); ++i) spectrum_[i] *= std::max(gains_[i], kSmallestGain);
  fft_.inverse(spectrum_.data(), frame_.data());
  for (size_t i = 0; i < frame_.size(); ++i) frame_[i] *= window_[i];
  frames_.add(frame_, out);
}

void Nsnet2::reset() {
  network_.reset();
  frames_.reset();
}

Dtln::Dtln(const std::string &first_blob, const std::string &second_blob)
    : first_(first_blob, {{"input_2", 257}}, {{"activation_2", 257}}),
      second_(second_blob, {{"input_4", 512}}, {{"conv1d_3", 512}}),
      frames_(512, 128),
      fft_(512),
      magnitudes_(257),
      gains_(257),
      cleaned_(512),
      frame_(512),
      spectrum_(257) {}

void Dtln::process(const float *in, float *out) {
  fft_.forward(frames_.push(in).data(), spectrum_.data());
  for (size_t i = 0; i < magnitudes_.size(); ++i) magnitudes_[i] = std::sqrt(std::norm(spectrum_[i]));
  first_.step({magnitudes_.data()}, {gains_.data()});
  for (size_t i = 0; i < gains_.size(); ++i) spectrum_[i] *= gains_[i];
  fft_.inverse(spectrum_.data(), cleaned_.data());
  second_.step({cleaned_.data()}, {frame_.data()});
  frames_.add(frame_, out);
}

void Dtln::reset() {
  first_.reset();
  second_.reset();
  frames_.reset();
}

void VoiceGate::process(const float *in, float *out) {
  constexpr float kThreshold = 0.5f, kClosed = 0.1f;  // -20 dB
  constexpr int kHold = 15;                           // blocks, a quarter of a second
  float speech = 0;
  network_.step({in}, {&speech});
  open_blocks_ = speech >= kThreshold ? kHold : std::max(open_blocks_ - 1, 0);
  const float gain = open_blocks_ > 0 ? 1.0f : kClosed;
  for (size_t i = 0; i < kBlock; ++i) {
    out[i] = before_[i] * (gain_ + (gain - gain_) * static_cast<float>(i) / float(kBlock));
  }
  gain_ = gain;
  std::copy(in, in + kBlock, before_.begin());
}

void VoiceGate::reset() {
  network_.reset();
  before_ = {};
  open_blocks_ = 0;
  gain_ = 1;
}

std::vector<float> suppress(Suppressor &suppressor, const std::vector<float> &samples, std::vector<double> &block_us,
                            std::vector<double> &network_us) {
  const double ratio = double(suppressor.rate()) / kSampleRate;
  const bool other_rate = suppressor.rate() != kSampleRate;
  std::vector<float> in = other_rate ? resample(samples, ratio) : samples;
  const size_t block = suppressor.block(), blocks = (in.size() + suppressor.delay() + block - 1) / block;
  std::vector<float> out(blocks * block);
  in.resize(blocks * block);
  suppressor.reset();
  for (size_t i = 0; i < blocks; ++i) {
    const auto start = std::chrono::steady_clock::now();
    suppressor.process(&in[i * block], &out[i * block]);
    block_us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    network_us.push_back(0);
    for (const Network *network : suppressor.networks()) network_us.back() += network->step_us();
  }
  out.erase(out.begin(), out.begin() + static_cast<ptrdiff_t>(suppressor.delay()));
  if (other_rate) out = resample(out, 1 / ratio);
  out.resize(samples.size());
  return out;
}

}  // namespace demo
