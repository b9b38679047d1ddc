# SPDX-License-Identifier: Apache-2.0
"""JavaScript: statuses, constants, and where the members of structs are in a module's memory (wasm32)."""
import json

from abi import LICENCE, MADE


def emit(abi):
    def table(name, pairs):
        return f"export const {name} = Object.freeze({{\n" + "".join(f"  {key}: {json.dumps(value)},\n" for key, value in pairs) + "});\n\n"

    out = f"// {MADE}\n// {LICENCE}\n\n"
    out += table("Status", [(v["name"][5:], v["value"]) for v in abi.status["values"]])
    out += table("constants", [(one["name"][5:], one["value"]) for one in abi.numbers()])
    out += "// bytes: the size; the others are offsets\nexport const layouts = Object.freeze({\n"
    for one in abi.structs:
        members = ", ".join(f"{m['name']}: {m['offset']['32']}" for m in one["members"])
        out += f"  {one['name']}: {{ bytes: {one['size']['32']}, {members} }},\n"
    return {"bindings/js/src/abi.js": out + "});\n"}
