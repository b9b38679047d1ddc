// speech_deepfilter.h -- DeepFilterNet 3: three networks at 48 kHz. An encoder sees levels in 32 bands and the lowest 96 bins; one
// decoder gives gains of the bands, the other a filter over five frames for each of those bins.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_DEEPFILTER_H_
#define RNNPACK_DEMO_SPEECH_DEEPFILTER_H_

#include <array>
#include <string>
#include <vector>

#include "speech_suppressors.h"

namespace demo {

class DeepFilterNet3 final : public Suppressor {
 public:
  DeepFilterNet3(const std::string &encoder, const std::string &band_decoder, const std::string &filter_decoder);
  const char *name() const override { return "DeepFilterNet3"; }
  int rate() const override { return 48000; }
  size_t block() const override { return kHop; }
  size_t delay() const override { return kFrame - kHop + kAhead * kHop; }
  void process(const float *in, float *out) override;
  void reset() override;
  std::vector<const Network *> networks() const override { return {&encoder_, &band_decoder_, &filter_decoder_}; }

 private:
  static constexpr size_t kFrame = 960, kHop = 480, kBins = 481, kBands = 32, kFiltered = 96, kOrder = 5;
  static constexpr size_t kAhead = 2;  // frames that the networks have heard after the one they clean
  using Spectrum = std::array<Bin, kBins>;

  void hear(const Spectrum &now);  // bands_in_ and bins_in_
  void run_networks();
  void clean(Spectrum &out) const;

  Network encoder_, band_decoder_, filter_decoder_;
  Frames frames_;
  Fft fft_;
  std::vector<size_t> widths_;  // of the bands, in bins
  std::vector<float> window_, frame_;
  std::array<Spectrum, kOrder> spectra_ = {};  // the last five, oldest first
  std::array<float, kBands> band_means_ = {}, bands_in_ = {}, gains_ = {};
  std::array<float, kFiltered> bin_means_ = {};
  std::array<float, 2 *kFiltered> bins_in_ = {};           // real parts, imaginary parts
  std::array<float, kFiltered *kOrder * 2> filters_ = {};  // [bin][frame][real, imaginary]
  std::vector<float> e0_, e1_, e2_, e3_, embedding_, c0_;  // between the networks
};

// The widths in bins of 32 bands that are about equally wide to the ear, two bins at least, over 481 bins up to 24 kHz.
std::vector<size_t> erb_widths();

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_DEEPFILTER_H_
