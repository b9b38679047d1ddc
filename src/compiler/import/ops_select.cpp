// ops_select.cpp -- comparisons, logic on masks and Where; a bool tensor is an f32 value of 0 and 1. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compiler/import/select.h"

namespace rnnp::compiler {
namespace {

void compare(OpCall &call, Binary op) {
  const auto operand = [&](size_t i) {
    const View view = call.view(i);
    return view.mask ? view : call.number_view(i);
  };
  const View a = operand(0), b = operand(1);
  if (a.mask != b.mask) throw Refusal("it compares a bool tensor with another type");
  call.give(0, as_mask(call.b.binary(op, a, b, call.name)));
}

void equal(OpCall &call) {
  compare(call, Binary::kEqual);
}
void less(OpCall &call) {
  compare(call, Binary::kLess);
}
void less_or_equal(OpCall &call) {
  compare(call, Binary::kLessOrEqual);
}
void greater(OpCall &call) {
  compare(call, Binary::kGreater);
}
void greater_or_equal(OpCall &call) {
  compare(call, Binary::kGreaterOrEqual);
}

void logic(OpCall &call, Binary op) {
  call.give(0, as_mask(call.b.binary(op, call.mask_view(0), call.mask_view(1), call.name)));
}

void both(OpCall &call) {
  logic(call, Binary::kMul);
}
void either(OpCall &call) {
  logic(call, Binary::kMax);
}
void one_of_two(OpCall &call) {
  logic(call, Binary::kNotEqual);
}
void invert(OpCall &call) {
  const BlobActivation flip = {static_cast<uint32_t>(Act::kAffine), -1.0f, 1.0f};
  call.give(0, as_mask(call.b.unary(call.mask_view(0), flip, call.name)));
}

// slope broadcasts to x, not the other way.
void prelu(OpCall &call) {
  const View x = call.real_view(0);
  const View y = call.b.binary(Binary::kPRelu, x, call.real_view(1), call.name);
  if (view_shape(y) != view_shape(x)) throw Refusal("slope does not broadcast to " + view_text(x));
  call.give(0, y);
}

struct TripleDim {
  int64_t size, stride[3];
};

AttrWhere where_attr(const std::vector<TripleDim> &dims, const View *operands) {
  std::vector<TripleDim> kept;
  const auto continues = [](const TripleDim &slow, const TripleDim &fast) {
    for (size_t i = 0; i < 3; ++i) {
      if (slow.stride[i] != times(fast.stride[i], fast.size)) return false;
    }
    return true;
  };
  for (const TripleDim &dim : dims) {
    if (dim.size == 1) continue;
    const int64_t before = !kept.empty() && continues(kept.back(), dim) ? kept.back().size : 0;
    if (before)
      kept.back() = dim, kept.back().size = times(before, dim.size);
    else
      kept.push_back(dim);
  }
  if (kept.empty()) kept.push_back({1, {1, 1, 1}});
  if (kept.size() > kBlobMaxRank) throw Refusal("it broadcasts over more than 8 axes");
  AttrWhere attr{};
  attr.rank = static_cast<uint32_t>(kept.size());
  for (size_t i = 0; i < 3; ++i) {
    attr.first[i] = static_cast<uint32_t>(operands[i].first);
    for (size_t d = 0; d < kept.size(); ++d) attr.stride[i][d] = static_cast<int32_t>(kept[d].stride[i]);
  }
  for (size_t d = 0; d < kept.size(); ++d) attr.dims[d] = static_cast<uint32_t>(kept[d].size);
  return attr;
}

void unite(const Builder &b, const Atom &x, const Atom &y) {
  if (x.origin >= 0 && y.origin >= 0 && x.rate == y.rate) b.origins->unite(x.origin, y.origin);
}

// One axis of all three operands, lined up; false when they do not broadcast.
bool align_three(const Builder &b, Axis *axes, Axis *out) {
  // The first takes the others' sizes, then these its own: in a round of pairs two of them may only change places.
  for (const auto &[to, from] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 0), std::pair(2, 0), std::pair(1, 2)})
    b.unify(&axes[to], &axes[from]);
  Axis a, two_a, two_b, c;
  if (!align_axes(axes[1], axes[2], &a, &two_b) || !align_axes(a, axes[0], &two_a, &c)) return false;
  for (size_t k = 0; k < a.size(); ++k) unite(b, a[k], two_b[k]);
  for (size_t k = 0; k < c.size(); ++k) unite(b, two_a[k], c[k]);
  Axis same, last;
  if (!align_axes(two_a, two_b, &same, &last) || same.size() != c.size()) return false;
  out[0] = c;
  out[1] = same;
  out[2] = last;
  return true;
}

void where(OpCall &call) {
  const auto operand = [&](size_t i) {
    const View view = call.view(i);
    return view.mask ? view : call.number_view(i);
  };
  call.give(0, chosen(call.b, call.mask_view(0), operand(1), operand(2), call.name));
}

constexpr const char *kOperandsBroadcast = "general broadcasting";
constexpr const char *kMasks = "general broadcasting; the result is 0 or 1";

}  // namespace

View chosen(Builder &b, const View &condition, const View &x, const View &y, const std::string &name) {
  View operands[3] = {condition, x, y};
  if (x.mask != y.mask || x.whole != y.whole) throw Refusal("its operands are of two types");
  size_t rank = 0;
  for (const View &view : operands) rank = std::max(rank, view.axes.size());
  for (View &view : operands) view.axes.insert(view.axes.begin(), rank - view.axes.size(), Axis{});
  b.spread_constants(operands, 3);
  View out;
  out.axes.resize(rank);
  bool sequence = false;
  std::vector<TripleDim> dims;
  for (size_t i = 0; i < rank; ++i) {
    Axis axes[3] = {operands[0].axes[i], operands[1].axes[i], operands[2].axes[i]};
    Axis lined[3];
    if (!align_three(b, axes, lined)) {
      throw Refusal("shapes " + view_text(operands[0]) + ", " + view_text(operands[1]) + " and " + view_text(operands[2]) +
                    " do not broadcast");
    }
    for (size_t k = 0; k < lined[0].size(); ++k) {
      Atom atom = lined[0][k];
      if (atom.is_feature()) dims.push_back({atom.size, {lined[0][k].stride, lined[1][k].stride, lined[2][k].stride}});
      for (const Axis &axis : lined) {
        if (axis[k].origin <= atom.origin) continue;
        atom.origin = axis[k].origin;
        atom.rate = axis[k].rate;
      }
      out.axes[i].push_back(atom);
    }
  }
  for (const View &view : operands) sequence = sequence || b.is_sequence(view);
  out = densified(out);
  out.mask = x.mask;
  out.whole = x.whole;
  out.bounds = hull(x.bounds, y.bounds);
  out.value = b.new_row(feature_count(out), sequence);
  b.graph.nodes.push_back(
      {OpKind::kWhere, name, {operands[0].value, operands[1].value, operands[2].value}, {out.value}, where_attr(dims, operands)});
  return out;
}

const std::vector<ImportRow> kImportSelect = {
    {"Equal", equal, kMasks},
    {"Less", less, kMasks},
    {"LessOrEqual", less_or_equal, kMasks, 12},
    {"Greater", greater, kMasks},
    {"GreaterOrEqual", greater_or_equal, kMasks, 12},
    {"And", both, kMasks},
    {"Or", either, kMasks},
    {"Xor", one_of_two, kMasks},
    {"Not", invert, kMasks},
    {"Where", where, kOperandsBroadcast, 9},
    {"PRelu", prelu, kOperandsBroadcast},
};

}  // namespace rnnp::compiler
