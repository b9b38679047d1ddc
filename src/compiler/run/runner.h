// runner.h -- a blob run through the public C API, with arrays in the axis order of the ONNX file.
// Sequence tensors whose ONNX axes hold no time may have it in front: one block per step.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_RUNNER_H_
#define RNNPACK_COMPILER_RUN_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/files/files.h"
#include "compiler/files/npy.h"
#include "compiler/run/executor.h"
#include "rnnpack/rnnpack.h"

struct rnnp_trace;

namespace rnnp::compiler {

// Who runs a model's calls where it is not a session of the library: that of a GPU.
class Backend {
 public:
  virtual ~Backend() = default;
  // Makes the session; throws where there is none of these options.
  virtual void open(const rnnp_session_options &options) = 0;
  virtual rnnp_status run(const rnnp_io &io) = 0;
};

struct RunOptions {
  uint32_t threads = 1;
  bool all_threads = false;   // use them even where a step is too little work to gain from it
  size_t steps_per_call = 0;  // 0: all steps in one call
  uint32_t chunk_steps = 0;   // of the session; 0: the library's choice
  bool last_step = false, portable_ops = false;
  uint32_t isa_allowed = 0, l2_bytes = 0;
  std::vector<size_t> cuts;  // sizes of the calls; overrides steps_per_call, must sum to the steps
  std::function<void(size_t done, size_t steps)> progress;
  const ::rnnp_trace *trace = nullptr;  // of the session
  Backend *backend = nullptr;           // nullptr: a session of the library
};

class Runner {
 public:
  // Throws IoError when the library does not open the blob; `name` says which.
  explicit Runner(std::vector<uint8_t> &&blob, const std::string &name = "the blob");
  explicit Runner(const std::vector<uint8_t> &blob, const std::string &name = "the blob");
  // The same bytes, which nothing can be run of any more.
  std::vector<uint8_t> take_blob();

  const rnnp_model &opened() const { return model_; }
  const rnnp_model_info &facts() const { return facts_; }
  const std::vector<rnnp_tensor_info> &inputs() const { return inputs_; }
  const std::vector<rnnp_tensor_info> &outputs() const { return outputs_; }

  // Whether some weights are stored as another type than f32.
  bool has_low_precision() const;

  // What the last run's session of the library decided.
  const rnnp_session_info &session() const { return session_; }

  // Throws UsageError on arrays that do not fit, IoError on a library error. Missing optional inputs may be left out.
  Arrays run(const Arrays &arrays, const RunOptions &options);

 private:
  struct Job;
  void read_sizes(const Arrays &arrays, Job *job) const;
  void read_input(const rnnp_tensor_info &facts, const Arrays &arrays, Job *job) const;
  AlignedBytes make_session(const rnnp_session_options &options, const RunOptions &run, Job *job);
  void call(Job *job, size_t first, size_t steps) const;
  Array give_output(const Job &job, size_t index) const;

  std::vector<uint8_t> blob_;  // moved in its memory to where the library takes it
  size_t before_ = 0;
  rnnp_model model_{};
  rnnp_model_info facts_{};
  rnnp_session_info session_{};
  std::vector<rnnp_tensor_info> inputs_, outputs_;
  std::vector<bool> of_every_row_;  // outputs that have no axis of the batch and need none
};

// Blobs that take several elements of a time axis to a step have them as an axis of their own, behind that of steps. `shape` with
// the two as one, as the ONNX file has them, where it has an axis fewer; and the other way round: throws UsageError where the
// elements do not make whole steps.
Shape shape_in_file(const rnnp_tensor_info &facts, size_t file_rank, Shape shape);
Shape shape_in_blob(const rnnp_tensor_info &facts, Shape shape);

// "[steps, batch, 40]"
std::string dims_text(const rnnp_tensor_info &facts);
const char *role_name(uint32_t role);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_RUNNER_H_
