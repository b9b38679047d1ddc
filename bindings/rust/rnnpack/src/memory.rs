// SPDX-License-Identifier: Apache-2.0
//! Aligned memory: blobs and sessions.
use core::mem::MaybeUninit;

/// A value at a multiple of 64 bytes, which is what blobs ask for.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Aligned<T: ?Sized>(pub T);

/// Memory for a session: `static mut MEMORY: Memory<BYTES>`, with the bytes of [`crate::Model::session_bytes`].
pub struct Memory<const BYTES: usize>(Aligned<MaybeUninit<[u8; BYTES]>>);

impl<const BYTES: usize> Memory<BYTES> {
    /// Memory of zeros.
    pub const fn new() -> Self {
        Self(Aligned(MaybeUninit::new([0; BYTES])))
    }

    /// All of it.
    pub fn bytes(&mut self) -> &mut [u8] {
        unsafe { &mut *self.0 .0.as_mut_ptr() }
    }
}

impl<const BYTES: usize> Default for Memory<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
pub use owned::{Blob, Room};

#[cfg(feature = "std")]
mod owned {
    use super::Aligned;

    /// Owned bytes at a multiple of 64.
    pub struct Room {
        blocks: Box<[Aligned<[u8; 64]>]>,
        length: usize,
    }

    impl Room {
        pub(crate) fn new(length: usize) -> Self {
            Self { blocks: vec![Aligned([0; 64]); (length + 63) / 64].into_boxed_slice(), length }
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            unsafe { core::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.length) }
        }

        pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
            unsafe { core::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), self.length) }
        }
    }

    /// A blob that was read or copied to aligned memory.
    pub struct Blob(Room);

    impl Blob {
        /// A copy of these bytes.
        pub fn new(bytes: &[u8]) -> Self {
            let mut room = Room::new(bytes.len());
            room.bytes_mut().copy_from_slice(bytes);
            Self(room)
        }

        /// The content of a file.
        pub fn read(path: impl AsRef<std::path::Path>) -> std::io::Result<Self> {
            use std::io::Read;
            let mut file = std::fs::File::open(path)?;
            let mut room = Room::new(file.metadata()?.len() as usize);
            file.read_exact(room.bytes_mut())?;
            Ok(Self(room))
        }
    }

    impl core::ops::Deref for Blob {
        type Target = [u8];
        fn deref(&self) -> &[u8] {
            self.0.bytes()
        }
    }
}
