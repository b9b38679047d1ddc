# SPDX-License-Identifier: Apache-2.0
"""LuaJIT: the ffi.cdef of rnnpack.lua, and the names of the statuses."""
from abi import MADE, between, c_type

PATH = "bindings/lua/rnnpack.lua"


def emit(abi):
    out = f"-- {MADE}\nffi.cdef [[\n"
    out += "".join(f"static const int {v['name']} = {v['value']};\n" for v in abi.status["values"])
    out += "".join(f"static const {'int32_t' if one['type'] == 'i32' else 'uint32_t'} {one['name']} = {one['value']};\n" for one in abi.numbers())
    out += "typedef int32_t rnnp_status;\n" + "".join(f"typedef struct {name} {name};\n" for name in abi.opaque)
    for one in abi.structs:
        members = (f"{c_type(m['type'], m['name'])}{'[%d]' % m['count'] if 'count' in m else ''};" for m in one["members"])
        out += f"typedef struct {one['name']} {{ {' '.join(members)} }} {one['name']};\n"
    for one in abi.functions:
        parameters = ", ".join(c_type(p["type"], p["name"]) for p in one["parameters"]) or "void"
        out += c_type(one["returns"], one["name"]) + f"({parameters});\n"
    out += "]]\n\nlocal status_names = {\n" + "".join(f"  [{v['value']}] = \"{v['name']}\",\n" for v in abi.status["values"]) + "}\n\n"
    out += "-- type: the bytes of its struct where pointers have 64 bits, and where they have 32\nlocal sizes = {\n"
    out += "".join(f"  {one['name']} = {{ {one['size']['64']}, {one['size'].get('i386', one['size']['32'])} }},\n" for one in abi.structs) + "}\n"
    return {PATH: between(PATH, "-- generated: begin", "-- generated: end", out)}
