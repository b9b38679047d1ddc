// builder.cpp -- Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/builder.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "compiler/import/integer_bounds.h"
#include "compiler/import/steps.h"

namespace rnnp::compiler {

uint32_t Builder::new_row(int64_t elems, bool sequence) {
  if (elems < 1 || (!discovering && elems > int64_t{kMaxRowElems})) {
    throw Refusal("a row of " + std::to_string(elems) + " elements; accepted: up to " + std::to_string(kMaxRowElems));
  }
  return graph.add_row(static_cast<uint32_t>(std::min<int64_t>(elems, std::numeric_limits<int32_t>::max())), sequence);
}

std::vector<std::string> Builder::inputs_behind(uint32_t value) const {
  std::set<uint32_t> wanted = {value};
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node &node = graph.nodes[n];
    if (std::any_of(node.out.begin(), node.out.end(), [&](uint32_t out) { return wanted.count(out) != 0; }))
      wanted.insert(node.in.begin(), node.in.end());
  }
  std::vector<std::string> names;
  for (const Io &input : graph.inputs) {
    if (wanted.count(input.value) != 0) names.push_back(input.name);
  }
  return names;
}

bool Builder::is_zero(const View &view) const {
  const Value &value = graph.values[view.value];
  return value.kind == ValueKind::kConst && std::all_of(value.f32.begin(), value.f32.end(), [](float x) { return x == 0; });
}

View Builder::const_view(const Tensor &tensor) {
  if (tensor.is_dynamic()) {
    throw Refusal("it computes with the number of steps or batch rows, which is not known before run time");
  }
  View view = dense_view(0, tensor.shape);
  view.whole = tensor.elem == Elem::kInt;
  view.mask = tensor.elem == Elem::kBool;
  if (view.whole) view.bounds = bounds_of(tensor);
  std::vector<float> data;
  data.reserve(tensor.data.size());
  for (double v : tensor.data) data.push_back(static_cast<float>(v));
  view.value = graph.add_const(std::move(data));
  return view;
}

AttrCopy copy_attr(std::vector<CopyDim> dims, int64_t x_first, int64_t y_first) {
  const std::optional<AttrCopy> copy = one_copy(std::move(dims), x_first, y_first);
  if (!copy) throw Refusal("it moves data over more than 8 axes");
  return *copy;
}

View Builder::copied(const View &view, bool sequence, const std::string &name) {
  if (graph.values[view.value].dtype != DType::kF32) throw Refusal("it moves integers at run time; accepted: float");
  View out = densified(view);
  const std::vector<Atom> from = features_of(view), to = features_of(out);
  std::vector<CopyDim> dims;
  for (size_t i = 0; i < from.size(); ++i) dims.push_back({from[i].size, from[i].stride, to[i].stride});
  out.value = new_row(feature_count(view), sequence);
  if (view.step_of == view.value) out.step_of = out.value;
  graph.nodes.push_back({OpKind::kCopy, name, {view.value}, {out.value}, copy_attr(dims, view.first, 0)});
  return out;
}

View Builder::dense(const View &view, const std::string &name) {
  const bool is_const = graph.values[view.value].kind == ValueKind::kConst;
  return !is_const && is_dense(view, row_elems(view)) ? view : copied(view, is_sequence(view), name);
}

View Builder::as_row(const View &view, const std::string &name) {
  return graph.values[view.value].kind == ValueKind::kConst ? copied(view, false, name) : view;
}

void Builder::unify(Axis *a, Axis *b) const {
  if (!discovering || a->size() != 1 || b->size() != 1 || a->front().size == b->front().size) return;
  Atom &x = a->front(), &y = b->front();
  if (x.origin < 0 || y.origin < 0 || x.size == 1 || y.size == 1) return;
  if (!origins->dynamic(x.origin) && !origins->dynamic(y.origin)) return;
  if (x.rate != y.rate) return;
  origins->unite(x.origin, y.origin);
  x.size = y.size = origins->dynamic(x.origin) ? y.size : x.size;
}

View Builder::as_numbers(const View &x, const std::string &name) {
  const Value &value = graph.values[x.value];
  if (value.dtype == DType::kF32) return x;
  const auto rows = index_rows.find(x.value);
  if (rows == index_rows.end() || rows->second < 1)
    throw Refusal("it computes with an integer tensor that is a length; accepted: float");
  if (!is_dense(x, value.elems) && !discovering) throw Refusal("it computes with a part of an integer input; accepted: the whole");
  graph.values[x.value].sequence = true;
  Gather attr{static_cast<uint32_t>(rows->second), 1, value.elems, {}};
  for (int64_t i = 0; i < rows->second; ++i) attr.table.push_back(static_cast<float>(i));
  View out = densified(x);
  out.whole = true;
  out.bounds = {0, static_cast<double>(rows->second - 1)};
  out.value = new_row(feature_count(out), true);
  graph.nodes.push_back({OpKind::kGather, name, {x.value}, {out.value}, std::move(attr)});
  return out;
}

void Builder::keep_why(uint32_t from, uint32_t to) {
  if (const auto why = off_steps.find(from); why != off_steps.end()) off_steps[to] = why->second;
}

View Builder::unary(const View &x, const BlobActivation &act, const std::string &name) {
  View out = as_row(x, name);
  if (!is_permutation(out, row_elems(out))) out = copied(out, is_sequence(out), name);
  const uint32_t from = out.value;
  out.value = new_row(row_elems(out), is_sequence(out));
  keep_why(x.value, out.value);
  graph.nodes.push_back({OpKind::kUnary, name, {from}, {out.value}, AttrUnary{act}});
  return out;
}

View Builder::time_step(const View &x, bool last, const std::string &name) {
  View out = x;
  out.value = new_row(row_elems(x), false);
  graph.nodes.push_back({OpKind::kTimeStep, name, {x.value}, {out.value}, AttrTimeStep{last ? 1u : 0u, kNone}});
  return out;
}

namespace {

struct PairDim {
  int64_t size, a, b;
};

AttrBinary binary_attr(Binary op, const std::vector<PairDim> &dims) {
  std::vector<PairDim> kept;
  for (const PairDim &dim : dims) {
    if (dim.size == 1) continue;
    PairDim *last = kept.empty() ? nullptr : &kept.back();
    if (last && last->a == times(dim.a, dim.size) && last->b == times(dim.b, dim.size)) {
      *last = {times(last->size, dim.size), dim.a, dim.b};
    } else {
      kept.push_back(dim);
    }
  }
  if (kept.empty()) kept.push_back({1, 1, 1});
  if (kept.size() > kBlobMaxRank) throw Refusal("it broadcasts over more than 8 axes");
  AttrBinary attr{};
  attr.op = static_cast<uint32_t>(op);
  attr.rank = static_cast<uint32_t>(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    attr.dims[i] = static_cast<uint32_t>(kept[i].size);
    attr.a_stride[i] = static_cast<uint32_t>(kept[i].a);
    attr.b_stride[i] = static_cast<uint32_t>(kept[i].b);
  }
  return attr;
}

// kBinary has neither offsets nor negative strides, and its last stride is 0 or 1.
bool plain_strides(int64_t first, const std::vector<int64_t> &strides) {
  return first == 0 && std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s >= 0; }) &&
         (strides.empty() || strides.back() <= 1);
}

// Strides of the same elements one after the other in the order of `sizes`; 0 stays 0.
std::vector<int64_t> packed_strides(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
  std::vector<int64_t> packed(strides.size(), 0);
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (strides[i] == 0) continue;
    packed[i] = stride;
    stride = times(stride, sizes[i]);
  }
  return packed;
}

}  // namespace

// Copies an operand that a binary node cannot read as it lies.
void Builder::make_plain(Operand *operand, const std::vector<int64_t> &sizes, const std::string &name) {
  if (plain_strides(operand->first, operand->strides)) return;
  const std::vector<int64_t> packed = packed_strides(sizes, operand->strides);
  std::vector<CopyDim> dims;
  int64_t elems = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (operand->strides[i] == 0) continue;
    dims.push_back({sizes[i], operand->strides[i], packed[i]});
    elems = times(elems, sizes[i]);
  }
  if (graph.values[operand->value].dtype != DType::kF32) throw Refusal("it moves integers at run time; accepted: float");
  const uint32_t copy = new_row(elems, graph.values[operand->value].sequence);
  graph.nodes.push_back({OpKind::kCopy, name, {operand->value}, {copy}, copy_attr(dims, operand->first, 0)});
  *operand = {copy, 0, packed};
}

namespace {

// Of two axes of as many steps: which steps they are.
std::string apart_text(const Axis &a, const Axis &b) {
  if (axis_size(a) != axis_size(b)) return "";
  const bool alike = a.size() == 1 && b.size() == 1 && a[0].kind == b[0].kind;
  if (!alike || (a[0].lead == b[0].lead && a[0].reversed == b[0].reversed))
    return ": as many elements at the sizes in the file, but one of the two changes with the number of steps or batch rows";
  if (a[0].reversed != b[0].reversed) return ": the steps of one lie in reverse order";
  const auto first = [](const Atom &atom) { return std::to_string(-atom.lead); };
  return ": the first begins with step " + first(a[0]) + " of the run, the second with step " + first(b[0]) +
         "; accepted: the same steps of both";
}

// Whether all indices of an axis have the same numbers.
bool is_same_along(const std::vector<float> &numbers, View view, size_t axis) {
  const std::vector<int64_t> along = places(view.axes[axis], 0);
  view.axes[axis].clear();
  const std::vector<int64_t> others = places(features_of(view), view.first);
  return std::all_of(along.begin(), along.end(), [&](int64_t by) {
    return std::all_of(others.begin(), others.end(),
                       [&](int64_t at) { return numbers[static_cast<size_t>(at + by)] == numbers[static_cast<size_t>(at)]; });
  });
}

}  // namespace

// Exporters compute constants as large as the example: where all its rows or all its steps are the same, there are any number.
void Builder::spread_constant(View *constant, size_t axis, const Axis &like) const {
  const Value &value = graph.values[constant->value];
  const bool shared = like.size() == 1 && axis_size(like) > 1 && !like[0].is_off_steps() &&
                      (like[0].kind == Atom::Kind::kBatch || like[0].kind == Atom::Kind::kTime);
  if (!shared || value.kind != ValueKind::kConst || value.f32.empty() || !axis_is_features(constant->axes[axis])) return;
  if (axis_size(constant->axes[axis]) != axis_size(like)) return;
  if (!is_same_along(value.f32, *constant, axis)) return;
  constant->axes[axis] = like;
  constant->axes[axis][0].stride = 0;
}

void Builder::spread_constants(View *views, size_t count, size_t apart) const {
  for (View *view = views; view != views + count; ++view) {
    for (const View *other = views; other != views + count; ++other) {
      for (size_t i = 0; i < std::min(view->axes.size(), other->axes.size()); ++i) {
        if (i != apart) spread_constant(view, i, other->axes[i]);
      }
    }
  }
}

// Steps of which there are more or fewer than the run has, beside features: the time axis is another one, and these are features
// too.
static void settle_beside(Axis *axis, const Axis &features) {
  if (features.empty() || !axis_is_features(features) || axis_size(*axis) != axis_size(features)) return;
  if (std::any_of(features.begin(), features.end(), [](const Atom &atom) { return atom.is_off_steps(); })) return;
  for (Atom &atom : *axis) {
    if (atom.is_off_steps()) atom = Atom{Atom::Kind::kFeature, atom.size, atom.stride, -1};
  }
}

View Builder::align(const View &a, const View &b, std::vector<AlignedAtom> *aligned) {
  const size_t rank = std::max(a.axes.size(), b.axes.size());
  View left = a, right = b, out;
  out.axes.resize(rank);
  left.axes.insert(left.axes.begin(), rank - a.axes.size(), Axis{});
  right.axes.insert(right.axes.begin(), rank - b.axes.size(), Axis{});
  for (size_t i = 0; i < rank; ++i) {
    Axis x, y;
    unify(&left.axes[i], &right.axes[i]);
    if (discovering) {
      settle_beside(&left.axes[i], right.axes[i]);
      settle_beside(&right.axes[i], left.axes[i]);
    }
    spread_constant(&left, i, right.axes[i]);
    spread_constant(&right, i, left.axes[i]);
    if (!align_axes(left.axes[i], right.axes[i], &x, &y)) {
      throw Refusal("shapes " + view_text(a) + " and " + view_text(b) + " do not broadcast" +
                    apart_text(left.axes[i], right.axes[i]));
    }
    out.axes[i] = x;
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k].origin >= 0 && y[k].origin >= 0 && x[k].rate == y[k].rate) origins->unite(x[k].origin, y[k].origin);
      if (x[k].origin < 0) {
        out.axes[i][k].origin = y[k].origin;
        out.axes[i][k].rate = y[k].rate;
      }
      if (x[k].is_feature()) aligned->push_back({i, k, {x[k].stride, y[k].stride}});
    }
  }
  return out;
}

// The result's row keeps the order of the operand that has the most elements, the first of equals: what lies channels-last stays
// so.
View Builder::binary(Binary op, const View &a, const View &b, const std::string &name) {
  std::vector<AlignedAtom> aligned;
  View out = align(a, b, &aligned);
  out.whole = a.whole && b.whole;
  if (out.whole) out.bounds = bounds_after(op, a.bounds, b.bounds);
  if (out.whole && !discovering) check_held(out.bounds);
  const size_t by = feature_count(b) > feature_count(a) ? 1 : 0;
  std::stable_sort(aligned.begin(), aligned.end(),
                   [&](const AlignedAtom &x, const AlignedAtom &y) { return std::abs(x.stride[by]) > std::abs(y.stride[by]); });
  std::vector<int64_t> sizes;
  Operand operands[2] = {{a.value, a.first, {}}, {b.value, b.first, {}}};
  int64_t stride = 1;
  for (size_t i = aligned.size(); i-- > 0;) {
    Atom &atom = out.axes[aligned[i].axis][aligned[i].atom];
    atom.stride = stride;
    stride = times(stride, atom.size);
  }
  for (const AlignedAtom &x : aligned) {
    const int64_t size = out.axes[x.axis][x.atom].size;
    if (size == 1) continue;
    sizes.push_back(size);
    for (size_t side = 0; side < 2; ++side) operands[side].strides.push_back(x.stride[side]);
  }
  std::vector<PairDim> dims;
  const bool same = operands[0].value == operands[1].value && operands[0].first == operands[1].first &&
                    operands[0].strides == operands[1].strides;
  make_plain(&operands[0], sizes, name);
  if (same) operands[1] = operands[0];
  make_plain(&operands[1], sizes, name);
  for (size_t i = 0; i < sizes.size(); ++i) dims.push_back({sizes[i], operands[0].strides[i], operands[1].strides[i]});
  out.value = new_row(feature_count(out), is_sequence(a) || is_sequence(b));
  for (const View *operand : {&a, &b}) keep_why(operand->value, out.value);
  graph.nodes.push_back({OpKind::kBinary, name, {operands[0].value, operands[1].value}, {out.value}, binary_attr(op, dims)});
  return out;
}

Axis Builder::input_axis(int origin) const {
  const int64_t size = origins->size(origin), period = discovering ? 1 : origins->period(origin);
  const AxisRole role = discovering ? AxisRole::kUnknown : origins->role(origin);
  if (role == AxisRole::kTime) return steps_axis(period);
  if (role == AxisRole::kBatch) return {Atom{Atom::Kind::kBatch, batch_size, 0, -1}};
  const Atom atom{Atom::Kind::kFeature, size, 0, discovering ? origin : -1};
  return atom.size == 1 && !atom.is_symbol() ? Axis{} : Axis{atom};
}

Axis Builder::steps_axis(int64_t elements) const {
  Axis axis = {Atom{Atom::Kind::kTime, time_size, 0, -1}};
  if (elements != 1) axis.push_back(Atom{Atom::Kind::kFeature, elements, 0, -1});
  return axis;
}

Dim Builder::dim_of(const Axis &axis) const {
  Dim size = 1;
  for (const Atom &atom : axis) {
    if (atom.kind == Atom::Kind::kBatch && batch_dynamic) {
      size = size * Dim::symbol("batch", batch_size);
    } else if (atom.kind == Atom::Kind::kTime && time_dynamic) {
      size = size * (Dim::symbol("steps", time_size) + atom.lead + atom.trail);
    } else if (atom.origin >= 0 && origins->dynamic(atom.origin)) {
      size = size * Dim::symbol("axis " + std::to_string(atom.size), atom.size);  // while axes are looked for
    } else {
      size = size * atom.size;
    }
  }
  return size;
}

Axis Builder::symbol_axis(const Dim &size) const {
  constexpr int64_t kMostElements = 1024;  // of a step
  const int64_t number = size.stand_in();
  if (number < 1) throw Refusal("the dimension " + size.text() + "; accepted: 1 or more");
  if (number == 1) return {};
  if (discovering || size.is_number()) return {Atom{Atom::Kind::kFeature, number, 0, -1}};
  Dim rest = size;
  const auto takes_out = [&rest](bool is_open, const char *name, int64_t stand_in) {
    const std::optional<Dim> left = is_open ? rest.exact_div(Dim::symbol(name, stand_in)) : std::nullopt;
    if (left) rest = *left;
    return left.has_value();
  };
  const bool rows = takes_out(batch_dynamic, "batch", batch_size), steps = takes_out(time_dynamic, "steps", time_size);
  if (rest.is_number() && rest.number() >= 1 && rest.number() <= kMostElements && (steps || rest == Dim(1))) {
    Axis axis = steps ? steps_axis(rest.number()) : Axis{};
    if (rows) axis.insert(axis.begin(), Atom{Atom::Kind::kBatch, batch_size, 0, -1});
    return axis;
  }
  throw Refusal("it makes an axis of " + size.text() + " elements; accepted: the number of steps, of batch rows, or a constant");
}

const std::vector<const std::vector<ImportRow> *> &import_tables() {
  static const std::vector<const std::vector<ImportRow> *> kTables = {
      &kImportShape,  &kImportMath,    &kImportLinear, &kImportConv,     &kImportPool,   &kImportRecurrent,
      &kImportReduce, &kImportNorm,    &kImportSelect, &kImportProduct,  &kImportPieces, &kImportLoop,
      &kImportPlace,  &kImportRunning, &kImportIndex,  &kImportQuantize, &kImportReverse};
  return kTables;
}

ImportFn find_import(const std::string &op_type) {
  for (const auto *table : import_tables()) {
    for (const ImportRow &row : *table) {
      if (op_type == row.op_type) return row.function;
    }
  }
  return nullptr;
}

}  // namespace rnnp::compiler
