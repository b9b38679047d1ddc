# SPDX-License-Identifier: Apache-2.0
"""Java: Status, its exceptions and the constants. Structs stay on C's side of the JNI code."""
from abi import LICENCE, MADE, camel, of_compiler

FOLDER = "bindings/java/src/main/java/org/rnnpack/"


def doc(text, indent):
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return f"{indent}/** {plain} */\n" if plain else ""


def exceptions(abi):
    """A class for each status."""
    values = [(v["name"][5:].removeprefix("E_"), v["text"]) for v in abi.status["values"] if v["value"] != 0]
    text = "/** A call of the library failed: a class for each status. */\npublic class RnnpackException extends RuntimeException {\n"
    text += "    private static final long serialVersionUID = 1;\n    private final Status status;\n\n"
    text += "    RnnpackException(Status status, String message) {\n        super(message);\n        this.status = status;\n    }\n\n"
    text += "    public Status status() {\n        return status;\n    }\n\n"
    text += "    static void check(int code, String doing) {\n        if (code != 0) throw of(code, doing, null);\n    }\n\n"
    text += "    /** The error of a status, with the library's text. */\n"
    text += "    public static RnnpackException of(Status status) {\n        return of(status.code, null, null);\n    }\n\n"
    text += "    static RnnpackException of(int code, String doing, String why) {\n"
    text += "        String reason = why == null || why.isEmpty() ? Native.statusText(code) : why;\n"
    text += "        String message = doing == null ? reason : doing + \": \" + reason;\n        switch (Status.of(code)) {\n"
    for name, _ in values:
        text += f"            case {name}:\n                return new {camel(name)}(message);\n"
    text += "            default:\n                return new RnnpackException(Status.OK, message);\n        }\n    }\n"
    for name, about in values:
        text += f"\n{doc(about, '    ')}    public static final class {camel(name)} extends RnnpackException {{\n        private static final long serialVersionUID = 1;\n\n"
        text += f"        {camel(name)}(String message) {{\n            super(Status.{name}, message);\n        }}\n    }}\n"
    return text + "}\n"


def enum_of(name, about, values, label, of):
    """An enum whose constants have the numbers of C's; `of`: its method from a number."""
    text = f"/** {about} */\npublic enum {name} {{\n"
    text += ",\n".join(doc(v["text"], "    ") + f"    {label(v['name'])}({v['value']})" for v in values)
    text += ";\n\n    /** The number that C has for it. */\n    public final int code;\n\n"
    return text + f"    {name}(int code) {{\n        this.code = code;\n    }}\n\n{of}}}\n"


def emit(abi):
    head = f"// {MADE}\n// {LICENCE}\npackage org.rnnpack;\n\n"
    status = head + enum_of("Status", "Why a call failed.", abi.status["values"], lambda name: name[5:].removeprefix("E_"),
                            "    /** The status of a number, which the library gave. */\n    public static Status of(int code) {\n        return values()[-code];\n    }\n")
    numbers = head + "/** The constants of rnnpack.h. */\npublic final class Constants {\n    private Constants() {}\n\n"
    for one in abi.numbers():
        value = one["value"] - (1 << 32) if one["value"] >= 1 << 31 else one["value"]
        numbers += doc(one["text"], "    ") + f"    public static final int {one['name'][5:]} = {value};\n"
    return {FOLDER + "Status.java": status, FOLDER + "Constants.java": numbers + "}\n", FOLDER + "RnnpackException.java": head + exceptions(abi)}


def emit_compiler(abi):
    head = f"// {MADE}\n// {LICENCE}\npackage org.rnnpack;\n\n"
    status = head + enum_of("CompileStatus", "Why there is no blob: the tool's exit codes.", abi.pinned["rnnp_compile_status"], of_compiler,
                            "    static CompileStatus of(int code) {\n        return values()[code];\n    }\n")
    kinds = head + "/** What a message of the compiler is. */\nfinal class CompileMessage {\n    private CompileMessage() {}\n\n"
    kinds += "".join(doc(v["text"], "    ") + f"    static final int {of_compiler(v['name'])} = {v['value']};\n" for v in abi.pinned["rnnp_compile_message"])
    return {FOLDER + "CompileStatus.java": status, FOLDER + "CompileMessage.java": kinds + "}\n"}
