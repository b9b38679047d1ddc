// speech_test.cpp -- the signal processing of speech_demo, without a network: what a spectrum is, that frames which nobody touches
// add up to what came in, and that the measures measure.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "speech_deepfilter.h"
#include "speech_fft.h"
#include "speech_measure.h"
#include "speech_png.h"
#include "speech_suppressors.h"

namespace demo {
namespace {

class SpeechFft : public testing::TestWithParam<size_t> {};

TEST_P(SpeechFft, AToneIsOneBin) {
  const size_t size = GetParam();
  Fft fft(size);
  std::vector<float> tone(size);
  for (size_t i = 0; i < size; ++i)
    tone[i] = static_cast<float>(std::cos(2 * 3.14159265358979 * 5 * double(i) / double(size) + 0.7));
  std::vector<Bin> bins(fft.bins());
  fft.forward(tone.data(), bins.data());
  for (size_t b = 0; b < bins.size(); ++b) EXPECT_NEAR(std::abs(bins[b]), b == 5 ? double(size) / 2 : 0, 1e-3) << b;
  EXPECT_NEAR(std::arg(bins[5]), 0.7, 1e-5);
}

TEST_P(SpeechFft, InverseUndoesForward) {
  const size_t size = GetParam();
  Fft fft(size);
  const std::vector<float> frame = pink_noise(size, 1);
  std::vector<Bin> bins(fft.bins());
  std::vector<float> back(size);
  fft.forward(frame.data(), bins.data());
  fft.inverse(bins.data(), back.data());
  for (size_t i = 0; i < size; ++i) EXPECT_NEAR(back[i], frame[i], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SpeechFft, testing::Values(64, 512, 960, 30));

TEST(SpeechDeepFilter, BandsCoverTheSpectrumAndGrow) {
  const std::vector<size_t> widths = erb_widths();
  ASSERT_EQ(widths.size(), 32u);
  EXPECT_EQ(std::accumulate(widths.begin(), widths.end(), size_t(0)), 481u);
  EXPECT_EQ(widths.front(), 2u);
  EXPECT_EQ(widths.back(), 67u);
  EXPECT_TRUE(std::is_sorted(widths.begin(), widths.end()));
}

// Frames under a Hann window that go out as they came in.
class Untouched final : public Suppressor {
 public:
  const char *name() const override { return "untouched"; }
  size_t block() const override { return frames_.hop(); }
  size_t delay() const override { return frames_.frame() - frames_.hop(); }
  void process(const float *in, float *out) override {
    std::vector<float> frame = frames_.push(in);
    for (size_t i = 0; i < frame.size(); ++i) frame[i] *= window_[i];
    frames_.add(frame, out);
  }
  void reset() override { frames_.reset(); }
  std::vector<const Network *> networks() const override { return {}; }

 private:
  Frames frames_{512, 256};
  std::vector<float> window_ = hann(512);
};

TEST(SpeechFrames, UntouchedTheyAddUpToTheInputWithoutItsDelay) {
  Untouched untouched;
  std::vector<double> block_us, network_us;
  const std::vector<float> in = pink_noise(5001, 2);
  for (int pass = 0; pass < 2; ++pass) {
    const std::vector<float> out = suppress(untouched, in, block_us, network_us);
    ASSERT_EQ(out.size(), in.size());
    for (size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(out[i], in[i], 1e-6) << i;
  }
}

TEST(SpeechMeasure, SignalToDistortionIsThatOfTheMixAndIgnoresTheScale) {
  std::vector<float> tone(16000);
  for (size_t i = 0; i < tone.size(); ++i) tone[i] = 0.3f * static_cast<float>(std::sin(0.05 * double(i)));
  std::vector<float> heard = mix(tone, pink_noise(tone.size(), 3), 10);
  EXPECT_NEAR(si_sdr_db(tone, heard), 10, 0.5);
  const double before = si_sdr_db(tone, heard);
  for (float &sample : heard) sample *= 0.25f;
  EXPECT_NEAR(si_sdr_db(tone, heard), before, 1e-3);
}

TEST(SpeechMeasure, NoiseFloorIsTheLevelOfTheQuietParts) {
  std::vector<float> samples(16000, 0.01f);
  for (size_t i = 0; i < 8000; ++i) samples[i] = 0.5f;
  EXPECT_NEAR(noise_floor_db(samples), -40, 1e-3);
}

TEST(SpeechPng, Base64HasThePaddingOfItsLength) {
  EXPECT_EQ(base64("Man"), "TWFu");
  EXPECT_EQ(base64("Ma"), "TWE=");
  EXPECT_EQ(base64("M"), "TQ==");
}

// The last twelve bytes of every PNG are the same, the check value of an empty chunk among them.
TEST(SpeechPng, BeginsAndEndsAsAPng) {
  const std::string bytes = png({1, 1, {{0, 0, 0}}, {0}});
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(bytes.substr(bytes.size() - 12), std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
}

}  // namespace
}  // namespace demo
