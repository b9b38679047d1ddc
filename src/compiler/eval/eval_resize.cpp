// eval_resize.cpp -- Resize by nearest and linear interpolation. Contract: resize.h, eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "compiler/eval/resize.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

namespace {

constexpr int64_t kLongestResized = int64_t{1} << 20;

// The options that decide where a result lies between elements.
struct ResizeForm {
  bool nearest;
  std::string coordinates, rounding;
};

ResizeForm form_of(const Attributes &a, int64_t opset) {
  const std::string mode = a.text("mode", "nearest");
  ResizeForm form{mode == "nearest", a.text("coordinate_transformation_mode", "half_pixel"),
                  a.text("nearest_mode", "round_prefer_floor")};
  if (opset < 11) form.coordinates = "asymmetric", form.rounding = "floor";
  if (mode != "nearest" && mode != "linear") throw Refusal("attribute 'mode' is " + quote(mode) + "; accepted: nearest, linear");
  for (const char *known : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
    if (form.coordinates != known) continue;
    for (const char *name : {"antialias", "exclude_outside"}) {
      if (a.integer(name, 0) != 0) throw Refusal("attribute '" + std::string(name) + "' is set; accepted: 0");
    }
    if (a.text("keep_aspect_ratio_policy", "stretch") != "stretch")
      throw Refusal("attribute 'keep_aspect_ratio_policy' is not stretch; accepted: stretch");
    return form;
  }
  throw Refusal("attribute 'coordinate_transformation_mode' is " + quote(form.coordinates) +
                "; accepted: half_pixel, pytorch_half_pixel, align_corners, asymmetric");
}

// Where result i lies among the elements.
template <typename Real>
Real place_of_result(const ResizeForm &form, int64_t i, Real scale, int64_t in, int64_t out) {
  const Real at = static_cast<Real>(i), half = static_cast<Real>(0.5);
  if (form.coordinates == "asymmetric") return at / scale;
  if (form.coordinates == "align_corners") return out == 1 ? 0 : at * static_cast<Real>(in - 1) / static_cast<Real>(out - 1);
  if (form.coordinates == "pytorch_half_pixel" && out == 1) return 0;
  return (at + half) / scale - half;
}

double nearest_to(const std::string &rounding, double at) {
  if (rounding == "floor") return std::floor(at);
  if (rounding == "ceil") return std::ceil(at);
  if (rounding == "round_prefer_floor") return std::ceil(at - 0.5);
  if (rounding == "round_prefer_ceil") return std::floor(at + 0.5);
  throw Refusal("attribute 'nearest_mode' is " + quote(rounding) +
                "; accepted: round_prefer_floor, round_prefer_ceil, floor, ceil");
}

ResizedAxis resized(const ResizeForm &form, size_t axis, int64_t in, int64_t out, double scale) {
  if (out < 1 || out > kLongestResized || in < 1)
    throw Refusal("it makes " + std::to_string(out) + " elements of " + std::to_string(in) + "; accepted: 1 to 1048576");
  ResizedAxis made{axis, in, out, form.nearest, {}, {}};
  for (int64_t i = 0; i < out; ++i) {
    const double last = static_cast<double>(in - 1), at = place_of_result(form, i, scale, in, out);
    const double in_f32 = static_cast<double>(place_of_result(form, i, static_cast<float>(scale), in, out));
    if (form.nearest && nearest_to(form.rounding, in_f32) != nearest_to(form.rounding, at))
      throw Refusal(
          "a result lies halfway between two elements, and only rounding tells which is nearest; accepted: another scale");
    const double place = std::min(std::max(form.nearest ? nearest_to(form.rounding, at) : at, 0.0), last);
    made.from.push_back(static_cast<int64_t>(std::floor(place)));
    made.towards.push_back(place - std::floor(place));
  }
  return made;
}

}  // namespace

std::vector<size_t> axes_of_resize(const Attributes &a, size_t rank) {
  std::vector<size_t> axes;
  for (const int64_t axis : a.integers("axes")) axes.push_back(normal_axis(axis, rank));
  for (size_t i = 0; axes.size() < rank && a.integers("axes").empty(); ++i) axes.push_back(i);
  return axes;
}

Tensor ResizedAxis::matrix() const {
  check_work(1, out, in, 1);
  Tensor m(Elem::kFloat, {out, in});
  for (int64_t i = 0; i < out; ++i) {
    const size_t row = static_cast<size_t>(i * in), at = static_cast<size_t>(from[static_cast<size_t>(i)]);
    const double part = towards[static_cast<size_t>(i)];
    m.data[row + at] += 1 - part;
    if (part > 0) m.data[row + at + 1] += part;
  }
  return m;
}

std::vector<ResizedAxis> resized_axes(const Attributes &attributes, int64_t opset, const std::vector<const Tensor *> &in,
                                      const Shape &shape) {
  const ResizeForm form = form_of(attributes, opset);
  const auto given = [&](size_t i) { return i < in.size() && in[i] != nullptr && in[i]->size() > 0 ? in[i] : nullptr; };
  const Tensor *scales = given(opset < 11 ? 1 : 2), *sizes = opset < 11 ? nullptr : given(3);
  const Tensor *by = sizes != nullptr ? sizes : scales;
  if (by == nullptr) throw Refusal("its scales or sizes are no constants; accepted: constants");
  const std::vector<size_t> axes = axes_of_resize(attributes, shape.size());
  if (static_cast<size_t>(by->size()) != axes.size())
    throw Refusal("it has " + std::to_string(by->size()) + " scales or sizes for " + std::to_string(axes.size()) + " axes");
  std::vector<ResizedAxis> all;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t from = shape[axes[i]];
    const double number = by->data[i], size = static_cast<double>(from);
    if (!(number > 0) || !std::isfinite(number)) throw Refusal("a scale or size is not above 0");
    if (number == (sizes != nullptr ? size : 1)) continue;
    if (!by->dim(i).is_number())
      throw Refusal("its sizes are computed from the number of steps or batch rows; accepted: constants");
    const double wanted = sizes != nullptr ? number : std::floor(size * number);
    if (!(wanted >= 1 && wanted <= static_cast<double>(kLongestResized)))
      throw Refusal("it makes an axis of " + std::to_string(from) + " empty or longer than 1048576");
    if (sizes == nullptr && form.coordinates == "align_corners" && wanted != size * number)
      throw Refusal(
          "a scale of align_corners makes a part of an element, which ONNX and onnxruntime take differently; accepted: sizes");
    const double scale = sizes != nullptr ? number / size : number;
    all.push_back(resized(form, axes[i], from, static_cast<int64_t>(wanted), scale));
  }
  return all;
}

void eval_resize(EvalCall &call) {
  Tensor x = call.input(0);
  for (const ResizedAxis &axis : resized_axes(call.attributes, call.opset, call.in, x.shape)) {
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < x.rank(); ++i) (i < axis.axis ? outer : inner) *= i == axis.axis ? 1 : x.shape[i];
    Shape shape = x.shape;
    shape[axis.axis] = axis.out;
    check_work(outer, inner, axis.out, 1);
    Tensor y(x.elem, shape);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < axis.out; ++i) {
        const int64_t from = (o * axis.in + axis.from[static_cast<size_t>(i)]) * inner, to = (o * axis.out + i) * inner;
        const double part = axis.towards[static_cast<size_t>(i)];
        for (int64_t k = 0; k < inner; ++k) {
          const double low = x.data[static_cast<size_t>(from + k)];
          const double high = part > 0 ? x.data[static_cast<size_t>(from + inner + k)] : low;
          y.data[static_cast<size_t>(to + k)] = part > 0 ? low * (1 - part) + high * part : low;
        }
      }
    }
    x = std::move(y);
  }
  call.give(std::move(x));
}

}  // namespace rnnp::compiler
