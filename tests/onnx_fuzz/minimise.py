"""minimise.py -- a failing case made smaller while it fails in the same way: outputs, nodes and attributes are dropped one at a time.
SPDX-License-Identifier: Apache-2.0"""
import copy
import re

import case as cases

TRIES = 400


def kind_of(text):
    """What failed, without names and numbers."""
    return re.sub(r"[-\d.e+]+|'[^']*'|nan|inf", "", text.split(";")[0])[:40]


def tidy(model):
    """Without nodes, constants and inputs that nothing needs."""
    graph = model.graph
    wanted, nodes = {o.name for o in graph.output}, []
    for node in reversed(graph.node):
        if any(o in wanted for o in node.output if o):
            nodes.insert(0, node)
            wanted.update(node.input)
            for attribute in node.attribute:
                for inner in attribute.g.node:
                    wanted.update(inner.input)
    kept = list(nodes)
    del graph.node[:]
    graph.node.extend(kept)
    for field in (graph.initializer, graph.input):
        left = [t for t in field if t.name in wanted]
        del field[:]
        field.extend(left)
    return model


def smaller(model):
    """Models with one thing less."""
    for i in range(len(model.graph.output)):
        if len(model.graph.output) > 1:
            less = copy.deepcopy(model)
            del less.graph.output[i]
            yield less
    for i in reversed(range(len(model.graph.node))):
        node = model.graph.node[i]
        for name in node.input:  # the node's users take what it is fed with
            if not name or len(node.output) != 1:
                continue
            less = copy.deepcopy(model)
            del less.graph.node[i]
            for other in less.graph.node:
                for k, used in enumerate(other.input):
                    if used == node.output[0]:
                        other.input[k] = name
            yield less
        for out in node.output:  # or the model ends here
            if out and out not in [o.name for o in model.graph.output]:
                less = copy.deepcopy(model)
                del less.graph.output[1:]
                less.graph.output[0].name = out
                yield less
        for k in range(len(node.attribute)):
            less = copy.deepcopy(model)
            del less.graph.node[i].attribute[k]
            yield less
        for k in range(3, len(node.input)):
            if node.input[k]:
                less = copy.deepcopy(model)
                less.graph.node[i].input[k] = ""
                yield less


def minimise(case, result, driver, walks):
    tries, kind, found = 0, kind_of(result.text), True
    while found and tries < TRIES:
        found = False
        for model in smaller(case.model):
            tries += 1
            tidy(model)
            if not model.graph.node:
                continue
            names = {i.name for i in model.graph.input}
            less = case.copy(model, {n: a for n, a in case.feeds.items() if n in names})
            if not set(n for pair in case.states for n in pair[:1]) <= names:
                continue
            now = cases.run(less, driver, walks)
            if now.kind == cases.FAILED and kind_of(now.text) == kind:
                case, result, found = less, now, True
                break
            if tries >= TRIES:
                break
    return case, result
