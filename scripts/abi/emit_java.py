# SPDX-License-Identifier: Apache-2.0
"""Java: Status and the constants. Structs stay on C's side of the JNI code."""
from abi import LICENCE, MADE

FOLDER = "bindings/java/src/main/java/org/rnnpack/"


def doc(text, indent):
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return f"{indent}/** {plain} */\n" if plain else ""


def emit(abi):
    head = f"// {MADE}\n// {LICENCE}\npackage org.rnnpack;\n\n"
    status = head + "/** Why a call failed. */\npublic enum Status {\n"
    values = [doc(v["text"], "    ") + f"    {v['name'][5:].removeprefix('E_')}({v['value']})" for v in abi.status["values"]]
    status += ",\n".join(values) + ";\n\n    /** The number that C has for it. */\n    public final int code;\n\n"
    status += "    Status(int code) {\n        this.code = code;\n    }\n\n"
    status += "    /** The status of a number, which the library gave. */\n    public static Status of(int code) {\n        return values()[-code];\n    }\n}\n"
    numbers = head + "/** The constants of rnnpack.h. */\npublic final class Constants {\n    private Constants() {}\n\n"
    for one in abi.numbers():
        value = one["value"] - (1 << 32) if one["value"] >= 1 << 31 else one["value"]
        numbers += doc(one["text"], "    ") + f"    public static final int {one['name'][5:]} = {value};\n"
    return {FOLDER + "Status.java": status, FOLDER + "Constants.java": numbers + "}\n"}
