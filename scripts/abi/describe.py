#!/usr/bin/env python3
"""describe.py [--check] -- writes include/rnnpack/rnnpack.abi.json, the C ABI as data, from the headers by libclang: functions with the
direction and length of each pointer (rules.py), structs with offsets and sizes for 32 and 64 bits, enums, constants, and the text of
every contract. --check compares the file with the headers. Needs Debian's python3-clang. SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib
import re
import sys

import clang.cindex as clang

import rules

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
HEADERS = ("rnnpack.h", "threads.h", "cuda.h", "compiler.h")
GROUPS = {"threads.h": "Threads", "compiler.h": "Compiler"}  # of headers without titles
# i386 aligns 64-bit integers to 4 bytes in structs; every other target of 32 bits to 8.
LAYOUTS = {"64": "x86_64-linux-gnu", "32": "armv7-linux-gnueabihf", "i386": "i386-linux-gnu"}
Cursor, Type = clang.CursorKind, clang.TypeKind
SCALARS = {Type.INT: "i32", Type.UINT: "u32", Type.ULONG: "u64", Type.ULONGLONG: "u64", Type.VOID: "void", Type.CHAR_S: "char",
           Type.CHAR_U: "char", Type.FLOAT: "f32"}
NAMED = {"size_t": "usize", "uint32_t": "u32", "int32_t": "i32", "uint64_t": "u64"}
PINNED = ("rnnp_status", "rnnp_compile_status", "rnnp_compile_message")  # enums of 32 bits, which have a name


def parse(header, target):
    unit = clang.Index.create().parse(str(INCLUDE / "rnnpack" / header), options=clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
                                      args=["-x", "c", "-std=c11", "-ffreestanding", f"-I{INCLUDE}", f"--target={target}"])
    if list(unit.diagnostics):
        sys.exit("\n".join(map(str, unit.diagnostics)))
    return [node for node in unit.cursor.get_children() if node.location.file and node.location.file.name.endswith("/" + header)]


class Text:
    """Comments of one header: what stands above a declaration, and behind it on its line."""

    def __init__(self, header):
        self.header = header
        self.source = (INCLUDE / "rnnpack" / header).read_text(encoding="utf-8")
        self.lines = self.source.split("\n")

    @staticmethod
    def words(comment):
        lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().removeprefix("/*").removesuffix("*/").split("\n")]
        return "\n".join([lines[0].strip()] + lines[1:]).strip()

    def above(self, line):
        """Of a declaration on this line (from 1): the comment above it, or above those that stand between without an empty line."""
        at = line - 2
        while at >= 0 and self.lines[at].strip() and not self.lines[at].rstrip().endswith("*/"):
            at -= 1
        if at < 0 or not self.lines[at].strip().endswith("*/"):
            return ""
        end = at
        while "/*" not in self.lines[at]:
            at -= 1
        comment = "\n".join(self.lines[at:end + 1])
        return "" if not comment.lstrip().startswith("/*") or comment.startswith("/* ---") else self.words(comment)

    def behind(self, line):
        """The comment that begins on the line of a declaration's end, behind it."""
        rest = "\n".join(self.lines[line - 1:line + 8])
        found = re.match(r"[^\n]*?/\*(.*?)\*/", rest, re.S)
        return " ".join(found.group(1).split()) if found else ""

    def group(self, line):
        titles = [re.match(r"/\* --- (.*?) -+ \*/", text) for text in self.lines[:line]]
        titles = [title.group(1).split(":")[0] for title in titles if title]
        return titles[-1] if titles else GROUPS[self.header]

    def rules(self):
        """The paragraphs of the header's opening comment that have a name."""
        opening = re.search(r"^ \* (?:Rules of all functions|Common to all functions|Rules)\n(.*?)SPDX", self.source, re.S | re.M)
        found, lines = [], opening.group(1).split("\n") if opening else []
        for line in lines:
            named = re.match(r" \*   ([a-z]+) {1,7}(\S.*)", line)
            if named:
                found.append({"name": named.group(1), "text": named.group(2)})
            elif found and line.strip(" *"):
                found[-1]["text"] += " " + line.strip(" *")
        return found


def spell(kind):
    """A type as data: Rust's notation for pointers, which reads from the outside in; functions as an object."""
    name = kind.spelling.replace("const ", "").strip()
    if name in NAMED or name in PINNED:
        return NAMED.get(name, name)
    plain = kind.get_canonical()
    if plain.kind == Type.POINTER:
        to = kind.get_pointee() if kind.kind == Type.POINTER else plain.get_pointee()
        if to.get_canonical().kind == Type.FUNCTIONPROTO:
            return name if name.startswith("rnnp_") else signature(to)  # a callback has a name
        return ("*const " if to.is_const_qualified() else "*mut ") + spell(to)
    if plain.kind == Type.RECORD:
        return plain.get_declaration().spelling
    return SCALARS[plain.kind]


def signature(function):
    function = function.get_canonical() if function.kind != Type.FUNCTIONPROTO else function
    return {"returns": spell(function.get_result()), "parameters": [spell(one) for one in function.argument_types()]}


def constant(node, text):
    tokens = [token.spelling for token in node.get_tokens()][1:]
    body = " ".join(tokens).replace("UINT32_MAX", "0xffffffff")
    if not body or not re.fullmatch(r"[-()0-9a-fxu<+* ]+", body):
        return None
    value = eval(re.sub(r"(?<=[0-9a-f])u\b", "", body))  # a header of this project: digits and operators alone
    line = node.location.line
    return {"name": node.spelling, "type": "i32" if value < 0 or "u" not in body and body.isdigit() else "u32", "value": value,
            "group": text.group(line), "text": text.behind(line) or text.above(line)}


def initials(nodes, source):
    """The values of RNNP_..._INIT in the order of members; the first is the struct's size."""
    found = {}
    for node in nodes:
        if node.kind == Cursor.MACRO_DEFINITION and node.spelling.endswith("_INIT"):
            body = " ".join(token.spelling for token in node.get_tokens())
            first = re.search(r"sizeof \( (\w+) \)", body).group(1)
            inner = body[body.index("{") + 1:body.rindex("}")].replace("{ 0 }", "0")
            found[first] = [None if "sizeof" in value else {"NULL": 0, "RNNP_OK": 0}.get(value.strip(), value.strip()) for value in inner.split(",")]
    return {name: [value if value is None else int(value) for value in values] for name, values in found.items()}


def struct(node, others, text, values):
    members = []
    for at, field in enumerate(node.type.get_fields()):
        plain, count = field.type, None
        if plain.get_canonical().kind == Type.CONSTANTARRAY:
            plain, count = plain.element_type, plain.element_count
        member = {"name": field.spelling, "type": spell(plain)}
        if count is not None:
            member["count"] = count
        member["offset"] = compact({bits: other.type.get_offset(field.spelling) // 8 for bits, other in others.items()})
        if values:
            member["initial"] = values[at] if values[at] is not None else "size"
        comment = text.behind(field.extent.end.line)
        members.append({**member, **({"text": comment} if comment else {})})
    line = node.extent.start.line
    return {"name": node.spelling, "group": text.group(line), "size": compact({b: o.type.get_size() for b, o in others.items()}),
            "align": compact({b: o.type.get_align() for b, o in others.items()}), "text": text.above(line), "members": members}


def compact(sizes):
    """i386 is named where it differs from other targets of 32 bits."""
    return {bits: size for bits, size in sizes.items() if bits != "i386" or size != sizes["32"]}


def enum(node, text):
    values = [{"name": one.spelling, "value": one.enum_value, "text": text.behind(one.extent.end.line)} for one in node.get_children()]
    if len({value["text"] for value in values}) == 1 and len(values) > 1:
        values = [{**value, "text": ""} for value in values]
    line = node.extent.start.line
    pinned = re.fullmatch(r"typedef int32_t (\w+);", text.lines[line - 2])
    return {"name": pinned[1] if pinned else values[0]["name"].rsplit("_", 1)[0], "type": "i32" if pinned else "u32", "group": text.group(line),
            "text": text.above(line - 4 if pinned else line), "values": values}


def parameters_of(name, nodes):
    found = []
    for one in nodes:
        kind = spell(one.type)
        found.append({"name": one.spelling, "type": kind, **(rules.rule(name, one.spelling) if kind.startswith("*") else {"direction": "in"})})
    return found


def callback(node, text):
    """A type of functions that the caller has."""
    line, name = node.extent.start.line, node.spelling
    returned = spell(node.underlying_typedef_type.get_pointee().get_canonical().get_result())
    parameters = [one for one in node.get_children() if one.kind == Cursor.PARM_DECL]
    return {"name": name, "group": text.group(line), "returns": returned, "parameters": parameters_of(name, parameters), "text": text.above(line)}


def is_callback(node):
    return node.kind == Cursor.TYPEDEF_DECL and node.underlying_typedef_type.get_pointee().get_canonical().kind == Type.FUNCTIONPROTO


def function(node, text):
    line, name = node.extent.start.line, node.spelling
    inline = node.storage_class == clang.StorageClass.STATIC
    source = "\n".join(text.lines[line - 1:node.extent.end.line])
    return {"name": name, "group": text.group(line), "inline": inline, "nodiscard": "RNNP_NODISCARD" in source,
            "returns": spell(node.result_type), "parameters": parameters_of(name, node.get_arguments()), "text": text.above(line)}


def describe(header):
    text = Text(header)
    parsed = {bits: parse(header, target) for bits, target in LAYOUTS.items()}
    nodes = parsed["64"]
    records = {bits: {n.spelling: n for n in all_nodes if n.kind == Cursor.STRUCT_DECL and n.is_definition()} for bits, all_nodes in parsed.items()}
    values = initials(nodes, text.source)
    found = [constant(node, text) for node in nodes if node.kind == Cursor.MACRO_DEFINITION]
    part = {
        "constants": [one for one in found if one],
        "enums": [enum(node, text) for node in nodes if node.kind == Cursor.ENUM_DECL],
        "opaque": sorted({n.spelling for n in nodes if n.kind == Cursor.STRUCT_DECL} - set(records["64"])),
        "structs": [struct(node, {bits: records[bits][name] for bits in records}, text, values.get(name)) for name, node in records["64"].items()],
        "callbacks": [callback(node, text) for node in nodes if is_callback(node)],
        "functions": [function(node, text) for node in nodes if node.kind == Cursor.FUNCTION_DECL],
    }
    return text.rules(), {kind: [{**one, "header": header} if isinstance(one, dict) else {"name": one, "header": header} for one in all_of]
                          for kind, all_of in part.items()}


def document():
    whole = {"about": "The C ABI of rnnpack, written by scripts/abi/describe.py from the headers. SPDX-License-Identifier: Apache-2.0",
             "headers": list(HEADERS), "layouts": {"64": "pointers of 64 bits", "32": "pointers of 32 bits", "i386": "where it differs from 32"},
             "rules": {}, "constants": [], "enums": [], "opaque": [], "structs": [], "callbacks": [], "functions": []}
    for header in HEADERS:
        found, part = describe(header)
        whole["rules"][header] = found
        for kind, all_of in part.items():
            whole[kind] += all_of
    unknown = set(rules.RULES) - {one["name"] for one in whole["functions"] + whole["callbacks"]}
    if unknown:
        sys.exit(f"scripts/abi/rules.py has functions that no header has: {sorted(unknown)}")
    return lines_of(whole)


def lines_of(value, depth=0):
    """JSON with one line for what is small."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(flat) + depth < 150:
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{pad}{json.dumps(key)}: {lines_of(one, depth + 1)}" for key, one in value.items()]
    else:
        parts = [pad + lines_of(one, depth + 1) for one in value]
    return ("{" if isinstance(value, dict) else "[") + "\n" + ",\n".join(parts) + "\n" + " " * depth + ("}" if isinstance(value, dict) else "]")


def main():
    path, text = INCLUDE / "rnnpack" / "rnnpack.abi.json", document() + "\n"
    if "--check" not in sys.argv:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path} is not what the headers say: run scripts/abi/describe.py and scripts/abi/generate.py")
    print("include/rnnpack/rnnpack.abi.json:", text.count("\n"), "lines")


if __name__ == "__main__":
    main()
