# SPDX-License-Identifier: Apache-2.0
"""The ctypes tables of the Python package: structs, arguments and constants; _abi.py gives them their names there."""
from abi import LICENCE, MADE, Abi, is_function, pointee

SCALARS = {"rnnp_compile_status": "c_int32", "rnnp_compile_message": "c_int32", "u32": "c_uint32", "i32": "c_int32", "rnnp_status": "c_int32", "u64": "c_uint64", "usize": "c_size_t", "char": "c_char"}


def spell(kind, structs):
    if is_function(kind):
        return "c_void_p"
    if not pointee(kind):
        return SCALARS.get(kind, kind)
    to, _ = pointee(kind)
    if to == "char":
        return "c_char_p"
    if to in structs and not to.endswith("buffer"):
        return f"POINTER({to})"
    return "POINTER(c_char_p)" if pointee(to) and pointee(to)[0] == "char" else "POINTER(c_void_p)" if pointee(to) else "POINTER(c_uint32)" if to == "u32" else "c_void_p"


def struct_classes(abi, structs):
    out = ""
    for one in abi.structs:
        base = "Sized" if one["members"][0]["name"] == "struct_bytes" else "ctypes.Structure"
        out += f"\n\nclass {one['name']}({base}):\n    _fields_ = [\n"
        for m in one["members"]:
            kind = spell(m["type"], structs) + (f" * {m['count']}" if "count" in m else "")
            kind = "c_void_p" if m["name"] in ("inputs", "outputs", "lengths", "rows") else kind
            out += f"        (\"{m['name']}\", {kind}),\n"
        out += "    ]\n"
    return out


def function_table(abi, structs):
    out = "\n\n# name: what it returns, and takes\nFUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {\n"
    for one in abi.functions:
        returned = "None" if one["returns"] == "void" else spell(one["returns"], structs)
        arguments = ", ".join("c_void_p" if p["name"] in ("session", "cpu_ids") and "*mut *mut" not in p["type"] else spell(p["type"], structs) for p in one["parameters"])
        out += f"    \"{one['name']}\": ({returned}, [{arguments}]),\n"
    return out + "}\n"


def emit_cuda(base):
    """The tables of cuda.h, whose library is loaded when it is asked for."""
    abi, of_base = Abi(("cuda.h",)), ("rnnp_io", "rnnp_model", "rnnp_refusal")
    structs = [one["name"] for one in (*base.structs, *abi.structs)]
    out = f"# {MADE}\n# {LICENCE}\n" + '"""Structs, arguments of functions and constants of cuda.h, for ctypes."""\nfrom __future__ import annotations\n\n'
    out += "import ctypes\nfrom ctypes import POINTER, c_char, c_int32, c_size_t, c_uint32, c_void_p\nfrom typing import Any, Dict, List, Tuple\n\n"
    out += f"from ._abi_tables import {', '.join(('Sized', *of_base))}\n\n"
    out += "".join(f"{one['name'][5:]} = {one['value']}\n" for one in abi.numbers())
    return {"bindings/python/src/rnnpack/_cuda_tables.py": out + struct_classes(abi, structs) + function_table(abi, structs)}


def emit(abi):
    structs = [one["name"] for one in abi.structs]
    out = f"# {MADE}\n# {LICENCE}\n" + '"""Structs, arguments of functions and constants of the C ABI, for ctypes."""\nfrom __future__ import annotations\n\n'
    out += "import ctypes\nfrom ctypes import POINTER, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p\n"
    out += "from typing import Any, Dict, List, Optional, Tuple\n\n"
    out += "STATUS_NAMES = {\n" + "".join(f"    {v['value']}: \"{v['name']}\",\n" for v in abi.status["values"]) + "}\n"
    out += "".join(f"{one['name'][5:]} = {one['value'] if one['value'] < 2**16 else hex(one['value']).upper().replace('X', 'x')}\n" for one in abi.numbers())
    out += '\n\nclass Sized(ctypes.Structure):\n    """A struct that begins with its own size."""\n\n'
    out += "    def __init__(self, **members: Any) -> None:\n        super().__init__(ctypes.sizeof(self), **members)\n"
    out += struct_classes(abi, structs) + function_table(abi, structs)
    return {"bindings/python/src/rnnpack/_abi_tables.py": out.replace(", Optional", ""), **emit_cuda(abi)}


def emit_compiler(abi):
    out = f"# {MADE}\n# {LICENCE}\n" + '"""Statuses, kinds of messages, callbacks and functions of rnnpack/compiler.h, for ctypes."""\nfrom __future__ import annotations\n\n'
    out += "from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_size_t, c_uint32, c_void_p\nfrom typing import Any, Dict, List, Tuple\n\n"
    out += "".join(f"{value['name'][5:]} = {value['value']}\n" for one in abi.enums for value in one["values"]) + "\n"
    for one in abi.callbacks:
        out += f"{one['name']} = CFUNCTYPE({', '.join(spell(kind, []) for kind in [one['returns'], *(p['type'] for p in one['parameters'])])})\n"
    out += "\n# name: what it returns, and takes\nFUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {\n"
    for one in abi.functions:
        out += f"    \"{one['name']}\": ({spell(one['returns'], [])}, [{', '.join(spell(p['type'], []) for p in one['parameters'])}]),\n"
    return {"bindings/python/src/rnnpack/_compiler_tables.py": out + "}\n"}
