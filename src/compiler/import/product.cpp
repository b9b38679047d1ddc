// product.cpp -- Contract: product.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/product.h"

#include <algorithm>

#include "compiler/eval/eval.h"

namespace rnnp::compiler {
namespace {

bool has(const std::string &labels, char label) {
  return labels.find(label) != std::string::npos;
}

const Axis &axis_of(const Factor &f, char label) {
  return f.view.axes[f.labels.find(label)];
}

int64_t size_of(const Factor &f, char label) {
  const size_t at = f.labels.find(label);
  return f.constant ? f.constant->shape[at] : axis_size(f.view.axes[at]);
}

void drop_axis(Factor *f, char label) {
  const auto at = static_cast<std::ptrdiff_t>(f->labels.find(label));
  f->labels.erase(f->labels.begin() + at);
  if (f->constant)
    f->constant->shape.erase(f->constant->shape.begin() + at);
  else
    f->view.axes.erase(f->view.axes.begin() + at);
}

// Where one factor has size 1 and the other not, the first has no such label.
void broadcast_units(Factor *x, Factor *y) {
  for (const char label : std::string(x->labels)) {
    if (!has(y->labels, label)) continue;
    const int64_t a = size_of(*x, label), b = size_of(*y, label);
    if (a == b) continue;
    if (a != 1 && b != 1)
      throw Refusal("its operands have sizes " + std::to_string(a) + " and " + std::to_string(b) +
                    " where they should be the same");
    drop_axis(a == 1 ? x : y, label);
  }
}

// Labels of x for which `pick` holds, in the order of `labels`.
template <typename Pick>
std::string picked(const std::string &labels, Pick pick) {
  std::string out;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(out), pick);
  return out;
}

// What neither the other factor nor the result has is summed first.
void sum_alone(Builder &b, Factor *f, const Factor &other, const std::string &out, const std::string &name) {
  const std::string alone = picked(f->labels, [&](char l) { return !has(other.labels, l) && !has(out, l); });
  if (alone.empty()) return;
  if (f->constant)
    throw Refusal("its constant is summed over an axis that nothing else has; accepted: constants that are summed already");
  std::vector<bool> over;
  for (const char label : f->labels) over.push_back(has(alone, label));
  f->view = b.reduced(f->view, over, Reduce::kSum, false, name);
  f->labels = picked(f->labels, [&](char l) { return !has(alone, l); });
}

// Dense strides for `atoms` in their order, the last one `stride`. Returns the next larger stride.
int64_t lay_out(std::vector<Atom> *atoms, int64_t stride) {
  for (size_t i = atoms->size(); i-- > 0;) {
    (*atoms)[i].stride = stride;
    stride = times(stride, (*atoms)[i].size);
  }
  return stride;
}

std::vector<Atom> features_of(const Factor &f, const std::string &labels) {
  std::vector<Atom> out;
  for (const char label : labels) {
    for (const Atom &atom : axis_of(f, label)) {
      if (atom.is_feature()) out.push_back(atom);
    }
  }
  return out;
}

void expect_features(const Factor &f, const std::string &labels, const char *what) {
  for (const char label : labels) {
    for (const Atom &atom : axis_of(f, label)) {
      if (!atom.is_feature() && atom.size != 1)
        throw Refusal(std::string(what) + " the time or batch axis of " + view_text(f.view) + "; accepted: feature axes");
    }
  }
}

// The axis with the strides of `laid`, from which its features are taken in order.
Axis relaid(const Axis &axis, std::vector<Atom>::const_iterator *laid) {
  Axis out = axis;
  for (Atom &atom : out) {
    if (atom.is_feature()) atom.stride = (*(*laid)++).stride;
  }
  return out;
}

View view_over(const Factor &x, std::initializer_list<const std::vector<Atom> *> lists) {
  View view = x.view;
  view.axes.clear();
  for (const auto *list : lists) {
    for (const Atom &atom : *list) view.axes.push_back({atom});
  }
  return view;
}

// [group][output][input] of the constant.
std::vector<float> reordered(const Factor &w, const std::string &order) {
  const Shape strides = dense_strides(w.constant->shape);
  Shape dims, steps;
  for (const char label : order) {
    dims.push_back(size_of(w, label));
    steps.push_back(strides[w.labels.find(label)]);
  }
  std::vector<float> out(w.constant->data.size());
  for_each_index(dims, steps, 0, [&](int64_t i, int64_t at) {
    out[static_cast<size_t>(i)] = static_cast<float>(w.constant->data[static_cast<size_t>(at)]);
  });
  return out;
}

uint32_t count_of(const std::vector<Atom> &atoms) {
  return static_cast<uint32_t>(std::min<int64_t>(axis_size(atoms), INT32_MAX));
}

// No sum at all: element by element.
View scaled(Builder &b, const Factor &x, const Factor &w, const std::string &out, const std::string &name) {
  View left = x.view, right = b.const_view(*w.constant);
  const std::vector<Axis> constant_axes = right.axes;
  left.axes.clear();
  right.axes.clear();
  for (const char label : out) {
    left.axes.push_back(has(x.labels, label) ? axis_of(x, label) : Axis{});
    right.axes.push_back(has(w.labels, label) ? constant_axes[w.labels.find(label)] : Axis{});
  }
  return b.binary(Binary::kMul, left, right, name);
}

View with_constant(Builder &b, const Factor &x, const Factor &w, const std::string &out, const std::string &name) {
  if (w.constant->is_dynamic() || w.constant->elem != Elem::kFloat || w.constant->size() == 0)
    throw Refusal("its constant operand is not of constant floats");
  const std::string group = picked(w.labels, [&](char l) { return has(x.labels, l) && has(out, l); });
  const std::string input = picked(w.labels, [&](char l) { return has(x.labels, l) && !has(out, l); });
  const std::string output = picked(out, [&](char l) { return !has(x.labels, l); });
  const std::string free = picked(x.labels, [&](char l) { return !has(w.labels, l); });
  if (input.empty() && output.empty()) return scaled(b, x, w, out, name);
  expect_features(x, input, "it sums over");
  expect_features(x, group, "its weights differ along");
  std::vector<Atom> groups = features_of(x, group), inputs = features_of(x, input), frees = features_of(x, free);
  std::vector<size_t> order(frees.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t k) { return frees[i].stride > frees[k].stride; });
  std::vector<Atom> sorted;
  for (const size_t i : order) sorted.push_back(frees[i]);
  const View whole = b.dense(view_over(x, {&groups, &sorted, &inputs}), name);

  std::vector<Atom> outputs;
  for (const char label : output) outputs.push_back({Atom::Kind::kFeature, size_of(w, label), 0, -1});
  Dense dense;
  dense.input_size = count_of(inputs);
  dense.output_size = count_of(outputs);
  dense.matrices = count_of(groups);
  dense.groups = count_of(sorted) * dense.matrices;
  dense.w = reordered(w, group + output + input);
  std::vector<float> steps;
  if (!w.constant->steps.empty()) steps = reordered({w.labels, {}, steps_tensor(*w.constant)}, group + output + input);
  dense.storage = storage_of_file(stored_type(*w.constant), dense.w, steps, dense.input_size);
  dense.storage.lhs_scale = x.view.known_step();
  lay_out(&groups, lay_out(&sorted, lay_out(&outputs, 1)));
  for (size_t i = 0; i < order.size(); ++i) frees[order[i]] = sorted[i];

  View y;
  auto next_group = groups.cbegin(), next_free = frees.cbegin(), next_output = outputs.cbegin();
  std::vector<Axis> by_label(x.labels.size());
  for (const char label : group) by_label[x.labels.find(label)] = relaid(axis_of(x, label), &next_group);
  for (const char label : free) by_label[x.labels.find(label)] = relaid(axis_of(x, label), &next_free);
  for (const char label : out) {
    if (has(x.labels, label))
      y.axes.push_back(by_label[x.labels.find(label)]);
    else
      y.axes.push_back((next_output->size == 1 ? Axis{} : Axis{*next_output})), ++next_output;
  }
  y.value = b.new_row(feature_count(y), b.is_sequence(whole));
  b.graph.nodes.push_back({OpKind::kDense, name, {whole.value}, {y.value}, std::move(dense)});
  return y;
}

// --- Two factors that are made at run time ------------------------------------------------------------------------------------

struct MatrixAxes {
  std::vector<Atom> batch, rows, columns;
};

// One stride for all of them, or a copy has to make it so. Sums are of at most as many products as either row has elements.
bool single(const std::vector<Atom> &atoms, int64_t *stride) {
  const Axis one = merged(atoms);
  if (one.size() > 1) return false;
  *stride = one.empty() ? 1 : one[0].stride;
  return true;
}

MatrixStrides matrix_strides(Builder &b, Factor *f, MatrixAxes *m, uint32_t products, const std::string &name) {
  int64_t row = 0, column = 0;
  if (!single(m->rows, &row) || !single(m->columns, &column) || products > b.row_elems(f->view)) {
    f->view = b.copied(view_over(*f, {&m->batch, &m->rows, &m->columns}), b.is_sequence(f->view), name);
    lay_out(&m->batch, lay_out(&m->rows, lay_out(&m->columns, 1)));
    single(m->rows, &row);
    single(m->columns, &column);
  }
  MatrixStrides out{};
  out.first = static_cast<uint32_t>(f->view.first);
  out.row = static_cast<int32_t>(row);
  out.column = static_cast<int32_t>(column);
  return out;
}

void fill_batch(const MatrixAxes &a, const MatrixAxes &b, AttrMatMul *attr) {
  for (size_t i = 0; i < a.batch.size(); ++i) {
    if (a.batch[i].size == 1) continue;
    if (attr->rank == kBlobMaxRank) throw Refusal("it multiplies over more than 8 batch axes");
    attr->dims[attr->rank] = static_cast<uint32_t>(a.batch[i].size);
    attr->a.batch[attr->rank] = static_cast<int32_t>(a.batch[i].stride);
    attr->b.batch[attr->rank] = static_cast<int32_t>(b.batch[i].stride);
    ++attr->rank;
  }
}

// An axis of steps (or batch rows) that one factor alone has may not meet steps of the other.
void expect_apart(const Builder &b, const Factor &x, const std::string &alone, const Factor &y) {
  for (const char label : alone) {
    for (const Atom &atom : axis_of(x, label)) {
      const auto same_kind = [&](const Axis &axis) {
        return std::any_of(axis.begin(), axis.end(), [&](const Atom &other) { return other.kind == atom.kind; });
      };
      if (atom.size == 1 || atom.is_feature()) continue;
      const bool meets =
          atom.kind == Atom::Kind::kTime ? b.is_sequence(y.view) : std::any_of(y.view.axes.begin(), y.view.axes.end(), same_kind);
      if (meets) {
        throw Refusal(atom.kind == Atom::Kind::kTime ? "it multiplies every step with every other; accepted: products within a step"
                                                     : "it multiplies every batch row with every other");
      }
    }
  }
}

View of_two(Builder &b, Factor x, Factor y, const std::string &out, const std::string &name) {
  const std::string batch = picked(out, [&](char l) { return has(x.labels, l) && has(y.labels, l); });
  const std::string inner = picked(x.labels, [&](char l) { return has(y.labels, l) && !has(out, l); });
  const std::string rows = picked(out, [&](char l) { return !has(y.labels, l); });
  const std::string columns = picked(out, [&](char l) { return !has(x.labels, l); });
  expect_features(x, inner, "it sums over");
  expect_apart(b, x, rows, y);
  expect_apart(b, y, columns, x);
  MatrixAxes a, c;  // c is y's: its rows are the inner axes
  std::vector<Axis> batch_axes;
  const auto line_up = [&](char label, std::vector<Atom> *to_a, std::vector<Atom> *to_c) {
    Axis first, second;
    if (!align_axes(axis_of(x, label), axis_of(y, label), &first, &second))
      throw Refusal("shapes " + view_text(x.view) + " and " + view_text(y.view) + " do not multiply");
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i].origin >= 0 && second[i].origin >= 0) b.origins->unite(first[i].origin, second[i].origin);
      if (!first[i].is_feature()) continue;
      to_a->push_back(first[i]);
      to_c->push_back(second[i]);
    }
    return first;
  };
  for (const char label : batch) batch_axes.push_back(line_up(label, &a.batch, &c.batch));
  for (const char label : inner) line_up(label, &a.columns, &c.rows);
  a.rows = features_of(x, rows);
  c.columns = features_of(y, columns);
  const Factor given_x = x, given_y = y;  // a copy has other axes
  AttrMatMul attr{};
  attr.m = count_of(a.rows);
  attr.n = count_of(c.columns);
  attr.k = count_of(a.columns);
  attr.a = matrix_strides(b, &x, &a, attr.k, name);
  attr.b = matrix_strides(b, &y, &c, attr.k, name);
  fill_batch(a, c, &attr);

  std::vector<Atom> batches = a.batch;
  lay_out(&batches, lay_out(&a.rows, lay_out(&c.columns, 1)));
  auto next_batch = batches.cbegin(), next_row = a.rows.cbegin(), next_column = c.columns.cbegin();
  View result;
  size_t at = 0;
  for (const char label : out) {
    if (has(batch, label))
      result.axes.push_back(relaid(batch_axes[at++], &next_batch));
    else
      result.axes.push_back(has(rows, label) ? relaid(axis_of(given_x, label), &next_row)
                                             : relaid(axis_of(given_y, label), &next_column));
  }
  result.value = b.new_row(feature_count(result), b.is_sequence(x.view) || b.is_sequence(y.view));
  b.graph.nodes.push_back({OpKind::kMatMul, name, {x.view.value, y.view.value}, {result.value}, attr});
  return result;
}

}  // namespace

View product_of(Builder &b, Factor x, Factor y, const std::string &out, const std::string &name) {
  broadcast_units(&x, &y);
  for (const char label : out) {
    if (!has(x.labels, label) && !has(y.labels, label)) throw Refusal("its result has an axis that no operand has");
  }
  sum_alone(b, &x, y, out, name);
  sum_alone(b, &y, x, out, name);
  if (y.constant) return with_constant(b, x, y, out, name);
  if (x.constant) return with_constant(b, y, x, out, name);
  return of_two(b, std::move(x), std::move(y), out, name);
}

Factor factor_of(const OpCall &call, size_t i) {
  Factor f;
  if (call.is_const(i))
    f.constant = call.constant(i, "the operand");
  else
    f.view = call.real_view(i);
  return f;
}

View matmul_of(Builder &b, Factor x, Factor y, const std::string &name) {
  const auto rank = [](const Factor &f) { return f.constant ? f.constant->rank() : f.view.axes.size(); };
  const size_t a = rank(x), c = rank(y), lead = std::max({a, c, size_t{2}}) - 2;
  if (a == 0 || c == 0) throw Refusal("its operand is a scalar");
  std::string batch;
  for (size_t i = 0; i < lead; ++i) batch += static_cast<char>('0' + i);
  const auto tail = [&](size_t count) { return count > 2 ? batch.substr(lead - (count - 2)) : std::string(); };
  x.labels = a == 1 ? "k" : tail(a) + "mk";
  y.labels = c == 1 ? "k" : tail(c) + "kn";
  return product_of(b, std::move(x), std::move(y), batch + (a == 1 ? "" : "m") + (c == 1 ? "" : "n"), name);
}

}  // namespace rnnp::compiler
