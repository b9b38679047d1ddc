// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
//! Statuses as an error.
use crate::{sys, Result};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Error {
    /// a NULL, zero or out-of-range argument, or a struct_bytes this library does not know
    Arg = -1,
    /// blob or memory is not aligned as asked for
    Align = -2,
    /// fewer bytes than rnnp_memory says, or a size that does not fit this machine
    SmallMemory = -3,
    /// not a rnnpack blob
    BlobMagic = -4,
    /// a blob of another format version than this library opens
    BlobVersion = -5,
    /// truncated, bad checksum, or an offset or size that does not fit
    BlobCorrupt = -6,
    /// the blob's weight layout has no kernel in this build
    Layout = -7,
    /// there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them
    Isa = -8,
    /// saved state is of another model, or damaged
    StateMismatch = -9,
    /// not causal (a reverse layer or look-ahead): set max_steps and run whole sequences
    NotCausal = -10,
    /// an operator of the blob is not in this build
    Unsupported = -11,
    /// steps, batch, lengths or tensor counts do not fit the model or the session
    Shape = -12,
    /// this CPU is big-endian; blobs are little-endian
    Endian = -13,
    /// an index is outside its table: see rnnp_tensor_info.limit
    Index = -14,
    /// rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io
    Inputs = -15,
    /// rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed
    Device = -16,
    /// rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded
    Timeout = -17,
    /// rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session
    Busy = -18,
    /// rnnpack/cuda.h: the image is of another model, of other options, or damaged
    ImageMismatch = -19,
    /// the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor
    Executor = -20,
    /// RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity
    NotFinite = -21,
    /// A status that this crate does not know: the library is newer.
    Unknown = -1000,
}

impl Error {
    /// The error of a status; None for `RNNP_OK`.
    pub fn from_code(code: i32) -> Option<Self> {
        Some(match code {
            sys::RNNP_OK => return None,
            sys::RNNP_E_ARG => Self::Arg,
            sys::RNNP_E_ALIGN => Self::Align,
            sys::RNNP_E_SMALL_MEMORY => Self::SmallMemory,
            sys::RNNP_E_BLOB_MAGIC => Self::BlobMagic,
            sys::RNNP_E_BLOB_VERSION => Self::BlobVersion,
            sys::RNNP_E_BLOB_CORRUPT => Self::BlobCorrupt,
            sys::RNNP_E_LAYOUT => Self::Layout,
            sys::RNNP_E_ISA => Self::Isa,
            sys::RNNP_E_STATE_MISMATCH => Self::StateMismatch,
            sys::RNNP_E_NOT_CAUSAL => Self::NotCausal,
            sys::RNNP_E_UNSUPPORTED => Self::Unsupported,
            sys::RNNP_E_SHAPE => Self::Shape,
            sys::RNNP_E_ENDIAN => Self::Endian,
            sys::RNNP_E_INDEX => Self::Index,
            sys::RNNP_E_INPUTS => Self::Inputs,
            sys::RNNP_E_DEVICE => Self::Device,
            sys::RNNP_E_TIMEOUT => Self::Timeout,
            sys::RNNP_E_BUSY => Self::Busy,
            sys::RNNP_E_IMAGE_MISMATCH => Self::ImageMismatch,
            sys::RNNP_E_EXECUTOR => Self::Executor,
            sys::RNNP_E_NOT_FINITE => Self::NotFinite,
            _ => Self::Unknown,
        })
    }

    /// The status.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// The name that C has for it.
    pub fn constant(self) -> &'static str {
        match self {
            Self::Arg => "RNNP_E_ARG",
            Self::Align => "RNNP_E_ALIGN",
            Self::SmallMemory => "RNNP_E_SMALL_MEMORY",
            Self::BlobMagic => "RNNP_E_BLOB_MAGIC",
            Self::BlobVersion => "RNNP_E_BLOB_VERSION",
            Self::BlobCorrupt => "RNNP_E_BLOB_CORRUPT",
            Self::Layout => "RNNP_E_LAYOUT",
            Self::Isa => "RNNP_E_ISA",
            Self::StateMismatch => "RNNP_E_STATE_MISMATCH",
            Self::NotCausal => "RNNP_E_NOT_CAUSAL",
            Self::Unsupported => "RNNP_E_UNSUPPORTED",
            Self::Shape => "RNNP_E_SHAPE",
            Self::Endian => "RNNP_E_ENDIAN",
            Self::Index => "RNNP_E_INDEX",
            Self::Inputs => "RNNP_E_INPUTS",
            Self::Device => "RNNP_E_DEVICE",
            Self::Timeout => "RNNP_E_TIMEOUT",
            Self::Busy => "RNNP_E_BUSY",
            Self::ImageMismatch => "RNNP_E_IMAGE_MISMATCH",
            Self::Executor => "RNNP_E_EXECUTOR",
            Self::NotFinite => "RNNP_E_NOT_FINITE",
            Self::Unknown => "",
        }
    }

    /// One line of English, the library's.
    pub fn text(self) -> &'static str {
        unsafe { crate::text(sys::rnnp_status_string(self.code())) }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        to.write_str(self.text())
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

#[inline]
pub(crate) fn check(status: sys::rnnp_status) -> Result<()> {
    match status {
        sys::RNNP_OK => Ok(()),
        code => Err(Error::from_code(code).unwrap_or(Error::Unknown)),
    }
}
