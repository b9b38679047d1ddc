// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
//! The C ABI as it is: see `rnnpack/rnnpack.h` for the rules that every function has.

use core::ffi::c_void;

/// C's `char`; `core::ffi::c_char` came after Rust 1.63.
#[cfg(any(target_arch = "aarch64", target_arch = "arm", target_arch = "powerpc64", target_arch = "riscv32", target_arch = "riscv64"))]
pub type c_char = u8;
#[cfg(not(any(target_arch = "aarch64", target_arch = "arm", target_arch = "powerpc64", target_arch = "riscv32", target_arch = "riscv64")))]
pub type c_char = i8;

/// Pinned values: they never change and are never reused. 32 bits, signed, in C and C++.
pub type rnnp_status = i32;
pub const RNNP_OK: rnnp_status = 0;
/// a NULL, zero or out-of-range argument, or a struct_bytes this library does not know
pub const RNNP_E_ARG: rnnp_status = -1;
/// blob or memory is not aligned as asked for
pub const RNNP_E_ALIGN: rnnp_status = -2;
/// fewer bytes than rnnp_memory says, or a size that does not fit this machine
pub const RNNP_E_SMALL_MEMORY: rnnp_status = -3;
/// not a rnnpack blob
pub const RNNP_E_BLOB_MAGIC: rnnp_status = -4;
/// a blob of another format version than this library opens
pub const RNNP_E_BLOB_VERSION: rnnp_status = -5;
/// truncated, bad checksum, or an offset or size that does not fit
pub const RNNP_E_BLOB_CORRUPT: rnnp_status = -6;
/// the blob's weight layout has no kernel in this build
pub const RNNP_E_LAYOUT: rnnp_status = -7;
/// there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them
pub const RNNP_E_ISA: rnnp_status = -8;
/// saved state is of another model, or damaged
pub const RNNP_E_STATE_MISMATCH: rnnp_status = -9;
/// not causal (a reverse layer or look-ahead): set max_steps and run whole sequences
pub const RNNP_E_NOT_CAUSAL: rnnp_status = -10;
/// an operator of the blob is not in this build
pub const RNNP_E_UNSUPPORTED: rnnp_status = -11;
/// steps, batch, lengths or tensor counts do not fit the model or the session
pub const RNNP_E_SHAPE: rnnp_status = -12;
/// this CPU is big-endian; blobs are little-endian
pub const RNNP_E_ENDIAN: rnnp_status = -13;
/// an index is outside its table: see rnnp_tensor_info.limit
pub const RNNP_E_INDEX: rnnp_status = -14;
/// rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io
pub const RNNP_E_INPUTS: rnnp_status = -15;
/// rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed
pub const RNNP_E_DEVICE: rnnp_status = -16;
/// rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded
pub const RNNP_E_TIMEOUT: rnnp_status = -17;
/// rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session
pub const RNNP_E_BUSY: rnnp_status = -18;
/// rnnpack/cuda.h: the image is of another model, of other options, or damaged
pub const RNNP_E_IMAGE_MISMATCH: rnnp_status = -19;
/// the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor
pub const RNNP_E_EXECUTOR: rnnp_status = -20;
/// RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity
pub const RNNP_E_NOT_FINITE: rnnp_status = -21;
/// Version of this header: major * 10000 + minor * 100 + patch. It moves with every change of a declaration.
pub const RNNP_HEADER_VERSION: u32 = 10000;
/// bytes: a blob lies at a multiple of this
pub const RNNP_BLOB_ALIGN: u32 = 64;
/// also verify the checksum of the weights: reads the whole blob once
pub const RNNP_OPEN_CHECK_WEIGHTS: u32 = 1;
pub const RNNP_MAX_RANK: i32 = 8;
pub const RNNP_DIM_STEPS: i32 = -1;
pub const RNNP_DIM_BATCH: i32 = -2;
pub const RNNP_SPINS_BEFORE_WAIT: u32 = 4096;
/// a number of calls, not a time: some 2 s with sleeps of 20 us, 20 s with those of 1 ms
pub const RNNP_EXECUTOR_TRIES: u32 = 20000;
pub const RNNP_MAX_THREADS: u32 = 1024;
/// do not use XNNPACK even where it is built in
pub const RNNP_SESSION_PORTABLE_OPS: u32 = 1;
/// use the executor even where a step is too little work to gain from it
pub const RNNP_SESSION_ALL_THREADS: u32 = 2;
/// give XNNPACK every operator it can take, not only those it runs faster
pub const RNNP_SESSION_ALL_XNNPACK: u32 = 4;
/// Limits of rnnp_session_options; beyond them RNNP_E_ARG.
pub const RNNP_MAX_BATCH: u32 = 1048576;
/// Limits of rnnp_session_options; beyond them RNNP_E_ARG.
pub const RNNP_MAX_CHUNK_STEPS: u32 = 1048576;
/// of max_steps; runs of causal models have no limit
pub const RNNP_MAX_STEPS: u32 = 268435456;
/// AVX2, FMA and F16C
pub const RNNP_ISA_AVX2: u32 = 1;
/// AVX-512 F, BW, DQ, VL
pub const RNNP_ISA_AVX512: u32 = 2;
pub const RNNP_ISA_NEON: u32 = 4;
pub const RNNP_ISA_RVV: u32 = 8;
pub const RNNP_ISA_SIMD128: u32 = 16;
pub const RNNP_ISA_MVE: u32 = 32;
/// Arm scalar FPU with fused multiply-add: Cortex-M4F, M7, M33, ARMv7-A
pub const RNNP_ISA_VFPV4: u32 = 64;
/// RISC-V scalar FPU (extension F)
pub const RNNP_ISA_RVF: u32 = 128;
/// builds on RNNP_ISA_AVX512
pub const RNNP_ISA_AVX512_VNNI: u32 = 256;
/// builds on RNNP_ISA_NEON
pub const RNNP_ISA_NEON_DOTPROD: u32 = 512;
/// builds on RNNP_ISA_AVX2, for CPUs without AVX-512
pub const RNNP_ISA_AVX_VNNI: u32 = 1024;
/// builds on RNNP_ISA_NEON_DOTPROD: int8 matrix products
pub const RNNP_ISA_NEON_I8MM: u32 = 2048;
/// builds on RNNP_ISA_AVX512_VNNI: tiles of int8, where the process may use them
pub const RNNP_ISA_AMX_INT8: u32 = 4096;
/// builds on RNNP_ISA_AVX512: products of bf16
pub const RNNP_ISA_AVX512_BF16: u32 = 8192;
/// builds on RNNP_ISA_AVX512_BF16: tiles of bf16, where the process may use them
pub const RNNP_ISA_AMX_BF16: u32 = 16384;
/// builds on RNNP_ISA_NEON: products of bf16
pub const RNNP_ISA_NEON_BF16: u32 = 32768;
pub const RNNP_ISA_REFERENCE_ONLY: u32 = 2147483648;
/// of l1d_bytes, l2_bytes, l3_bytes: there is no such cache
pub const RNNP_CACHE_NONE: u32 = 4294967295;
pub const RNNP_NO_NODE: u32 = 4294967295;
/// sequence outputs get each row's last valid step only: [batch][row_elems]
pub const RNNP_RUN_LAST_STEP: u32 = 1;
/// RNNP_E_NOT_FINITE, and nothing changes, where a float input holds NaN or infinity
pub const RNNP_RUN_CHECK_FINITE: u32 = 2;
pub const RNNP_ALL_ROWS: u32 = 4294967295;
/// [steps][batch][row_elems], one row per step
pub const RNNP_ROLE_SEQUENCE: u32 = 0;
/// [batch][row_elems], once per run (a final state, a pooled result)
pub const RNNP_ROLE_PER_RUN: u32 = 1;
/// input only: [batch][row_elems], initial state; NULL continues from the session's state
pub const RNNP_ROLE_STATE: u32 = 2;
/// input only: int32 [batch], steps of each row; NULL means all steps
pub const RNNP_ROLE_LENGTHS: u32 = 3;
pub const RNNP_DTYPE_F32: u32 = 0;
pub const RNNP_DTYPE_I32: u32 = 1;

#[repr(C)]
pub struct rnnp_session {
    private: [u8; 0],
}

/// A blob that was checked and opened in place. Any caller storage; treat the content as private.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_model {
    pub opaque_: [u64; 32],
}
#[cfg(target_pointer_width = "64")]
const _: [(); 256] = [(); core::mem::size_of::<rnnp_model>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 256] = [(); core::mem::size_of::<rnnp_model>()];

/// What a model is, as a whole.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_model_info {
    /// set by the caller to sizeof(rnnp_model_info)
    pub struct_bytes: u32,
    pub blob_version: u32,
    /// bytes
    pub blob_align: u32,
    /// tensors the model takes, see rnnp_model_get_input
    pub input_count: u32,
    /// tensors the model gives, see rnnp_model_get_output
    pub output_count: u32,
    pub node_count: u32,
    /// nodes that are RNN, GRU or LSTM
    pub recurrent_count: u32,
    /// 1: may be run in pieces of any length; 0: whole sequences only (RNNP_E_NOT_CAUSAL)
    pub causal: u32,
    /// 0, or the only batch the model was exported for
    pub fixed_batch: u32,
    /// hidden units per h-tile of the packed weights
    pub layout_nr: u32,
    /// 0, or the steps of each call that the model was compiled for; others run too
    pub stream_steps: u32,
    /// 1: rnnp_run and rnnp_step may be given one buffer as x and y
    pub in_place: u32,
    pub blob_bytes: u64,
    pub weight_bytes: u64,
    /// live state (h, c) of one batch row
    pub state_bytes_per_row: u64,
    /// hash of graph and weights, the same for every layout of the same ONNX file
    pub model_id: u64,
    /// multiply-accumulates of one step of one batch row
    pub macs_per_step: u64,
}
impl Default for rnnp_model_info {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            blob_version: 0,
            blob_align: 0,
            input_count: 0,
            output_count: 0,
            node_count: 0,
            recurrent_count: 0,
            causal: 0,
            fixed_batch: 0,
            layout_nr: 0,
            stream_steps: 0,
            in_place: 0,
            blob_bytes: 0,
            weight_bytes: 0,
            state_bytes_per_row: 0,
            model_id: 0,
            macs_per_step: 0,
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 88] = [(); core::mem::size_of::<rnnp_model_info>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 88] = [(); core::mem::size_of::<rnnp_model_info>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_tensor_info {
    /// set by the caller
    pub struct_bytes: u32,
    /// RNNP_ROLE_*
    pub role: u32,
    /// features of one row: the product of the constant dims
    pub row_elems: u32,
    /// of the ONNX tensor
    pub rank: u32,
    /// the ONNX axes in ONNX order: RNNP_DIM_STEPS, RNNP_DIM_BATCH or a constant
    pub dims: [i32; 8],
    /// in the blob, NUL-terminated
    pub name: *const c_char,
    /// RNNP_DTYPE_* of the elements
    pub dtype: u32,
    /// i32 inputs of role SEQUENCE: indices, from -limit (the table's first row) to limit - 1; else 0
    pub limit: u32,
}
impl Default for rnnp_tensor_info {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            role: 0,
            row_elems: 0,
            rank: 0,
            dims: [0; 8],
            name: core::ptr::null(),
            dtype: 0,
            limit: 0,
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 64] = [(); core::mem::size_of::<rnnp_tensor_info>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 60] = [(); core::mem::size_of::<rnnp_tensor_info>()];

/// Threads that the caller lends. Ready-made: rnnp_threads_start (rnnpack/threads.h), rnnp_executor_from_pthreadpool.
///
/// parallel(ctx, task, arg) runs task(arg, 0) ... task(arg, threads - 1) AT THE SAME TIME and returns when all have
/// returned. The
/// tasks wait for each other at a barrier every step, so a pool that runs fewer at once can never finish one.
/// rnnp_session_init
/// tries the executor once: where fewer than `threads` tasks run together within RNNP_EXECUTOR_TRIES calls of wait, it
/// returns
/// RNNP_E_EXECUTOR. A pool that other work shares must keep its promise later, too.
///   memory     Each task sees what was written before parallel; the caller sees afterwards what the tasks wrote.
///   placement  Keep task(arg, i) on one OS thread, pinned to one core: thread i's weights then stay in that core's
///     L2.
///   priority   Give all threads one scheduling policy and priority.
///
/// wait(ctx, times) is called by a thread that has polled a barrier RNNP_SPINS_BEFORE_WAIT times (tens to hundreds of
/// microseconds),
/// and again until the barrier opens. `times` counts the calls of this wait, from 0. Yield at first (sched_yield) and
/// sleep from
/// some tens on: only sleep lets a thread of lower priority run on the core. NULL is allowed for one thread only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_executor {
    /// set by the caller
    pub struct_bytes: u32,
    /// 1 to 1024
    pub threads: u32,
    pub ctx: *mut c_void,
    pub parallel: Option<unsafe extern "C" fn(*mut c_void, Option<unsafe extern "C" fn(*mut c_void, u32)>, *mut c_void)>,
    pub wait: Option<unsafe extern "C" fn(*mut c_void, u32)>,
}
impl Default for rnnp_executor {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            threads: 1,
            ctx: core::ptr::null_mut(),
            parallel: None,
            wait: None,
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 32] = [(); core::mem::size_of::<rnnp_executor>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 20] = [(); core::mem::size_of::<rnnp_executor>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_session_options {
    /// set by the caller
    pub struct_bytes: u32,
    /// rows, 1 to RNNP_MAX_BATCH
    pub max_batch: u32,
    /// longest run of a model that is not causal; ignored (0) for a causal one
    pub max_steps: u32,
    /// steps that go through all nodes at a time; 0: chosen by the sizes of weights and caches. Memory grows with it,
    /// results do not depend on it. Ignored by a model that is not causal: max_steps at a time
    pub chunk_steps: u32,
    /// RNNP_ISA_*; 0 for all
    pub isa_allowed: u32,
    /// RNNP_SESSION_*
    pub flags: u32,
    /// per core; 0 asks the platform, RNNP_CACHE_NONE: there is none
    pub l1d_bytes: u32,
    /// per core, private; as above
    pub l2_bytes: u32,
    /// what a core can use, shared with others or not; as above
    pub l3_bytes: u32,
    /// NULL: serial on the calling thread. Copied; ctx must live as long as the session. A model too small to gain
    /// from threads runs serially all the same: rnnp_session_info.threads tells
    pub executor: *const rnnp_executor,
}
impl Default for rnnp_session_options {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            max_batch: 1,
            max_steps: 0,
            chunk_steps: 0,
            isa_allowed: 0,
            flags: 0,
            l1d_bytes: 0,
            l2_bytes: 0,
            l3_bytes: 0,
            executor: core::ptr::null(),
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 48] = [(); core::mem::size_of::<rnnp_session_options>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 40] = [(); core::mem::size_of::<rnnp_session_options>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_memory {
    /// set by the caller
    pub struct_bytes: u32,
    /// of the session's memory, bytes
    pub alignment: u32,
    /// for rnnp_session_init; a multiple of alignment, so aligned_alloc takes both as they are
    pub session_bytes: usize,
    /// of rnnp_state_save, per batch row
    pub state_bytes: usize,
}
impl Default for rnnp_memory {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            alignment: 0,
            session_bytes: 0,
            state_bytes: 0,
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 24] = [(); core::mem::size_of::<rnnp_memory>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 16] = [(); core::mem::size_of::<rnnp_memory>()];

/// Why there is no session. Strings are never NULL; they lie in the blob or in the library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_refusal {
    /// set by the caller
    pub struct_bytes: u32,
    /// RNNP_OK: nothing is in the way
    pub status: rnnp_status,
    /// the node that is refused, in the blob's order, or RNNP_NO_NODE
    pub node: u32,
    /// 0
    pub reserved: u32,
    /// what would do, where that is a number: bytes of memory or alignment, rows of batch; else 0
    pub needed: u64,
    /// the ONNX node's name; "" where it has none
    pub node_name: *const c_char,
    /// its operator's name; "" without a node
    pub op: *const c_char,
    /// one line of English
    pub reason: *const c_char,
}
impl Default for rnnp_refusal {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            status: 0,
            node: 0,
            reserved: 0,
            needed: 0,
            node_name: core::ptr::null(),
            op: core::ptr::null(),
            reason: core::ptr::null(),
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 48] = [(); core::mem::size_of::<rnnp_refusal>()];
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: [(); 40] = [(); core::mem::size_of::<rnnp_refusal>()];

/// What was decided at init.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_session_info {
    /// set by the caller
    pub struct_bytes: u32,
    pub max_batch: u32,
    /// steps that go through all nodes at a time
    pub chunk_steps: u32,
    /// that share the work of a call; 1: none of the executor's
    pub threads: u32,
    /// RNNP_ISA_* bit of the recurrent kernels in use; 0 for the reference
    pub isa: u32,
    /// nodes of the model that XNNPACK runs
    pub xnnpack: u32,
    /// 1: someone else initialised XNNPACK with another allocator, portable operators are used
    pub xnnpack_refused: u32,
    /// groups of layers that run side by side on as many threads, chunk after chunk; 0: none
    pub wavefront_stages: u32,
    /// in calls of at least so many steps
    pub wavefront_steps: u32,
}
impl Default for rnnp_session_info {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            max_batch: 0,
            chunk_steps: 0,
            threads: 0,
            isa: 0,
            xnnpack: 0,
            xnnpack_refused: 0,
            wavefront_stages: 0,
            wavefront_steps: 0,
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 36] = [(); core::mem::size_of::<rnnp_session_info>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 36] = [(); core::mem::size_of::<rnnp_session_info>()];

/// One tensor of a run. Strides are in bytes, multiples of 4 and at least a row (row_elems * 4), for batch 1 and
/// single steps too.
/// NULL data leaves an output unwritten, and an optional input (STATE, LENGTHS) out.
/// Outputs in an input's memory: one without a time axis is written last, and may overlap any input but lengths. A
/// sequence may
/// begin where a sequence input does, when its rows of a step do not reach into the input's next step: the same
/// strides and rows
/// no longer, or closer together. RNNP_E_ARG for other overlaps of packed tensors; of strided ones they are the
/// caller's to avoid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_const_buffer {
    /// never written
    pub data: *const c_void,
    /// from one step to the next; 0: batch * row stride. Not used by tensors without a time axis
    pub step_stride_bytes: usize,
    /// from one batch row to the next; 0: a row. Lengths must be packed
    pub row_stride_bytes: usize,
}
#[cfg(target_pointer_width = "64")]
const _: [(); 24] = [(); core::mem::size_of::<rnnp_const_buffer>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 12] = [(); core::mem::size_of::<rnnp_const_buffer>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_buffer {
    pub data: *mut c_void,
    pub step_stride_bytes: usize,
    pub row_stride_bytes: usize,
}
#[cfg(target_pointer_width = "64")]
const _: [(); 24] = [(); core::mem::size_of::<rnnp_buffer>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 12] = [(); core::mem::size_of::<rnnp_buffer>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rnnp_io {
    /// set by the caller
    pub struct_bytes: u32,
    /// set by the caller to sizeof(rnnp_const_buffer), which is sizeof(rnnp_buffer)
    pub buffer_bytes: u32,
    /// RNNP_RUN_*
    pub flags: u32,
    /// rows that run, <= max_batch: 0 .. batch - 1, or those of `rows`. The others keep their state
    pub batch: u32,
    pub steps: usize,
    /// length of inputs; the model's input_count
    pub input_count: u32,
    /// length of outputs; the model's output_count
    pub output_count: u32,
    /// [batch], 0 <= length <= steps: valid steps of each row. Past them the row's state is frozen and recurrent
    /// outputs are 0; time reductions, last-step outputs and reversal use the valid steps only, those of earlier calls
    /// included. NULL: all steps, except in recurrent layers that have a LENGTHS input or constant of their own
    pub lengths: *const i32,
    pub inputs: *const rnnp_const_buffer,
    pub outputs: *const rnnp_buffer,
    /// [batch], each row once, in any order: row i of every tensor and of lengths belongs to the session's row
    /// rows[i]. NULL: rows 0 .. batch - 1. A set that differs from the last call's costs a swap of states per new row.
    /// Not for models of a fixed batch (RNNP_E_SHAPE)
    pub rows: *const u32,
}
impl Default for rnnp_io {
    fn default() -> Self {
        Self {
            struct_bytes: core::mem::size_of::<Self>() as u32,
            buffer_bytes: core::mem::size_of::<rnnp_const_buffer>() as u32,
            flags: 0,
            batch: 0,
            steps: 0,
            input_count: 0,
            output_count: 0,
            lengths: core::ptr::null(),
            inputs: core::ptr::null(),
            outputs: core::ptr::null(),
            rows: core::ptr::null(),
        }
    }
}
#[cfg(target_pointer_width = "64")]
const _: [(); 64] = [(); core::mem::size_of::<rnnp_io>()];
#[cfg(target_pointer_width = "32")]
const _: [(); 44] = [(); core::mem::size_of::<rnnp_io>()];

extern "C" {
    /// Version of the library, encoded as RNNP_HEADER_VERSION.
    pub fn rnnp_version() -> u32;
    /// The oldest and the newest blob format version that this library opens; those between open too. Every later 1.x
    /// and 2.x library
    /// opens what 1.0 wrote.
    pub fn rnnp_blob_version_min() -> u32;
    /// The oldest and the newest blob format version that this library opens; those between open too. Every later 1.x
    /// and 2.x library
    /// opens what 1.0 wrote.
    pub fn rnnp_blob_version_max() -> u32;
    /// One line of English for a status; never NULL. Static storage.
    pub fn rnnp_status_string(status: rnnp_status) -> *const c_char;
    /// Check and open a blob in place (flash, mmap, static array).
    ///   model  receives the handle
    ///   blob   aligned to RNNP_BLOB_ALIGN bytes; stays unchanged and in place until the last session on it is done
    ///   bytes  size of the blob; bytes beyond the blob's own size are ignored
    ///   flags  0 or RNNP_OPEN_*
    /// Safe on any byte string. Reads the headers and tables, not the weights (unless asked).
    pub fn rnnp_model_open(model: *mut rnnp_model, blob: *const c_void, bytes: usize, flags: u32) -> rnnp_status;
    /// Fill *facts. facts->struct_bytes must be set; members the caller's struct lacks are left out.
    pub fn rnnp_model_get_info(model: *const rnnp_model, facts: *mut rnnp_model_info) -> rnnp_status;
    /// Describe input or output `index`. RNNP_E_ARG when there is none of that index.
    pub fn rnnp_model_get_input(model: *const rnnp_model, index: u32, facts: *mut rnnp_tensor_info) -> rnnp_status;
    /// Describe input or output `index`. RNNP_E_ARG when there is none of that index.
    pub fn rnnp_model_get_output(model: *const rnnp_model, index: u32, facts: *mut rnnp_tensor_info) -> rnnp_status;
    /// The index of the input or output that the ONNX graph calls `name`. RNNP_E_ARG, and *index as it was, when there
    /// is none.
    pub fn rnnp_model_find_input(model: *const rnnp_model, name: *const c_char, index: *mut u32) -> rnnp_status;
    /// The index of the input or output that the ONNX graph calls `name`. RNNP_E_ARG, and *index as it was, when there
    /// is none.
    pub fn rnnp_model_find_output(model: *const rnnp_model, name: *const c_char, index: *mut u32) -> rnnp_status;
    /// What the model says of itself: texts that the ONNX file or `rnnpack compile --meta KEY=VALUE` gave it. They lie
    /// in the blob.
    /// NULL: there is no such key.
    pub fn rnnp_model_meta(model: *const rnnp_model, key: *const c_char) -> *const c_char;
    /// The pair `index`, for listing all. RNNP_E_ARG, and *key and *value as they were, when there is none of that
    /// index.
    pub fn rnnp_model_get_meta(model: *const rnnp_model, index: u32, key: *mut *const c_char, value: *mut *const c_char) -> rnnp_status;
    /// The name of one RNNP_ISA_* bit ("avx512_vnni"), "reference" for 0, "unknown" for others. Static storage.
    pub fn rnnp_isa_name(bit: u32) -> *const c_char;
    /// The same where there are no macros. struct_bytes: sizeof *options; no byte beyond it is written.
    pub fn rnnp_session_options_init(options: *mut rnnp_session_options, struct_bytes: usize);
    /// Ask what a session of these options needs. Pure: depends on its arguments and, where options leave them 0, on
    /// the machine (not
    /// on the core that asks).
    pub fn rnnp_session_memory(model: *const rnnp_model, options: *const rnnp_session_options, memory: *mut rnnp_memory) -> rnnp_status;
    /// Make a session in mem. All rows are in the model's initial state. options NULL means the defaults.
    /// The handle points into mem. An error leaves *session unchanged. RNNP_E_BLOB_CORRUPT: a node would read or write
    /// what is not its
    /// own (checked here, in mem: rnnp_model_open has no memory for it).
    pub fn rnnp_session_init(session: *mut *mut rnnp_session, model: *const rnnp_model, options: *const rnnp_session_options, mem: *mut c_void, bytes: usize) -> rnnp_status;
    /// What rnnp_session_init would return for these arguments, and why. *refusal is filled whatever the status,
    /// unless refusal itself
    /// is wrong (RNNP_E_ARG). scratch: `bytes` of memory that no session lives in, for the checks that need some; its
    /// content is lost.
    /// NULL leaves these checks out, and then nothing but *refusal is written. The executor is not tried.
    pub fn rnnp_session_explain(model: *const rnnp_model, options: *const rnnp_session_options, scratch: *mut c_void, bytes: usize, refusal: *mut rnnp_refusal) -> rnnp_status;
    pub fn rnnp_session_get_info(session: *const rnnp_session, facts: *mut rnnp_session_info) -> rnnp_status;
    /// Run `steps` steps of all max_batch rows, continuing from, and leaving, the session's state.
    ///   x  the model's first sequence input   [steps][max_batch][row_elems]
    ///   y  the model's first output           [steps][max_batch][row_elems], or [max_batch][row_elems] for
    ///     RNNP_ROLE_PER_RUN
    /// y may be x where rnnp_model_info.in_place says so; else they must not overlap (RNNP_E_ARG). steps 0 is a no-op.
    /// For models whose other inputs are all optional (else RNNP_E_INPUTS).
    pub fn rnnp_run(session: *mut rnnp_session, steps: usize, x: *const c_void, y: *mut c_void) -> rnnp_status;
    /// One step of all rows: rnnp_run with steps 1, for causal models (else RNNP_E_NOT_CAUSAL). The work is a constant
    /// of the model.
    pub fn rnnp_step(session: *mut rnnp_session, x: *const c_void, y: *mut c_void) -> rnnp_status;
    /// Run with strides, per-row lengths, fewer rows, any inputs and outputs.
    pub fn rnnp_run_io(session: *mut rnnp_session, io: *const rnnp_io) -> rnnp_status;
    /// Why the last rnnp_run, rnnp_step or rnnp_run_io of this session returned an error: one line of English, ""
    /// after a success.
    /// Static storage; never NULL.
    pub fn rnnp_session_last_error(session: *const rnnp_session) -> *const c_char;
    /// Back to the model's initial state, one row or RNNP_ALL_ROWS.
    pub fn rnnp_state_reset(session: *mut rnnp_session, row: u32) -> rnnp_status;
    /// Write the row's state as portable little-endian bytes (rnnp_memory.state_bytes of them): any session on the
    /// same model, on
    /// any CPU and layout, can load them.
    pub fn rnnp_state_save(session: *const rnnp_session, row: u32, dst: *mut c_void, bytes: usize) -> rnnp_status;
    /// Load what rnnp_state_save wrote. RNNP_E_STATE_MISMATCH leaves the row as it was.
    pub fn rnnp_state_load(session: *mut rnnp_session, row: u32, src: *const c_void, bytes: usize) -> rnnp_status;
    /// Starts threads - 1 threads; the caller of rnnp_run is thread 0. Fills *executor, initialised by
    /// RNNP_EXECUTOR_INIT.
    ///   threads  1 to RNNP_MAX_THREADS. More than the machine has cores makes every step slower
    ///   cpu_ids  NULL, or one CPU number per thread: each thread is pinned there, the calling one too.
    ///     RNNP_E_UNSUPPORTED where the
    ///            system has no pinning, RNNP_E_ARG where it refuses a number
    ///   mem      at least RNNP_THREADS_BYTES(threads), aligned to 64, in place until rnnp_threads_stop
    /// The threads sleep between calls and inherit the caller's scheduling policy. Several sessions may use the
    /// executor, one call at a
    /// time. RNNP_E_SMALL_MEMORY: mem is too small, or the system has no room for the threads. After an error no
    /// thread is left.
    #[cfg(feature = "threads")]
    pub fn rnnp_threads_start(executor: *mut rnnp_executor, threads: u32, cpu_ids: *const i32, mem: *mut c_void, bytes: usize) -> rnnp_status;
    /// Ends and joins the threads; no call may be in progress. *executor then has one thread and no parallel. NULL is
    /// allowed.
    #[cfg(feature = "threads")]
    pub fn rnnp_threads_stop(executor: *mut rnnp_executor);
}
