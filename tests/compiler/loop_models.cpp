// loop_models.cpp -- Contract: loop_models.h.
// SPDX-License-Identifier: Apache-2.0
#include "loop_models.h"

#include <algorithm>

#include "compiler/compile.h"

namespace rnnp::testing_support {
void add_dims(onnx::ValueInfoProto *info, const std::string &name, int type, const std::vector<int64_t> &dims) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto *shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int64_t dim : dims) {
    auto *to = shape->add_dim();
    if (dim > 0) to->set_dim_value(dim);
  }
}

void gru_body(OnnxBuilder *b, bool reset_after, bool keep_is_z) {
  b->random("W", {kIn, 3 * kHidden}).random("R", {kHidden, 3 * kHidden}).random("Wb", {3 * kHidden}).random("Rb", {3 * kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("Add", {"xw", "Wb"}, {"xs"});
  b->node("Split", {"xs"}, {"xz", "xr", "xn"}).with("axis", -1);
  if (reset_after) {
    b->node("MatMul", {"h", "R"}, {"hr"});
    b->node("Add", {"Rb", "hr"}, {"hs"});
    b->node("Split", {"hs"}, {"hz", "hrr", "hn"}).with("axis", -1);
  } else {
    b->random("R2", {kHidden, 2 * kHidden}).random("R1", {kHidden, kHidden});
    b->node("MatMul", {"h", "R2"}, {"hs"});
    b->node("Split", {"hs"}, {"hz", "hrr"}).with("axis", -1);
  }
  b->node("Add", {"xz", "hz"}, {"z_in"});
  b->node("Sigmoid", {"z_in"}, {"z"});
  b->node("Add", {"xr", "hrr"}, {"r_in"});
  b->node("Sigmoid", {"r_in"}, {"r"});
  if (reset_after) {
    b->node("Mul", {"r", "hn"}, {"inner"});
  } else {
    b->node("Mul", {"r", "h"}, {"rh"});
    b->node("MatMul", {"rh", "R1"}, {"inner"});
  }
  b->node("Add", {"xn", "inner"}, {"n_in"});
  b->node("Tanh", {"n_in"}, {"n"});
  b->constant("one", {}, {1.0f});
  b->node("Sub", {"one", "z"}, {"not_z"});
  b->node("Mul", {keep_is_z ? "z" : "not_z", "h"}, {"kept"});
  b->node("Mul", {keep_is_z ? "not_z" : "z", "n"}, {"fresh"});
  b->node("Add", {"kept", "fresh"}, {"h_next"});
}

void lstm_body(OnnxBuilder *b) {
  b->random("W", {kIn, 4 * kHidden}).random("R", {kHidden, 4 * kHidden}).random("B", {4 * kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("MatMul", {"h", "R"}, {"hr"});
  b->node("Add", {"xw", "hr"}, {"sum"});
  b->node("Add", {"sum", "B"}, {"pre"});
  b->node("Split", {"pre"}, {"i_in", "f_in", "g_in", "o_in"}).with("axis", -1);
  for (const char *gate : {"i", "f", "o"}) b->node("Sigmoid", {std::string(gate) + "_in"}, {gate});
  b->node("Tanh", {"g_in"}, {"g"});
  b->node("Mul", {"f", "c"}, {"kept"});
  b->node("Mul", {"i", "g"}, {"fresh"});
  b->node("Add", {"kept", "fresh"}, {"c_next"});
  b->node("Tanh", {"c_next"}, {"c_out"});
  b->node("Mul", {"o", "c_out"}, {"h_next"});
}

void rnn_body(OnnxBuilder *b) {
  b->random("W", {kIn, kHidden}).random("R", {kHidden, kHidden}).random("B", {kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("MatMul", {"h", "R"}, {"hr"});
  b->node("Add", {"xw", "hr"}, {"sum"});
  b->node("Add", {"sum", "B"}, {"pre"});
  b->node("Tanh", {"pre"}, {"h_next"});
}

void body_by_gates(OnnxBuilder *b, const std::string &kind) {
  const auto dense = [&](const std::string &x, int inputs, const std::string &to) {
    b->random("M_" + to, {inputs, kHidden}).random("b_" + to, {kHidden});
    b->node("MatMul", {x, "M_" + to}, {"p_" + to});
    b->node("Add", {"b_" + to, "p_" + to}, {to});
  };
  const bool x_backwards = kind == "after, x from the last gate";
  const auto dense_of_x = [&](const std::string &name) {
    if (!x_backwards) dense("x", kIn, "x" + name);
  };
  const auto gate = [&](const std::string &name, const char *f, const std::string &of_h = "h") {
    dense_of_x(name);
    dense(of_h, kHidden, "h" + name);
    b->node("Add", {"x" + name, "h" + name}, {name + "_in"});
    b->node(f, {name + "_in"}, {name});
  };
  if (kind == "rnn") {
    dense("x", kIn, "xn");
    dense("h", kHidden, "hn");
    b->node("Add", {"xn", "hn"}, {"sum"});
    b->node("Tanh", {"sum"}, {"h_next"});
    return;
  }
  for (const char *name : {"n", "r", "z"}) {
    if (x_backwards) dense("x", kIn, std::string("x") + name);
  }
  gate("z", "Sigmoid");
  gate("r", "Sigmoid");
  if (kind == "before") {
    b->node("Mul", {"r", "h"}, {"rh"});
    gate("n", "Tanh", "rh");
  } else {
    dense_of_x("n");
    dense("h", kHidden, "hn");
    b->node("Mul", {"r", "hn"}, {"inner"});
    b->node("Add", {"xn", "inner"}, {"n_in"});
    b->node("Tanh", {"n_in"}, {"n"});
  }
  b->node("Sub", {"h", "n"}, {"less"});
  b->node("Mul", {"z", "less"}, {"kept"});
  b->node("Add", {"kept", "n"}, {"h_next"});
}

void joint_body(OnnxBuilder *b, bool gru, bool x_first) {
  const auto product = [&](const std::string &h, int gates, const std::string &to) {
    b->random("J_" + to, {gates * kHidden, kIn + kHidden}).random("b_" + to, {gates * kHidden});
    b->node("Concat", {x_first ? "x" : h, x_first ? h : "x"}, {"both_" + to}).with("axis", -1);
    b->node("Gemm", {"both_" + to, "J_" + to, "b_" + to}, {to}).with("transB", 1);
  };
  if (!gru) {
    product("h", 1, "sum");
    b->node("Tanh", {"sum"}, {"h_next"});
    return;
  }
  product("h", 2, "gates");
  b->node("Sigmoid", {"gates"}, {"zr"});
  b->node("Split", {"zr"}, {"z", "r"}).with("axis", -1);
  b->node("Mul", {"r", "h"}, {"rh"});
  product("rh", 1, "n_in");
  b->node("Tanh", {"n_in"}, {"n"});
  b->node("Sub", {"h", "n"}, {"less"});
  b->node("Mul", {"z", "less"}, {"kept"});
  b->node("Add", {"kept", "n"}, {"h_next"});
}

void equinox_body(OnnxBuilder *b, bool vectors) {
  b->random("W", {3 * kHidden, kIn}).random("R", {3 * kHidden, kHidden}).random("B", {3 * kHidden}).random("Bn", {kHidden});
  const auto turned = [&](const std::string &from, const std::string &to) {
    b->node("Transpose", {from}, {to}).with("perm", std::vector<int64_t>{1, 0});
  };
  for (const bool of_x : {true, false}) {
    const std::string x = of_x ? "x" : "h", w = of_x ? "W" : "R";
    if (vectors) {
      b->node("Einsum", {w, x}, {x + "s"}).with("equation", "ab,b->a");
    } else {
      turned(x, x + "t");
      b->node("Gemm", {w, x + "t"}, {x + "st"});
      if (of_x) turned("xst", "xs");
    }
  }
  b->node("Add", {"xs", "B"}, {"x_sum"});
  b->node("Split", {"x_sum"}, {"xr", "xz", "xn"}).with("axis", vectors ? 0 : 1);
  b->node("Split", {vectors ? "hs" : "hst"}, {vectors ? "hr" : "hrt", vectors ? "hz" : "hzt", vectors ? "hn" : "hnt"})
      .with("axis", 0);
  for (const char *gate : {"hr", "hz", "hn"}) {
    if (!vectors) turned(std::string(gate) + "t", gate);
  }
  b->node("Add", {"xr", "hr"}, {"r_in"});
  b->node("Sigmoid", {"r_in"}, {"r"});
  b->node("Add", {"xz", "hz"}, {"z_in"});
  b->node("Sigmoid", {"z_in"}, {"z"});
  b->node("Add", {"hn", "Bn"}, {"hn_sum"});
  b->node("Mul", {"r", "hn_sum"}, {"inner"});
  b->node("Add", {"xn", "inner"}, {"n_in"});
  b->node("Tanh", {"n_in"}, {"n"});
  b->node("Sub", {"h", "n"}, {"less"});
  b->node("Mul", {"z", "less"}, {"kept"});
  b->node("Add", {"kept", "n"}, {"h_next"});
}

void decay_body(OnnxBuilder *b) {
  b->random("W", {kIn, kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->constant("half", {}, {0.5f});
  b->node("Mul", {"h", "half"}, {"old"});
  b->node("Softmax", {"xw"}, {"p"}).with("axis", -1);
  b->node("Add", {"old", "p"}, {"h_next"});
}

void masked_body(OnnxBuilder *b) {
  b->random("W", {kIn, kHidden}).random("R", {kHidden, kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("MatMul", {"h", "R"}, {"hr"});
  b->node("Add", {"xw", "hr"}, {"sum"});
  b->node("Tanh", {"sum"}, {"fresh"});
  b->constant("zero", {}, {0.0f});
  b->constant_ints("last", {1}, {-1});
  b->node("ReduceMax", {"x"}, {"top"}).with("axes", std::vector<int64_t>{-1}).with("keepdims", 1);
  b->node("Greater", {"top", "zero"}, {"on"});
  b->node("Where", {"on", "fresh", "h"}, {"h_next"});
}

onnx::GraphProto loop_graph(OnnxBuilder body) {
  onnx::GraphProto *g = body.proto.mutable_graph();
  add_dims(g->add_input(), "i", onnx::TensorProto::INT64, {});
  add_dims(g->add_input(), "go", onnx::TensorProto::BOOL, {});
  add_dims(g->add_input(), "t", onnx::TensorProto::INT32, {});
  add_dims(g->add_input(), "h", onnx::TensorProto::FLOAT, {-1, kHidden});
  body.constant_ints("tick", {}, {1}, onnx::TensorProto::INT32);
  body.node("Add", {"t", "tick"}, {"t_next"});
  body.node("Less", {"t_next", "steps32"}, {"go_on"});
  body.node("Identity", {"h_next"}, {"h_out"});
  for (const char *name : {"go_on", "t_next", "h_out", "h_next"}) g->add_output()->set_name(name);
  // The read comes first: nodes of a body are in order.
  OnnxBuilder ordered;
  ordered.node("Gather", {"all", "t"}, {"x"});
  for (const onnx::NodeProto &node : g->node()) *ordered.proto.mutable_graph()->add_node() = node;
  *g->mutable_node() = ordered.proto.graph().node();
  return *g;
}

OnnxBuilder with_loop(const onnx::GraphProto &body, bool trips_are_steps, bool backwards) {
  OnnxBuilder b;
  constexpr int64_t kFixed = 7;
  b.input("X", {"N", backwards ? Dim(kFixed) : Dim("T"), kIn}).output("Y").output("H");
  b.constant_ints("fixed", {}, {kFixed}).constant_ints("last", {1}, {-1}).constant_ints("before all", {1}, {INT64_MIN});
  b.constant_ints("first axis", {1}, {0});
  b.node("Transpose", {"X"}, {backwards ? "forwards" : "all"}).with("perm", std::vector<int64_t>{1, 0, 2});
  if (backwards) b.node("Slice", {"forwards", "last", "before all", "first axis", "last"}, {"all"});
  b.node("Shape", {"all"}, {"sizes"});
  b.constant_ints("at0", {}, {0}).constant_ints("at1", {}, {1}).constant_ints("width", {1}, {kHidden});
  b.node("Gather", {"sizes", "at0"}, {"steps"});
  b.node("Cast", {"steps"}, {"steps32"}).with("to", static_cast<int64_t>(onnx::TensorProto::INT32));
  b.constant_ints("front", {1}, {0});
  b.node("Gather", {"sizes", "at1"}, {"rows"});
  b.node("Unsqueeze", {"rows", "front"}, {"rows1"});
  b.node("Concat", {"rows1", "width"}, {"state_shape"}).with("axis", 0);
  b.constant("nothing", {}, {0.0f});
  b.node("Expand", {"nothing", "state_shape"}, {"start"});
  b.constant_ints("zero32", {}, {0}, onnx::TensorProto::INT32).constant_ints("true", {}, {1}, onnx::TensorProto::BOOL);
  b.constant_ints("three", {}, {3});
  b.node("Loop",
         {backwards         ? "fixed"
          : trips_are_steps ? "steps"
                            : "three",
          "true", "zero32", "start"},
         {"last_t", "H", "made"}, "the_loop")
      .with("body", body);
  b.node("Transpose", {"made"}, {"Y"}).with("perm", std::vector<int64_t>{1, 0, 2});
  return b;
}

onnx::GraphProto scan_graph(OnnxBuilder body, int64_t hidden) {
  onnx::GraphProto *g = body.proto.mutable_graph();
  add_dims(g->add_input(), "h", onnx::TensorProto::FLOAT, {-1, hidden});
  add_dims(g->add_input(), "x", onnx::TensorProto::FLOAT, {-1, kIn});
  body.node("Identity", {"h_next"}, {"y"});
  for (const char *name : {"h_next", "y"}) g->add_output()->set_name(name);
  return *g;
}

OnnxBuilder with_scan(const onnx::GraphProto &body, int64_t hidden) {
  OnnxBuilder b;
  b.input("X", {"T", 3, kIn}).output("Y").output("H");
  b.constant("start", {3, hidden}, std::vector<float>(static_cast<size_t>(3 * hidden), 0.0f));
  b.node("Scan", {"start", "X"}, {"H", "Y"}, "the_scan").with("num_scan_inputs", 1).with("body", body);
  return b;
}

OnnxBuilder with_carried(OnnxBuilder body, bool vectors) {
  constexpr int64_t kSteps = 7, kRows = 3;
  const auto real = static_cast<int64_t>(onnx::TensorProto::FLOAT);
  OnnxBuilder b;
  b.input("X", vectors ? std::vector<Dim>{kSteps, kIn} : std::vector<Dim>{kSteps, kRows, kIn}).output("Y").output("H");
  b.constant_ints("trips", {}, {kSteps}).constant_ints("true", {}, {1}, onnx::TensorProto::BOOL);
  b.constant("start", vectors ? std::vector<int64_t>{kHidden} : std::vector<int64_t>{kRows, kHidden},
             std::vector<float>((vectors ? 1 : kRows) * kHidden, 0.0f));
  onnx::GraphProto *g = body.proto.mutable_graph();
  add_dims(g->add_input(), "i", onnx::TensorProto::INT64, {});
  add_dims(g->add_input(), "go", onnx::TensorProto::BOOL, {});
  std::vector<std::string> in = {"trips", "true"}, out, made = {"go"};
  const auto carry = [&](const std::string &name, const std::string &from, int rank, const std::string &next) {
    add_dims(g->add_input(), name, onnx::TensorProto::FLOAT, std::vector<int64_t>(static_cast<size_t>(rank), -1));
    in.push_back(from);
    out.push_back(name == "h" ? "H" : "unused " + name);
    made.push_back(next);
  };
  for (const onnx::TensorProto &constant : g->initializer()) {
    onnx::TensorProto *outside = b.proto.mutable_graph()->add_initializer();
    *outside = constant;
    outside->set_name("outer " + constant.name());
    body.node("Identity", {constant.name()}, {"next " + constant.name()});
    carry(constant.name(), outside->name(), constant.dims_size(), "next " + constant.name());
  }
  g->clear_initializer();
  carry("h", "start", vectors ? 1 : 2, "h cast");
  carry("all", "X", vectors ? 2 : 3, "all");
  body.node("Cast", {"h_next"}, {"h cast"}).with("to", real);
  body.node("Cast", {"h cast"}, {"y"}).with("to", real);
  made.push_back("y");
  out.push_back("Y");
  for (const std::string &name : made) g->add_output()->set_name(name);
  OnnxBuilder ordered;
  ordered.node("Gather", {"all", "i"}, {"x"});
  for (const onnx::NodeProto &node : g->node()) *ordered.proto.mutable_graph()->add_node() = node;
  *g->mutable_node() = ordered.proto.graph().node();
  b.node("Loop", in, out, "the_loop").with("body", *g);
  return b;
}

size_t count(const OnnxBuilder &b, OpKind op) {
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
  return static_cast<size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const compiler::Node &node) { return node.op == op; }));
}

onnx::NodeProto *node_named(onnx::GraphProto *g, const std::string &output) {
  for (onnx::NodeProto &node : *g->mutable_node()) {
    if (node.output(0) == output) return &node;
  }
  return nullptr;
}

onnx::GraphProto *loop_body(OnnxBuilder *b, const std::string &name) {
  for (onnx::NodeProto &node : *b->proto.mutable_graph()->mutable_node()) {
    if (node.name() != name) continue;
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.name() == "body") return attribute.mutable_g();
    }
  }
  return nullptr;
}

}  // namespace rnnp::testing_support
