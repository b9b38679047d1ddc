// speech_picture.cpp -- see speech_picture.h.
// SPDX-License-Identifier: Apache-2.0
#include "speech_picture.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "audio.h"
#include "speech_fft.h"
#include "speech_png.h"

namespace demo {
namespace {

constexpr size_t kFrame = 512, kHeight = 128, kMostColumns = 1100, kColours = 64;
constexpr float kRangeDb = 70;

// Decibels, [kHeight][columns], the highest frequencies first: the loudest of the frames and bins that fall on a point.
struct Levels {
  size_t columns = 0;
  std::vector<float> db;
};

Levels levels(const std::vector<float> &samples) {
  const size_t frames = std::max(samples.size() / (kFrame / 4), size_t(4)) - 3;
  Levels out;
  out.columns = std::min(frames, kMostColumns);
  out.db.assign(kHeight * out.columns, -200.0f);
  Fft fft(kFrame);
  const std::vector<float> window = hann(kFrame);
  std::vector<float> frame(kFrame);
  std::vector<Bin> bins(fft.bins());
  for (size_t f = 0; f < frames; ++f) {
    const size_t from = f * kFrame / 4;
    for (size_t i = 0; i < kFrame; ++i) frame[i] = from + i < samples.size() ? samples[from + i] * window[i] : 0.0f;
    fft.forward(frame.data(), bins.data());
    for (size_t b = 0; b < 2 * kHeight; ++b) {
      float &point = out.db[(kHeight - 1 - b / 2) * out.columns + f * out.columns / frames];
      point = std::max(point, 10 * std::log10(std::norm(bins[b]) + 1e-20f));
    }
  }
  return out;
}

// From black over violet and orange to pale yellow.
std::vector<std::array<uint8_t, 3>> colours() {
  std::vector<std::array<uint8_t, 3>> out;
  for (size_t i = 0; i < kColours; ++i) {
    const double t = double(i) / (kColours - 1);
    const auto part = [&](double from, double to) {
      return static_cast<uint8_t>(std::lround(255 * std::clamp((t - from) / (to - from), 0.0, 1.0)));
    };
    const uint8_t blue = static_cast<uint8_t>(std::clamp(part(0, 0.5) / 2 - part(0.4, 0.7) / 2 + part(0.7, 1.1), 0, 255));
    out.push_back({part(0.1, 0.7), part(0.4, 1), blue});
  }
  return out;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

Picture paint(const Levels &levels, float loudest) {
  Picture out;
  out.width = static_cast<uint32_t>(levels.columns);
  out.height = kHeight;
  out.colours = colours();
  for (const float db : levels.db) {
    const float t = std::clamp(1 + (db - loudest) / kRangeDb, 0.0f, 1.0f);
    out.pixels.push_back(static_cast<uint8_t>(std::lround(t * (kColours - 1))));
  }
  return out;
}

}  // namespace

void write_spectrograms(const std::string &path, const std::string &title, const std::vector<Panel> &panels) {
  const size_t left = 50, top = 40, wide = kMostColumns, pitch = kHeight + 40, bottom = top + panels.size() * pitch;
  std::ostringstream s;
  s << "<svg xmlns='http://www.w3.org/2000/svg' width='" << left + wide + 50 << "' height='" << bottom + 20
    << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n<text x='" << left
    << "' y='20' font-size='14'>" << escaped(title) << "</text>\n";
  float loudest = -200;
  for (size_t i = 0; i < panels.size(); ++i) {
    const Levels l = levels(panels[i].samples);
    if (i == 0) loudest = *std::max_element(l.db.begin(), l.db.end());
    const size_t y = top + i * pitch + 16;
    s << "<text x='" << left << "' y='" << y - 4 << "'>" << escaped(panels[i].title) << "</text>\n<text x='8' y='" << y + 10
      << "'>8 kHz</text><text x='8' y='" << y + kHeight << "'>0</text>\n<image x='" << left << "' y='" << y << "' width='" << wide
      << "' height='" << kHeight << "' preserveAspectRatio='none' href='data:image/png;base64," << base64(png(paint(l, loudest)))
      << "'/>\n";
  }
  const double seconds = panels.empty() ? 0 : double(panels[0].samples.size()) / kSampleRate;
  const double apart = seconds > 20 ? 5 : 1;
  for (double second = 0; second <= seconds; second += apart)
    s << "<text x='" << double(left) + double(wide) * second / seconds << "' y='" << bottom + 4 << "'>" << second << " s</text>\n";
  s << "</svg>\n";
  std::ofstream file(path);
  file << s.str();
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace demo
