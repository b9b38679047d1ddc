// model_api.cpp -- versions, and what can be asked of an opened model. Touches the caller's structs only.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/registry_view.h"
#include "runtime/session.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

rnnp_status describe(const Model &m, const Table<BlobIo> &table, uint32_t index, rnnp_tensor_info *out) {
  if (index >= table.count) return RNNP_E_ARG;
  const BlobIo &io = table[index];
  rnnp_tensor_info f = {};
  f.role = io.role;
  f.row_elems = m.values[io.value].row_elems;
  f.rank = io.rank;
  for (uint32_t i = 0; i < io.rank; ++i) f.dims[i] = io.dims[i];
  f.name = m.string(io.name);
  f.dtype = m.values[io.value].dtype;
  f.limit = io.limit;
  return give_struct(f, out) ? RNNP_OK : RNNP_E_ARG;
}

bool same_text(const char *a, const char *b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

rnnp_status find(const Model &m, const Table<BlobIo> &table, const char *name, uint32_t *index) {
  if (name == nullptr || index == nullptr) return RNNP_E_ARG;
  for (uint32_t i = 0; i < table.count; ++i) {
    if (!same_text(m.string(table[i].name), name)) continue;
    *index = i;
    return RNNP_OK;
  }
  return RNNP_E_ARG;
}

// Calls use(key, value) for each pair of metadata until it returns true.
template <class Use>
bool find_metadata(const rnnp_model *model, const Use &use) {
  Model m;
  if (!read_model(model, &m) || m.header->metadata == 0) return false;
  for (uint32_t key = m.header->metadata; *m.string(key) != 0;) {
    const uint32_t value = m.string_end(key);
    if (use(m.string(key), m.string(value))) return true;
    key = m.string_end(value);
  }
  return false;
}

}  // namespace

uint32_t run_input(const Model &m) {
  uint32_t required = 0, x = kNone;
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    if (m.inputs[i].role == RNNP_ROLE_SEQUENCE || m.inputs[i].role == RNNP_ROLE_PER_RUN) ++required;
    if (m.inputs[i].role == RNNP_ROLE_SEQUENCE) x = i;
  }
  return required == 1 && m.outputs.count >= 1 ? x : kNone;
}

bool runs_in_place(const Model &m) {
  const uint32_t x = run_input(m);
  if (x == kNone) return false;
  const BlobIo &y = m.outputs[0];
  return y.role != RNNP_ROLE_SEQUENCE || m.values[y.value].row_elems <= m.values[m.inputs[x].value].row_elems;
}

}  // namespace rnnp

uint32_t rnnp_version(void) {
  return RNNP_HEADER_VERSION;
}
uint32_t rnnp_blob_version_min(void) {
  return rnnp::kOldestBlobVersion;
}
uint32_t rnnp_blob_version_max(void) {
  return rnnp::kBlobVersion;
}

rnnp_status rnnp_model_open(rnnp_model *model, const void *blob, size_t bytes, uint32_t flags) {
  if (model == nullptr || blob == nullptr || (flags & ~RNNP_OPEN_CHECK_WEIGHTS)) return RNNP_E_ARG;
  if (!rnnp::is_aligned(blob, rnnp::kBlobAlign)) return RNNP_E_ALIGN;
  rnnp::Model m;
  const rnnp_status status = rnnp::model_open(&m, blob, bytes, flags);
  if (status == RNNP_OK) rnnp::copy_bytes(model, &m, sizeof m);
  return status;
}

rnnp_status rnnp_model_open_with(const rnnp_registry *registry, rnnp_model *model) {
  if (model == nullptr || !rnnp::is_registry(registry) || registry->blob == nullptr) return RNNP_E_ARG;
  if (!rnnp::is_aligned(registry->blob, rnnp::kBlobAlign)) return RNNP_E_ALIGN;
  rnnp::Model m;
  const rnnp_status status = rnnp::model_take(&m, registry->blob);
  if (status == RNNP_OK) rnnp::copy_bytes(model, &m, sizeof m);
  return status;
}

rnnp_status rnnp_model_get_info(const rnnp_model *model, rnnp_model_info *facts) {
  rnnp::Model m;
  if (!rnnp::read_model(model, &m) || facts == nullptr) return RNNP_E_ARG;
  rnnp_model_info f = {};
  f.blob_version = m.header->version;
  f.blob_align = m.header->align;
  f.input_count = m.inputs.count;
  f.output_count = m.outputs.count;
  f.node_count = m.nodes.count;
  for (uint32_t i = 0; i < m.nodes.count; ++i) f.recurrent_count += m.nodes[i].op == uint32_t(rnnp::OpKind::kRecurrent);
  f.causal = (m.header->flags & rnnp::kBlobCausal) != 0;
  f.fixed_batch = m.header->fixed_batch;
  f.layout_nr = rnnp::format_of(m.header->panel_format).nr;
  f.stream_steps = m.header->stream_steps;
  f.in_place = rnnp::runs_in_place(m);
  f.blob_bytes = m.header->file_bytes;
  f.weight_bytes = m.header->weights.bytes;
  for (uint32_t i = 0; i < m.states.count; ++i) f.state_bytes_per_row += uint64_t{m.states[i].elems} * sizeof(float);
  f.model_id = m.header->model_id;
  f.macs_per_step = m.header->macs_per_step;
  return rnnp::give_struct(f, facts) ? RNNP_OK : RNNP_E_ARG;
}

rnnp_status rnnp_model_get_input(const rnnp_model *model, uint32_t index, rnnp_tensor_info *facts) {
  rnnp::Model m;
  return rnnp::read_model(model, &m) ? rnnp::describe(m, m.inputs, index, facts) : RNNP_E_ARG;
}

rnnp_status rnnp_model_get_output(const rnnp_model *model, uint32_t index, rnnp_tensor_info *facts) {
  rnnp::Model m;
  return rnnp::read_model(model, &m) ? rnnp::describe(m, m.outputs, index, facts) : RNNP_E_ARG;
}

rnnp_status rnnp_model_find_input(const rnnp_model *model, const char *name, uint32_t *index) {
  rnnp::Model m;
  return rnnp::read_model(model, &m) ? rnnp::find(m, m.inputs, name, index) : RNNP_E_ARG;
}

rnnp_status rnnp_model_find_output(const rnnp_model *model, const char *name, uint32_t *index) {
  rnnp::Model m;
  return rnnp::read_model(model, &m) ? rnnp::find(m, m.outputs, name, index) : RNNP_E_ARG;
}

const char *rnnp_model_meta(const rnnp_model *model, const char *key) {
  const char *found = nullptr;
  if (key == nullptr) return nullptr;
  rnnp::find_metadata(model, [&](const char *name, const char *value) {
    if (!rnnp::same_text(name, key)) return false;
    found = value;
    return true;
  });
  return found;
}

rnnp_status rnnp_model_get_meta(const rnnp_model *model, uint32_t index, const char **key, const char **value) {
  if (key == nullptr || value == nullptr) return RNNP_E_ARG;
  const bool found = rnnp::find_metadata(model, [&](const char *name, const char *text) {
    if (index-- != 0) return false;
    *key = name;
    *value = text;
    return true;
  });
  return found ? RNNP_OK : RNNP_E_ARG;
}
