# SPDX-License-Identifier: Apache-2.0
"""rnnpack-sys: constants, statuses, repr(C) structs and extern "C" functions; the layout is asserted when it is compiled."""
from abi import LICENCE, MADE, camel, comment, is_function, pointee

SCALARS = {"u32": "u32", "i32": "i32", "u64": "u64", "usize": "usize", "f32": "f32", "void": "c_void", "char": "c_char", "rnnp_status": "rnnp_status"}


def spell(kind):
    if is_function(kind):
        parameters = ", ".join(map(spell, kind["parameters"]))
        return f"Option<unsafe extern \"C\" fn({parameters})>"
    if pointee(kind):
        to, written = pointee(kind)
        return ("*mut " if written else "*const ") + spell(to)
    return SCALARS.get(kind, kind)


def signature(one):
    parameters = ", ".join(f"{p['name']}: {spell(p['type'])}" for p in one["parameters"])
    return f"({parameters})" + ("" if one["returns"] == "void" else f" -> {spell(one['returns'])}")


def initial(member):
    value = member["initial"]
    if value == "size":
        return "core::mem::size_of::<Self>() as u32"
    if "count" in member:
        return f"[{value}; {member['count']}]"
    kind = member["type"]
    if is_function(kind):
        return "None"
    if pointee(kind):
        return "core::ptr::null_mut()" if pointee(kind)[1] else "core::ptr::null()"
    return str(value)


def initial_of(struct, member):
    return "core::mem::size_of::<rnnp_const_buffer>() as u32" if member["name"] == "buffer_bytes" else initial(member)


def struct_text(one):
    name, out = one["name"], comment(one["text"], "///")
    out += f"#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{\n"
    for member in one["members"]:
        kind = spell(member["type"])
        kind = f"[{kind}; {member['count']}]" if "count" in member else kind
        out += comment(member.get("text", ""), "///", indent="    ") + f"    pub {member['name']}: {kind},\n"
    out += "}\n"
    if "initial" in one["members"][0]:
        out += f"impl Default for {name} {{\n    fn default() -> Self {{\n        Self {{\n"
        out += "".join(f"            {m['name']}: {initial_of(one, m)},\n" for m in one["members"])
        out += "        }\n    }\n}\n"
    return out + layout(one) + "\n"


def layout(one):
    """Sizes and offsets, compared by the compiler: an index out of an array of one element does not compile."""
    out = ""
    for bits in ("64", "32"):
        guard = f'#[cfg(target_pointer_width = "{bits}")]\n'
        if bits == "32" and ("i386" in one["size"] or any("i386" in m["offset"] for m in one["members"])):
            guard = '#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]\n'
        out += f"{guard}const _: [(); {one['size'][bits]}] = [(); core::mem::size_of::<{one['name']}>()];\n"
    return out


def emit(abi):
    out = f"// {MADE}\n// {LICENCE}\n//! The C ABI as it is: see `rnnpack/rnnpack.h` for the rules that every function has.\n\n"
    out += "use core::ffi::c_void;\n\n/// C's `char`; `core::ffi::c_char` came after Rust 1.63.\n"
    out += "#[cfg(any(target_arch = \"aarch64\", target_arch = \"arm\", target_arch = \"powerpc64\", target_arch = \"riscv32\", target_arch = \"riscv64\"))]\n"
    out += "pub type c_char = u8;\n"
    out += "#[cfg(not(any(target_arch = \"aarch64\", target_arch = \"arm\", target_arch = \"powerpc64\", target_arch = \"riscv32\", target_arch = \"riscv64\")))]\n"
    out += "pub type c_char = i8;\n\n"
    out += comment(abi.status["text"], "///") + "pub type rnnp_status = i32;\n"
    for value in abi.status["values"]:
        out += comment(value["text"], "///") + f"pub const {value['name']}: rnnp_status = {value['value']};\n"
    for one in abi.numbers():
        out += comment(one["text"], "///") + f"pub const {one['name']}: {one['type']} = {one['value']};\n"
    out += "\n"
    for name in abi.opaque:
        out += f"#[repr(C)]\npub struct {name} {{\n    private: [u8; 0],\n}}\n\n"
    out += "".join(map(struct_text, abi.structs))
    out += "extern \"C\" {\n"
    for one in abi.functions:
        threads = "    #[cfg(feature = \"threads\")]\n" if one["header"] == "threads.h" else ""
        out += comment(one["text"], "///", indent="    ") + threads + f"    pub fn {one['name']}{signature(one)};\n"
    return {"bindings/rust/rnnpack-sys/src/bindings.rs": out + "}\n", "bindings/rust/rnnpack/src/status.rs": status_file(abi)}


def emit_compiler(abi):
    out = f"// {MADE}\n// {LICENCE}\n//! The compiler's C ABI: see `rnnpack/compiler.h`.\nuse crate::c_char;\nuse core::ffi::c_void;\n\n"
    for one in abi.enums:
        out += comment(one["text"], "///") + f"pub type {one['name']} = i32;\n"
        out += "".join(comment(v["text"], "///") + f"pub const {v['name']}: {one['name']} = {v['value']};\n" for v in one["values"]) + "\n"
    for one in abi.callbacks:
        out += comment(one["text"], "///") + f"pub type {one['name']} = Option<unsafe extern \"C\" fn{signature(one)}>;\n\n"
    out += "extern \"C\" {\n" + "".join(comment(f["text"], "///", indent="    ") + f"    pub fn {f['name']}{signature(f)};\n" for f in abi.functions)
    return {"bindings/rust/rnnpack-sys/src/compiler.rs": out + "}\n"}


def status_file(abi):
    """The safe crate's Error."""
    errors = [(v["name"], camel(v["name"].replace("_E_", "_")), v["value"], v["text"]) for v in abi.status["values"] if v["value"]]
    out = f"// {MADE}\n// {LICENCE}\n//! Statuses as an error.\nuse crate::{{sys, Result}};\n\n"
    out += "/// Why a call failed.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\n#[repr(i32)]\npub enum Error {\n"
    out += "".join(comment(text, "///", indent="    ") + f"    {name} = {value},\n" for _, name, value, text in errors)
    out += "    /// A status that this crate does not know: the library is newer.\n    Unknown = -1000,\n}\n\nimpl Error {\n"
    out += "    /// The error of a status; None for `RNNP_OK`.\n    pub fn from_code(code: i32) -> Option<Self> {\n        Some(match code {\n            sys::RNNP_OK => return None,\n"
    out += "".join(f"            sys::{constant} => Self::{name},\n" for constant, name, _, _ in errors)
    out += "            _ => Self::Unknown,\n        })\n    }\n\n    /// The status.\n    pub fn code(self) -> i32 {\n        self as i32\n    }\n\n"
    out += "    /// The name that C has for it.\n    pub fn constant(self) -> &'static str {\n        match self {\n"
    out += "".join(f"            Self::{name} => \"{constant}\",\n" for constant, name, _, _ in errors)
    out += "            Self::Unknown => \"\",\n        }\n    }\n\n    /// One line of English, the library's.\n    pub fn text(self) -> &'static str {\n"
    out += "        unsafe { crate::text(sys::rnnp_status_string(self.code())) }\n    }\n}\n\n"
    out += "impl core::fmt::Display for Error {\n    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {\n        to.write_str(self.text())\n    }\n}\n\n"
    out += "#[cfg(feature = \"std\")]\nimpl std::error::Error for Error {}\n\n#[inline]\npub(crate) fn check(status: sys::rnnp_status) -> Result<()> {\n"
    out += "    match status {\n        sys::RNNP_OK => Ok(()),\n        code => Err(Error::from_code(code).unwrap_or(Error::Unknown)),\n    }\n}\n"
    return out
