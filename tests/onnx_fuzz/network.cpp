// network.cpp -- Contract: network.h.
// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <cstring>

#include "support/session_fixture.h"

namespace rnnp::onnx_fuzz {

bool same_bits(const uint32_t *a, const uint32_t *b, size_t count) {
  const auto is_nan = [](uint32_t word) { return (word & 0x7fffffffu) > 0x7f800000u; };
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i] && !(is_nan(a[i]) && is_nan(b[i]))) return false;
  }
  return true;
}

namespace {

bool has_dim(const rnnp_tensor_info &facts, int32_t which) {
  return std::find(facts.dims, facts.dims + facts.rank, which) != facts.dims + facts.rank;
}

// An array's axes: how many indices, and words from one to the next among the rows.
struct Axes {
  std::vector<int64_t> count, stride;
};

Axes axes_of(const rnnp_tensor_info &facts, int64_t steps, int64_t batch, bool steps_in_front) {
  Axes axes;
  const int64_t row = facts.row_elems;
  if (steps_in_front) {
    axes.count.push_back(steps);
    axes.stride.push_back(batch * row);
  }
  int64_t feature = row;
  for (uint32_t i = 0; i < facts.rank; ++i) {
    const int32_t dim = facts.dims[i];
    if (dim > 0) feature /= dim;
    axes.count.push_back(dim == RNNP_DIM_STEPS   ? (facts.role == RNNP_ROLE_SEQUENCE ? steps : 1)
                         : dim == RNNP_DIM_BATCH ? batch
                                                 : dim);
    axes.stride.push_back(dim == RNNP_DIM_STEPS ? batch * row : dim == RNNP_DIM_BATCH ? row : feature);
  }
  return axes;
}

// The axis behind that of the steps, where several of the file's elements make a step: the file has both as one; 0: there is none.
size_t elements_axis(const rnnp_tensor_info &facts, const Wired &array) {
  for (uint32_t i = 1; i < facts.rank && array.shape.size() + 1 == facts.rank; ++i) {
    if (facts.dims[i - 1] == RNNP_DIM_STEPS && facts.dims[i] > 0) return i;
  }
  return 0;
}

// visit(element of the array, word of the rows), over all axes from `axis` on.
template <typename Visit>
void walk_axes(const Axes &axes, size_t axis, int64_t *element, int64_t word, Visit visit) {
  if (axis == axes.count.size()) return visit(static_cast<size_t>((*element)++), static_cast<size_t>(word));
  for (int64_t i = 0; i < axes.count[axis]; ++i) walk_axes(axes, axis + 1, element, word + i * axes.stride[axis], visit);
}

}  // namespace

Network::Network(const std::vector<uint8_t> &blob, const Request &request) : blob_(blob.size(), 64) {
  std::memcpy(blob_.data(), blob.data(), blob.size());
  rnnp_test::expect_ok(rnnp_model_open(&model_, blob_.data(), blob.size(), RNNP_OPEN_CHECK_WEIGHTS), "rnnp_model_open");
  facts_.struct_bytes = sizeof facts_;
  rnnp_test::expect_ok(rnnp_model_get_info(&model_, &facts_), "rnnp_model_get_info");
  inputs_.resize(facts_.input_count);
  outputs_.resize(facts_.output_count);
  for (uint32_t i = 0; i < facts_.input_count; ++i) {
    inputs_[i].struct_bytes = sizeof inputs_[i];
    rnnp_test::expect_ok(rnnp_model_get_input(&model_, i, &inputs_[i]), "rnnp_model_get_input");
  }
  for (uint32_t i = 0; i < facts_.output_count; ++i) {
    outputs_[i].struct_bytes = sizeof outputs_[i];
    rnnp_test::expect_ok(rnnp_model_get_output(&model_, i, &outputs_[i]), "rnnp_model_get_output");
  }
  read_sizes(request);
  for (const rnnp_tensor_info &facts : inputs_) {
    const auto found = request.inputs.find(facts.name);
    given_.push_back(found != request.inputs.end());
    rows_.push_back(given_.back() ? rows_of(facts, found->second) : Words());
  }
}

bool Network::ends_rows() const {
  return !causal() ||
         std::any_of(inputs_.begin(), inputs_.end(), [](const rnnp_tensor_info &facts) { return facts.role == RNNP_ROLE_LENGTHS; });
}

// What the blob calls steps and batch: where no layer says which axis is which, the file's names may be the other way round.
void Network::read_sizes(const Request &request) {
  steps_ = request.steps;
  batch_ = request.batch;
  bool in_steps = false;  // else the whole case is one step
  for (const rnnp_tensor_info &facts : inputs_) {
    const auto found = request.inputs.find(facts.name);
    if (found == request.inputs.end()) continue;
    const Wired &array = found->second;
    in_steps = in_steps || has_dim(facts, RNNP_DIM_STEPS) || array.shape.size() == facts.rank + 1u;
    const size_t at = elements_axis(facts, array);
    if (at != 0) {
      if (array.shape[at - 1] % facts.dims[at] != 0)
        throw PartOfAStep(std::string("input '") + facts.name + "' takes multiples of " + std::to_string(facts.dims[at]));
      steps_ = static_cast<size_t>(array.shape[at - 1] / facts.dims[at]);
    }
    for (uint32_t i = 0; i < facts.rank && array.shape.size() == facts.rank; ++i) {
      if (facts.dims[i] == RNNP_DIM_STEPS) steps_ = static_cast<size_t>(array.shape[i]);
      if (facts.dims[i] == RNNP_DIM_BATCH) batch_ = static_cast<uint32_t>(array.shape[i]);
    }
  }
  if (!in_steps) steps_ = 1;
  if (facts_.fixed_batch != 0 && facts_.fixed_batch != batch_) {
    throw Wrong("the blob is for a batch of " + std::to_string(facts_.fixed_batch) + " where the case has " +
                std::to_string(batch_));
  }
}

Words Network::rows_of(const rnnp_tensor_info &facts, const Wired &array) const {
  const bool sequence = per_step(facts), in_front = array.shape.size() == facts.rank + 1u;
  const Axes axes = axes_of(facts, static_cast<int64_t>(steps_), batch_, in_front);
  std::vector<int64_t> shape = array.shape;
  if (const size_t at = elements_axis(facts, array)) {
    shape[at - 1] /= facts.dims[at];
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), facts.dims[at]);
  }
  if (axes.count != shape) throw Wrong(std::string("input '") + facts.name + "' has other axes in the blob than in the case");
  const bool repeat_steps = sequence && !in_front && !has_dim(facts, RNNP_DIM_STEPS), repeat_rows = !has_dim(facts, RNNP_DIM_BATCH);
  Words rows((sequence ? steps_ : 1) * batch_ * facts.row_elems);
  for (size_t step = 0; step < (repeat_steps ? steps_ : 1); ++step) {
    for (size_t row = 0; row < (repeat_rows ? batch_ : 1); ++row) {
      int64_t element = 0;
      walk_axes(axes, 0, &element, static_cast<int64_t>((step * batch_ + row) * facts.row_elems),
                [&](size_t i, size_t word) { std::memcpy(&rows[word], &array.data[i], sizeof(float)); });
    }
  }
  if (array.whole && facts.dtype == RNNP_DTYPE_F32 && facts.role != RNNP_ROLE_LENGTHS) {
    for (uint32_t &word : rows) {
      int32_t number;
      std::memcpy(&number, &word, sizeof number);
      const float same = static_cast<float>(number);
      std::memcpy(&word, &same, sizeof word);
    }
  }
  return rows;
}

std::vector<Words> Network::plain(const int32_t *lengths) const {
  rnnp_test::Options options;
  options.batch = batch_;
  options.max_steps = static_cast<uint32_t>(steps_);
  options.flags = flags;
  options.isa = isa_allowed;
  rnnp_test::Runner session(&model_, options);
  std::vector<rnnp_const_buffer> in;
  std::vector<rnnp_buffer> out;
  std::vector<Words> results;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back({given_[i] ? const_cast<uint32_t *>(rows_[i].data()) : nullptr, 0, 0});
  for (const rnnp_tensor_info &facts : outputs_) results.emplace_back((per_step(facts) ? steps_ : 1) * batch_ * facts.row_elems);
  for (Words &rows : results) out.push_back({rows.data(), 0, 0});
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps_;
  io.batch = batch_;
  io.input_count = static_cast<uint32_t>(in.size());
  io.output_count = static_cast<uint32_t>(out.size());
  io.lengths = lengths;
  io.inputs = in.data();
  io.outputs = out.data();
  rnnp_test::expect_ok(rnnp_run_io(session.session(), &io), "the plain run");
  return results;
}

Wired Network::array_of(size_t output, const Words &rows) const {
  const rnnp_tensor_info &facts = outputs_[output];
  const bool in_front = per_step(facts) && !has_dim(facts, RNNP_DIM_STEPS) && steps_ > 1;
  const Axes axes = axes_of(facts, static_cast<int64_t>(steps_), batch_, in_front);
  Wired array;
  array.shape = axes.count;
  size_t count = 1;
  for (int64_t dim : axes.count) count *= static_cast<size_t>(dim);
  array.data.resize(count);
  int64_t element = 0;
  walk_axes(axes, 0, &element, 0, [&](size_t i, size_t word) { std::memcpy(&array.data[i], &rows[word], sizeof(float)); });
  return array;
}

}  // namespace rnnp::onnx_fuzz
