// speech_network.h -- a compiled network with one stream through it, by the C++ wrapper of the public API alone: a blob read from a
// file, a session in memory that it allocates. The states are the library's: `rnnpack compile --state` where the network passes
// them on. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_DEMO_SPEECH_NETWORK_H_
#define RNNPACK_DEMO_SPEECH_NETWORK_H_

#include <rnnpack/rnnpack.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace demo {

class Network {
 public:
  // One of the network's sequences, by its name in the ONNX file.
  struct Port {
    const char *name;
    size_t elems;  // floats a step
  };

  // Throws std::runtime_error naming the file: unreadable, refused, or without sequences like these. All inputs must be named; an
  // output that is not is not written.
  Network(const std::string &path, std::initializer_list<Port> inputs, std::initializer_list<Port> outputs);
  Network(const Network &) = delete;
  Network &operator=(const Network &) = delete;

  // In the order in which the constructor named them.
  void step(std::initializer_list<const float *> x, std::initializer_list<float *> y);
  void reset();  // to the initial states

  size_t session_bytes() const { return session_bytes_; }
  size_t blob_bytes() const { return blob_bytes_; }
  double step_us() const { return step_us_; }  // of the last step
  const char *kernels() const;

 private:
  void check(rnnp_status status, const char *what) const;
  using Find = rnnp_status (rnnpack::Model::*)(const char *, uint32_t &) const noexcept;
  using Describe = rnnp_status (rnnpack::Model::*)(uint32_t, rnnp_tensor_info &) const noexcept;
  uint32_t find(const Port &port, Find by_name, Describe describe) const;
  void read_blob();
  void bind(std::initializer_list<Port> inputs, std::initializer_list<Port> outputs);

  std::string path_;
  rnnpack::Memory blob_;
  size_t blob_bytes_ = 0, session_bytes_ = 0;
  double step_us_ = 0;
  rnnpack::Model model_;
  rnnpack::Session session_;
  std::vector<uint32_t> input_at_, output_at_;  // of the ports in the model's tables
  std::vector<rnnp_const_buffer> inputs_;       // the tables of a step
  std::vector<rnnp_buffer> outputs_;
};

}  // namespace demo
#endif  // RNNPACK_DEMO_SPEECH_NETWORK_H_
