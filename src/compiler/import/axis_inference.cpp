// axis_inference.cpp -- Contract: axis_inference.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/axis_inference.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace rnnp::compiler {
namespace {

constexpr int64_t kFirstStandIn = 4194304;
constexpr size_t kOfOpenedTime = 256;

bool is_prime(int64_t number) {
  for (int64_t d = 2; d * d <= number; ++d) {
    if (number % d == 0) return false;
  }
  return true;
}

// Primes, large enough to meet no constant of a graph by chance, so far apart that no window or cut makes one of another, small
// enough that products of two and a row stay exact. `which`: other numbers, with which the same must come out.
int64_t stand_in(size_t i, int which) {
  constexpr int64_t kApart = 20000, kOthers = 7001;
  int64_t number = kFirstStandIn + static_cast<int64_t>(i) * kApart + which * kOthers;
  while (!is_prime(++number)) {
  }
  return number;
}

}  // namespace

Origins::Origins(const OnnxModel &model) {
  std::map<std::string, int> named;
  size_t next = 0;
  for (const DeclaredInput &input : model.inputs) {
    first_.push_back(static_cast<int>(sizes_.size()));
    for (const DeclaredDim &dim : input.dims) {
      const int origin = static_cast<int>(sizes_.size());
      parent_.push_back(origin);
      periods_.push_back(1);
      roles_.push_back(AxisRole::kUnknown);
      whys_.emplace_back(dim.role == DimRole::kUnknown ? "" : "--axes says so");
      dynamic_.push_back(dim.value == 0);
      names_.push_back(dim.name);
      places_.push_back(static_cast<int>(origin - first_.back()));
      given_.push_back(dim.role != DimRole::kUnknown);
      if (dim.role == DimRole::kTime) roles_.back() = AxisRole::kTime;
      if (dim.role == DimRole::kBatch) roles_.back() = AxisRole::kBatch;
      if (dim.role == DimRole::kFeatures) roles_.back() = AxisRole::kFixedSize;
      sizes_.push_back(dim.value ? dim.value : stand_in(next, model.stand_ins));
      if (dim.value) continue;
      const auto found = dim.name.empty() ? named.end() : named.find(dim.name);
      if (found != named.end()) {
        sizes_.back() = size(found->second);
        unite(origin, found->second);
        continue;
      }
      if (!dim.name.empty()) named[dim.name] = origin;
      ++next;
    }
  }
}

Origins Origins::without_time(const OnnxModel &model) const {
  Origins out(model);
  for (int i = 0; i < static_cast<int>(sizes_.size()); ++i) {
    if (role(i) == AxisRole::kBatch) out.mark(i, AxisRole::kBatch, whys_[static_cast<size_t>(find(i))].c_str());
  }
  return out;
}

Origins Origins::with_open_time() const {
  const int64_t opened = stand_in(kOfOpenedTime, 0);
  Origins out = *this;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) != AxisRole::kTime) continue;
    out.sizes_[i] = opened;
    out.dynamic_[i] = true;
  }
  return out;
}

Origins Origins::with_size(int64_t size, const std::set<AxisRole> &left_open) const {
  Origins out = *this;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (!dynamic_[i] || left_open.count(role(static_cast<int>(i))) != 0) continue;
    out.sizes_[i] = size;
    out.dynamic_[i] = false;
  }
  return out;
}

int Origins::find(int origin) const {
  while (parent_[static_cast<size_t>(origin)] != origin) origin = parent_[static_cast<size_t>(origin)];
  return origin;
}

void Origins::unite(int a, int b) {
  const int x = find(a), y = find(b);
  if (x == y) return;
  const AxisRole role = roles_[static_cast<size_t>(y)];
  const std::string why = whys_[static_cast<size_t>(y)];
  const bool given = given_[static_cast<size_t>(y)] != 0 && given_[static_cast<size_t>(x)] == 0;
  parent_[static_cast<size_t>(y)] = x;
  if (given) whys_[static_cast<size_t>(x)] = why;
  if (role != AxisRole::kUnknown) given ? void(roles_[static_cast<size_t>(x)] = role) : mark(x, role, why.c_str());
  if (given) given_[static_cast<size_t>(x)] = 1;
}

void Origins::mark(int origin, AxisRole role, const char *why) {
  if (given_[static_cast<size_t>(find(origin))] || given_[static_cast<size_t>(origin)]) return;
  AxisRole &current = roles_[static_cast<size_t>(find(origin))];
  if (current != AxisRole::kUnknown && current != role) conflict_ = true;
  if (current != role) whys_[static_cast<size_t>(find(origin))] = why;
  current = role;
}

void Origins::mark(const Axis &axis, AxisRole role, const char *why) {
  if (axis.size() == 1 && axis[0].origin >= 0 && axis[0].rate == 1) mark(axis[0].origin, role, why);
}

AxisRole Origins::role(int origin) const {
  return roles_[static_cast<size_t>(find(origin))];
}

void Origins::add_layer(const Axis &time, const Axis &batch, bool backwards) {
  LayerAxes layer{time.size() == 1 ? time[0].origin : -1, time.size() == 1 ? time[0].rate : 1, {}, backwards};
  for (const Atom &atom : batch) {
    if (atom.origin >= 0 && atom.rate == 1) layer.batch.push_back(atom.origin);
  }
  layers_.push_back(layer);
}

namespace {

bool holds(const std::string &text, std::initializer_list<const char *> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char *part) { return text.find(part) != std::string::npos; });
}

std::string lower(std::string text) {
  for (char &c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

int Origins::score(int origin) const {
  int best = 0;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (find(static_cast<int>(i)) != find(origin)) continue;
    const std::string name = lower(names_[i]);
    const bool time = name == "t" || holds(name, {"time", "step", "seq", "frame", "len"});
    const bool batch = name == "b" || name == "n" || holds(name, {"batch"});
    best = std::max(best, (time ? 1000 : 0) - (batch ? 1000 : 0) + (dynamic_[i] ? 100 : 0) - places_[i]);
  }
  for (const LayerAxes &layer : layers_) {
    if (layer.time >= 0 && find(layer.time) == find(origin) && !layer.backwards) return best + 30;
  }
  return best;
}

// What set it apart from the others that layers run along: the largest part of the score in which it leads.
const char *Origins::why_of(int chosen, const std::vector<int> &times) const {
  int lead = INT32_MAX;
  for (const int other : times) {
    const AxisRole known = role(other);
    if (other != find(chosen) && known == AxisRole::kUnknown) lead = std::min(lead, score(chosen) - score(other));
  }
  if (lead == INT32_MAX) return "recurrent layers run along it";
  if (lead > 500) return "of the axes that recurrent layers run along it is the one named like time";
  if (lead > 50) return "of the axes that recurrent layers run along it is the one of open size";
  if (lead > 15) return "of the axes that recurrent layers run along it is the one that none runs backwards along";
  return "of the axes that recurrent layers run along it is the first";
}

std::string Origins::text_of(AxisRole wanted, const OnnxModel &model) const {
  std::map<int, std::string> axes;  // of each representative
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    for (size_t axis = 0; axis < model.inputs[i].dims.size(); ++axis) {
      const int origin = of(i, axis);
      if (role(origin) != wanted || !model.inputs[i].loop.empty()) continue;
      const std::string &name = names_[static_cast<size_t>(origin)];
      std::string &list = axes[find(origin)];
      list += (list.empty() ? "axis " : ", axis ") + std::to_string(axis) + " of " + quote(model.inputs[i].name) +
              (name.empty() ? "" : " (" + quote(name) + ")");
    }
  }
  std::map<std::string, std::string> by_reason;
  for (const auto &one : axes) {
    std::string &list = by_reason[whys_[static_cast<size_t>(one.first)]];
    list += (list.empty() ? "" : ", ") + one.second;
  }
  std::string text;
  for (const auto &one : by_reason) text += (text.empty() ? "" : ", and ") + one.second + ", because " + one.first;
  return text;
}

std::string Origins::decided(const OnnxModel &model) const {
  const std::string time = text_of(AxisRole::kTime, model), batch = text_of(AxisRole::kBatch, model);
  return "time is " + (time.empty() ? "no axis: a call is one step" : time) + "; batch is " +
         (batch.empty() ? "no axis: a call is one row" : batch);
}

void Origins::decide() {
  std::vector<int> times;
  for (const LayerAxes &layer : layers_) {
    const int time = layer.time < 0 ? -1 : find(layer.time);
    if (time >= 0 && std::find(times.begin(), times.end(), time) == times.end()) times.push_back(time);
  }
  int chosen = -1;
  for (const int time : times) {
    const AxisRole known = role(time);
    if (known == AxisRole::kFixedSize || known == AxisRole::kBatch) continue;
    if (chosen < 0 || known == AxisRole::kTime || (role(chosen) != AxisRole::kTime && score(time) > score(chosen))) chosen = time;
  }
  if (chosen >= 0) mark(chosen, AxisRole::kTime, why_of(chosen, times));
  if (chosen >= 0) set_period(chosen);
  // What a layer runs along is no batch of another.
  for (const LayerAxes &layer : layers_) {
    for (const int origin : layer.batch) {
      const AxisRole known = role(origin);
      const bool runs = std::find(times.begin(), times.end(), find(origin)) != times.end();
      if (runs || known == AxisRole::kTime || known == AxisRole::kFixedSize) continue;
      mark(origin, AxisRole::kBatch, "it is the batch of recurrent layers");
      break;
    }
  }
}

std::string Origins::time_beside(int origin) const {
  const bool runs = std::any_of(layers_.begin(), layers_.end(),
                                [&](const LayerAxes &layer) { return layer.time >= 0 && find(layer.time) == find(origin); });
  if (!runs || role(origin) == AxisRole::kTime) return "";
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) == AxisRole::kTime && !names_[i].empty()) return names_[i];
  }
  return "";
}

bool Origins::is_innermost(int origin) const {
  const int next = origin + 1;
  const bool ends = next == static_cast<int>(sizes_.size()) || std::find(first_.begin(), first_.end(), next) != first_.end();
  return ends && places_[static_cast<size_t>(origin)] > 0;
}

Remedy Origins::one_step() const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) == AxisRole::kTime && dynamic_[i] && is_plain(names_[i]))
      return {{"--dim " + names_[i] + "=1"}, ""};
  }
  return {};
}

// Sizes that stand in for open ones become as many times as large, so that what strides make of them are integers of steps.
void Origins::set_period(int time) {
  int64_t period = 1;
  for (const LayerAxes &layer : layers_) {
    if (layer.time >= 0 && find(layer.time) == find(time)) period = std::lcm(period, layer.rate);
  }
  constexpr int64_t kMostPeriod = 1024;
  if (period > kMostPeriod) return;
  periods_[static_cast<size_t>(find(time))] = period;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (find(static_cast<int>(i)) == find(time) && dynamic_[i]) sizes_[i] *= period;
  }
}

// "S/4+1", "S-2" of what strides, windows and cuts leave of an open size. Powers of two are sizes that files have.
std::string Origins::strided_name(int64_t value) const {
  constexpr int64_t kMostStride = 16, kWindow = 64;
  if ((value & (value - 1)) == 0 || std::abs(value) > INT64_MAX / (2 * kMostStride)) return "";
  std::string name;
  int64_t nearest = INT64_MAX;
  for (size_t k = 0; k < sizes_.size(); ++k) {
    if (!dynamic_[k] || period(static_cast<int>(k)) != 1 || value == sizes_[k]) continue;
    for (int64_t stride = 1; stride <= kMostStride; ++stride) {
      const int64_t off = std::abs(value * stride - sizes_[k]), more = value - sizes_[k] / stride;
      if (off > kWindow + stride || off >= nearest) continue;
      nearest = off;
      name = names_[k].empty() ? "?" : names_[k];
      if (stride > 1) name += "/" + std::to_string(stride);
      if (more != 0) name += (more > 0 ? "+" : "") + std::to_string(more);
    }
  }
  return name;
}

std::string Origins::named(const std::string &text) const {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const std::string digits = text.substr(i, end - i);
    const std::string strided = digits.size() < 6 || digits.size() > 7 ? "" : strided_name(std::stoll(digits));
    if (digits.size() < 7 || digits.size() > 18 || !strided.empty()) {
      out += end == i ? text.substr(i, 1) : strided.empty() ? digits : strided;
      i = std::max(end, i + 1);
      continue;
    }
    int64_t rest = std::stoll(digits);
    std::string name;
    for (size_t k = 0; k < sizes_.size() && rest > 1;) {
      const int64_t step = sizes_[k] / period(static_cast<int>(k)), unit = rest % sizes_[k] == 0 ? sizes_[k] : step;
      if (!dynamic_[k] || rest % unit != 0) {
        ++k;
        continue;
      }
      rest /= unit;
      name += (name.empty() ? "" : "*") + (names_[k].empty() ? std::string("?") : names_[k]);
      if (unit != sizes_[k]) name += "/" + std::to_string(sizes_[k] / unit);
    }
    const std::string part = rest == 1 ? "" : strided_name(rest);
    const bool computed = rest > kFirstStandIn / 2;
    const std::string factor = !part.empty() ? "(" + part + ")" : computed ? "?" : std::to_string(rest);
    out += name.empty() ? (computed ? "?" : digits) : rest == 1 ? name : factor + "*" + name;
    i = end;
  }
  return out;
}

bool Origins::any(AxisRole wanted) const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) == wanted) return true;
  }
  return false;
}

bool Origins::any_open(AxisRole wanted) const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (dynamic_[i] && role(static_cast<int>(i)) == wanted) return true;
  }
  return false;
}

// An open batch axis that nothing joins to one of fixed size may have other rows.
void Origins::refuse_two_batches() const {
  std::map<int, std::pair<int, int>> groups;  // of each representative: an open axis, a fixed one
  for (int i = 0; i < static_cast<int>(sizes_.size()); ++i) {
    if (role(i) != AxisRole::kBatch) continue;
    auto &group = groups.emplace(find(i), std::make_pair(-1, -1)).first->second;
    (dynamic(i) ? group.first : group.second) = i;
  }
  for (const auto &open : groups) {
    for (const auto &other : groups) {
      if (open.second.second >= 0 || open.second.first < 0 || other.second.second < 0) continue;
      const std::string &name = names_[static_cast<size_t>(open.second.first)];
      throw Refusal("its inputs have two batch axes, an open one" + (name.empty() ? "" : " (" + quote(name) + ")") +
                    " and one of size " + std::to_string(size(other.second.second)) +
                    ", which no node joins; accepted: one size for all");
    }
  }
}

int64_t Origins::common_size(AxisRole wanted, bool *is_dynamic) const {
  if (wanted == AxisRole::kBatch) refuse_two_batches();
  int64_t fixed = 0, stand_in = 0;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (role(static_cast<int>(i)) != wanted) continue;
    if (dynamic_[i]) {
      stand_in = sizes_[i] / period(static_cast<int>(i));
    } else if (fixed && fixed != sizes_[i]) {
      throw Refusal(std::string("the ") + (wanted == AxisRole::kTime ? "time" : "batch") + " axes of its inputs have sizes " +
                    std::to_string(fixed) + " and " + std::to_string(sizes_[i]) + "; accepted: one size for all");
    } else {
      fixed = sizes_[i];
    }
  }
  *is_dynamic = fixed == 0 && stand_in != 0;
  return fixed ? fixed : stand_in ? stand_in : 1;
}

}  // namespace rnnp::compiler
