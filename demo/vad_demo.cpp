// vad_demo.cpp -- the main job on real input: recorded speech in noise, frame by frame through a compiled voice-activity detector.
// The model is the C array that `rnnpack compile --emit-c vad_model` wrote; the session lives in a static buffer of the size its
// header gives. Shows a timeline, latency per step, memory, and that nothing was allocated while it ran.
// SPDX-License-Identifier: Apache-2.0
#include <rnnpack/rnnpack.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "audio.h"
#include "report.h"
#include "vad_model.h"

extern "C" void *__libc_malloc(size_t);
static unsigned long allocations = 0;
extern "C" void *malloc(size_t bytes) {
  return ++allocations, __libc_malloc(bytes);
}  // operator new comes through here too

namespace {

constexpr size_t kHop = 256;  // samples of one frame, 16 ms
constexpr float kThreshold = 0.5f;
constexpr double kSnrDb = 15;

alignas(VAD_MODEL_ALIGN) unsigned char session_memory[VAD_MODEL_SESSION_BYTES];

using Clock = std::chrono::steady_clock;

struct Stream {
  std::vector<float> speech;
  std::vector<double> step_us;
  unsigned long allocations_in_run = 0;
};

Stream run_stream(rnnpack::Session &session, const std::vector<float> &samples) {
  Stream s;
  const size_t steps = samples.size() / kHop;
  s.speech.resize(steps);
  s.step_us.resize(steps);
  const unsigned long before = allocations;
  for (size_t i = 0; i < steps; ++i) {
    const Clock::time_point start = Clock::now();
    rnnpack::check(session.step({&samples[i * kHop], kHop}, {&s.speech[i], 1}));
    s.step_us[i] = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  s.allocations_in_run = allocations - before;
  return s;
}

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[static_cast<size_t>(q * static_cast<double>(v.size() - 1))];
}

// Frames in which the clean recording is loud count as speech, with its quiet parts between words left out.
void print_agreement(const demo::Recording &r, const Stream &s) {
  const float loud = 0.1f * demo::rms(r.clean);
  size_t spoken = 0, found = 0, silent = 0, false_alarms = 0;
  for (size_t i = 0; i < s.speech.size(); ++i) {
    const std::vector<float> frame(r.clean.begin() + i * kHop, r.clean.begin() + (i + 1) * kHop);
    const float level = demo::rms(frame);
    if (level > 3 * loud) {
      ++spoken;
      found += s.speech[i] >= kThreshold;
    } else if (level == 0) {
      ++silent;
      false_alarms += s.speech[i] >= kThreshold;
    }
  }
  std::printf("  loud speech frames found   %zu of %zu\n  speech said in the gaps    %zu of %zu frames\n", found, spoken,
              false_alarms, silent);
}

void print_costs(const rnnp_model_info &facts, const char *isa, const Stream &s) {
  const double median = quantile(s.step_us, 0.5);
  std::printf("  step latency               median %.2f us, p99 %.2f us, max %.2f us (%s kernels, clock included)\n", median,
              quantile(s.step_us, 0.99), quantile(s.step_us, 1.0), isa);
  std::printf("  of real time               1/%.0f on one thread (a frame is %.0f ms)\n", 1e6 * kHop / demo::kSampleRate / median,
              1e3 * kHop / demo::kSampleRate);
  std::printf("  model                      %llu bytes, %llu multiply-accumulates per step\n",
              static_cast<unsigned long long>(facts.blob_bytes), static_cast<unsigned long long>(facts.macs_per_step));
  std::printf("  session                    %zu bytes static, %llu of them state\n", sizeof session_memory,
              static_cast<unsigned long long>(facts.state_bytes_per_row));
  std::printf("  allocations while running  %lu\n", s.allocations_in_run);
}

int run(int argc, char **argv) {
  const char *svg = argv[1];
  const std::vector<std::string> speech(argv + 3, argv + argc);
  const demo::Recording recording = demo::make_recording(speech, argv[2], kSnrDb, 0.8);
  std::printf("%.1f s of recorded speech, noise %.0f dB below it\n\n", double(recording.samples.size()) / demo::kSampleRate,
              kSnrDb);
  const rnnpack::Model model(vad_model, VAD_MODEL_BYTES, RNNP_OPEN_CHECK_WEIGHTS);
  rnnpack::Options options;
  vad_model_options(&options);
  rnnpack::Session session;
  rnnpack::check(session.init(model, options, session_memory, sizeof session_memory));
  const Stream s = run_stream(session, recording.samples);
  std::printf("%s\n", demo::timeline(recording, s.speech, kHop, kThreshold, 100).c_str());
  print_agreement(recording, s);
  print_costs(model.info(), rnnp_isa_name(session.info().isa), s);
  demo::write_svg(svg, recording, s.speech, kHop, kThreshold);
  std::printf("  picture                    %s\n", svg);
  return s.allocations_in_run == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: vad_demo PICTURE.svg NOISE.wav SPEECH.wav...\n");
    return 1;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "vad_demo: %s\n", e.what());
    return 1;
  }
}
