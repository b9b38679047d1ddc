// eval_einsum.cpp -- Einsum in double, and its equation as numbers. Contract: einsum.h, eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/einsum.h"

#include <algorithm>
#include <cctype>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr int kDots = 256;  // the k-th axis under an ellipsis, counted from its last, is kDots + k

[[noreturn]] void refuse(const std::string &equation, const std::string &what) {
  throw Refusal("attribute 'equation' is " + quote(equation) + ": " + what);
}

// One side of a comma: labels in order, an ellipsis as `dots` axes.
std::vector<int> labels_of(const std::string &equation, const std::string &term, int64_t dots) {
  std::vector<int> labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(term[i]);
    } else if (term.compare(i, 3, "...") == 0 && !seen) {
      seen = true;
      i += 2;
      for (int64_t k = dots; k-- > 0;) labels.push_back(kDots + static_cast<int>(k));
    } else {
      refuse(equation, "accepted: letters, commas, one '...' per term, '->'");
    }
  }
  return labels;
}

int64_t letters(const std::string &term) {
  return std::count_if(term.begin(), term.end(), [](unsigned char c) { return std::isalpha(c); });
}

std::vector<std::string> split_terms(const std::string &text) {
  std::vector<std::string> terms{""};
  for (char c : text) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

// Without '->': the ellipsis, then every letter that stands exactly once, in order.
std::vector<int> implied_output(const std::vector<std::vector<int>> &terms, int64_t dots) {
  std::vector<int> out;
  for (int64_t k = dots; k-- > 0;) out.push_back(kDots + static_cast<int>(k));
  for (int letter = 0; letter < kDots; ++letter) {
    int64_t count = 0;
    for (const auto &term : terms) count += std::count(term.begin(), term.end(), letter);
    if (count == 1) out.push_back(letter);
  }
  return out;
}

}  // namespace

EinsumSpec einsum_spec(const std::string &text, const std::vector<size_t> &ranks) {
  std::string equation = text;
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = split_terms(equation.substr(0, arrow));
  if (terms.size() != ranks.size())
    refuse(text, "it has " + std::to_string(terms.size()) + " terms for " + std::to_string(ranks.size()) + " inputs");
  int64_t dots = 0;
  EinsumSpec spec;
  for (size_t i = 0; i < terms.size(); ++i) {
    const int64_t rest = static_cast<int64_t>(ranks[i]) - letters(terms[i]);
    const bool open = terms[i].find("...") != std::string::npos;
    if (rest < 0 || (rest > 0 && !open))
      refuse(text, "term " + std::to_string(i) + " does not fit an input of rank " + std::to_string(ranks[i]));
    spec.in.push_back(labels_of(text, terms[i], rest));
    dots = std::max(dots, rest);
  }
  if (arrow == std::string::npos) {
    spec.out = implied_output(spec.in, dots);
  } else {
    spec.out = labels_of(text, equation.substr(arrow + 2), dots);
  }
  for (int label : spec.out) {
    const bool known =
        std::any_of(spec.in.begin(), spec.in.end(), [&](const auto &t) { return std::count(t.begin(), t.end(), label) != 0; });
    if (!known || std::count(spec.out.begin(), spec.out.end(), label) != 1)
      refuse(text, "its output has a label that no input has, or one twice");
  }
  spec.all = spec.out;
  for (const auto &term : spec.in) {
    for (int label : term) {
      if (std::find(spec.all.begin(), spec.all.end(), label) == spec.all.end()) spec.all.push_back(label);
    }
  }
  return spec;
}

Shape einsum_sizes(const EinsumSpec &spec, const std::vector<Shape> &shapes) {
  Shape sizes(spec.all.size(), 1);
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t axis = 0; axis < shapes[i].size(); ++axis) {
      const size_t at = static_cast<size_t>(std::find(spec.all.begin(), spec.all.end(), spec.in[i][axis]) - spec.all.begin());
      const int64_t size = shapes[i][axis];
      if (size != 1 && sizes[at] != 1 && size != sizes[at])
        throw Refusal("axes of sizes " + std::to_string(sizes[at]) + " and " + std::to_string(size) + " share a label");
      if (size != 1) sizes[at] = size;
    }
  }
  return sizes;
}

namespace {

// The strides of one input along all labels; 0 where it has none or is 1 there.
Shape strides_along(const EinsumSpec &spec, size_t input, const Shape &shape) {
  const Shape dense = dense_strides(shape);
  Shape strides(spec.all.size(), 0);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const size_t at = static_cast<size_t>(std::find(spec.all.begin(), spec.all.end(), spec.in[input][axis]) - spec.all.begin());
    if (shape[axis] != 1) strides[at] += dense[axis];
  }
  return strides;
}

// Labels of the output come first, so each output element is a run of `inner` products.
void einsum(EvalCall &call) {
  std::vector<size_t> ranks;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < call.in.size(); ++i) {
    ranks.push_back(call.input(i).rank());
    shapes.push_back(call.in[i]->shape);
  }
  const EinsumSpec spec = einsum_spec(call.attributes.text("equation", ""), ranks);
  const Shape sizes = einsum_sizes(spec, shapes);
  Tensor out(call.input(0).elem, Shape(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(spec.out.size())));
  const Shape summed(sizes.begin() + static_cast<std::ptrdiff_t>(spec.out.size()), sizes.end());
  const int64_t inner = element_count(summed, int64_t{1} << 40);
  check_work(out.size(), inner, static_cast<int64_t>(call.in.size()), 1);
  std::vector<Shape> strides;
  for (size_t i = 0; i < shapes.size(); ++i) strides.push_back(strides_along(spec, i, shapes[i]));
  std::vector<NumberPointer> factors;
  for (const Tensor *in : call.in) factors.push_back(in->data.numbers());
  Shape index(sizes.size(), 0);
  std::vector<int64_t> at(factors.size(), 0);
  // The next index, the last label fastest, and where each factor stands there.
  const auto advance = [&] {
    for (size_t label = sizes.size(); label-- > 0;) {
      const bool more = ++index[label] < sizes[label];
      for (size_t i = 0; i < at.size(); ++i) at[i] += more ? strides[i][label] : -(sizes[label] - 1) * strides[i][label];
      if (more) return;
      index[label] = 0;
    }
  };
  double *sum = out.data.data();
  for (int64_t n = 0; n < out.size(); ++n, ++sum) {
    for (int64_t k = 0; k < inner; ++k) {
      double product = 1;
      for (size_t i = 0; i < at.size(); ++i) product *= factors[i][at[i]];
      *sum += product;
      advance();
    }
  }
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalEinsum = {{"Einsum", einsum}};

}  // namespace rnnp::compiler
