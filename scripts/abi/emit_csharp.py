# SPDX-License-Identifier: Apache-2.0
"""C#: statuses, constants, blittable structs and DllImport declarations (netstandard2.0)."""
from abi import LICENCE, MADE, camel, is_function, of_compiler, pointee, short

SCALARS = {"u32": "uint", "i32": "int", "u64": "ulong", "usize": "UIntPtr", "rnnp_status": "Status", "void": "void"}


def spell(kind, named, parameter=False):
    """`named`: types that have a name of their own here."""
    if is_function(kind):
        return "IntPtr"
    if not pointee(kind):
        return camel(kind) if kind in named else SCALARS[kind]
    to, written = pointee(kind)
    if parameter and to in named:
        return camel(to) + "*"
    if parameter and to == "u32":
        return "uint*"
    if parameter and pointee(to):
        return "IntPtr*"
    return "IntPtr"


def doc(text, indent):
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return f"{indent}/// <summary>{plain}</summary>\n" if plain else ""


def emit(abi):
    structs = [one["name"] for one in abi.structs]
    out = f"// {MADE}\n// {LICENCE}\nusing System;\nusing System.Runtime.InteropServices;\n\nnamespace Rnnpack\n{{\n"
    out += "    /// <summary>Why a call failed.</summary>\n    public enum Status\n    {\n"
    for value in abi.status["values"]:
        out += doc(value["text"], "        ") + f"        {camel(value['name'].replace('_E_', '_'))} = {value['value']},\n"
    out += "    }\n\n    public static class Constants\n    {\n"
    for one in abi.numbers():
        kind = "int" if one["type"] == "i32" else "uint"
        out += doc(one["text"], "        ") + f"        public const {kind} {camel(one['name'])} = {one['value']};\n"
    out += "    }\n}\n\n// Apart, so that the binding's classes may have the same names.\nnamespace Rnnpack.Interop\n{\n"
    for one in abi.structs:
        out += f"    [StructLayout(LayoutKind.Sequential)]\n    internal unsafe struct {camel(one['name'])}\n    {{\n"
        for m in one["members"]:
            kind, name = spell(m["type"], structs), m["name"].strip("_")
            out += f"        public fixed {kind} {name}[{m['count']}];\n" if "count" in m else f"        public {kind} {name};\n"
        out += "    }\n\n"
    out += "    internal static unsafe class Native\n    {\n        private const string Library = \"rnnpack\";\n"
    out += "        internal static readonly int[] Bytes64 = { " + ", ".join(f"{one['size']['64']}" for one in abi.structs) + " };\n"
    out += "        internal static readonly int[] Bytes = { " + ", ".join(f"sizeof({camel(one['name'])})" for one in abi.structs) + " };\n"
    out += "".join(imported(one, structs) for one in abi.functions)
    return {"bindings/csharp/src/Abi.g.cs": out + "    }\n}\n"}


def imported(one, named):
    parameters = ", ".join(f"{spell(p['type'], named, True)} {short(p['name'])}" for p in one["parameters"])
    return ("        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]\n"
            f"        internal static extern {spell(one['returns'], named)} {one['name']}({parameters});\n")


def emit_compiler(abi):
    named = [one["name"] for one in abi.enums + abi.callbacks]
    out = f"// {MADE}\n// {LICENCE}\nusing System;\nusing System.Runtime.InteropServices;\n\nnamespace Rnnpack\n{{\n"
    for one in abi.enums:
        about = {"rnnp_compile_status": "Why there is no blob."}.get(one["name"], one["text"])
        out += doc(about, "    ") + f"    {'public' if one['name'].endswith('status') else 'internal'} enum {camel(one['name'])}\n    {{\n"
        out += "".join(doc(v["text"], "        ") + f"        {camel(of_compiler(v['name']))} = {v['value']},\n" for v in one["values"]) + "    }\n"
    out += "}\n\nnamespace Rnnpack.Interop\n{\n"
    for one in abi.callbacks:
        parameters = ", ".join(f"{spell(p['type'], named)} {p['name']}" for p in one["parameters"])
        out += doc(one["text"], "    ") + "    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]\n"
        out += f"    internal delegate {spell(one['returns'], named)} {camel(one['name'])}({parameters});\n\n"
    out += "    internal static unsafe class CompilerNative\n    {\n        private const string Library = \"rnnpack_compiler\";\n"
    out += "".join(imported(one, named) for one in abi.functions)
    return {"bindings/csharp/src/CompilerAbi.g.cs": out + "    }\n}\n"}
