"""time_graph.py -- a random model whose time axis changes on the way: every axis without a number has a name, and each name its length
at each of the sizes at which the model runs. SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from onnx import TensorProto

import templates
from graph import B, FLOAT, T, Graph

MOST_STEPS = 48
LENGTHS = {TensorProto.INT32: np.int32, TensorProto.INT64: np.int64}


class NotSampled(Exception):
    """The move does not fit the values that there are."""


class TimeGraph(Graph):
    def __init__(self, seed, opset):
        super().__init__(seed, opset)
        self.seed, self.bounded = seed, True
        self.forms, self.dead = set(), set()  # what was drawn; sizes at which an axis would be empty
        self.open = {T: self.chance(0.6), B: self.chance(0.6)}
        steps, batch = [self.pick(4, 5, 6, 7, 8, 9, 12)], [self.pick(1, 2, 2, 3)]
        if self.open[T]:
            steps += [self.pick(1, 1, 2), self.pick(2, 3, 5, 8, 10, 13)]
        if self.open[B]:
            batch.append(self.pick(1, 2, 3, 4))
        count = max(len(steps), len(batch))
        self.runs = [(steps[i % len(steps)], batch[i % len(batch)]) for i in range(count)]
        self.steps, self.batch = self.runs[0]
        self.lengths = {T: tuple(t for t, _ in self.runs), B: tuple(b for _, b in self.runs)}
        self.recipes = {}

    # Lengths.
    def length(self, of):
        """The name of an axis; `of`: its length at each size."""
        counts = tuple(int(c) for c in of)
        if counts[0] <= 0 or max(counts) > MOST_STEPS:
            raise NotSampled
        self.dead.update(i for i, c in enumerate(counts) if c <= 0)
        if counts == self.lengths[T]:
            return T
        name = "t" + "_".join(map(str, counts))
        self.lengths[name] = counts
        return name

    def changed(self, dim, rule):
        return self.length(rule(n) if n > 0 else 0 for n in self.lengths[dim])

    def one_step(self):
        return self.length([1] * len(self.runs))

    def same_at_all(self, dim):
        """The number that a constant may say for this axis; None where there is none."""
        return self.lengths[dim][0] if len(set(self.lengths[dim])) == 1 else None

    def sizes(self, dims, at=0):
        return [d if isinstance(d, int) else self.lengths[d][at] for d in dims]

    def may_be_one(self, dim):
        return not isinstance(dim, int)

    # Inputs: their numbers are drawn for each size when the model is there.
    def input(self, dims, stem="X", data=None, elem=TensorProto.FLOAT, most=4.0):
        value = super().input(dims, stem, np.zeros(1), elem, most)
        self.recipes[value.name] = (dims, elem, None)
        return value

    def row_ends(self, steps):
        return np.array([self.between(1, self.lengths[steps][0]) for _ in range(self.batch)], dtype=np.int32)

    def ends_input(self, steps, elem=TensorProto.INT32):
        value = super().input([B], "lengths", np.zeros(1), elem)
        self.recipes[value.name] = ([B], elem, steps)
        return value

    def feeds_at(self, at):
        numbers = np.random.default_rng((self.seed, at))
        feeds, wanted = {}, {i.name for i in self.inputs}
        for name, (dims, elem, steps) in self.recipes.items():
            if name not in wanted:
                continue
            shape = self.sizes(dims, at)
            if steps:
                feeds[name] = numbers.integers(1, self.lengths[steps][at] + 1, shape).astype(LENGTHS[elem])
            else:
                feeds[name] = numbers.normal(0, 1, shape).astype(np.float32)
        return feeds

    # Values: sequences have three axes (time, batch, features) in any order, rows two.
    @staticmethod
    def time_of(value):
        return next(i for i, d in enumerate(value.dims) if isinstance(d, str) and d != B)

    @staticmethod
    def is_sequence(value):
        kinds = [d for d in value.dims if isinstance(d, str)]
        return value.kind == FLOAT and len(value.dims) == 3 and len(kinds) == 2 and kinds.count(B) == 1

    @staticmethod
    def is_row(value):
        return value.kind == FLOAT and len(value.dims) == 2 and value.dims.count(B) == 1 and value.features() > 0 and any(
            isinstance(d, int) for d in value.dims)

    def counts(self, value):
        return self.lengths[value.dims[self.time_of(value)]]

    def sequence(self, fits=lambda v: True):
        found = [v for v in self.values if self.is_sequence(v) and fits(v)]
        if not found:
            raise NotSampled
        return found[-1] if self.chance(0.7) else self.pick(*found)

    def row(self, fits=lambda v: True):
        found = [v for v in self.values if self.is_row(v) and fits(v)]
        if not found:
            raise NotSampled
        return found[-1] if self.chance(0.7) else self.pick(*found)

    def laid(self, value, order):
        """Axes in this order: L, B and F."""
        places = {"L": self.time_of(value), "B": value.dims.index(B), "F": value.axes("F")[0]}
        return self.transpose(value, [places[c] for c in order])

    def row_laid(self, value):
        return value if value.dims[0] == B else self.transpose(value, [1, 0])

    def any_order(self, value):
        return self.laid(value, self.pick("LBF", "LBF", "BLF", "BLF", "BFL"))

    # Arithmetic on sizes.
    def size_of(self, value, axis):
        """[n]"""
        return templates.shape_part(self, value, axis)

    def size_number(self, value, axis):
        return self.node("Gather", [self.node("Shape", [value]), self.int_scalar(axis)], axis=0)

    def row_count(self):
        """[n] of the batch, from a sequence."""
        x = self.sequence()
        return self.size_of(x, x.dims.index(B))

    def form(self, name):
        self.forms.add(name)
