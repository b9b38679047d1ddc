// speech_network.h -- a compiled network with one stream through it, by the public C API alone: a blob read from a file, a session
// in memory of the size it asked for. The states are the library's: `rnnpack compile --state` where the network passes them on.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_NETWORK_H_
#define RNNPACK_DEMO_SPEECH_NETWORK_H_

#include <rnnpack/rnnpack.h>

#include <string>
#include <vector>

namespace demo {

class Network {
 public:
  // Throws std::runtime_error naming the file: unreadable, refused, or not of one sequence of `inputs` floats a step to one of
  // `outputs`.
  Network(const std::string &path, size_t inputs, size_t outputs);
  Network(const Network &) = delete;
  Network &operator=(const Network &) = delete;

  void step(const float *x, float *y);
  void reset();  // to the initial states

  size_t session_bytes() const { return session_bytes_; }
  size_t blob_bytes() const { return blob_bytes_; }
  double step_us() const { return step_us_; }  // of the last step
  const char *kernels() const;

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  void check(rnnp_status status, const char *what) const;
  void check_row(const rnnp_tensor_facts &facts, size_t elems) const;

  std::string path_;
  std::vector<Line> blob_, memory_;
  size_t blob_bytes_ = 0, session_bytes_ = 0;
  double step_us_ = 0;
  rnnp_model model_ = {};
  rnnp_session *session_ = nullptr;
};

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_NETWORK_H_
