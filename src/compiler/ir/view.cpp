// view.cpp -- Contract: view.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/view.h"

#include <algorithm>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

namespace {

constexpr int64_t kMostStride = int64_t{1} << 60;

}  // namespace

IntegerBounds hull(const IntegerBounds &a, const IntegerBounds &b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

int64_t times(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) == (b < 0) ? kMostStride : -kMostStride;
  return std::clamp(out, -kMostStride, kMostStride);
}

int64_t plus(int64_t a, int64_t b) {
  return std::clamp(a + b, -kMostStride, kMostStride);
}

int64_t axis_size(const Axis &axis) {
  int64_t size = 1;
  for (const Atom &atom : axis) size = times(size, atom.size);
  return size;
}

std::vector<int64_t> view_shape(const View &view) {
  std::vector<int64_t> shape;
  for (const Axis &axis : view.axes) shape.push_back(axis_size(axis));
  return shape;
}

std::string view_text(const View &view) {
  std::string text = "[";
  for (const Axis &axis : view.axes) {
    text += text.size() > 1 ? ", " : "";
    if (axis.empty()) text += "1";
    for (size_t i = 0; i < axis.size(); ++i) {
      text += i ? "*" : "";
      const bool may_be_off = axis[i].kind == Atom::Kind::kTime || (axis[i].origin >= 0 && axis[i].rate == 1);
      text += axis[i].kind == Atom::Kind::kTime    ? "steps"
              : axis[i].kind == Atom::Kind::kBatch ? "batch"
                                                   : std::to_string(may_be_off ? axis[i].steps() : axis[i].size);
      if (may_be_off) {
        const int64_t more = axis[i].lead + axis[i].trail;
        if (more != 0) text += (more < 0 ? "" : "+") + std::to_string(more);
      }
    }
  }
  return text + "]";
}

std::vector<Atom> features_of(const View &view) {
  std::vector<Atom> out;
  for (const Axis &axis : view.axes) {
    for (const Atom &atom : axis) {
      if (atom.is_feature()) out.push_back(atom);
    }
  }
  return out;
}

std::vector<int64_t> places(const std::vector<Atom> &atoms, int64_t first) {
  std::vector<int64_t> found = {first};
  for (const Atom &atom : atoms) {
    std::vector<int64_t> all;
    all.reserve(found.size() * static_cast<size_t>(atom.size));
    for (const int64_t at : found) {
      for (int64_t k = 0; k < atom.size; ++k) all.push_back(at + k * atom.stride);
    }
    found = std::move(all);
  }
  return found;
}

int64_t feature_count(const View &view) {
  return axis_size(features_of(view));
}

bool axis_is_features(const Axis &axis) {
  return std::all_of(axis.begin(), axis.end(), [](const Atom &atom) { return atom.is_feature(); });
}

View dense_view(uint32_t value, const std::vector<int64_t> &shape) {
  View view;
  view.value = value;
  for (int64_t dim : shape) {
    if (dim == 0) throw Refusal("a tensor of shape " + shape_text(shape) + " is empty");
    view.axes.push_back(dim == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, dim, 0, -1}});
  }
  return densified(view);
}

View densified(View view) {
  view.first = 0;
  int64_t stride = 1;
  for (size_t a = view.axes.size(); a-- > 0;) {
    for (size_t i = view.axes[a].size(); i-- > 0;) {
      Atom &atom = view.axes[a][i];
      if (!atom.is_feature()) continue;
      atom.stride = stride;
      stride = times(stride, atom.size);
    }
  }
  return view;
}

View packed_in_order(View view) {
  std::vector<Atom *> atoms;
  for (Axis &axis : view.axes) {
    for (Atom &atom : axis) {
      if (!atom.is_feature() || atom.size == 1) continue;
      if (atom.stride <= 0) return densified(std::move(view));
      atoms.push_back(&atom);
    }
  }
  std::stable_sort(atoms.begin(), atoms.end(), [](const Atom *a, const Atom *b) { return a->stride > b->stride; });
  int64_t stride = 1;
  for (size_t i = atoms.size(); i-- > 0;) {
    atoms[i]->stride = stride;
    stride = times(stride, atoms[i]->size);
  }
  view.first = 0;
  return view;
}

bool is_dense(const View &view, uint32_t value_elems) {
  if (view.first != 0 || feature_count(view) != value_elems) return false;
  int64_t stride = 1;
  const std::vector<Atom> features = features_of(view);
  for (size_t i = features.size(); i-- > 0;) {
    if (features[i].size != 1 && features[i].stride != stride) return false;
    stride = times(stride, features[i].size);
  }
  return true;
}

bool is_permutation(const View &view, uint32_t value_elems) {
  if (view.first != 0 || feature_count(view) != value_elems) return false;
  std::vector<Atom> features = features_of(view);
  std::sort(features.begin(), features.end(), [](const Atom &a, const Atom &b) { return a.stride < b.stride; });
  int64_t stride = 1;
  for (const Atom &atom : features) {
    if (atom.size != 1 && atom.stride != stride) return false;
    stride = times(stride, atom.size);
  }
  return true;
}

Axis merged(const Axis &axis) {
  Axis out;
  for (const Atom &atom : axis) {
    if (atom.is_feature() && atom.size == 1 && atom.origin < 0) continue;
    Atom *last = out.empty() ? nullptr : &out.back();
    if (last && !last->is_symbol() && !atom.is_symbol() && last->stride == times(atom.stride, atom.size) && atom.stride > 0) {
      *last = Atom{Atom::Kind::kFeature, times(last->size, atom.size), atom.stride, -1};
    } else {
      out.push_back(atom);
    }
  }
  return out;
}

namespace {

// Takes atoms off the front of `from` until they make up `size`, splitting the last feature atom where needed.
Axis take(std::vector<Atom> *from, int64_t size) {
  Axis axis;
  int64_t got = 1;
  while (got < size && !from->empty()) {
    Atom atom = from->front();
    if (atom.size == 1 || (got <= size / atom.size && size % times(got, atom.size) == 0)) {
      from->erase(from->begin());
      got = times(got, atom.size);
      axis.push_back(atom);
      continue;
    }
    const int64_t head = size / got;
    if (!atom.is_feature() || size % got != 0 || head < 1 || atom.size % head != 0) {
      throw Refusal(atom.is_feature() ? "the reshape cuts an axis in an uneven way" : "the reshape cuts the time or batch axis");
    }
    const Atom first{Atom::Kind::kFeature, head, times(atom.stride, atom.size / head), -1};
    from->front() = Atom{Atom::Kind::kFeature, atom.size / head, atom.stride, -1};
    axis.push_back(first);
    got = times(got, head);
  }
  if (got != size) throw Refusal("the reshape does not fit its input");
  return axis;
}

bool only_unit_symbols(const Axis &axis) {
  return std::all_of(axis.begin(), axis.end(), [](const Atom &atom) { return atom.is_symbol() && atom.size == 1; });
}

// A symbol of size 1 that shares an axis with features is implied: every value has its T and B whether named or not.
void imply_units(Axis *axis) {
  if (only_unit_symbols(*axis)) return;
  axis->erase(std::remove_if(axis->begin(), axis->end(), [](const Atom &atom) { return atom.is_symbol() && atom.size == 1; }),
              axis->end());
}

}  // namespace

View reshape_view(const View &view, const std::vector<int64_t> &target) {
  std::vector<Atom> atoms;
  for (const Axis &axis : view.axes) atoms.insert(atoms.end(), axis.begin(), axis.end());
  atoms = merged(atoms);
  View out = view;
  out.axes.clear();
  for (size_t i = 0; i < target.size(); ++i) {
    Axis axis;
    const bool next_is_unit = i + 1 < target.size() && target[i + 1] == 1;
    if (target[i] == 1) {
      if (!atoms.empty() && atoms.front().size == 1) {
        axis.push_back(atoms.front());
        atoms.erase(atoms.begin());
      }
    } else {
      axis = take(&atoms, target[i]);
    }
    while (!atoms.empty() && atoms.front().size == 1 && !next_is_unit && (target[i] == 1 || i + 1 == target.size())) {
      axis.push_back(atoms.front());
      atoms.erase(atoms.begin());
    }
    imply_units(&axis);
    out.axes.push_back(axis);
  }
  if (axis_size(atoms) != 1) throw Refusal("the reshape does not fit its input");
  return out;
}

View slice_axis(View view, size_t axis, int64_t first, int64_t count, int64_t step) {
  Axis atoms = merged(view.axes[axis]);
  if (count < 1) throw Refusal("the slice is empty");
  if (first == 0 && step == 1 && count == axis_size(atoms)) return view;
  if (atoms.empty()) return view;  // size 1 and one element taken
  if (atoms.size() != 1 || !atoms[0].is_feature())
    throw Refusal("the time or batch axis cannot be cut here; accepted: feature axes");
  view.first = plus(view.first, times(first, atoms[0].stride));
  view.axes[axis] = count == 1 ? Axis{} : Axis{Atom{Atom::Kind::kFeature, count, times(atoms[0].stride, step), -1}};
  return view;
}

View expand_view(const View &view, const std::vector<Axis> &target) {
  View out = view;
  out.axes = target;
  const size_t lead = target.size() - view.axes.size();
  for (size_t i = 0; i < target.size(); ++i) {
    if (i >= lead && axis_size(view.axes[i - lead]) != 1) {
      out.axes[i] = view.axes[i - lead];
      continue;
    }
    for (Atom &atom : out.axes[i]) atom.stride = 0;
  }
  return out;
}

namespace {

Atom still(Atom atom) {
  atom.stride = 0;
  return atom;
}

// The slow factor of `size` elements comes off the front; the rest stays in *atom.
Atom split_front(Atom *atom, int64_t size, bool *left) {
  const Atom whole = *atom;
  *left = whole.size != size;
  if (!*left) return whole;
  *atom = Atom{Atom::Kind::kFeature, whole.size / size, whole.stride, -1};
  return Atom{Atom::Kind::kFeature, size, times(whole.stride, whole.size / size), -1};
}

// Unit symbols of both, once each.
void align_units(const Axis &a, const Axis &b, Axis *out_a, Axis *out_b) {
  const auto known = [&](const Atom &atom) {
    return std::any_of(out_a->begin(), out_a->end(), [&](const Atom &o) { return o.kind == atom.kind && o.origin == atom.origin; });
  };
  for (const Axis *axis : {&a, &b}) {
    for (const Atom &atom : *axis) {
      if (!atom.is_symbol() || known(atom)) continue;
      out_a->push_back(still(atom));
      out_b->push_back(still(atom));
    }
  }
}

}  // namespace

bool align_axes(const Axis &a, const Axis &b, Axis *out_a, Axis *out_b) {
  const int64_t size_a = axis_size(a), size_b = axis_size(b);
  if (size_a == 1 && size_b == 1) {
    align_units(a, b, out_a, out_b);
    return true;
  }
  if (size_a == 1 || size_b == 1) {
    for (const Atom &atom : size_a == 1 ? b : a) {
      if (atom.size == 1) continue;
      out_a->push_back(size_a == 1 ? still(atom) : atom);
      out_b->push_back(size_a == 1 ? atom : still(atom));
    }
    return true;
  }
  if (size_a != size_b) return false;
  size_t i = 0, j = 0;
  Atom x{}, y{};
  bool have_x = false, have_y = false;
  const auto next = [](const Axis &axis, size_t *at, Atom *atom, bool *have) {
    while (!*have && *at < axis.size()) {
      *atom = axis[(*at)++];
      *have = atom->size != 1;
    }
  };
  while (true) {
    next(a, &i, &x, &have_x);
    next(b, &j, &y, &have_y);
    if (!have_x && !have_y) return true;
    if (!have_x || !have_y) return false;
    // An axis that repeats one element as often as the file has steps or rows has one for each of those that come.
    if (x.kind != y.kind && x.size == y.size) {
      if (x.is_feature() && x.stride == 0) x = still(y);
      if (y.is_feature() && y.stride == 0) y = still(x);
    }
    if (x.kind != y.kind) return false;
    const int64_t piece = std::min(x.size, y.size);
    if (x.size % piece != 0 || y.size % piece != 0 || (x.size != y.size && !x.is_feature())) return false;
    if (x.lead != y.lead || x.trail != y.trail || x.reversed != y.reversed) return false;
    out_a->push_back(split_front(&x, piece, &have_x));
    out_b->push_back(split_front(&y, piece, &have_y));
  }
}

}  // namespace rnnp::compiler
