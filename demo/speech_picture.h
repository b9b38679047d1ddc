// speech_picture.h -- spectrograms one below the other, as an SVG file with pictures in it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_PICTURE_H_
#define RNNPACK_DEMO_SPEECH_PICTURE_H_

#include <string>
#include <vector>

namespace demo {

struct Panel {
  std::string title;
  std::vector<float> samples;
};

// Time to the right, frequency upwards, one scale of colours for all panels: the loudest point of the first is the brightest.
// Throws std::runtime_error when the file cannot be written.
void write_spectrograms(const std::string &path, const std::string &title, const std::vector<Panel> &panels);

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_PICTURE_H_
