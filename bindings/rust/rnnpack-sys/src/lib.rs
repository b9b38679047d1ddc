// SPDX-License-Identifier: Apache-2.0
//! The C ABI of [rnnpack](https://docs.rs/rnnpack): `bindings.rs` and `compiler.rs` are generated from `rnnpack.abi.json`. The crate `rnnpack` is the
//! safe form. `build.rs` says how the library is found or compiled.
#![no_std]
#![allow(non_camel_case_types)]

mod bindings;
pub use bindings::*;
#[cfg(feature = "compiler")]
mod compiler;
#[cfg(feature = "compiler")]
pub use compiler::*;
