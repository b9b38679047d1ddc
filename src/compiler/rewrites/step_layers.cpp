// step_layers.cpp -- Contract: step_layers.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/step_layers.h"

#include <algorithm>
#include <optional>

#include "compiler/onnx/subgraph.h"
#include "compiler/rewrites/layer_of_step.h"
#include "compiler/rewrites/step_sums.h"

namespace rnnp::compiler {
namespace {

constexpr size_t kMostStates = 64;  // bits of a mask

// Which states a name is computed from; the h of layers that are known are given and need none.
class Needs {
 public:
  Needs(const StepGraph &step, const std::set<std::string> &given) {
    for (size_t i = 0; i < step.before.size(); ++i)
      needs_[step.before[i]] = given.count(step.before[i]) != 0 ? 0 : uint64_t{1} << i;
    for (const OnnxNode *node : step.nodes) {
      uint64_t mask = 0;
      for (const std::string &name : names_read(*node)) mask |= of(name);
      for (const std::string &name : node->output()) needs_[name] = given.count(name) != 0 ? 0 : mask;
    }
  }
  uint64_t of(const std::string &name) const {
    const auto found = needs_.find(name);
    return found == needs_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, uint64_t> needs_;
};

class LayerFinder {
 public:
  explicit LayerFinder(const StepGraph &step) : step_(step), open_(all(step)) {}

  std::vector<StepLayer> find_some() {
    others_are_given_ = true;
    while (open_ != 0 && find_next()) continue;
    return std::move(layers_);
  }

  std::vector<StepLayer> find(const std::vector<std::string> &made) {
    made_ = &made;
    while (open_ != 0) {
      if (!find_next()) return {};
    }
    const Needs needs(step_, known_);
    const bool free = std::all_of(made.begin(), made.end(), [&](const std::string &name) { return needs.of(name) == 0; });
    return free ? std::move(layers_) : std::vector<StepLayer>();
  }

 private:
  static uint64_t all(const StepGraph &step) {
    return step.before.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << step.before.size()) - 1;
  }

  // The states that state i's next value needs, directly and by those it needs.
  uint64_t closure(const Needs &needs, size_t i) const {
    uint64_t mask = needs.of(step_.after[i]), before = 0;
    while (mask != before) {
      before = mask;
      for (size_t k = 0; k < step_.before.size(); ++k) {
        if (mask >> k & 1) mask |= needs.of(step_.after[k]);
      }
    }
    return mask;
  }

  // States that need no other open ones than each other: one or two.
  bool find_next() {
    const Needs needs(step_, known_);
    for (size_t i = 0; i < step_.before.size(); ++i) {
      if ((open_ >> i & 1) == 0) continue;
      if (is_masked_copy(i, needs)) {
        open_ &= ~(uint64_t{1} << i);
        return true;
      }
      const uint64_t group = closure(needs, i);
      if ((group & ~open_) != 0 || (group >> i & 1) == 0) continue;
      std::vector<size_t> states;
      for (size_t k = 0; k < step_.before.size(); ++k) {
        if (group >> k & 1) states.push_back(k);
      }
      if (states.size() > 2 || std::any_of(states.begin(), states.end(), [&](size_t k) { return closure(needs, k) != group; }))
        continue;
      if (!match(states, needs)) return others_are_given_ && give(states);
      open_ &= ~group;
      return true;
    }
    return drop_copies(needs);
  }

  bool give(const std::vector<size_t> &states) {
    for (const size_t k : states) {
      known_.insert(step_.before[k]);
      open_ &= ~(uint64_t{1} << k);
    }
    return true;
  }

  // States that nothing reads, and whose next value is a layer's h, or, of a loop, needs no state.
  bool drop_copies(const Needs &needs) {
    uint64_t dropped = 0;
    for (size_t i = 0; i < step_.before.size(); ++i) {
      const bool is_h = known_.count(origin_of(step_.nodes, step_.after[i])) != 0, of_loop = !others_are_given_;
      if ((open_ >> i & 1) == 0 || !(is_h || (of_loop && needs.of(step_.after[i]) == 0))) continue;
      const bool read =
          std::any_of(step_.after.begin(), step_.after.end(), [&](const std::string &after) { return needs.of(after) >> i & 1; });
      if (!read) dropped |= uint64_t{1} << i;
    }
    open_ &= ~dropped;
    return dropped != 0;
  }

  using Names = std::vector<std::string>;

  // As the states are; or, of one step alone, as a mask leaves them before the cell or behind it.
  bool match(const std::vector<size_t> &states, const Needs &needs) {
    Names before, after, masked, unmasked;
    for (const size_t i : states) {
      before.push_back(step_.before[i]);
      after.push_back(step_.after[i]);
      masked.push_back(masked_state(step_.before[i], needs));
      unmasked.push_back(unmasked_state(step_.after[i], needs));
    }
    if (match_between(states, before, after, needs)) return true;
    if (!others_are_given_) return match_masked(states, before, needs);
    return (masked != before && match_between(states, masked, after, needs)) ||
           (unmasked != after && match_between(states, before, unmasked, needs));
  }

  // --- Steps that a mask passes over --------------------------------------------------------------------------------------------

  // condition ? yes : no, as Where or as Cast(condition) * yes + Cast(Not(condition)) * no.
  struct Choice {
    std::string condition, yes, no;
  };

  const OnnxNode *maker(const std::string &name) const {
    const std::string made = origin_of(step_.nodes, name);
    for (const OnnxNode *node : step_.nodes) {
      if (node->output_size() == 1 && node->output(0) == made) return node;
    }
    return nullptr;
  }
  std::string source(const std::string &name) const { return origin_of(step_.nodes, name); }
  // What it is without what only makes it wider: Where does that by itself.
  std::string narrow(const std::string &name) const {
    std::string from = source(name);
    for (const OnnxNode *node = maker(from); node != nullptr && node->op_type() == "Expand"; node = maker(from))
      from = source(node->input(0));
    return from;
  }
  // What a Not negates; empty: it is none.
  std::string negated(const std::string &name) const {
    const OnnxNode *node = maker(name);
    return node != nullptr && node->op_type() == "Not" ? narrow(node->input(0)) : "";
  }

  std::optional<Choice> choice(const std::string &name) const {
    const OnnxNode *node = maker(name);
    if (node == nullptr) return std::nullopt;
    if (node->op_type() == "Where" && node->input_size() == 3)
      return plain({narrow(node->input(0)), source(node->input(1)), source(node->input(2))});
    if (node->op_type() != "Add" || node->input_size() != 2) return std::nullopt;
    const OnnxNode *a = maker(node->input(0)), *b = maker(node->input(1));
    for (const OnnxNode *product : {a, b}) {
      if (product == nullptr || product->op_type() != "Mul" || product->input_size() != 2) return std::nullopt;
    }
    for (int i = 0; i < 2; ++i) {
      for (int k = 0; k < 2; ++k) {
        const std::string yes = narrow(a->input(i)), no = narrow(b->input(k));
        const std::string taken = source(a->input(1 - i)), other = source(b->input(1 - k));
        if (negated(no) == yes) return plain({yes, taken, other});
        if (negated(yes) == no) return plain({no, other, taken});
      }
    }
    return std::nullopt;
  }

  Choice plain(Choice c) const {
    for (std::string inner = negated(c.condition); !inner.empty(); inner = negated(c.condition)) {
      c.condition = inner;
      std::swap(c.yes, c.no);
    }
    return c;
  }

  // The state's next value where its steps are masked: what is chosen beside the state itself.
  struct Masked {
    std::string mask, fresh;
    bool holds = false;
  };
  std::optional<Masked> masked(size_t state, const Needs &needs) const {
    const std::optional<Choice> c = choice(step_.after[state]);
    if (!c || needs.of(c->condition) != 0 || step_.constants.count(c->condition) != 0) return std::nullopt;
    if (c->no == step_.before[state]) return Masked{c->condition, c->yes, false};
    if (c->yes == step_.before[state]) return Masked{c->condition, c->no, true};
    return std::nullopt;
  }

  // The cell is what is chosen; nothing else looks at the h of steps that the mask passes over.
  bool match_masked(const std::vector<size_t> &states, const Names &before, const Needs &needs) {
    Names fresh;
    std::optional<Masked> first;
    for (const size_t i : states) {
      const std::optional<Masked> each = masked(i, needs);
      if (!each || (first && (each->mask != first->mask || each->holds != first->holds))) return false;
      first = each;
      fresh.push_back(each->fresh);
    }
    if (!match_between(states, before, fresh, needs)) return false;
    StepLayer &layer = layers_.back();
    if (!is_only_chosen(layer.h_after, *first)) {
      known_.erase(layer.h_after);
      layers_.pop_back();
      return false;
    }
    layer.mask = first->mask;
    layer.mask_holds = first->holds;
    same_as_h(step_.after[layer.h], &layer);
    layer.same_as_h.push_back(layer.h_after);
    find_kept(&layer);
    return true;
  }

  void find_kept(StepLayer *layer) const {
    for (const std::string &made : *made_) {
      const std::optional<Choice> c = choice(made);
      if (!c || c->condition != layer->mask) continue;
      const std::string &h = layer->mask_holds ? c->no : c->yes, &other = layer->mask_holds ? c->yes : c->no;
      const bool is_h = std::find(layer->same_as_h.begin(), layer->same_as_h.end(), h) != layer->same_as_h.end();
      if (is_h && maker(other) == nullptr) layer->kept.push_back({source(made), other});
    }
  }

  void same_as_h(const std::string &name, StepLayer *layer) {
    layer->same_as_h.push_back(source(name));
    known_.insert(source(name));
    known_.insert(name);
  }

  bool is_only_chosen(const std::string &h, const Masked &by) const {
    if (std::any_of(made_->begin(), made_->end(), [&](const std::string &name) { return source(name) == h; })) return false;
    const auto is_mask = [&](const std::string &name, bool wanted) {
      bool is = true;
      std::string from = narrow(name);
      for (std::string inner = negated(from); from != by.mask && !inner.empty(); inner = negated(from)) {
        from = inner;
        is = !is;
      }
      return from == by.mask && is == wanted;
    };
    const auto is_h = [&](const std::string &name) { return source(name) == h; };
    return std::all_of(step_.nodes.begin(), step_.nodes.end(), [&](const OnnxNode *node) {
      const std::vector<std::string> read = names_read(*node);  // of branches and bodies, too
      if (std::count_if(read.begin(), read.end(), is_h) > std::count_if(node->input().begin(), node->input().end(), is_h))
        return false;
      for (int i = 0; i < node->input_size(); ++i) {
        if (source(node->input(i)) != h || source(node->output(0)) == h) continue;
        const bool by_where = node->op_type() == "Where" &&
                              ((i == 1 && is_mask(node->input(0), !by.holds)) || (i == 2 && is_mask(node->input(0), by.holds)));
        const bool by_product = node->op_type() == "Mul" && is_mask(node->input(1 - i), !by.holds);
        if (!by_where && !by_product) return false;
      }
      return true;
    });
  }

  // A state beside a masked layer's that holds its h as well, from the same start.
  bool is_masked_copy(size_t i, const Needs &needs) {
    const std::optional<Masked> each = masked(i, needs);
    for (StepLayer &layer : layers_) {
      const bool copies = each && layer.mask == each->mask && layer.mask_holds == each->holds && layer.h_after == each->fresh &&
                          i < step_.starts.size() && step_.starts[i] == step_.starts[layer.h];
      if (copies) same_as_h(step_.after[i], &layer);
      if (copies) return true;
    }
    return false;
  }

  // ------------------------------------------------------------------------------------------------------------------------------

  // Which input of the node a state goes through, where the others need none; -1: it is no mask.
  static int through_mask(const OnnxNode &node, const Needs &needs) {
    const bool where = node.op_type() == "Where";
    if (node.output_size() != 1 || node.input_size() != (where ? 3 : 2) || (!where && node.op_type() != "Mul")) return -1;
    int through = -1;
    for (int i = 0; i < node.input_size(); ++i) {
      if (needs.of(node.input(i)) == 0) continue;
      if (through >= 0 || (where && i == 0)) return -1;
      through = i;
    }
    return through;
  }

  // The one mask that reads the state, and what it makes of it; the state itself where something else reads it.
  std::string masked_state(const std::string &name, const Needs &needs) const {
    const OnnxNode *reader = nullptr;
    for (const OnnxNode *node : step_.nodes) {
      const auto &read = names_read(*node);
      if (node->output_size() == 0 || std::find(read.begin(), read.end(), name) == read.end()) continue;
      if (reader != nullptr) return name;
      reader = node;
    }
    const int through = reader == nullptr ? -1 : through_mask(*reader, needs);
    return through < 0 || reader->input(through) != name ? name : reader->output(0);
  }

  // What a mask makes the state's next value of.
  std::string unmasked_state(const std::string &name, const Needs &needs) const {
    const std::string made = origin_of(step_.nodes, name);
    for (const OnnxNode *node : step_.nodes) {
      const bool makes = node->output_size() == 1 && node->output(0) == made;
      const int through = makes ? through_mask(*node, needs) : -1;
      if (through >= 0) return node->input(through);
    }
    return name;
  }

  // The nearest operands of products with matrices that need no state: one of them is x.
  bool match_between(const std::vector<size_t> &states, const Names &before, const Names &made, const Needs &needs) {
    if (std::optional<NodeOfStep> node = layer_of_step(step_, before, made); node && needs.of(node->x) == 0)
      return add(std::move(node->cell), node->x, states, before, made);
    StepGraph cell;
    cell.constants = step_.constants;
    cell.opset = step_.opset;
    cell.before = before;
    cell.after = made;
    const std::set<std::string> after(made.begin(), made.end());
    std::set<std::string> leaves = known_;
    leaves.insert(before.begin(), before.end());
    for (const std::string &x : operands(nodes_behind(step_.nodes, after, leaves), needs)) {
      std::set<std::string> with_x = leaves;
      with_x.insert(x);
      cell.nodes = nodes_behind(step_.nodes, after, with_x);
      cell.x = x;
      std::optional<MatchedCell> matched = match_cell(cell);
      if (matched) return add(std::move(*matched), x, states, before, made);
    }
    return false;
  }

  bool add(MatchedCell cell, const std::string &x, const std::vector<size_t> &states, const Names &before, const Names &made) {
    StepLayer layer;
    layer.h = states[cell.h];
    layer.c = states[cell.c];
    layer.h_before = before[cell.h];
    layer.c_before = before[cell.c];
    layer.h_after = origin_of(step_.nodes, made[cell.h]);
    layer.c_after = origin_of(step_.nodes, made[cell.c]);
    layer.x = x;
    known_.insert(layer.h_after);
    known_.insert(made[cell.h]);
    layer.cell = std::move(cell);
    layers_.push_back(std::move(layer));
    return true;
  }

  std::vector<std::string> operands(const std::vector<const OnnxNode *> &nodes, const Needs &needs) const {
    constexpr size_t kMostTrials = 4;
    std::vector<std::string> found;
    for (size_t i = nodes.size(); i-- > 0 && found.size() < kMostTrials;) {
      const OnnxNode &node = *nodes[i];
      if ((node.op_type() != "MatMul" && node.op_type() != "Gemm") || node.input_size() < 2) continue;
      for (const std::string &x : factors(nodes, node.input(0), needs)) {
        if (needs.of(x) != 0 || step_.constants.count(x) != 0) continue;
        if (std::find(found.begin(), found.end(), x) == found.end()) found.push_back(x);
      }
    }
    return found;
  }

  // What a product multiplies: one thing, or an operand beside a state.
  static std::vector<std::string> factors(const std::vector<const OnnxNode *> &nodes, const std::string &name, const Needs &needs) {
    const std::string from = origin_of(nodes, name);
    for (const OnnxNode *node : nodes) {
      if (needs.of(name) != 0 && node->op_type() == "Concat" && node->input_size() == 2 && node->output(0) == from)
        return {node->input(0), node->input(1)};
    }
    return {name};
  }

  const StepGraph &step_;
  uint64_t open_;
  bool others_are_given_ = false;
  const std::vector<std::string> *made_ = nullptr;  // of a loop
  std::set<std::string> known_;
  std::vector<StepLayer> layers_;
};

}  // namespace

std::vector<StepLayer> layers_of_step(const StepGraph &step, const std::vector<std::string> &made) {
  if (step.before.empty() || step.before.size() > kMostStates || step.before.size() != step.after.size()) return {};
  return LayerFinder(step).find(made);
}

std::vector<StepLayer> some_layers_of_step(const StepGraph &step) {
  if (step.before.empty() || step.before.size() > kMostStates) return {};
  return LayerFinder(step).find_some();
}

std::vector<const OnnxNode *> nodes_behind(const std::vector<const OnnxNode *> &nodes, std::set<std::string> wanted,
                                           const std::set<std::string> &leaves) {
  std::vector<const OnnxNode *> found;
  for (size_t i = nodes.size(); i-- > 0;) {
    const auto &made = nodes[i]->output();
    if (std::none_of(made.begin(), made.end(),
                     [&](const std::string &name) { return wanted.count(name) != 0 && leaves.count(name) == 0; }))
      continue;
    for (const std::string &name : names_read(*nodes[i])) wanted.insert(name);
    found.push_back(nodes[i]);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

namespace {

std::string masked_op(const std::string &op) {
  return op == "RNN" ? kMaskedRnn : op == "GRU" ? kMaskedGru : op == "LSTM" ? kMaskedLstm : op;
}

void add_numbers(OnnxNode *node, const char *name, const std::vector<float> &values) {
  if (values.empty()) return;
  node->add_attribute(name, values);
}

}  // namespace

void add_layer(Rewrite *rewrite, const MatchedCell &cell, const std::string &title, const std::string &at, const std::string &x,
               bool reverse, const std::string &mask) {
  rewrite->set_constant(at + ":w", cell.w);
  rewrite->set_constant(at + ":r", cell.r);
  rewrite->set_constant(at + ":b", cell.b);
  std::vector<std::string> in = {x, at + ":w", at + ":r", at + ":b", "", at + ":h"}, out = {at + ":y", at + ":hn"};
  if (cell.has_c()) {
    in.push_back(at + ":c");
    out.push_back(at + ":cn");
  }
  if (cell.op == kLstmNorm) {
    rewrite->set_constant(at + ":norms", cell.norms);
    in.insert(in.end(), {"", at + ":norms"});
  }
  if (!mask.empty()) {
    constexpr size_t kMask = 9;
    in.resize(kMask);
    in.push_back(mask);
  }
  OnnxNode *made = rewrite->add(mask.empty() ? cell.op : masked_op(cell.op), title, in, out);
  made->add_attribute("hidden_size", cell.hidden);
  made->add_attribute("activations", cell.activations);
  add_numbers(made, "activation_alpha", cell.alphas);
  add_numbers(made, "activation_beta", cell.betas);
  if (cell.op == kLstmNorm) {
    add_numbers(made, "epsilons", cell.epsilons);
    for (const auto &flag : {std::pair{"by_gate", cell.by_gate}, {"joint", cell.joint}, {"keeps_c", cell.keeps_c}})
      made->add_attribute(flag.first, int64_t{flag.second});
  }
  if (cell.op == "GRU") made->add_attribute("linear_before_reset", cell.linear_before_reset);
  if (reverse) made->add_attribute("direction", std::string("reverse"));
}

}  // namespace rnnp::compiler
