// eval_window.cpp -- Contract: eval_window.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/eval_window.h"

#include <algorithm>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMost = int64_t{1} << 28;  // sums and products of two of these stay far inside 64 bits

// One number per spatial axis, each in [low, kMost]; `otherwise` for all when the attribute is absent.
std::vector<int64_t> numbers(const Attributes &attributes, const char *name, size_t count, int64_t low, int64_t otherwise) {
  std::vector<int64_t> values = attributes.integers(name);
  if (values.empty()) values.assign(count, otherwise);
  const bool fit = std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= low && v <= kMost; });
  if (values.size() != count || !fit) {
    throw Refusal("attribute '" + std::string(name) + "' is " + shape_text(values) + "; accepted: " + std::to_string(count) +
                  " numbers from " + std::to_string(low));
  }
  return values;
}

enum class AutoPad : uint8_t { kNotSet, kValid, kSameUpper, kSameLower };

AutoPad auto_pad_of(const Attributes &attributes) {
  const std::string name = attributes.text("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) return AutoPad::kNotSet;
  if (name == "VALID") return AutoPad::kValid;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name == "SAME_LOWER") return AutoPad::kSameLower;
  throw Refusal("attribute 'auto_pad' is " + quote(name) + "; accepted: NOTSET, SAME_UPPER, SAME_LOWER, VALID");
}

// Sizes, kernel, strides and dilations; not yet padding and outputs.
Window basic_window(const Attributes &attributes, const Shape &spatial, const Shape &kernel) {
  if (kernel.size() != spatial.size()) {
    throw Refusal("a kernel of shape " + shape_text(kernel) + " does not fit " + std::to_string(spatial.size()) + " spatial axes");
  }
  const auto strides = numbers(attributes, "strides", spatial.size(), 1, 1);
  const auto dilations = numbers(attributes, "dilations", spatial.size(), 1, 1);
  Window window(spatial.size());
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (kernel[i] < 1 || kernel[i] > kMost || spatial[i] > kMost) {
      throw Refusal("a kernel of shape " + shape_text(kernel) + " over " + shape_text(spatial) + " is empty or too large");
    }
    window[i].size = spatial[i];
    window[i].kernel = kernel[i];
    window[i].stride = strides[i];
    window[i].dilation = dilations[i];
  }
  return window;
}

void explicit_pads(const Attributes &attributes, Window *window) {
  const size_t rank = window->size();
  const auto pads = numbers(attributes, "pads", 2 * rank, 0, 0);
  for (size_t i = 0; i < rank; ++i) {
    (*window)[i].before = pads[i];
    (*window)[i].after = pads[rank + i];
  }
}

void split_padding(int64_t total, bool more_after, WindowAxis *axis) {
  axis->before = more_after ? total / 2 : total - total / 2;
  axis->after = total - axis->before;
}

// Padding and outputs of a window that slides over its input.
void slide(const Attributes &attributes, bool ceil_mode, Window *window) {
  const AutoPad mode = auto_pad_of(attributes);
  if (mode == AutoPad::kNotSet) explicit_pads(attributes, window);
  for (WindowAxis &axis : *window) {
    if (mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower) {
      axis.out = (axis.size + axis.stride - 1) / axis.stride;
      const int64_t total = (axis.out - 1) * axis.stride + axis.extent() - axis.size;
      split_padding(std::max<int64_t>(total, 0), mode == AutoPad::kSameUpper, &axis);
      continue;
    }
    const int64_t room = axis.size + axis.before + axis.after - axis.extent();
    if (room < 0) {
      throw Refusal("a window of " + std::to_string(axis.extent()) + " does not fit an axis of " + std::to_string(axis.size) +
                    " with padding " + std::to_string(axis.before) + " and " + std::to_string(axis.after));
    }
    axis.out = (room + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
    // A window that would begin in the padding behind the axis is left out.
    if (ceil_mode && (axis.out - 1) * axis.stride >= axis.size + axis.before) --axis.out;
  }
}

}  // namespace

Shape spatial_of(const Shape &shape) {
  if (shape.size() < 3) throw Refusal("its input has rank " + std::to_string(shape.size()) + "; accepted: 3 and more");
  return Shape(shape.begin() + 2, shape.end());
}

Window conv_window(const Attributes &attributes, const Shape &spatial, const Shape &kernel) {
  const auto stated = attributes.integers("kernel_shape");
  if (!stated.empty() && stated != kernel) {
    throw Refusal("attribute 'kernel_shape' is " + shape_text(stated) + "; accepted: that of W, " + shape_text(kernel));
  }
  Window window = basic_window(attributes, spatial, kernel);
  slide(attributes, false, &window);
  return window;
}

Window pool_window(const Attributes &attributes, const Shape &spatial) {
  Window window = basic_window(attributes, spatial, attributes.integers("kernel_shape"));
  slide(attributes, attributes.integer("ceil_mode", 0) != 0, &window);
  return window;
}

Window conv_transpose_window(const Attributes &attributes, const Shape &spatial, const Shape &kernel) {
  const auto stated = attributes.integers("kernel_shape");
  if (!stated.empty() && stated != kernel) {
    throw Refusal("attribute 'kernel_shape' is " + shape_text(stated) + "; accepted: that of W, " + shape_text(kernel));
  }
  Window window = basic_window(attributes, spatial, kernel);
  const AutoPad mode = auto_pad_of(attributes);
  const auto extra = numbers(attributes, "output_padding", spatial.size(), 0, 0);
  const bool sized = attributes.has("output_shape");
  const auto wanted = numbers(attributes, "output_shape", spatial.size(), 0, 0);
  if (mode == AutoPad::kNotSet) explicit_pads(attributes, &window);
  for (size_t i = 0; i < window.size(); ++i) {
    WindowAxis &axis = window[i];
    const int64_t full = axis.stride * (axis.size - 1) + extra[i] + axis.extent();
    if (sized || mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower) {
      axis.out = sized ? wanted[i] : axis.size * axis.stride;
      // ONNX's text, its reference and onnxruntime differ here.
      if (!sized && axis.out > full) {
        throw Refusal("attribute 'auto_pad' asks for " + std::to_string(axis.out) + " outputs of an axis, the kernel reaches " +
                      std::to_string(full) + "; accepted: up to that");
      }
      split_padding(std::max<int64_t>(full - axis.out, 0), mode == AutoPad::kSameUpper, &axis);
    } else {
      axis.out = full - axis.before - axis.after;
    }
    if (axis.out < 0) throw Refusal("attribute 'pads' cuts off more than the output has");
  }
  return window;
}

}  // namespace rnnp::compiler
