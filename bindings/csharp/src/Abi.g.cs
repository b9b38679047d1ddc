// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Runtime.InteropServices;

namespace Rnnpack
{
    /// <summary>Why a call failed.</summary>
    public enum Status
    {
        Ok = 0,
        /// <summary>a NULL, zero or out-of-range argument, or a struct_bytes this library does not know</summary>
        Arg = -1,
        /// <summary>blob or memory is not aligned as asked for</summary>
        Align = -2,
        /// <summary>fewer bytes than rnnp_memory says, or a size that does not fit this machine</summary>
        SmallMemory = -3,
        /// <summary>not a rnnpack blob</summary>
        BlobMagic = -4,
        /// <summary>a blob of another format version than this library opens</summary>
        BlobVersion = -5,
        /// <summary>truncated, bad checksum, or an offset or size that does not fit</summary>
        BlobCorrupt = -6,
        /// <summary>the blob's weight layout has no kernel in this build</summary>
        Layout = -7,
        /// <summary>there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them</summary>
        Isa = -8,
        /// <summary>saved state is of another model, or damaged</summary>
        StateMismatch = -9,
        /// <summary>not causal (a reverse layer or look-ahead): set max_steps and run whole sequences</summary>
        NotCausal = -10,
        /// <summary>an operator of the blob is not in this build</summary>
        Unsupported = -11,
        /// <summary>steps, batch, lengths or tensor counts do not fit the model or the session</summary>
        Shape = -12,
        /// <summary>this CPU is big-endian; blobs are little-endian</summary>
        Endian = -13,
        /// <summary>an index is outside its table: see rnnp_tensor_info.limit</summary>
        Index = -14,
        /// <summary>rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io</summary>
        Inputs = -15,
        /// <summary>rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed</summary>
        Device = -16,
        /// <summary>rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded</summary>
        Timeout = -17,
        /// <summary>rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session</summary>
        Busy = -18,
        /// <summary>rnnpack/cuda.h: the image is of another model, of other options, or damaged</summary>
        ImageMismatch = -19,
        /// <summary>the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor</summary>
        Executor = -20,
        /// <summary>RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity</summary>
        NotFinite = -21,
    }

    public static class Constants
    {
        /// <summary>Version of this header: major * 10000 + minor * 100 + patch. It moves with every change of a declaration.</summary>
        public const uint HeaderVersion = 10000;
        /// <summary>bytes: a blob lies at a multiple of this</summary>
        public const uint BlobAlign = 64;
        /// <summary>also verify the checksum of the weights: reads the whole blob once</summary>
        public const uint OpenCheckWeights = 1;
        public const int MaxRank = 8;
        public const int DimSteps = -1;
        public const int DimBatch = -2;
        public const uint SpinsBeforeWait = 4096;
        /// <summary>a number of calls, not a time: some 2 s with sleeps of 20 us, 20 s with those of 1 ms</summary>
        public const uint ExecutorTries = 20000;
        public const uint MaxThreads = 1024;
        /// <summary>do not use XNNPACK even where it is built in</summary>
        public const uint SessionPortableOps = 1;
        /// <summary>use the executor even where a step is too little work to gain from it</summary>
        public const uint SessionAllThreads = 2;
        /// <summary>give XNNPACK every operator it can take, not only those it runs faster</summary>
        public const uint SessionAllXnnpack = 4;
        /// <summary>Limits of rnnp_session_options; beyond them RNNP_E_ARG.</summary>
        public const uint MaxBatch = 1048576;
        /// <summary>Limits of rnnp_session_options; beyond them RNNP_E_ARG.</summary>
        public const uint MaxChunkSteps = 1048576;
        /// <summary>of max_steps; runs of causal models have no limit</summary>
        public const uint MaxSteps = 268435456;
        /// <summary>AVX2, FMA and F16C</summary>
        public const uint IsaAvx2 = 1;
        /// <summary>AVX-512 F, BW, DQ, VL</summary>
        public const uint IsaAvx512 = 2;
        public const uint IsaNeon = 4;
        public const uint IsaRvv = 8;
        public const uint IsaSimd128 = 16;
        public const uint IsaMve = 32;
        /// <summary>Arm scalar FPU with fused multiply-add: Cortex-M4F, M7, M33, ARMv7-A</summary>
        public const uint IsaVfpv4 = 64;
        /// <summary>RISC-V scalar FPU (extension F)</summary>
        public const uint IsaRvf = 128;
        /// <summary>builds on RNNP_ISA_AVX512</summary>
        public const uint IsaAvx512Vnni = 256;
        /// <summary>builds on RNNP_ISA_NEON</summary>
        public const uint IsaNeonDotprod = 512;
        /// <summary>builds on RNNP_ISA_AVX2, for CPUs without AVX-512</summary>
        public const uint IsaAvxVnni = 1024;
        /// <summary>builds on RNNP_ISA_NEON_DOTPROD: int8 matrix products</summary>
        public const uint IsaNeonI8mm = 2048;
        /// <summary>builds on RNNP_ISA_AVX512_VNNI: tiles of int8, where the process may use them</summary>
        public const uint IsaAmxInt8 = 4096;
        /// <summary>builds on RNNP_ISA_AVX512: products of bf16</summary>
        public const uint IsaAvx512Bf16 = 8192;
        /// <summary>builds on RNNP_ISA_AVX512_BF16: tiles of bf16, where the process may use them</summary>
        public const uint IsaAmxBf16 = 16384;
        /// <summary>builds on RNNP_ISA_NEON: products of bf16</summary>
        public const uint IsaNeonBf16 = 32768;
        public const uint IsaReferenceOnly = 2147483648;
        /// <summary>of l1d_bytes, l2_bytes, l3_bytes: there is no such cache</summary>
        public const uint CacheNone = 4294967295;
        public const uint NoNode = 4294967295;
        /// <summary>sequence outputs get each row's last valid step only: [batch][row_elems]</summary>
        public const uint RunLastStep = 1;
        /// <summary>RNNP_E_NOT_FINITE, and nothing changes, where a float input holds NaN or infinity</summary>
        public const uint RunCheckFinite = 2;
        public const uint AllRows = 4294967295;
        /// <summary>[steps][batch][row_elems], one row per step</summary>
        public const uint RoleSequence = 0;
        /// <summary>[batch][row_elems], once per run (a final state, a pooled result)</summary>
        public const uint RolePerRun = 1;
        /// <summary>input only: [batch][row_elems], initial state; NULL continues from the session's state</summary>
        public const uint RoleState = 2;
        /// <summary>input only: int32 [batch], steps of each row; NULL means all steps</summary>
        public const uint RoleLengths = 3;
        public const uint DtypeF32 = 0;
        public const uint DtypeI32 = 1;
    }
}

// Apart, so that the binding's classes may have the same names.
namespace Rnnpack.Interop
{
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct Model
    {
        public fixed ulong opaque[32];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct ModelInfo
    {
        public uint struct_bytes;
        public uint blob_version;
        public uint blob_align;
        public uint input_count;
        public uint output_count;
        public uint node_count;
        public uint recurrent_count;
        public uint causal;
        public uint fixed_batch;
        public uint layout_nr;
        public uint stream_steps;
        public uint in_place;
        public ulong blob_bytes;
        public ulong weight_bytes;
        public ulong state_bytes_per_row;
        public ulong model_id;
        public ulong macs_per_step;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct TensorInfo
    {
        public uint struct_bytes;
        public uint role;
        public uint row_elems;
        public uint rank;
        public fixed int dims[8];
        public IntPtr name;
        public uint dtype;
        public uint limit;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct Executor
    {
        public uint struct_bytes;
        public uint threads;
        public IntPtr ctx;
        public IntPtr parallel;
        public IntPtr wait;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct SessionOptions
    {
        public uint struct_bytes;
        public uint max_batch;
        public uint max_steps;
        public uint chunk_steps;
        public uint isa_allowed;
        public uint flags;
        public uint l1d_bytes;
        public uint l2_bytes;
        public uint l3_bytes;
        public IntPtr executor;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct Memory
    {
        public uint struct_bytes;
        public uint alignment;
        public UIntPtr session_bytes;
        public UIntPtr state_bytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct Refusal
    {
        public uint struct_bytes;
        public Status status;
        public uint node;
        public uint reserved;
        public ulong needed;
        public IntPtr node_name;
        public IntPtr op;
        public IntPtr reason;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct SessionInfo
    {
        public uint struct_bytes;
        public uint max_batch;
        public uint chunk_steps;
        public uint threads;
        public uint isa;
        public uint xnnpack;
        public uint xnnpack_refused;
        public uint wavefront_stages;
        public uint wavefront_steps;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct ConstBuffer
    {
        public IntPtr data;
        public UIntPtr step_stride_bytes;
        public UIntPtr row_stride_bytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct Buffer
    {
        public IntPtr data;
        public UIntPtr step_stride_bytes;
        public UIntPtr row_stride_bytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct Io
    {
        public uint struct_bytes;
        public uint buffer_bytes;
        public uint flags;
        public uint batch;
        public UIntPtr steps;
        public uint input_count;
        public uint output_count;
        public IntPtr lengths;
        public IntPtr inputs;
        public IntPtr outputs;
        public IntPtr rows;
    }

    internal static unsafe class Native
    {
        private const string Library = "rnnpack";
        internal static readonly int[] Bytes64 = { 256, 88, 64, 32, 48, 24, 48, 36, 24, 24, 64 };
        internal static readonly int[] Bytes = { sizeof(Model), sizeof(ModelInfo), sizeof(TensorInfo), sizeof(Executor), sizeof(SessionOptions), sizeof(Memory), sizeof(Refusal), sizeof(SessionInfo), sizeof(ConstBuffer), sizeof(Buffer), sizeof(Io) };
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern uint rnnp_version();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern uint rnnp_blob_version_min();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern uint rnnp_blob_version_max();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern IntPtr rnnp_status_string(Status status);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_open(Model* model, IntPtr blob, UIntPtr bytes, uint flags);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_get_info(Model* model, ModelInfo* facts);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_get_input(Model* model, uint index, TensorInfo* facts);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_get_output(Model* model, uint index, TensorInfo* facts);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_find_input(Model* model, IntPtr name, uint* index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_find_output(Model* model, IntPtr name, uint* index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern IntPtr rnnp_model_meta(Model* model, IntPtr key);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_model_get_meta(Model* model, uint index, IntPtr* key, IntPtr* value);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern IntPtr rnnp_isa_name(uint bit);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void rnnp_session_options_init(SessionOptions* options, UIntPtr struct_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_session_memory(Model* model, SessionOptions* options, Memory* memory);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_session_init(IntPtr* session, Model* model, SessionOptions* options, IntPtr mem, UIntPtr bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_session_explain(Model* model, SessionOptions* options, IntPtr scratch, UIntPtr bytes, Refusal* refusal);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_session_get_info(IntPtr session, SessionInfo* facts);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_run(IntPtr session, UIntPtr steps, IntPtr x, IntPtr y);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_step(IntPtr session, IntPtr x, IntPtr y);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_run_io(IntPtr session, Io* io);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern IntPtr rnnp_session_last_error(IntPtr session);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_state_reset(IntPtr session, uint row);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_state_save(IntPtr session, uint row, IntPtr dst, UIntPtr bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_state_load(IntPtr session, uint row, IntPtr src, UIntPtr bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern Status rnnp_threads_start(Executor* executor, uint threads, IntPtr cpu_ids, IntPtr mem, UIntPtr bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern void rnnp_threads_stop(Executor* executor);
    }
}
