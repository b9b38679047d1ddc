// audio.h -- recorded speech as 16 kHz mono floats: load (libsndfile), resample (libsamplerate), mix with noise.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_AUDIO_H_
#define RNNPACK_DEMO_AUDIO_H_

#include <string>
#include <vector>

namespace demo {

constexpr int kSampleRate = 16000;

// Mono, 16 kHz, full scale = 1. Throws std::runtime_error naming the file.
std::vector<float> load_wav(const std::string &path);

// `ratio` times as many samples a second.
std::vector<float> resample(const std::vector<float> &in, double ratio);

// 16-bit, 16 kHz, mono; what exceeds full scale is cut off. Throws as load_wav does.
void save_wav(const std::string &path, const std::vector<float> &samples);

float rms(const std::vector<float> &samples);

// A recording made of pieces: silence, speech, silence, speech ... with noise over all of it.
struct Recording {
  std::vector<float> samples;
  std::vector<float> clean;        // the speech alone
  std::vector<std::string> names;  // of the pieces
  std::vector<size_t> begins, ends;
};

// The files one after the other with `gap_seconds` between, and noise (repeated as needed) `snr_db` below the speech.
Recording make_recording(const std::vector<std::string> &speech_files, const std::string &noise_file, double snr_db,
                         double gap_seconds);

}  // namespace demo
#endif  // RNNPACK_DEMO_AUDIO_H_
