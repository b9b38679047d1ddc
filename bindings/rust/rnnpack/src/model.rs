// SPDX-License-Identifier: Apache-2.0
//! A blob that was checked and opened in place.
use core::marker::PhantomData;

use crate::status::check;
use crate::{sys, Error, Options, Result, Tensor};

/// An opened blob. It borrows the blob; threads may share it.
#[derive(Clone, Copy)]
pub struct Model<'blob> {
    pub(crate) raw: sys::rnnp_model,
    blob: PhantomData<&'blob [u8]>,
}

/// Why there is no session: see [`Model::explain`].
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The refused node's name in the ONNX file, or "".
    pub node_name: &'a str,
    /// Its operator, or "".
    pub op: &'a str,
    /// One line of English.
    pub reason: &'a str,
    /// What would do, where that is a number: bytes, alignment or rows; else 0.
    pub needed: u64,
}

impl<'blob> Model<'blob> {
    /// Checks the blob, its weights' checksum too, and opens it in place. Safe on any bytes. [`Error::Align`]: they are not at a
    /// multiple of 64; [`crate::Blob`] and [`crate::include_model!`] are.
    pub fn open(blob: &'blob [u8]) -> Result<Self> {
        Self::open_with(blob, sys::RNNP_OPEN_CHECK_WEIGHTS)
    }

    /// The same without reading the weights, which takes microseconds.
    pub fn open_unread(blob: &'blob [u8]) -> Result<Self> {
        Self::open_with(blob, 0)
    }

    fn open_with(blob: &'blob [u8], flags: u32) -> Result<Self> {
        let mut raw = sys::rnnp_model { opaque_: [0; 32] };
        check(unsafe { sys::rnnp_model_open(&mut raw, blob.as_ptr().cast(), blob.len(), flags) })?;
        Ok(Self { raw, blob: PhantomData })
    }

    /// What the model is, as a whole.
    pub fn info(&self) -> sys::rnnp_model_info {
        let mut facts = sys::rnnp_model_info::default();
        let status = unsafe { sys::rnnp_model_get_info(&self.raw, &mut facts) };
        debug_assert_eq!(status, sys::RNNP_OK);
        facts
    }

    /// Input `index`.
    pub fn input(&self, index: u32) -> Result<Tensor<'blob>> {
        let mut facts = sys::rnnp_tensor_info::default();
        check(unsafe { sys::rnnp_model_get_input(&self.raw, index, &mut facts) })?;
        Ok(Tensor::of(&facts))
    }

    /// Output `index`.
    pub fn output(&self, index: u32) -> Result<Tensor<'blob>> {
        let mut facts = sys::rnnp_tensor_info::default();
        check(unsafe { sys::rnnp_model_get_output(&self.raw, index, &mut facts) })?;
        Ok(Tensor::of(&facts))
    }

    /// All inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = Tensor<'blob>> + '_ {
        (0..).map_while(move |index| self.input(index).ok())
    }

    /// All outputs, in order.
    pub fn outputs(&self) -> impl Iterator<Item = Tensor<'blob>> + '_ {
        (0..).map_while(move |index| self.output(index).ok())
    }

    /// The texts of the blob: of the ONNX file, and of `rnnpack compile --meta`.
    pub fn metadata(&self) -> impl Iterator<Item = (&'blob str, &'blob str)> + '_ {
        (0..).map_while(move |index| {
            let (mut key, mut value) = (core::ptr::null(), core::ptr::null());
            let status = unsafe { sys::rnnp_model_get_meta(&self.raw, index, &mut key, &mut value) };
            (status == sys::RNNP_OK).then(|| unsafe { (crate::text(key), crate::text(value)) })
        })
    }

    /// The text of one key.
    pub fn meta(&self, key: &str) -> Option<&'blob str> {
        self.metadata().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    pub(crate) fn memory(&self, options: &Options) -> Result<sys::rnnp_memory> {
        let mut need = sys::rnnp_memory::default();
        check(unsafe { sys::rnnp_session_memory(&self.raw, &options.raw, &mut need) })?;
        Ok(need)
    }

    /// Bytes that a session of these options takes: for [`crate::Session::in_memory`].
    pub fn session_bytes(&self, options: &Options) -> Result<usize> {
        Ok(self.memory(options)?.session_bytes)
    }

    /// Why a session of these options would be refused; None: nothing is in the way, as far as that is known without memory.
    pub fn explain(&self, options: &Options) -> Option<(Error, Refusal<'blob>)> {
        let mut told = sys::rnnp_refusal::default();
        let status = unsafe { sys::rnnp_session_explain(&self.raw, &options.raw, core::ptr::null_mut(), 0, &mut told) };
        let error = check(status).err()?;
        let (node_name, op, reason) = unsafe { (crate::text(told.node_name), crate::text(told.op), crate::text(told.reason)) };
        Some((error, Refusal { node_name, op, reason, needed: told.needed }))
    }
}
