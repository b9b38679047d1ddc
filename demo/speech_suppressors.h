// speech_suppressors.h -- what takes noise out of a stream, block by block: the signal processing around a network.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_SUPPRESSORS_H_
#define RNNPACK_DEMO_SPEECH_SUPPRESSORS_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "speech_fft.h"
#include "speech_network.h"

namespace demo {

class Suppressor {
 public:
  virtual ~Suppressor() = default;
  virtual const char *name() const = 0;
  virtual int rate() const { return 16000; }                  // samples a second
  virtual size_t block() const = 0;                           // samples
  virtual size_t delay() const = 0;                           // of the output, samples
  virtual void process(const float *in, float *out) = 0;      // one block
  virtual void reset() = 0;                                   // as before the first block
  virtual std::vector<const Network *> networks() const = 0;  // in the order in which a block passes them
};

// Frames of `frame` samples every `hop`: the last samples that came in, and the sum of the frames that went out.
class Frames {
 public:
  Frames(size_t frame, size_t hop) : hop_(hop), in_(frame), out_(frame) {}
  const std::vector<float> &push(const float *block);          // a hop in, the frame that ends with it back
  void add(const std::vector<float> &frame, float *finished);  // a frame out, the hop that no later frame reaches back
  size_t frame() const { return in_.size(); }
  size_t hop() const { return hop_; }
  void reset();

 private:
  size_t hop_;
  std::vector<float> in_, out_;
};

// NSNet2 in the rebuilt form with 257 bins: frames of 512 under the root of a Hann window, every 256; the natural logarithm of the
// power spectrum in, a gain per bin out.
class Nsnet2 final : public Suppressor {
 public:
  explicit Nsnet2(const std::string &blob);
  const char *name() const override { return "NSNet2"; }
  size_t block() const override { return frames_.hop(); }
  size_t delay() const override { return frames_.frame() - frames_.hop(); }
  void process(const float *in, float *out) override;
  void reset() override;
  std::vector<const Network *> networks() const override { return {&network_}; }

 private:
  Network network_;
  Frames frames_;
  Fft fft_;
  std::vector<float> window_, frame_, features_, gains_;
  std::vector<Bin> spectrum_;
};

// DTLN: frames of 512 without a window, every 128. The first network gives a gain per bin from the magnitudes, the second takes the
// frame so cleaned and gives the frame to add.
class Dtln final : public Suppressor {
 public:
  Dtln(const std::string &first_blob, const std::string &second_blob);
  const char *name() const override { return "DTLN"; }
  size_t block() const override { return frames_.hop(); }
  size_t delay() const override { return frames_.frame() - frames_.hop(); }
  void process(const float *in, float *out) override;
  void reset() override;
  std::vector<const Network *> networks() const override { return {&first_, &second_}; }

 private:
  Network first_, second_;
  Frames frames_;
  Fft fft_;
  std::vector<float> magnitudes_, gains_, cleaned_, frame_;
  std::vector<Bin> spectrum_;
};

// What this project's own voice detector can do: turn the sound down where nobody speaks. It opens one block ahead of the voice and
// closes late, so that words keep their ends.
class VoiceGate final : public Suppressor {
 public:
  static constexpr size_t kBlock = 256;
  explicit VoiceGate(const std::string &blob) : network_(blob, {{"frames", kBlock}}, {{"speech", 1}}) {}
  const char *name() const override { return "voice gate (vad_gru)"; }
  size_t block() const override { return kBlock; }
  size_t delay() const override { return kBlock; }
  void process(const float *in, float *out) override;
  void reset() override;
  std::vector<const Network *> networks() const override { return {&network_}; }

 private:
  Network network_;
  std::array<float, kBlock> before_ = {};
  int open_blocks_ = 0;
  float gain_ = 1;
};

// The whole 16 kHz recording through a suppressor from its initial state, its delay taken out. Adds to block_us and network_us, per
// block.
std::vector<float> suppress(Suppressor &suppressor, const std::vector<float> &samples, std::vector<double> &block_us,
                            std::vector<double> &network_us);

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_SUPPRESSORS_H_
