// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
//! The compiler's C ABI: see `rnnpack/compiler.h`.
use crate::c_char;
use core::ffi::c_void;

/// Pinned values: they never change and are never reused. Those from 1 to 4 are the exit codes of the tool.
pub type rnnp_compile_status = i32;
pub const RNNP_COMPILED: rnnp_compile_status = 0;
/// an option, its value, or an argument is wrong
pub const RNNP_COMPILE_USAGE: rnnp_compile_status = 1;
/// the model is refused; the message names nodes and reasons
pub const RNNP_COMPILE_REFUSED: rnnp_compile_status = 2;
/// a file could not be read, or memory is exhausted
pub const RNNP_COMPILE_IO: rnnp_compile_status = 3;
/// the blob misses what accuracy-min asks for, or differs from the graph: it is not given out
pub const RNNP_COMPILE_UNVERIFIED: rnnp_compile_status = 4;
/// a callback returned something else than 0
pub const RNNP_COMPILE_STOPPED: rnnp_compile_status = 5;

/// What a message is.
pub type rnnp_compile_message = i32;
/// why the call fails; once, the last message
pub const RNNP_COMPILE_ERROR: rnnp_compile_message = 0;
/// something to know about the model
pub const RNNP_COMPILE_NOTE: rnnp_compile_message = 1;
/// lines: what low precision costs, where it was measured
pub const RNNP_COMPILE_REPORT: rnnp_compile_message = 2;
/// one line about what was made: "axes: ...", "made ...", "streams: ...", "next: ..."
pub const RNNP_COMPILE_SUMMARY: rnnp_compile_message = 3;
/// "DONE of ALL", two numbers; with the option progress
pub const RNNP_COMPILE_PROGRESS: rnnp_compile_message = 4;

/// Takes one file. `path`: as the options name it (output, emit-c, report), "" for a blob without the option output.
/// The blob comes
/// last. `bytes` are valid during the call, at no particular alignment. Returns 0 to go on; else the call ends with
/// RNNP_COMPILE_STOPPED. Nothing is given before all of it is made and checked.
pub type rnnp_compile_sink = Option<unsafe extern "C" fn(user: *mut c_void, path: *const c_char, bytes: *const c_void, size: usize) -> i32>;

/// Takes one message. Returns 0 to go on; of RNNP_COMPILE_ERROR the result is not looked at.
pub type rnnp_compile_listener = Option<unsafe extern "C" fn(user: *mut c_void, kind: rnnp_compile_message, text: *const c_char) -> i32>;

extern "C" {
    /// Compiles `onnx_bytes` bytes of an ONNX file; NULL and 0: the file that the option model names. `options`:
    /// option_count texts,
    /// NULL where there are none. `listener` may be NULL, `sink` may not. `user` is handed to both.
    pub fn rnnp_compile(onnx: *const c_void, onnx_bytes: usize, options: *const *const c_char, option_count: usize, sink: rnnp_compile_sink, listener: rnnp_compile_listener, user: *mut c_void) -> rnnp_compile_status;
    /// RNNP_HEADER_VERSION of the library, as it was built.
    pub fn rnnp_compiler_version() -> u32;
}
