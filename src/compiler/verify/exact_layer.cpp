// exact_layer.cpp -- Contract: exact_layer.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/exact_layer.h"

#define RNNPACK_SET exact
#include "kernels/vec_scalar.h"

namespace rnnp::exact {
namespace {
struct Vec : ScalarVec {
  static RNNPACK_INLINE F sqrt(F a) { return __builtin_sqrtf(a); }
};
}  // namespace
}  // namespace rnnp::exact

// The words come before the bodies that use them.
#include "kernels/cell_body.h"
#include "ops/recurrent_check.h"

namespace rnnp::compiler {
namespace {

using namespace exact;

uint32_t gates_of(rnnp::Cell cell) {
  return cell == rnnp::Cell::kRnn ? 1 : has_c(cell) ? 4 : 3;
}

// Pre-activations by gates and units; nx: what the input gives gate h of a kGruLinear.
template <class Cell>
void finish_cells(const RecurArgs &args, const float *const *pre, const float *nx, const std::vector<float> &peephole) {
  for (uint32_t unit = 0; unit < args.hidden_size; ++unit) {
    float now[Cell::Shape::kGates];
    for (int g = 0; g < Cell::Shape::kGates; ++g) now[g] = pre[g][unit];
    const float *p = peephole.empty() ? nullptr : peephole.data() + unit;
    const Place place = {&args, 0, unit, static_cast<ptrdiff_t>(args.hidden_size - unit), p, args.hidden_size};
    Cell::finish(place, now, nx == nullptr ? nullptr : nx + unit);
  }
}

using FinishFn = void (*)(const RecurArgs &, const float *const *, const float *, const std::vector<float> &);

FinishFn finish_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::kRnnTanh:
      return finish_cells<RnnTanhCell>;
    case KernelFamily::kRnnRelu:
      return finish_cells<RnnReluCell>;
    case KernelFamily::kRnnGeneric:
      return finish_cells<RnnGenericCell>;
    case KernelFamily::kLstm:
      return finish_cells<LstmCell>;
    case KernelFamily::kLstmGeneric:
      return finish_cells<LstmGenericCell>;
    case KernelFamily::kGruLinear:
      return finish_cells<GruLinearCell>;
    case KernelFamily::kGruLinearGeneric:
      return finish_cells<GruLinearGenericCell>;
    case KernelFamily::kGruGates:
      return finish_cells<GruGatesCell>;
    case KernelFamily::kGruGatesGeneric:
      return finish_cells<GruGatesGenericCell>;
    default:
      return nullptr;
  }
}

}  // namespace

bool ExactLayer::knows(const Model &model, const AttrRecurrent &a) {
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    for (const uint32_t m : {a.direction[d].w, a.direction[d].r}) {
      if (!ExactMatrix::knows(model.matrix(m))) return false;
    }
  }
  return true;
}

ExactLayer::ExactLayer(const Model &model, const AttrRecurrent &a, uint32_t d)
    : direction_(a.direction[d]), attr_(a), hidden_(a.hidden_size), gates_(gates_of(rnnp::Cell(a.cell))) {
  const Matrix w = model.matrix(direction_.w);
  if (is_fixed_point(w.format)) {
    // The attributes begin what an integer-only layer has; its check has seen that they are all there.
    const auto *fixed = reinterpret_cast<const AttrIntegerRecurrent *>(&a);
    integers_ = std::make_unique<ExactIntegers>(model, *fixed, d);
    return;
  }
  w_ = std::make_unique<ExactMatrix>(w, 0);
  r_ = std::make_unique<ExactMatrix>(model.matrix(direction_.r), 0);
  if (direction_.r_output != kNone) candidate_ = std::make_unique<ExactMatrix>(model.matrix(direction_.r_output), 0);
  bias_ = unit_numbers(model.weights(direction_.bias), gates_, hidden_, w.format.nr);
  if (rnnp::Cell(a.cell) == rnnp::Cell::kLstmNorm)
    norm_ = std::make_unique<ExactNorm>(model, *reinterpret_cast<const AttrNormRecurrent *>(&a), d);
  if (direction_.r_bias != kNone)
    r_bias_ = unit_numbers(model.weights(direction_.r_bias), norm_ ? gates_ : 1, hidden_, w.format.nr);
  if (direction_.peephole != kNone) peephole_ = unit_numbers(model.weights(direction_.peephole), 3, hidden_, w.format.nr);
}

bool ExactLayer::is_masked(const float *x) const {
  return has_mask(attr_) && x[attr_.input_size] == 0;
}

void ExactLayer::step(const float *x, float *h, float *c) const {
  if (integers_) return integers_->step(x, h, c);
  if (is_masked(x)) return;
  const rnnp::Cell cell = rnnp::Cell(attr_.cell);
  std::vector<float> pre(size_t{gates_} * hidden_), recurrent(hidden_), next(hidden_), z(hidden_), rh(hidden_);
  w_->multiply(x, bias_.data(), pre.data());
  if (norm_) {
    std::vector<float> of_h(r_bias_);
    of_h.resize(pre.size(), 0.0f);
    float *sums = norm_->is_apart() ? of_h.data() : pre.data();
    r_->multiply(h, sums, sums);
    return norm_->step(pre, of_h, h, c);
  }
  const float *nx = nullptr;
  if (cell == rnnp::Cell::kGruLinear) {
    // Gate h's two sums stay apart.
    std::vector<float> input(pre.end() - hidden_, pre.end()), start(pre);
    std::copy(r_bias_.begin(), r_bias_.end(), start.end() - hidden_);
    r_->multiply(h, start.data(), pre.data());
    if (candidate_) {
      candidate_->multiply(h, r_bias_.data(), pre.data() + 2 * size_t{hidden_});
    }
    recurrent = input;
    nx = recurrent.data();
  } else {
    r_->multiply(h, pre.data(), pre.data());
  }
  RecurArgs args = {};
  args.h_prev = h;
  args.h_next = next.data();
  args.c = c;
  args.z = z.data();
  args.rh = rh.data();
  args.state_row_bytes = hidden_ * sizeof(float);
  args.hidden_size = hidden_;
  for (int i = 0; i < 3; ++i) args.cell.act[i] = direction_.act[i];
  args.cell.clip = attr_.clip;
  args.cell.input_forget = attr_.flags & kInputForget;
  const float *gates[4];
  for (uint32_t g = 0; g < gates_; ++g) gates[g] = pre.data() + size_t{g} * hidden_;
  const KernelFamily family = step_family(attr_, direction_);
  finish_of(family)(args, gates, nx, peephole_);
  if (cell == rnnp::Cell::kGru) {
    float *candidate = pre.data() + 2 * size_t{hidden_};
    candidate_->multiply(rh.data(), candidate, candidate);
    const float *last[1] = {candidate};
    const bool generic = family == KernelFamily::kGruGatesGeneric;
    (generic ? finish_cells<GruOutputGenericCell> : finish_cells<GruOutputCell>)(args, last, nullptr, peephole_);
  }
  std::copy(next.begin(), next.end(), h);
}

float exact_activation(const BlobActivation &a, float x) {
  return activate(static_cast<Act>(a.act), x, a.alpha, a.beta);
}

}  // namespace rnnp::compiler
