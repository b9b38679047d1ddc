// Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Runtime.InteropServices;

namespace Rnnpack
{
    /// <summary>Why there is no blob.</summary>
    public enum CompileStatus
    {
        Compiled = 0,
        /// <summary>an option, its value, or an argument is wrong</summary>
        Usage = 1,
        /// <summary>the model is refused; the message names nodes and reasons</summary>
        Refused = 2,
        /// <summary>a file could not be read, or memory is exhausted</summary>
        Io = 3,
        /// <summary>the blob misses what accuracy-min asks for, or differs from the graph: it is not given out</summary>
        Unverified = 4,
        /// <summary>a callback returned something else than 0</summary>
        Stopped = 5,
    }
    /// <summary>What a message is.</summary>
    internal enum CompileMessage
    {
        /// <summary>why the call fails; once, the last message</summary>
        Error = 0,
        /// <summary>something to know about the model</summary>
        Note = 1,
        /// <summary>lines: what low precision costs, where it was measured</summary>
        Report = 2,
        /// <summary>one line about what was made: "axes: ...", "made ...", "streams: ...", "next: ..."</summary>
        Summary = 3,
        /// <summary>"DONE of ALL", two numbers; with the option progress</summary>
        Progress = 4,
    }
}

namespace Rnnpack.Interop
{
    /// <summary>Takes one file. `path`: as the options name it (output, emit-c, report), "" for a blob without the option output. The blob comes last. `bytes` are valid during the call, at no particular alignment. Returns 0 to go on; else the call ends with RNNP_COMPILE_STOPPED. Nothing is given before all of it is made and checked.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate int CompileSink(IntPtr user, IntPtr path, IntPtr bytes, UIntPtr size);

    /// <summary>Takes one message. Returns 0 to go on; of RNNP_COMPILE_ERROR the result is not looked at.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate int CompileListener(IntPtr user, CompileMessage kind, IntPtr text);

    internal static unsafe class CompilerNative
    {
        private const string Library = "rnnpack_compiler";
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern CompileStatus rnnp_compile(IntPtr onnx, UIntPtr onnx_bytes, IntPtr* options, UIntPtr option_count, CompileSink sink, CompileListener listener, IntPtr user);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        internal static extern uint rnnp_compiler_version();
    }
}
