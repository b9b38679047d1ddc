// feature_recurrent.cpp -- a recurrent layer over a feature axis: within every row it starts anew and runs over all of that
// axis (a GRU along the frequencies of a frame, the columns of an image). Rows are independent, so each thread runs its own, a
// block of them side by side in the kernels. Touches: its object, its thread's part of the scratch, its outputs.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/feature_rows.h"
#include "ops/panel_product.h"
#include "ops/recurrent_check.h"
#include "ops/recurrent_plan.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

constexpr uint32_t kMostBlock = 32;  // rows side by side
// Positions whose input one product takes: W is read once for all of them. A W that stays in L1 is multiplied within the step.
constexpr uint32_t kProjectedRows = 32;
constexpr size_t kNearInputBytes = 16 << 10;

struct FeatureDirection {
  RNNPACK_BYTES_32(256);
  RecurFn recur, output;
  const float *output_r;
  RecurArgs args;
  GemmArgs gemm;
  uint32_t reverse;
  uint8_t serpentine;
};

struct Inner {
  RNNPACK_BYTES_32(52);
  Cell cell;
  GemmFn gemm;
  FeatureDirection *direction;
  uint32_t direction_count, steps, rows, input_size, hidden_size;
  uint32_t block;       // rows that one call of a kernel takes
  uint32_t positions;   // rows times steps whose pre-activations are made at once; 0: the step takes its input itself
  size_t state_bytes;   // of one buffer of `block` rows
  size_t preact_bytes;  // of so many positions
  size_t thread_bytes;  // of the scratch
};

// h twice, then c, or z and r*h.
uint32_t buffer_count(Cell cell) {
  return cell == Cell::kLstm ? 3 : cell == Cell::kGru ? 4 : 2;
}

bool is_optional(const Model &m, uint32_t value, uint64_t elems) {
  return value == kNone || (is_f32_value(m, value, 0) && m.values[value].row_elems == elems);
}

bool inner_values_fit(const Model &m, const BlobNode &n, const AttrFeatureRecurrent &a) {
  constexpr uint64_t kMost = 1u << 28;
  const uint64_t rows = a.rows, positions = rows * a.steps;
  if (a.rows == 0 || a.steps == 0 || a.rows > kMost || a.steps > kMost || positions > kMost) return false;
  const uint64_t state = rows * a.layer.direction_count * a.layer.hidden_size;
  const uint32_t x = m.node_input(n, 0), operands[2] = {m.node_input(n, 1), m.node_input(n, 2)};
  if (!is_f32_value(m, x, 0) || m.values[x].row_elems != positions * a.layer.input_size) return false;
  uint32_t sequence = m.values[x].sequence, results = 0;
  for (const uint32_t v : operands) {
    if (!is_optional(m, v, state)) return false;
    sequence |= v != kNone ? m.values[v].sequence : 0;
  }
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t v = m.node_output(n, i);
    if (v == kNone) continue;
    if (!is_optional(m, v, i == 0 ? positions * a.layer.direction_count * a.layer.hidden_size : state) ||
        m.values[v].sequence != sequence)
      return false;
    const uint32_t all[3] = {x, operands[0], operands[1]};
    for (const uint32_t from : all) {
      if (from != kNone && !operand_is_ready(m, from, v)) return false;
    }
    ++results;
  }
  return results != 0 && (Cell(a.layer.cell) == Cell::kLstm || (operands[1] == kNone && m.node_output(n, 2) == kNone));
}

rnnp_status check(const Model &m, const BlobNode &n) {
  const AttrFeatureRecurrent *a = m.attr<AttrFeatureRecurrent>(n);
  if (a == nullptr || !recurrent_sizes_fit(a->layer) || !inner_values_fit(m, n, *a)) return RNNP_E_BLOB_CORRUPT;
  const rnnp_status status = check_recurrent_weights(m, a->layer);
  const BlobDirection &d = a->layer.direction[0];
  // One kernel multiplies by both.
  if (status != RNNP_OK) return status;
  return is_fused(m.matrix(d.w).format) && is_fused(m.matrix(d.r).format) ? RNNP_OK : RNNP_E_LAYOUT;
}

NodeCosts costs(const Model &m, const BlobNode &node) {
  const AttrFeatureRecurrent &a = *m.attr<AttrFeatureRecurrent>(node);
  const uint64_t units = uint64_t{a.layer.hidden_size} * cell_gates(Cell(a.layer.cell)) * a.layer.direction_count;
  const uint64_t step = cost_product(units, uint64_t{a.layer.input_size} + a.layer.hidden_size + 2 * kElementCost);
  return {cost_product(step, uint64_t{a.rows} * a.steps), 0, 0, 0};
}

void fill_inner(const Model &m, const AttrRecurrent &a, const BlobDirection &d, size_t state_row_bytes, size_t preact_row_bytes,
                uint32_t tiles, FeatureDirection *out) {
  RecurArgs &r = out->args;
  r = {};
  r.r = m.matrix(d.r).f32();
  r.w = m.matrix(d.w).f32();
  r.bias = m.weights(d.bias);
  r.r_bias = Cell(a.cell) == Cell::kGruLinear ? m.weights(d.r_bias) : nullptr;
  r.peephole = d.peephole != kNone ? m.weights(d.peephole) : nullptr;
  r.state_row_bytes = state_row_bytes;
  r.preact_row_bytes = preact_row_bytes;
  r.input_size = a.input_size;
  r.hidden_size = r.recurrent_k = a.hidden_size;
  r.tile_end = tiles;
  copy_bytes(r.cell.act, d.act, sizeof d.act);
  r.cell.clip = a.clip;
  r.cell.input_forget = a.input_forget;
  out->reverse = d.reverse;
  out->output_r = Cell(a.cell) == Cell::kGru ? m.matrix(d.r_output).f32() : nullptr;
  set_product(&out->gemm, m.matrix(d.w));
  out->gemm.start = r.bias;
  out->gemm.out_row_bytes = preact_row_bytes;
  out->gemm.tile_end = tiles;
}

// Calls may have fewer rows side by side than the block has room for, and then take more steps. The same bits either way.
uint32_t positions_projected(Cell cell, const Matrix &w, uint32_t block, const OtherMachine &machine) {
  if (!has_many_threads(machine)) return cell == Cell::kGru ? block : 0;
  if (cell != Cell::kGru && panels_bytes(w.format, w.shape) <= kNearInputBytes) return 0;
  return block < kProjectedRows ? kProjectedRows : block;
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrFeatureRecurrent *attr = m.attr<AttrFeatureRecurrent>(node);
  const AttrRecurrent &a = attr->layer;
  const Cell cell = Cell(a.cell);
  const PanelFormat format = m.matrix(a.direction[0].w).format;
  const uint32_t tiles = (a.hidden_size + format.nr - 1) / format.nr;
  const RecurrentPlan plan = plan_recurrent({cell, a.input_size, a.hidden_size, format, format, a.direction_count}, *env);
  const size_t most = mul_sat(env->chunk_steps, env->max_batch);
  const uint32_t wanted = attr->rows > 1 ? attr->rows : most < kMostBlock ? static_cast<uint32_t>(most) : kMostBlock;
  const uint32_t block = wanted < kMostBlock ? wanted : kMostBlock;
  const size_t state_row = size_t{state_row_elems(a.hidden_size)} * sizeof(float);
  const size_t preact_row = size_t{tiles} * format.nr * cell_gates(cell) * sizeof(float);
  const size_t state_bytes = arena_align_up(state_row * block, env->machine);
  const uint32_t positions = positions_projected(cell, m.matrix(a.direction[0].w), block, env->machine);
  const size_t preact_bytes = arena_align_up(mul_sat(preact_row, positions), env->machine);
  const size_t thread_bytes = state_bytes * buffer_count(cell) + preact_bytes;
  const size_t scratch = mul_sat(thread_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;

  const Kernel *gemm = positions != 0 ? find_gemm(*env, format, cell_gates(cell)) : nullptr;
  if (positions != 0 && gemm == nullptr) return RNNP_E_LAYOUT;
  Inner *inner = env->arena->take<Inner>(1);
  FeatureDirection *directions = env->arena->take<FeatureDirection>(a.direction_count);
  *object = inner;
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const KernelFamily family = step_family(a, a.direction[d]);
    const KernelFamily second =
        family == KernelFamily::kGruGatesGeneric ? KernelFamily::kGruOutputGeneric : KernelFamily::kGruOutput;
    const Kernel *step = find_panel_kernel(*env, family, format);
    const Kernel *output = cell == Cell::kGru ? find_panel_kernel(*env, second, format) : step;
    if (step == nullptr || output == nullptr) return RNNP_E_LAYOUT;
    env->recurrent_isa |= step->isa;
    if (directions == nullptr) continue;
    fill_inner(m, a, a.direction[d], state_row, preact_row, tiles, &directions[d]);
    directions[d].serpentine = plan.serpentine;
    directions[d].args.prefetch_next_tile = plan.prefetch_r != 0;
    directions[d].gemm.prefetch_next_tile = plan.prefetch_w != 0;
    directions[d].recur = step->recur;
    directions[d].output = cell == Cell::kGru ? output->recur : nullptr;
  }
  if (directions == nullptr) return RNNP_OK;
  *inner = {cell,         gemm != nullptr ? gemm->gemm : nullptr,
            directions,   a.direction_count,
            attr->steps,  attr->rows,
            a.input_size, a.hidden_size,
            block,        positions,
            state_bytes,  preact_bytes,
            thread_bytes};
  return RNNP_OK;
}

// What a block of rows reads and writes: row i of the block begins i strides on.
struct Block {
  const float *x, *h0, *c0;
  float *y, *y_h, *y_c;
  size_t x_stride, y_stride, h0_stride, c0_stride, y_h_stride, y_c_stride;  // bytes from row to row
  uint32_t rows;
};

const float *at_row(const float *p, size_t stride, uint32_t row) {
  return view_as<float>(reinterpret_cast<const uint8_t *>(p) + stride * row);
}
float *at_row(float *p, size_t stride, uint32_t row) {
  return view_as<float>(reinterpret_cast<uint8_t *>(p) + stride * row);
}

void start_rows(float *to, size_t row_bytes, const float *from, size_t stride, uint32_t rows, uint32_t elems) {
  for (uint32_t row = 0; row < rows; ++row) {
    float *at = at_row(to, row_bytes, row);
    if (from == nullptr) {
      zero_bytes(at, row_bytes);
    } else {
      copy_bytes(at, at_row(from, stride, row), elems * sizeof(float));
    }
  }
}

void finish_rows(float *to, size_t stride, const float *from, size_t row_bytes, uint32_t rows, uint32_t elems) {
  if (to == nullptr) return;
  for (uint32_t row = 0; row < rows; ++row)
    copy_bytes(at_row(to, stride, row), at_row(from, row_bytes, row), elems * sizeof(float));
}

// x * W of the block's rows in steps [first, first + count), step by step: as many rows a product as lie one after the other.
void project(const Inner &inner, const FeatureDirection &dir, const Block &b, uint32_t first, uint32_t count, float *preact) {
  GemmArgs g = dir.gemm;
  const size_t row_bytes = g.out_row_bytes, x_step = size_t{inner.rows} * inner.input_size;
  const bool by_step = b.rows >= count;
  g.a_row_bytes = by_step ? b.x_stride : x_step * sizeof(float);
  g.out_row_bytes = by_step ? row_bytes : row_bytes * b.rows;
  g.rows = by_step ? b.rows : count;
  for (uint32_t i = 0; i < (by_step ? count : b.rows); ++i) {
    g.a = by_step ? b.x + x_step * (first + i) : at_row(b.x + x_step * first, b.x_stride, i);
    g.out = at_row(preact, row_bytes, by_step ? i * b.rows : i);
    inner.gemm(&g);
  }
}

void run_step(const FeatureDirection &dir, const RecurArgs &a) {
  dir.recur(&a);
  if (dir.output == nullptr) return;
  RecurArgs out = a;
  out.r = dir.output_r;
  dir.output(&out);
}

void run_block(const Inner &inner, const FeatureDirection &dir, const Block &b, uint8_t *scratch) {
  float *buffers[4];
  for (uint32_t i = 0; i < 4; ++i)
    buffers[i] = view_as<float>(scratch + inner.state_bytes * (i < buffer_count(inner.cell) ? i : 0));
  float *preact = view_as<float>(scratch + inner.state_bytes * buffer_count(inner.cell));
  RecurArgs a = dir.args;
  const size_t row_bytes = a.state_row_bytes;
  start_rows(buffers[0], row_bytes, b.h0, b.h0_stride, b.rows, inner.hidden_size);
  const bool lstm = inner.cell == Cell::kLstm, gru = inner.cell == Cell::kGru;
  if (lstm) start_rows(buffers[2], row_bytes, b.c0, b.c0_stride, b.rows, inner.hidden_size);
  a.c = lstm ? buffers[2] : nullptr;
  a.z = gru ? buffers[2] : nullptr;
  a.rh = gru ? buffers[3] : nullptr;
  a.rows = b.rows;
  a.x_row_bytes = b.x_stride;
  a.y_row_bytes = b.y_stride;
  const size_t x_step = size_t{inner.rows} * inner.input_size,
               y_step = size_t{inner.rows} * inner.direction_count * inner.hidden_size;
  const bool projects = inner.positions != 0;
  const uint32_t most = projects ? inner.positions / b.rows : inner.steps;
  uint32_t live = 0;
  for (uint32_t done = 0; done < inner.steps;) {
    const uint32_t left = inner.steps - done, count = left < most ? left : most, first = dir.reverse ? left - count : done;
    if (projects) project(inner, dir, b, first, count, preact);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t local = dir.reverse ? count - 1 - i : i, step = first + local;
      a.x = projects ? nullptr : b.x + x_step * step;
      a.preact = projects ? at_row(preact, a.preact_row_bytes, local * b.rows) : nullptr;
      a.y = b.y != nullptr ? b.y + y_step * step : nullptr;
      a.h_prev = buffers[live];
      a.h_next = buffers[live ^ 1];
      a.descending = static_cast<uint8_t>(dir.serpentine & live);
      run_step(dir, a);
      live ^= 1;
    }
    done += count;
  }
  finish_rows(b.y_h, b.y_h_stride, buffers[live], row_bytes, b.rows, inner.hidden_size);
  if (lstm) finish_rows(b.y_c, b.y_c_stride, buffers[2], row_bytes, b.rows, inner.hidden_size);
}

// Rows side by side (feature_rows.h).
void run_rows(const RunEnv &env, const BlobNode &node, const Inner &inner, size_t row, uint32_t first, uint32_t count, uint32_t d,
              uint8_t *scratch) {
  const Model &m = *env.model;
  const size_t hidden = inner.hidden_size, width = hidden * inner.direction_count;
  const size_t state_at = (size_t{d} * inner.rows + first) * hidden;
  const auto stride = [&](uint32_t value, size_t elems) { return inner_stride(env, value, inner.rows, elems); };
  const uint32_t in[3] = {m.node_input(node, 0), m.node_input(node, 1), m.node_input(node, 2)};
  const uint32_t out[3] = {m.node_output(node, 0), m.node_output(node, 1), m.node_output(node, 2)};
  Block b = {};
  b.rows = count;
  b.x = feature_row(env, in[0], row, first * size_t{inner.input_size});
  b.h0 = feature_row(env, in[1], row, state_at);
  b.c0 = feature_row(env, in[2], row, state_at);
  b.y = feature_row(env, out[0], row, first * width + d * hidden);
  b.y_h = feature_row(env, out[1], row, state_at);
  b.y_c = feature_row(env, out[2], row, state_at);
  b.x_stride = stride(in[0], inner.input_size);
  b.h0_stride = stride(in[1], hidden);
  b.c0_stride = stride(in[2], hidden);
  b.y_stride = stride(out[0], width);
  b.y_h_stride = stride(out[1], hidden);
  b.y_c_stride = stride(out[2], hidden);
  run_block(inner, inner.direction[d], b, scratch);
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Inner &inner = *static_cast<const Inner *>(object);
  uint32_t y = kNone;
  for (uint32_t i = 3; i-- > 0;) y = env.model->node_output(node, i) != kNone ? env.model->node_output(node, i) : y;
  if (!runs_in_chunk(env, y)) return;
  uint8_t *scratch = env.scratch + inner.thread_bytes * thread;
  size_t row, end;
  split_range(chunk_rows(env, y), env.threads, thread, &row, &end);
  while (row < end) {
    const uint32_t count = inner.rows > 1 ? 1 : inner_neighbours(env, node, row, end, inner.block);
    for (uint32_t d = 0; d < inner.direction_count; ++d) {
      for (uint32_t first = 0; first < inner.rows; first += inner.block) {
        const uint32_t left = inner.rows - first, block = left < inner.block ? left : inner.block;
        run_rows(env, node, inner, row, first, inner.rows > 1 ? block : count, d, scratch);
      }
    }
    row += count;
  }
}

}  // namespace

RNNPACK_OP(feature_recurrent, {OpKind::kFeatureRecurrent, nullptr, check, costs, build, nullptr, run});

}  // namespace rnnp
