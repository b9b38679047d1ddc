// SPDX-License-Identifier: Apache-2.0
//! What a model's inputs and outputs are, and where those of a run are.
use crate::sys;

/// Role of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `[steps][batch][row_elems]`
    Sequence,
    /// `[batch][row_elems]`, once per run
    PerRun,
    /// An optional input: the initial state of each row
    State,
    /// An optional input: the steps of each row
    Lengths,
}

/// Type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    /// `f32`
    F32,
    /// `i32`: lengths, and indices into an embedding
    I32,
}

/// An axis of the ONNX tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Time
    Steps,
    /// Rows
    Batch,
    /// A constant
    Constant(u32),
}

/// An input or output of a model.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'blob> {
    /// Name in the ONNX file.
    pub name: &'blob str,
    /// What it is for.
    pub role: Role,
    /// Of its elements.
    pub dtype: DType,
    /// Features of one row.
    pub row_elems: usize,
    /// Indices of an i32 sequence are from `-limit` to `limit - 1`; else 0.
    pub limit: u32,
    dims: [i32; sys::RNNP_MAX_RANK as usize],
    rank: usize,
}

impl<'blob> Tensor<'blob> {
    pub(crate) fn of(facts: &sys::rnnp_tensor_info) -> Self {
        Self {
            name: unsafe { crate::text(facts.name) },
            role: [Role::Sequence, Role::PerRun, Role::State, Role::Lengths][facts.role as usize & 3],
            dtype: if facts.dtype == sys::RNNP_DTYPE_I32 { DType::I32 } else { DType::F32 },
            row_elems: facts.row_elems as usize,
            limit: facts.limit,
            dims: facts.dims,
            rank: facts.rank as usize,
        }
    }

    /// The ONNX axes, in ONNX order.
    pub fn dims(&self) -> impl Iterator<Item = Dim> + '_ {
        self.dims[..self.rank].iter().map(|dim| match *dim {
            sys::RNNP_DIM_STEPS => Dim::Steps,
            sys::RNNP_DIM_BATCH => Dim::Batch,
            n => Dim::Constant(n as u32),
        })
    }

    /// Elements in a run of so many steps and rows.
    pub fn elems(&self, steps: usize, batch: usize) -> Option<usize> {
        let rows = if self.role == Role::Sequence { steps.checked_mul(batch)? } else { batch };
        rows.checked_mul(self.row_elems)
    }
}

/// An input of [`crate::Session::run_io`], packed.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Numbers.
    F32(&'a [f32]),
    /// Lengths or indices.
    I32(&'a [i32]),
    /// An optional input (state, lengths) that is left out.
    Absent,
}

/// An output of [`crate::Session::run_io`], packed.
#[derive(Debug)]
pub enum Output<'a> {
    /// Receives the numbers.
    F32(&'a mut [f32]),
    /// Is not wanted.
    Absent,
}
