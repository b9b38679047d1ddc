// Compiler.cs -- rnnpack/compiler.h: blobs from ONNX files, made in this process as `rnnpack compile` makes them. Needs librnnpack_compiler,
// which hosts have; a program that only runs blobs never loads it. SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using Rnnpack.Interop;

namespace Rnnpack
{
    public sealed class CompileException : Exception
    {
        internal CompileException(CompileStatus status, string text) : base(text) { Status = status; }

        public CompileStatus Status { get; }
    }

    /// <summary>What a call made.</summary>
    public sealed class Compiled
    {
        /// <summary>The blob; empty where the option output names it.</summary>
        public byte[] Blob { get; internal set; } = new byte[0];
        /// <summary>Files by the paths that options name: output, emit-c, report.</summary>
        public Dictionary<string, byte[]> Files { get; } = new Dictionary<string, byte[]>();
        /// <summary>Notes, reports and summaries.</summary>
        public List<string> Messages { get; } = new List<string>();
    }

    public static unsafe class Compiler
    {
        public static uint Version => CompilerNative.rnnp_compiler_version();

        /// <summary>Compiles an ONNX file's bytes. Options are the tool's long ones without their dashes: "target=avx2". Calls may
        /// run at the same time.</summary>
        public static Compiled Compile(ReadOnlySpan<byte> onnx, params string[] options)
        {
            var made = new Compiled();
            string why = "";
            Exception thrown = null;
            Func<Action, int> guarded = act =>
            {
                try { act(); }
                catch (Exception error) { thrown = error; }
                return thrown == null ? 0 : 1;
            };
            CompileSink sink = (user, path, bytes, size) => guarded(() =>
            {
                var content = new byte[(int)size];
                Marshal.Copy(bytes, content, 0, content.Length);
                string name = Utf8.Read(path);
                if (name == "") made.Blob = content;
                else made.Files[name] = content;
            });
            CompileListener listener = (user, kind, text) => guarded(() =>
            {
                if (kind == CompileMessage.Error) why = Utf8.Read(text);
                else if (kind != CompileMessage.Progress) made.Messages.Add(Utf8.Read(text));
            });
            var texts = new GCHandle[options.Length];
            var pointers = new IntPtr[options.Length + 1];
            try
            {
                for (int i = 0; i < options.Length; ++i)
                {
                    texts[i] = GCHandle.Alloc(Encoding.UTF8.GetBytes(options[i] + "\0"), GCHandleType.Pinned);
                    pointers[i] = texts[i].AddrOfPinnedObject();
                }
                CompileStatus status;
                fixed (byte* data = onnx)
                fixed (IntPtr* first = pointers)
                {
                    status = CompilerNative.rnnp_compile((IntPtr)data, (UIntPtr)onnx.Length, first, (UIntPtr)options.Length, sink, listener, IntPtr.Zero);
                }
                GC.KeepAlive(sink);
                GC.KeepAlive(listener);
                if (thrown != null) throw thrown;
                if (status != CompileStatus.Compiled) throw new CompileException(status, why);
                return made;
            }
            finally
            {
                foreach (GCHandle text in texts)
                {
                    if (text.IsAllocated) text.Free();
                }
            }
        }
    }
}
