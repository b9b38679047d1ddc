"""time_models.py -- seed -> a model around the time axis: layers with one to four moves between them that shorten, shift, pick, repeat or
take together steps. SPDX-License-Identifier: Apache-2.0"""
import layers
import models
import moves
import time_moves
import time_windows
from graph import B, T
from time_graph import NotSampled, TimeGraph

OPSETS = list(range(9, 23))
BETWEEN = {**time_windows.MOVES, **time_moves.MOVES}
WITHIN = {layers.dense: 4, moves.unary: 3, moves.with_constant: 2, moves.with_value: 2}  # within a step

# Every form that a move is drawn in. A fixed set of models must have each of them LEAST times.
LEAST = 2
FORMS = {
    "Slice": "front, back, both, first k, last k, stride, middle, backwards stride, by size, by half the size",
    "Pad": "front, back, both, cut, edge, reflect", "Conv": "valid, causal, same, full, ahead, some, auto, stride",
    "Conv of planes": ", stride", "ConvTranspose": ", stride", "MaxPool": "overlapping, stride", "AveragePool": "overlapping, stride",
    "GlobalAveragePool": "", "GlobalMaxPool": "", "Concat": "itself, another, shift, zeros, last again, constant",
    "Split": "by sizes, in halves", "residual": ", of a shortened one", "difference of steps": "", "reversal by Slice": "",
    "ReverseSequence by": "input, constant, size", "Gather": "first, last, k, -k, several, last by size",
    "ReduceMean": ", taken off", "ReduceMax": ", taken off", "ReduceSum": ", taken off", "ReduceMin": ", taken off", "ArgMax": "", "ArgMin": "",
    "CumSum": ", backwards, exclusive, backwards exclusive", "gated recurrence": ", backwards", "fixed recurrence": ", backwards", "Softmax over time": "", "attention": ", to one row", "row as a step": "",
    "row repeated by": "Tile, Expand, Concat, constant Tile, constant Expand", "Tile by": "number, batch, steps",
    "Range:": "place, part, backwards, how many", "Where by Range <": "lengths, number, size", "Mul by Range <": "lengths, number, size",
    "Reshape:": "rows, pairs, halves, all steps", "Unsqueeze and Squeeze": "", "row on all steps": "",
    "layer": ", over one step, over another length, over the batch",
    "decoder from": "last step, first step, state, last step with a state, first step with a state"}


def rare(drawn):
    """Forms that too few models had."""
    names = [f"{stem} {rest}".strip() for stem, forms in FORMS.items() for rest in forms.split(", ")]
    return [f"{name}: {drawn[name]} models" for name in names if drawn[name] < LEAST]


def start(g):
    features = g.between(1, 5)
    order = g.pick([T, B, features], [B, T, features], [B, T, features], [B, features, T])
    g.keep(g.input(order))
    if g.chance(0.15):
        g.keep(g.input([T, B, g.between(1, 3)], "X2"))
    if g.chance(0.1):
        g.keep(g.input([B, g.between(1, 4)], "R"))


def draw(g, table, tries=8):
    for _ in range(tries):
        move = g.rng.choices(list(table), list(table.values()))[0]
        try:
            name = move(g)
        except NotSampled:
            continue
        if table is BETWEEN:
            g.form(name)
        if name:
            return


def time_model(g):
    start(g)
    if g.chance(0.8):
        draw(g, {time_moves.layer: 1})
    for _ in range(g.pick(1, 1, 2, 3)):
        for _ in range(g.pick(1, 1, 2, 3, 4)):
            draw(g, BETWEEN)
            if g.chance(0.25):
                draw(g, WITHIN)
        if g.chance(0.6):
            draw(g, {time_moves.layer: 4, time_moves.decoder: 2})
    chosen = [g.values[-1]] + [g.pick(*g.values) for _ in range(g.pick(0, 0, 0, 1, 2))]
    for value in chosen:
        g.output(value)
    if not g.outputs:
        g.output(g.made("Tanh", [g.values[-1]], g.values[-1].dims, 1.0))
    models.drop_dead(g)


def make(seed):
    """The graph of a seed."""
    chance = TimeGraph(seed, 7).rng
    g = TimeGraph(seed, chance.choice(OPSETS))
    time_model(g)
    return g
