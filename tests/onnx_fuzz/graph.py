"""graph.py -- one random model: nodes, constants, inputs and their values, and the values that nodes may still use. A value's axes
are "T" (time), "B" (batch) or a number. Operators are written as the model's opset wants them. SPDX-License-Identifier: Apache-2.0"""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

T, B = "T", "B"
FLOAT, BOOL = "float", "bool"


class Value:
    def __init__(self, name, dims, most=4.0, kind=FLOAT):
        self.name, self.dims, self.most, self.kind = name, list(dims), most, kind

    def __repr__(self):
        return f"{self.name}{self.dims}"

    def axes(self, role):
        if role in (T, B):
            return [i for i, d in enumerate(self.dims) if d == role]
        return [i for i, d in enumerate(self.dims) if isinstance(d, int)]

    def features(self):
        count = 1
        for d in self.dims:
            count *= d if isinstance(d, int) else 1
        return count

    def has(self, *roles):
        return all(role in self.dims for role in roles)


class Graph:
    def __init__(self, seed, opset):
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = opset
        self.nodes, self.initializers, self.inputs, self.outputs = [], {}, [], []
        self.values, self.feeds = [], {}
        self.states = []  # (input, output) pairs that the library keeps
        self.steps, self.batch = self.rng.choice([1, 2, 3, 5, 7, 9]), self.rng.choice([1, 1, 2, 3, 4])
        self.open = {T: self.rng.random() < 0.7, B: self.rng.random() < 0.7}  # else the file has a number there
        self.bounded = False  # layers get activations that end
        self.notes = set()  # why onnxruntime may differ: see known.py
        self.template = ""
        self.special = ""  # of the inputs and constants: "", "huge", "inf", "nan"
        self.implied = False  # the model is one step: fed step by step
        self.next = 0

    # Chance.
    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *what):
        return self.rng.choice(what)

    def below(self, n):
        return self.rng.randrange(n)

    def between(self, low, high):
        return self.rng.randint(low, high)

    # Names and nodes.
    def fresh(self, stem="v"):
        self.next += 1
        return f"{stem}{self.next}"

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        names = [self.fresh() for _ in range(outputs)] if isinstance(outputs, int) else outputs
        inputs = [i.name if isinstance(i, Value) else i for i in inputs]
        while inputs and inputs[-1] == "":
            inputs.pop()
        given = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{op}_{len(self.nodes)}", domain=domain, **given))
        return names[0] if isinstance(outputs, int) and outputs == 1 else names

    def made(self, op, inputs, dims, most=4.0, kind=FLOAT, **attributes):
        """A node of one output, as a value."""
        return Value(self.node(op, inputs, 1, **attributes), dims, most, kind)

    def keep(self, value):
        if value.features() <= 160 and len(value.dims) <= 6:
            self.values.append(value)
        return value

    # Constants.
    def constant(self, array, stem="c", plain=False):
        array = np.asarray(array)
        name = self.fresh(stem)
        if not plain and self.chance(0.2):
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            self.initializers[name] = array
        return name

    def ints(self, data):
        if self.opset >= 12 and len(data) and self.chance(0.1):
            return self.node("Constant", [], 1, value_ints=[int(d) for d in data])
        return self.constant(np.array(data, dtype=np.int64).reshape(-1), "i")

    def int_scalar(self, number):
        if self.opset >= 12 and self.chance(0.3):
            return self.node("Constant", [], 1, value_int=number)
        return self.constant(np.array(number, dtype=np.int64), "i")

    def weights(self, shape, deviation=None):
        fan = shape[-1] if deviation is None else 0
        data = self.numbers.normal(0, 1 / np.sqrt(max(1, fan)) if deviation is None else deviation, shape).astype(np.float32)
        return self.constant(self.spoilt(data, 0.15), "w")

    def uniform(self, shape, low, high):
        data = self.numbers.uniform(low, high, shape).astype(np.float32)
        if self.opset >= 12 and self.chance(0.1) and len(shape) <= 1 and data.size:
            return self.node("Constant", [], 1, **({"value_float": float(data)} if data.ndim == 0 else {"value_floats": data.tolist()}))
        return self.constant(data, "c")

    def scalar(self, low, high):
        return self.uniform([1] if self.chance(0.3) else [], low, high)

    def spoilt(self, data, chance=1.0):
        """With the numbers of this model's kind among them."""
        if self.special and data.size and self.chance(chance):
            bad = {"huge": [1e4, -1e6, 1e7, -1e8], "inf": [np.inf, -np.inf], "nan": [np.nan]}[self.special]
            flat = data.reshape(-1)
            for _ in range(self.between(1, 2)):
                flat[self.below(flat.size)] = self.rng.choice(bad)
        return data

    # Inputs.
    def sizes(self, dims):
        return [self.steps if d == T else self.batch if d == B else d for d in dims]

    def declared(self, dims):
        names = {T: "T", B: "N"}
        return [(names[d] if self.open[d] else self.sizes([d])[0]) if d in names else d for d in dims]

    def input(self, dims, stem="X", data=None, elem=TensorProto.FLOAT, most=4.0):
        name = stem if stem not in self.feeds else self.fresh(stem)
        self.inputs.append(helper.make_tensor_value_info(name, elem, self.declared(dims)))
        if data is None:
            shape = ([self.steps] if self.implied else []) + self.sizes(dims)
            data = self.spoilt(self.numbers.normal(0, 1, shape).astype(np.float32), 0.7)
        self.feeds[name] = data
        return Value(name, dims, most)

    def row_ends(self, steps):
        return np.array([self.between(1, self.steps) for _ in range(self.batch)], dtype=np.int32)

    def ends_input(self, steps):
        return self.input([B], "lengths", self.row_ends(steps), TensorProto.INT32)

    # Finding values.
    def find(self, fits):
        found = [v for v in self.values if v.kind == FLOAT and fits(v)]
        if not found:
            return None
        late = found[-3:] if self.chance(0.7) else found  # deep rather than wide
        return self.rng.choice(late)

    def any(self):
        return self.find(lambda v: True)

    # Operators whose form depends on the opset.
    def axis(self, value, axis, since=11):
        return axis - len(value.dims) if self.opset >= since and self.chance(0.4) else axis

    def transpose(self, value, order):
        if order == list(range(len(order))) and self.chance(0.8):
            return value
        dims = [value.dims[i] for i in order]
        if order == list(reversed(range(len(order)))) and self.chance(0.5):
            return self.made("Transpose", [value], dims, value.most)
        return self.made("Transpose", [value], dims, value.most, perm=order)

    def may_be_one(self, dim):
        return dim in (T, B) and (self.open[dim] or self.sizes([dim]) == [1])

    def squeeze(self, value, axes):
        dims = [d for i, d in enumerate(value.dims) if i not in axes]
        every = [i for i, d in enumerate(value.dims) if d == 1]
        fixed = not any(self.may_be_one(d) for d in value.dims)
        if every == sorted(axes) and fixed and self.chance(0.2):
            return self.made("Squeeze", [value], dims, value.most)
        given = [self.axis(value, a) for a in axes]
        if self.opset >= 13:
            return self.made("Squeeze", [value, self.ints(given)], dims, value.most)
        return self.made("Squeeze", [value], dims, value.most, axes=given)

    def unsqueeze(self, value, axes):
        dims = list(value.dims)
        for a in sorted(axes):
            dims.insert(a, 1)
        given = [a - len(dims) if self.opset >= 11 and self.chance(0.3) else a for a in axes]
        if self.opset >= 13:
            return self.made("Unsqueeze", [value, self.ints(given)], dims, value.most)
        return self.made("Unsqueeze", [value], dims, value.most, axes=given)

    def slice(self, value, axis, first, end, step=1, dims=None):
        """Ends are as ONNX has them; `dims`: of the result, where the axis has no number."""
        if dims is None:
            dims = list(value.dims)
            dims[axis] = len(range(*slice(first, None if abs(end) > 1 << 30 else end, step).indices(value.dims[axis])))
        at = self.axis(value, axis)
        if self.opset < 10:
            return self.made("Slice", [value], dims, value.most, starts=[first], ends=[end], axes=[at])
        inputs = [value, self.ints([first]), self.ints([end])]
        if axis != 0 or step != 1 or self.chance(0.7):
            inputs.append(self.ints([at]))
            if step != 1 or self.chance(0.3):
                inputs.append(self.ints([step]))
        return self.made("Slice", inputs, dims, value.most)

    def split(self, value, axis, sizes):
        outputs = len(sizes)
        at = None if axis == 0 and self.chance(0.8) else self.axis(value, axis)
        even = len(set(sizes)) == 1
        if self.opset >= 18 and even and self.chance(0.5):
            names = self.node("Split", [value], outputs, axis=at, num_outputs=outputs)
        elif self.opset < 18 and even and self.chance(0.4):
            names = self.node("Split", [value], outputs, axis=at)
        elif self.opset >= 13:
            names = self.node("Split", [value, self.ints(sizes)], outputs, axis=at)
        else:
            names = self.node("Split", [value], outputs, axis=at, split=sizes)
        names = [names] if outputs == 1 else names
        return [Value(n, value.dims[:axis] + [s] + value.dims[axis + 1:], value.most) for n, s in zip(names, sizes)]

    def pad(self, value, before, after, number=0.0, mode=None, dims=None):
        if dims is None:
            dims = [d + p + q if isinstance(d, int) else d for d, p, q in zip(value.dims, before, after)]
        mode = mode if mode else self.pick(None, "constant")
        most = max(value.most, abs(number))
        if self.opset < 11:
            given = None if number == 0.0 and self.chance(0.5) else number
            return self.made("Pad", [value], dims, most, pads=before + after, mode=mode, value=given)
        inputs = [value, self.ints(before + after)]
        if number != 0.0 or self.chance(0.3):
            inputs.append(self.constant(np.array(number, dtype=np.float32)))
        if self.opset >= 18 and self.chance(0.3):
            while len(inputs) < 3:
                inputs.append("")
            used = [i for i in range(len(before)) if before[i] or after[i]] or [0]
            inputs[1] = self.ints([before[i] for i in used] + [after[i] for i in used])
            inputs.append(self.ints(used))
        return self.made("Pad", inputs, dims, most, mode=mode)

    def reshape(self, value, dims, shape):
        return self.made("Reshape", [value, self.ints(shape)], dims, value.most)

    def flat(self, value):
        """Time first, then batch, all features in one axis."""
        lead = [r for r in (T, B) if value.has(r)]
        order = [value.dims.index(r) for r in lead] + value.axes("F")
        transposed = self.transpose(value, order)
        if len(transposed.dims) == len(lead) + 1:
            return transposed
        return self.reshape(transposed, lead + [value.features()], [0] * len(lead) + [self.pick(-1, value.features())])

    def squashed(self, value):
        """Kept from growing without bound through the layers."""
        if value.most <= 40:
            return value
        if self.chance(0.5):
            return self.made("Tanh", [value], value.dims, 1.0)
        return self.made("Mul", [value, self.constant(np.array(2.0 / value.most, dtype=np.float32))], value.dims, 2.0)

    # The whole.
    def output(self, value, name=None):
        known = {o.name for o in self.outputs}
        if value.name in known or (value.name in self.feeds and name is None):
            return
        if name:
            value = Value(self.node("Identity", [value], [name])[0], value.dims)
        self.outputs.append(helper.make_tensor_value_info(value.name, TensorProto.FLOAT, None))

    def model(self):
        tensors = [numpy_helper.from_array(a, n) for n, a in self.initializers.items()]
        graph = helper.make_graph(self.nodes, "fuzz", self.inputs, self.outputs, tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
