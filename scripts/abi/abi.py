# SPDX-License-Identifier: Apache-2.0
"""rnnpack.abi.json for the emit_*.py: what of it a language binds, and the few forms in which they all need it."""
import json
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATH = ROOT / "include/rnnpack/rnnpack.abi.json"
BOUND = ("rnnpack.h", "threads.h")
COMPILER = ("compiler.h",)  # what languages bind beside it where a host has the compiler
MADE = "Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit."
LICENCE = "SPDX-License-Identifier: Apache-2.0"


class Abi:
    def __init__(self, headers=BOUND):
        whole = json.loads(PATH.read_text(encoding="utf-8"))
        self.rules, self.headers = whole["rules"], whole["headers"]
        of = {kind: [one for one in whole[kind] if one["header"] in headers] for kind in ("constants", "enums", "opaque", "structs", "callbacks", "functions")}
        self.constants, self.structs, self.callbacks = of["constants"], of["structs"], of["callbacks"]
        self.opaque = [one["name"] for one in of["opaque"]]
        self.functions = [one for one in of["functions"] if not one["inline"]]  # what the library has
        self.inline = [one for one in of["functions"] if one["inline"]]
        self.status = next((one for one in of["enums"] if one["name"] == "rnnp_status"), None)
        self.enums = [one for one in of["enums"] if one["name"] != "rnnp_status"]
        self.pinned = {one["name"]: one["values"] for one in self.enums if one["type"] == "i32"}  # enums that have a name in C

    def numbers(self):
        """Constants and the values of enums but statuses, which all languages but C have in one form."""
        flat = [{"name": v["name"], "type": e["type"], "value": v["value"], "text": v["text"], "group": e["group"]} for e in self.enums for v in e["values"]]
        return self.constants + flat

    def struct(self, name):
        return next(one for one in self.structs if one["name"] == name)


def is_function(kind):
    return isinstance(kind, dict)


def pointee(kind):
    """What a pointer points to, and whether it may be written; None where it is none."""
    if isinstance(kind, str) and kind.startswith("*"):
        how, to = kind[1:].split(" ", 1)
        return to, how == "mut"
    return None


C_SCALARS = {"u32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "usize": "size_t", "f32": "float"}


def c_type(kind, name=""):
    """A declaration of that type, as C writes it."""
    if is_function(kind):
        return f"{c_type(kind['returns'])} (*{name})({', '.join(c_type(p) for p in kind['parameters'])})"
    if pointee(kind):
        to, written = pointee(kind)
        return ("" if written or pointee(to) else "const ") + c_type(to, "*" + name)
    return f"{C_SCALARS.get(kind, kind)} {name}".rstrip()


def short(name):
    """RNNP_E_ARG -> E_ARG, rnnp_model_info -> model_info."""
    return name.removeprefix("RNNP_").removeprefix("rnnp_")


def of_compiler(name):
    """RNNP_COMPILE_USAGE -> USAGE, RNNP_COMPILED -> COMPILED."""
    return name.removeprefix("RNNP_COMPILE_").removeprefix("RNNP_")


def camel(name):
    return "".join(part.capitalize() for part in short(name).split("_"))


def comment(text, mark, width=118, indent=""):
    """Lines of a comment; none without a text."""
    lines = []
    for line in text.split("\n") if text else []:
        hang = len(line) - len(line.lstrip())
        lines += textwrap.wrap(line, width - len(indent) - len(mark), subsequent_indent=" " * (hang + 2 if hang else 0), break_long_words=False,
                               break_on_hyphens=False) or [""]
    return "".join(f"{indent}{mark} {line}".rstrip() + "\n" for line in lines)


def between(path, begin, end, text):
    """The file with what stands between two lines replaced."""
    old = (ROOT / path).read_text(encoding="utf-8")
    head, rest = old.split(begin + "\n", 1)
    return head + begin + "\n" + text + end + rest.split(end, 1)[1]
