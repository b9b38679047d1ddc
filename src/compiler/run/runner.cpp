// runner.cpp -- Contract: runner.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/emit/refusal_text.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/errors.h"
#include "format/model.h"
#include "rnnpack/trace.h"

namespace rnnp::compiler {
namespace {

void check_session(const rnnp_model &model, const rnnp_session_options &options, void *mem = nullptr, size_t bytes = 0) {
  const std::string refusal = refusal_text(model, options, mem, bytes);
  if (!refusal.empty()) throw IoError(refusal);
}

bool has_dim(const rnnp_tensor_info &facts, int32_t which) {
  return std::find(facts.dims, facts.dims + facts.rank, which) != facts.dims + facts.rank;
}

// A layer whose constant initial state differs between rows of the batch.
bool starts_rows_apart(const Model &m, const BlobNode &node) {
  if (node.op != static_cast<uint32_t>(OpKind::kRecurrent)) return false;
  const AttrRecurrent &layer = *m.attr<AttrRecurrent>(node);
  const auto is_apart = [&](uint32_t state) { return state != kNone && m.states[state].per_row != 0; };
  return std::any_of(layer.direction, layer.direction + layer.direction_count,
                     [&](const BlobDirection &d) { return is_apart(d.state_h) || is_apart(d.state_c); });
}

// Of each output whether all rows of the batch have the same: nothing that it is made from has an axis of the batch.
std::vector<bool> outputs_of_every_row(const rnnp_model &opened, const std::vector<rnnp_tensor_info> &inputs) {
  Model m;
  if (!read_model(&opened, &m)) return {};
  std::vector<bool> alike(m.values.count, true);
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    if (has_dim(inputs[i], RNNP_DIM_BATCH)) alike[m.inputs[i].value] = false;
  }
  for (uint32_t n = 0; n < m.nodes.count; ++n) {
    const BlobNode &node = m.nodes[n];
    bool all = node.op != static_cast<uint32_t>(OpKind::kStateRead) && !starts_rows_apart(m, node);
    for (uint32_t i = 0; i < node.input_count; ++i) all = all && (m.node_input(node, i) == kNone || alike[m.node_input(node, i)]);
    for (uint32_t i = 0; i < node.output_count; ++i) {
      if (m.node_output(node, i) != kNone) alike[m.node_output(node, i)] = alike[m.node_output(node, i)] && all;
    }
  }
  std::vector<bool> outputs;
  for (uint32_t i = 0; i < m.outputs.count; ++i) outputs.push_back(alike[m.outputs[i].value]);
  return outputs;
}

}  // namespace

const char *role_name(uint32_t role) {
  constexpr const char *kNames[] = {"sequence", "row", "state", "lengths"};
  return role < 4 ? kNames[role] : "?";
}

std::string dims_text(const rnnp_tensor_info &facts) {
  std::string text = "[";
  for (uint32_t i = 0; i < facts.rank; ++i) {
    text += i ? ", " : "";
    text += facts.dims[i] == RNNP_DIM_STEPS ? "steps" : facts.dims[i] == RNNP_DIM_BATCH ? "batch" : std::to_string(facts.dims[i]);
  }
  return text + "]";
}

namespace {

// The axis behind that of steps, where it holds elements; 0 where there is none.
size_t elements_axis(const rnnp_tensor_info &facts) {
  for (uint32_t i = 0; i + 1 < facts.rank; ++i) {
    if (facts.dims[i] == RNNP_DIM_STEPS && facts.dims[i + 1] > 0) return i + 1;
  }
  return 0;
}

}  // namespace

Shape shape_in_file(const rnnp_tensor_info &facts, size_t file_rank, Shape shape) {
  const size_t at = elements_axis(facts);
  if (at == 0 || shape.size() != facts.rank || file_rank + 1 != facts.rank) return shape;
  shape[at - 1] *= shape[at];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at));
  return shape;
}

Shape shape_in_blob(const rnnp_tensor_info &facts, Shape shape) {
  const size_t at = elements_axis(facts);
  if (at == 0 || shape.size() + 1 != facts.rank) return shape;
  const int64_t elements = facts.dims[at], size = shape[at - 1];
  if (size % elements != 0 || size == 0)
    throw UsageError("input " + quote(facts.name) + " has " + std::to_string(size) + " elements along axis " +
                     std::to_string(at - 1) + "; accepted: a multiple of " + std::to_string(elements) + ", which make one step");
  shape[at - 1] = size / elements;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), elements);
  return shape;
}

// Everything of one run. Arrays of the job are canonical: [steps][batch][row].
struct Runner::Job {
  size_t steps = 0, batch = 0;  // 0: not known yet
  bool steps_in_front = false;  // time is an extra first axis of the arrays
  bool last_step = false;
  std::vector<std::vector<float>> inputs, outputs;
  std::vector<std::vector<int32_t>> lengths;  // per input, empty for the others
  std::vector<bool> given;
  rnnp_session *session = nullptr;
  Backend *backend = nullptr;

  // Elements from one index to the next in the canonical array, per ONNX axis (with the extra axis in front).
  Shape strides(const rnnp_tensor_info &facts, bool per_step, bool extra_time, bool extra_batch) const {
    const int64_t row = facts.row_elems, batch_rows = static_cast<int64_t>(batch);
    Shape out(facts.rank, 0);
    int64_t feature = 1;
    for (size_t i = facts.rank; i-- > 0;) {
      if (facts.dims[i] == RNNP_DIM_STEPS)
        out[i] = per_step ? row * batch_rows : 0;
      else if (facts.dims[i] == RNNP_DIM_BATCH)
        out[i] = row;
      else {
        out[i] = feature;
        feature *= facts.dims[i];
      }
    }
    if (extra_batch) out.insert(out.begin(), row);
    if (extra_time) out.insert(out.begin(), row * batch_rows);
    return out;
  }
};

static std::vector<uint8_t> copied_with_room(const std::vector<uint8_t> &blob) {
  std::vector<uint8_t> copy;
  copy.reserve(blob.size() + kBlobAlign);
  copy.assign(blob.begin(), blob.end());
  return copy;
}

Runner::Runner(const std::vector<uint8_t> &blob, const std::string &name) : Runner(copied_with_room(blob), name) {}

Runner::Runner(std::vector<uint8_t> &&blob, const std::string &name) : blob_(std::move(blob)) {
  const size_t bytes = blob_.size();
  blob_.reserve(bytes + kBlobAlign);
  before_ = (kBlobAlign - reinterpret_cast<uintptr_t>(blob_.data()) % kBlobAlign) % kBlobAlign;
  blob_.insert(blob_.begin(), before_, 0);
  check(rnnp_model_open(&model_, blob_.data() + before_, bytes, RNNP_OPEN_CHECK_WEIGHTS), name + " does not open");
  facts_.struct_bytes = sizeof facts_;
  check(rnnp_model_get_info(&model_, &facts_), "rnnp_model_get_info");
  inputs_.resize(facts_.input_count);
  outputs_.resize(facts_.output_count);
  for (uint32_t i = 0; i < facts_.input_count; ++i) {
    inputs_[i].struct_bytes = sizeof inputs_[i];
    check(rnnp_model_get_input(&model_, i, &inputs_[i]), "rnnp_model_get_input");
  }
  for (uint32_t i = 0; i < facts_.output_count; ++i) {
    outputs_[i].struct_bytes = sizeof outputs_[i];
    check(rnnp_model_get_output(&model_, i, &outputs_[i]), "rnnp_model_get_output");
  }
  of_every_row_ = outputs_of_every_row(model_, inputs_);
}

// Steps and batch from the arrays' shapes; every mismatch is named.
void Runner::read_sizes(const Arrays &arrays, Job *job) const {
  for (const rnnp_tensor_info &facts : inputs_) {
    const auto found = arrays.find(facts.name);
    if (found == arrays.end()) continue;
    const Shape &shape = found->second.shape;
    const bool may_extend = facts.role == RNNP_ROLE_SEQUENCE && !has_dim(facts, RNNP_DIM_STEPS);
    const size_t extra = may_extend && shape.size() == facts.rank + 1 ? 1 : 0;
    const std::string what = "input " + quote(facts.name) + " has shape " + shape_text(shape) + "; accepted: " + dims_text(facts) +
                             (may_extend ? ", or with steps in front" : "");
    if (shape.size() != facts.rank + extra) throw UsageError(what);
    const auto agree = [&](size_t *size, int64_t dim) {
      if (*size != 0 && *size != static_cast<size_t>(dim))
        throw UsageError(what + ", but another input has " + std::to_string(*size) + " where this has " + std::to_string(dim));
      *size = static_cast<size_t>(dim);
    };
    if (extra) {
      job->steps_in_front = true;
      agree(&job->steps, shape[0]);
    }
    for (uint32_t i = 0; i < facts.rank; ++i) {
      const int64_t dim = shape[i + extra];
      if (facts.dims[i] == RNNP_DIM_STEPS)
        agree(&job->steps, dim);
      else if (facts.dims[i] == RNNP_DIM_BATCH)
        agree(&job->batch, dim);
      else if (facts.dims[i] != dim)
        throw UsageError(what);
      if (dim == 0) throw UsageError(what + " without empty axes");
    }
  }
  if (job->steps == 0) job->steps = 1;
  if (job->batch == 0) job->batch = facts_.fixed_batch ? facts_.fixed_batch : 1;
  if (facts_.fixed_batch && job->batch != facts_.fixed_batch) {
    throw UsageError("the model is for a batch of " + std::to_string(facts_.fixed_batch) + ", the inputs have " +
                     std::to_string(job->batch));
  }
}

void Runner::read_input(const rnnp_tensor_info &facts, const Arrays &arrays, Job *job) const {
  job->inputs.emplace_back();
  job->lengths.emplace_back();
  const auto found = arrays.find(facts.name);
  job->given.push_back(found != arrays.end());
  if (found == arrays.end()) {
    if (facts.role == RNNP_ROLE_STATE || facts.role == RNNP_ROLE_LENGTHS) return;
    throw UsageError("input " + quote(facts.name) + " " + dims_text(facts) + " is missing");
  }
  const Array &array = found->second;
  if (facts.role == RNNP_ROLE_LENGTHS) {
    if (!array.is_int) throw UsageError("input " + quote(facts.name) + " holds lengths; accepted: int32 or int64");
    for (int32_t n : array.i32) {
      if (n < 0 || static_cast<size_t>(n) > job->steps) {
        throw UsageError("input " + quote(facts.name) + " has the length " + std::to_string(n) + "; accepted: 0 to " +
                         std::to_string(job->steps));
      }
    }
    job->lengths.back() = array.i32;
    return;
  }
  const bool all_whole = array.is_int || std::all_of(array.f32.begin(), array.f32.end(),
                                                     [](float v) { return v == std::floor(v) && std::fabs(v) <= 16777216.0f; });
  if (facts.dtype == RNNP_DTYPE_I32 && !all_whole)
    throw UsageError("input " + quote(facts.name) + " holds indices; accepted: integers");
  for (const int32_t v : array.i32) {
    if (facts.dtype == RNNP_DTYPE_F32 && static_cast<double>(static_cast<float>(v)) != v)
      throw UsageError("input " + quote(facts.name) + " has the integer " + std::to_string(v) +
                       ", which float32 does not hold; accepted: up to 16777216");
  }
  const bool per_step = facts.role == RNNP_ROLE_SEQUENCE;
  std::vector<float> &rows = job->inputs.back();
  rows.assign((per_step ? job->steps : 1) * job->batch * facts.row_elems, 0.0f);
  const bool extra = array.shape.size() > facts.rank;
  Shape dims = array.shape, strides = job->strides(facts, per_step, extra, false);
  // What the file gives once for all rows or steps is repeated.
  const bool repeat_batch = !has_dim(facts, RNNP_DIM_BATCH), repeat_steps = per_step && !extra && !has_dim(facts, RNNP_DIM_STEPS);
  for (size_t step = 0; step < (repeat_steps ? job->steps : 1); ++step) {
    for (size_t row = 0; row < (repeat_batch ? job->batch : 1); ++row) {
      const int64_t first = static_cast<int64_t>((step * job->batch + row) * facts.row_elems);
      for_each_index(dims, strides, first, [&](int64_t i, int64_t at) {
        float &to = rows[static_cast<size_t>(at)];
        if (facts.dtype == RNNP_DTYPE_I32) {
          const size_t at_i = static_cast<size_t>(i);
          const int32_t index = array.is_int ? array.i32[at_i] : static_cast<int32_t>(array.f32[at_i]);
          std::memcpy(&to, &index, sizeof to);
        } else {
          to = array.is_int ? static_cast<float>(array.i32[static_cast<size_t>(i)]) : array.f32[static_cast<size_t>(i)];
        }
      });
    }
  }
}

void Runner::call(Job *job, size_t first, size_t steps) const {
  std::vector<rnnp_const_buffer> in(inputs_.size());
  std::vector<rnnp_buffer> out(outputs_.size());
  std::vector<std::vector<int32_t>> lengths = job->lengths;
  std::vector<std::vector<float>> rows(outputs_.size());
  const std::vector<int32_t> *gate = nullptr;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const rnnp_tensor_info &facts = inputs_[i];
    in[i] = {nullptr, 0, 0};
    if (!job->given[i] || (facts.role == RNNP_ROLE_STATE && first != 0)) continue;
    if (facts.role == RNNP_ROLE_LENGTHS) {
      for (int32_t &n : lengths[i])
        n = static_cast<int32_t>(std::clamp<int64_t>(n - static_cast<int64_t>(first), 0, static_cast<int64_t>(steps)));
      gate = &lengths[i];
      in[i].data = lengths[i].data();
    } else {
      in[i].data = job->inputs[i].data() + (facts.role == RNNP_ROLE_SEQUENCE ? first * job->batch * facts.row_elems : 0);
    }
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const bool per_step = outputs_[i].role == RNNP_ROLE_SEQUENCE && !job->last_step;
    if (!per_step) rows[i].resize(job->outputs[i].size());
    out[i] = {per_step ? job->outputs[i].data() + first * job->batch * outputs_[i].row_elems : rows[i].data(), 0, 0};
  }
  rnnp_io io = RNNP_IO_INIT;
  io.flags = job->last_step ? RNNP_RUN_LAST_STEP : 0u;
  io.steps = steps;
  io.batch = static_cast<uint32_t>(job->batch);
  io.input_count = static_cast<uint32_t>(in.size());
  io.output_count = static_cast<uint32_t>(out.size());
  io.inputs = in.data();
  io.outputs = out.data();
  check(job->backend != nullptr ? job->backend->run(io) : rnnp_run_io(job->session, &io), "rnnp_run_io");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (rows[i].empty()) continue;
    // A row that ended in an earlier call keeps its last step from there.
    const bool last_step = outputs_[i].role == RNNP_ROLE_SEQUENCE;
    for (size_t row = 0; row < job->batch; ++row) {
      if (last_step && gate && first != 0 && (*gate)[row] == 0) continue;
      std::copy_n(rows[i].begin() + static_cast<std::ptrdiff_t>(row * outputs_[i].row_elems), outputs_[i].row_elems,
                  job->outputs[i].begin() + static_cast<std::ptrdiff_t>(row * outputs_[i].row_elems));
    }
  }
}

Array Runner::give_output(const Job &job, size_t index) const {
  const rnnp_tensor_info &facts = outputs_[index];
  const bool per_step = facts.role == RNNP_ROLE_SEQUENCE && !job.last_step;
  const bool extra_time = per_step && !has_dim(facts, RNNP_DIM_STEPS) && (job.steps_in_front || job.steps > 1);
  const bool extra_batch = !has_dim(facts, RNNP_DIM_BATCH) && job.batch > 1 && !of_every_row_[index];
  Shape strides = job.strides(facts, per_step, extra_time, extra_batch);
  Array array;
  if (extra_time) array.shape.push_back(static_cast<int64_t>(job.steps));
  if (extra_batch) array.shape.push_back(static_cast<int64_t>(job.batch));
  const size_t lead = array.shape.size();
  for (uint32_t i = 0; i < facts.rank; ++i) {
    const bool is_time = facts.dims[i] == RNNP_DIM_STEPS;
    array.shape.push_back(is_time                           ? (per_step ? static_cast<int64_t>(job.steps) : 1)
                          : facts.dims[i] == RNNP_DIM_BATCH ? static_cast<int64_t>(job.batch)
                                                            : facts.dims[i]);
  }
  array.f32.resize(static_cast<size_t>(element_count(array.shape, int64_t{1} << 40)));
  for_each_index(array.shape, strides, 0,
                 [&](int64_t i, int64_t at) { array.f32[static_cast<size_t>(i)] = job.outputs[index][static_cast<size_t>(at)]; });
  if (job.last_step && facts.role == RNNP_ROLE_SEQUENCE) {
    for (uint32_t i = facts.rank; i-- > 0;) {
      if (facts.dims[i] == RNNP_DIM_STEPS) array.shape.erase(array.shape.begin() + static_cast<std::ptrdiff_t>(lead + i));
    }
  }
  return array;
}

std::vector<uint8_t> Runner::take_blob() {
  blob_.erase(blob_.begin(), blob_.begin() + static_cast<std::ptrdiff_t>(before_));
  return std::move(blob_);
}

bool Runner::has_low_precision() const {
  Model model;
  if (!read_model(&model_, &model)) return false;
  for (uint32_t i = 0; i < model.matrices.count; ++i) {
    if (model.matrix(i).format.weight != DType::kF32) return true;
  }
  return false;
}

// The memory that the job's session is in.
AlignedBytes Runner::make_session(const rnnp_session_options &session, const RunOptions &options, Job *job) {
  rnnp_memory memory = RNNP_MEMORY_INIT;
  check_session(model_, session);
  check(rnnp_session_memory(&model_, &session, &memory), "rnnp_session_memory");
  AlignedBytes bytes(memory.session_bytes, memory.alignment);
  check_session(model_, session, bytes.data(), memory.session_bytes);
  check(rnnp_session_init(&job->session, &model_, &session, bytes.data(), memory.session_bytes), "rnnp_session_init");
  check(rnnp_session_set_trace(job->session, options.trace), "rnnp_session_set_trace");
  session_ = {};
  session_.struct_bytes = sizeof session_;
  check(rnnp_session_get_info(job->session, &session_), "rnnp_session_get_info");
  return bytes;
}

Arrays Runner::run(const Arrays &given, const RunOptions &options) {
  Arrays arrays = given;
  for (const rnnp_tensor_info &facts : inputs_) {
    const auto found = arrays.find(facts.name);
    if (found != arrays.end()) found->second.shape = shape_in_blob(facts, std::move(found->second.shape));
  }
  for (const auto &array : arrays) {
    const bool known =
        std::any_of(inputs_.begin(), inputs_.end(), [&](const rnnp_tensor_info &facts) { return array.first == facts.name; });
    if (!known) throw UsageError("the model has no input " + quote(array.first));
  }
  Job job;
  job.last_step = options.last_step;
  read_sizes(arrays, &job);
  for (const rnnp_tensor_info &facts : inputs_) read_input(facts, arrays, &job);
  for (const rnnp_tensor_info &facts : outputs_) {
    const bool per_step = facts.role == RNNP_ROLE_SEQUENCE && !job.last_step;
    job.outputs.emplace_back((per_step ? job.steps : 1) * job.batch * facts.row_elems, 0.0f);
  }
  std::vector<size_t> cuts = options.cuts;
  if (cuts.empty()) {
    const size_t piece = options.steps_per_call ? options.steps_per_call : job.steps;
    for (size_t done = 0; done < job.steps; done += piece) cuts.push_back(std::min(piece, job.steps - done));
  }
  if (!facts_.causal && cuts.size() > 1)
    throw UsageError("the model reads whole sequences (it looks ahead), so it cannot be run in pieces");

  const std::unique_ptr<Executor> executor = make_executor(options.threads);
  rnnp_session_options session;
  rnnp_session_options_init(&session, sizeof session);
  session.max_batch = static_cast<uint32_t>(job.batch);
  session.max_steps = facts_.causal ? 0 : static_cast<uint32_t>(job.steps);
  session.chunk_steps = options.chunk_steps;
  session.isa_allowed = options.isa_allowed;
  session.l2_bytes = options.l2_bytes;
  session.flags = (options.portable_ops ? RNNP_SESSION_PORTABLE_OPS : 0u) | (options.all_threads ? RNNP_SESSION_ALL_THREADS : 0u);
  session.executor = executor ? executor->get() : nullptr;
  job.backend = options.backend;
  if (job.backend != nullptr) job.backend->open(session);
  const AlignedBytes bytes = job.backend != nullptr ? AlignedBytes(0, 64) : make_session(session, options, &job);
  size_t done = 0;
  for (size_t piece : cuts) {
    call(&job, done, piece);
    done += piece;
    if (options.progress) options.progress(done, job.steps);
  }
  Arrays results;
  for (size_t i = 0; i < outputs_.size(); ++i) results[outputs_[i].name] = give_output(job, i);
  return results;
}

}  // namespace rnnp::compiler
