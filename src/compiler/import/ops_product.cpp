// ops_product.cpp -- Einsum. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "compiler/import/product.h"

namespace rnnp::compiler {
namespace {

// "..." as labels of its own, 0 for the last axis that it covers.
std::string expanded(std::string term, size_t rank) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos) {
    if (term.size() != rank) throw Refusal("attribute 'equation' does not fit an operand of rank " + std::to_string(rank));
    return term;
  }
  const size_t named = term.size() - 3;
  if (named > rank || rank - named > 10)
    throw Refusal("attribute 'equation' does not fit an operand of rank " + std::to_string(rank));
  std::string labels;
  for (size_t i = rank - named; i-- > 0;) labels += static_cast<char>('0' + i);
  return term.replace(dots, 3, labels);
}

struct Equation {
  std::vector<std::string> terms;
  std::string out;
  bool has_out = false;
};

Equation parse(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation equation;
  const size_t arrow = text.find("->");
  equation.has_out = arrow != std::string::npos;
  if (equation.has_out) equation.out = text.substr(arrow + 2);
  std::string terms = text.substr(0, arrow);
  for (size_t comma = terms.find(','); comma != std::string::npos; comma = terms.find(',')) {
    equation.terms.push_back(terms.substr(0, comma));
    terms.erase(0, comma + 1);
  }
  equation.terms.push_back(terms);
  return equation;
}

// Labels of the result: as given, or those that occur once, in order of the alphabet, after the ones of "...".
std::string result_labels(const Equation &equation, const std::vector<std::string> &labels) {
  std::map<char, int> uses;
  std::string dots, once;
  for (const std::string &term : labels) {
    for (const char label : term) ++uses[label];
  }
  for (const auto &use : uses) {
    if (use.first <= '9')
      dots.insert(dots.begin(), use.first);
    else if (use.second == 1)
      once += use.first;
  }
  if (!equation.has_out) return dots + once;
  std::string out = equation.out;
  const size_t at = out.find("...");
  return at == std::string::npos ? out : out.replace(at, 3, dots);
}

View sum_and_transpose(OpCall &call, const Factor &x, const std::string &out) {
  std::vector<bool> over;
  std::string left;
  for (const char label : x.labels) {
    over.push_back(out.find(label) == std::string::npos);
    if (!over.back()) left += label;
  }
  const View y = left == x.labels ? x.view : call.b.reduced(x.view, over, Reduce::kSum, false, call.name);
  View result = y;
  result.axes.clear();
  for (const char label : out) {
    if (left.find(label) == std::string::npos) throw Refusal("its result has an axis that no operand has");
    result.axes.push_back(y.axes[left.find(label)]);
  }
  return result;
}

// Two at a time, from one that is no constant on. What a later factor or the result has is kept.
View product_of_all(Builder &b, std::vector<Factor> factors, const std::string &out, const std::string &name) {
  std::stable_partition(factors.begin(), factors.end(), [](const Factor &f) { return !f.constant; });
  while (factors.size() > 2) {
    std::string kept;
    for (const char label : factors[0].labels + factors[1].labels) {
      const auto reads = [&](const Factor &f) { return f.labels.find(label) != std::string::npos; };
      const bool later = std::any_of(factors.begin() + 2, factors.end(), reads) || out.find(label) != std::string::npos;
      if (later && kept.find(label) == std::string::npos) kept += label;
    }
    const View product = product_of(b, std::move(factors[0]), std::move(factors[1]), kept, name);
    factors.erase(factors.begin());
    factors[0] = {kept, product, std::nullopt};
  }
  return product_of(b, std::move(factors[0]), std::move(factors[1]), out, name);
}

void einsum(OpCall &call) {
  const Equation equation = parse(call.attributes.text("equation", ""));
  const size_t count = call.input_count();
  if (equation.terms.size() != count)
    throw Refusal("attribute 'equation' is for " + std::to_string(equation.terms.size()) + " operands");
  if (count < 1) throw Refusal("it has no operands");
  std::vector<Factor> factors;
  std::vector<std::string> labels;
  for (size_t i = 0; i < count; ++i) {
    factors.push_back(factor_of(call, i));
    Factor &f = factors.back();
    f.labels = expanded(equation.terms[i], f.constant ? f.constant->rank() : f.view.axes.size());
    labels.push_back(f.labels);
    std::string sorted = f.labels;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      throw Refusal("attribute 'equation' takes a diagonal: an operand has a label twice");
  }
  const std::string out = result_labels(equation, labels);
  call.give(0, count == 1 ? sum_and_transpose(call, factors[0], out) : product_of_all(call.b, std::move(factors), out, call.name));
}

}  // namespace

const std::vector<ImportRow> kImportProduct = {
    {"Einsum", einsum, "operands without diagonals; sums over feature axes", 12},
};

}  // namespace rnnp::compiler
