// speech_demo.cpp -- noisy speech through noise-suppression networks, block by block as a call would bring it: the cleaned
// recordings, their spectrograms, how much noise went and what a block costs. See run_speech_demo.sh for where networks and
// recordings come from. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>

#include "audio.h"
#include "speech_deepfilter.h"
#include "speech_measure.h"
#include "speech_picture.h"
#include "speech_suppressors.h"

namespace {

using Strings = std::vector<std::string>;

constexpr double kGapSeconds = 0.5, kAverageSeconds = 0.2;
constexpr uint32_t kSeed = 4;

const char kUsage[] =
    "usage: speech_demo --out FOLDER [--snr DB] [--seconds MOST]\n"
    "  networks    [--nsnet2 BLOB] [--dtln BLOB1 BLOB2] [--deepfilternet3 ENC ERB_DEC DF_DEC] [--gate VAD_BLOB] [--words "
    "KWS_BLOB]\n"
    "  recordings  [--clean WAV...] speech, joined, to which noise is added; [--noisy WAV...] speech in noise already\n";

struct Sound {
  std::string name;  // of the files written
  std::string what;  // in words
  std::vector<float> noisy;
  std::vector<float> clean;  // empty where nobody knows
};

struct Tool {
  std::unique_ptr<demo::Suppressor> suppressor;
  std::vector<double> block_us, network_us;
};

// --name value... ; the values of an option that is not there are an empty list.
std::map<std::string, Strings> parse(int argc, char **argv) {
  static const Strings known = {"--out",  "--snr",   "--seconds", "--nsnet2", "--dtln", "--deepfilternet3",
                                "--gate", "--words", "--clean",   "--noisy"};
  std::map<std::string, Strings> options;
  for (const std::string &name : known) options[name];
  Strings *values = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("--", 0) == 0) {
      if (options.count(arg) == 0) throw std::invalid_argument("no option " + arg);
      values = &options[arg];
    } else if (values != nullptr) {
      values->push_back(arg);
    } else {
      throw std::invalid_argument("'" + arg + "' belongs to no option");
    }
  }
  if (options["--out"].size() != 1) throw std::invalid_argument("--out takes a folder");
  if (options["--dtln"].size() % 2 != 0) throw std::invalid_argument("--dtln takes two blobs");
  if (options["--deepfilternet3"].size() % 3 != 0) throw std::invalid_argument("--deepfilternet3 takes three blobs");
  return options;
}

double number(std::map<std::string, Strings> &options, const std::string &name, double otherwise) {
  if (options[name].empty()) return otherwise;
  char *end = nullptr;
  const double value = std::strtod(options[name][0].c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) throw std::invalid_argument(name + " takes a number");
  return value;
}

std::string stem(const std::string &path) {
  const size_t from = path.find_last_of('/') + 1;
  return path.substr(from, path.find_last_of('.') - from);
}

std::string file_name(std::string words) {
  for (char &c : words) c = c == ' ' ? '_' : c;
  return words.substr(0, words.find("_("));
}

void shorten(std::vector<float> &samples, double seconds) {
  samples.resize(std::min(samples.size(), static_cast<size_t>(seconds * demo::kSampleRate)));
}

// The files joined, with noise added.
Sound mixed(const Strings &files, double snr_db, double seconds) {
  Sound s;
  const std::vector<float> gap(static_cast<size_t>(kGapSeconds * demo::kSampleRate));
  for (const std::string &path : files) {
    const std::vector<float> piece = demo::load_wav(path);
    if (!s.clean.empty()) s.clean.insert(s.clean.end(), gap.begin(), gap.end());
    s.clean.insert(s.clean.end(), piece.begin(), piece.end());
  }
  shorten(s.clean, seconds);
  if (demo::rms(s.clean) == 0) throw std::runtime_error(files[0] + ": silent");
  s.noisy = demo::mix(s.clean, demo::pink_noise(s.clean.size(), kSeed), snr_db);
  s.name = stem(files[0]);
  char words[64];
  std::snprintf(words, sizeof words, ", generated pink noise at %g dB SNR", snr_db);
  s.what = s.name + (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "") + words;
  return s;
}

std::vector<Sound> load_sounds(std::map<std::string, Strings> &options) {
  const double seconds = number(options, "--seconds", 1e6);
  if (seconds <= 0 || seconds > 1e6) throw std::invalid_argument("--seconds out of range");
  std::vector<Sound> sounds;
  if (!options["--clean"].empty()) sounds.push_back(mixed(options["--clean"], number(options, "--snr", 5), seconds));
  for (const std::string &path : options["--noisy"]) {
    sounds.push_back({stem(path), stem(path) + ", noisy as recorded", demo::load_wav(path), {}});
    shorten(sounds.back().noisy, seconds);
  }
  if (sounds.empty()) throw std::invalid_argument("no recordings");
  return sounds;
}

std::vector<Tool> load_tools(std::map<std::string, Strings> &options) {
  std::vector<Tool> tools;
  const auto add = [&](std::unique_ptr<demo::Suppressor> s) { tools.push_back({std::move(s), {}, {}}); };
  for (const std::string &blob : options["--nsnet2"]) add(std::make_unique<demo::Nsnet2>(blob));
  const Strings &dtln = options["--dtln"];
  for (size_t i = 0; i < dtln.size(); i += 2) add(std::make_unique<demo::Dtln>(dtln[i], dtln[i + 1]));
  const Strings &filters = options["--deepfilternet3"];
  for (size_t i = 0; i < filters.size(); i += 3) {
    add(std::make_unique<demo::DeepFilterNet3>(filters[i], filters[i + 1], filters[i + 2]));
  }
  for (const std::string &blob : options["--gate"]) add(std::make_unique<demo::VoiceGate>(blob));
  return tools;
}

// What was heard, in decibels, before and after; false when the speech came out worse than it went in.
bool compare(const Sound &sound, const std::vector<float> &after, std::string &words) {
  char text[200];
  std::snprintf(text, sizeof text, "noise floor %.1f dBFS to %.1f", demo::noise_floor_db(sound.noisy), demo::noise_floor_db(after));
  words = text;
  if (sound.clean.empty()) return true;
  const double from = demo::si_sdr_db(sound.clean, sound.noisy), to = demo::si_sdr_db(sound.clean, after);
  std::snprintf(text, sizeof text, "SI-SDR %.1f dB to %.1f (%+.1f), ", from, to, to - from);
  words = text + words;
  return to >= from;
}

// Every tool on one recording: the wavs, the picture and the numbers.
bool clean_up(const Sound &sound, std::vector<Tool> &tools, const std::string &folder) {
  std::printf("\n%s, %.1f s\n", sound.what.c_str(), double(sound.noisy.size()) / demo::kSampleRate);
  demo::save_wav(folder + "/" + sound.name + "_before.wav", sound.noisy);
  std::vector<demo::Panel> panels = {{"before", sound.noisy}};
  bool better = true;
  for (Tool &tool : tools) {
    const std::string name = tool.suppressor->name();
    const std::vector<float> after = demo::suppress(*tool.suppressor, sound.noisy, tool.block_us, tool.network_us);
    std::string words;
    const bool ok = compare(sound, after, words);
    better = better && ok;
    std::printf("  %-20s %s%s\n", name.c_str(), words.c_str(), ok ? "" : "  WORSE");
    demo::save_wav(folder + "/" + sound.name + "_" + file_name(name) + ".wav", after);
    panels.push_back({"after " + name + ": " + words, after});
  }
  if (!sound.clean.empty()) panels.push_back({"the speech alone", sound.clean});
  const std::string picture = folder + "/" + sound.name + ".svg";
  demo::write_spectrograms(picture, sound.what, panels);
  std::printf("  %-20s %s\n", "picture", picture.c_str());
  return better;
}

void print_cost(const char *name, int rate, size_t block, const std::vector<double> &block_us,
                const std::vector<double> &network_us, const std::vector<const demo::Network *> &networks) {
  double total = 0;
  for (const double us : block_us) total += us;
  size_t session = 0, blob = 0;
  for (const demo::Network *n : networks) {
    session += n->session_bytes();
    blob += n->blob_bytes();
  }
  std::printf("  %-20s %7zu  %9.0f  %10.1f  %9.1f  %9.1f  %8zu  %9zu\n", name, block,
              1e6 * double(block) / rate * double(block_us.size()) / total, demo::quantile(network_us, 0.5),
              demo::quantile(block_us, 0.5), demo::quantile(block_us, 1), session, blob);
}

void print_costs(const std::vector<Tool> &tools) {
  if (tools.empty()) return;
  std::printf("\none thread, %s kernels; a block is the network and the signal processing around it\n",
              tools[0].suppressor->networks()[0]->kernels());
  std::printf("  %-20s %7s  %9s  %10s  %9s  %9s  %8s  %9s\n", "", "samples", "real time", "network us", "block us", "block us",
              "session", "networks");
  std::printf("  %-20s %7s  %9s  %10s  %9s  %9s  %8s  %9s\n", "", "a block", "factor", "median", "median", "largest", "bytes",
              "bytes");
  for (const Tool &t : tools)
    print_cost(t.suppressor->name(), t.suppressor->rate(), t.suppressor->block(), t.block_us, t.network_us,
               t.suppressor->networks());
}

// A test fixture beside it, which hears keywords that nobody says: each score averaged over a fifth of a second, a word once until
// its score has fallen.
void listen(const std::string &blob, const std::vector<Sound> &sounds) {
  static const char *const kWords[] = {"silence", "unknown", "yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"};
  constexpr size_t kHop = 256, kClasses = 12, kFirstWord = 2;
  const float follow = static_cast<float>(kHop / (kAverageSeconds * demo::kSampleRate));
  demo::Network network(blob, {{"frames", kHop}}, {{"scores", kClasses}});
  std::vector<double> step_us;
  std::printf(
      "\nkws_lstm over the same recordings: a test fixture, not a keyword spotter to use (1358 false alarms an hour of speech)\n");
  for (const Sound &sound : sounds) {
    float scores[kClasses], average[kClasses] = {};
    size_t said = 0;
    network.reset();
    size_t heard = 0;
    std::printf("  %-20s ", sound.name.c_str());
    for (size_t at = 0; at + kHop <= sound.noisy.size(); at += kHop) {
      network.step({&sound.noisy[at]}, {scores});
      step_us.push_back(network.step_us());
      for (size_t i = 0; i < kClasses; ++i) average[i] += follow * (scores[i] - average[i]);
      const size_t best = static_cast<size_t>(std::max_element(average + kFirstWord, average + kClasses) - average);
      const bool clear = average[best] > 0.5f;
      if (clear && said != best) {
        std::printf("%s%s at %.1f s", heard++ > 0 ? ", " : "", kWords[best], double(at) / demo::kSampleRate);
      }
      said = clear ? best : 0;
    }
    std::printf("%s\n", heard > 0 ? "" : "none of its ten words");
  }
  print_cost("kws_lstm", demo::kSampleRate, kHop, step_us, step_us, {&network});
}

int run(int argc, char **argv) {
  std::map<std::string, Strings> options = parse(argc, argv);
  const std::vector<Sound> sounds = load_sounds(options);
  std::vector<Tool> tools = load_tools(options);
  bool better = true;
  for (const Sound &sound : sounds) better = clean_up(sound, tools, options["--out"][0]) && better;
  print_costs(tools);
  for (const std::string &blob : options["--words"]) listen(blob, sounds);
  if (!better) std::fprintf(stderr, "speech_demo: a recording came out worse than it went in\n");
  return better ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::invalid_argument &e) {
    std::fprintf(stderr, "speech_demo: %s\n%s", e.what(), kUsage);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "speech_demo: %s\n", e.what());
  }
  return 1;
}
