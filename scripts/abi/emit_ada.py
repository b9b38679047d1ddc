# SPDX-License-Identifier: Apache-2.0
"""Ada: rnnpack.ads, the C ABI as it is, and an exception for each status. Sizes are compared."""
from abi import LICENCE, MADE, camel, comment, is_function, pointee

SCALARS = {"u32": "Interfaces.Unsigned_32", "i32": "Interfaces.Integer_32", "u64": "Interfaces.Unsigned_64", "usize": "Interfaces.C.size_t",
           "rnnp_status": "rnnp_status"}
RESERVED = {"parallel": "run_parallel", "in": "source"}


def name_of(name):
    return RESERVED.get(name, name).strip("_")


def spell(kind, structs, parameter=False):
    if is_function(kind):
        return "System.Address"
    if not pointee(kind):
        return SCALARS.get(kind, kind)
    to, written = pointee(kind)
    if to == "char":
        return "Interfaces.C.Strings.chars_ptr"
    if parameter and to in structs:
        return f"access {'' if written else 'constant '}{to}"
    return "System.Address"


def exception_of(status):
    return "_".join(part.capitalize() for part in status.removeprefix("RNNP_E_").split("_")) + "_Error"


def struct(one, structs):
    arrays = {m["name"]: f"{camel(one['name'])}_{m['name'].strip('_')}" for m in one["members"] if "count" in m}
    out = "".join(f"   type {arrays[m['name']]} is array (0 .. {m['count'] - 1}) of aliased {spell(m['type'], structs)} with Convention => C;\n"
                  for m in one["members"] if "count" in m)
    out += f"   type {one['name']} is record\n"
    for m in one["members"]:
        kind = arrays.get(m["name"]) or spell(m["type"], structs)
        initial = m.get("initial", 0)
        if "count" in m:
            value = ""
        elif initial == "size":
            value = f" := {'ConstBuffer' if m['name'] == 'buffer_bytes' else camel(one['name'])}_Bytes"
        elif kind == "System.Address":
            value = " := System.Null_Address"
        elif kind.endswith("chars_ptr"):
            value = " := Interfaces.C.Strings.Null_Ptr"
        else:
            value = f" := {initial}"
        out += f"      {name_of(m['name'])} : aliased {kind}{value};\n"
    out += "   end record with Convention => C;\n"
    return out


def emit(abi):
    structs = [one["name"] for one in abi.structs]
    statuses = abi.status["values"]
    out = comment(MADE, "-- ", 110) + f"--  {LICENCE}\n--  The C ABI as it is: rnnpack/rnnpack.h has the rules. Rnnpack.Nets is the safe form.\n"
    out += "with Ada.Exceptions;\nwith Interfaces.C.Strings;\nwith System;\nuse type Interfaces.Integer_32;\n\npackage Rnnpack is\n   pragma Assertion_Policy (Check);\n   subtype rnnp_status is Interfaces.Integer_32;\n\n"
    out += "".join(f"   {v['name']} : constant rnnp_status := {v['value']};\n" for v in statuses) + "\n"
    out += "".join(f"   {one['name']} : constant {SCALARS[one['type']]} := {one['value']};\n" for one in abi.numbers()) + "\n"
    failures = sorted((v for v in statuses if v["value"]), key=lambda v: -v["value"])
    for v in failures:
        out += comment(v["text"], "   -- ", 110) + f"   {exception_of(v['name'])} : exception;\n"
    out += f"\n   --  The exception of status -N.\n   Exceptions : constant array (rnnp_status range 1 .. {len(failures)}) of Ada.Exceptions.Exception_Id :=\n     ("
    out += ",\n      ".join(f"{exception_of(v['name'])}'Identity" for v in failures) + ");\n\n"
    out += "   --  What struct_bytes are.\n"
    for one in abi.structs:
        wide, narrow = one["size"]["64"], one["size"]["32"]
        value = str(wide) if wide == narrow else f"(if System.Address'Size = 64 then {wide} else {narrow})"
        out += f"   {camel(one['name'])}_Bytes : constant Interfaces.Unsigned_32 := {value};\n"
    out += "\n" + "\n".join(struct(one, structs) for one in abi.structs) + "\n"
    for one in abi.functions:
        parameters = "; ".join(f"{name_of(p['name'])} : {spell(p['type'], structs, True)}" for p in one["parameters"])
        parameters = f" ({parameters})" if parameters else ""
        kind = "procedure" if one["returns"] == "void" else "function"
        returned = "" if kind == "procedure" else f" return {spell(one['returns'], structs)}"
        out += f"   {kind} {one['name']}{parameters}{returned} with Import, Convention => C, External_Name => \"{one['name']}\";\n"
    out += "\n   --  Checked when the package is elaborated.\n   Sizes_Are_Right : constant Boolean :=\n     "
    out += "\n     and then ".join(f"{one['name']}'Object_Size / 8 = Integer ({camel(one['name'])}_Bytes)" for one in abi.structs) + ";\n"
    return {"bindings/ada/rnnpack.ads": out + "   pragma Assert (Sizes_Are_Right);\nend Rnnpack;\n"}
