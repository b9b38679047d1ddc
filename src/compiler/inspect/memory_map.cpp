// memory_map.cpp -- Contract: memory_map.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/memory_map.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "compiler/inspect/blob_view.h"
#include "compiler/ir/memory.h"

namespace rnnp::compiler {
namespace {

using Json = nlohmann::ordered_json;

struct Life {
  size_t first = SIZE_MAX, last = 0;
  void touch(size_t node) {
    first = std::min(first, node);
    last = std::max(last, node);
  }
};

std::vector<size_t> operands(const Json &node) {
  std::vector<size_t> out;
  for (const char *list : {"inputs", "outputs"}) {
    for (const Json &index : node[list]) {
      if (!index.is_null()) out.push_back(index.get<size_t>());
    }
  }
  return out;
}

// What a loop and nodes beside it name lives for all of the loop.
void outlast_loops(const Json &nodes, std::vector<Life> *lives) {
  for (size_t first = 0; first < nodes.size(); ++first) {
    const size_t count = std::min(nodes_of_loop(nodes[first]), nodes.size() - first);
    if (count == 0) continue;
    const size_t last = first + count - 1;
    for (size_t n = first; n <= last; ++n) {
      for (const size_t v : operands(nodes[n])) {
        Life &life = (*lives)[v];
        if (life.first >= first && life.last <= last) continue;
        life.touch(first);
        life.touch(last);
      }
    }
    first = last;
  }
}

// Rows made or read by nodes that run for every chunk last over all such nodes; early ones that others read, over the whole run.
std::vector<Life> lives_of(const Json &doc) {
  const Json &values = doc["values"], &nodes = doc["nodes"];
  std::vector<Life> lives(values.size());
  Life steps;
  const auto is_step = [&](const Json &node) {
    const std::vector<size_t> used = operands(node);
    return std::any_of(used.begin(), used.end(), [&](size_t v) { return values[v]["sequence"] == true; });
  };
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (size_t v : operands(nodes[n])) lives[v].touch(n);
    if (is_step(nodes[n])) steps.touch(n);
  }
  for (const Json &node : nodes) {
    const bool step = is_step(node);
    for (size_t v : operands(node)) {
      if (values[v]["kind"] != "row" || !step) continue;
      lives[v].touch(steps.first);
      lives[v].touch(steps.last);
    }
    const auto late = [&](const Json &index) { return !index.is_null() && values[index.get<size_t>()]["early"] == false; };
    if (std::none_of(node["outputs"].begin(), node["outputs"].end(), late)) continue;
    for (const Json &index : node["inputs"]) {
      if (index.is_null() || values[index.get<size_t>()]["early"] == false) continue;
      lives[index.get<size_t>()].touch(0);
      lives[index.get<size_t>()].touch(nodes.size());
    }
  }
  for (const Json &output : doc["outputs"]) lives[output["value"].get<size_t>()].touch(nodes.size());
  outlast_loops(nodes, &lives);
  return lives;
}

// Elements in use while `node` runs. A node that works in place has two values at one place: counted once.
uint64_t in_use(const std::vector<PoolSpan> &spans, size_t node) {
  uint64_t used = 0, end = 0;
  for (const PoolSpan &span : spans) {  // ascending
    if (node < span.first || node > span.last || span.end <= end) continue;
    used += span.end - std::max(span.begin, end);
    end = span.end;
  }
  return used;
}

PoolMap pool_map(const Json &doc, const std::vector<Life> &lives, const char *kind) {
  PoolMap map{kind, doc["pools"][std::string(kind) + "_elems"].get<uint64_t>(), 0, {}};
  for (size_t v = 0; v < lives.size(); ++v) {
    const Json &value = doc["values"][v];
    if (value["kind"] != kind || lives[v].first == SIZE_MAX || value["location"].is_null()) continue;
    const uint64_t begin = value["location"], elems = value["row_elems"];
    map.spans.push_back({v, lives[v].first, lives[v].last, begin, begin + (elems + kPoolPad - 1) / kPoolPad * kPoolPad});
  }
  std::stable_sort(map.spans.begin(), map.spans.end(), [](const PoolSpan &a, const PoolSpan &b) { return a.begin < b.begin; });
  for (size_t n = 0; n <= doc["nodes"].size(); ++n) map.live = std::max(map.live, in_use(map.spans, n));
  return map;
}

template <typename... Args>
void print(std::string *text, const char *format, Args... args) {
  char line[512];
  std::snprintf(line, sizeof line, format, args...);
  *text += line;
}

std::string title(const PoolMap &map) {
  std::string text;
  print(&text, "%s pool: %llu f32 (%llu bytes) per %s, largest live set %llu", map.kind.c_str(),
        static_cast<unsigned long long>(map.elems), 4 * static_cast<unsigned long long>(map.elems),
        map.kind == "sequence" ? "step and row" : "row", static_cast<unsigned long long>(map.live));
  return text;
}

// A value as a rectangle, with its bytes where there is room for them.
void draw_span(std::string *svg, const PoolSpan &span, double x, double y, double w, double h) {
  constexpr double kLabelWidth = 120, kLabelHeight = 13;
  const auto begin = static_cast<unsigned long long>(span.begin), end = static_cast<unsigned long long>(span.end);
  print(svg,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"hsl(%zu,60%%,75%%)\" stroke=\"#444\" "
        "stroke-width=\"0.5\" fill-opacity=\"0.8\"><title>value %zu: elements %llu .. %llu, %llu bytes</title></rect>\n",
        x, y, w, h, span.value * 47 % 360, span.value, begin, end, 4 * (end - begin));
  if (w < kLabelWidth || h < kLabelHeight) return;
  print(svg, "<text x=\"%.1f\" y=\"%.1f\">value %zu, %llu bytes</text>\n", x + 4, y + h / 2 + 4, span.value, 4 * (end - begin));
}

}  // namespace

std::vector<PoolMap> memory_map(const Json &document) {
  const std::vector<Life> lives = lives_of(document);
  return {pool_map(document, lives, "sequence"), pool_map(document, lives, "row")};
}

std::string memory_text(const std::vector<PoolMap> &maps, size_t nodes) {
  std::string text;
  for (const PoolMap &map : maps) {
    text += title(map) + " (elements, value, nodes that it lives over)\n";
    for (const PoolSpan &span : map.spans) {
      print(&text, "  %8llu .. %-8llu value %-4zu nodes %zu .. %s\n", static_cast<unsigned long long>(span.begin),
            static_cast<unsigned long long>(span.end), span.value, span.first,
            span.last == nodes ? "end" : std::to_string(span.last).c_str());
    }
  }
  return text;
}

std::string memory_svg(const std::vector<PoolMap> &maps, size_t nodes) {
  constexpr double kWidth = 900, kHeight = 260, kLeft = 20, kTop = 40, kGap = 60;
  const double column = kWidth / static_cast<double>(nodes + 1);
  std::string svg;
  print(&svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n",
        kWidth + 2 * kLeft, kTop + static_cast<double>(maps.size()) * (kHeight + kGap) + kGap / 2);
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  double bottom = kTop + kHeight;
  for (const PoolMap &map : maps) {
    const double scale = map.elems == 0 ? 0 : kHeight / static_cast<double>(map.elems);
    print(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", kLeft, bottom - kHeight - 8,
          (title(map) + "; nodes to the right").c_str());
    for (const PoolSpan &span : map.spans) {
      const double x = kLeft + static_cast<double>(span.first) * column,
                   w = static_cast<double>(span.last - span.first + 1) * column;
      const double h = static_cast<double>(span.end - span.begin) * scale, y = bottom - static_cast<double>(span.end) * scale;
      draw_span(&svg, span, x, y, w, h);
    }
    print(&svg, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" stroke=\"black\"/>\n", kLeft,
          bottom - kHeight, kWidth, kHeight);
    const double live = bottom - static_cast<double>(map.live) * scale;
    print(&svg, "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"red\" stroke-dasharray=\"4\"/>\n", kLeft,
          kLeft + kWidth, live, live);
    print(&svg, "<text x=\"%.0f\" y=\"%.0f\">node 0</text><text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">end</text>\n", kLeft,
          bottom + 14, kLeft + kWidth, bottom + 14);
    bottom += kHeight + kGap;
  }
  print(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", kLeft, bottom - kHeight - kGap / 2,
        "A value is as wide as the nodes that it lives over and as high as its bytes. Dashed: the largest live set.");
  return svg + "</svg>\n";
}

}  // namespace rnnp::compiler
