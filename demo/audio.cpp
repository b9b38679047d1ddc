// audio.cpp -- see audio.h.
// SPDX-License-Identifier: Apache-2.0
#include "audio.h"

#include <samplerate.h>
#include <sndfile.h>

#include <cmath>
#include <stdexcept>

namespace demo {

std::vector<float> resample(const std::vector<float> &in, double ratio) {
  std::vector<float> out(static_cast<size_t>(static_cast<double>(in.size()) * ratio) + 16);
  SRC_DATA job = {};
  job.data_in = in.data();
  job.input_frames = static_cast<long>(in.size());
  job.data_out = out.data();
  job.output_frames = static_cast<long>(out.size());
  job.src_ratio = ratio;
  const int error = src_simple(&job, SRC_SINC_MEDIUM_QUALITY, 1);
  if (error != 0) throw std::runtime_error(src_strerror(error));
  out.resize(static_cast<size_t>(job.output_frames_gen));
  return out;
}

std::vector<float> load_wav(const std::string &path) {
  SF_INFO info = {};
  SNDFILE *file = sf_open(path.c_str(), SFM_READ, &info);
  if (file == nullptr) throw std::runtime_error(path + ": " + sf_strerror(nullptr));
  const size_t channels = static_cast<size_t>(info.channels), frames = static_cast<size_t>(info.frames);
  std::vector<float> interleaved(frames * channels), mono(frames);
  const sf_count_t read = sf_readf_float(file, interleaved.data(), info.frames);
  sf_close(file);
  if (read != info.frames) throw std::runtime_error(path + ": ends early");
  for (size_t i = 0; i < frames; ++i) {
    for (size_t c = 0; c < channels; ++c) mono[i] += interleaved[i * channels + c] / static_cast<float>(channels);
  }
  return info.samplerate == kSampleRate ? mono : resample(mono, double(kSampleRate) / info.samplerate);
}

void save_wav(const std::string &path, const std::vector<float> &samples) {
  SF_INFO info = {};
  info.samplerate = kSampleRate;
  info.channels = 1;
  info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  SNDFILE *file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (file == nullptr) throw std::runtime_error(path + ": " + sf_strerror(nullptr));
  sf_command(file, SFC_SET_CLIPPING, nullptr, SF_TRUE);
  const sf_count_t frames = static_cast<sf_count_t>(samples.size());
  const bool written = sf_writef_float(file, samples.data(), frames) == frames;
  if (sf_close(file) != 0 || !written) throw std::runtime_error(path + ": cannot be written");
}

float rms(const std::vector<float> &samples) {
  double sum = 0;
  for (float s : samples) sum += double(s) * s;
  return static_cast<float>(std::sqrt(sum / static_cast<double>(samples.empty() ? 1 : samples.size())));
}

Recording make_recording(const std::vector<std::string> &speech_files, const std::string &noise_file, double snr_db,
                         double gap_seconds) {
  Recording r;
  const size_t gap = static_cast<size_t>(gap_seconds * kSampleRate);
  std::vector<float> spoken;
  r.clean.resize(gap);
  for (const std::string &path : speech_files) {
    const std::vector<float> piece = load_wav(path);
    spoken.insert(spoken.end(), piece.begin(), piece.end());
    r.begins.push_back(r.clean.size());
    r.clean.insert(r.clean.end(), piece.begin(), piece.end());
    r.ends.push_back(r.clean.size());
    r.clean.resize(r.clean.size() + gap);
    const size_t slash = path.find_last_of('/'), dot = path.find_last_of('.');
    r.names.push_back(path.substr(slash + 1, dot - slash - 1));
  }
  const std::vector<float> noise = load_wav(noise_file);
  if (noise.empty()) throw std::runtime_error(noise_file + ": no samples");
  const float gain = rms(spoken) / rms(noise) * static_cast<float>(std::pow(10.0, -snr_db / 20));
  r.samples = r.clean;
  for (size_t i = 0; i < r.samples.size(); ++i) r.samples[i] += gain * noise[i % noise.size()];
  return r;
}

}  // namespace demo
