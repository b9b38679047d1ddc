# SPDX-License-Identifier: Apache-2.0
"""stack_bound.py -- the most stack an image's library can use, from GCC's -fcallgraph-info=su: frames and calls. Calls through
pointers have fixed targets: building reaches the operators' build and finish, running reaches their run, operators reach kernels."""
import os
import re
import subprocess

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*?)\\n[^"]*?(\d+) bytes \((\w+)')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*)")?')
ENTRIES = ("rnnp_model_open_with", "rnnp_session_init_with", "rnnp_step")
C_LIBRARY = 32  # memcpy and memset
TARGETS = (("src/runtime/session_build.cpp", re.compile(r"\((rnnp::)?(BuildEnv|FinishEnv)\*")),
         ("src/runtime/schedule.cpp", re.compile(r"\(const rnnp::RunEnv&, const rnnp::BlobNode&, void\*")),
         ("src/ops/", re.compile(r"\(const rnnp::(Gemm|Recur|Act|Binary|Softmax)Args\*\)")))


def plain(title):
    return title.rsplit(":", 1)[-1]


def graph_of(obj):
    """The call graph that GCC wrote with the object: not one that an earlier compilation left."""
    path = obj.removesuffix(".obj") + ".ci"
    if not os.path.exists(path) or os.path.getmtime(obj) - os.path.getmtime(path) > 60:
        raise SystemExit(f"stack_bound: {path} is not of this object: compile it anew without a compiler cache")
    return open(path).read()


class Graph:
    def __init__(self, build, symbols):
        self.frames, self.labels, self.calls = {}, {}, {}
        for top in ("src", "platform"):
            for folder, _, files in os.walk(os.path.join(build, top)):
                for name in files:
                    if name.endswith(".cpp.obj"):
                        self.read(graph_of(os.path.join(folder, name)), symbols)

    def read(self, text, symbols):
        for title, label, size, _ in NODE.findall(text):
            if plain(title) in symbols:
                self.frames[title], self.labels[title] = int(size), label
        for source, target, site in EDGE.findall(text):
            self.calls.setdefault(source, set()).add((target, site))

    def targets(self, title):
        for target, site in self.calls.get(title, ()):
            if target == "__indirect_call":
                for target, signature in TARGETS:
                    if target in site and "barrier" not in site:
                        yield from (t for t, label in self.labels.items() if signature.search(label))
            else:
                yield from (t for t in self.frames if t == target or plain(t) == target)

    def depth(self, title, path=()):
        if title in path:
            return 0
        below = [self.depth(t, path + (title,)) for t in set(self.targets(title))]
        return self.frames[title] + max(below + [C_LIBRARY])


def stack_bound(build, image, nm):
    """{entry: bytes} for the functions that an application calls."""
    lines = subprocess.run([nm, image], check=True, capture_output=True, text=True).stdout.splitlines()
    graph = Graph(build, {line.split()[-1] for line in lines if line})
    return {plain(t): graph.depth(t) for t in graph.frames if plain(t) in ENTRIES}
