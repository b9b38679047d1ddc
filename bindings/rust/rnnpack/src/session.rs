// SPDX-License-Identifier: Apache-2.0
//! A running instance. Lengths are checked here, everything else by the library; no tensor is copied.
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::status::check;
use crate::{sys, DType, Error, Input, Model, Output, Result, Role};

/// Every row: for [`Session::reset`].
pub const ALL_ROWS: u32 = sys::RNNP_ALL_ROWS;

/// Inputs and outputs that a run may have.
const MAX_TENSORS: usize = 64;

/// What a session is made with.
#[derive(Clone, Copy)]
pub struct Options {
    pub(crate) raw: sys::rnnp_session_options,
}

impl Options {
    /// One row, a causal model, every instruction set.
    pub fn new() -> Self {
        Self { raw: sys::rnnp_session_options::default() }
    }

    /// Rows that run at the same time: independent streams.
    pub fn max_batch(mut self, rows: u32) -> Self {
        self.raw.max_batch = rows;
        self
    }

    /// The longest run of a model that is not causal.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.raw.max_steps = steps;
        self
    }

    /// Bits `RNNP_ISA_*` of [`crate::sys`]; 0 for all.
    pub fn isa_allowed(mut self, bits: u32) -> Self {
        self.raw.isa_allowed = bits;
        self
    }

    /// Bits `RNNP_SESSION_*` of [`crate::sys`].
    pub fn flags(mut self, bits: u32) -> Self {
        self.raw.flags = bits;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// How [`Session::run_io`] runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run<'a> {
    /// Steps of the sequences.
    pub steps: usize,
    /// Rows: at most `max_batch`.
    pub batch: u32,
    /// Bits `RNNP_RUN_*` of [`crate::sys`].
    pub flags: u32,
    /// Valid steps of each row.
    pub lengths: Option<&'a [i32]>,
    /// The session's row of each row, each once.
    pub rows: Option<&'a [u32]>,
}

/// A running instance: the state of `max_batch` rows, and scratch.
pub struct Session<'a> {
    raw: NonNull<sys::rnnp_session>,
    model: Model<'a>,
    max_batch: usize,
    x_elems: Option<usize>, // of the first sequence, one step; None: it holds indices, or there is none
    y_elems: usize,         // of the first output: one step, or one run
    y_per_run: bool,
    state_bytes: usize,
    #[cfg(feature = "std")]
    _room: Option<crate::memory::Room>,
    memory: PhantomData<&'a mut [u8]>,
}

// It owns or borrows its memory alone, and nothing of the library is tied to a thread.
unsafe impl Send for Session<'_> {}

impl<'a> Session<'a> {
    /// A session in a box of its own.
    #[cfg(feature = "std")]
    pub fn new(model: &Model<'a>, options: &Options) -> Result<Self> {
        let need = model.memory(options)?;
        let mut room = crate::memory::Room::new(need.session_bytes);
        let mut made = Self::create(model, options, room.bytes_mut(), need.state_bytes)?;
        made._room = Some(room);
        Ok(made)
    }

    /// A session in your memory: [`Model::session_bytes`] of it, at a multiple of 64 ([`crate::Memory`]).
    pub fn in_memory(model: &Model<'a>, options: &Options, memory: &'a mut [u8]) -> Result<Self> {
        let need = model.memory(options)?;
        Self::create(model, options, memory, need.state_bytes)
    }

    fn create(model: &Model<'a>, options: &Options, memory: &mut [u8], state_bytes: usize) -> Result<Self> {
        let mut raw = core::ptr::null_mut();
        check(unsafe { sys::rnnp_session_init(&mut raw, &model.raw, &options.raw, memory.as_mut_ptr().cast(), memory.len()) })?;
        let x = model.inputs().find(|input| input.role == Role::Sequence && input.dtype == DType::F32);
        let y = model.output(0)?;
        let max_batch = options.raw.max_batch as usize;
        Ok(Self {
            raw: NonNull::new(raw).ok_or(Error::Arg)?,
            model: *model,
            max_batch,
            x_elems: x.map(|x| x.row_elems * max_batch),
            y_elems: y.row_elems * max_batch,
            y_per_run: y.role != Role::Sequence,
            state_bytes,
            #[cfg(feature = "std")]
            _room: None,
            memory: PhantomData,
        })
    }

    /// One step of all rows: `[max_batch][row_elems]` of the first sequence and of the first output. [`Error::Shape`]: another length.
    #[inline]
    pub fn step(&mut self, x: &[f32], y: &mut [f32]) -> Result<()> {
        if self.x_elems != Some(x.len()) || y.len() != self.y_elems {
            return Err(self.wrong_length());
        }
        check(unsafe { sys::rnnp_step(self.raw.as_ptr(), x.as_ptr().cast(), y.as_mut_ptr().cast()) })
    }

    #[cold]
    fn wrong_length(&self) -> Error {
        if self.x_elems.is_some() {
            Error::Shape
        } else {
            Error::Inputs
        }
    }

    /// `steps` steps of all rows: `[steps][max_batch][row_elems]`.
    pub fn run(&mut self, steps: usize, x: &[f32], y: &mut [f32]) -> Result<()> {
        let x_elems = self.x_elems.ok_or(Error::Inputs)?.checked_mul(steps).ok_or(Error::Shape)?;
        let y_elems = if self.y_per_run { Some(self.y_elems) } else { self.y_elems.checked_mul(steps) };
        if x.len() != x_elems || Some(y.len()) != y_elems {
            return Err(Error::Shape);
        }
        check(unsafe { sys::rnnp_run(self.raw.as_ptr(), steps, x.as_ptr().cast(), y.as_mut_ptr().cast()) })
    }

    /// Any inputs and outputs, all of the model's in order, packed; fewer rows, lengths, chosen rows.
    pub fn run_io(&mut self, run: &Run, inputs: &[Input], outputs: &mut [Output]) -> Result<()> {
        let batch = run.batch as usize;
        if inputs.len() > MAX_TENSORS || outputs.len() > MAX_TENSORS {
            return Err(Error::Shape);
        }
        if run.lengths.map_or(false, |all| all.len() != batch) || run.rows.map_or(false, |all| all.len() != batch) {
            return Err(Error::Shape);
        }
        let mut from = [sys::rnnp_const_buffer { data: core::ptr::null(), step_stride_bytes: 0, row_stride_bytes: 0 }; MAX_TENSORS];
        let mut to = [sys::rnnp_buffer { data: core::ptr::null_mut(), step_stride_bytes: 0, row_stride_bytes: 0 }; MAX_TENSORS];
        for (index, input) in inputs.iter().enumerate() {
            let tensor = self.model.input(index as u32).map_err(|_| Error::Shape)?;
            let (data, length, dtype) = match *input {
                Input::F32(all) => (all.as_ptr().cast(), all.len(), DType::F32),
                Input::I32(all) => (all.as_ptr().cast(), all.len(), DType::I32),
                Input::Absent => continue,
            };
            let wanted = if tensor.role == Role::Lengths { Some(batch) } else { tensor.elems(run.steps, batch) };
            if Some(length) != wanted || (dtype != tensor.dtype) {
                return Err(Error::Shape);
            }
            from[index].data = data;
        }
        for (index, output) in outputs.iter_mut().enumerate() {
            let tensor = self.model.output(index as u32).map_err(|_| Error::Shape)?;
            let steps = if run.flags & sys::RNNP_RUN_LAST_STEP != 0 { 1 } else { run.steps };
            if let Output::F32(all) = output {
                if Some(all.len()) != tensor.elems(steps, batch) {
                    return Err(Error::Shape);
                }
                to[index].data = all.as_mut_ptr().cast();
            }
        }
        let io = sys::rnnp_io {
            flags: run.flags,
            batch: run.batch,
            steps: run.steps,
            input_count: inputs.len() as u32,
            output_count: outputs.len() as u32,
            lengths: run.lengths.map_or(core::ptr::null(), |all| all.as_ptr()),
            inputs: from.as_ptr(),
            outputs: to.as_ptr(),
            rows: run.rows.map_or(core::ptr::null(), |all| all.as_ptr()),
            ..sys::rnnp_io::default()
        };
        check(unsafe { sys::rnnp_run_io(self.raw.as_ptr(), &io) })
    }

    /// Why the last run failed: one line of English, "" after a success.
    pub fn last_error(&self) -> &'static str {
        unsafe { crate::text(sys::rnnp_session_last_error(self.raw.as_ptr())) }
    }

    /// What was decided when it was made.
    pub fn info(&self) -> sys::rnnp_session_info {
        let mut facts = sys::rnnp_session_info::default();
        let status = unsafe { sys::rnnp_session_get_info(self.raw.as_ptr(), &mut facts) };
        debug_assert_eq!(status, sys::RNNP_OK);
        facts
    }

    /// Rows of the session.
    pub fn max_batch(&self) -> usize {
        self.max_batch
    }

    /// Back to the initial state: one row, or [`ALL_ROWS`].
    pub fn reset(&mut self, row: u32) -> Result<()> {
        check(unsafe { sys::rnnp_state_reset(self.raw.as_ptr(), row) })
    }

    /// Bytes of a saved row.
    pub fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    /// Saves a row: portable bytes, which any session of the same model loads, in any language.
    pub fn save_state(&self, row: u32, state: &mut [u8]) -> Result<()> {
        check(unsafe { sys::rnnp_state_save(self.raw.as_ptr(), row, state.as_mut_ptr().cast(), state.len()) })
    }

    /// Loads what [`Session::save_state`] wrote. An error leaves the row as it was.
    pub fn load_state(&mut self, row: u32, state: &[u8]) -> Result<()> {
        check(unsafe { sys::rnnp_state_load(self.raw.as_ptr(), row, state.as_ptr().cast(), state.len()) })
    }
}
