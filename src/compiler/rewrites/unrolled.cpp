// unrolled.cpp -- Contract: unrolled.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/unrolled.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/rewrites/unrolled_steps.h"

namespace rnnp::compiler {
namespace {

// An axis that is read element by element.
using Sequence = std::pair<int, int64_t>;  // number of the tensor, axis
using Elements = std::map<int64_t, int>;   // index -> number

// The axes of a Squeeze or Unsqueeze; empty where they are not given as constants.
std::vector<int64_t> axes_of(const Numbering &n, const Numbering::Op &op) {
  if (op.in.size() > 1) return n.integers(op.in[1]);
  return Attributes(*op.node).integers("axes");
}

class Reads {
 public:
  explicit Reads(const Numbering &n) : n_(n) {
    for (const Numbering::Op &op : n.ops()) {
      if (op.node->op_type() == "Gather") read_gather(op);
      if (op.node->op_type() == "Squeeze") read_squeeze(op);
    }
  }

  // Those that are read from the first element on, without a gap.
  std::map<Sequence, std::vector<int>> whole() const {
    std::map<Sequence, std::vector<int>> found;
    for (const auto &each : reads_) {
      std::vector<int> elements;
      for (const auto &element : each.second) {
        if (element.first == static_cast<int64_t>(elements.size())) elements.push_back(element.second);
      }
      if (elements.size() == each.second.size() && elements.size() >= kFewestSteps) found[each.first] = std::move(elements);
    }
    return found;
  }

 private:
  void read_gather(const Numbering::Op &op) {
    if (op.in.size() != 2 || op.in[0] < 0) return;
    const std::vector<int64_t> index = n_.integers(op.in[1]);
    if (index.size() != 1 || n_.value(op.in[1]).constant->rank() != 0) return;
    add({op.in[0], Attributes(*op.node).integer("axis", 0)}, index[0], op.out[0]);
  }

  void read_squeeze(const Numbering::Op &op) {
    const std::vector<int64_t> axes = axes_of(n_, op);
    const Numbering::Op *part = axes.size() == 1 && op.in[0] >= 0 ? n_.maker(op.in[0]) : nullptr;
    if (part == nullptr || part->in.empty() || part->in[0] < 0) return;
    if (part->node->op_type() == "Split") {
      const Attributes a(*part->node);
      const std::vector<int64_t> sizes = part->in.size() > 1 ? n_.integers(part->in[1]) : a.integers("split");
      const bool ones = std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size == 1; });
      if (ones && a.integer("axis", 0) == axes[0]) add({part->in[0], axes[0]}, n_.value(op.in[0]).index, op.out[0]);
    } else if (part->node->op_type() == "Slice" && part->in.size() >= 4) {
      const std::vector<int64_t> from = n_.integers(part->in[1]), to = n_.integers(part->in[2]), axis = n_.integers(part->in[3]);
      const std::vector<int64_t> step = part->in.size() > 4 ? n_.integers(part->in[4]) : std::vector<int64_t>{1};
      if (from.size() == 1 && to.size() == 1 && axis == axes && step == std::vector<int64_t>{1} && to[0] == from[0] + 1)
        add({part->in[0], axes[0]}, from[0], op.out[0]);
    }
  }

  void add(const Sequence &sequence, int64_t index, int number) {
    if (index >= 0 && sequence.second >= 0 && sequence.second <= 2) reads_[sequence].emplace(index, number);
  }

  const Numbering &n_;
  std::map<Sequence, Elements> reads_;
};

// Steps put back, with where they are read from and what becomes of them.
struct Found {
  Sequence sequence;
  bool reverse = false;
  std::vector<int> elements;  // of the sequence, as the steps follow each other
  UnrolledSteps steps;
  struct Collected {
    const Numbering::Op *concat;
    int64_t axis;
  };
  std::vector<Collected> collected;  // as many as steps.made
  std::string title;
};

// What a Concat puts together of the steps' results: their numbers in the order of the axis.
std::vector<int> collected_by(const Numbering &n, const Numbering::Op &concat, int64_t axis) {
  std::vector<int> made;
  for (const int part : concat.in) {
    const Numbering::Op *op = part < 0 ? nullptr : n.maker(part);
    if (op == nullptr || op->node->op_type() != "Unsqueeze" || axes_of(n, *op) != std::vector<int64_t>{axis}) return {};
    made.push_back(op->in[0]);
  }
  return made;
}

Found::Collected collector(const Numbering::Op &op) {
  return {&op, Attributes(*op.node).integer("axis", 0)};
}

std::optional<Found> find_steps(const Numbering &n, const Sequence &sequence, std::vector<int> elements, bool reverse) {
  Found found;
  found.sequence = sequence;
  found.reverse = reverse;
  found.title = std::string("steps written out ") + (reverse ? "backwards " : "") + "over " + n.value(sequence.first).name;
  if (sequence.second != 0) found.title += " along axis " + std::to_string(sequence.second);
  if (reverse) std::reverse(elements.begin(), elements.end());
  found.elements = elements;
  StepsFinder finder(n, elements);
  if (!finder.find()) return std::nullopt;
  for (const Numbering::Op &op : n.ops()) {
    if (op.node->op_type() != "Concat" || op.in.size() != elements.size()) continue;
    const Found::Collected to = collector(op);
    std::vector<int> made = collected_by(n, op, to.axis);
    if (reverse) std::reverse(made.begin(), made.end());
    if (to.axis < 0 || to.axis > 2 || made.empty() || !finder.add_made(made)) continue;
    found.collected.push_back(to);
  }
  found.steps = finder.done();
  return found;
}

class Reroller {
 public:
  Reroller(const OnnxModel &model, const Numbering &n) : model_(model), n_(n), rewrite_(model) {}

  std::unique_ptr<OnnxModel> write(const std::vector<Found> &all) {
    std::map<size_t, std::vector<const Found *>> behind;  // place of a node -> what may stand behind it
    std::vector<const Found *> first;
    for (const Found &found : all) {
      note_replaced(found);
      const int64_t place = last_needed(found);
      place < 0 ? first.push_back(&found) : behind[static_cast<size_t>(place)].push_back(&found);
    }
    for (const Found *found : first) write_scan(*found);
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      if (replaced_.count(i) == 0) rewrite_.keep(model_.nodes[i]);
      for (const Found *found : behind[i]) write_scan(*found);
    }
    return rewrite_.done();
  }

 private:
  void note_replaced(const Found &found) {
    for (const Found::Collected &to : found.collected) replaced_.insert(to.concat->place);
    for (const int last : found.steps.last) {
      if (has_final(last)) replaced_.insert(n_.maker(last)->place);
    }
  }
  bool has_final(int last) const { return n_.maker(last) != nullptr && n_.maker(last)->out.size() == 1; }

  // The place of the last node that makes what the steps read from outside; -1: none does.
  int64_t last_needed(const Found &found) const {
    int64_t place = place_of(found.sequence.first);
    for (const int start : found.steps.starts) place = std::max(place, place_of(start));
    for (const int outer : found.steps.outer) place = std::max(place, place_of(outer));
    return place;
  }
  int64_t place_of(int number) const {
    const Numbering::Op *op = number < 0 ? nullptr : n_.maker(number);
    return op == nullptr ? -1 : static_cast<int64_t>(op->place);
  }

  // Constants of nodes are initialisers from here on: the Scan may stand before their nodes.
  void keep_constant(int number) {
    if (number >= 0 && n_.value(number).constant)
      rewrite_.model().constants.emplace(n_.value(number).name, n_.value(number).constant);
  }

  void transpose(const std::string &from, const std::string &to, const std::vector<int64_t> &perm) {
    rewrite_.add("Transpose", to, {from}, {to})->add_attribute("perm", perm);
  }

  void write_scan(const Found &found) {
    const std::string &at = found.title;
    const UnrolledSteps &steps = found.steps;
    for (const int start : steps.starts) keep_constant(start);
    for (const int outer : steps.outer) keep_constant(outer);
    std::string x = n_.value(found.sequence.first).name;
    if (found.sequence.second != 0) {
      transpose(x, at + ":x", found.sequence.second == 1 ? std::vector<int64_t>{1, 0, 2} : std::vector<int64_t>{2, 0, 1});
      x = at + ":x";
    }
    Tensor trips(Elem::kInt, {});
    trips.data[0] = static_cast<double>(steps.count);
    rewrite_.set_constant(at + ":trips", std::move(trips));
    rewrite_.add(kTripsOf, at, {at + ":trips", x}, {});
    std::vector<std::string> in, out;
    for (size_t i = 0; i < steps.starts.size(); ++i) {
      const std::string start = at + ":start" + std::to_string(i);
      if (steps.starts[i] < 0) rewrite_.set_constant(start, steps.folded[i]);
      in.push_back(steps.starts[i] < 0 ? start : n_.value(steps.starts[i]).name);
      out.push_back(has_final(steps.last[i]) ? n_.value(steps.last[i]).name : at + ":state" + std::to_string(i));
    }
    in.push_back(x);
    for (size_t i = 0; i < found.collected.size(); ++i) out.push_back(at + ":y" + std::to_string(i));
    OnnxNode *scan = rewrite_.add("Scan", at, in, out);
    scan->add_attribute("num_scan_inputs", int64_t{1});
    if (found.reverse) {
      set_integers(scan, "scan_input_directions", 1);
      set_integers(scan, "scan_output_directions", found.collected.size());
    }
    write_body(steps, scan);
    for (size_t i = 0; i < found.collected.size(); ++i) {
      const std::string y = at + ":y" + std::to_string(i), &all = found.collected[i].concat->node->output(0);
      const int64_t axis = found.collected[i].axis;
      if (axis == 0) {
        rewrite_.add("Identity", at, {y}, {all});
      } else {
        transpose(y, all, axis == 1 ? std::vector<int64_t>{1, 0, 2} : std::vector<int64_t>{1, 2, 0});
      }
    }
  }

  static void set_integers(OnnxNode *node, const char *name, size_t many) {
    node->add_attribute(name, std::vector<int64_t>(many, 1));
  }

  void write_body(const UnrolledSteps &steps, OnnxNode *scan) const {
    const auto body = std::make_shared<OnnxGraph>();
    const auto name = [&](int number) { return n_.value(number).name; };
    for (const int before : steps.before) body->mutable_input()->emplace_back(name(before));
    body->mutable_input()->emplace_back(name(steps.x));
    for (const int after : steps.after) body->mutable_output()->emplace_back(name(after));
    for (const int made : steps.made) body->mutable_output()->emplace_back(name(made));
    for (const Numbering::Op *op : steps.nodes) {
      OnnxNode *copy = body->add_node();
      *copy = *op->node;
      for (int i = 0; i < copy->input_size(); ++i) {
        if (op->in[static_cast<size_t>(i)] >= 0) copy->set_input(i, name(op->in[static_cast<size_t>(i)]));
      }
      for (int i = 0; i < copy->output_size(); ++i) copy->set_output(i, name(op->out[static_cast<size_t>(i)]));
    }
    scan->add_attribute("body", std::shared_ptr<const OnnxGraph>(body));
  }

  const OnnxModel &model_;
  const Numbering &n_;
  Rewrite rewrite_;
  std::set<size_t> replaced_;  // places of nodes whose results the Scans give
};

}  // namespace

namespace {

// The Scan would go over fewer steps than the sequence has, as far as the file says.
bool ends_early(const OnnxModel &model, const Numbering &n, const Found &found) {
  const std::string &name = n.value(found.sequence.first).name;
  const auto input =
      std::find_if(model.inputs.begin(), model.inputs.end(), [&](const DeclaredInput &one) { return one.name == name; });
  if (input == model.inputs.end()) return false;
  const size_t axis = static_cast<size_t>(found.sequence.second);
  return axis >= input->dims.size() || input->dims[axis].value != static_cast<int64_t>(found.steps.count);
}

// A step's own nodes are still there: something else reads what is inside of it.
bool is_read_inside(const OnnxModel &rerolled, const Numbering &n, const Found &found) {
  return std::any_of(rerolled.nodes.begin(), rerolled.nodes.end(), [&](const OnnxNode *node) {
    return std::any_of(found.elements.begin(), found.elements.end(), [&](int element) { return n.maker(element)->node == node; });
  });
}

}  // namespace

Rerolled reroll_steps(const OnnxModel &model, const std::set<std::string> &kept) {
  constexpr int64_t kScanSince = 9;
  constexpr size_t kMostSequences = 32;
  const auto reads = std::count_if(model.nodes.begin(), model.nodes.end(), [](const OnnxNode *node) {
    return node->op_type() == "Gather" || node->op_type() == "Squeeze";
  });
  if (model.opset < kScanSince || static_cast<size_t>(reads) < kFewestSteps) return {};
  const Numbering numbering(model);
  std::vector<Found> all;
  const auto sequences = Reads(numbering).whole();
  if (sequences.empty() || sequences.size() > kMostSequences) return {};
  for (const auto &each : sequences) {
    for (const bool reverse : {false, true}) {
      std::optional<Found> found = find_steps(numbering, each.first, each.second, reverse);
      if (found && kept.count(found->title) == 0 && !ends_early(model, numbering, *found)) all.push_back(std::move(*found));
    }
  }
  if (all.empty()) return {};
  Rerolled out;
  for (const Found &found : all) out.loops.push_back(found.title);
  out.model = Reroller(model, numbering).write(all);
  std::set<std::string> inside = kept;
  for (const Found &found : all) {
    if (is_read_inside(*out.model, numbering, found)) inside.insert(found.title);
  }
  return inside.size() == kept.size() ? std::move(out) : reroll_steps(model, inside);
}

}  // namespace rnnp::compiler
