"""models.py -- seed -> model: a first layer that says what is time and what is batch, then random moves; or one of the shapes in
which exporters write networks. SPDX-License-Identifier: Apache-2.0"""
import layers
import moves
import masked_cells
import norm_cells
import recurrent
import templates
from graph import B, T, Graph

OPSETS = list(range(7, 23))
MOVES = {**moves.MOVES, **layers.MOVES, recurrent.grow: 5}


def start(g):
    features = g.between(1, 9)
    if g.chance(0.3):
        x = g.transpose(g.input([B, T, features]), [1, 0, 2])
    elif g.chance(0.2):
        a, b = g.pick((2, 3), (1, 4), (2, 2), (3, 3))
        x = g.input([T, B, a, b])
        x = g.reshape(x, [T, B, a * b], [0, 0, -1])
    else:
        x = g.input([T, B, features])
    g.keep(x)
    if g.chance(0.15):
        g.keep(g.input([T, B, g.between(1, 4)], "X2"))
    if g.chance(0.1):
        g.keep(g.input([B, g.between(1, 4)], "R"))
    for value in recurrent.layer(g, x):
        g.keep(value)


def start_without_layer(g):
    """The first axis is the batch and another open one time."""
    g.open = {T: True, B: True}
    g.keep(g.transpose(g.input([B, g.between(1, 6), T]), [2, 0, 1]) if g.chance(0.5) else g.input([B, T, g.between(1, 8)]))
    layers.conv_over_time(g)


def random_model(g):
    if g.chance(0.85):
        start(g)
    else:
        start_without_layer(g)
    names, weights = list(MOVES), list(MOVES.values())
    wanted, tries = g.pick(1, 2, 4, 6, 8, 10, 12, 14), 0
    while wanted > 0 and tries < 60:
        tries += 1
        g.step = len(g.nodes)
        if g.rng.choices(names, weights)[0](g):
            wanted -= 1
    count = g.pick(1, 2, 3, 4)
    outputs = [g.values[-1]] + [g.pick(*g.values) for _ in range(count - 1)]
    for value in outputs:
        g.output(value)
    if not g.outputs:
        g.output(g.made("Tanh", [g.values[-1]], g.values[-1].dims, 1.0))
    drop_dead(g)


def drop_dead(g):
    """Nodes that no output needs stay in one model of four, so that dead code is tried too."""
    if g.chance(0.25):
        return
    wanted, live = {o.name for o in g.outputs}, []
    for node in reversed(g.nodes):
        if any(name in wanted for name in node.output if name):
            live.insert(0, node)
            wanted.update(node.input)
            for attribute in node.attribute:
                for inner in attribute.g.node:
                    wanted.update(inner.input)
    layers_said = any(node.op_type in recurrent.GATES for node in g.nodes)
    if layers_said and not any(node.op_type in recurrent.GATES for node in live):
        return  # what says which axis is time
    g.nodes = live
    if g.chance(0.9):
        g.inputs = [i for i in g.inputs if i.name in wanted]
        g.feeds = {n: a for n, a in g.feeds.items() if n in wanted}
    g.initializers = {n: a for n, a in g.initializers.items() if n in wanted}


def make(seed):
    """The graph of a seed."""
    chance = Graph(seed, 7).rng
    opset = chance.choice(OPSETS)
    g = Graph(seed, opset)
    g.special = g.pick(*[""] * 14, "huge", "inf", "nan")
    if seed % 40 == 7:  # by the seed, so that the models of others stay as they are
        g.template = "norm_lstm"
        norm_cells.norm_lstm(g)
    elif seed % 40 == 27:
        g.template = "masked_layer"
        masked_cells.masked_layer(g)
    elif g.chance(0.3):
        template = g.pick(*templates.ALL)
        g.template = template.__name__
        template(g)
    else:
        random_model(g)
    return g
