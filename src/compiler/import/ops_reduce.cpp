// ops_reduce.cpp -- ReduceX over feature axes: one node, the result in the order of memory; over time: one more. Contract:
// builder.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"

namespace rnnp::compiler {
namespace {

struct Side {
  uint32_t *rank, *dims;
  int32_t *stride;
};

// Slowest first; neighbours that lie one after the other are one dimension.
void fill(std::vector<Atom> atoms, bool at_least_one, const Side &side) {
  std::stable_sort(atoms.begin(), atoms.end(),
                   [](const Atom &a, const Atom &b) { return std::abs(a.stride) > std::abs(b.stride); });
  std::vector<Atom> kept;
  for (const Atom &atom : atoms) {
    if (atom.size == 1) continue;
    if (!kept.empty() && kept.back().stride == times(atom.stride, atom.size))
      kept.back() = {Atom::Kind::kFeature, times(kept.back().size, atom.size), atom.stride, -1};
    else
      kept.push_back(atom);
  }
  if (kept.empty() && at_least_one) kept.push_back({Atom::Kind::kFeature, 1, 1, -1});
  if (kept.size() > kBlobMaxRank) throw Refusal("it reduces over more than 8 axes");
  *side.rank = static_cast<uint32_t>(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    side.dims[i] = static_cast<uint32_t>(kept[i].size);
    side.stride[i] = static_cast<int32_t>(kept[i].stride);
  }
}

// Dense strides for the features of `view`, in the order in which they lie in memory now: that of fill.
void keep_memory_order(View *view) {
  std::vector<Atom *> atoms;
  for (Axis &axis : view->axes) {
    for (Atom &atom : axis) {
      if (atom.is_feature()) atoms.push_back(&atom);
    }
  }
  std::stable_sort(atoms.begin(), atoms.end(),
                   [](const Atom *a, const Atom *b) { return std::abs(a->stride) > std::abs(b->stride); });
  int64_t stride = 1;
  for (size_t i = atoms.size(); i-- > 0;) {
    atoms[i]->stride = stride;
    stride = times(stride, atoms[i]->size);
  }
  view->first = 0;
}

}  // namespace

namespace {

// A reduction over time and features is one over the features of each step, then one over the steps, then a function of that.
struct TimeForm {
  Reduce features, steps;
  Act after;
};

TimeForm time_form(Reduce op) {
  switch (op) {
    case Reduce::kL1:
      return {op, Reduce::kSum, Act::kIdentity};
    case Reduce::kL2:
      return {Reduce::kSumSquare, Reduce::kSum, Act::kSqrt};
    case Reduce::kSumSquare:
      return {op, Reduce::kSum, Act::kIdentity};
    case Reduce::kLogSum:
      return {Reduce::kSum, Reduce::kSum, Act::kLog};
    case Reduce::kLogSumExp:
      throw Refusal("it takes the logarithm of a sum of exponentials over the time axis; accepted: feature axes");
    default:
      return {op, op, Act::kIdentity};
  }
}

bool reduces_time(const View &x, const std::vector<bool> &over) {
  for (size_t i = 0; i < x.axes.size(); ++i) {
    for (const Atom &atom : x.axes[i]) {
      if (over[i] && atom.kind == Atom::Kind::kTime && atom.size != 1) return true;
    }
  }
  return false;
}

void drop_time(View *view) {
  for (Axis &axis : view->axes) {
    axis.erase(std::remove_if(axis.begin(), axis.end(), [](const Atom &atom) { return atom.kind == Atom::Kind::kTime; }),
               axis.end());
  }
}

View over_time(Builder &b, const View &given, const std::vector<bool> &over, Reduce op, bool keep, const std::string &name) {
  const TimeForm form = time_form(op);
  View x = b.is_sequence(given) ? given : b.copied(given, true, name);
  View steps = x;
  drop_time(&steps);  // what is left to reduce of each step
  bool features = form.features != Reduce::kSum && form.features != form.steps;
  for (size_t i = 0; i < over.size(); ++i) features = features || (over[i] && axis_size(steps.axes[i]) != 1);
  if (features) steps = b.reduced(steps, over, form.features, true, name);
  View y = steps;
  y.value = b.new_row(b.row_elems(steps), false);
  b.graph.nodes.push_back(
      {OpKind::kTimeReduce, name, {steps.value}, {y.value}, AttrTimeReduce{static_cast<uint32_t>(form.steps), 0}});
  if (form.after != Act::kIdentity) y = b.unary(y, {static_cast<uint32_t>(form.after), 0, 0}, name);
  for (size_t i = over.size(); i-- > 0;) {
    if (!over[i]) continue;
    y.axes[i].clear();
    if (!keep) y.axes.erase(y.axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return y;
}

}  // namespace

View Builder::reduced(const View &given, const std::vector<bool> &over, Reduce op, bool keep, const std::string &name) {
  if (reduces_time(given, over)) return over_time(*this, given, over, op, keep, name);
  View x = as_row(given, name);
  if (feature_count(x) > int64_t{row_elems(x)}) x = copied(x, is_sequence(x), name);
  std::vector<Atom> kept_atoms, over_atoms;
  View out = x;
  out.axes.clear();
  for (size_t i = 0; i < x.axes.size(); ++i) {
    for (const Atom &atom : x.axes[i]) {
      if (atom.is_feature()) (over[i] ? over_atoms : kept_atoms).push_back(atom);
      if (over[i] && !atom.is_feature() && atom.size != 1)
        throw Refusal("it reduces over the batch axis of " + view_text(given) + "; accepted: feature axes and time");
    }
    if (!over[i])
      out.axes.push_back(x.axes[i]);
    else if (keep)
      out.axes.emplace_back();
  }
  AttrReduce attr{};
  attr.op = static_cast<uint32_t>(op);
  attr.x_first = static_cast<uint32_t>(x.first);
  fill(kept_atoms, false, {&attr.kept_rank, attr.kept_dims, attr.kept_stride});
  fill(over_atoms, true, {&attr.over_rank, attr.over_dims, attr.over_stride});
  keep_memory_order(&out);
  out.value = new_row(feature_count(out), is_sequence(x));
  graph.nodes.push_back({OpKind::kReduce, name, {x.value}, {out.value}, attr});
  return out;
}

namespace {

void reduce(OpCall &call, Reduce op) {
  const View x = call.real_view(0);
  if (call.has(1)) call.constant(1, "axes");
  const std::vector<bool> over = reduced_axes(call.attributes, call.constants(), x.axes.size());
  call.give(0, call.b.reduced(x, over, op, call.attributes.integer("keepdims", 1) != 0, call.name));
}

void reduce_sum(OpCall &call) {
  reduce(call, Reduce::kSum);
}
void reduce_mean(OpCall &call) {
  reduce(call, Reduce::kMean);
}
void reduce_max(OpCall &call) {
  reduce(call, Reduce::kMax);
}
void reduce_min(OpCall &call) {
  reduce(call, Reduce::kMin);
}
void reduce_prod(OpCall &call) {
  reduce(call, Reduce::kProd);
}
void reduce_l1(OpCall &call) {
  reduce(call, Reduce::kL1);
}
void reduce_l2(OpCall &call) {
  reduce(call, Reduce::kL2);
}
void reduce_sum_square(OpCall &call) {
  reduce(call, Reduce::kSumSquare);
}
void reduce_log_sum(OpCall &call) {
  reduce(call, Reduce::kLogSum);
}
void reduce_log_sum_exp(OpCall &call) {
  reduce(call, Reduce::kLogSumExp);
}

constexpr const char *kFeatures = "feature axes and time; constant 'axes'";

}  // namespace

const std::vector<ImportRow> kImportReduce = {
    {"ReduceSum", reduce_sum, kFeatures},        {"ReduceMean", reduce_mean, kFeatures},
    {"ReduceMax", reduce_max, kFeatures},        {"ReduceMin", reduce_min, kFeatures},
    {"ReduceProd", reduce_prod, kFeatures},      {"ReduceL1", reduce_l1, kFeatures},
    {"ReduceL2", reduce_l2, kFeatures},          {"ReduceSumSquare", reduce_sum_square, kFeatures},
    {"ReduceLogSum", reduce_log_sum, kFeatures}, {"ReduceLogSumExp", reduce_log_sum_exp, "feature axes; constant 'axes'"},
};

}  // namespace rnnp::compiler
