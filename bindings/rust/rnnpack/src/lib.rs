// SPDX-License-Identifier: Apache-2.0
//! Recurrent networks at small batch. `rnnpack compile model.onnx -o model.rnnp` makes a blob; this crate runs it, in place.
//!
//! ```
//! use rnnpack::{include_model, Model, Options, Session};
//!
//! fn main() -> Result<(), rnnpack::Error> {
//!     // In your program: include_model!("model.rnnp"), beside the source file.
//!     let model = Model::open(include_model!("../tests/lstm.rnnp"))?;
//!     let mut session = Session::new(&model, &Options::new())?;
//!     let (x, mut y) = ([0.5f32; 8], [0f32; 16]);
//!     for _ in 0..3 {
//!         session.step(&x, &mut y)?; // a wrong length is an error, never a crash
//!     }
//!     assert!(y.iter().all(|one| one.abs() < 1.0));
//!     Ok(())
//! }
//! ```
//!
//! A [`Model`] borrows its blob; a [`Session`] borrows blob and memory, goes to another thread ([`Send`]) and is used by one at a
//! time: `step` and `run` take `&mut self`, and it is not [`Sync`].
//!
//! ```compile_fail,E0277
//! # use rnnpack::Session;
//! fn shared_by_threads<T: Sync>() {}
//! shared_by_threads::<Session>();
//! ```
//!
//! A session cannot outlive its blob:
//!
//! ```compile_fail,E0597
//! # use rnnpack::{Blob, Model, Options, Session};
//! let session = {
//!     let blob = Blob::read("model.rnnp").unwrap();
//!     let model = Model::open(&blob).unwrap();
//!     Session::new(&model, &Options::new()).unwrap()
//! };
//! drop(session);
//! ```
//!
//! Nor can it be used by two threads at once, or after it is gone:
//!
//! ```compile_fail,E0499
//! # use rnnpack::Session;
//! fn twice(session: &mut Session) {
//!     std::thread::scope(|scope| {
//!         scope.spawn(|| session.step(&[0.0], &mut [0.0]));
//!         scope.spawn(|| session.step(&[0.0], &mut [0.0]));
//!     });
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use rnnpack::Session;
//! fn closed(mut session: Session) {
//!     drop(session);
//!     let _ = session.step(&[0.0], &mut [0.0]);
//! }
//! ```
//!
//! Without the feature `std` nothing allocates; a session lives in memory that you give:
//!
//! ```
//! # use rnnpack::{include_model, Memory, Model, Options, Session};
//! # fn main() -> Result<(), rnnpack::Error> {
//! static mut MEMORY: Memory<16384> = Memory::new();
//! let model = Model::open(include_model!("../tests/lstm.rnnp"))?;
//! // The only place that uses it.
//! let memory: &'static mut [u8] = unsafe { (*core::ptr::addr_of_mut!(MEMORY)).bytes() };
//! let mut session: Session<'static> = Session::in_memory(&model, &Options::new(), memory)?;
//! session.step(&[0.5; 8], &mut [0.0; 16])?;
//! # Ok(()) }
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![warn(missing_docs)]

#[cfg(feature = "compiler")]
pub mod compiler;
mod memory;
mod model;
mod session;
mod status;
mod tensor;

#[cfg(feature = "std")]
pub use memory::Blob;
pub use memory::{Aligned, Memory};
pub use model::{Model, Refusal};
pub use rnnpack_sys as sys;
pub use rnnpack_sys::{rnnp_model_info as ModelInfo, rnnp_session_info as SessionInfo};
pub use session::{Options, Run, Session, ALL_ROWS};
pub use status::Error;
pub use tensor::{DType, Dim, Input, Output, Role, Tensor};

/// What the calls of this crate return.
pub type Result<T> = core::result::Result<T, Error>;

/// The version of the library: major * 10000 + minor * 100 + patch.
pub fn version() -> u32 {
    unsafe { sys::rnnp_version() }
}

/// The bytes of a blob, part of the program and aligned as [`Model::open`] wants them. The path is relative to the source file.
#[macro_export]
macro_rules! include_model {
    ($path:expr) => {{
        static BLOB: &$crate::Aligned<[u8]> = &$crate::Aligned(*include_bytes!($path));
        &BLOB.0
    }};
}

/// Text of the library: NUL-terminated UTF-8 that lives as long as `'a`.
///
/// # Safety
/// `text` is not null and stays as it is for `'a`.
pub(crate) unsafe fn text<'a>(text: *const sys::c_char) -> &'a str {
    let mut length = 0;
    while *text.add(length) != 0 {
        length += 1;
    }
    core::str::from_utf8(core::slice::from_raw_parts(text.cast(), length)).unwrap_or("")
}
