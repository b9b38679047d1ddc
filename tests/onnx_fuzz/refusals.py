"""refusals.py -- whether a refusal can be understood: it names what it is about, and no number in it stands in for an open size.
SPDX-License-Identifier: Apache-2.0"""
import re

LEAST, MOST = 1 << 20, 1 << 53  # above: ends of Slice; below: sizes of models that are drawn


def unclear(message, model):
    """What is wrong with the message, or ""."""
    graph = model.graph
    names = {n.name for n in graph.node} | {t.name for t in list(graph.input) + list(graph.output)}
    own = {int(i) for node in graph.node for a in node.attribute for i in a.ints}
    if re.search(r"(steps|batch|rows)[-+]\?|\?[-+*/]|[-+*/] ?\?", message):
        return "a size that stayed unknown"
    for number in re.findall(r"\d{7,}", message):
        if LEAST <= int(number) < MOST and int(number) not in own and int(number) & (int(number) - 1):
            return f"{number} stands in for an open size"
    for line in message.split("\n"):
        if not line.startswith(("try: --", "a size that the network is made for may help: --")) and not any(f"'{name}'" in line for name in names if name):
            return "names no node and no tensor"
    return ""
