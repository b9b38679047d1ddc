// SPDX-License-Identifier: Apache-2.0
//! Blobs from ONNX files, made in this process as `rnnpack compile` makes them: feature `compiler`, which links librnnpack_compiler,
//! a library for hosts (its folder: RNNPACK_COMPILER_DIR, or where the linker looks). Programs that run blobs do not need it.
use core::ffi::c_void;
use std::ffi::{CStr, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::sys::{self, c_char};

/// What a call made.
#[derive(Default, Debug)]
pub struct Output {
    /// The blob.
    pub blob: Vec<u8>,
    /// Other files, by the paths that options name: `emit-c`, `report`. With the option `output` the blob is here.
    pub files: Vec<(String, Vec<u8>)>,
    /// Notes, reports and summaries.
    pub messages: Vec<String>,
}

/// Why there is no blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// An option or its value is wrong.
    Usage = sys::RNNP_COMPILE_USAGE as isize,
    /// The model is refused; the text names nodes and reasons.
    Refused = sys::RNNP_COMPILE_REFUSED as isize,
    /// A file could not be read, or memory is exhausted.
    Io = sys::RNNP_COMPILE_IO as isize,
    /// The blob misses the accuracy that was asked for.
    Unverified = sys::RNNP_COMPILE_UNVERIFIED as isize,
    /// Memory ran out while the call's files and messages were kept, or the library is newer.
    Unknown = sys::RNNP_COMPILE_STOPPED as isize,
}

/// An error of the compiler.
#[derive(Clone, Debug)]
pub struct CompileError {
    /// What kind of error it is.
    pub reason: Reason,
    /// The tool's words.
    pub text: String,
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.text)
    }
}

impl std::error::Error for CompileError {}

#[derive(Default)]
struct Call {
    made: Output,
    why: String,
}

unsafe fn text(from: *const c_char) -> String {
    CStr::from_ptr(from.cast()).to_string_lossy().into_owned()
}

// Memory that runs out must not unwind into C++.
fn guarded(act: impl FnOnce()) -> i32 {
    catch_unwind(AssertUnwindSafe(act)).is_err() as i32
}

unsafe extern "C" fn keep(user: *mut c_void, path: *const c_char, bytes: *const c_void, size: usize) -> i32 {
    guarded(|| {
        let (call, path) = (&mut *user.cast::<Call>(), text(path));
        let content = std::slice::from_raw_parts(bytes.cast::<u8>(), size).to_vec();
        if path.is_empty() {
            call.made.blob = content;
        } else {
            call.made.files.push((path, content));
        }
    })
}

unsafe extern "C" fn hear(user: *mut c_void, kind: sys::rnnp_compile_message, said: *const c_char) -> i32 {
    guarded(|| {
        let (call, said) = (&mut *user.cast::<Call>(), text(said));
        match kind {
            sys::RNNP_COMPILE_ERROR => call.why = said,
            sys::RNNP_COMPILE_PROGRESS => {}
            _ => call.made.messages.push(said),
        }
    })
}

/// Compiles an ONNX file's bytes. Options are the tool's long ones without their dashes: `"target=avx2"`, `"weights=int8"`.
/// Calls may run at the same time.
pub fn compile(onnx: &[u8], options: &[&str]) -> Result<Output, CompileError> {
    let fails = |reason, text: &str| Err(CompileError { reason, text: text.into() });
    let texts: Vec<CString> = match options.iter().map(|one| CString::new(*one)).collect() {
        Ok(texts) => texts,
        Err(_) => return fails(Reason::Usage, "an option has a zero byte"),
    };
    let pointers: Vec<*const c_char> = texts.iter().map(|one| one.as_ptr().cast()).collect();
    let mut call = Call::default();
    let status = unsafe {
        let user: *mut Call = &mut call;
        sys::rnnp_compile(onnx.as_ptr().cast(), onnx.len(), pointers.as_ptr(), pointers.len(), Some(keep), Some(hear), user.cast())
    };
    match status {
        sys::RNNP_COMPILED => Ok(call.made),
        sys::RNNP_COMPILE_USAGE => fails(Reason::Usage, &call.why),
        sys::RNNP_COMPILE_REFUSED => fails(Reason::Refused, &call.why),
        sys::RNNP_COMPILE_IO => fails(Reason::Io, &call.why),
        sys::RNNP_COMPILE_UNVERIFIED => fails(Reason::Unverified, &call.why),
        _ => fails(Reason::Unknown, &call.why),
    }
}

/// The version of the compiler's library: major * 10000 + minor * 100 + patch.
pub fn version() -> u32 {
    unsafe { sys::rnnp_compiler_version() }
}
